//! Who did what, newest first.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::UsersManageRoles;
use tillkeep_model::{Instant, JsonText};
use tillkeep_storage::entity::audit_log::{Column, Entity, Model};
use tillkeep_storage::entity::{store_product, user};
use tillkeep_storage::reports::names;
use tillkeep_storage::sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::List;
use crate::auth::{Caller, HasAuth, Home};
use crate::costs;
use crate::describe::{Listing, Lists, More};
use crate::error::{Error, Result};
use crate::resource::{self, ListSpec, Query};
use crate::routes::Routes;

const LIST: ListSpec = ListSpec {
    search: &["action", "entityId"],
    filters: &["userId", "approverId", "terminalId", "action", "entityType", "entityId"],
    sort: &["seq"],
};

/// The audit log.
pub struct AuditLog;

impl Listing for AuditLog {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
    const LONG: bool = true;
    const MORE: &'static [(&'static str, More)] =
        &[("from", More::Instant), ("to", More::Instant), ("priceOf", More::Id)];
}

/// One entry, with the present names of who did it, who approved it, and what it was done to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamedAuditEntry {
    #[serde(flatten)]
    row: Model,
    username: Option<String>,
    approver_username: Option<String>,
    /// Null for what has no name, and for what is not there any more.
    entity_name: Option<String>,
}

/// The route of the log, for whoever holds one of the codes of `P`.
pub fn routes<S, P>(routes: Routes<S>) -> Routes<S>
where
    S: HasAuth + Clone + 'static,
    P: Requirement,
{
    routes.get("/audit-log", list::<P>).about("Who did what, the newest first.")
}

/// `GET /audit-log?userId&action&entityType&from&to&priceOf&page`: the whole log of this server, so that the permission
/// must be held in all it is about: everywhere at headquarters, in this store at a store. `from` is included, `to` is
/// not; of `priceOf`, a product, what made its price, in all stores and in each.
pub async fn list<P: Requirement>(
    caller: Caller<P>,
    Lists { mut query, .. }: Lists<AuditLog>,
) -> Result<List<NamedAuditEntry>> {
    caller.everywhere()?;
    query.entry("sort".to_owned()).or_insert_with(|| "-seq".to_owned());
    let mut select = Entity::find().filter(in_sight(&caller));
    if let Some(from) = instant(&mut query, "from")? {
        select = select.filter(Column::At.gte(from));
    }
    if let Some(to) = instant(&mut query, "to")? {
        select = select.filter(Column::At.lt(to));
    }
    let product = resource::take_id(&mut query, "priceOf")?;
    let snapshot = caller.snapshot().await?;
    if let Some(id) = product {
        select = select.filter(price_of(&snapshot, id).await?);
    }
    let page = resource::long_list(&snapshot, &LIST, &query, select).await?;
    let people: BTreeSet<Uuid> =
        page.rows.iter().flat_map(|row: &Model| [row.user_id, row.approver_id]).flatten().collect();
    let people = user::Entity::find().filter(user::Column::Id.is_in(people)).all(&snapshot).await?;
    let names: HashMap<Uuid, String> = people.into_iter().map(|user| (user.id, user.username)).collect();
    let name = |id: Option<Uuid>| id.and_then(|id| names.get(&id).cloned());
    let thing = |row: &Model| row.entity_id.as_deref()?.parse::<Uuid>().ok();
    let typed = page.rows.iter().filter_map(|row| Some((row.entity_type.as_deref()?, thing(row)?)));
    let things = names::of_rows(&snapshot, typed).await?;
    Ok(page.map(|row| NamedAuditEntry {
        username: name(row.user_id),
        approver_username: name(row.approver_id),
        entity_name: thing(&row).and_then(|id| things.get(&id).cloned()),
        row: Model { details: JsonText(costs::stored(row.details.0)), ..row },
    }))
}

/// The whole log with `users.manage_roles`. Who runs a shop sees what was done there, and nothing that names another one.
fn in_sight<P: Requirement>(caller: &Caller<P>) -> Condition {
    match caller.auth().home {
        Home::Store(own) if !caller.may(&[UsersManageRoles::CODE]) => {
            let of_none = Column::Details.not_like("%\"storeId\":\"%");
            Condition::any().add(of_none).add(Column::Details.contains(format!("\"storeId\":\"{own}\"")))
        }
        _ => Condition::all(),
    }
}

/// Entries about a product, or about one of its rows in stores, that say something of a price.
async fn price_of(conn: &impl ConnectionTrait, product_id: Uuid) -> Result<Condition> {
    let rows = store_product::Entity::find().filter(store_product::Column::ProductId.eq(product_id));
    let rows: Vec<Uuid> = rows.select_only().column(store_product::Column::Id).into_tuple().all(conn).await?;
    let ids = rows.into_iter().chain([product_id]).map(|id| id.to_string());
    Ok(Condition::all().add(Column::EntityId.is_in(ids)).add(Column::Details.contains("\"price\":")))
}

fn instant(query: &mut Query, key: &str) -> Result<Option<Instant>> {
    let Some(text) = query.remove(key) else { return Ok(None) };
    let at =
        Instant::parse(&text).ok_or_else(|| Error::field(key, "must be an instant like 2026-11-20T12:34:56.789Z"))?;
    Ok(Some(at))
}
