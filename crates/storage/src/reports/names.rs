//! What people call the rows of a type.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sea_orm::{ConnectionTrait, DbErr, Value};
use uuid::Uuid;

use crate::db::{placeholders, query};
use crate::many::find_in;
use crate::registry::{self, SyncType};

/// The present names of rows, given as type and id: one query for all of them. Without a name is what has none, and what is not
/// there any more.
pub async fn of_rows<'a>(
    conn: &impl ConnectionTrait,
    rows: impl IntoIterator<Item = (&'a str, Uuid)>,
) -> Result<HashMap<Uuid, String>, DbErr> {
    let mut by_type: BTreeMap<&str, BTreeSet<Uuid>> = BTreeMap::new();
    for (entity_type, id) in rows {
        by_type.entry(entity_type).or_default().insert(id);
    }
    let (mut texts, mut values) = (Vec::new(), Vec::new());
    for entity in registry::ALL {
        let (Some(label), Some(ids)) = (entity.label, by_type.remove(entity.name)) else { continue };
        let places = placeholders(values.len() + 1, ids.len());
        texts.push(format!("SELECT id, {label} AS name FROM {} WHERE id IN ({places})", entity.name));
        values.extend(ids.into_iter().map(Value::from));
    }
    if texts.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = query(conn, &texts.join(" UNION ALL "), values).await?;
    rows.iter().map(|row| Ok((row.try_get("", "id")?, row.try_get("", "name")?))).collect()
}

/// A row that has one of the numbers that were looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    pub id: Uuid,
    pub number: String,
    /// The number, and the name where there is one.
    pub label: String,
}

/// The rows of a type that have one of these numbers, but for deleted ones. None of a type without numbers.
pub async fn with_numbers(
    conn: &impl ConnectionTrait,
    entity: &SyncType,
    numbers: &BTreeSet<&str>,
) -> Result<Vec<Numbered>, DbErr> {
    let Some(column) = entity.unique_number() else { return Ok(Vec::new()) };
    let name = entity.label.map(|label| format!("|| COALESCE(' ' || NULLIF({label}, ''), '')")).unwrap_or_default();
    let sql = format!(
        "SELECT id, {column} AS number, {column} {name} AS label FROM {} WHERE deleted_at IS NULL AND {column} IN ($list)",
        entity.name
    );
    let rows = find_in(conn, &sql, &[], numbers.iter().copied()).await?;
    rows.iter()
        .map(|row| {
            let (id, number) = (row.try_get("", "id")?, row.try_get("", "number")?);
            Ok(Numbered { id, number, label: row.try_get("", "label")? })
        })
        .collect()
}
