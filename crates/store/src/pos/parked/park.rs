//! `POST /pos/parked-carts`: a cart is put aside as it was sent, or one that was dropped is said. Under the id of the sale that a
//! resumed cart was to become the same row is parked again.

use std::sync::Arc;

use axum::extract::State;
use serde_json::{Value as Json, json};
use tillkeep_http::documents::drawers::MAY_CLOSE;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_http::sent::Sent;
use tillkeep_http::{Body, Caller, Created, sent};
use tillkeep_model::fields::parked::PARK;
use tillkeep_model::permission::code::{PosParkCart, PosSell};
use tillkeep_model::reason::ReasonKind;
use tillkeep_model::words::ParkedState;
use tillkeep_model::{ErrorCode, Instant, JsonText, Money};
use tillkeep_storage::entity::parked_cart::{Entity, Model};
use tillkeep_storage::parked_carts::{self, Earlier, earlier_of};
use tillkeep_storage::sea_orm::{ConnectionTrait, EntityTrait};
use tillkeep_storage::{Tx, fault};
use uuid::Uuid;

use super::quoted::said_of;
use super::view::ParkedCart;
use super::{TABLE, drawer_at, elsewhere, refuse_parked, refuse_sold, worth};
use crate::act::{Acting, Log, Stopped};
use crate::approvals::digest;
use crate::memory::Shop;
use crate::pos::cart::{Cart, said};
use crate::pos::reasons::{self, Reason};
use crate::pos::removed::{self, Removed};
use crate::state::Withdrawn;
use crate::terminal::acting_at;
use crate::{Store, bounds, day};

/// Carts that wait at one till, and in the whole store.
const MOST_AT_A_TILL: u64 = 50;
const MOST: u64 = 500;

sent! {
    #[derive(Clone, Debug)]
    pub(crate) struct Park as "CartToPark" by PARK {
        /// Made by the client, so that a repeated request parks one cart.
        id: Option<Uuid>,
        /// What people know it by.
        label: Option<String>,
        /// As it is sent to `POST /pos/quote`. Its id is that of the sale that it was to become.
        cart: Cart,
        /// It is dropped, and said at once: needs `pos.sell` alone.
        abandoned: Option<bool>,
        /// Why it is dropped.
        reason: Option<String>,
        /// Of a reason of the kind `removed_line`, in place of a text.
        reason_code: Option<String>,
    }
}

impl Park {
    fn is_dropped(&self) -> bool {
        self.abandoned == Some(true)
    }

    /// What can be said of it without looking anything up.
    fn check(&self, now: Instant) -> Result<()> {
        let mut check = Check::default();
        self.check_at("", now, &mut check);
        let has_reason = said(self.reason.as_deref()).or(said(self.reason_code.as_deref())).is_some();
        let text = "is of a cart that is dropped; leave it out, or send abandoned";
        check.that(self.is_dropped() || !has_reason, "reason", text);
        let text = "is for what is sold; a cart that waits is not paid, so leave it out";
        check.that(self.cart.payments().is_empty(), "cart.payments", text);
        check.finish()?;
        // Of a cart out of which everything was taken before it was dropped, that is all there is to say.
        let is_empty = self.is_dropped() && self.cart.lines.is_empty() && !self.cart.removed().is_empty();
        let checked = if is_empty { self.cart.check_removed() } else { self.cart.check_goods(now) };
        checked.map_err(|error| error.within("cart", &[]))
    }

    /// Why it is dropped, if anything is said of it.
    fn reason(&self, shop: &Shop) -> Result<Option<Reason>> {
        let (code, text) = (self.reason_code.as_deref(), self.reason.as_deref());
        if said(code).or(said(text)).is_none() {
            return Ok(None);
        }
        reasons::required(shop, ReasonKind::RemovedLine, code, text).map(Some)
    }
}

