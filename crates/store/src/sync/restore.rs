//! Getting back what this store has made and lost: its recent documents and its stock, from HQ. `docs/sync.md`, rule D8.

use std::sync::atomic::Ordering;

use tillkeep_storage::{Db, DbErr, Tx, own_documents, settings};
use uuid::Uuid;

use super::pull::PullError;
use super::sender::{self, Round, Sender};
use crate::Store;
use crate::headquarters::HqError;

const DUE: &str = "own_documents_due";
/// Up to where they are here: a type and the last id of it.
const PLACE: &str = "own_documents_place";
/// Rows of one page: little enough for a slow line to carry in the time of one request.
const PAGE: u64 = 200;

/// Notes that documents are missing here; [`run`] fetches them, however often the store dies in between.
pub(super) async fn begin(tx: &Tx) -> Result<(), DbErr> {
    settings::set(tx, PLACE, "").await?;
    settings::set(tx, DUE, "yes").await
}

pub(super) async fn is_due(db: &Db) -> Result<bool, DbErr> {
    Ok(settings::get(db.reader(), DUE).await?.as_deref() == Some("yes"))
}

/// Where to go on: nowhere yet, or in a type after an id.
async fn place(db: &Db) -> Result<(Option<String>, Uuid), DbErr> {
    let kept = settings::get(db.reader(), PLACE).await?.unwrap_or_default();
    let place = kept.split_once(' ').and_then(|(name, after)| Some((name.to_owned(), after.parse().ok()?)));
    Ok(place.map_or((None, Uuid::nil()), |(name, after)| (Some(name), after)))
}

/// Fetches and takes what is not here yet; does nothing when nothing is due.
pub(super) async fn run(store: &Store) -> Result<(), PullError> {
    if !store.sync.restore_due.load(Ordering::Acquire) {
        return Ok(());
    }
    // HQ's levels and ours can only be compared while nothing is on its way: what HQ may have taken without an answer is
    // sent first, and nothing else is sent until the levels are here.
    let _gate = store.sync.sending.enter().await;
    let mut sender = Sender::default();
    loop {
        match sender.step_within(store).await? {
            Round::Sent => {}
            // Of what waits alone it is not known whether HQ has it.
            Round::Idle(_) if !sender::some_wait_alone(store).await? => break,
            Round::Idle(_) | Round::Wait(_) | Round::Compare(_) | Round::Obey(_) => {
                return Err(HqError::Unreachable("the outbox could not be sent before the restore".to_owned()).into());
            }
        }
    }
    let mut count = 0;
    let (begun, mut after) = place(store.sync_db()).await?;
    for name in own_documents::TYPES.iter().skip_while(|name| begun.as_ref().is_some_and(|begun| begun != *name)) {
        let Some(entity) = own_documents::find(name) else { continue };
        loop {
            let pages = &store.sync.page_size;
            let size = pages.get(name).min(PAGE);
            let answer = pages.note(name, size, store.hq.own_documents(name, after, size).await)?;
            let _turn = store.sync.applying.lock().await;
            let mut tx = store.sync_db().begin().await?;
            count += own_documents::take(&mut tx, entity, store.id, &answer.rows, store.clock.now()).await?;
            after = answer.last_id.unwrap_or(after);
            // With its rows: a line that breaks and a store that dies go on here.
            settings::set(&tx, PLACE, &format!("{name} {after}")).await?;
            tx.commit().await?;
            if !answer.has_more {
                pages.done(name);
                break;
            }
        }
        after = Uuid::nil();
    }
    let tx = store.sync_db().begin().await?;
    // From here on each document has an entry of its own again; what is older may have come back without one.
    settings::set(&tx, DUE, &store.clock.now().to_string()).await?;
    tx.commit().await?;
    store.sync.restore_due.store(false, Ordering::Release);
    store.events.start_over();
    tracing::info!(rows = count, "this store has its own documents back");
    Ok(())
}
