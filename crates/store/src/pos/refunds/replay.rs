//! A till that got no answer sends its refund again. Two equal refunds of one line are two, so that more is compared than of a sale:
//! who gave it back, and where.

use tillkeep_http::Caller;
use tillkeep_http::sent::Sent;
use tillkeep_model::permission::Requirement;
use tillkeep_model::words::SaleType;
use tillkeep_model::{Money, Qty};
use tillkeep_storage::entity::{sale_item, sale_payment};
use uuid::Uuid;

use super::typed::{Refund, RefundItem, RefundPayment, SaidReason, Unlinked, UnlinkedItem};
use crate::memory::Shop;
use crate::pos::reasons;
use crate::pos::sale_document::SaleDocument;

/// Who asks, and at which register.
#[derive(Clone, Copy, Debug)]
pub(super) struct By {
    register: Option<Uuid>,
    cashier: Uuid,
}

impl By {
    pub(super) fn new<P: Requirement>(caller: &Caller<P>, shop: &Shop, terminal: Option<&str>) -> Self {
        let here = caller.terminal_id.as_deref().or(terminal);
        let register = here.and_then(|terminal| shop.at_terminal(terminal)).map(|register| register.id);
        Self { register, cashier: caller.user_id }
    }

    fn made(self, stored: &SaleDocument) -> bool {
        let sale = &stored.sale;
        sale.sale_type == SaleType::Refund
            && self.register == Some(sale.register_id)
            && self.cashier == sale.cashier_user_id
    }
}

/// Whether `stored` is what `asked` asks for of the sale `original`.
pub(super) fn is_same(stored: &SaleDocument, original: Uuid, asked: &Refund, by: By) -> bool {
    let same = |(item, line): (&sale_item::Model, &RefundItem)| {
        item.original_sale_item_id == Some(line.sale_item_id)
            && is_same_line(item, line.quantity, line.restock, asked.reason_of(line))
    };
    by.made(stored)
        && stored.sale.original_sale_id == Some(original)
        && asked.is_kept_in(&stored.sale)
        && is_total(stored, asked.expected_total)
        && stored.items.len() == asked.items.len()
        && stored.items.iter().zip(&asked.items).all(same)
        && are_same_payments(&stored.payments, asked.payments.as_deref())
}

/// The same of a refund without a receipt.
pub(super) fn is_same_unlinked(stored: &SaleDocument, asked: &Unlinked, by: By) -> bool {
    let same = |(item, line): (&sale_item::Model, &UnlinkedItem)| {
        line.is_kept_in(item) && is_same_line(item, line.quantity, line.restock, asked.reason_of(line))
    };
    by.made(stored)
        && stored.sale.original_sale_id.is_none()
        && asked.is_kept_in(&stored.sale)
        && is_total(stored, asked.expected_total)
        && stored.items.len() == asked.items.len()
        && stored.items.iter().zip(&asked.items).all(same)
        && are_same_payments(&stored.payments, asked.payments.as_deref())
}

fn is_total(stored: &SaleDocument, expected: Option<Money>) -> bool {
    expected.is_none_or(|expected| expected == -stored.sale.total_amount)
}

fn is_same_line(item: &sale_item::Model, quantity: Qty, restock: Option<bool>, (code, text): SaidReason<'_>) -> bool {
    let reason = (item.return_reason_code.as_deref(), item.return_reason.as_deref());
    item.quantity == -quantity && item.restock == Some(restock.unwrap_or(true)) && reasons::is_same(reason, code, text)
}

/// Whether money went back as it was asked for; payments that were left out are whatever became of that.
pub(super) fn are_same_payments<'a>(
    stored: impl IntoIterator<Item = &'a sale_payment::Model>,
    asked: Option<&[RefundPayment]>,
) -> bool {
    let Some(asked) = asked else { return true };
    let mut left: Vec<&RefundPayment> = asked.iter().collect();
    for payment in stored {
        let is_it = |asked: &&RefundPayment| {
            payment.tender_id == Some(asked.tender_id)
                && asked.amount.is_none_or(|amount| amount == -payment.amount)
                && asked.reference == payment.reference
        };
        match left.iter().position(is_it) {
            Some(place) => drop(left.swap_remove(place)),
            None => return false,
        }
    }
    // Cash that was not needed leaves no row.
    left.iter().all(|asked| asked.amount.is_none_or(|amount| amount == Money::ZERO))
}
