//! What follows from HQ's word on entries of the outbox, and from its silence. `docs/sync.md`, rules U2, U4 and D7.

use std::collections::HashMap;

use tillkeep_model::wire::{Applied, PushStatus, TRY_LATER};
use tillkeep_storage::document::customer;
use tillkeep_storage::entity::outbox::Model as Entry;
use tillkeep_storage::{DbErr, outbox};
use uuid::Uuid;

use crate::Store;
use crate::headquarters::{HqError, Verdict};

/// The verdicts in the order of the entries. There must be one on each of them, and none besides: anything else may be from
/// whoever stands in between, marked or not.
pub(super) fn of_entries(results: Vec<Verdict>, entries: &[Entry]) -> Result<Vec<Verdict>, HqError> {
    let count = results.len();
    let mut by_id: HashMap<Uuid, Vec<Verdict>> = HashMap::with_capacity(count);
    for verdict in results {
        by_id.entry(verdict.entity_id).or_default().push(verdict);
    }
    let on_it = |entry: &Entry| {
        let verdicts = by_id.get_mut(&entry.entity_id)?;
        let place = verdicts.iter().position(|verdict| verdict.is_on(entry))?;
        Some(verdicts.remove(place))
    };
    let found: Vec<Verdict> = entries.iter().filter_map(on_it).collect();
    if found.len() == entries.len() && count == entries.len() {
        return Ok(found);
    }
    let text = format!("{count} verdicts that are not on the {} entries sent", entries.len());
    Err(HqError::Unreadable(text))
}

/// Notes HQ's verdicts; how many entries are done with, taken or refused.
pub(super) async fn apply_verdicts(store: &Store, entries: &[Entry], results: &[Verdict]) -> Result<usize, DbErr> {
    let (mut taken, mut refused, mut later) = (Vec::new(), Vec::new(), Vec::new());
    for (entry, result) in entries.iter().zip(results) {
        if result.status == PushStatus::Ok {
            taken.push(entry);
            continue;
        }
        let text = result.error.clone().unwrap_or_else(|| "refused without a reason".to_owned());
        if result.code.as_deref() == Some(TRY_LATER) { later.push((entry, text)) } else { refused.push((entry, text)) }
    }
    let is_applied = |result: &Verdict| matches!(result.applied, Some(Applied::Inserted | Applied::Updated));
    let applied =
        entries.iter().zip(results).filter(|(_, result)| is_applied(result)).map(|(entry, _)| entry).collect();
    confirm(store, &taken, applied).await?;
    refuse(store, &refused).await?;
    set_aside(store, &later).await?;
    Ok(taken.len() + refused.len())
}

/// There was no verdict on these: they count nothing and wait alone.
pub(super) async fn set_aside(store: &Store, entries: &[(&Entry, String)]) -> Result<(), DbErr> {
    if entries.is_empty() {
        return Ok(());
    }
    let _turn = store.sync.applying.lock().await;
    let tx = store.sync_db().begin().await?;
    for (entry, why) in entries {
        outbox::set_aside(&tx, entry, why, store.clock.now()).await?;
    }
    tx.commit().await?;
    let fresh = entries.iter().filter(|(entry, _)| entry.waits_alone_since.is_none());
    let (customers, others): (Vec<_>, Vec<_>) = fresh.partition(|(entry, _)| entry.entity_type == customer::TYPE);
    if let Some((_, why)) = customers.first() {
        // Beyond what a store may make in an hour there are many, for one reason.
        let entries = customers.len();
        tracing::warn!(entries, why, "there is no verdict on customers: they wait alone, the others go on");
    }
    for (entry, why) in others {
        let (seq, entity_type) = (entry.seq, &entry.entity_type);
        tracing::warn!(seq, entity_type, why, "there is no verdict on an entry: it waits alone, the others go on");
    }
    Ok(())
}

/// HQ has these: they leave the outbox. Those that were applied are certainly there.
pub(super) async fn confirm(store: &Store, taken: &[&Entry], applied: Vec<&Entry>) -> Result<(), DbErr> {
    let _turn = store.sync.applying.lock().await;
    let tx = store.sync_db().begin().await?;
    outbox::confirm(&tx, taken, store.clock.now()).await?;
    outbox::applied(&tx, &applied).await?;
    tx.commit().await?;
    Ok(())
}

/// Counts HQ's refusals; the tenth of an entry is its last.
pub(super) async fn refuse(store: &Store, refused: &[(&Entry, String)]) -> Result<(), DbErr> {
    if refused.is_empty() {
        return Ok(());
    }
    let _turn = store.sync.applying.lock().await;
    let tx = store.sync_db().begin().await?;
    let mut dead = Vec::new();
    for (entry, error) in refused {
        if outbox::refuse(&tx, entry, error, store.clock.now()).await? {
            dead.push((entry, error));
        }
    }
    tx.commit().await?;
    for (entry, error) in dead {
        tracing::error!(
            "SYNC DEAD LETTER {} {} after {} failures: {error}",
            entry.entity_type,
            entry.entity_id,
            entry.attempts + 1
        );
    }
    Ok(())
}
