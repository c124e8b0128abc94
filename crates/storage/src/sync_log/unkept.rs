//! Pulls that a store could not keep: one failed row for each store and type, until it can. `docs/sync.md`, rule U12.

use std::collections::HashMap;

use sea_orm::{ConnectionTrait, DbErr, Value};
use tillkeep_model::Instant;
use uuid::Uuid;

use super::pulled::Pulled;
use crate::Tx;
use crate::db::{execute, placeholders, query};
use crate::envelope::clip;
use crate::many::execute_rows;

/// What such a row is known by. The words stand in the statements themselves, or `SQLite` would not take the index of these few.
const OPEN: &str = "sync_log.direction = 'pull' AND sync_log.status = 'failed'";

/// The code of such a row.
const NOT_STORED: &str = "not_stored";

/// Opens, renews and closes the failed rows of types of which stores said that they could not keep them, or that they have
/// them. Stores in `quiet` had everything before that was said of their types. How many rows of theirs were closed.
pub async fn note_unkept(
    tx: &Tx,
    pulled: &[((Uuid, &'static str), Pulled)],
    quiet: &[(Uuid, Instant)],
) -> Result<u64, DbErr> {
    let sql = format!(
        "{CLOSE} resolved_at = t.column2 FROM (VALUES $rows) AS t WHERE {OPEN} AND sync_log.store_id = t.column1"
    );
    let rows = quiet.iter().map(|(store, at)| [(*store).into(), (*at).into()]);
    let closed = execute_rows(tx, &sql, &[], "(?, ?)", rows).await?;
    let failing = pulled.iter().filter(|(_, pulled)| pulled.pending > 0);
    let failing: Vec<_> = failing.filter_map(|(key, pulled)| Some((*key, pulled.error.as_ref()?))).collect();
    let has = |(_, pulled): &&((Uuid, &'static str), Pulled)| pulled.pending == 0 && pulled.success_at.is_some();
    let kept: Vec<_> = pulled.iter().filter(has).filter_map(|(key, pulled)| Some((*key, pulled.success_at?))).collect();
    renew(tx, &failing).await?;
    open(tx, &failing).await?;
    close(tx, &kept).await?;
    Ok(closed)
}

type Failing<'a> = ((Uuid, &'static str), &'a (Instant, String));

/// The same trouble again is the same row.
async fn renew(tx: &Tx, failing: &[Failing<'_>]) -> Result<(), DbErr> {
    let sql = format!(
        "UPDATE sync_log SET error = t.column3, last_seen_at = t.column4, retry_count = retry_count + 1 \
         FROM (VALUES $rows) AS t WHERE {OPEN} AND sync_log.store_id = t.column1 AND sync_log.entity_type = t.column2"
    );
    let rows = failing.iter().map(|((store, entity_type), (at, error))| {
        [(*store).into(), (*entity_type).into(), clip(error).into(), (*at).into()]
    });
    execute_rows(tx, &sql, &[], "(?, ?, ?, ?)", rows).await?;
    Ok(())
}

/// A row for what has none. What a user resolved stays hidden until the type was kept in between; what a user tried again is
/// open again when it fails after the handshake in which its store was notified.
async fn open(tx: &Tx, failing: &[Failing<'_>]) -> Result<(), DbErr> {
    let of_it = "SELECT 1 FROM sync_log l WHERE l.store_id = t.column2 AND l.entity_id = '' AND l.hash = t.column3 \
                 AND l.direction = 'pull'";
    let kept_at = "(SELECT s.last_success_at FROM sync_status s WHERE s.store_id = t.column2 \
                   AND s.entity_type = t.column3 AND s.direction = 'pull')";
    let sent_since =
        "EXISTS (SELECT 1 FROM store_nodes n WHERE n.store_id = t.column2 AND n.handshake_at >= t.column5)";
    let sql = format!(
        "INSERT INTO sync_log (id, store_id, direction, entity_type, entity_id, action, status, code, error, hash, \
         retry_count, first_seen_at, last_seen_at, to_acknowledge, told_in) \
         SELECT t.column1, t.column2, 'pull', t.column3, '', 'pull', 'failed', '{NOT_STORED}', t.column4, t.column3, 0, \
         t.column5, t.column5, FALSE, '' FROM (VALUES $rows) AS t \
         WHERE NOT EXISTS ({of_it} AND l.status = 'failed') \
         AND NOT EXISTS ({of_it} AND l.status = 'resolved' AND l.resolved_by IS NOT NULL \
         AND l.resolved_at >= COALESCE({kept_at}, l.resolved_at)) \
         AND NOT EXISTS ({of_it} AND l.status = 'retried' AND ((l.to_acknowledge AND l.told_in = '') OR {sent_since}))"
    );
    let rows = failing.iter().map(|((store, entity_type), (at, error))| {
        [Uuid::now_v7().into(), (*store).into(), (*entity_type).into(), clip(error).into(), (*at).into()]
    });
    execute_rows(tx, &sql, &[], "(?, ?, ?, ?, ?)", rows).await?;
    Ok(())
}

const CLOSE: &str = "UPDATE sync_log SET status = 'resolved', note = 'the store has this type again',";

async fn close(tx: &Tx, kept: &[((Uuid, &'static str), Instant)]) -> Result<(), DbErr> {
    let sql = format!(
        "{CLOSE} resolved_at = t.column3 FROM (VALUES $rows) AS t \
         WHERE {OPEN} AND sync_log.store_id = t.column1 AND sync_log.entity_type = t.column2"
    );
    let rows = kept.iter().map(|((store, entity_type), at)| [(*store).into(), (*entity_type).into(), (*at).into()]);
    execute_rows(tx, &sql, &[], "(?, ?, ?)", rows).await?;
    Ok(())
}

/// How many types each store could not keep, of all stores or of `only` these, without what a user resolved.
pub async fn unkept(conn: &impl ConnectionTrait, only: Option<&[Uuid]>) -> Result<HashMap<Uuid, i64>, DbErr> {
    let (mut values, mut filter): (Vec<Value>, _) = (Vec::new(), String::new());
    if let Some(stores) = only {
        if stores.is_empty() {
            return Ok(HashMap::new());
        }
        filter = format!("AND store_id IN ({})", placeholders(1, stores.len()));
        values.extend(stores.iter().map(|store| Value::from(*store)));
    }
    let sql = format!("SELECT store_id, COUNT(*) AS n FROM sync_log WHERE {OPEN} {filter} GROUP BY store_id");
    query(conn, &sql, values)
        .await?
        .iter()
        .map(|row| Ok((row.try_get("", "store_id")?, row.try_get("", "n")?)))
        .collect()
}

/// The types that `store` is to load again, as a user tried them again here. It is said with `ticket`, and counts as said
/// when that comes back.
pub async fn to_reload(tx: &Tx, store: Uuid, ticket: &str) -> Result<Vec<String>, DbErr> {
    let sql = "UPDATE sync_log SET told_in = $2 WHERE store_id = $1 AND to_acknowledge AND direction = 'pull'";
    if execute(tx, sql, [store.into(), ticket.into()]).await? == 0 {
        return Ok(Vec::new());
    }
    let sql = "SELECT DISTINCT entity_type FROM sync_log WHERE store_id = $1 AND to_acknowledge AND direction = 'pull' \
               ORDER BY entity_type";
    query(tx, sql, [store.into()]).await?.iter().map(|row| row.try_get("", "entity_type")).collect()
}
