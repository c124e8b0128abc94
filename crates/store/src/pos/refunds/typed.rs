//! What a till sends to give money back.

use std::collections::HashSet;

use tillkeep_http::error::Result;
use tillkeep_http::resource::Check;
use tillkeep_http::sent;
use tillkeep_http::sent::Sent;
use tillkeep_model::fields::refund::{ITEM, PAYMENT, REFUND, UNLINKED, UNLINKED_ITEM};
use tillkeep_model::{Instant, Money, Qty};
use uuid::Uuid;

use crate::pos::printed;

sent! {
    #[derive(Clone, Debug)]
    pub(crate) struct Refund as "Refund" by REFUND {
        /// Made by the client, so that a repeated request is one refund.
        pub id: Option<Uuid>,
        pub terminal_id: Option<String>,
        pub items: Vec<RefundItem>,
        /// Left out: the tenders of the sale, the last one first.
        pub payments: Option<Vec<RefundPayment>>,
        /// Of all lines that say none of their own.
        pub reason: Option<String>,
        /// Of a reason of the kind `refund`, in place of a text.
        pub reason_code: Option<String>,
        /// What the customer was told that comes back; another result is refused.
        pub expected_total: Option<Money>,
        /// Tokens of `POST /pos/approvals`.
        pub approvals: Option<Vec<String>>,
        /// The receipt number that the till printed last, which the refund is numbered above.
        pub last_receipt: Option<String>,
        /// Printed and kept.
        pub note: Option<String>,
    }
}

sent! {
    #[derive(Clone, Debug)]
    pub(crate) struct RefundItem as "RefundItem" by ITEM {
        pub sale_item_id: Uuid,
        pub quantity: Qty,
        /// Whether the goods go back to the shelf; yes unless it is said.
        pub restock: Option<bool>,
        pub reason: Option<String>,
        pub reason_code: Option<String>,
    }
}

sent! {
    #[derive(Clone, Debug)]
    pub(crate) struct RefundPayment as "RefundPayment" by PAYMENT {
        pub tender_id: Uuid,
        /// Above zero. Nothing: what the others leave.
        pub amount: Option<Money>,
        pub reference: Option<String>,
    }
}

sent! {
    #[derive(Clone, Debug)]
    pub(crate) struct Unlinked as "UnlinkedRefund" by UNLINKED {
        /// Made by the client, so that a repeated request is one refund.
        pub id: Option<Uuid>,
        pub terminal_id: Option<String>,
        pub customer_id: Option<Uuid>,
        pub items: Vec<UnlinkedItem>,
        pub payments: Option<Vec<RefundPayment>>,
        /// Of all lines that say none of their own.
        pub reason: Option<String>,
        /// Of a reason of the kind `refund`, in place of a text.
        pub reason_code: Option<String>,
        /// What the customer was told that comes back; another result is refused.
        pub expected_total: Option<Money>,
        /// Tokens of `POST /pos/approvals`.
        pub approvals: Option<Vec<String>>,
        /// The receipt number that the till printed last, which the refund is numbered above.
        pub last_receipt: Option<String>,
        /// Printed and kept.
        pub note: Option<String>,
    }
}

sent! {
    #[derive(Clone, Debug)]
    pub(crate) struct UnlinkedItem as "UnlinkedRefundItem" by UNLINKED_ITEM {
        pub product_id: Uuid,
        pub quantity: Qty,
        /// What a unit was sold for; the price of the shelf unless it is said.
        pub unit_price: Option<Money>,
        /// Whether the goods go back to the shelf; yes unless it is said.
        pub restock: Option<bool>,
        pub reason: Option<String>,
        pub reason_code: Option<String>,
    }
}

/// The name of a field of item `index`, as errors say it.
pub(crate) fn item_field(index: usize, field: &str) -> String {
    format!("items[{index}].{field}")
}

/// A reason as it was sent: its code and its text, of the line or else of the whole.
pub(crate) type SaidReason<'a> = (Option<&'a str>, Option<&'a str>);

/// That of a line, or the one that is for all lines.
fn reason<'a>(own: SaidReason<'a>, of_all: SaidReason<'a>) -> SaidReason<'a> {
    if own == (None, None) { of_all } else { own }
}

impl Refund {
    pub(crate) fn check(&self, now: Instant) -> Result<()> {
        printed::read(self.last_receipt.as_deref())?;
        let mut check = Check::default();
        self.check_at("", now, &mut check);
        refuse_twice(&self.items, &mut check);
        check.finish()
    }

    /// Why the line `item` comes back.
    pub(crate) fn reason_of<'a>(&'a self, item: &'a RefundItem) -> SaidReason<'a> {
        let own = (item.reason_code.as_deref(), item.reason.as_deref());
        reason(own, (self.reason_code.as_deref(), self.reason.as_deref()))
    }
}

/// A line stands in a refund once: how much of it comes back is one figure.
pub(crate) fn refuse_twice(items: &[RefundItem], check: &mut Check) {
    let mut seen = HashSet::new();
    for (index, item) in items.iter().enumerate() {
        let text = "is in this refund already; send the line once, with the whole quantity";
        check.that(seen.insert(item.sale_item_id), &item_field(index, "saleItemId"), text);
    }
}

impl Unlinked {
    pub(crate) fn check(&self, now: Instant) -> Result<()> {
        printed::read(self.last_receipt.as_deref())?;
        self.check_fields(now)
    }

    /// Why the line `item` comes back.
    pub(crate) fn reason_of<'a>(&'a self, item: &'a UnlinkedItem) -> SaidReason<'a> {
        let own = (item.reason_code.as_deref(), item.reason.as_deref());
        reason(own, (self.reason_code.as_deref(), self.reason.as_deref()))
    }
}
