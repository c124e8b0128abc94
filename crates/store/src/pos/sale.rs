//! A cart that is sold: everything is read and reckoned first, then written in one short transaction (rule U1 of
//! `docs/sync.md`), so that tills wait for each other no longer than that.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;
use serde_json::json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::shelf::Warning;
use tillkeep_http::{Caller, Created};
use tillkeep_model::approvable::{self, Approvable, BEYOND_LIMIT};
use tillkeep_model::permission::code::PosSell;
use tillkeep_model::pricing::{Deed, Need};
use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_model::words::ChainKind;
use tillkeep_model::{ErrorCode, Money, Qty};
use tillkeep_storage::document::movement::Movement;
use tillkeep_storage::document::sale::movements as movements_of;
use tillkeep_storage::numbers::{Given, Series};
use tillkeep_storage::stock::{self, Level};
use tillkeep_storage::{Lines, fault};
use utoipa::ToSchema;
use uuid::Uuid;

use super::account::{Excess, OnAccount, Owed};
use super::bootstrap::works_in;
use super::cart::{Cart, line_field};
use super::cart_hash::cart_hash;
use super::catalog::Catalog;
use super::draft::{Draft, approver_of};
use super::pricing::{self, Priced, Purpose};
use super::printed::Printed;
use super::quote::Quote;
use super::sale_document::SaleDocument;
use super::{parked, printed, replay, tenders};
use crate::Store;
use crate::act::{Acting, Log, Stopped};
use crate::approvals::{Approval, PresentedApprovals, Scope, ValidApprovals};
use crate::chain;
use crate::memory::Shop;
use crate::printers::{self, Print};
use crate::sessions::selling;
use crate::state::Withdrawn;
use crate::terminal::acting_at;

/// Sells the cart, which was checked, as the sale `id`.
pub(super) async fn sell(caller: &Caller<PosSell>, store: &Arc<Store>, id: Uuid, cart: &Cart) -> Result<Created<Sold>> {
    let mut catalog = Catalog::load(store, cart).await?;
    let here = caller.terminal_id.as_deref().or(cart.terminal_id.as_deref());
    let register = here.and_then(|terminal| catalog.shop.at_terminal(terminal)).map(|register| register.id);
    let act = store.act(caller, "sale.create").creates(id, |stored: &SaleDocument| {
        stored.sale.exchange_group_id.is_none() && replay::is_same(stored, cart, register)
    });
    let now = act.now();
    let snapshot = caller.snapshot().await?;
    if let Some(stored) = act.stored(&snapshot).await? {
        return Ok(repeated(stored));
    }
    let (customer, terms) = pricing::terms(&snapshot, &mut catalog, store.id, cart, (now, Purpose::Sale)).await?;
    let settings = catalog.store()?;
    let terminal = acting_at(caller, cart.terminal_id.as_deref())?;
    let session = selling::session(&catalog.shop, terminal, now)?;
    check_sales_rep(&catalog.shop, store.id, cart.sales_rep_id)?;
    // In the snapshot that has no such sale: an approval that this very sale used up is unused there.
    let presented = PresentedApprovals::read(&snapshot, cart.approvals()).await?;
    snapshot.commit().await?;

    let priced = pricing::price(cart, &catalog, terms)?;
    let hash = cart_hash(cart, &priced, terminal)?;
    refuse_other_total(caller, cart, &priced, &hash, settings.currency_exponent)?;
    let valid = presented.valid(caller, store.id).await?;
    let settlement = tenders::pay(cart, &priced, &catalog.shop.tenders)?;
    let on_account = OnAccount::new(&settlement, customer.as_ref());
    let (approvals, credit) = approved(caller, store.id, &priced, &valid, on_account, hash).await?;
    let draft = Draft {
        id,
        store: settings,
        session,
        cart,
        priced: &priced,
        settlement: &settlement,
        customer: customer.as_ref(),
        cashier_id: caller.user_id,
        cashier_name: caller.name(),
        approvals: &approvals,
        now,
    };
    let booking = Booking::new(caller, store, &draft, credit).await?;
    let sold = act.run(move |tx| Box::pin(booking.book(tx))).await?;
    fault::point("sale.committed")?;
    if !sold.new {
        return Ok(repeated(sold.data));
    }
    Ok(Created::new(Sold { document: sold.data, warnings: priced.warnings, print: None }))
}

