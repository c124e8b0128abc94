//! `POST /pos/sales`: everything is read and reckoned first, then written in one short transaction (rule U1 of
//! `docs/sync.md`), so that tills wait for each other no longer than that.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Body, Caller, Created};
use tillkeep_model::permission::code::PosSell;
use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_model::{ErrorCode, Qty};
use tillkeep_storage::numbers::{Given, Series};
use tillkeep_storage::outbox::Place;
use tillkeep_storage::sea_orm::{ConnectionTrait, Statement};
use tillkeep_storage::stock::{self, Kind, Level, Movement};
use tillkeep_storage::{DbErr, Tx, audit, fault, outbox};
use utoipa::ToSchema;
use uuid::Uuid;

use super::account::{BEYOND_LIMIT, Excess, OnAccount};
use super::bootstrap::works_in;
use super::cart::{Cart, SoldCart, line_field};
use super::catalog::Catalog;
use super::document::Document;
use super::draft::Draft;
use super::pricing::{self, Priced, Purpose};
use super::quote::Quote;
use super::specials::{self, Warning};
use super::{replay, tenders};
use crate::approvals::{Granted, Purse, Scope, Wallet, cart_hash};
use crate::memory::Shop;
use crate::registers::acting_at;
use crate::sessions::selling;
use crate::{Store, bounds, customers};

pub async fn create(
    caller: Caller<PosSell>,
    State(store): State<Arc<Store>>,
    Body(SoldCart(cart)): Body<SoldCart>,
) -> Result<Created<Sold>> {
    let id = bounds::document_id(cart.id)?;
    cart.check()?;
    let now = caller.now();
    let mut catalog = Catalog::of(&store, &cart).await?;
    let snapshot = caller.db().snapshot().await?;
    if let Some(stored) = Document::find(&snapshot, id).await? {
        return repeated(&snapshot, &store, &catalog.shop, stored, &cart).await;
    }
    catalog.look(&snapshot, store.id).await?;
    let settings = catalog.store()?;
    let terminal = acting_at(&caller, cart.terminal_id.as_deref())?;
    let session = selling::session(&catalog.shop, terminal, now)?;
    let customer = customers::buyer(&snapshot, cart.customer_id).await?;
    let warnings = specials::of_cart(&cart, &catalog, settings, now, customer.is_some());
    check_sales_rep(&catalog.shop, store.id, cart.sales_rep_id)?;
    // In the snapshot that has no such sale: an approval that this very sale used up is unused there.
    let wallet = Wallet::read(&snapshot, cart.approvals()).await?;
    snapshot.commit().await?;

    let exempt = customer.as_ref().is_some_and(|customer| customer.tax_exempt);
    let priced = pricing::price(&cart, &catalog, exempt, Purpose::Sale)?;
    let hash = cart_hash(&cart, terminal)?;
    let warnings = refuse_other_total(&cart, &priced, &hash, warnings)?;
    let purse = wallet.judged(&caller, store.id).await?;
    let settlement = tenders::pay(&cart, &priced, &catalog.shop.tenders)?;
    let on_account = OnAccount::of(&settlement, customer.as_ref());
    let excess = match on_account {
        Some(part) => part.excess(caller.db().reader()).await?,
        None => None,
    };
    let mut approvals = approved(&caller, store.id, &priced, &purse, hash.clone())?;
    let beyond = beyond_limit(&caller, excess.as_ref(), &purse, hash)?;
    let credit = on_account.map(|part| Credit {
        part,
        unlimited: beyond.is_some() || caller.may(&[BEYOND_LIMIT]),
        approver_id: beyond.as_ref().map(Granted::approver_id),
        entry: caller.audit("sale.credit_override"),
    });
    approvals.extend(beyond);
    let draft = Draft {
        id,
        store: settings,
        session,
        cart: &cart,
        priced: &priced,
        settlement: &settlement,
        customer: customer.as_ref(),
        cashier_id: caller.user_id,
        cashier_name: caller.name(),
        approvals: &approvals,
        now,
    };
    let document = draft.document();
    let overridden = document.items.iter().any(|item| item.override_reason.is_some());
    let entry = overridden.then(|| audit::Entry {
        approver_id: approvals.first().map(Granted::approver_id),
        entity_type: Some("sales"),
        entity_id: Some(id.to_string()),
        details: json!({"approvals": document.sale.approvals}),
        ..caller.audit("sale.price_override")
    });
    store.may_number().await?;
    let booking = Booking {
        lines: document.inserts(caller.db().reader().get_database_backend()),
        document,
        store_code: settings.code.clone(),
        series: store.numbers.series("receipt", &session.register_code),
        products: priced.products.iter().map(|product| (product.id, (*product).into())).collect(),
        below_zero: settings.allow_negative_stock,
        approvals,
        credit,
        audited: entry,
    };
    match book(&store, booking).await {
        Ok(document) => Ok(Created::new(Sold { document, warnings })),
        Err(Unbooked::Refused(error)) => Err(error),
        // The same id came twice at once, and the other one was first.
        Err(Unbooked::Before) => {
            let stored = Document::find(caller.db().reader(), id).await?.ok_or_else(|| Error::not_found("sale"))?;
            repeated(caller.db().reader(), &store, &catalog.shop, stored, &cart).await
        }
    }
}

