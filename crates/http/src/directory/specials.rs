//! Specials: all of them, and those that are in force in a store at a moment.

use serde::Deserialize;
use tillkeep_model::Instant;
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::{PosSell, SpecialsView};
use tillkeep_model::special::Moment;
use tillkeep_storage::entity::product_special::{Column, Entity, Model};
use tillkeep_storage::entity::{product, store};
use tillkeep_storage::sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Answer;
use crate::answer::List;
use crate::auth::{Caller, Home};
use crate::describe::{Listing, Lists, More};
use crate::error::{Error, Result};
use crate::extract::Params;
use crate::resource::{self, ListSpec};
use crate::shelf::special::{is_in_force, moment};

pub const LIST: ListSpec = ListSpec {
    search: &["code", "name", "mixGroup"],
    filters: &["departmentId", "mixGroup", "type"],
    sort: &["name", "code", "priority", "startDate", "endDate", "createdAt", "updatedAt"],
};

/// The list of specials.
pub struct Specials;

impl Listing for Specials {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
    const MORE: &'static [(&'static str, More)] =
        &[("storeId", More::Id), ("productId", More::Id), ("at", More::Instant)];
}

/// `GET /specials?storeId&productId&active&at`: of a store those that hold there or everywhere; of a product those that name it or
/// its department; with `at` those that are in force then, there or in some store.
pub async fn list(caller: Caller<SpecialsView>, Lists { mut query, .. }: Lists<Specials>) -> Result<List<Model>> {
    let store_id = resource::take_id(&mut query, "storeId")?;
    let product_id = resource::take_id(&mut query, "productId")?;
    let at = query.remove("at").map(|text| {
        Instant::parse(&text).ok_or_else(|| Error::field("at", "must be an instant like 2026-11-20T12:34:56.789Z"))
    });
    let at = at.transpose()?;
    let conn = caller.snapshot().await?;
    let mut wanted = Condition::all().add_option(store_id.map(holds_in));
    if let Some(id) = product_id {
        wanted = wanted.add(concerns(&conn, id).await?);
    }
    let select = Entity::find().filter(wanted);
    let Some(at) = at else { return resource::list(&conn, &LIST, &query, select).await };
    let stores = match store_id {
        None if caller.auth().home == Home::Hq => seen(&caller, &conn).await?,
        _ => vec![of_caller(&caller, &conn, store_id).await?],
    };
    let (select, paging) = resource::selected::<Entity>(&LIST, &query, select)?;
    let moments: Vec<Moment> = stores.iter().map(|store| moment(store, at, true)).collect();
    let somewhere = |row: &Model| moments.iter().any(|moment| is_in_force(row, moment));
    let rows: Vec<Model> = select.all(&conn).await?.into_iter().filter(somewhere).collect();
    let total = rows.len() as u64;
    let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let rows = rows.into_iter().skip(place(paging.offset())).take(place(paging.size)).collect();
    Ok(List::new(rows, total, paging))
}

/// Which store, and when.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = SpecialsInForce)]
pub struct Asked {
    /// A store server always means itself.
    store_id: Option<Uuid>,
    /// Now, when not said.
    at: Option<Instant>,
}

/// `GET /specials/active?storeId&at`, the highest priority first; also what only customers who are known get.
pub async fn active(
    caller: Caller<(SpecialsView, PosSell)>,
    Params(Asked { store_id, at }): Params<Asked>,
) -> Result<Answer<Vec<Model>>> {
    let conn = caller.snapshot().await?;
    let store = of_caller(&caller, &conn, store_id).await?;
    let select = Entity::find().filter(holds_in(store.id)).filter(Column::IsActive.eq(true));
    let select = select.filter(Column::DeletedAt.is_null());
    let rows = select.order_by_desc(Column::Priority).order_by_asc(Column::Code).order_by_asc(Column::Id);
    let moment = moment(&store, at.unwrap_or_else(|| caller.now()), true);
    Ok(Answer(rows.all(&conn).await?.into_iter().filter(|row| is_in_force(row, &moment)).collect()))
}

fn holds_in(store_id: Uuid) -> Condition {
    Condition::any().add(Column::StoreId.is_null()).add(Column::StoreId.eq(store_id))
}

async fn concerns(conn: &impl ConnectionTrait, product_id: Uuid) -> Result<Condition> {
    let product = product::Entity::find_by_id(product_id).one(conn).await?;
    let product = product.ok_or_else(|| Error::field("productId", "is no product"))?;
    let of_department =
        Condition::all().add(Column::ProductId.is_null()).add(Column::DepartmentId.eq(product.department_id));
    Ok(Condition::any().add(Column::ProductId.eq(product_id)).add(of_department))
}

/// The stores that the caller sees, each with its own clock.
async fn seen<P: Requirement>(caller: &Caller<P>, conn: &impl ConnectionTrait) -> Result<Vec<store::Model>> {
    let stores = store::Entity::find().filter(store::Column::DeletedAt.is_null()).all(conn).await?;
    Ok(stores.into_iter().filter(|store| caller.at_store(store.id).is_ok()).collect())
}

/// The store whose clock and specials are meant.
async fn of_caller<P: Requirement>(
    caller: &Caller<P>,
    conn: &impl ConnectionTrait,
    asked: Option<Uuid>,
) -> Result<store::Model> {
    let id = match caller.auth().home {
        Home::Store(own) => asked.or(Some(own)),
        Home::Hq => asked,
    };
    let id = id.ok_or_else(|| Error::field("storeId", "is needed: a special is in force by the clock of a store"))?;
    caller.at_store(id)?;
    let store = store::Entity::find_by_id(id).filter(store::Column::DeletedAt.is_null()).one(conn).await?;
    store.ok_or_else(|| Error::field("storeId", "is no store"))
}
