//! Departments.

use std::sync::Arc;

use axum::extract::State;
use serde_json::{Map, Value as Json, json};
use tillkeep_http::error::Result;
use tillkeep_http::resource::{self, Check, Fields, ListSpec, Query};
use tillkeep_http::{Answer, Body, Caller, Created, Id, List, NoContent, Params};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::{PosSell, ProductsCreate, ProductsDelete, ProductsEdit, ProductsView};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::{department, product, tax_group};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};

use super::rows::{self, Kind};
use crate::Hq;

const KIND: Kind = Kind {
    name: "departments",
    singular: "department",
    fields: Fields {
        writable: &[
            "code", "name", "parentId", "defaultTaxGroupId", "maxDiscountBps", "sortOrder", "color", "isActive",
        ],
        required: &["code", "name"],
    },
    defaults: || json!({"isActive": true}),
    unique: &[("code", ErrorCode::DuplicateCode)],
};

const LIST: ListSpec =
    ListSpec { search: &["code", "name"], filters: &["parentId"], sort: &["code", "name", "sort_order", "created_at"] };

/// Levels of the tree at the most.
const DEPTH: usize = 4;

pub async fn list(
    caller: Caller<(ProductsView, PosSell)>,
    Params(query): Params<Query>,
) -> Result<List<department::Model>> {
    resource::list(caller.db().reader(), &LIST, &query, department::Entity::find()).await
}

pub async fn get(caller: Caller<(ProductsView, PosSell)>, Id(id): Id) -> Result<Answer<department::Model>> {
    rows::find::<department::Entity>(caller.db().reader(), &KIND, id).await.map(Answer)
}

pub async fn create(
    caller: Caller<ProductsCreate>,
    State(hq): State<Arc<Hq>>,
    Body(body): Body<Map<String, Json>>,
) -> Result<Created<department::Model>> {
    let check = async |tx: &mut Tx, row: &mut department::Model| validate(tx, row).await;
    rows::create::<department::Entity, _>(&hq, &caller, &KIND, body, check, async |_, _| Ok(())).await
}

pub async fn edit(
    caller: Caller<ProductsEdit>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
    Body(body): Body<Map<String, Json>>,
) -> Result<Answer<department::Model>> {
    let check = async |tx: &mut Tx, _: &department::Model, row: &mut department::Model| validate(tx, row).await;
    rows::change::<department::Entity, _>(&hq, &caller, &KIND, id, body, check).await.map(Answer)
}

pub async fn delete(caller: Caller<ProductsDelete>, State(hq): State<Arc<Hq>>, Id(id): Id) -> Result<NoContent> {
    let check = async |tx: &mut Tx, row: &department::Model| {
        let products = product::Entity::find()
            .filter(product::Column::DepartmentId.eq(row.id))
            .filter(product::Column::DeletedAt.is_null())
            .count(&*tx)
            .await?;
        super::refuse_in_use(products, "products")
    };
    rows::delete::<department::Entity, _>(&hq, &caller, &KIND, id, check).await?;
    Ok(NoContent)
}

async fn validate(tx: &Tx, row: &department::Model) -> Result<()> {
    let mut check = Check::default();
    check
        .text(&row.code, "code", 20)
        .text(&row.name, "name", 100)
        .optional(row.color.as_deref(), "color", 20)
        .that(row.max_discount_bps.is_none_or(|bps| (0..=10_000).contains(&bps.0)), "maxDiscountBps", "must be 0 to 10000");
    if let Some(group) = row.default_tax_group_id {
        let known = tax_group::Entity::find_by_id(group).one(tx).await?;
        check.that(known.is_some_and(|group| group.deleted_at.is_none()), "defaultTaxGroupId", "is no tax group");
    }
    // Up the tree: no cycle, and not too deep.
    let (mut above, mut levels) = (row.parent_id, 1);
    while let Some(parent) = above {
        levels += 1;
        if parent == row.id || levels > DEPTH {
            check.that(false, "parentId", "departments are a tree of at most four levels");
            break;
        }
        let found = department::Entity::find_by_id(parent).one(tx).await?;
        check.that(found.is_some(), "parentId", "is no department");
        above = found.and_then(|row| row.parent_id);
    }
    check.finish()
}