/// The sale as it is stored, with the warnings of its moment by the specials that are known now.
async fn repeated(
    conn: &impl ConnectionTrait,
    store: &Store,
    shop: &Shop,
    stored: Document,
    cart: &Cart,
) -> Result<Created<Sold>> {
    let document = replay::same_or_refused(stored, cart)?;
    store.numbers.catch_up(conn).await?;
    let warnings = specials::of_sale(conn, shop.own()?, &document).await?;
    Ok(Created { data: Sold { document, warnings }, new: false })
}

/// A sale with what the till should say of it.
#[derive(Serialize, ToSchema)]
pub struct Sold {
    #[serde(flatten)]
    document: Document,
    warnings: Vec<Warning>,
}

/// A sale with all that its transaction needs: nothing else is read or reckoned there.
struct Booking {
    /// Without its receipt number.
    document: Document,
    /// What stores its lines and payments.
    lines: Vec<Statement>,
    store_code: String,
    series: Series,
    products: BTreeMap<Uuid, stock::Product>,
    /// Whether a level may go below zero.
    below_zero: bool,
    approvals: Vec<Granted>,
    credit: Option<Credit>,
    audited: Option<audit::Entry>,
}

/// What of a sale goes on an account, and whether the limit counts for it.
struct Credit {
    part: OnAccount,
    unlimited: bool,
    approver_id: Option<Uuid>,
    /// For the audit log, when it is beyond the limit.
    entry: audit::Entry,
}

/// What the cart needs and the caller lacks, from the approvals that came with it.
fn approved(
    caller: &Caller<PosSell>,
    store_id: Uuid,
    priced: &Priced,
    purse: &Purse,
    hash: String,
) -> Result<Vec<Granted>> {
    let scope = Scope::Cart(hash);
    let lacking = priced.required().into_iter().filter(|code| !caller.access.may(&[code], Some(store_id)));
    lacking.map(|permission| purse.fill(permission, &scope).cloned()).collect()
}

/// The approval of what goes on the account beyond its limit, for a caller who needs one. Another one than that of a
/// price: who approved a price was not asked whether it may be owed.
fn beyond_limit(
    caller: &Caller<PosSell>,
    excess: Option<&Excess>,
    purse: &Purse,
    hash: String,
) -> Result<Option<Granted>> {
    let Some(excess) = excess.filter(|_| !caller.may(&[BEYOND_LIMIT])) else { return Ok(None) };
    let granted = purse.fill(BEYOND_LIMIT, &excess.scope(hash)).map_err(|_| excess.refusal())?;
    Ok(Some(granted.clone()))
}

/// Why a sale was not booked. Nothing of it happened.
enum Unbooked {
    /// One with its id is there.
    Before,
    Refused(Error),
}

