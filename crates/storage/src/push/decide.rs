//! Whether an envelope applies: the time rule, the same envelope again, and the way a status may go.
//! `docs/sync.md`, rules U3, U7 and U11.

use tillkeep_model::Instant;
use tillkeep_model::state::Document;
use tillkeep_model::wire::Applied;
use uuid::Uuid;

use super::{Incoming, Sender, Verdict};
use crate::registry::{Row, Scope};
use crate::sync_log::Prior;

/// What is to be done with an envelope.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Insert,
    Update,
    /// Nothing but a note in the log.
    Leave(Applied),
    Refuse(Verdict),
}

pub(super) fn decide(
    incoming: &Incoming<'_>,
    row: &dyn Row,
    existing: Option<&dyn Row>,
    prior: Option<&Prior>,
    sender: &Sender,
) -> Decision {
    if let Some(verdict) = foreign(incoming, row, existing, sender) {
        return Decision::Refuse(verdict);
    }
    let again = prior.is_some_and(|prior| prior.seen);
    if again {
        return Decision::Leave(Applied::Duplicate);
    }
    let Some(existing) = existing else {
        return if incoming.action == "delete" { Decision::Leave(Applied::Skipped) } else { Decision::Insert };
    };
    // The specification's rule first; createdAt never moves, so on its own it would let a late `create` undo a `void`.
    let created: Option<Instant> = existing.instant("created_at");
    let last_applied = prior.and_then(|prior| prior.last_applied);
    if created.is_some_and(|created| incoming.timestamp < created)
        || last_applied.is_some_and(|last| incoming.timestamp < last)
    {
        return Decision::Leave(Applied::Skipped);
    }
    // What two sides write is taken column by column, and its status by `status::settle`.
    if let Some(document) = incoming.entity.document.filter(|_| !incoming.entity.shared) {
        let from = existing.text("status").unwrap_or_default();
        let to = target_status(incoming, row).unwrap_or_default();
        if !to.is_empty() && !document.may_follow(&from, &to) {
            return Decision::Leave(Applied::Skipped);
        }
    }
    Decision::Update
}

/// The state an envelope reports; a void says so by its action.
pub(super) fn target_status(incoming: &Incoming<'_>, row: &dyn Row) -> Option<String> {
    let voided = incoming.action == "void" && incoming.entity.document == Some(Document::Sale);
    if voided { Some("voided".to_owned()) } else { row.text("status") }
}

/// A row of somebody else, or a delete of what is never deleted.
fn foreign(incoming: &Incoming<'_>, row: &dyn Row, existing: Option<&dyn Row>, sender: &Sender) -> Option<Verdict> {
    let refuse = |text: &str| Some(Verdict::refused("store_mismatch", text));
    match incoming.entity.scope {
        Scope::Everyone => {}
        Scope::Store => {
            if existing.is_some_and(|existing| existing.uuid("store_id") != Some(sender.store_id)) {
                return refuse("the row belongs to another store");
            }
        }
        Scope::Parties => {
            let party = |row: &dyn Row, column| row.uuid(column) == Some(sender.store_id);
            let allowed = match existing {
                Some(existing) => party(existing, "from_store_id") || party(existing, "to_store_id"),
                None => party(row, "from_store_id"),
            };
            if !allowed {
                return refuse("only the source and the destination of a transfer may report it, and the source first");
            }
        }
    }
    // Only an order that is still a draft, and its lines, may be taken back.
    let draft = existing.and_then(|row| row.text("status")).is_none_or(|status| status == "draft");
    let deletable = matches!(incoming.entity.name, "purchase_orders" | "purchase_order_items") && draft;
    (incoming.action == "delete" && !deletable).then(|| {
        Verdict::refused(
            "not_deletable",
            format!("{} are not deleted by a store; only draft orders are", incoming.entity.name),
        )
    })
}

/// True when the sender is the receiving side of a transfer that HQ already has.
pub(super) fn receives(existing: Option<&dyn Row>, store_id: Uuid) -> bool {
    existing.is_some_and(|row| row.uuid("to_store_id") == Some(store_id) && row.uuid("from_store_id") != Some(store_id))
}
