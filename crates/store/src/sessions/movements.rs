//! `POST /register-sessions/{id}/cash-movements`: cash that is put into an open drawer or taken out of it. It is a document of its
//! own with the id of its client, and travels in its drawer.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::sent::Sent;
use tillkeep_http::{Body, Caller, Created, Id, sent};
use tillkeep_model::approvable::CLOSING;
use tillkeep_model::fields::session::MOVEMENT;
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::{PosRefund, PosSell, RegistersClose, RegistersOpen};
use tillkeep_model::reason::ReasonKind;
use tillkeep_model::words::{CashMovementKind, Word};
use tillkeep_model::{ErrorCode, Instant, JsonText, Money};
use tillkeep_storage::entity::cash_movement::Model;
use tillkeep_storage::entity::{cash_movement, register, register_session};
use tillkeep_storage::fault;
use tillkeep_storage::sea_orm::EntityTrait;
use utoipa::ToSchema;
use uuid::Uuid;

use super::drawer::{find, require_open};
use crate::act::{Acting, Log, Stopped, record_of_row};
use crate::approvals::{Approval, PresentedApprovals, Scope};
use crate::memory::Shop;
use crate::reasons::{self, Reason};
use crate::terminal::Reach;
use crate::{Store, bounds, printers};

/// So many of them has a drawer, and so many bytes of its document they take: headquarters keeps no more.
const MOST: usize = 500;
const MOST_BYTES: usize = 192 << 10;

record_of_row!(cash_movement, "a cash movement");

sent! {
    pub(crate) struct Asked as "CashMovementRequest" by MOVEMENT {
        /// Made by the client for this movement, and the same one when the request is sent again.
        id: Option<Uuid>,
        r#type: String,
        amount: Money,
        reason: Option<String>,
        /// Of a reason of the same kind, in place of a text.
        reason_code: Option<String>,
        /// Tokens of `POST /pos/approvals`.
        #[serde(default)]
        approvals: Vec<String>,
    }
}

/// Cash that was put into a drawer or taken out of it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CashMovement)]
pub(crate) struct Shown {
    id: Uuid,
    session_id: Uuid,
    register_id: Uuid,
    /// `paid_in`, `paid_out`, `drop` or `float_add`.
    r#type: String,
    /// Above zero, whichever way it went.
    amount: Money,
    reason: String,
    reason_code: Option<String>,
    user_id: Uuid,
    approver_id: Option<Uuid>,
    at: Instant,
    /// That of its drawer.
    business_date: String,
}

impl From<Model> for Shown {
    fn from(row: Model) -> Self {
        Self {
            id: row.id,
            session_id: row.session_id,
            register_id: row.register_id,
            r#type: row.kind,
            amount: row.amount,
            reason: row.reason,
            reason_code: row.reason_code,
            user_id: row.user_id,
            approver_id: row.approver_id,
            at: row.at,
            business_date: row.business_date,
        }
    }
}

pub(crate) async fn create(
    caller: Caller<(RegistersOpen, RegistersClose, PosSell)>,
    State(store): State<Arc<Store>>,
    Id(session_id): Id,
    Body(asked): Body<Asked>,
) -> Result<Created<Shown>> {
    let id = bounds::document_id(asked.id)?;
    asked.check_fields(caller.now())?;
    let is_same = |stored: &Model| {
        let reason = (asked.reason_code.as_deref(), asked.reason.as_deref());
        stored.session_id == session_id && stored.kind == asked.r#type && asked.is_kept_in(stored) && is(stored, reason)
    };
    let act = store.act(&caller, "session.cash_movement").creates(id, is_same);
    if let Some(stored) = act.stored(caller.reader()).await? {
        return Ok(Created { data: stored.into(), new: false });
    }
    let shop = store.shop().await?;
    let known = CashMovementKind::ALL.iter().find(|kind| asked.r#type == **kind);
    let kind = *known.ok_or_else(|| Error::field("type", "is no kind of cash movement"))?;
    let reason = reason(&shop, kind, asked.reason_code.as_deref(), asked.reason.as_deref())?;
    let row = Model { id, session_id, amount: asked.amount, ..new(kind, reason, caller.user_id) };
    let approval = approval(&caller, &store, kind, &row, &asked.approvals).await?;
    let user_name = caller.name().to_owned();
    let booking = Booking { row, kind, user_name, approval, reach: Reach::new(&caller), shop };
    let Created { data, new } = act.run(move |tx| Box::pin(booking.book(tx))).await?;
    fault::point("movement.committed")?;
    Ok(Created { data: data.into(), new })
}

/// A row without what its place and its drawer give it.
pub(super) fn new(kind: CashMovementKind, reason: Reason, user_id: Uuid) -> Model {
    Model { kind: kind.into(), reason: reason.text, reason_code: reason.code, user_id, ..Model::default() }
}

/// Whether a stored row has the reason that a request says.
pub(super) fn is(stored: &Model, (code, text): (Option<&str>, Option<&str>)) -> bool {
    reasons::is_same((stored.reason_code.as_deref(), Some(&stored.reason)), code, text)
}

/// The reason of a movement of a kind; each kind has its own list.
pub(super) fn reason(shop: &Shop, kind: CashMovementKind, code: Option<&str>, text: Option<&str>) -> Result<Reason> {
    let of = match kind {
        CashMovementKind::PaidIn => ReasonKind::PaidIn,
        CashMovementKind::PaidOut => ReasonKind::PaidOut,
        CashMovementKind::Drop => ReasonKind::Drop,
        CashMovementKind::FloatAdd => ReasonKind::FloatAdd,
        CashMovementKind::NoSale => ReasonKind::NoSale,
    };
    reasons::required(shop, of, code, text)
}

/// Who does it without asking anybody. What is put in needs nobody more.
const fn holders(kind: CashMovementKind) -> &'static [&'static str] {
    match kind {
        CashMovementKind::PaidIn | CashMovementKind::FloatAdd => &[],
        CashMovementKind::PaidOut | CashMovementKind::Drop => &[RegistersClose::CODE, PosRefund::CODE],
        CashMovementKind::NoSale => &[RegistersOpen::CODE, PosRefund::CODE],
    }
}

