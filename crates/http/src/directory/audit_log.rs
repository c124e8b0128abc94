//! Who did what, newest first.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use tillkeep_model::Instant;
use tillkeep_model::permission::code::UsersManageRoles;
use tillkeep_storage::db::{placeholders, query};
use tillkeep_storage::entity::audit_log::{Column, Entity, Model};
use tillkeep_storage::entity::user;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, Value};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::List;
use crate::auth::Caller;
use crate::describe::{Listing, Lists, More};
use crate::error::{Error, Result};
use crate::resource::{self, ListSpec, Query};

const LIST: ListSpec = ListSpec {
    search: &["action", "entityId"],
    filters: &["userId", "approverId", "terminalId", "action", "entityType", "entityId"],
    sort: &["seq"],
};

/// The list of deeds.
pub struct Deeds;

impl Listing for Deeds {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
    const MORE: &'static [(&'static str, More)] = &[("from", More::Instant), ("to", More::Instant)];
}

/// One deed, with the present names of who did it, who approved it, and what it was done to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deed {
    #[serde(flatten)]
    row: Model,
    username: Option<String>,
    approver_username: Option<String>,
    /// Null for what has no name, and for what is not there any more.
    entity_name: Option<String>,
}

/// `GET /audit-log?userId&action&entityType&from&to&page`: the whole log of this server, so `users.manage_roles` must
/// be held in all it is about: everywhere at headquarters, in this store at a store. `from` is included, `to` is not.
pub async fn list(caller: Caller<UsersManageRoles>, Lists { mut query, .. }: Lists<Deeds>) -> Result<List<Deed>> {
    caller.everywhere()?;
    query.entry("sort".to_owned()).or_insert_with(|| "-seq".to_owned());
    let mut select = Entity::find();
    if let Some(from) = instant(&mut query, "from")? {
        select = select.filter(Column::At.gte(from));
    }
    if let Some(to) = instant(&mut query, "to")? {
        select = select.filter(Column::At.lt(to));
    }
    let snapshot = caller.db().snapshot().await?;
    let page = resource::list(&snapshot, &LIST, &query, select).await?;
    let people: BTreeSet<Uuid> =
        page.rows.iter().flat_map(|row: &Model| [row.user_id, row.approver_id]).flatten().collect();
    let people = user::Entity::find().filter(user::Column::Id.is_in(people)).all(&snapshot).await?;
    let names: HashMap<Uuid, String> = people.into_iter().map(|user| (user.id, user.username)).collect();
    let name = |id: Option<Uuid>| id.and_then(|id| names.get(&id).cloned());
    let things = names_of(&snapshot, &page.rows).await?;
    Ok(page.map(|row| Deed {
        username: name(row.user_id),
        approver_username: name(row.approver_id),
        entity_name: row.entity_id.as_deref().and_then(|id| things.get(id).cloned()),
        row,
    }))
}

/// What the rows of a table are called by people, as SQL.
const NAMES: &[(&str, &str)] = &[
    ("customers", "COALESCE(company_name, COALESCE(first_name || ' ', '') || COALESCE(last_name, ''))"),
    ("departments", "name"),
    ("products", "name"),
    ("roles", "name"),
    ("stores", "code || ' ' || name"),
    ("tax_groups", "name"),
    ("tax_rates", "name"),
    ("tenders", "name"),
    ("users", "display_name"),
];

/// The present names of what these deeds were done to, by id.
async fn names_of(conn: &impl ConnectionTrait, deeds: &[Model]) -> Result<HashMap<String, String>> {
    let (mut texts, mut values) = (Vec::new(), Vec::new());
    for (table, name) in NAMES {
        let of_table = deeds.iter().filter(|deed| deed.entity_type.as_deref() == Some(table));
        let ids: BTreeSet<Uuid> = of_table.filter_map(|deed| deed.entity_id.as_deref()?.parse().ok()).collect();
        if !ids.is_empty() {
            let places = placeholders(values.len() + 1, ids.len());
            texts.push(format!("SELECT id, {name} AS name FROM {table} WHERE id IN ({places})"));
            values.extend(ids.into_iter().map(Value::from));
        }
    }
    if texts.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = query(conn, &texts.join(" UNION ALL "), values).await?;
    rows.iter().map(|row| Ok((row.try_get::<Uuid>("", "id")?.to_string(), row.try_get("", "name")?))).collect()
}

fn instant(query: &mut Query, key: &str) -> Result<Option<Instant>> {
    let Some(text) = query.remove(key) else { return Ok(None) };
    let at =
        Instant::parse(&text).ok_or_else(|| Error::field(key, "must be an instant like 2026-11-20T12:34:56.789Z"))?;
    Ok(Some(at))
}