/// The sale as it is stored. What there was to say of it was said when it was made.
pub(super) const fn repeated(document: SaleDocument) -> Created<Sold> {
    Created { data: Sold { document, warnings: Vec::new(), print: None }, new: false }
}

/// A sale with what the till should say of it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Sold {
    #[serde(flatten)]
    pub document: SaleDocument,
    pub warnings: Vec<Warning>,
    /// Its paper, at a register that prints by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub print: Option<Print>,
}

/// What of a sale goes on an account, and whether the limit counts for it.
pub(super) struct Credit {
    pub part: OnAccount,
    pub unlimited: bool,
    pub approver_id: Option<Uuid>,
}

/// The approvals of what the cart needs and the caller lacks, and what goes on an account.
pub(super) async fn approved(
    caller: &Caller<PosSell>,
    store_id: Uuid,
    priced: &Priced<'_>,
    valid: &ValidApprovals,
    on_account: Option<OnAccount>,
    hash: String,
) -> Result<(Vec<Approval>, Option<Credit>)> {
    let excess = match on_account {
        Some(part) => part.excess(caller.reader()).await?,
        None => None,
    };
    let scope = Scope::Cart(hash.clone());
    let lacking = priced.required().into_iter().filter(|known| !caller.access.may(&[known.code], Some(store_id)));
    let approvals =
        lacking.map(|known| valid.require(known, &scope).cloned().map_err(|error| of_limit(priced, known, error)));
    let mut approvals = approvals.collect::<Result<Vec<Approval>>>()?;
    let beyond = beyond_limit(caller, excess.as_ref(), valid, hash)?;
    let credit = on_account.map(|part| Credit {
        part,
        unlimited: beyond.is_some() || caller.may(BEYOND_LIMIT.holders),
        approver_id: beyond.as_ref().map(Approval::approver_id),
    });
    approvals.extend(beyond);
    Ok((approvals, credit))
}

/// 403 for a discount above what may be given says which and how much; for anything else `error` does.
fn of_limit(priced: &Priced<'_>, lacking: &'static Approvable, error: Error) -> Error {
    let beyond = |need: &Need| need.deed == Deed::BeyondLimit;
    let Some(need) = priced.needs().into_iter().find(beyond).filter(|_| *lacking == BEYOND_LIMIT) else { return error };
    let asked = need.line.map_or_else(
        || priced.limits.of_cart(&priced.cart),
        |place| priced.limits.of(&priced.lines[place], &priced.cart.lines[place]),
    );
    let text = format!(
        "{} basis points are taken off, and {} may be; give less, or have it approved with {}",
        asked.requested.0, asked.limit.0, BEYOND_LIMIT.code
    );
    Error::new(ErrorCode::DiscountLimitExceeded, text)
        .at(priced.field_of(need))
        .with("required", [BEYOND_LIMIT.code])
        .with("approvable", true)
        .with("limitBps", asked.limit)
        .with("requestedBps", asked.requested)
}

/// The approval of what goes on the account beyond its limit, for a caller who needs one. Another one than that of a
/// price: who approved a price was not asked whether it may be owed.
fn beyond_limit(
    caller: &Caller<PosSell>,
    excess: Option<&Excess>,
    valid: &ValidApprovals,
    hash: String,
) -> Result<Option<Approval>> {
    let Some(excess) = excess.filter(|_| !caller.may(BEYOND_LIMIT.holders)) else { return Ok(None) };
    let approval = valid.require(&BEYOND_LIMIT, &excess.scope(hash)).map_err(|_| excess.refusal())?;
    Ok(Some(approval.clone()))
}

