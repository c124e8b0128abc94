//! The third step: what a document does besides being stored: stock, what customers owe, and what a user should look
//! at. Push rule 4 of the specification, section 4.3; `docs/sync.md`, rule U9.

use std::collections::HashMap;

use sea_orm::DbErr;
use tillkeep_model::JsonText;
use tillkeep_model::wire::Applied;
use uuid::Uuid;

use super::group::{Answers, Group};
use super::merged::Merged;
use super::{chained, flags};
use crate::Tx;
use crate::document::Whole;
use crate::document::movement::{Movement, Position};
use crate::envelope::Verdict;
use crate::envelope::dated::believed;
use crate::fiscal::CHAIN_BROKEN;
use crate::known_numbers::NUMBER_AHEAD;
use crate::ledger::averages;
use crate::rows::Row;

/// What the documents of a group cause.
#[derive(Default)]
pub(super) struct Effects {
    pub movements: Vec<Movement>,
    /// By how much each customer's account changes.
    pub charges: Vec<(Uuid, i128)>,
    /// The rows that are new, and the ids that were sent of them.
    pub arrived: Vec<Uuid>,
    pub arrived_as: Vec<Uuid>,
}

/// Finds the effects of the documents, and answers each with its flags, which it gets.
pub(super) async fn effects(
    tx: &mut Tx,
    group: &Group<'_>,
    merged: &mut [Merged],
    answers: &mut Answers,
) -> Result<Effects, DbErr> {
    let broken = chained::broken(tx, group, merged).await?;
    let flags = flags::find(tx, group, merged).await?;
    let places = places(tx, group, merged).await?;
    let mut effects = Effects::default();
    for ((document, flags), is_broken) in merged.iter_mut().zip(flags).zip(broken) {
        let flags = flags.into_iter().chain(is_broken.then_some(CHAIN_BROKEN));
        let flags = flags.chain(document.ahead.then_some(NUMBER_AHEAD)).map(str::to_owned);
        let flags: Vec<String> = flags.chain(std::mem::take(&mut document.kept_flags)).collect();
        document.row.set("flags", JsonText::new(&flags).into());
        let entry = group.envelopes[document.place].entry();
        let position = entry.and_then(|(epoch, seq)| Some(Position { place: *places.get(&epoch)?, seq }));
        let whole = Whole::new(&*document.row, &document.children);
        // When something was last sold is the latest of all times: one of the year 9999 would stand for good.
        let at = |movement: Movement| Movement { at: believed(movement.at, group.now), ..movement };
        effects.movements.extend(group.pushed.movements(&whole, position).into_iter().map(at));
        let more = group.pushed.charged(&whole) - document.charged;
        effects.charges.extend(group.pushed.named(&whole).customer.map(|customer| (customer, more)));
        if document.applied == Applied::Inserted {
            effects.arrived.extend(document.row.uuid("id"));
            effects.arrived_as.push(group.envelopes[document.place].id);
        }
        answers.give(document.place, Verdict::Taken { applied: document.applied, warnings: flags, left: false });
    }
    Ok(effects)
}

/// The order of the databases that documents are from which say what the average cost was after them.
async fn places(tx: &Tx, group: &Group<'_>, merged: &[Merged]) -> Result<HashMap<String, i64>, DbErr> {
    let says = |row: &dyn Row| row.integer("average_cost_after").is_some();
    let mut entries: Vec<_> = merged
        .iter()
        .filter(|document| says(&*document.row) || document.children.iter().flatten().any(|line| says(&**line)))
        .filter_map(|document| group.envelopes[document.place].entry())
        .collect();
    // A database that goes on from a copy of another one goes on with its numbers.
    entries.sort_unstable_by_key(|(_, seq)| *seq);
    let epochs: Vec<&str> = entries.iter().map(|(epoch, _)| epoch.as_str()).collect();
    averages::places(tx, group.sender.store_id, &epochs).await
}
