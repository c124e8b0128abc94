//! Transfers: the source writes the document up to the shipment, the destination what it received.

use tillkeep_model::state::{MayFollow, Reported, TransferStatus, may_follow};

use super::{
    Act, Awaited, Beyond, Clash, Exported, Facts, Form, Maker, Named, Numbering, Parent, Pushed, Restored, UsedId,
    Whole, WriteContext,
};
use crate::document::movement::{Movement, Position};
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

pub struct Transfer;

impl Pushed for Transfer {
    fn order(&self) -> u8 {
        5
    }

    fn owned(&self, context: WriteContext<'_>) -> &'static [&'static str] {
        // The two parties are who may write it: neither makes another store a party of a transfer that is there.
        match context {
            WriteContext { receives: true, .. } => {
                &["status", "received_by", "received_at", "receipts", "received_quantity", "damaged_quantity"]
            }
            WriteContext { new: true, .. } => SOURCE,
            _ => &SOURCE[PARTIES..],
        }
    }

    fn beyond(&self) -> Beyond {
        Beyond::Refuse
    }

    fn used_id(&self) -> UsedId {
        UsedId::Theirs
    }

    fn states(&self) -> Option<MayFollow> {
        Some(may_follow::<TransferStatus>)
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

    fn may_be_deleted(&self, _: Option<&dyn Row>) -> bool {
        false
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

    fn complete(&self, row: &mut dyn Row, maker: &Maker<'_>) {
        row.set("store_id", maker.store_id.into());
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

/// The source goes up to the shipment, the destination on from there. What arrived arrived: a receipt that came before
/// the news of its shipment counts when that comes.
fn next_status(context: WriteContext<'_>, sent: Option<&str>, row: &dyn Row) -> String {
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
