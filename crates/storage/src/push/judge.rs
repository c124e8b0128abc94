//! The first step: whether an envelope applies: the time rule, the same envelope again, and the way a status may go.
//! `docs/sync.md`, rules U3, U7 and U11.

use std::collections::HashMap;

use sea_orm::DbErr;
use tillkeep_model::Instant;
use tillkeep_model::wire::Applied;
use uuid::Uuid;

use super::elsewhere;
use super::group::{Answers, Group};
use super::pause::Pause;
use crate::Tx;
use crate::document::Pushed;
use crate::document::lists::{self, Said};
use crate::envelope::dated::{Dated, is_ahead};
use crate::envelope::{Decoded, Incoming, Sender, Verdict};
use crate::registry::Scope;
use crate::rows::Row;
use crate::sync_log::{Prior, Priors};

/// The envelopes of a group that apply, and the rows that HQ has of all of them.
pub(super) struct Judged<'a> {
    pub items: Vec<Item<'a>>,
    pub existing: HashMap<Uuid, Box<dyn Row>>,
}

/// An envelope that applies.
pub(super) struct Item<'a> {
    pub incoming: &'a Incoming<'a>,
    /// The id that its row has at HQ.
    pub id: Uuid,
    pub dated: Dated,
    pub decoded: Decoded,
    pub applied: Applied,
    /// Its place in the group.
    pub place: usize,
}

/// Reads the envelopes and decides on each; a verdict for those that cannot be read. Those that a user settled by
/// hand are left aside unread, whatever is wrong with them; their rows travel back.
pub(super) async fn judge<'a>(
    tx: &Tx,
    group: &Group<'a>,
    priors: &Priors,
    answers: &mut Answers,
) -> Result<Judged<'a>, DbErr> {
    let known = elsewhere::known(tx, group).await?;
    let mut items = Vec::with_capacity(group.envelopes.len());
    let mut pause = Pause::default();
    for (place, incoming) in group.envelopes.iter().enumerate() {
        pause.after(incoming.data.len()).await;
        let id = known.id(incoming.id);
        if priors.is_settled(incoming) {
            answers.leave(place, id, Applied::Skipped);
            continue;
        }
        let mut decoded = match incoming.decode(&group.shape) {
            Ok(decoded) => decoded,
            Err(verdict) => {
                answers.give(place, verdict);
                continue;
            }
        };
        if id != incoming.id {
            decoded.keep_as(incoming.entity, id);
        }
        let have = known.existing.get(&id).map(|row| &**row);
        if have.is_some() {
            incoming.narrow(&mut decoded);
        }
        let dated = priors.dated(incoming, group.now);
        match decide(incoming, &*decoded.row, have, (priors.get(incoming), dated), group) {
            Decision::Refuse(verdict) => answers.give(place, verdict),
            Decision::Leave(applied) => answers.leave(place, id, applied),
            Decision::Insert => items.push(Item { incoming, id, dated, decoded, applied: Applied::Inserted, place }),
            Decision::Update => items.push(Item { incoming, id, dated, decoded, applied: Applied::Updated, place }),
            Decision::Lists => {
                if let Some(have) = have {
                    leave_lists(incoming.pushed, &mut decoded, have);
                }
                items.push(Item { incoming, id, dated, decoded, applied: Applied::Updated, place });
            }
        }
    }
    Ok(Judged { items, existing: known.existing })
}

/// What is to be done with an envelope.
#[derive(Debug, PartialEq, Eq)]
enum Decision {
    Insert,
    Update,
    /// As an update, of nothing but lists that only grow.
    Lists,
    /// Nothing but a note in the log.
    Leave(Applied),
    Refuse(Verdict),
}

fn decide(
    incoming: &Incoming<'_>,
    row: &dyn Row,
    existing: Option<&dyn Row>,
    (prior, dated): (Option<&Prior>, Dated),
    group: &Group<'_>,
) -> Decision {
    if let Some(verdict) = foreign(incoming, row, existing, group.sender) {
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
    if is_before_its_making(dated, existing.instant("created_at"), group.now) || is_overtaken(dated, prior) {
        return Decision::Leave(Applied::Skipped);
    }
    // What two sides write is taken column by column, and its status by [`States::merged`](crate::document::States::merged).
    if let Some(states) = incoming.pushed.states.as_ref().filter(|states| states.merged.is_none()) {
        let from = incoming.pushed.status(existing).unwrap_or_default();
        let to = incoming.pushed.sent_status(&incoming.action, row).unwrap_or_default();
        if !to.is_empty() && !(states.may_follow)(states.meant(&from), states.meant(&to)) {
            let has_more = incoming.pushed.kept.is_some() && has_more(incoming.pushed, row, existing);
            return if has_more { Decision::Lists } else { Decision::Leave(Applied::Skipped) };
        }
    }
    Decision::Update
}

/// Whether a list that only grows has elements that headquarters does not have of the row.
fn has_more(pushed: &Pushed, row: &dyn Row, existing: &dyn Row) -> bool {
    pushed.append_only_lists.iter().any(|list| {
        let known = Said::new(existing.text(list).as_deref());
        lists::read(row.text(list).as_deref()).iter().any(|element| !known.has(element))
    })
}

/// A store that goes on from a copy says more of a row that had come to its end: what happened is kept, and else the row stays as
/// it is.
fn leave_lists(pushed: &Pushed, decoded: &mut Decoded, existing: &dyn Row) {
    if let Some(states) = &pushed.states {
        decoded.row.set(states.column, existing.text(states.column).into());
    }
    for list in pushed.append_only_lists {
        let (known, said) = (existing.text(list), decoded.row.text(list));
        let both = lists::union(known.as_deref(), said.as_deref());
        decoded.row.set(list, lists::union(Some(&both), known.as_deref()).into());
        if let Some(kept) = pushed.kept {
            kept(&mut *decoded.row, list, known.as_deref());
        }
    }
    let names: Vec<String> = pushed.append_only_lists.iter().map(|list| (*list).to_owned()).collect();
    decoded.keys.keep(&names);
    decoded.children.iter_mut().for_each(Vec::clear);
}

/// Whether an envelope is of before its row was made. Of times that are not believed each is compared with the like.
fn is_before_its_making(dated: Dated, created: Option<Instant>, now: Instant) -> bool {
    created.is_some_and(|created| match dated.said {
        Some(said) => is_ahead(created, now) && said < created,
        None => !is_ahead(created, now) && dated.at < created,
    })
}

/// Whether its store has said something newer of the row, which was applied.
fn is_overtaken(dated: Dated, prior: Option<&Prior>) -> bool {
    let Some(prior) = prior else { return false };
    prior.last_applied.is_some_and(|last| dated.at < last)
        || dated.said.zip(prior.last_said).is_some_and(|(said, last)| said < last)
}

/// A row of another owner, or a delete of what is never deleted.
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
    (incoming.action == "delete" && !incoming.pushed.may_be_deleted(existing)).then(|| {
        Verdict::refused(
            "not_deletable",
            format!("{} are not deleted by a store; only draft orders are", incoming.entity.name),
        )
    })
}
