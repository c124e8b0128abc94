//! How far the load of a type is that takes more than one page: for the log, and for people.

use std::time::Duration;

use serde::Serialize;
use tillkeep_model::wire::PullAnswer;
use tillkeep_storage::registry::SyncType;
use tillkeep_storage::{DbErr, pull};
use utoipa::ToSchema;

use crate::Store;

/// The log has a line so often at the most.
const SAY_EVERY: Duration = Duration::from_secs(5);

/// A type of which more is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Loading {
    /// Rows that are here.
    pub rows: i64,
    /// Rows that headquarters has, where it says so.
    pub total: Option<i64>,
}

/// Shown until it is dropped.
pub(super) struct Progress<'a> {
    store: &'a Store,
    entity: &'a SyncType,
    loading: Loading,
    said_at: Duration,
}

impl<'a> Progress<'a> {
    /// Begins when `first` is not the last page.
    pub async fn begin(store: &'a Store, entity: &'a SyncType, first: &PullAnswer) -> Result<Option<Self>, DbErr> {
        if !first.has_more {
            return Ok(None);
        }
        let rows = pull::count(store.db().reader(), entity).await?;
        let loading = Loading { rows, total: first.total };
        let progress = Self { store, entity, loading, said_at: store.clock.uptime() };
        progress.show();
        Ok(Some(progress))
    }

    /// A page of so many rows is here.
    pub fn kept(&mut self, rows: usize) {
        self.loading.rows += i64::try_from(rows).unwrap_or_default();
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

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.store.sync.update(|line| {
            line.loading.remove(self.entity.name);
        });
    }
}
