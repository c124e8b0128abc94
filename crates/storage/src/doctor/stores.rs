//! How stores stand, by what headquarters has written of them. A running server knows more.

use sea_orm::{ConnectionTrait, DbErr};
use tillkeep_model::Instant;

use crate::db::query;
use crate::sync_log::PULL;

/// An active store that has shaken hands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub code: String,
    pub version: String,
    /// Or when it last shook hands, which is written at once.
    pub last_seen_at: Option<Instant>,
    pub clock_offset_ms: Option<i64>,
    pub dead_lettered: i64,
    /// Types of which it could not store what it pulled.
    pub unstored: i64,
}

/// Every such store, by code.
pub async fn seen(conn: &impl ConnectionTrait) -> Result<Vec<Seen>, DbErr> {
    let sql = "SELECT s.code, n.store_version, n.clock_offset_ms, n.dead_lettered, \
               CASE WHEN n.last_seen_at > n.handshake_at THEN n.last_seen_at ELSE n.handshake_at END AS last_seen_at, \
               (SELECT COUNT(*) FROM sync_status t WHERE t.store_id = s.id AND t.direction = $1 \
               AND t.pending_count > 0) AS unstored \
               FROM stores s JOIN store_nodes n ON n.store_id = s.id \
               WHERE s.deleted_at IS NULL AND s.is_active = TRUE AND n.handshake_at IS NOT NULL ORDER BY s.code";
    let rows = query(conn, sql, [PULL.into()]).await?;
    rows.iter()
        .map(|row| {
            Ok(Seen {
                code: row.try_get("", "code")?,
                version: row.try_get::<Option<String>>("", "store_version")?.unwrap_or_default(),
                last_seen_at: row.try_get("", "last_seen_at")?,
                clock_offset_ms: row.try_get("", "clock_offset_ms")?,
                dead_lettered: row.try_get("", "dead_lettered")?,
                unstored: row.try_get("", "unstored")?,
            })
        })
        .collect()
}
