//! `POST /pos/sales/{id}/void`: a mistake of the drawer that is still open is undone as if it had not happened. The sale keeps its
//! receipt number; goods, tenders and the customer's account come back. What the Z report has counted is given back by a refund.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::sent::Sent;
use tillkeep_http::{Answer, Body, Caller, Id, sent};
use tillkeep_model::approvable;
use tillkeep_model::fields::sale::VOID;
use tillkeep_model::permission::code::PosSell;
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::reason::ReasonKind;
use tillkeep_model::state::{PaymentStatus, SaleStatus};
use tillkeep_model::wire::{ClaimLine, ClaimRequest};
use tillkeep_model::words::{ChainKind, SaleType};
use tillkeep_model::{ErrorCode, Money, Qty};
use tillkeep_storage::document::sale::movements;
use tillkeep_storage::entity::{sale, sale_payment, tender};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use tillkeep_storage::{accounts, fault};
use utoipa::ToSchema;
use uuid::Uuid;

use super::reasons::{self, Reason};
use super::refunds::forsaken;
use super::sale_document::SaleDocument;
use super::sales::not_found;
use crate::Store;
use crate::act::{self, Acting, Log, Record, Stopped};
use crate::approvals::{Approval, PresentedApprovals, Scope};
use crate::chain;
use crate::headquarters::{Asked, Waits};
use crate::memory::Shop;
use crate::printers::{self, Print};
use crate::sessions::selling;
use crate::terminal::acting_at;

sent! {
    pub(crate) struct Void as "SaleVoid" by VOID {
        terminal_id: Option<String>,
        reason: Option<String>,
        /// Of a reason of the kind `void`, in place of a text.
        reason_code: Option<String>,
        /// Tokens of `POST /pos/approvals`.
        approvals: Option<Vec<String>>,
    }
}

/// A sale that is undone.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Voided {
    #[serde(flatten)]
    document: SaleDocument,
    /// Whether headquarters says that nothing of it was given back elsewhere. A repeated void does not say it.
    checked_at_hq: Option<bool>,
    /// The paper of it, at a register that prints by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    print: Option<Print>,
}

pub(crate) async fn void(
    caller: Caller<PosSell>,
    State(store): State<Arc<Store>>,
    Id(id): Id,
    Body(body): Body<Void>,
) -> Result<Answer<Voided>> {
    body.check_fields(caller.now())?;
    let shop = store.shop().await?;
    let snapshot = caller.snapshot().await?;
    let document: SaleDocument = act::find(&snapshot, id).await?.ok_or_else(not_found)?;
    if document.sale.status == SaleStatus::Voided {
        drop(snapshot);
        let mut voided = body.repeated(document)?;
        voided.print = printers::print_of(&store, &voided.document.sale).await;
        return Ok(Answer(voided));
    }
    let reason = body.reason(&shop)?;
    refuse_elsewhere(&caller, &shop, &body, &document.sale)?;
    refuse(&snapshot, &document).await?;
    let presented = PresentedApprovals::read(&snapshot, body.approvals.as_deref().unwrap_or_default()).await?;
    snapshot.commit().await?;
    let approval = if caller.may(approvable::VOID.holders) {
        None
    } else {
        let valid = presented.valid(&caller, store.id).await?;
        Some(valid.require(&approvable::VOID, &Scope::Sale(id))?.clone())
    };
    let numbering = store.numbering().await?;
    let _under_way = store.hq.gives_back(id);
    let waits = Waits::begin();
    let checked_at_hq = claim(&store, waits, &document).await?;
    let letter = numbering.series("receipt", &document.sale.register_code).letter().to_owned();
    let request = Request { id, user_id: caller.user_id, body, reason, approval, letter, shop };
    let act = store.act(&caller, "sale.void").about(SaleDocument::table(), &id);
    let done = act.run(move |tx| Box::pin(request.void(tx))).await;
    // Of what is voided meanwhile it is the claim of that void.
    let came_to_nothing = |error: &Error| !error.code().may_have_happened() && error.code() != ErrorCode::AlreadyVoided;
    if done.as_ref().is_err_and(came_to_nothing) {
        // Nothing is given back under it. Without an answer it may have arrived all the same.
        drop(store.hq.release(&store.sync, waits.to_give_up(), id, id).await);
    }
    let mut voided = done?;
    fault::point("void.committed")?;
    if let Some(checked) = voided.checked_at_hq.as_mut() {
        *checked = checked_at_hq;
    }
    voided.print = printers::print_of(&store, &voided.document.sale).await;
    Ok(Answer(voided))
}

