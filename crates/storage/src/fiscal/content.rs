//! From the rows of a document to the bytes that are hashed of it: here alone, for stores, headquarters and the checker.

use sha2::{Digest, Sha256};
use tillkeep_model::chain::{self, Content, Document, Line, Payment};
use uuid::Uuid;

use crate::entity::{chain_entry, sale, sale_item, sale_payment};

/// The flag of a sale with an entry that does not fit it, or the entries beside it.
pub const CHAIN_BROKEN: &str = "chain_broken";

/// A document as it is kept.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    pub sale: &'a sale::Model,
    pub items: Vec<&'a sale_item::Model>,
    pub payments: Vec<&'a sale_payment::Model>,
}

/// Whether an entry is of the form that this program knows; of another one nothing is said.
pub(crate) const fn is_known(version: i32) -> bool {
    version == chain::VERSION
}

/// Whether the hash of an entry is that of its document, of which `sent` says by which id its store knows a row.
pub(crate) fn fits(entry: &chain_entry::Model, rows: &Rows<'_>, sent: &dyn Fn(Uuid) -> Uuid) -> bool {
    hash(&line(entry, rows, sent)) == entry.hash
}

/// SHA-256 as it is kept and printed: 64 small letters and digits.
#[must_use]
pub fn hash(line: &str) -> String {
    hex::encode(Sha256::digest(line.as_bytes()))
}

/// The bytes that the hash of `entry` is made of, one line; the hash of it that is there already is no part of them.
#[must_use]
pub fn line(entry: &chain_entry::Model, rows: &Rows<'_>, sent: &dyn Fn(Uuid) -> Uuid) -> String {
    let mut lines: Vec<Line<'_>> = rows.items.iter().map(|item| line_of(item, sent)).collect();
    lines.sort_by_key(|line| (line.no, line.id));
    let mut payments: Vec<Payment<'_>> = rows.payments.iter().map(|payment| payment_of(payment, sent)).collect();
    payments.sort_by_key(|payment| (payment.no, payment.id));
    let content = Content {
        version: entry.version,
        chain: entry.chain_id,
        number: entry.number,
        kind: &entry.kind,
        previous: &entry.previous_hash,
        follows: entry.follows.as_deref(),
        at: entry.at,
        running_total: entry.running_total,
        document: document(rows.sale, sent),
        lines,
        payments,
    };
    content.line()
}

fn document<'a>(sale: &'a sale::Model, sent: &dyn Fn(Uuid) -> Uuid) -> Document<'a> {
    Document {
        id: sent(sale.id),
        store: sale.store_id,
        receipt_number: &sale.receipt_number,
        register: sale.register_id,
        register_code: &sale.register_code,
        session: sent(sale.register_session_id),
        sale_type: &sale.sale_type,
        business_date: &sale.business_date,
        completed_at: sale.completed_at,
        cashier: sale.cashier_user_id,
        original: sale.original_sale_id.map(sent),
        original_receipt_number: sale.original_receipt_number.as_deref(),
        exchange_group: sale.exchange_group_id,
        currency: &sale.currency_code,
        tax_rounding: &sale.tax_rounding,
        tax_exempt: sale.tax_exempt,
        prepaid: sale.prepaid,
        list: sale.list_amount,
        special_discount: sale.special_discount,
        line_discount: sale.line_discount,
        cart_discount: sale.cart_discount,
        net: sale.net_amount,
        tax: sale.tax_amount,
        total: sale.total_amount,
        cash_rounding: sale.cash_rounding,
        change: sale.change_amount,
        taxes: chain::list(&sale.tax_lines),
        approvals: chain::list(&sale.approvals),
    }
}

fn line_of<'a>(item: &'a sale_item::Model, sent: &dyn Fn(Uuid) -> Uuid) -> Line<'a> {
    Line {
        id: sent(item.id),
        no: item.line_no,
        product: item.product_id,
        sku: &item.sku,
        name: &item.product_name,
        unit: &item.unit_of_measure,
        quantity: item.quantity.0,
        regular_price: item.regular_price,
        unit_price: item.unit_price,
        includes_tax: item.price_includes_tax,
        list: item.list_amount,
        special_discount: item.special_discount,
        line_discount: item.line_discount,
        cart_discount: item.cart_discount,
        net: item.net_amount,
        tax: item.tax_amount,
        total: item.total_amount,
        taxes: chain::list(&item.tax_details),
        specials: chain::list(&item.special_details),
        original: item.original_sale_item_id.map(sent),
    }
}

fn payment_of<'a>(payment: &'a sale_payment::Model, sent: &dyn Fn(Uuid) -> Uuid) -> Payment<'a> {
    Payment {
        id: sent(payment.id),
        no: payment.line_no,
        tender: payment.tender_id,
        tender_code: &payment.tender_code,
        kind: &payment.tender_kind,
        amount: payment.amount,
        tendered: payment.tendered_amount,
        change: payment.change_amount,
        is_change: payment.is_change,
    }
}
