//! Purchase orders and their lines: drafted by a store or by HQ, approved by HQ, received by the store.

use tillkeep_model::state::Reported::{self, Known, Other};
use tillkeep_model::state::{OrderStatus, may_follow};

use super::{Beyond, Clash, Form, Numbering, Parent, Pushed, States, UsedId, WriteContext};
use crate::rows::Row;
use crate::rows::owners::ALL_OF_IT;

pub const TYPE: &str = "purchase_orders";
pub const ITEMS: &str = "purchase_order_items";

/// What HQ notes on an order that it had cancelled when goods arrived.
pub const CANCELLED_AND_RECEIVED: &str = "cancelled at headquarters while the store received goods";

static NUMBER: Numbering = Numbering {
    kind: "po",
    table: TYPE,
    column: "po_number",
    store: "store_id",
    register: None,
    form: Form::Text { infix: "-PO-" },
    clash: Clash::Refused,
};

/// What the maker of an order writes into it while it is a draft. Who approved it and when is headquarters' to say.
const DRAFT: &[&str] = &[
    "po_number",
    "supplier_id",
    "origin",
    "status",
    "order_date",
    "expected_date",
    "currency_code",
    "subtotal_amount",
    "freight_amount",
    "tax_amount",
    "total_amount",
    "created_by",
    "submitted_by",
    "submitted_at",
    "sent_via",
    "closed_by",
    "closed_at",
    "rejected_reason",
    "cancelled_reason",
    "notes",
    "receipts",
    "last_supplier_document",
];

pub static ORDER: Pushed = Pushed {
    owned,
    beyond: Beyond::Refuse,
    used_id: UsedId::Theirs,
    states: Some(States {
        column: "status",
        may_follow: may_follow::<OrderStatus>,
        by_action: &[],
        made_by_hq: Some(|row| row.text("origin").as_deref() == Some("hq")),
        merged: Some(next_status),
        reckoned: None,
    }),
    parent: None,
    may_be_deleted: Some(is_draft),
    append_only_lists: &["receipts"],
    kept: None,
    number: Some(&NUMBER),
    printed: &[],
    times: &[],
    day: None,
    // Whatever the sender says of it: what comes from a store was made there.
    complete: Some(|row, _| {
        row.set("origin", "store".into());
    }),
    movements: None,
    charged: None,
    has_account: false,
    checks: None,
    awaited: &[],
    flags: None,
    reckoned: &[],
    restored: None,
    exported: None,
    acts: &[],
};

pub static ORDER_ITEM: Pushed = Pushed {
    owned: owned_of_line,
    beyond: Beyond::Refuse,
    used_id: UsedId::Theirs,
    states: None,
    parent: Some(Parent { entity_type: TYPE, column: "purchase_order_id" }),
    may_be_deleted: Some(is_draft),
    append_only_lists: &[],
    kept: None,
    number: None,
    printed: &[],
    times: &[],
    day: None,
    complete: None,
    movements: None,
    charged: None,
    has_account: false,
    checks: None,
    awaited: &[],
    flags: None,
    reckoned: &[],
    restored: None,
    exported: None,
    acts: &[],
};

/// A draft is its creator's; from the submission on HQ owns the header, the store what it receives. What HQ says of a conflict
/// is HQ's alone.
fn owned(context: WriteContext<'_>) -> &'static [&'static str] {
    match context.status.map(Reported::read) {
        _ if context.new => DRAFT,
        Some(Known(OrderStatus::Draft)) if context.made_by_hq => &[],
        None | Some(Known(OrderStatus::Draft)) => DRAFT,
        Some(_) => &["status", "receipts", "last_supplier_document", "closed_by", "closed_at"],
    }
}

/// A line is its order's maker's up to the approval: a store that submits an order sends the header first, and HQ has it as
/// submitted when the lines come. Afterwards the store writes what it received.
fn owned_of_line(context: WriteContext<'_>) -> &'static [&'static str] {
    match context.status.map(Reported::read) {
        Some(Known(OrderStatus::Draft)) if context.made_by_hq => &[],
        None | Some(Known(OrderStatus::Draft | OrderStatus::Submitted)) if !context.made_by_hq => ALL_OF_IT,
        _ if context.new && !context.made_by_hq => ALL_OF_IT,
        _ => &["received_quantity", "cancelled_quantity", "received_cost"],
    }
}

/// Only an order that is still a draft, and its lines, may be taken back.
fn is_draft(existing: Option<&dyn Row>) -> bool {
    existing.and_then(|row| row.text("status")).is_none_or(|status| status == OrderStatus::Draft)
}

/// A store submits and receives; what lies between is HQ's. The goods are in the shop, so a receipt goes before a
/// cancellation.
fn next_status(context: WriteContext<'_>, sent: Option<&str>, row: &mut dyn Row) -> String {
    use OrderStatus::{Approved, Cancelled, Closed, Draft, Ordered, PartiallyReceived, Received, Submitted};
    let has = context.status.unwrap_or_default();
    let Some(to) = sent else { return has.to_owned() };
    let (from, reported) = (Reported::read(has), Reported::read(to));
    let receives = reported.is_one_of(&[PartiallyReceived, Received, Closed]);
    let may = match from {
        // Nor is an order approved because its store says so. What was received was, though HQ may have lost the order.
        _ if context.new && reported.is_one_of(&[Approved, Ordered]) => return Submitted.into(),
        _ if context.new => return to.to_owned(),
        Known(Cancelled) if receives => {
            row.set("conflict_note", Some(CANCELLED_AND_RECEIVED.to_owned()).into());
            // Nothing more is expected.
            return if reported == Known(Closed) { Closed } else { Received }.into();
        }
        Other("") | Known(Draft) => receives || reported.is_one_of(&[Submitted, Cancelled]),
        _ => receives || matches!(reported, Other(_)),
    };
    if may && from.may_become(reported) { to } else { has }.to_owned()
}
