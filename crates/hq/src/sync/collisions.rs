//! The row that a refused entry collides with: one that has its number already.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use serde_json::Value as Json;
use tillkeep_model::wire::camel;
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::sync_log;
use tillkeep_storage::registry::{self, SyncType};
use tillkeep_storage::reports::names::{Numbered, with_numbers};
use tillkeep_storage::sea_orm::ConnectionTrait;
use tillkeep_storage::sync_log::FAILED;
use utoipa::ToSchema;
use uuid::Uuid;

/// A row in the way of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Collision)]
pub(super) struct Collision {
    entity_type: String,
    id: Uuid,
    /// Its number, and its name where it has one.
    label: String,
}

impl Collision {
    fn with(entity: &SyncType, row: &Numbered) -> Self {
        Self { entity_type: entity.name.to_owned(), id: row.id, label: row.label.clone() }
    }
}

/// The number that a failed entry brings, of a type with numbers that are unique at headquarters.
pub(super) fn number_of(row: &sync_log::Model) -> Option<(&'static SyncType, String)> {
    let entity = registry::find(&row.entity_type).filter(|_| row.status == FAILED)?;
    let column = entity.unique_number()?;
    let envelope: Json = serde_json::from_str(row.envelope.as_deref()?).ok()?;
    let data = &envelope["data"];
    let number = data[camel(column)].as_str().or_else(|| data[column].as_str())?;
    Some((entity, number.to_owned()))
}

/// By entry, the row that has its number: one query a type.
pub(super) async fn find(
    conn: &impl ConnectionTrait,
    entries: &[sync_log::Model],
) -> Result<HashMap<Uuid, Collision>, DbErr> {
    let mut found = HashMap::new();
    for entity in registry::ALL.iter().filter(|entity| entity.unique_number().is_some()) {
        let of_type = entries.iter().filter(|row| row.entity_type == entity.name);
        let brought: Vec<(&sync_log::Model, String)> =
            of_type.filter_map(|row| Some((row, number_of(row)?.1))).collect();
        let numbers: BTreeSet<&str> = brought.iter().map(|(_, number)| number.as_str()).collect();
        let there: HashMap<String, Numbered> =
            with_numbers(conn, entity, &numbers).await?.into_iter().map(|row| (row.number.clone(), row)).collect();
        for (row, number) in brought {
            let other = there.get(&number).filter(|other| other.id.to_string() != row.entity_id);
            found.extend(other.map(|other| (row.id, Collision::with(entity, other))));
        }
    }
    Ok(found)
}