/// The approval of exactly this movement, when the caller needs one.
pub(super) async fn approval<P: Requirement>(
    caller: &Caller<P>,
    store: &Store,
    kind: CashMovementKind,
    row: &Model,
    tokens: &[String],
) -> Result<Option<Approval>> {
    // Of nobody at all everybody is one.
    if caller.may(holders(kind)) {
        return Ok(None);
    }
    let valid = PresentedApprovals::read(caller.reader(), tokens).await?.valid(caller, store.id).await?;
    let scope = Scope::Movement { session_id: row.session_id, id: row.id, kind: row.kind.clone(), amount: row.amount };
    valid.require(&CLOSING, &scope).cloned().map(Some)
}

/// What the transaction needs.
pub(super) struct Booking {
    pub row: Model,
    pub kind: CashMovementKind,
    pub user_name: String,
    pub approval: Option<Approval>,
    pub reach: Reach,
    pub shop: Arc<Shop>,
}

impl Booking {
    /// Before its drawer is closed, or not at all: both read the drawer in the transaction that changes it, and one comes after
    /// the other.
    pub(super) async fn book(self, tx: &mut Acting<'_>) -> std::result::Result<(Model, Log), Stopped> {
        let Self { mut row, kind, user_name, approval, reach, shop } = self;
        let mut session = find(&**tx, row.session_id).await?;
        let register = register::Entity::find_by_id(session.register_id).one(&**tx).await?;
        let register = register.ok_or_else(|| Error::not_found("register"))?;
        reach.check(&register)?;
        require_open(&session.status)?;
        if let Some(approval) = &approval {
            tx.consume(approval, row.id).await?;
            row.approver_id = Some(approval.approver_id());
        }
        (row.created_at, row.at) = (tx.now(), tx.now());
        (row.register_id, row.business_date) = (register.id, session.business_date.clone());
        add(&mut session, &row)?;
        if kind == CashMovementKind::NoSale {
            session.no_sale_count += 1;
        }
        (session.updated_at, session.synced) = (tx.now(), false);
        tx.insert(&row).await?;
        tx.update(&session).await?;
        let names = (user_name.as_str(), approval.as_ref().map(Approval::approver_name));
        printers::queue_drawer(tx, &shop, &session, &row, names).await?;
        fault::point("movement.written")?;
        let details = json!({
            "id": row.id, "type": row.kind, "amount": row.amount, "reason": row.reason, "reasonCode": row.reason_code,
        });
        Ok((row, Log::Line(details)))
    }
}

/// Adds `row` to those that travel in its drawer.
fn add(session: &mut register_session::Model, row: &Model) -> Result<()> {
    let entry = json!({
        "id": row.id, "type": row.kind, "amount": row.amount, "reason": row.reason, "reasonCode": row.reason_code,
        "userId": row.user_id, "approverId": row.approver_id, "at": row.at,
    });
    let mut entries = session.cash_movements.0.as_array().cloned().unwrap_or_default();
    entries.push(entry);
    let entries = JsonText::new(&entries);
    let is_too_long = |list: &JsonText| list.0.to_string().len() > MOST_BYTES;
    if entries.0.as_array().is_some_and(|list| list.len() > MOST) || is_too_long(&entries) {
        let text = "this drawer has as many cash movements as are kept of one; close it and open it again";
        return Err(Error::new(ErrorCode::TooManyMovements, text));
    }
    session.cash_movements = entries;
    Ok(())
}
