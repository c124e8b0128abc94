//! `DELETE /pos/parked-carts/{id}`: a cart is dropped. Its row stays, with its lines as lines that were taken off.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use serde_json::json;
use tillkeep_http::documents::drawers::MAY_CLOSE;
use tillkeep_http::error::Result;
use tillkeep_http::extract::OptionalBody;
use tillkeep_http::sent::Sent;
use tillkeep_http::{Caller, Id, NoContent, sent};
use tillkeep_model::Instant;
use tillkeep_model::fields::parked::ABANDON;
use tillkeep_model::permission::code::PosParkCart;
use tillkeep_model::reason::ReasonKind;
use tillkeep_model::words::ParkedState;
use tillkeep_storage::Tx;
use tillkeep_storage::entity::parked_cart::Model;
use uuid::Uuid;

use super::quoted::{priced_lines, quantity_and_price};
use super::{TABLE, drawer_at, elsewhere, find, refuse_sold};
use crate::Store;
use crate::act::{Acting, Log, Stopped};
use crate::memory::Shop;
use crate::pos::reasons::{self, Reason};
use crate::pos::removed::{self, Removed};
use crate::terminal::acting_at;

sent! {
    #[derive(Clone, Debug, Default)]
    pub(crate) struct Abandon as "CartToDrop" by ABANDON {
        /// The till where it is dropped; that of the sign-in when it is left out.
        terminal_id: Option<String>,
        reason: Option<String>,
        /// Of a reason of the kind `removed_line`, in place of a text.
        reason_code: Option<String>,
    }
}

pub(super) async fn abandon(
    caller: Caller<PosParkCart>,
    State(store): State<Arc<Store>>,
    Id(id): Id,
    OptionalBody(asked): OptionalBody<Abandon>,
) -> Result<NoContent> {
    asked.check_fields(caller.now())?;
    let shop = store.shop().await?;
    let (code, text) = (asked.reason_code.as_deref(), asked.reason.as_deref());
    let reason = reasons::required(&shop, ReasonKind::RemovedLine, code, text)?;
    let terminal = acting_at(&caller, asked.terminal_id.as_deref())?.map(str::to_owned);
    let by = By { user_id: caller.user_id, takes_over: caller.may(MAY_CLOSE), terminal, reason, shop };
    let act = store.act(&caller, "cart.drop").about(TABLE, &id);
    act.run(move |tx| Box::pin(by.abandon(tx, id))).await?;
    Ok(NoContent)
}

/// Who drops it, where and why.
struct By {
    user_id: Uuid,
    /// Whether they may drop what another till has.
    takes_over: bool,
    terminal: Option<String>,
    reason: Reason,
    shop: Arc<Shop>,
}

impl By {
    async fn abandon(self, tx: &mut Acting<'_>, id: Uuid) -> std::result::Result<((), Log), Stopped> {
        let mut row = find(&**tx, id).await?;
        if row.state == ParkedState::Abandoned {
            return Ok(((), Log::Unchanged));
        }
        if row.state == ParkedState::Resumed {
            refuse_sold(&**tx, row.sale_id).await?;
            if !self.takes_over && row.resumed_at_terminal != self.terminal {
                return Err(elsewhere(&row).into());
            }
        }
        let sale_id = row.sale_id;
        row.session_id = self.drawer_of(tx, &row).await?;
        self.mark(&mut row, tx.now());
        tx.update(&row).await?;
        let details = json!({
            "label": row.label, "terminalId": row.terminal_id, "itemCount": row.item_count,
            "totalAmount": row.total_at_park, "reason": row.abandon_reason, "reasonCode": row.abandon_reason_code,
            "removed": row.removed, "saleId": sale_id,
        });
        Ok(((), Log::Line(details)))
    }

    /// It counts in the drawer where it was dropped, else in that of the till where it was parked; with none of them open in
    /// the next one of that till.
    async fn drawer_of(&self, tx: &Tx, row: &Model) -> std::result::Result<Option<Uuid>, Stopped> {
        for terminal in self.terminal.iter().chain([&row.terminal_id]) {
            let register = self.shop.at_terminal(terminal).map(|register| register.id);
            if let Some(session) = drawer_at(tx, register).await? {
                return Ok(Some(session.id));
            }
        }
        Ok(None)
    }

    /// `row` as it is from now on.
    fn mark(self, row: &mut Model, now: Instant) {
        row.removed = removed::beside(row.removed.as_ref(), &dropped(row, now));
        // It is to become no sale. One that comes all the same, late, is booked: nobody else sells the cart.
        (row.state, row.sale_id) = (ParkedState::Abandoned.into(), None);
        (row.updated_at, row.abandoned_at, row.abandoned_by) = (now, Some(now), Some(self.user_id));
        (row.abandon_reason, row.abandon_reason_code) = (Some(self.reason.text), self.reason.code);
    }
}

/// The lines of a cart, as they were priced when it was parked.
fn dropped(row: &Model, at: Instant) -> Vec<Removed> {
    let removed = priced_lines(&row.priced.0).into_iter().filter_map(|line| {
        let (quantity, unit_price) = quantity_and_price(line)?;
        let product_id = Uuid::deserialize(&line["productId"]).ok()?;
        Some(Removed { product_id, quantity, unit_price, at: Some(at) })
    });
    removed.collect()
}
