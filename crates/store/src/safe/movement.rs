//! `POST /safe/movements`: a deposit at a bank, or a correction of what should be in the safe. It travels in the drawer that is
//! open, else in the one that was opened last; the figures of a drawer that is closed stay as they were.

use std::sync::Arc;

use axum::extract::State;
use serde_json::json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_http::sent::Sent;
use tillkeep_http::{Body, Caller, Created, sent};
use tillkeep_model::approvable::CLOSING;
use tillkeep_model::fields::safe::MOVEMENT;
use tillkeep_model::permission::code::{RegistersClose, ReportsZReport};
use tillkeep_model::state::SessionStatus;
use tillkeep_model::words::SafeMovementKind;
use tillkeep_model::{ErrorCode, Instant, JsonText, Money};
use tillkeep_storage::entity::{register_session, safe_movement};
use tillkeep_storage::safe::{self, Movement};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use tillkeep_storage::{DbErr, Tx, fault};
use uuid::Uuid;

use crate::act::{Acting, Log, Stopped, record_of_row};
use crate::approvals::{Approval, CORRECTION, NEW_BALANCE, PresentedApprovals, Scope};
use crate::memory::Shop;
use crate::reasons::said;
use crate::{Store, bounds, day};

/// Movements that one drawer carries: far more than a day has, and together well within what headquarters keeps of them.
const MOST: usize = 50;
/// Who corrects the safe without asking anybody. Whoever may only read reports needs an approval.
const MAY_CORRECT: &[&str] = &["registers.close"];

record_of_row!(safe_movement, "a movement of the safe");

sent! {
    #[derive(Clone, Debug)]
    pub(super) struct Asked as "SafeMovementRequest" by MOVEMENT {
        /// Made by the client, so that a repeated request is one movement.
        id: Option<Uuid>,
        /// `deposit`: money goes to a bank. `correction`: something else is in the safe than should be.
        r#type: String,
        /// Of a deposit above zero; of a correction with its sign.
        amount: Option<Money>,
        /// Of a correction, in place of `amount`: what was counted in the safe.
        new_balance: Option<Money>,
        /// Of a deposit: what the slip of the bank is known by.
        slip_number: Option<String>,
        /// Of a correction: why.
        reason: Option<String>,
        /// Of a correction: a drawer that was closed without a count, which had this amount in it.
        session_id: Option<Uuid>,
        /// Tokens of `POST /pos/approvals`.
        approvals: Option<Vec<String>>,
    }
}

pub(super) async fn create(
    caller: Caller<(RegistersClose, ReportsZReport)>,
    State(store): State<Arc<Store>>,
    Body(body): Body<Asked>,
) -> Result<Created<Movement>> {
    let id = bounds::document_id(body.id)?;
    let kind = body.check(caller.now())?;
    let action = if kind == SafeMovementKind::Deposit { "safe.deposit" } else { "safe.correct" };
    let act = store.act(&caller, action).creates(id, |stored: &safe_movement::Model| body.is_same(stored));
    if let Some(stored) = act.stored(caller.reader()).await? {
        return Ok(Created { data: stored.into(), new: false });
    }
    let shop = store.shop().await?;
    shop.own()?;
    let presented = PresentedApprovals::read(caller.reader(), body.approvals.as_deref().unwrap_or_default()).await?;
    let approval = if kind == SafeMovementKind::Deposit || caller.may(MAY_CORRECT) {
        None
    } else {
        let kind = if body.new_balance.is_some() { NEW_BALANCE } else { CORRECTION };
        let scope = Scope::Safe { id, kind, amount: body.said_amount(), session_id: body.session_id };
        Some(presented.valid(&caller, store.id).await?.require(&CLOSING, &scope)?.clone())
    };
    let request = Request { id, kind, store_id: store.id, user_id: caller.user_id, shop, approval, body: body.clone() };
    let Created { data, new } = act.run(move |tx| Box::pin(request.write(tx))).await?;
    Ok(Created { data: data.into(), new })
}

impl Asked {
    /// What kind of movement it is, or all that is wrong with it.
    fn check(&self, now: Instant) -> Result<SafeMovementKind> {
        self.check_fields(now)?;
        let mut check = Check::default();
        if self.r#type == SafeMovementKind::Deposit.word() {
            self.check_deposit(&mut check);
            check.finish()?;
            return Ok(SafeMovementKind::Deposit);
        }
        self.check_correction(&mut check);
        check.finish()?;
        Ok(SafeMovementKind::Correction)
    }

    fn check_deposit(&self, check: &mut Check) {
        let is_above = self.amount.is_some_and(|amount| amount > Money::ZERO);
        check.that(is_above, "amount", "must be above zero: what goes to the bank");
        let has_slip = said(self.slip_number.as_deref()).is_some();
        check.that(has_slip, "slipNumber", "is required of a deposit: the number of the slip that goes with it");
        check.that(self.new_balance.is_none(), "newBalance", "goes with a correction; send amount");
        check.that(self.session_id.is_none(), "sessionId", "goes with a correction of what a drawer had in it");
    }

    fn check_correction(&self, check: &mut Check) {
        check.that(self.slip_number.is_none(), "slipNumber", "goes with a deposit; leave it out");
        let has_reason = said(self.reason.as_deref()).is_some();
        check.that(has_reason, "reason", "is required of a correction: say why");
        let text = "is required, or newBalance in place of it: what was counted in the safe";
        check.that(self.amount.is_some() != self.new_balance.is_some(), "amount", text);
        // A drawer may have been empty.
        let changes = self.amount != Some(Money::ZERO) || self.session_id.is_some();
        check.that(changes, "amount", "must not be 0: it would correct nothing");
        let names_one = self.session_id.is_none() || self.new_balance.is_none();
        check.that(names_one, "newBalance", "says what is in the whole safe; of one drawer send its amount");
    }

    /// What an approver says yes to: the amount, or what was counted.
    fn said_amount(&self) -> Money {
        self.amount.or(self.new_balance).unwrap_or_default()
    }

    /// Whether a stored movement is what this asks for.
    fn is_same(&self, stored: &safe_movement::Model) -> bool {
        stored.kind == self.r#type
            && stored.new_balance == self.new_balance
            && self.amount.is_none_or(|amount| stored.amount == amount)
            && stored.slip_number.as_deref() == said(self.slip_number.as_deref())
            && stored.reason.as_deref() == said(self.reason.as_deref())
            && stored.counted_session_id == self.session_id
    }
}

