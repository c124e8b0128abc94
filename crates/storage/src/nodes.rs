//! What HQ knows of the installation behind a store: its database's identity, its ticket, its clock, its outbox.

use std::collections::BTreeMap;

use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, Iterable, Value};
use tillkeep_model::Instant;
use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_model::wire::Acknowledged;
use uuid::Uuid;

use crate::db::{execute, query, rows_per_statement};
use crate::entity::store_node::{Column, Entity, Model};

pub async fn find(conn: &impl ConnectionTrait, store: Uuid) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(store).one(conn).await
}

/// Writes the whole row.
pub async fn save(conn: &impl ConnectionTrait, row: Model) -> Result<(), DbErr> {
    let update = Column::iter().filter(|column| !matches!(column, Column::StoreId));
    Entity::insert(row.into_active_model())
        .on_conflict(OnConflict::column(Column::StoreId).update_columns(update).to_owned())
        .exec_without_returning(conn)
        .await?;
    Ok(())
}

/// Notes when stores were last heard of, set-wise.
pub async fn seen(conn: &impl ConnectionTrait, seen: &[(Uuid, Instant)]) -> Result<(), DbErr> {
    for chunk in seen.chunks(rows_per_statement(2)) {
        let tuples: Vec<String> = (0..chunk.len())
            .map(|index| format!("(${}, '', '', 0, '', '', 0, 0, ${})", 2 * index + 1, 2 * index + 2))
            .collect();
        let values: Vec<Value> = chunk.iter().flat_map(|(store, at)| [(*store).into(), (*at).into()]).collect();
        let sql = format!(
            "INSERT INTO store_nodes (store_id, node_epoch, ticket, last_seq, store_version, fingerprints, outbox_pending, \
             dead_lettered, last_seen_at) VALUES {} \
             ON CONFLICT (store_id) DO UPDATE SET last_seen_at = excluded.last_seen_at",
            tuples.join(", ")
        );
        execute(conn, &sql, values).await?;
    }
    Ok(())
}

/// The highest numbers that HQ has of a store, by the store's series names: receipts and sessions of each register, the
/// customers made there, and the outbox of this very database (another one counts for itself).
pub async fn high_water(
    conn: &impl ConnectionTrait,
    store: Uuid,
    node_epoch: &str,
) -> Result<BTreeMap<String, i64>, DbErr> {
    let mut out = BTreeMap::new();
    let sql = "SELECT MAX(seq) AS last FROM sync_log WHERE store_id = $1 AND node_epoch = $2";
    for row in query(conn, sql, [store.into(), node_epoch.into()]).await? {
        if let Some(last) = row.try_get::<Option<i64>>("", "last")? {
            out.insert("outbox".to_owned(), last);
        }
    }
    // Text sorts like its number only among texts of one length.
    let sql = "SELECT register_code, MAX(receipt_number) AS last FROM sales WHERE store_id = $1 \
               GROUP BY register_code, LENGTH(receipt_number) ORDER BY LENGTH(receipt_number)";
    for row in query(conn, sql, [store.into()]).await? {
        let (register, last): (String, String) = (row.try_get("", "register_code")?, row.try_get("", "last")?);
        if let Some(receipt) = ReceiptNumber::parse(&last) {
            out.insert(format!("receipt:{register}"), receipt.number);
        }
    }
    let sql = "SELECT register_code, MAX(session_number) AS last FROM register_sessions WHERE store_id = $1 \
               GROUP BY register_code";
    for row in query(conn, sql, [store.into()]).await? {
        let (register, last): (String, i32) = (row.try_get("", "register_code")?, row.try_get("", "last")?);
        out.insert(format!("session:{register}"), i64::from(last));
    }
    let sql = "SELECT MAX(customer_number) AS last FROM customers WHERE origin_store_id = $1 \
               GROUP BY LENGTH(customer_number) ORDER BY LENGTH(customer_number)";
    for row in query(conn, sql, [store.into()]).await? {
        let last: String = row.try_get("", "last")?;
        // HQ names a customer who came without a number by the id.
        if let Some(number) = last.rsplit_once('-').and_then(|(_, number)| number.parse().ok()) {
            out.insert("customer".to_owned(), number);
        }
    }
    Ok(out)
}

/// Outbox entries of this database that somebody settled at HQ and the store does not know of yet. Another database of
/// the same store has other entries under the same numbers.
pub async fn to_acknowledge(
    conn: &impl ConnectionTrait,
    store: Uuid,
    node_epoch: &str,
) -> Result<Vec<Acknowledged>, DbErr> {
    use tillkeep_model::wire::Outcome;
    let sql = "SELECT seq, status FROM sync_log WHERE store_id = $1 AND node_epoch = $2 AND to_acknowledge \
               AND seq IS NOT NULL ORDER BY seq";
    query(conn, sql, [store.into(), node_epoch.into()])
        .await?
        .iter()
        .map(|row| {
            let status: String = row.try_get("", "status")?;
            let outcome = if status == crate::sync_log::RETRIED { Outcome::Ok } else { Outcome::Resolved };
            Ok(Acknowledged { seq: row.try_get("", "seq")?, outcome })
        })
        .collect()
}

/// The store was told what was settled before `told_at`.
pub async fn acknowledged(conn: &impl ConnectionTrait, store: Uuid, told_at: Instant) -> Result<(), DbErr> {
    let sql = "UPDATE sync_log SET to_acknowledge = FALSE \
               WHERE store_id = $1 AND to_acknowledge AND resolved_at < $2";
    execute(conn, sql, [store.into(), told_at.into()]).await?;
    Ok(())
}

/// The stores that are still to be told something.
pub async fn stores_to_tell(conn: &impl ConnectionTrait) -> Result<Vec<Uuid>, DbErr> {
    let sql = "SELECT DISTINCT store_id FROM sync_log WHERE to_acknowledge";
    query(conn, sql, []).await?.iter().map(|row| row.try_get("", "store_id")).collect()
}