pub(super) async fn park(
    caller: Caller<(PosSell, PosParkCart)>,
    State(store): State<Arc<Store>>,
    Body(asked): Body<Park>,
) -> Result<Created<ParkedCart>> {
    let id = bounds::document_id(asked.id)?;
    asked.check(caller.now())?;
    if !asked.is_dropped() && !caller.may(&[PosParkCart::CODE]) {
        return Err(Error::forbidden(&[PosParkCart::CODE]));
    }
    let terminal = acting_at(&caller, asked.cart.terminal_id.as_deref())?;
    let terminal = terminal.ok_or_else(|| Error::field("cart.terminalId", "is required: at which till?"))?.to_owned();
    let shop = store.shop().await?;
    let request = Request {
        id,
        sale_id: asked.cart.id,
        drops: asked.is_dropped(),
        register_id: shop.at_terminal(&terminal).map(|register| register.id),
        today: day::today(shop.own()?, caller.now()),
        content: Content { label: asked.label.clone(), terminal, cart: kept(&asked.cart) },
        withdrawn: store.withdrawn.clone(),
        takes_over: caller.may(MAY_CLOSE),
    };
    // Before anything that may have changed since the first time is looked at.
    if let Some(row) = request.stored(caller.reader()).await? {
        return Ok(Created { data: row.into(), new: false });
    }
    let reason = asked.reason(&shop)?;
    let Drawn { quote, dropped } = drawn(&caller, &store, &asked, &request.content).await?;
    let row = Model {
        cashier_user_id: caller.user_id,
        abandon_reason: reason.as_ref().map(|reason| reason.text.clone()),
        abandon_reason_code: reason.and_then(|reason| reason.code),
        ..request.content.row(&asked.cart, quote)
    };
    let action = if request.drops { "cart.drop" } else { "cart.park" };
    let act = store.act(&caller, action).about(TABLE, &id);
    let (row, new) = act.run(move |tx| Box::pin(request.park(tx, row, dropped))).await?;
    Ok(Created { data: row.into(), new })
}

/// What a cart costs, and its lines as lines that were taken off, of one that is dropped.
struct Drawn {
    quote: Json,
    dropped: Vec<Removed>,
}

async fn drawn(
    caller: &Caller<(PosSell, PosParkCart)>,
    store: &Arc<Store>,
    asked: &Park,
    content: &Content,
) -> Result<Drawn> {
    let (cart, terminal) = (&asked.cart, content.terminal.as_str());
    if !asked.is_dropped() {
        let whole = worth::whole(caller, store, cart, terminal).await;
        let worth = whole.map_err(|error| error.within("cart", &[]))?;
        return Ok(Drawn { quote: serde_json::to_value(&worth.quote)?, dropped: Vec::new() });
    }
    let worth = worth::what_is_left(caller, store, cart, terminal).await?;
    let quote = serde_json::to_value(&worth.quote)?;
    let dropped = worth.dropped(cart, &quote, caller.now());
    Ok(Drawn { quote, dropped })
}

/// What is kept of a cart: all but what is of the sale that it was to become.
fn kept(cart: &Cart) -> Json {
    let mut kept = said_of(cart);
    if let Some(fields) = kept.as_object_mut() {
        for field in ["id", "terminalId", "removed", "approvals", "payments", "lastReceipt", "expectedTotal"] {
            fields.remove(field);
        }
    }
    kept
}

/// What a repeated request must say once more.
struct Content {
    label: Option<String>,
    terminal: String,
    cart: Json,
}

impl Content {
    fn of(row: &Model) -> Self {
        Self { label: row.label.clone(), terminal: row.terminal_id.clone(), cart: row.cart.0.clone() }
    }

    fn hash(&self) -> String {
        digest(json!([self.label, self.terminal, self.cart]).to_string().as_bytes())
    }

    /// The row of it, without its id, its moment, its drawer and its cashier.
    fn row(&self, cart: &Cart, quote: Json) -> Model {
        let total = quote["totalAmount"].as_i64().unwrap_or_default();
        Model {
            terminal_id: self.terminal.clone(),
            label: self.label.clone(),
            customer_id: cart.customer_id,
            cart: JsonText(self.cart.clone()),
            item_count: i32::try_from(cart.lines.len()).unwrap_or(i32::MAX),
            total_at_park: Money(total),
            priced: JsonText(quote),
            removed: removed::kept(cart.removed()),
            ..Model::default()
        }
    }
}

/// What the transaction needs.
struct Request {
    id: Uuid,
    /// The sale that the cart was to become.
    sale_id: Option<Uuid>,
    drops: bool,
    /// That of the till.
    register_id: Option<Uuid>,
    /// The business date where no drawer is open.
    today: String,
    content: Content,
    withdrawn: Arc<Withdrawn>,
    /// Whether the caller may have what another till has.
    takes_over: bool,
}

