//! What was settled of the entries of a store, and whether the store knows it.

use std::collections::HashSet;

use sea_orm::{ConnectionTrait, DbErr};
use tillkeep_model::wire::{Acknowledged, Number, Outcome};
use uuid::Uuid;

use crate::Tx;
use crate::db::{execute, query};
use crate::many::find_in;
use crate::sync_log::unapplied;

/// Of these dead letters of a store, those that HQ neither refuses nor has settled just now: it lost its refusal, or something
/// in between was taken for it once.
pub async fn never_refused(conn: &impl ConnectionTrait, store: Uuid, dead: &[Number]) -> Result<Vec<i64>, DbErr> {
    let dead = &dead[..dead.len().min(Number::MOST)];
    let sql = "SELECT seq, node_epoch FROM sync_log WHERE store_id = $1 AND (status = $2 OR to_acknowledge) \
               AND node_epoch IS NOT NULL AND seq IN ($list)";
    let values = [store.into(), crate::sync_log::FAILED.into()];
    let rows = find_in(conn, sql, &values, dead.iter().map(|number| number.seq)).await?;
    let mut refused = HashSet::new();
    for row in rows {
        refused.insert(Number { seq: row.try_get("", "seq")?, node_epoch: row.try_get("", "node_epoch")? });
    }
    Ok(dead.iter().filter(|number| !refused.contains(number)).map(|number| number.seq).collect())
}

/// Outbox entries that a user settled at HQ and `store` does not know of yet. They are said with `ticket`, and count as
/// said when it comes back: [`acknowledged`].
pub async fn to_acknowledge(tx: &Tx, store: Uuid, ticket: &str) -> Result<Vec<Settled>, DbErr> {
    // Noted first: what a user settles from here on was not said.
    let sql = "UPDATE sync_log SET told_in = $2 WHERE store_id = $1 AND to_acknowledge AND seq IS NOT NULL";
    if execute(tx, sql, [store.into(), ticket.into()]).await? == 0 {
        return Ok(Vec::new());
    }
    let sql = "SELECT seq, node_epoch, entity_type, entity_id, status, resolved_by FROM sync_log WHERE store_id = $1 \
               AND to_acknowledge AND seq IS NOT NULL AND told_in = $2 ORDER BY seq";
    let mut settled = Vec::new();
    for row in query(tx, sql, [store.into(), ticket.into()]).await? {
        let status: String = row.try_get("", "status")?;
        // What a later envelope closed was no user's decision to leave it: HQ has the row.
        let by_hand = row.try_get::<Option<Uuid>>("", "resolved_by")?.is_some();
        let left = by_hand && status != crate::sync_log::RETRIED;
        let (entity_type, entity_id): (String, String) =
            (row.try_get("", "entity_type")?, row.try_get("", "entity_id")?);
        let standing = if left { unapplied::standing(tx, store, &entity_type, &entity_id).await? } else { None };
        let acknowledged = Acknowledged {
            seq: row.try_get("", "seq")?,
            outcome: if left { Outcome::Resolved } else { Outcome::Ok },
            node_epoch: row.try_get("", "node_epoch")?,
            entity_id,
            at_headquarters: standing.map(|(here, _)| here),
            charged: standing.is_some_and(|(_, charged)| charged),
        };
        settled.push(Settled { entity_type, acknowledged });
    }
    Ok(settled)
}

/// An entry that was settled, and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    pub entity_type: String,
    pub acknowledged: Acknowledged,
}

/// The store presented `ticket`: it has what was said with it.
pub async fn acknowledged(conn: &impl ConnectionTrait, store: Uuid, ticket: &str) -> Result<(), DbErr> {
    let sql = "UPDATE sync_log SET to_acknowledge = FALSE WHERE store_id = $1 AND to_acknowledge AND told_in = $2";
    execute(conn, sql, [store.into(), ticket.into()]).await?;
    Ok(())
}
