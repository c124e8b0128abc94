//! Transfers: the source writes the document up to the shipment, the destination what it received.

use tillkeep_model::state::{Reported, TransferStatus, may_follow};

use super::{Beyond, Clash, Form, Numbering, Pushed, States, UsedId, WriteContext};
use crate::rows::Row;

pub const TYPE: &str = "transfers";

static NUMBER: Numbering = Numbering {
    kind: "transfer",
    table: TYPE,
    column: "transfer_number",
    store: "from_store_id",
    register: None,
    form: Form::Text { infix: "-TR-" },
    clash: Clash::Refused,
};

const SHIPPED: &[TransferStatus] =
    &[TransferStatus::InTransit, TransferStatus::PartiallyReceived, TransferStatus::Received];
const RECEIVING: &[TransferStatus] = &[TransferStatus::PartiallyReceived, TransferStatus::Received];

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

pub static TRANSFER: Pushed = Pushed {
    owned,
    beyond: Beyond::Refuse,
    used_id: UsedId::Theirs,
    states: Some(States {
        column: "status",
        may_follow: may_follow::<TransferStatus>,
        by_action: &[],
        made_by_hq: None,
        merged: Some(next_status),
        reckoned: None,
    }),
    parent: None,
    may_be_deleted: None,
    append_only_lists: &["receipts"],
    kept: None,
    number: Some(&NUMBER),
    printed: &[],
    times: &[],
    day: None,
    complete: Some(|row, maker| {
        row.set("store_id", maker.store_id.into());
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

/// The two parties are who may write it: neither makes another store a party of a transfer that is there.
fn owned(context: WriteContext<'_>) -> &'static [&'static str] {
    match context {
        WriteContext { receives: true, .. } => {
            &["status", "received_by", "received_at", "receipts", "received_quantity", "damaged_quantity"]
        }
        WriteContext { new: true, .. } => SOURCE,
        _ => &SOURCE[PARTIES..],
    }
}

/// The source goes up to the shipment, the destination on from there. What arrived arrived: a receipt that came before
/// the news of its shipment counts when that comes.
fn next_status(context: WriteContext<'_>, sent: Option<&str>, row: &mut dyn Row) -> String {
    let has = context.status.unwrap_or_default();
    let from: Reported<TransferStatus> = Reported::read(has);
    // After the shipment nothing is cancelled: the goods come back by a new transfer.
    let shipped = row.instant("sent_at").is_some();
    let sent = sent.map(|to| {
        let receives = Reported::read(to).is_one_of(RECEIVING);
        if !context.receives && (shipped || receives) { TransferStatus::InTransit.word() } else { to }
    });
    let may_be = |to: &str| {
        let to = Reported::read(to);
        match context {
            WriteContext { receives: true, .. } => {
                from.is_one_of(SHIPPED) && to.is_one_of(RECEIVING) && from.may_become(to)
            }
            WriteContext { new: true, .. } => true,
            _ => !from.is_one_of(SHIPPED) && from.may_become(to),
        }
    };
    let status = sent.filter(|to| may_be(to)).unwrap_or(has);
    let received = row.text("receipts").is_some_and(|receipts| receipts != "[]");
    if status != TransferStatus::InTransit || !received {
        return status.to_owned();
    }
    let whole = row.instant("received_at").is_some();
    if whole { TransferStatus::Received } else { TransferStatus::PartiallyReceived }.into()
}
