//! The row that a refused entry collides with: one that has its number already.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use serde_json::Value as Json;
use tillkeep_model::wire::camel;
use tillkeep_storage::entity::sync_log;
use tillkeep_storage::registry::{self, SyncType};
use tillkeep_storage::sea_orm::ConnectionTrait;
use tillkeep_storage::sync_log::FAILED;
use tillkeep_storage::{DbErr, db};
use utoipa::ToSchema;
use uuid::Uuid;

/// A row in the way of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Collision)]
pub struct Collision {
    entity_type: String,
    id: Uuid,
    /// Its number, and its name where it has one.
    label: String,
}

/// The number that a failed entry brings, of a type whose numbers are unique at headquarters.
pub fn number_of(row: &sync_log::Model) -> Option<(&'static SyncType, String)> {
    let entity = registry::find(&row.entity_type).filter(|_| row.status == FAILED)?;
    let column = entity.number?;
    let envelope: Json = serde_json::from_str(row.envelope.as_deref()?).ok()?;
    let data = &envelope["data"];
    let number = data[camel(column)].as_str().or_else(|| data[column].as_str())?;
    Some((entity, number.to_owned()))
}

/// By entry, the row that has its number: one query a type.
pub async fn of(conn: &impl ConnectionTrait, entries: &[sync_log::Model]) -> Result<HashMap<Uuid, Collision>, DbErr> {
    let mut by_type: BTreeMap<&'static str, Vec<(&sync_log::Model, String)>> = BTreeMap::new();
    for row in entries {
        if let Some((entity, number)) = number_of(row) {
            by_type.entry(entity.name).or_default().push((row, number));
        }
    }
    let mut found = HashMap::new();
    for (name, entries) in by_type {
        let numbers: BTreeSet<&str> = entries.iter().map(|(_, number)| number.as_str()).collect();
        let having = having(conn, name, &numbers).await?;
        for (row, number) in &entries {
            let other = having.get(number).filter(|other| other.id.to_string() != row.entity_id);
            found.extend(other.map(|other| (row.id, other.clone())));
        }
    }
    Ok(found)
}

/// The living rows of a type that have one of these numbers, by their number.
async fn having(
    conn: &impl ConnectionTrait,
    name: &'static str,
    numbers: &BTreeSet<&str>,
) -> Result<HashMap<String, Collision>, DbErr> {
    let Some(column) = registry::find(name).and_then(|entity| entity.number) else { return Ok(HashMap::new()) };
    // A space before each word that there is.
    let words = if name == "customers" {
        "COALESCE(' ' || first_name, '') || COALESCE(' ' || last_name, '') || COALESCE(' ' || company_name, '')"
    } else {
        "''"
    };
    let sql = format!(
        "SELECT id, {column} AS number, {column} || {words} AS label FROM {name} WHERE deleted_at IS NULL AND {column} IN ({})",
        db::placeholders(1, numbers.len())
    );
    let rows = db::query(conn, &sql, numbers.iter().map(|number| (*number).into())).await?;
    rows.iter()
        .map(|row| {
            let entity_type = name.to_owned();
            let found = Collision { entity_type, id: row.try_get("", "id")?, label: row.try_get("", "label")? };
            Ok((row.try_get("", "number")?, found))
        })
        .collect()
}
