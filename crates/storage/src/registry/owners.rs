//! Who owns which column of what a store may push. `docs/sync.md`, rule U11: what is not listed here is ignored.

use std::sync::LazyLock;

use tillkeep_model::fields::{Book, adjustment, customer};

use super::{Claim, Of, SyncTable};
use crate::entity;

/// Every column but those a server sets itself.
pub const ALL_OF_IT: &[&str] = &["*"];

/// Never taken from a sender.
pub const SERVER_COLUMNS: &[&str] = &[
    "id",
    "store_id",
    "sync_version",
    "synced",
    "received_at",
    "last_envelope_at",
    "flags",
    "deleted_at",
    "updated_at",
    "created_at",
];

/// Whether the owner of `list` may write `column`.
pub fn owns(list: &[&str], column: &str) -> bool {
    if list == ALL_OF_IT { !SERVER_COLUMNS.contains(&column) } else { list.contains(&column) }
}

pub fn nothing(_: Claim) -> &'static [&'static str] {
    &[]
}

/// The columns that a store pushes by the book: of a new row and of one that is there.
struct Pushed {
    new: Vec<&'static str>,
    known: Vec<&'static str>,
}

impl Pushed {
    fn of(book: &Book, table: &dyn SyncTable) -> Self {
        let pushed = |new: bool| {
            let mut columns = table.columns();
            columns.retain(|column| book.field(column).is_some_and(|field| field.is_pushed(new)));
            columns
        };
        Self { new: pushed(true), known: pushed(false) }
    }

    fn columns(&self, claim: Claim) -> &[&'static str] {
        if claim.new { &self.new } else { &self.known }
    }
}

/// Written whole by the store that made it, and never changed afterwards.
pub fn adjustments(claim: Claim) -> &'static [&'static str] {
    static PUSHED: LazyLock<Pushed> =
        LazyLock::new(|| Pushed::of(&adjustment::BOOK, &Of::<entity::inventory_adjustment::Entity>::NEW));
    PUSHED.columns(claim)
}

pub fn sessions(_: Claim) -> &'static [&'static str] {
    ALL_OF_IT
}

/// A sale is written once; afterwards only what a void or a refund changes.
pub fn sales(claim: Claim) -> &'static [&'static str] {
    if claim.new {
        ALL_OF_IT
    } else {
        &["status", "refunded_amount", "refunded_quantity", "voided_at", "voided_by", "void_reason"]
    }
}

/// Any store may change any customer, in the columns that stores own. A store cannot grant a tax exemption or credit.
pub fn customers(claim: Claim) -> &'static [&'static str] {
    static PUSHED: LazyLock<Pushed> =
        LazyLock::new(|| Pushed::of(&customer::BOOK, &Of::<entity::customer::Entity>::NEW));
    PUSHED.columns(claim)
}

/// What the maker of an order writes into it while it is a draft. Who approved it and when is headquarters' to say.
const ORDER: &[&str] = &[
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

/// A draft is its creator's; from the submission on HQ owns the header, the store what it receives. What HQ says of a
/// conflict is HQ's alone.
pub fn orders(claim: Claim) -> &'static [&'static str] {
    match claim.status {
        _ if claim.new => ORDER,
        Some("draft") if claim.made_by_hq => &[],
        None | Some("draft") => ORDER,
        Some(_) => &["status", "receipts", "last_supplier_document", "closed_by", "closed_at"],
    }
}

/// A line is its order's maker's up to the approval: a store that submits an order sends the header first, and HQ has
/// it as submitted when the lines come. Afterwards the store writes what it received.
pub fn order_items(claim: Claim) -> &'static [&'static str] {
    match claim.status {
        Some("draft") if claim.made_by_hq => &[],
        None | Some("draft" | "submitted") if !claim.made_by_hq => ALL_OF_IT,
        _ if claim.new && !claim.made_by_hq => ALL_OF_IT,
        _ => &["received_quantity", "cancelled_quantity", "received_cost"],
    }
}

/// What the source of a transfer writes. Where the goods go from and to comes first, and is said once.
const SOURCE: &[&str] = &[
    "from_store_id",
    "to_store_id",
    "transfer_number",
    "status",
    "requested_by",
    "requested_at",
    "approved_by",
    "approved_at",
    "rejected_reason",
    "cancelled_reason",
    "note",
    "sent_by",
    "sent_at",
    "carrier",
    "tracking_number",
    "line_no",
    "product_id",
    "sku",
    "product_name",
    "requested_quantity",
    "approved_quantity",
    "sent_quantity",
    "unit_cost",
];
/// How many of [`SOURCE`] never change.
const PARTIES: usize = 2;

/// The source store owns the document, the receiving store what it received. The two are who may write it: neither
/// makes another store a party of a transfer that is there.
pub fn transfers(claim: Claim) -> &'static [&'static str] {
    match claim {
        Claim { receives: true, .. } => {
            &["status", "received_by", "received_at", "receipts", "received_quantity", "damaged_quantity"]
        }
        Claim { new: true, .. } => SOURCE,
        _ => &SOURCE[PARTIES..],
    }
}
