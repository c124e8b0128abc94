//! How far the load of a type is that takes more than one page: for the log, and for people.

use std::time::Duration;

use tillkeep_model::wire::PullAnswer;
use tillkeep_storage::apply::Cursor;
use tillkeep_storage::registry::SyncType;
use tillkeep_storage::{DbErr, pull, staged};

use crate::Store;
use crate::headquarters::Loading;

/// The log has a line so often at the most.
const SAY_EVERY: Duration = Duration::from_secs(5);

/// Shown until all of the type is here, or cannot be stored: a load that breaks off with the line goes on where it was.
pub(super) struct Progress<'a> {
    store: &'a Store,
    entity: &'a SyncType,
    loading: Loading,
    said_at: Duration,
}

impl<'a> Progress<'a> {
    /// Begins when `first`, which goes on after `from`, is a page of a load and not the last one. What has only changed is no load.
    pub(super) async fn begin(
        store: &'a Store,
        entity: &'a SyncType,
        from: Cursor,
        first: &PullAnswer,
    ) -> Result<Option<Self>, DbErr> {
        if !first.has_more {
            return Ok(None);
        }
        let broken_off = store.sync.line().loading.get(entity.name).copied();
        let rows = match broken_off {
            // What there is of it is this store's own, or of before.
            _ if from.version == 0 => 0,
            _ if from.reloading => {
                pull::count(store.reader(), entity).await? + staged::count(store.reader(), entity).await?
            }
            Some(loading) => loading.rows,
            None => return Ok(None),
        };
        let loading = Loading { rows, total: first.total };
        let progress = Self { store, entity, loading, said_at: store.clock.uptime() };
        progress.show();
        Ok(Some(progress))
    }

    /// A page of so many rows is here.
    pub(super) fn kept(&mut self, rows: usize) {
        let rows = self.loading.rows + i64::try_from(rows).unwrap_or_default();
        // One that changes meanwhile comes twice.
        self.loading.rows = self.loading.total.map_or(rows, |total| rows.min(total));
        self.show();
        let now = self.store.clock.uptime();
        if now.saturating_sub(self.said_at) >= SAY_EVERY {
            self.said_at = now;
            let Loading { rows, total } = self.loading;
            tracing::info!(entity_type = self.entity.name, rows, total, "loading");
        }
    }

    fn show(&self) {
        self.store.sync.update(|line| {
            line.loading.insert(self.entity.name.to_owned(), self.loading);
        });
    }
}
