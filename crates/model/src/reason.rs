//! Why somebody did what is out of the ordinary, as a list that headquarters keeps. `docs/domain.md`, "Reasons".

use crate::words::words;

words! {
    /// What a reason is given for: `reasons.kind`.
    ReasonKind {
        Discount = "discount",
        Override = "override",
        Refund = "refund",
        Void = "void",
        PaidIn = "paid_in",
        PaidOut = "paid_out",
        Drop = "drop",
        FloatAdd = "float_add",
        NoSale = "no_sale",
        ForceClose = "force_close",
        Adjustment = "adjustment",
        /// A line that was taken out of a cart before it was paid.
        RemovedLine = "removed_line",
    }
}

/// A reason that every chain begins with.
#[derive(Clone, Copy, Debug)]
pub struct First {
    pub kind: ReasonKind,
    pub code: &'static str,
    pub name: &'static str,
    /// It says too little without a word more.
    pub needs_note: bool,
}

const fn first(kind: ReasonKind, code: &'static str, name: &'static str) -> First {
    First { kind, code, name, needs_note: false }
}

const fn other(kind: ReasonKind) -> First {
    First { kind, code: "other", name: "Other", needs_note: true }
}

/// What a chain begins with, in the order in which it is offered.
pub const FIRST: &[First] = &[
    first(ReasonKind::Discount, "damaged", "Damaged"),
    first(ReasonKind::Discount, "short_dated", "Short-dated"),
    first(ReasonKind::Discount, "complaint", "Complaint"),
    first(ReasonKind::Discount, "regular_customer", "Regular customer"),
    first(ReasonKind::Discount, "staff", "Staff"),
    other(ReasonKind::Discount),
    first(ReasonKind::Override, "wrong_label", "Wrong label on the shelf"),
    first(ReasonKind::Override, "price_match", "Price of a competitor"),
    first(ReasonKind::Override, "damaged", "Damaged"),
    other(ReasonKind::Override),
    first(ReasonKind::Refund, "defective", "Defective"),
    first(ReasonKind::Refund, "wrong_item", "Wrong item"),
    first(ReasonKind::Refund, "changed_mind", "Changed mind"),
    other(ReasonKind::Refund),
    first(ReasonKind::Void, "wrong_item", "Wrong item"),
    first(ReasonKind::Void, "wrong_tender", "Wrong tender"),
    first(ReasonKind::Void, "changed_mind", "Changed mind"),
    other(ReasonKind::Void),
    first(ReasonKind::PaidIn, "found", "Found money"),
    other(ReasonKind::PaidIn),
    first(ReasonKind::PaidOut, "supplies", "Supplies"),
    first(ReasonKind::PaidOut, "delivery", "Delivery"),
    other(ReasonKind::PaidOut),
    first(ReasonKind::Drop, "safe", "To the safe"),
    first(ReasonKind::FloatAdd, "change", "Change"),
    first(ReasonKind::NoSale, "change", "Change for a customer"),
    first(ReasonKind::NoSale, "check", "Check of the drawer"),
    other(ReasonKind::NoSale),
    first(ReasonKind::ForceClose, "left", "Left without a close"),
    other(ReasonKind::ForceClose),
    first(ReasonKind::Adjustment, "expired", "Expired"),
    first(ReasonKind::Adjustment, "broken", "Broken"),
    first(ReasonKind::Adjustment, "own_use", "Own use"),
    other(ReasonKind::Adjustment),
    first(ReasonKind::RemovedLine, "changed_mind", "Changed mind"),
    first(ReasonKind::RemovedLine, "scanned_twice", "Scanned twice"),
    first(ReasonKind::RemovedLine, "price", "Price"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::words::Word;

    #[test]
    fn a_chain_begins_with_a_reason_of_each_kind_and_no_code_of_a_kind_is_there_twice() {
        let keys: BTreeSet<_> = FIRST.iter().map(|first| (first.kind.word(), first.code)).collect();
        assert_eq!(keys.len(), FIRST.len());
        for kind in ReasonKind::ALL {
            assert!(FIRST.iter().any(|first| first.kind == *kind && !first.needs_note), "{kind:?}");
        }
    }
}
