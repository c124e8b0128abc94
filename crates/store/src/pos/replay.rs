//! A till that got no answer sends its sale again. The same id with the same content is the sale that is there; what
//! was asked for can be read off the stored document, so nothing else is kept for this.

use tillkeep_http::sent::Sent;
use tillkeep_model::Money;
use tillkeep_model::pricing::{Discount, PriceSource, TenderKind};
use tillkeep_model::words::SaleType;
use tillkeep_storage::entity::{sale_item, sale_payment};
use uuid::Uuid;

use super::cart::{Cart, DiscountEntry, Line, Settlement};
use super::reasons;
use super::sale_document::SaleDocument;

/// Whether `stored` is what `cart` asks for at `register`, whoever asks there: the cashier of a sale may have gone home before
/// its till heard of it. Charges are none of the lines that were asked for.
pub(crate) fn is_same(stored: &SaleDocument, cart: &Cart, register: Option<Uuid>) -> bool {
    let sale = &stored.sale;
    let discount = (sale.cart_discount_type.as_deref(), sale.cart_discount_value);
    let reason = (sale.cart_discount_reason_code.as_deref(), sale.cart_discount_reason.as_deref());
    let items: Vec<&sale_item::Model> = stored.items.iter().filter(|item| item.charge_of.is_none()).collect();
    sale.sale_type == SaleType::Sale
        && register == Some(sale.register_id)
        && cart.settlement.is_none()
        && cart.is_kept_in(sale)
        && cart.expected_total.is_none_or(|total| total == sale.total_amount)
        && is_same_discount(discount, reason, cart.cart_discount.as_ref())
        && items.len() == cart.lines.len()
        && items.iter().zip(&cart.lines).all(|(item, line)| is_same_line(item, line))
        && are_same_payments(&stored.payments, cart)
}

fn is_same_line(item: &sale_item::Model, line: &Line) -> bool {
    let open_price = (item.price_source == PriceSource::Open.as_str()).then_some(item.unit_price);
    let changed = (item.price_source == PriceSource::Override.as_str()).then_some(item.unit_price);
    let discount = (item.line_discount_type.as_deref(), item.line_discount_value);
    let discount_reason = (item.discount_reason_code.as_deref(), item.discount_reason.as_deref());
    let override_reason = (item.override_reason_code.as_deref(), item.override_reason.as_deref());
    line.is_kept_in(item)
        && line.quantity.is_none_or(|quantity| quantity == item.quantity)
        && open_price == line.open_price
        && changed == line.unit_price_override
        && item.scanned_code.as_deref() == line.code()
        && line.label_amount.is_none_or(|amount| amount == item.list_amount)
        && line.name().is_none_or(|name| name == item.product_name)
        && reasons::is_same(override_reason, line.override_reason_code.as_deref(), line.reason())
        && is_same_discount(discount, discount_reason, line.line_discount.as_ref())
}

fn is_same_discount(
    stored: (Option<&str>, Option<i64>),
    reason: (Option<&str>, Option<&str>),
    asked: Option<&DiscountEntry>,
) -> bool {
    let checked = asked.and_then(DiscountEntry::checked);
    let said = asked.map(|entry| (entry.reason_code.as_deref(), entry.reason.as_deref())).unwrap_or_default();
    stored == (checked.map(Discount::word), checked.map(Discount::value)) && reasons::is_same(reason, said.0, said.1)
}

/// Whether `stored` is the payment of what is owed that `cart` asks for at `register`.
pub(super) fn is_same_settlement(
    stored: &SaleDocument,
    cart: &Cart,
    asked: &Settlement,
    register: Option<Uuid>,
) -> bool {
    let sale = &stored.sale;
    sale.sale_type == SaleType::Settlement
        && register == Some(sale.register_id)
        && cart.is_kept_in(sale)
        && sale.prepaid == asked.prepay.unwrap_or_default()
        && stored.on_account() == -asked.amount
        && are_same_payments(&stored.payments, cart)
}

/// Payments are stored in the order in which they settle the sale, without the cash that was not needed. What the server has
/// added nobody sent: change, and what settles an account or an exchange.
fn are_same_payments(stored: &[sale_payment::Model], cart: &Cart) -> bool {
    let settles = |payment: &sale_payment::Model| {
        payment.tender_kind == TenderKind::Exchange
            || (payment.tender_kind == TenderKind::OnAccount && payment.amount < Money::ZERO)
    };
    let mut asked: Vec<_> = cart.payments().iter().collect();
    for payment in stored.iter().filter(|payment| !payment.is_change && !settles(payment)) {
        match asked.iter().position(|asked| asked.is_kept_in(payment)) {
            Some(place) => drop(asked.swap_remove(place)),
            None => return false,
        }
    }
    asked.iter().all(|asked| asked.tendered_amount.is_none_or(|tendered| tendered == Money::ZERO))
}
