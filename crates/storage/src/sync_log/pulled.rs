//! What stores pulled, as `sync_status` counts it.

use sea_orm::{ConnectionTrait, DbErr};
use tillkeep_model::Instant;
use uuid::Uuid;

use super::words::{PULL, STATUS_INSERT};
use crate::db::query;
use crate::envelope::clip;
use crate::many::execute_rows;

/// What became known of one store and one pulled type since the last time this was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pulled {
    /// Rows that it has by its own word.
    pub rows: i64,
    /// The version that it has.
    pub since: i64,
    /// When it last had all there is, or more than before.
    pub success_at: Option<Instant>,
    /// When it last said that it could not store the type, and why.
    pub error: Option<(Instant, String)>,
    /// Rows that it was handed and could not store.
    pub pending: i32,
}

impl Pulled {
    /// Both, `later` being the newer one.
    pub fn add(&mut self, later: Self) {
        self.rows += later.rows;
        self.since = later.since;
        self.success_at = later.success_at.or(self.success_at);
        self.error = later.error.or(self.error.take());
        self.pending = later.pending;
    }
}

/// Writes what stores pulled, set-wise; pulls themselves write nothing.
pub async fn record_pulls(conn: &impl ConnectionTrait, pulled: &[((Uuid, &'static str), Pulled)]) -> Result<(), DbErr> {
    let rows = pulled.iter().map(|((store, entity_type), pulled)| {
        let (error_at, error) = pulled.error.clone().unzip();
        [
            (*store).into(),
            (*entity_type).into(),
            pulled.success_at.into(),
            error_at.into(),
            error.as_deref().map(clip).into(),
            pulled.pending.into(),
            pulled.rows.into(),
            pulled.since.into(),
        ]
    });
    let sql = format!(
        "{STATUS_INSERT} VALUES $rows ON CONFLICT (store_id, entity_type, direction) DO UPDATE SET \
         last_success_at = COALESCE(excluded.last_success_at, sync_status.last_success_at), \
         last_error_at = COALESCE(excluded.last_error_at, sync_status.last_error_at), \
         last_error = COALESCE(excluded.last_error, sync_status.last_error), \
         pending_count = excluded.pending_count, \
         total_pulled = sync_status.total_pulled + excluded.total_pulled, \
         last_since_version = excluded.last_since_version"
    );
    execute_rows(conn, &sql, &[PULL.into()], "(?, ?, $1, ?, ?, ?, ?, 0, 0, ?, ?)", rows).await?;
    Ok(())
}

/// Notes of stores that they had everything at that moment: a success of each type, in one statement for all of them.
pub async fn record_quiet(conn: &impl ConnectionTrait, quiet: &[(Uuid, Instant)]) -> Result<(), DbErr> {
    let sql = format!(
        "UPDATE sync_status SET last_success_at = t.column2, pending_count = 0 FROM (VALUES $rows) AS t \
         WHERE sync_status.store_id = t.column1 AND sync_status.direction = '{PULL}'"
    );
    let rows = quiet.iter().map(|(store, at)| [(*store).into(), (*at).into()]);
    execute_rows(conn, &sql, &[], "(?, ?)", rows).await?;
    Ok(())
}

/// Up to which version a store has a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Has {
    pub store_id: Uuid,
    pub store_code: String,
    pub version: i64,
    /// It was heard of.
    pub started: bool,
}

/// What each active store has of one type, by code.
pub async fn versions_of_stores(conn: &impl ConnectionTrait, entity_type: &str) -> Result<Vec<Has>, DbErr> {
    let sql = "SELECT s.id, s.code, s.first_seen_at, COALESCE(t.last_since_version, 0) AS version FROM stores s \
               LEFT JOIN sync_status t ON t.store_id = s.id AND t.entity_type = $1 AND t.direction = $2 \
               WHERE s.is_active AND s.deleted_at IS NULL ORDER BY s.code";
    query(conn, sql, [entity_type.into(), PULL.into()])
        .await?
        .iter()
        .map(|row| {
            Ok(Has {
                store_id: row.try_get("", "id")?,
                store_code: row.try_get("", "code")?,
                version: row.try_get("", "version")?,
                started: row.try_get::<Option<Instant>>("", "first_seen_at")?.is_some(),
            })
        })
        .collect()
}