impl Void {
    fn reason(&self, shop: &Shop) -> Result<Reason> {
        let (code, text) = (self.reason_code.as_deref(), self.reason.as_deref());
        reasons::required(shop, ReasonKind::Void, code, text)
    }

    /// What is voided already, for the one who asks for that once more.
    fn repeated(&self, document: SaleDocument) -> Result<Voided> {
        let stored = (document.sale.void_reason_code.as_deref(), document.sale.void_reason.as_deref());
        if reasons::is_same(stored, self.reason_code.as_deref(), self.reason.as_deref()) {
            return Ok(Voided { document, checked_at_hq: None, print: None });
        }
        let text = "this sale is voided already, and for another reason; nothing is left to be undone";
        Err(Error::new(ErrorCode::AlreadyVoided, text).at("reason"))
    }
}

/// A sale is undone at the till that made it: the money lies there.
fn refuse_elsewhere(caller: &Caller<PosSell>, shop: &Shop, body: &Void, sale: &sale::Model) -> Result<()> {
    let terminal = acting_at(caller, body.terminal_id.as_deref())?;
    let terminal = terminal.ok_or_else(|| Error::field("terminalId", "is required: which till undoes its sale?"))?;
    if shop.at_terminal(terminal).is_some_and(|register| register.id == sale.register_id) {
        return Ok(());
    }
    let text = format!("this sale was made at register {}; void it there, or give it back", sale.register_code);
    Err(Error::new(ErrorCode::SessionClosed, text).at("terminalId"))
}

/// 409 for a sale that cannot be undone.
async fn refuse(conn: &impl ConnectionTrait, document: &SaleDocument) -> Result<()> {
    let sale = &document.sale;
    if sale.sale_type == SaleType::Refund {
        let text = "this gives money back and is not undone; sell what the customer keeps";
        return Err(Error::new(ErrorCode::NotRefundable, text));
    }
    if sale.exchange_group_id.is_some() {
        let text = "this is one half of an exchange, and neither is undone alone; give the goods back";
        return Err(Error::new(ErrorCode::PartOfExchange, text));
    }
    let given_back = sale::Entity::find().filter(sale::Column::OriginalSaleId.eq(sale.id)).one(conn).await?;
    let given_back = given_back.map(|refund| refund.receipt_number);
    if given_back.is_some() || sale.status != SaleStatus::Completed {
        let by = given_back.map(|number| format!(" with {number}")).unwrap_or_default();
        let text = format!("some of it was given back{by}; give the rest back as well");
        return Err(Error::new(ErrorCode::HasRefunds, text));
    }
    refuse_tenders(conn, document).await?;
    selling::require_open(conn, sale.register_session_id).await
}

/// 409 when it was paid with something that cannot be taken back at the till. A tender that is deleted says so still.
async fn refuse_tenders(conn: &impl ConnectionTrait, document: &SaleDocument) -> Result<()> {
    let settles = document.sale.sale_type == SaleType::Settlement;
    // What is owed again was paid by nobody.
    let mut paid = document.payments.iter().filter(|row| !(settles && row.tender_kind == TenderKind::OnAccount));
    let ids: Vec<Uuid> = paid.clone().filter_map(|row| row.tender_id).collect();
    let voidable = tender::Entity::find()
        .filter(tender::Column::Id.is_in(ids))
        .filter(tender::Column::IsVoidable.eq(true))
        .all(conn)
        .await?;
    let is_voidable = |row: &&sale_payment::Model| voidable.iter().any(|tender| Some(tender.id) == row.tender_id);
    let Some(row) = paid.find(|row| !is_voidable(row)) else { return Ok(()) };
    let text = format!("{} is not taken back by a void; give the money back by a refund", row.tender_code);
    Err(Error::new(ErrorCode::TenderNotVoidable, text).with("tenderCode", &row.tender_code))
}

