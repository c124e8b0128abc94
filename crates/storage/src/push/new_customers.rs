//! New customers of each store by the hour: every store has them, so that who holds the token of one could fill the databases of
//! all. `docs/sync.md`, rule U16.

use std::collections::HashMap;

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::Tx;
use crate::db::{execute, query};
use crate::entity::new_customers::{Column, Entity};

const HOUR_MS: i64 = 3_600_000;
/// How long it is shown that a store made more than it may.
const SHOWN_MS: i64 = 24 * HOUR_MS;

/// Counts customers that `store` makes now; how many there are of this hour. Whatever other servers count at the same time is
/// among them.
pub(crate) async fn count(tx: &Tx, store: Uuid, made: i64, now: Instant) -> Result<i64, DbErr> {
    let hour = Instant::from_millis(now.millis() - now.millis().rem_euclid(HOUR_MS));
    let sql = "INSERT INTO new_customers (store_id, hour, made) VALUES ($1, $2, $3) ON CONFLICT (store_id) DO UPDATE SET \
               made = CASE WHEN new_customers.hour = excluded.hour THEN new_customers.made ELSE 0 END + excluded.made, \
               hour = excluded.hour RETURNING made";
    let rows = query(tx, sql, [store.into(), hour.into(), made.into()]).await?;
    rows.first().map_or(Ok(made), |row| row.try_get("", "made"))
}

/// `store` makes more than it may, of which `left` were not taken.
pub(crate) async fn beyond(tx: &Tx, store: Uuid, left: i64, now: Instant) -> Result<(), DbErr> {
    let sql = "UPDATE new_customers SET made = made - $2, beyond_at = $3, \
               beyond_since = CASE WHEN beyond_at >= $4 THEN beyond_since ELSE $3 END WHERE store_id = $1";
    execute(tx, sql, [store.into(), left.into(), now.into(), now.plus_millis(-SHOWN_MS).into()]).await?;
    Ok(())
}

/// The stores that made more than they may within the last day, with since when; of all stores or of `only` these.
pub async fn stores_beyond(
    conn: &impl ConnectionTrait,
    only: Option<&[Uuid]>,
    now: Instant,
) -> Result<HashMap<Uuid, Instant>, DbErr> {
    let mut select = Entity::find().filter(Column::BeyondAt.gt(now.plus_millis(-SHOWN_MS)));
    if let Some(only) = only {
        select = select.filter(Column::StoreId.is_in(only.iter().copied()));
    }
    let rows = select.all(conn).await?;
    Ok(rows.into_iter().filter_map(|row| Some((row.store_id, row.beyond_since?))).collect())
}