/// A sale, or a payment of what is owed, with all that its transaction needs: nothing else is read or reckoned there.
pub(super) struct Booking {
    /// Without its receipt number.
    pub document: SaleDocument,
    /// Its lines and payments.
    pub lines: [Lines; 2],
    pub store_code: String,
    /// What the till has printed last, if it says so.
    pub printed: Option<Printed>,
    pub series: Series,
    pub products: BTreeMap<Uuid, stock::Product>,
    /// Whether a level may go below zero.
    pub below_zero: bool,
    pub approvals: Vec<Approval>,
    pub credit: Option<Credit>,
    /// What must be owed for it.
    pub owed: Option<Owed>,
    pub shop: Arc<Shop>,
    /// Ids under which a cart is not sold any more.
    pub withdrawn: Arc<Withdrawn>,
}

impl Booking {
    /// Of a cart that is priced, paid and approved.
    pub(super) async fn new(
        caller: &Caller<PosSell>,
        store: &Arc<Store>,
        draft: &Draft<'_>,
        credit: Option<Credit>,
    ) -> Result<Self> {
        let document = draft.document();
        Ok(Self {
            lines: document.lines(caller.reader()),
            document,
            printed: draft.cart.printed()?.map(|last| Printed { store: store.clone(), last }),
            store_code: draft.store.code.clone(),
            series: store.numbering().await?.series("receipt", &draft.session.register_code),
            products: draft.priced.items.iter().map(|item| (item.product.id, item.product.into())).collect(),
            below_zero: draft.store.allow_negative_stock,
            approvals: draft.approvals.to_vec(),
            credit,
            owed: None,
            shop: store.shop().await?,
            withdrawn: store.withdrawn.clone(),
        })
    }

    /// The sale with its receipt number and its effects.
    pub(super) async fn book(self, tx: &mut Acting<'_>) -> std::result::Result<(SaleDocument, Log), Stopped> {
        let Self { mut document, approvals, credit, .. } = self;
        let id = document.sale.id;
        parked::refuse_withdrawn(&self.withdrawn, &**tx, id).await?;
        let of = (document.sale.store_id, self.store_code.as_str(), document.sale.register_code.as_str());
        let Given { letter, number } = printed::number(tx, &self.series, of, self.printed).await?;
        let register_code = format!("{}{letter}", document.sale.register_code);
        let receipt = ReceiptNumber { store_code: self.store_code, register_code, number };
        document.sale.receipt_number = receipt.to_string();
        document.done_at(tx.now(), tx.is_clock_corrected());
        let kind = if self.owed.is_some() { ChainKind::Settlement } else { ChainKind::Sale };
        chain::add(tx, &mut document, kind, &letter).await?;
        tx.insert(&document).await?;
        // The drawer may have been closed since it was looked at.
        selling::require_open(&**tx, document.sale.register_session_id).await?;
        for approval in &approvals {
            tx.consume(approval, id).await?;
        }
        note_deeds(tx, &document, &approvals);
        if let Some(owed) = &self.owed {
            owed.require(&***tx).await?;
        }
        if let Some(credit) = &credit {
            charge(tx, id, credit).await?;
        }
        let store_id = document.sale.store_id;
        let effects = tx.apply_new_stock(store_id, movements(&document), &self.products).await?;
        for lines in self.lines {
            tx.insert_lines(lines).await?;
        }
        tx.insert_lines(document.newest_entry(&***tx)).await?;
        printers::queue(tx, &self.shop, &document.sale, &document.payments).await?;
        if !self.below_zero {
            refuse_short_stock(&document, &effects.levels)?;
        }
        fault::point("sale.written")?;
        Ok((document, Log::InDocument))
    }
}

