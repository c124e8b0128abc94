//! Rows of this database that cannot be read. A pull leaves them out, so that they hold up neither the rows beside them nor
//! the types after them; here they are named until they are mended. `docs/sync.md`, rule D13.

use std::time::Duration;

use serde::Serialize;
use tillkeep_http::Clock;
use tillkeep_model::Instant;
use tillkeep_storage::entity::unreadable_row::Model;
use tillkeep_storage::{Db, DbErr, unreadable};
use tokio::sync::watch;
use utoipa::ToSchema;
use uuid::Uuid;

/// So often it is looked whether something was mended, and what other servers of headquarters found.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// A row of headquarters that cannot be read and is not sent to stores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnreadableRow {
    entity_type: String,
    /// Nil where the type has no ids.
    id: Uuid,
    /// What of it cannot be read, where that is known.
    field: Option<String>,
    noticed_at: Instant,
}

impl From<Model> for UnreadableRow {
    fn from(row: Model) -> Self {
        Self { entity_type: row.entity_type, id: row.row_id, field: row.field, noticed_at: row.noticed_at }
    }
}

/// What is known of them, as the database has it.
pub struct Unreadable {
    rows: watch::Sender<Vec<UnreadableRow>>,
    looked_at: watch::Sender<Duration>,
}

impl Unreadable {
    pub async fn load(db: &Db, clock: &Clock) -> Result<Self, DbErr> {
        let rows = unreadable::known(db.reader()).await?.into_iter().map(Into::into).collect();
        Ok(Self { rows: watch::Sender::new(rows), looked_at: watch::Sender::new(clock.uptime()) })
    }

    pub fn rows(&self) -> watch::Receiver<Vec<UnreadableRow>> {
        self.rows.subscribe()
    }

    pub(crate) fn count_of(&self, entity_type: &str) -> usize {
        self.rows.borrow().iter().filter(|row| row.entity_type == entity_type).count()
    }

    pub fn count(&self) -> usize {
        self.rows.borrow().len()
    }

    pub(crate) fn knows(&self, row: &Model) -> bool {
        self.rows.borrow().iter().any(|known| known.id == row.row_id && known.entity_type == row.entity_type)
    }

    pub(crate) fn set(&self, rows: Vec<Model>) {
        let rows: Vec<UnreadableRow> = rows.into_iter().map(Into::into).collect();
        self.rows.send_if_modified(|known| {
            let moved = *known != rows;
            *known = rows;
            moved
        });
    }

    /// Whether it is time to look again; once said, it is not for a while.
    pub(crate) fn is_time_to_look(&self, uptime: Duration) -> bool {
        self.looked_at.send_if_modified(|at| {
            let due = uptime.saturating_sub(*at) >= LOOK_EVERY;
            *at = if due { uptime } else { *at };
            due
        })
    }
}
