//! `POST /pos/refunds`: money back without a receipt, in stores that allow it. Nothing was stored that it is of: prices are those that
//! are typed in, or those of the shelf, taxes those of today; whoever approves it approves all that was sent.

use std::sync::Arc;

use axum::extract::State;
use serde_json::json;
use tillkeep_http::error::{Error, FieldError, Result};
use tillkeep_http::shelf::{self, Goods, Typed, shown};
use tillkeep_http::{Body, Caller, Created};
use tillkeep_model::pricing::{CartLine, PricedCart, PricedLine, Special, TaxAmount, price_cart};
use tillkeep_model::reason::ReasonKind;
use tillkeep_model::{Cost, ErrorCode, JsonText};
use tillkeep_storage::entity::{customer, product, sale_item, store};
use tillkeep_storage::fault;
use uuid::Uuid;

use super::booking::Booking;
use super::document::{self, Giver, Terms};
use super::hash::refund_hash;
use super::lines::line_id;
use super::linked::{AnyOf, giver};
use super::needs::{self, Allowed, Need};
use super::payments::Payout;
use super::replay::{self, By};
use super::shown::{Refunded, refuse_other_total};
use super::typed::{Unlinked, UnlinkedItem, item_field};
use crate::act::{Acting, Log, Stopped};
use crate::approvals::PresentedApprovals;
use crate::bounds::LARGEST_AMOUNT;
use crate::memory::Sold;
use crate::pos::catalog::Catalog;
use crate::pos::draft::line_no;
use crate::pos::reasons::{self, Reason};
use crate::pos::sale_document::SaleDocument;
use crate::{Store, bounds, customers};

pub(crate) async fn create(
    caller: Caller<AnyOf>,
    State(store): State<Arc<Store>>,
    Body(body): Body<Unlinked>,
) -> Result<Created<Refunded>> {
    let refunded = refund(caller, store.clone(), body).await?;
    Ok(Refunded::printed(refunded, &store).await)
}

async fn refund(caller: Caller<AnyOf>, store: Arc<Store>, body: Unlinked) -> Result<Created<Refunded>> {
    let id = bounds::document_id(body.id)?;
    body.check(caller.now())?;
    let mut catalog = Catalog::of(&store, body.items.iter().map(|item| item.product_id)).await?;
    let by = By::new(&caller, &catalog.shop, body.terminal_id.as_deref());
    let act = store.act(&caller, "sale.refund").creates(id, |stored| replay::is_same_unlinked(stored, &body, by));
    let snapshot = caller.snapshot().await?;
    if let Some(stored) = act.stored(&snapshot).await? {
        return Ok(Refunded::repeated(stored));
    }
    if !catalog.store()?.allow_unlinked_refunds {
        let text = "this store gives nothing back without a receipt; find the sale by the number on the receipt";
        return Err(Error::new(ErrorCode::UnlinkedRefundDisabled, text));
    }
    catalog.look(&snapshot, store.id).await?;
    let customer = customers::buyer(&snapshot, body.customer_id).await?;
    let presented = PresentedApprovals::read(&snapshot, body.approvals.as_deref().unwrap_or_default()).await?;
    snapshot.commit().await?;
    let giver = giver(&caller, &catalog.shop, body.terminal_id.as_deref(), act.now())?;
    let request = Request {
        id,
        own: catalog.store()?,
        catalog: &catalog,
        asked: &body,
        giver: &giver,
        customer: customer.as_ref(),
    };
    let (document, needs) = request.draft()?;
    let hash = refund_hash(&document, giver.terminal.as_deref())?;
    let valid = presented.valid(&caller, store.id).await?;
    let allowed = Allowed::new(&caller, store.id, &needs, &valid, &hash)?;
    let (own, register) = (catalog.store()?, &giver.session.register_code);
    let booking = Booking::new(&store, &own.code, register, body.last_receipt.as_deref(), allowed.approvals).await?;
    let made = act.run(move |tx| Box::pin(book(tx, document, booking))).await?;
    fault::point("refund.committed")?;
    if !made.new {
        return Ok(Refunded::repeated(made.data));
    }
    Ok(Created::new(Refunded::new(made.data, None, Vec::new())))
}

