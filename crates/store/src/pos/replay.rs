//! A till that got no answer sends its sale again. The same id with the same content is the sale that is there; what
//! was asked for can be read off the stored document, so nothing else is kept for this.

use tillkeep_http::sent::Sent;
use tillkeep_model::Money;
use tillkeep_model::pricing::PriceSource;
use tillkeep_model::words::SaleType;
use tillkeep_storage::entity::{sale_item, sale_payment};
use uuid::Uuid;

use super::cart::{Cart, Line};
use super::sale_document::SaleDocument;

/// Whether `stored` is what `cart` asks for at `register`, whoever asks there: the cashier of a sale may have gone home before
/// its till heard of it.
pub(crate) fn is_same(stored: &SaleDocument, cart: &Cart, register: Option<Uuid>) -> bool {
    let sale = &stored.sale;
    sale.sale_type == SaleType::Sale
        && register == Some(sale.register_id)
        && cart.is_kept_in(sale)
        && cart.expected_total.is_none_or(|total| total == sale.total_amount)
        && stored.items.len() == cart.lines.len()
        && stored.items.iter().zip(&cart.lines).all(|(item, line)| is_same_line(item, line))
        && are_same_payments(&stored.payments, cart)
}

fn is_same_line(item: &sale_item::Model, line: &Line) -> bool {
    let open_price = (item.price_source == PriceSource::Open.as_str()).then_some(item.unit_price);
    let changed = (item.price_source == PriceSource::Override.as_str()).then_some(item.unit_price);
    line.is_kept_in(item)
        && open_price == line.open_price
        && changed == line.unit_price_override
        && item.override_reason.as_deref() == line.reason()
}

/// Payments are stored in the order in which they settle the sale, without the cash that was not needed.
fn are_same_payments(stored: &[sale_payment::Model], cart: &Cart) -> bool {
    let mut asked: Vec<_> = cart.payments().iter().collect();
    for payment in stored.iter().filter(|payment| !payment.is_change) {
        match asked.iter().position(|asked| asked.is_kept_in(payment)) {
            Some(place) => drop(asked.swap_remove(place)),
            None => return false,
        }
    }
    asked.iter().all(|asked| asked.tendered_amount.is_none_or(|tendered| tendered == Money::ZERO))
}