/// Claims at headquarters all that is left of the sale, under its own id; whether headquarters says so. Without a line the void
/// goes on: the sale is of this very drawer.
async fn claim(store: &Store, waits: Waits, document: &SaleDocument) -> Result<bool> {
    let id = document.sale.id;
    let left = document
        .items
        .iter()
        .map(|item| ClaimLine { sale_item_id: item.id, quantity: item.quantity - item.refunded_quantity });
    let lines: Vec<ClaimLine> = left.filter(|line| line.quantity > Qty::ZERO).collect();
    if lines.is_empty() {
        // A payment on an account: nothing of it can be given back elsewhere.
        return Ok(true);
    }
    let request = ClaimRequest { id, lines };
    match forsaken::claim(store, waits, id, &request).await? {
        Asked::Answered(_) => Ok(true),
        Asked::Refused { code: ErrorCode::OverRefund, details, .. } => {
            let text = "some of it was given back in another store; give the rest back as well";
            Err(Error::new(ErrorCode::HasRefunds, text).with("givenBack", &details["givenBack"]))
        }
        Asked::Refused { code, text, .. } => Err(Error::new(code, text)),
        Asked::Unreachable => Ok(false),
    }
}

/// What the transaction needs.
struct Request {
    id: Uuid,
    user_id: Uuid,
    body: Void,
    reason: Reason,
    approval: Option<Approval>,
    /// Of the series that the register numbers with now.
    letter: String,
    shop: Arc<Shop>,
}

impl Request {
    async fn void(self, tx: &mut Acting<'_>) -> std::result::Result<(Voided, Log), Stopped> {
        let document: Option<SaleDocument> = act::find(&***tx, self.id).await?;
        let mut document = document.ok_or_else(not_found)?;
        if document.sale.status == SaleStatus::Voided {
            return Ok((self.body.repeated(document)?, Log::Unchanged));
        }
        refuse(&***tx, &document).await?;
        if let Some(approval) = &self.approval {
            tx.consume(approval, self.id).await?;
        }
        let on_account = on_account(&document);
        self.mark(tx, &mut document);
        let sale = &document.sale;
        let back = movements(sale, &document.items, None);
        tx.apply_stock(sale.store_id, back, tx.now()).await?;
        if let Some((customer, amount)) = on_account {
            accounts::void_charge(tx, self.id, customer, amount).await?;
        }
        tx.update_lines::<sale_payment::Entity>(&document.payments).await?;
        chain::add(tx, &mut document, ChainKind::Void, &self.letter).await?;
        tx.insert_lines(document.newest_entry(&***tx)).await?;
        tx.void(&document).await?;
        printers::queue(tx, &self.shop, &document.sale, &document.payments).await?;
        fault::point("void.written")?;
        let details = json!({
            "receiptNumber": document.sale.receipt_number, "totalAmount": document.sale.total_amount,
            "reason": self.reason.text, "reasonCode": self.reason.code,
        });
        Ok((Voided { document, checked_at_hq: Some(false), print: None }, Log::Line(details)))
    }

    /// The sale and its payments as they are from now on.
    fn mark(&self, tx: &Acting<'_>, document: &mut SaleDocument) {
        let sale = &mut document.sale;
        sale.status = SaleStatus::Voided.into();
        (sale.voided_at, sale.voided_by) = (Some(tx.now()), Some(self.user_id));
        sale.void_reason = Some(self.reason.text.clone());
        sale.void_reason_code.clone_from(&self.reason.code);
        (sale.updated_at, sale.synced) = (tx.now(), false);
        for payment in &mut document.payments {
            payment.status = PaymentStatus::Voided.into();
        }
    }
}

/// What it put on the account of its customer, if anything.
fn on_account(document: &SaleDocument) -> Option<(Uuid, Money)> {
    let amount = document.on_account();
    document.sale.customer_id.filter(|_| amount != Money::ZERO).map(|customer| (customer, amount))
}
