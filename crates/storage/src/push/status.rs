//! The state of a document that two sides write: which step each may take, and what becomes of steps that cross.
//! `docs/sync.md`, rule U7; the tables of the states are in `docs/domain.md`.

use tillkeep_model::state::Document;

use crate::registry::{Claim, Row};

/// What HQ notes on an order that it had cancelled when goods arrived.
pub const CANCELLED_AND_RECEIVED: &str = "cancelled at headquarters while the store received goods";

const SHIPPED: &[&str] = &["in_transit", "partially_received", "received"];
const RECEIVING: &[&str] = &["partially_received", "received"];

/// Sets the state of `row` (merged but for this) to what `sent` comes to when HQ had the document as `claim.status`.
pub(super) fn settle(document: Document, claim: Claim, sent: Option<&str>, row: &mut dyn Row) {
    let sent = sent.filter(|sent| !sent.is_empty());
    let status = match document {
        // One writer: the way was judged before.
        Document::Sale | Document::RegisterSession => sent.map(str::to_owned),
        Document::Transfer => Some(transfer(claim, sent, row)),
        Document::PurchaseOrder => Some(order(claim, sent, row)),
    };
    if let Some(status) = status {
        row.set("status", status.into());
    }
}

/// The source goes up to the shipment, the destination on from there. What arrived arrived: a receipt that came before
/// the news of its shipment counts when that comes.
fn transfer(claim: Claim, sent: Option<&str>, row: &dyn Row) -> String {
    let has = claim.status.unwrap_or_default();
    // After the shipment nothing is cancelled: the goods come back by a new transfer.
    let shipped = row.instant("sent_at").is_some();
    let sent = sent.map(|to| if !claim.receives && (shipped || RECEIVING.contains(&to)) { "in_transit" } else { to });
    let status = match sent {
        None => has,
        Some(to) if claim.receives => {
            if SHIPPED.contains(&has) && RECEIVING.contains(&to) && Document::Transfer.may_follow(has, to) {
                to
            } else {
                has
            }
        }
        Some(to) if claim.new => to,
        Some(_) if SHIPPED.contains(&has) => has,
        Some(to) => {
            if Document::Transfer.may_follow(has, to) {
                to
            } else {
                has
            }
        }
    };
    let received = row.text("receipts").is_some_and(|receipts| receipts != "[]");
    match status {
        "in_transit" if received && row.instant("received_at").is_some() => "received",
        "in_transit" if received => "partially_received",
        status => status,
    }
    .to_owned()
}

/// A store submits and receives; what lies between is HQ's. The goods are in the shop, so a receipt goes before a
/// cancellation.
fn order(claim: Claim, sent: Option<&str>, row: &mut dyn Row) -> String {
    let has = claim.status.unwrap_or_default();
    let Some(to) = sent else { return has.to_owned() };
    let receives = RECEIVING.contains(&to) || to == "closed";
    let may = match has {
        // Nor is an order approved because its store says so. What was received was, though HQ may have lost the order.
        _ if claim.new && matches!(to, "approved" | "ordered") => return "submitted".to_owned(),
        _ if claim.new => return to.to_owned(),
        "cancelled" if receives => {
            row.set("conflict_note", Some(CANCELLED_AND_RECEIVED.to_owned()).into());
            // Nothing more is expected.
            return if to == "closed" { to } else { "received" }.to_owned();
        }
        "" | "draft" => receives || matches!(to, "submitted" | "cancelled"),
        _ => receives || !known(to),
    };
    if may && Document::PurchaseOrder.may_follow(has, to) { to } else { has }.to_owned()
}

/// A state that this version does not know comes from a newer program.
fn known(status: &str) -> bool {
    !Document::PurchaseOrder.may_follow("closed", status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_of_a_newer_program_is_told_from_one_of_the_table() {
        assert!(known("draft") && known("cancelled") && !known("archived"));
    }
}
