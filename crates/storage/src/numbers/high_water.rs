//! The highest numbers that HQ has of a store, so that a store that was restored or reinstalled gives none twice.
//! `docs/sync.md`, rule D8.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbErr};
use tillkeep_model::Instant;
use uuid::Uuid;

use super::document_numbers;
use crate::db::query;
use crate::series::{OUTBOX, OUTBOX_TIME};
use crate::{known_numbers, nodes};

/// By the store's names of its series: receipts and sessions of each register, customers, transfers, orders, the time of
/// the last entry, and the outbox of this very database (another one counts for itself). Numbers that begin with another
/// store's code are none of this one's.
pub async fn of_store(
    conn: &impl ConnectionTrait,
    store: Uuid,
    store_code: &str,
    node_epoch: &str,
) -> Result<BTreeMap<String, i64>, DbErr> {
    let mut out = BTreeMap::new();
    if let Some(last) = nodes::epochs(conn, store).await?.get(node_epoch) {
        out.insert(OUTBOX.to_owned(), *last);
    }
    out.extend(document_numbers::load(conn, store, store_code).await?);
    out.extend(known_numbers::of_store(conn, store, None).await?.into_iter().filter(|(name, _)| name != OUTBOX));
    // A store that forgot the time of its last entry would date its next ones before what HQ has applied (rule U8).
    let sql = "SELECT MAX(last) AS last FROM (SELECT MAX(envelope_at) AS last FROM sync_log WHERE store_id = $1 \
               UNION ALL SELECT MAX(envelope_until) FROM sync_log_nodes WHERE store_id = $1) AS both_tables";
    for row in query(conn, sql, [store.into()]).await? {
        if let Some(last) = row.try_get::<Option<Instant>>("", "last")? {
            out.insert(OUTBOX_TIME.to_owned(), last.millis());
        }
    }
    Ok(out)
}
