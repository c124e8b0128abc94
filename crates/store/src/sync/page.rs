//! A page of a pull, from the answer that it is to the transaction that keeps it. `docs/sync.md`, rule D2.

use std::future::pending;
use std::panic::resume_unwind;

use tillkeep_model::wire::PullAnswer;
use tillkeep_storage::apply::{self, Cursor};
use tillkeep_storage::registry::{Scope, SyncType};
use tillkeep_storage::{DbErr, db, staged};
use tokio::task::JoinError;

use crate::Store;
use crate::headquarters::{HqError, PageSize};

/// Why a pull ended early.
#[derive(Debug, thiserror::Error)]
pub(super) enum PullError {
    #[error(transparent)]
    Hq(#[from] HqError),
    #[error("the local database: {0}")]
    Database(#[from] DbErr),
}

impl PullError {
    pub(super) const fn is_busy(&self) -> bool {
        matches!(self, Self::Hq(HqError::Busy { .. }))
    }

    /// Whether the line broke, or headquarters could not now, while one type was asked for: that may be for its sake alone.
    pub(super) const fn may_be_of_one_type(&self) -> bool {
        matches!(self, Self::Hq(HqError::Busy { .. } | HqError::Unreachable(_)))
    }

    /// Whether headquarters does not know the type that it was asked for, which no answer named.
    pub(super) const fn is_of_an_unknown_type(&self) -> bool {
        matches!(self, Self::Hq(HqError::Answered { refusal, .. }) if matches!(refusal.status, 400 | 404))
    }

    /// Why one type did not come, where that says nothing of the others; in words for headquarters.
    pub(super) fn of_one_type(&self) -> Option<String> {
        match self {
            Self::Database(error) => Some(db::in_short(error).to_owned()),
            Self::Hq(HqError::Answered { refusal, .. }) => Some(format!("headquarters answers {}", refusal.status)),
            Self::Hq(HqError::Unreadable(_)) => Some("the answer of headquarters cannot be read".to_owned()),
            Self::Hq(_) => None,
        }
    }
}

/// A page, and the cursor that it goes on from.
pub(super) struct Page {
    pub from: Cursor,
    pub read: apply::Page,
}

impl Page {
    /// The cursor once this page is kept.
    pub(super) const fn next(&self) -> Cursor {
        self.from.after(&self.read.answer)
    }
}

/// What became of pages that were to be kept.
pub(super) struct Kept {
    pub rows: usize,
    /// One of them does not go on from where the cursor is: a reload began. Neither it nor any after it is kept.
    pub is_of_before: bool,
}

/// What is to be noted of an answer of headquarters, and set right in it.
pub(super) fn arrived(pages: &PageSize, entity: &SyncType, answer: &mut PullAnswer, head: i64) {
    if !answer.has_more {
        pages.done(entity.name);
    }
    if !answer.has_more && answer.tag.is_none() && entity.scope == Scope::Parties && answer.latest_version < head {
        // One counter for all stores: what was counted for others must not be asked for again and again. The head
        // was announced before this page was read, so nothing below it is still to come. Release 0.1.0 does not say so
        // itself.
        answer.latest_version = head;
    }
}

/// What a task came to; its panic is one of whoever asks.
pub(super) async fn done<T>(ended: Result<T, JoinError>) -> T {
    match ended {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime ends, and this task with it.
            Err(_) => pending().await,
        },
    }
}

/// Writes pages that follow each other, or lays them aside, and moves the cursor with them. Those before one that cannot be kept may
/// be kept all the same.
pub(super) async fn keep(store: &Store, entity: &SyncType, pages: Vec<Page>) -> (Kept, Result<(), PullError>) {
    let mut kept = Kept { rows: 0, is_of_before: false };
    let written = write(store, entity, pages, &mut kept).await;
    if kept.rows > 0 && !entity.is_staged() {
        store.events.moved(entity.name);
    }
    if kept.rows > 0 || (entity.replace_all && written.is_ok()) {
        entity.arrival.forgets.iter().for_each(|forget| forget(store));
    }
    (kept, written)
}

/// Writes one page, all of it or nothing.
pub(super) async fn keep_one(store: &Store, entity: &SyncType, page: Page) -> Result<Kept, PullError> {
    let (kept, written) = keep(store, entity, vec![page]).await;
    written.map(|()| kept)
}

/// Writes pages in one transaction, or in as many as people wait for the database.
async fn write(store: &Store, entity: &SyncType, pages: Vec<Page>, kept: &mut Kept) -> Result<(), PullError> {
    let _turn = store.sync.applying.lock().await;
    let mut pages = pages.into_iter().peekable();
    while pages.peek().is_some() {
        let tx = store.sync_db().begin().await?;
        let mut rows = 0;
        for page in pages.by_ref() {
            if staged::cursor(&tx, entity).await? != page.from {
                kept.is_of_before = true;
                return Ok(());
            }
            rows += if entity.is_staged() {
                staged::page(&tx, entity, page.read).await?
            } else {
                apply::page(&tx, entity, store.id, page.read, store.clock.now()).await?
            };
            if store.sync_db().is_waited_for() {
                break;
            }
        }
        tx.commit().await?;
        kept.rows += rows;
    }
    Ok(())
}
