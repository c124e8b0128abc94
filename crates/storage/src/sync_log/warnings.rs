//! Entries that were taken and that a user should look at, until one has.

use std::collections::HashMap;

use sea_orm::{ConnectionTrait, DbErr, Value};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::Tx;
use crate::db::{execute, placeholders, query};

/// What a user should look at of one store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warned {
    pub count: i64,
    pub last_at: Option<Instant>,
    pub last: Option<String>,
}

/// The entries with a warning since then that no user settled, by store, of all stores or of `only` these.
pub async fn warned(
    conn: &impl ConnectionTrait,
    since: Instant,
    only: Option<&[Uuid]>,
) -> Result<HashMap<Uuid, Warned>, DbErr> {
    let mut values: Vec<Value> = vec![since.into()];
    let mut filter = String::new();
    if let Some(stores) = only {
        // No store is none of them; an empty list is no SQL.
        filter = format!("AND store_id IN ({})", placeholders(2, stores.len().max(1)));
        values.extend(stores.iter().map(|store| Value::from(*store)));
        if stores.is_empty() {
            values.push(Uuid::nil().into());
        }
    }
    let sql = format!(
        "SELECT store_id, warning, last_seen_at, n FROM (SELECT store_id, warning, last_seen_at, \
         COUNT(*) OVER (PARTITION BY store_id) AS n, \
         ROW_NUMBER() OVER (PARTITION BY store_id ORDER BY last_seen_at DESC, id DESC) AS place \
         FROM sync_log WHERE warning IS NOT NULL AND warning_settled_at IS NULL AND last_seen_at >= $1 {filter}) w WHERE place = 1"
    );
    query(conn, &sql, values)
        .await?
        .iter()
        .map(|row| {
            let warned = Warned {
                count: row.try_get("", "n")?,
                last_at: row.try_get("", "last_seen_at")?,
                last: row.try_get("", "warning")?,
            };
            Ok((row.try_get("", "store_id")?, warned))
        })
        .collect()
}

/// Notes that nothing is left to be done about the warning of an entry. False when another user was here before.
pub async fn settle(tx: &Tx, entry: Uuid, now: Instant) -> Result<bool, DbErr> {
    let sql = "UPDATE sync_log SET warning_settled_at = $2 \
               WHERE id = $1 AND warning IS NOT NULL AND warning_settled_at IS NULL";
    Ok(execute(tx, sql, [entry.into(), now.into()]).await? > 0)
}
