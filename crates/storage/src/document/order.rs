//! Purchase orders and their lines: drafted by a store or by HQ, approved by HQ, received by the store.

use tillkeep_model::state::Reported::{self, Known, Other};
use tillkeep_model::state::{MayFollow, OrderStatus, may_follow};

use super::{
    Act, Awaited, Beyond, Clash, Exported, Facts, Form, Maker, Named, Numbering, Parent, Pushed, Restored, UsedId,
    Whole, WriteContext,
};
use crate::document::movement::{Movement, Position};
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

pub struct Order;

impl Pushed for Order {
    fn order(&self) -> u8 {
        3
    }

    fn owned(&self, context: WriteContext<'_>) -> &'static [&'static str] {
        // A draft is its creator's; from the submission on HQ owns the header, the store what it receives. What HQ says of a
        // conflict is HQ's alone.
        match context.status.map(Reported::read) {
            _ if context.new => DRAFT,
            Some(Known(OrderStatus::Draft)) if context.made_by_hq => &[],
            None | Some(Known(OrderStatus::Draft)) => DRAFT,
            Some(_) => &["status", "receipts", "last_supplier_document", "closed_by", "closed_at"],
        }
    }

    fn beyond(&self) -> Beyond {
        Beyond::Refuse
    }

    fn used_id(&self) -> UsedId {
        UsedId::Theirs
    }

    fn states(&self) -> Option<MayFollow> {
        Some(may_follow::<OrderStatus>)
    }

    fn is_co_written(&self) -> bool {
        true
    }

    fn sent_status(&self, _: &str, row: &dyn Row) -> Option<String> {
        row.text("status")
    }

    fn next_status(&self, context: WriteContext<'_>, sent: Option<&str>, row: &mut dyn Row) -> Option<String> {
        Some(next_status(context, sent, row))
    }

    fn parent(&self) -> Option<Parent> {
        None
    }

    fn may_be_deleted(&self, existing: Option<&dyn Row>) -> bool {
        is_draft(existing)
    }

    fn append_only_lists(&self) -> &'static [&'static str] {
        &["receipts"]
    }

    fn number(&self) -> Option<&'static Numbering> {
        Some(&NUMBER)
    }

    fn printed(&self) -> &'static [&'static str] {
        &[]
    }

    fn times(&self) -> &'static [&'static str] {
        &[]
    }

    fn complete(&self, row: &mut dyn Row, _: &Maker<'_>) {
        // Whatever the sender says of it: what comes from a store was made there.
        row.set("origin", "store".into());
    }

    fn movements(&self, _: &Whole<'_>, _: Option<Position>) -> Vec<Movement> {
        Vec::new()
    }

    fn charged(&self, _: &Whole<'_>) -> i128 {
        0
    }

    fn checks(&self, _: &Whole<'_>) -> Vec<&'static str> {
        Vec::new()
    }

    fn named(&self, _: &Whole<'_>) -> Named {
        Named::default()
    }

    fn flags(&self, _: &Whole<'_>, _: &Facts) -> Vec<&'static str> {
        Vec::new()
    }

    fn awaited(&self) -> Option<Awaited> {
        None
    }

    fn restored(&self) -> Option<Restored> {
        None
    }

    fn exported(&self) -> Option<Exported> {
        None
    }

    fn acts(&self) -> &'static [Act] {
        &[]
    }
}

pub struct OrderItem;

impl Pushed for OrderItem {
    fn order(&self) -> u8 {
        4
    }

    fn owned(&self, context: WriteContext<'_>) -> &'static [&'static str] {
        // A line is its order's maker's up to the approval: a store that submits an order sends the header first, and HQ has it
        // as submitted when the lines come. Afterwards the store writes what it received.
        match context.status.map(Reported::read) {
            Some(Known(OrderStatus::Draft)) if context.made_by_hq => &[],
            None | Some(Known(OrderStatus::Draft | OrderStatus::Submitted)) if !context.made_by_hq => ALL_OF_IT,
            _ if context.new && !context.made_by_hq => ALL_OF_IT,
            _ => &["received_quantity", "cancelled_quantity", "received_cost"],
        }
    }

    fn beyond(&self) -> Beyond {
        Beyond::Refuse
    }

    fn used_id(&self) -> UsedId {
        UsedId::Theirs
    }

    fn states(&self) -> Option<MayFollow> {
        None
    }

    fn is_co_written(&self) -> bool {
        false
    }

    fn sent_status(&self, _: &str, _: &dyn Row) -> Option<String> {
        None
    }

    fn next_status(&self, _: WriteContext<'_>, _: Option<&str>, _: &mut dyn Row) -> Option<String> {
        None
    }

    fn parent(&self) -> Option<Parent> {
        Some(Parent { entity_type: TYPE, column: "purchase_order_id" })
    }

    fn may_be_deleted(&self, existing: Option<&dyn Row>) -> bool {
        is_draft(existing)
    }

    fn append_only_lists(&self) -> &'static [&'static str] {
        &[]
    }

    fn number(&self) -> Option<&'static Numbering> {
        None
    }

    fn printed(&self) -> &'static [&'static str] {
        &[]
    }

    fn times(&self) -> &'static [&'static str] {
        &[]
    }

    fn complete(&self, _: &mut dyn Row, _: &Maker<'_>) {}

    fn movements(&self, _: &Whole<'_>, _: Option<Position>) -> Vec<Movement> {
        Vec::new()
    }

    fn charged(&self, _: &Whole<'_>) -> i128 {
        0
    }

    fn checks(&self, _: &Whole<'_>) -> Vec<&'static str> {
        Vec::new()
    }

    fn named(&self, _: &Whole<'_>) -> Named {
        Named::default()
    }

    fn flags(&self, _: &Whole<'_>, _: &Facts) -> Vec<&'static str> {
        Vec::new()
    }

    fn awaited(&self) -> Option<Awaited> {
        None
    }

    fn restored(&self) -> Option<Restored> {
        None
    }

    fn exported(&self) -> Option<Exported> {
        None
    }

    fn acts(&self) -> &'static [Act] {
        &[]
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
