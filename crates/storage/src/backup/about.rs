//! What a database says of itself to whoever looks at a backup of it.

use std::collections::BTreeSet;

use sea_orm::{ConnectionTrait, DbErr, Value};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::db::query;
use crate::{Connection, registry, settings};

/// Whose database it is, how far its schema is, and how much is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The store that has it, by code and id; the code is not known before its first pull.
    pub store: Option<(Option<String>, Uuid)>,
    /// The last step of the schema.
    pub step: Option<String>,
    /// Rows of each synchronised type that has any.
    pub rows: Vec<(&'static str, i64)>,
}

/// Of a database on `SQLite`, whatever release it is of.
pub(super) async fn tables(conn: &Connection) -> Result<BTreeSet<String>, DbErr> {
    let rows = query(conn, "SELECT name FROM sqlite_master WHERE type = 'table'", []).await?;
    rows.iter().map(|row| row.try_get("", "name")).collect()
}

pub async fn about(conn: &Connection) -> Result<About, DbErr> {
    let tables = tables(conn).await?;
    let has = |name: &str| tables.contains(name);
    let step =
        if has("schema_steps") { text(conn, "SELECT MAX(name) AS found FROM schema_steps", []).await? } else { None };
    let mut store = None;
    if has("sync_state")
        && let Some(id) = settings::get(conn, "store_id").await?.and_then(|id| Uuid::parse_str(&id).ok())
    {
        let code = if has("stores") {
            text(conn, "SELECT code AS found FROM stores WHERE id = $1", [id.into()]).await?
        } else {
            None
        };
        store = Some((code, id));
    }
    let names = registry::ALL.iter().map(|entity| entity.table.name()).filter(|name| has(name));
    let counts: Vec<String> =
        names.map(|name| format!("SELECT '{name}' AS name, COUNT(*) AS found FROM {name}")).collect();
    let mut rows = Vec::new();
    if !counts.is_empty() {
        for row in query(conn, &counts.join(" UNION ALL "), []).await? {
            let (name, found): (String, i64) = (row.try_get("", "name")?, row.try_get("", "found")?);
            let known = registry::ALL.iter().map(|entity| entity.table.name()).find(|known| *known == name);
            rows.extend(known.filter(|_| found > 0).map(|name| (name, found)));
        }
    }
    Ok(About { store, step, rows })
}

async fn text<const N: usize>(conn: &Connection, sql: &str, values: [Value; N]) -> Result<Option<String>, DbErr> {
    match query(conn, sql, values).await?.first() {
        Some(row) => row.try_get("", "found"),
        None => Ok(None),
    }
}

/// When a database was made: with the first step of its schema. On both databases it is a text, which begins with the day and
/// the second in UTC.
pub async fn made_at(conn: &impl ConnectionTrait) -> Result<Option<Instant>, DbErr> {
    let rows = query(conn, "SELECT CAST(MIN(made_at) AS TEXT) AS made_at FROM schema_steps", []).await?;
    let text = rows.first().map_or(Ok(None), |row| row.try_get::<Option<String>>("", "made_at"))?;
    Ok(text.and_then(|text| Instant::parse(&format!("{}Z", text.get(..19)?.replacen(' ', "T", 1)))))
}
