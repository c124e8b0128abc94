//! The ends of the audit logs of stores, as they said them to headquarters: of each database of a store the last of each day.
//! What is cut off a log after that is missed here. `docs/sync.md`, rule D15.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbErr};
use tillkeep_model::Instant;
use tillkeep_model::wire::AuditHead;
use uuid::Uuid;

use crate::db::{execute, query};
use crate::settings;

/// At a store: the end of headquarters' log, as the last handshake said it.
const OF_HQ: &str = "hq_audit_head";

/// Headquarters heard `head` of the database `node_epoch` of a store. A log only grows: a shorter one, which comes late or was cut,
/// changes nothing.
pub async fn note(
    conn: &impl ConnectionTrait,
    store: Uuid,
    node_epoch: &str,
    head: &AuditHead,
    now: Instant,
) -> Result<(), DbErr> {
    let day: String = now.to_string().chars().take(10).collect();
    let sql = "INSERT INTO audit_heads (store_id, node_epoch, day, seq, hash) VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT (store_id, node_epoch, day) DO UPDATE SET seq = excluded.seq, hash = excluded.hash \
               WHERE audit_heads.seq < excluded.seq";
    let values = [store.into(), node_epoch.into(), day.into(), head.seq.into(), head.hash.as_str().into()];
    execute(conn, sql, values).await?;
    Ok(())
}

/// A user decided that another copy is the store: what was heard of the one before is not to be looked for in it.
pub async fn forget(conn: &impl ConnectionTrait, store: Uuid) -> Result<(), DbErr> {
    execute(conn, "DELETE FROM audit_heads WHERE store_id = $1", [store.into()]).await?;
    Ok(())
}

/// What was heard of one database of a store: rows of its log with their hashes.
pub async fn of_database(
    conn: &impl ConnectionTrait,
    store: Uuid,
    node_epoch: &str,
) -> Result<BTreeMap<i64, String>, DbErr> {
    let sql = "SELECT seq, hash FROM audit_heads WHERE store_id = $1 AND node_epoch = $2";
    let rows = query(conn, sql, [store.into(), node_epoch.into()]).await?;
    rows.iter().map(|row| Ok((row.try_get("", "seq")?, row.try_get("", "hash")?))).collect()
}

/// Whether `head` is before what was heard of this database: a copy of it goes on.
pub async fn is_shorter(
    conn: &impl ConnectionTrait,
    store: Uuid,
    node_epoch: &str,
    head: &AuditHead,
) -> Result<bool, DbErr> {
    let known = of_database(conn, store, node_epoch).await?;
    Ok(known.last_key_value().is_some_and(|(seq, _)| head.seq < *seq))
}

/// The end of headquarters' log, as a store keeps it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OfHq {
    /// Of the database of headquarters that said it.
    pub epoch: String,
    pub head: AuditHead,
    /// When it was said, by the clock of headquarters.
    pub at: Instant,
}

/// Keeps what headquarters said, unless it is shorter than before though headquarters `goes_on` from where it was.
pub async fn keep(conn: &impl ConnectionTrait, said: &OfHq, goes_on: bool) -> Result<(), DbErr> {
    let kept = kept(conn).await?.filter(|kept| goes_on && kept.epoch == said.epoch);
    if kept.is_some_and(|kept| kept.head.seq > said.head.seq) {
        return Ok(());
    }
    let text = serde_json::to_string(said).map_err(|error| DbErr::Json(error.to_string()))?;
    settings::set(conn, OF_HQ, &text).await
}

/// What this store keeps.
pub async fn kept(conn: &impl ConnectionTrait) -> Result<Option<OfHq>, DbErr> {
    Ok(settings::get(conn, OF_HQ).await?.and_then(|text| serde_json::from_str(&text).ok()))
}