/// What the transaction needs.
struct Request {
    id: Uuid,
    kind: SafeMovementKind,
    store_id: Uuid,
    user_id: Uuid,
    shop: Arc<Shop>,
    approval: Option<Approval>,
    body: Asked,
}

impl Request {
    async fn write(self, tx: &mut Acting<'_>) -> std::result::Result<(safe_movement::Model, Log), Stopped> {
        let Some(mut carrier) = carrier(&**tx, self.store_id).await? else {
            let text = "no drawer was ever opened here, and a safe is reckoned from its drawers; open one first";
            return Err(Error::new(ErrorCode::NoOpenSession, text).into());
        };
        if let Some(drawer) = self.body.session_id {
            self.require_uncounted(tx, drawer).await?;
        }
        if let Some(approval) = &self.approval {
            tx.consume(approval, self.id).await?;
        }
        let now = tx.now();
        let row = safe_movement::Model {
            id: self.id,
            created_at: now,
            kind: self.kind.into(),
            amount: self.amount(tx).await?,
            slip_number: said(self.body.slip_number.as_deref()).map(str::to_owned),
            reason: said(self.body.reason.as_deref()).map(str::to_owned),
            user_id: self.user_id,
            approver_id: self.approval.as_ref().map(Approval::approver_id),
            at: now,
            business_date: day::today(self.shop.own()?, now),
            session_id: Some(carrier.id),
            counted_session_id: self.body.session_id,
            new_balance: self.body.new_balance,
            ..safe_movement::Model::default()
        };
        carry(&mut carrier, &row)?;
        (carrier.updated_at, carrier.synced) = (now, false);
        tx.insert(&row).await?;
        tx.update(&carrier).await?;
        fault::point("safe.written")?;
        let details = json!({
            "amount": row.amount, "newBalance": row.new_balance, "slipNumber": row.slip_number, "reason": row.reason,
            "sessionId": row.counted_session_id, "carriedBy": carrier.id,
        });
        Ok((row, Log::Line(details)))
    }

    /// What it changes. What was counted is held against what should be there in this very moment.
    async fn amount(&self, tx: &Tx) -> std::result::Result<Money, Stopped> {
        let Some(counted) = self.body.new_balance else { return Ok(self.body.said_amount()) };
        Ok(counted - safe::figures(tx, self.store_id).await?.balance())
    }

    async fn require_uncounted(&self, tx: &Tx, drawer: Uuid) -> std::result::Result<(), Stopped> {
        if safe::uncounted_drawer(tx, self.store_id, drawer).await?.is_some() {
            return Ok(());
        }
        let text = "is none of the drawers whose content is not known; GET /safe lists them in uncounted";
        Err(Error::new(ErrorCode::Conflict, format!("sessionId {text}")).at("sessionId").into())
    }
}

/// The drawer that takes the movement to headquarters: the open one, else the last one.
async fn carrier(
    conn: &impl ConnectionTrait,
    store_id: Uuid,
) -> std::result::Result<Option<register_session::Model>, DbErr> {
    use register_session::Column;
    let own = register_session::Entity::find().filter(Column::StoreId.eq(store_id));
    let newest = own.order_by_desc(Column::OpenedAt).order_by_desc(Column::Id);
    let open = newest.clone().filter(Column::Status.ne(SessionStatus::Closed.word())).one(conn).await?;
    match open {
        Some(session) => Ok(Some(session)),
        None => newest.one(conn).await,
    }
}

/// Puts the movement into `session`, as it travels.
fn carry(session: &mut register_session::Model, row: &safe_movement::Model) -> Result<()> {
    let mut carried = session.safe_movements.0.as_array().cloned().unwrap_or_default();
    if carried.len() >= MOST {
        let text = format!("the drawer that takes it to headquarters has {MOST} already; open another one first");
        return Err(Error::new(ErrorCode::TooManyMovements, text));
    }
    carried.push(serde_json::to_value(Movement::from(row.clone()))?);
    session.safe_movements = JsonText::new(&carried);
    Ok(())
}
