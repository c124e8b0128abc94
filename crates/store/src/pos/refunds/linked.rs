//! `POST /pos/sales/{id}/refunds`: money back for lines of a sale. What it takes is claimed at headquarters first; it is reckoned
//! before the transaction, and there once more when the sale was given back of meanwhile.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use serde_json::json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Body, Caller, Created, Id};
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::{PosRefund, PosSell};
use tillkeep_model::pricing::Settlement;
use tillkeep_model::{ErrorCode, Instant, Money};
use tillkeep_storage::entity::{sale, store};
use tillkeep_storage::fault;
use uuid::Uuid;

use super::booking::{self, Booking};
use super::document::{self, Giver, Terms};
use super::hash::refund_hash;
use super::lines::{self, Taken};
use super::needs::{self, Allowed, Need};
use super::original::{Here, Original};
use super::payments::{PaidBy, Payout, paid_by};
use super::replay::{self, By};
use super::shown::{RefundWarning, Refunded, refuse_other_total};
use super::typed::{Refund, RefundItem};
use crate::act::{Acting, Log, Stopped};
use crate::approvals::PresentedApprovals;
use crate::memory::{Shop, Sold};
use crate::pos::sale_document::SaleDocument;
use crate::sessions::selling;
use crate::terminal::acting_at;
use crate::{Store, bounds};

pub(crate) type AnyOf = (PosRefund, PosSell);

pub(crate) async fn create(
    caller: Caller<AnyOf>,
    State(store): State<Arc<Store>>,
    Id(sale): Id,
    Body(body): Body<Refund>,
) -> Result<Created<Refunded>> {
    let refunded = Box::pin(refund(caller, store.clone(), sale, body)).await?;
    Ok(Refunded::printed(refunded, &store).await)
}

async fn refund(caller: Caller<AnyOf>, store: Arc<Store>, sale: Uuid, body: Refund) -> Result<Created<Refunded>> {
    let id = bounds::document_id(body.id)?;
    if id == sale {
        return Err(
            Error::new(ErrorCode::IdReused, "this id is that of the sale; give the refund one of its own").at("id")
        );
    }
    body.check(caller.now())?;
    let shop = store.shop().await?;
    let by = By::new(&caller, &shop, body.terminal_id.as_deref());
    let act = store.act(&caller, "sale.refund").creates(id, |stored| replay::is_same(stored, sale, &body, by));
    let snapshot = caller.snapshot().await?;
    if let Some(stored) = act.stored(&snapshot).await? {
        return Ok(Refunded::repeated(stored));
    }
    let here = Here::read(&snapshot, sale).await?;
    let presented = PresentedApprovals::read(&snapshot, body.approvals.as_deref().unwrap_or_default()).await?;
    snapshot.commit().await?;
    let giver = giver(&caller, &shop, body.terminal_id.as_deref(), act.now())?;
    let original = Original::to_refund(&store, here, sale).await?;
    let products = products(&store, &original).await?;
    let mut request = Request { id, shop, products, asked: body.clone(), giver, original };
    // What can be refused of it without headquarters is, before anything is claimed there.
    request.taken()?;
    let valid = presented.valid(&caller, store.id).await?;
    let claim = request.original.claim(&store, id, &request.asked.items).await?;
    let said = (request.original.checked_at_hq, RefundWarning::of(&request.original));
    let booked = async {
        let drafted = request.draft()?;
        let allowed = Allowed::new(&caller, store.id, &drafted.needs, &valid, &drafted.hash)?;
        let own = request.shop.own()?;
        let (register, last) = (&request.giver.session.register_code, body.last_receipt.as_deref());
        let booking = Booking::new(&store, &own.code, register, last, allowed.approvals.clone()).await?;
        act.run(move |tx| Box::pin(request.book(tx, drafted, allowed, booking))).await
    };
    let booked = Box::pin(booked).await;
    let made = claim.settled(&store, booked).await?;
    fault::point("refund.committed")?;
    if !made.new {
        return Ok(Refunded::repeated(made.data));
    }
    Ok(Created::new(Refunded::new(made.data, Some(said.0), said.1)))
}

/// Who gives back, at the open drawer of which till.
pub(crate) fn giver<P: Requirement>(
    caller: &Caller<P>,
    shop: &Shop,
    named: Option<&str>,
    now: Instant,
) -> Result<Giver> {
    let terminal = acting_at(caller, named)?;
    let session = selling::session(shop, terminal, now)?;
    Ok(Giver {
        session: session.clone(),
        terminal: terminal.map(str::to_owned),
        cashier_id: caller.user_id,
        cashier_name: caller.name().to_owned(),
        now,
    })
}

/// The products of a sale as they are now, deleted ones too.
pub(crate) async fn products(store: &Store, original: &Original) -> Result<HashMap<Uuid, Arc<Sold>>> {
    let mut ids: Vec<Uuid> = original.document.items.iter().map(|item| item.product_id).collect();
    ids.sort_unstable();
    ids.dedup();
    Ok(store.cache().products(&ids).await?)
}