/// What somebody did to a price, for the audit log, with the one who approved that very thing.
fn note_deeds(tx: &mut Acting<'_>, document: &SaleDocument, approvals: &[Approval]) {
    let sale = &document.sale;
    if document.items.iter().any(|item| item.override_reason.is_some()) {
        let approver_id = approver_of(approvals, &approvable::PRICE);
        tx.note("sale.price_override", approver_id, json!({"approvals": sale.approvals}));
    }
    if sale.line_discount + sale.cart_discount > Money::ZERO {
        // As its lines have it: who approved what is owed beyond a limit approved no discount.
        let plain = approver_of(approvals, &approvable::DISCOUNT);
        let mut of_lines = document.items.iter().filter_map(|item| item.discount_approved_by);
        let approver_id = of_lines.find(|who| Some(*who) != plain).or(plain);
        let details = json!({
            "lineDiscount": sale.line_discount, "cartDiscount": sale.cart_discount, "approvals": sale.approvals,
        });
        tx.note("sale.discount", approver_id, details);
    }
}

/// Charges the account; what is beyond its limit is for the audit log, or refused. It is looked at again here: another till
/// may have sold on this account since.
async fn charge(tx: &mut Acting<'_>, sale: Uuid, credit: &Credit) -> Result<()> {
    let excess = credit.part.excess(&***tx).await?;
    if let Some(excess) = excess.filter(|_| !credit.unlimited) {
        return Err(excess.refusal());
    }
    credit.part.charge(tx, sale).await?;
    if let Some(excess) = excess {
        tx.note("sale.credit_override", credit.approver_id, excess.details());
    }
    Ok(())
}

fn movements(document: &SaleDocument) -> Vec<Movement> {
    movements_of(&document.sale, &document.items, None)
}

/// 409 with every line that takes a level below zero; the transaction is dropped with all that it did.
fn refuse_short_stock(document: &SaleDocument, levels: &HashMap<Uuid, Level>) -> Result<()> {
    let mut refusal: Option<Error> = None;
    let mut lines = 0;
    for item in &document.items {
        // A charge stands behind its line, and is none of those that were sent.
        lines += usize::from(item.charge_of.is_none());
        let Some(level) = levels.get(&item.product_id).filter(|level| level.after < Qty::ZERO) else { continue };
        let text = format!("of {} only {} are left; reduce the quantity", item.sku, level.before.max(Qty::ZERO));
        let so_far = refusal.unwrap_or_else(|| Error::new(ErrorCode::InsufficientStock, text));
        refusal = Some(so_far.at(line_field(lines.saturating_sub(1), "quantity")));
    }
    refusal.map_or(Ok(()), Err)
}

/// Something changed between the quote and the payment: the customer must hear of it before paying.
pub(super) fn refuse_other_total(
    caller: &Caller<PosSell>,
    cart: &Cart,
    priced: &Priced<'_>,
    cart_hash: &str,
    exponent: i16,
) -> Result<()> {
    let total = priced.cart.total;
    match cart.expected_total {
        Some(expected) if expected != total => {
            let text = format!("the cart costs {} now, not {}; show the new total and ask again", total.0, expected.0);
            let mut quote = Quote::new(cart, priced, cart_hash.to_owned(), exponent);
            quote.mark_held(|codes| caller.may(codes));
            let error = Error::new(ErrorCode::TotalMismatch, text).at("expectedTotal");
            Err(error.with("expectedTotal", expected).with("totalAmount", total).with("quote", quote))
        }
        _ => Ok(()),
    }
}

pub(super) fn check_sales_rep(shop: &Shop, store_id: Uuid, id: Option<Uuid>) -> Result<()> {
    let Some(id) = id else { return Ok(()) };
    if shop.sales_reps.iter().any(|rep| rep.id == id && works_in(rep, store_id)) {
        return Ok(());
    }
    Err(Error::field("salesRepId", "is no active sales representative of this store; leave it out or choose another"))
}
