//! A refund as a hash, which an approval of it is bound to.

use serde::Serialize;
use tillkeep_http::error::Result;
use tillkeep_model::{Money, Qty};
use uuid::Uuid;

use crate::approvals::digest;
use crate::pos::sale_document::SaleDocument;

/// What an approver saw.
#[derive(Serialize)]
struct Shown<'a> {
    terminal: Option<&'a str>,
    original: Option<Uuid>,
    customer: Option<Uuid>,
    note: Option<&'a str>,
    items: Vec<ShownItem<'a>>,
    payments: Vec<ShownPayment<'a>>,
    total: Money,
}

#[derive(Serialize)]
struct ShownItem<'a> {
    original: Option<Uuid>,
    product: Uuid,
    quantity: Qty,
    price: Money,
    restock: Option<bool>,
    reason: (Option<&'a str>, Option<&'a str>),
}

#[derive(Serialize)]
struct ShownPayment<'a> {
    tender: Option<Uuid>,
    amount: Money,
    reference: Option<&'a str>,
}

/// The terminal, and all that comes back: of which sale, how much of what and where it goes, to whom and by which tenders.
pub(crate) fn refund_hash(refund: &SaleDocument, terminal: Option<&str>) -> Result<String> {
    let items = refund.items.iter().map(|item| ShownItem {
        original: item.original_sale_item_id,
        product: item.product_id,
        quantity: item.quantity,
        price: item.unit_price,
        restock: item.restock,
        reason: (item.return_reason.as_deref(), item.return_reason_code.as_deref()),
    });
    let payments = refund.payments.iter().map(|payment| ShownPayment {
        tender: payment.tender_id,
        amount: payment.amount,
        reference: payment.reference.as_deref(),
    });
    let shown = Shown {
        terminal,
        original: refund.sale.original_sale_id,
        customer: refund.sale.customer_id,
        note: refund.sale.note.as_deref(),
        items: items.collect(),
        payments: payments.collect(),
        total: refund.sale.total_amount,
    };
    Ok(digest(&serde_json::to_vec(&shown)?))
}
