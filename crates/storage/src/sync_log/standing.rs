//! How the types of all stores stand, in three statements: of each store the newest success and error, and the rows alone that
//! somebody should look at. The rows of all types of ten thousand stores are a quarter of a million.

use std::collections::HashMap;

use sea_orm::{ConnectionTrait, DbErr, Value};
use tillkeep_model::Instant;
use uuid::Uuid;

use super::words::PULL;
use crate::db::{Row, query};
use crate::entity::sync_status::Model;
use crate::registry::{self, Scope};

/// What is known of the types of one store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    pub success_at: Option<Instant>,
    pub error_at: Option<Instant>,
    /// What the newest error said.
    pub error: Option<String>,
    /// It has asked for something.
    pub has_pulled: bool,
    /// Types that fail, that are behind, or of which something waits for a user, in the order of lists.
    pub rows: Vec<Model>,
}

impl From<Vec<Model>> for Standing {
    /// What all rows of a store say, in the order of lists.
    fn from(rows: Vec<Model>) -> Self {
        let last_error = rows.iter().filter(|row| row.last_error_at.is_some()).max_by_key(|row| row.last_error_at);
        Self {
            success_at: rows.iter().filter_map(|row| row.last_success_at).max(),
            error_at: last_error.and_then(|row| row.last_error_at),
            error: last_error.and_then(|row| row.last_error.clone()),
            has_pulled: rows.iter().any(|row| row.direction == PULL),
            rows,
        }
    }
}

/// How the types of each store stand. `head` is the version that headquarters has of a type that is equal for all stores.
pub async fn standing(
    conn: &impl ConnectionTrait,
    head: impl Fn(&'static str) -> i64,
) -> Result<HashMap<Uuid, Standing>, DbErr> {
    let mut all: HashMap<Uuid, Standing> = HashMap::new();
    let sql = format!(
        "SELECT store_id, MAX(last_success_at) AS success_at, \
         CAST(MAX(CASE WHEN direction = '{PULL}' THEN 1 ELSE 0 END) AS BIGINT) AS pulled \
         FROM sync_status GROUP BY store_id"
    );
    for row in query(conn, &sql, []).await? {
        let known = all.entry(row.try_get("", "store_id")?).or_default();
        known.success_at = row.try_get("", "success_at")?;
        known.has_pulled = row.try_get::<i64>("", "pulled")? > 0;
    }
    let sql = "SELECT store_id, last_error_at, last_error FROM (SELECT store_id, last_error_at, last_error, \
               ROW_NUMBER() OVER (PARTITION BY store_id ORDER BY last_error_at DESC, direction DESC, entity_type DESC) \
               AS place FROM sync_status WHERE last_error_at IS NOT NULL) e WHERE place = 1";
    for row in query(conn, sql, []).await? {
        let known = all.entry(row.try_get("", "store_id")?).or_default();
        known.error_at = row.try_get("", "last_error_at")?;
        known.error = row.try_get("", "last_error")?;
    }
    let (sql, values) = to_look_at(head);
    for row in query(conn, &sql, values).await? {
        let row = model(&row)?;
        all.entry(row.store_id).or_default().rows.push(row);
    }
    Ok(all)
}

/// What finds the rows that somebody should look at.
fn to_look_at(head: impl Fn(&'static str) -> i64) -> (String, Vec<Value>) {
    let of_each =
        |scope: Scope| registry::pulled().filter(move |entity| entity.scope == scope).map(|entity| entity.name);
    let equal = || of_each(Scope::Everyone).chain(of_each(Scope::Parties));
    let heads: Vec<i64> = equal().map(head).collect();
    let cases: Vec<String> = equal().zip(2..).map(|(name, place)| format!("WHEN '{name}' THEN ${place}")).collect();
    let own: Vec<String> = of_each(Scope::Store).map(|name| format!("'{name}'")).collect();
    // Most rows are passed over by the highest of all versions, which is quicker than by that of each type.
    let sql = format!(
        "SELECT store_id, entity_type, direction, last_success_at, last_error_at, last_error, pending_count, \
         pending_bytes, total_pushed, total_pulled, last_since_version FROM sync_status \
         WHERE pending_count > 0 OR pending_bytes > 0 \
         OR (last_error_at IS NOT NULL AND (last_success_at IS NULL OR last_error_at > last_success_at)) \
         OR (direction = '{PULL}' AND last_since_version < $1 \
         AND last_since_version < CASE entity_type {} ELSE CAST(0 AS BIGINT) END) \
         OR (direction = '{PULL}' AND entity_type IN ({}) AND last_since_version < (SELECT c.value FROM sync_counters c \
         WHERE c.entity_type = sync_status.entity_type AND c.scope = sync_status.store_id)) \
         ORDER BY direction, entity_type",
        cases.join(" "),
        own.join(", "),
    );
    let most = heads.iter().copied().max().unwrap_or_default();
    (sql, [most].into_iter().chain(heads).map(Value::from).collect())
}

fn model(row: &Row) -> Result<Model, DbErr> {
    Ok(Model {
        store_id: row.try_get("", "store_id")?,
        entity_type: row.try_get("", "entity_type")?,
        direction: row.try_get("", "direction")?,
        last_success_at: row.try_get("", "last_success_at")?,
        last_error_at: row.try_get("", "last_error_at")?,
        last_error: row.try_get("", "last_error")?,
        pending_count: row.try_get("", "pending_count")?,
        pending_bytes: row.try_get("", "pending_bytes")?,
        total_pushed: row.try_get("", "total_pushed")?,
        total_pulled: row.try_get("", "total_pulled")?,
        last_since_version: row.try_get("", "last_since_version")?,
    })
}