impl From<Error> for Unbooked {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<DbErr> for Unbooked {
    fn from(error: DbErr) -> Self {
        Self::Refused(error.into())
    }
}

/// Books the sale and commits it.
async fn book(store: &Store, booking: Booking) -> std::result::Result<Document, Unbooked> {
    let work = store.write(move |tx| {
        Box::pin(async move {
            let booked = booking.write(tx).await?;
            booked.queue(tx).await?;
            Ok::<_, Unbooked>(booked.document)
        })
    });
    let document = work.await?;
    fault::point("sale.committed")?;
    Ok(document)
}

impl Booking {
    /// The sale with its receipt number and its effects.
    async fn write(self, tx: &mut Tx) -> std::result::Result<Booked, Unbooked> {
        let Self { mut document, approvals, credit, .. } = self;
        let (id, now) = (document.sale.id, document.sale.created_at);
        let (Given { letter, number }, place) = self.series.next(tx, now).await?;
        let register_code = format!("{}{letter}", document.sale.register_code);
        let receipt = ReceiptNumber { store_code: self.store_code, register_code, number };
        document.sale.receipt_number = receipt.to_string();
        if !document.insert_sale(tx).await? {
            return Err(Unbooked::Before);
        }
        // The drawer may have been closed since it was looked at.
        selling::require_open(tx, document.sale.register_session_id).await?;
        for granted in &approvals {
            granted.spend(tx, id, now).await?;
        }
        let beyond = match &credit {
            Some(credit) => book_credit(tx, id, credit).await?,
            None => None,
        };
        let store = document.sale.store_id;
        let effects = stock::apply_new(tx, store, movements(&document), &self.products, now).await?;
        for insert in self.lines {
            tx.execute_raw(insert).await?;
        }
        if !self.below_zero {
            refuse_short_stock(&document, &effects.levels)?;
        }
        fault::point("sale.written")?;
        Ok(Booked { document, place, audited: self.audited.into_iter().chain(beyond).collect() })
    }
}

/// A sale that is written.
struct Booked {
    document: Document,
    place: Place,
    audited: Vec<audit::Entry>,
}

impl Booked {
    /// Its entry in the outbox, and what is to be said of it in the audit log, which comes last.
    async fn queue(&self, tx: &Tx) -> Result<()> {
        let sale = &self.document.sale;
        let entry = outbox::Entry {
            entity_type: "sales",
            entity_id: sale.id,
            action: "create",
            data: &self.document,
            created_at: sale.created_at,
            depends_on: None,
        };
        outbox::enqueue_at(tx, self.place, &entry, sale.created_at).await?;
        Ok(audit::record_all(tx, self.audited.clone(), sale.created_at).await?)
    }
}

/// Charges the account; what is beyond its limit is for the audit log, or refused. Looked at anew: another till may have
/// sold on this account since.
async fn book_credit(tx: &Tx, sale: Uuid, credit: &Credit) -> Result<Option<audit::Entry>> {
    let excess = credit.part.excess(&**tx).await?;
    if let Some(excess) = excess.filter(|_| !credit.unlimited) {
        return Err(excess.refusal());
    }
    credit.part.charge(tx, sale).await?;
    Ok(excess.map(|excess| excess.noted(sale, credit.approver_id, credit.entry.clone())))
}

fn movements(document: &Document) -> Vec<Movement> {
    let movement = |item: &tillkeep_storage::entity::sale_item::Model| Movement {
        kind: Kind::Sale,
        product_id: item.product_id,
        change: -item.quantity,
        source_id: document.sale.id,
        line_id: item.id,
        business_date: document.sale.business_date.clone(),
        at: document.sale.completed_at,
        received: false,
        unit_cost: None,
        tracked: item.tracked,
        average_after: None,
    };
    document.items.iter().map(movement).collect()
}

/// 409 with every line that takes a level below zero; the transaction is dropped with all that it did.
fn refuse_short_stock(document: &Document, levels: &HashMap<Uuid, Level>) -> Result<()> {
    let mut refusal: Option<Error> = None;
    for (index, item) in document.items.iter().enumerate() {
        let Some(level) = levels.get(&item.product_id).filter(|level| level.after < Qty::ZERO) else { continue };
        let text = format!("of {} only {} are left; reduce the quantity", item.sku, level.before.max(Qty::ZERO));
        let so_far = refusal.unwrap_or_else(|| Error::new(ErrorCode::InsufficientStock, text));
        refusal = Some(so_far.at(line_field(index, "quantity")));
    }
    refusal.map_or(Ok(()), Err)
}

/// Something changed between the quote and the payment: the customer must hear of it before paying.
fn refuse_other_total(cart: &Cart, priced: &Priced, cart_hash: &str, warnings: Vec<Warning>) -> Result<Vec<Warning>> {
    let total = priced.cart.total;
    match cart.expected_total {
        Some(expected) if expected != total => {
            let text = format!("the cart costs {} now, not {}; show the new total and ask again", total.0, expected.0);
            let quote = Quote::of(cart, priced, cart_hash.to_owned(), warnings);
            Err(Error::new(ErrorCode::TotalMismatch, text).at("expectedTotal").with("quote", quote))
        }
        _ => Ok(warnings),
    }
}

fn check_sales_rep(shop: &Shop, store_id: Uuid, id: Option<Uuid>) -> Result<()> {
    let Some(id) = id else { return Ok(()) };
    if shop.sales_reps.iter().any(|rep| rep.id == id && works_in(rep, store_id)) {
        return Ok(());
    }
    Err(Error::field("salesRepId", "is no active sales representative of this store; leave it out or choose another"))
}