async fn book(
    tx: &mut Acting<'_>,
    mut document: SaleDocument,
    booking: Booking,
) -> std::result::Result<(SaleDocument, Log), Stopped> {
    document::approved_by(&mut document, &booking.approvals);
    booking.book(tx, &mut document).await?;
    fault::point("refund.written")?;
    let sale = &document.sale;
    let details = json!({
        "receiptNumber": sale.receipt_number, "totalAmount": sale.total_amount, "approvals": sale.approvals,
        "items": document.items.iter().map(|item| json!({
            "productId": item.product_id, "quantity": item.quantity, "totalAmount": item.total_amount,
        })).collect::<Vec<_>>(),
    });
    Ok((document, Log::Line(details)))
}

/// What a refund without a receipt is made of.
struct Request<'a> {
    id: Uuid,
    own: &'a store::Model,
    catalog: &'a Catalog,
    asked: &'a Unlinked,
    giver: &'a Giver,
    customer: Option<&'a customer::Model>,
}

/// A line as it was read.
struct Read<'a> {
    product: &'a product::Model,
    restock: bool,
    reason: Reason,
    priced: CartLine,
}

impl<'a> Request<'a> {
    /// The document, and what it needs.
    fn draft(&self) -> Result<(SaleDocument, Vec<Need>)> {
        let (own, asked, shop) = (self.own, self.asked, &self.catalog.shop);
        let lines = self.lines()?;
        let exempt = customers::is_exempt(self.customer);
        let terms = shelf::terms(own, exempt, None);
        let priced: Vec<CartLine> = lines.iter().map(|line| line.priced.clone()).collect();
        let cart = price_cart(&priced, &terms);
        let total = -cart.total;
        refuse_other_total(asked.expected_total, total)?;
        let payout = Payout {
            store: own,
            tenders: &shop.tenders,
            total,
            has_customer: self.customer.is_some(),
            original: None,
            paid: &[],
            asked: asked.payments.as_deref(),
        };
        let settlement = payout.settle()?;
        let head = Terms {
            store_id: own.id,
            customer: self.asked.customer_id.map(|id| (id, self.customer.map(customers::display_name))),
            currency_code: own.currency_code.clone(),
            tax_rounding: terms.rounding.as_str().to_owned(),
            tax_exempt: exempt,
            tax_names: JsonText::new(&shown::tax_lines(&cart.tax_lines)),
            note: asked.note.clone(),
            ..Terms::default()
        };
        let document = document::refund(self.id, self.giver, head, self.rows(&lines, &cart), &settlement);
        let of_product = |(index, item): (usize, &UnlinkedItem)| needs::of_product(index, "productId", self.sold(item));
        let mut needs: Vec<Need> = asked.items.iter().enumerate().filter_map(of_product).collect();
        needs.extend(needs::of_limit(own, total));
        needs.push(Need::refund());
        Ok((document, needs))
    }

