//! Registers of a store, and which of them a till is enrolled for.

use sea_orm::{ConnectionTrait, DbErr};
use uuid::Uuid;

use crate::db::query;

/// Registers in use without an enrolled till: what is typed there is counted by its address, with whatever else is there.
pub async fn unenrolled(conn: &impl ConnectionTrait) -> Result<i64, DbErr> {
    let sql = "SELECT COUNT(*) AS n FROM registers r WHERE r.is_active = TRUE \
               AND NOT EXISTS (SELECT 1 FROM devices d WHERE d.register_id = r.id AND d.revoked_at IS NULL)";
    query(conn, sql, []).await?.first().map_or(Ok(0), |row| row.try_get("", "n"))
}

/// At headquarters: stores in use with registers that have no enrolled till, by their last word, with how many; by code.
pub async fn stores_without(conn: &impl ConnectionTrait) -> Result<Vec<(Uuid, String, i64)>, DbErr> {
    let sql = "SELECT s.id, s.code, n.unenrolled FROM stores s JOIN store_nodes n ON n.store_id = s.id \
               WHERE n.unenrolled > 0 AND s.is_active = TRUE AND s.deleted_at IS NULL ORDER BY s.code";
    let rows = query(conn, sql, []).await?;
    rows.iter()
        .map(|row| Ok((row.try_get("", "id")?, row.try_get("", "code")?, row.try_get("", "unenrolled")?)))
        .collect()
}