impl Request {
    /// The row that this very request has made already, or 409 when it asks for something else.
    async fn stored(&self, conn: &impl ConnectionTrait) -> Result<Option<Model>> {
        let own = Entity::find_by_id(self.id).one(conn).await?;
        let row = match (own, self.withdrawn.cart_of(self.id)) {
            (Some(row), _) => row,
            (None, Some(id)) => {
                let row = Entity::find_by_id(id).one(conn).await?;
                let is_of_it = |row: &Model| earlier_of(row).iter().any(|earlier| earlier.by == self.id);
                let Some(row) = row.filter(is_of_it) else { return Ok(None) };
                row
            }
            (None, None) => return Ok(None),
        };
        let hash = self.content.hash();
        let was = |earlier: &Earlier| earlier.was.as_ref() == Some(&hash);
        let is_same = Content::of(&row).hash() == hash || earlier_of(&row).iter().any(was);
        let was_dropped_so = row.id != self.id || self.drops == (row.abandoned_at == Some(row.created_at));
        if is_same && was_dropped_so {
            return Ok(Some(row));
        }
        let text = "this id belongs to a parked cart with other content or of another till; give each an id of its own";
        Err(Error::new(ErrorCode::IdReused, text).at("id"))
    }

    /// The row, and whether it was not so before.
    async fn park(
        self,
        tx: &mut Acting<'_>,
        row: Model,
        dropped: Vec<Removed>,
    ) -> std::result::Result<((Model, bool), Log), Stopped> {
        if let Some(row) = self.stored(&**tx).await? {
            return Ok(((row, false), Log::Unchanged));
        }
        refuse_sold(&**tx, self.sale_id).await?;
        let resumed = match self.sale_id {
            Some(sale_id) => parked_carts::of_sale(&**tx, sale_id).await?,
            None => None,
        };
        if let (Some(sale_id), None) = (self.sale_id, &resumed) {
            refuse_parked(&self.withdrawn, &**tx, sale_id).await?;
        }
        let row = self.in_drawer(tx, row).await?;
        let row = self.parked(tx, row, resumed.as_ref(), &dropped);
        if let Some(resumed) = &resumed {
            if !self.takes_over && resumed.resumed_at_terminal.as_ref() != Some(&self.content.terminal) {
                return Err(elsewhere(resumed).into());
            }
            tx.update(&row).await?;
        } else {
            if !self.drops {
                self.refuse_too_many(&**tx).await?;
            }
            tx.insert(&row).await?;
        }
        self.withdrawn.add(row.id, &earlier_of(&row));
        fault::point("parked.written")?;
        let details = json!({
            "label": row.label, "terminalId": row.terminal_id, "itemCount": row.item_count,
            "totalAmount": row.total_at_park, "reason": row.abandon_reason, "reasonCode": row.abandon_reason_code,
            "removed": row.removed,
        });
        Ok(((row, true), Log::Line(details)))
    }

    /// `row` in the drawer of its till.
    async fn in_drawer(&self, tx: &Tx, row: Model) -> std::result::Result<Model, Stopped> {
        let session = drawer_at(tx, self.register_id).await?;
        let (session_id, business_date) = match session {
            Some(session) => (Some(session.id), session.business_date),
            None => (None, self.today.clone()),
        };
        Ok(Model { session_id, business_date, ..row })
    }

    /// `row` as it is from now on: that of `resumed` when it is parked again, or with the lines that were `dropped`.
    fn parked(&self, tx: &Acting<'_>, row: Model, resumed: Option<&Model>, dropped: &[Removed]) -> Model {
        let now = tx.now();
        // What was taken off before it was resumed, of a till that does not say it once more.
        let taken_off = row.removed.as_ref().or_else(|| resumed.and_then(|row| row.removed.as_ref()));
        let mut earlier = resumed.map(earlier_of).unwrap_or_default();
        if let Some(sale_id) = self.sale_id.filter(|_| !self.drops || resumed.is_some()) {
            earlier.push(Earlier { sale_id, by: self.id, was: resumed.map(|row| Content::of(row).hash()) });
        }
        let state = if self.drops { ParkedState::Abandoned } else { ParkedState::Parked };
        Model {
            id: resumed.map_or(self.id, |row| row.id),
            created_at: resumed.map_or(now, |row| row.created_at),
            updated_at: now,
            parked_at: now,
            state: state.into(),
            abandoned_at: self.drops.then_some(now),
            abandoned_by: self.drops.then_some(row.cashier_user_id),
            earlier: JsonText::new(&earlier),
            removed: removed::beside(taken_off, dropped),
            ..row
        }
    }

    async fn refuse_too_many(&self, conn: &impl ConnectionTrait) -> Result<()> {
        let terminal = self.content.terminal.as_str();
        let limits = [(Some(terminal), MOST_AT_A_TILL, "at this till"), (None, MOST, "in this store")];
        for (terminal, most, place) in limits {
            if parked_carts::count(conn, terminal).await? >= most {
                let text = format!("{most} carts wait {place}, which is the most; sell or drop one of them");
                return Err(Error::new(ErrorCode::ParkedLimit, text).with("limit", most));
            }
        }
        Ok(())
    }
}