    fn sold(&self, item: &UnlinkedItem) -> Option<&'a Sold> {
        self.catalog.products.get(&item.product_id).map(|sold| &**sold)
    }

    fn lines(&self) -> Result<Vec<Read<'a>>> {
        let (mut lines, mut wrong) = (Vec::new(), Vec::new());
        for (index, item) in self.asked.items.iter().enumerate() {
            let Some(sold) = self.sold(item) else {
                let message = "no product has this id here; look the product up again".to_owned();
                wrong.push(FieldError { field: item_field(index, "productId"), message });
                continue;
            };
            let product = &sold.row;
            if product.deleted_at.is_some() {
                let text = format!("{} ({}) is gone; give it back by its receipt", product.name, product.sku);
                return Err(Error::new(ErrorCode::ProductInactive, text).at(item_field(index, "productId")));
            }
            let (code, text) = self.asked.reason_of(item);
            let reason = reasons::read(&self.catalog.shop, ReasonKind::Refund, code, text);
            match (reason, misfit(product, item)) {
                (Ok(reason), None) => {
                    let priced = self.priced(product, item)?;
                    lines.push(Read { product, restock: item.restock.unwrap_or(true), reason, priced });
                }
                (reason, misfit) => {
                    for (field, message) in reason.err().into_iter().chain(misfit) {
                        wrong.push(FieldError { field: item_field(index, field), message });
                    }
                }
            }
        }
        if wrong.is_empty() { Ok(lines) } else { Err(Error::fields(wrong)) }
    }

    fn priced(&self, product: &product::Model, item: &UnlinkedItem) -> Result<CartLine> {
        let shop = &self.catalog.shop;
        let goods = Goods { store: self.own, tax_groups: &shop.tax_groups, department_limits: &shop.department_limits };
        let Some(group) = goods.tax_group(product) else {
            let text =
                format!("the tax group of {} has not arrived from headquarters yet; try again shortly", product.sku);
            return Err(Error::new(ErrorCode::StoreNotReady, text).retry_after(5));
        };
        let own = self.catalog.rows.get(&product.id).map(|row| row.own_price());
        let typed = Typed {
            quantity: item.quantity,
            open_price: item.unit_price.filter(|_| product.is_open_price),
            changed_price: item.unit_price.filter(|_| !product.is_open_price),
            ..Typed::default()
        };
        let specials: Arc<[Arc<Special>]> = Arc::default();
        let mut line = goods.line(product, group, own, specials, typed);
        line.unit_cost = self.catalog.unit_cost(product);
        Ok(line)
    }

    fn rows(&self, lines: &[Read<'_>], cart: &PricedCart) -> Vec<sale_item::Model> {
        let row = |(place, (line, amounts)): (usize, (&Read<'_>, &PricedLine))| self.row(place, line, amounts);
        lines.iter().zip(&cart.lines).enumerate().map(row).collect()
    }

    fn row(&self, place: usize, line: &Read<'_>, amounts: &PricedLine) -> sale_item::Model {
        let Read { product, restock, reason, priced } = line;
        let taxes: Vec<TaxAmount> = amounts
            .taxes
            .iter()
            .map(|tax| TaxAmount { rate: tax.rate.clone(), base: -tax.base, tax: -tax.tax })
            .collect();
        sale_item::Model {
            id: line_id(self.id, place),
            sale_id: self.id,
            line_no: line_no(place),
            product_id: product.id,
            sku: product.sku.clone(),
            barcode: product.barcode.clone(),
            product_name: product.name.clone(),
            department_id: Some(product.department_id),
            unit_of_measure: product.unit_of_measure.clone(),
            quantity: -priced.quantity,
            regular_price: priced.regular_price,
            unit_price: priced.unit_price,
            price_source: priced.price_source.as_str().to_owned(),
            price_includes_tax: priced.inclusive,
            list_amount: -amounts.list,
            net_amount: -amounts.net,
            tax_amount: -amounts.tax,
            total_amount: -amounts.total,
            tax_group_id: Some(product.tax_group_id),
            tax_details: JsonText::new(&shown::tax_details(&taxes)),
            unit_cost: priced.unit_cost.map(Cost),
            cost_amount: Cost(-amounts.cost),
            restock: Some(*restock),
            return_reason: Some(reason.text.clone()),
            return_reason_code: reason.code.clone(),
            tracked: Some(product.track_stock),
            ..sale_item::Model::default()
        }
    }
}

/// What is wrong with the quantity or the price of an item.
fn misfit(product: &product::Model, item: &UnlinkedItem) -> Option<(&'static str, String)> {
    if !item.quantity.fits_decimals(product.quantity_decimals) {
        let text = match product.quantity_decimals {
            0 => format!("{} comes back in whole units ({}) only", product.sku, product.unit_of_measure),
            decimals => {
                format!("{} comes back with at most {decimals} decimals ({})", product.sku, product.unit_of_measure)
            }
        };
        return Some(("quantity", text));
    }
    if product.is_open_price && item.unit_price.is_none() {
        return Some(("unitPrice", format!("{} has no price of its own; enter what was paid", product.sku)));
    }
    let price = item.unit_price.unwrap_or(product.price);
    let beyond = i128::from(price.0) * i128::from(item.quantity.0) > i128::from(LARGEST_AMOUNT) * 1000;
    beyond.then(|| ("quantity", "makes an amount beyond 1000000000000 minor units; split the line".to_owned()))
}