/// What the head of a refund has of its sale.
pub(crate) fn terms(own: &store::Model, original: &Original, note: Option<&str>) -> Result<Terms> {
    let sale = &original.document.sale;
    if sale.currency_code != own.currency_code {
        let text = format!("it was sold in {}, and this store pays out {}", sale.currency_code, own.currency_code);
        return Err(Error::new(ErrorCode::NotRefundable, text));
    }
    Ok(Terms {
        store_id: own.id,
        original: Some((sale.id, sale.receipt_number.clone())),
        exchange_group_id: None,
        customer: sale.customer_id.map(|id| (id, sale.customer_name.clone())),
        sales_rep_id: sale.sales_rep_id,
        currency_code: sale.currency_code.clone(),
        tax_rounding: sale.tax_rounding.clone(),
        tax_exempt: sale.tax_exempt,
        tax_names: sale.tax_lines.clone(),
        note: note.map(str::to_owned),
    })
}

/// What giving `items` of `original` back needs, but for how it is paid out.
pub(crate) fn needs_of_lines(
    own: &store::Model,
    products: &HashMap<Uuid, Arc<Sold>>,
    original: &Original,
    items: &[RefundItem],
    today: &str,
) -> Vec<Need> {
    let of_line = |(index, item): (usize, &RefundItem)| {
        let product = original.line(item.sale_item_id)?.product_id;
        needs::of_product(index, "saleItemId", products.get(&product).map(|sold| &**sold))
    };
    let mut needs: Vec<Need> = needs::of_window(own, original, today).into_iter().collect();
    needs.extend(items.iter().enumerate().filter_map(of_line));
    needs
}

/// A refund with all that its transaction needs.
struct Request {
    id: Uuid,
    shop: Arc<Shop>,
    products: HashMap<Uuid, Arc<Sold>>,
    asked: Refund,
    giver: Giver,
    original: Original,
}

/// A refund as the sale stands.
struct Drafted {
    /// Without its receipt number.
    document: SaleDocument,
    needs: Vec<Need>,
    hash: String,
}

impl Request {
    fn taken(&self) -> Result<Vec<Taken<'_>>> {
        let asked = &self.asked;
        self.original.refuse_other()?;
        lines::taken(&self.shop, &self.products, &self.original, &asked.items, |item| asked.reason_of(item))
    }

    fn draft(&self) -> Result<Drafted> {
        let (own, original, asked) = (self.shop.own()?, &self.original, &self.asked);
        let items = lines::rows(self.id, &self.taken()?);
        let total: Money = items.iter().map(|item| item.total_amount).sum();
        refuse_other_total(asked.expected_total, total)?;
        let paid = paid_by(&self.shop, original);
        let payout = Payout {
            store: own,
            tenders: &self.shop.tenders,
            total,
            has_customer: original.document.sale.customer_id.is_some(),
            original: Some(original),
            paid: &paid,
            asked: asked.payments.as_deref(),
        };
        let settlement = payout.settle()?;
        let needs = self.needs(own, &settlement, &paid);
        let terms = terms(own, original, asked.note.as_deref())?;
        let mut document = document::refund(self.id, &self.giver, terms, items, &settlement);
        if original.is_lost() {
            document.flag(sale::OF_A_LOST_SALE);
        }
        let hash = refund_hash(&document, self.giver.terminal.as_deref())?;
        Ok(Drafted { document, needs, hash })
    }

    fn needs(&self, own: &store::Model, settlement: &Settlement, paid: &[PaidBy]) -> Vec<Need> {
        let today = &self.giver.session.business_date;
        let mut needs = needs_of_lines(own, &self.products, &self.original, &self.asked.items, today);
        needs.extend(needs::of_tenders(own, settlement, paid));
        needs.push(Need::refund());
        needs
    }

    async fn book(
        mut self,
        tx: &mut Acting<'_>,
        mut drafted: Drafted,
        allowed: Allowed,
        booking: Booking,
    ) -> std::result::Result<(SaleDocument, Log), Stopped> {
        if self.original.read_again(&***tx).await? {
            // The same request was first, or another one that took some of the same.
            if self.original.refunds.iter().any(|refund| refund.sale.id == self.id) {
                return Err(Stopped::Repeated);
            }
            drafted = self.draft()?;
            allowed.check(&drafted.needs, &drafted.hash)?;
        }
        let mut document = drafted.document;
        document::approved_by(&mut document, &allowed.approvals);
        booking.book(tx, &mut document).await?;
        booking::note(tx, &self.original, &document).await?;
        fault::point("refund.written")?;
        let sale = &document.sale;
        let details = json!({
            "receiptNumber": sale.receipt_number, "originalSaleId": sale.original_sale_id,
            "originalReceiptNumber": sale.original_receipt_number, "totalAmount": sale.total_amount,
            "checkedAtHq": self.original.checked_at_hq, "approvals": sale.approvals,
        });
        Ok((document, Log::Line(details)))
    }
}
