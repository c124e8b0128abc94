//! Departments.

use tillkeep_http::error::Result;
use tillkeep_http::resource::{Check, ListSpec};
use tillkeep_model::{ErrorCode, Instant, fields};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::department::{Column, Entity, Model};
use tillkeep_storage::entity::{product, tax_group};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect};
use uuid::Uuid;

use super::plain;
use super::plain::Rules;
use super::references::{lives, refuse_in_use};
use super::rows::Kind;
use crate::state::Routes;
use tillkeep_model::permission::code::{PosSell, ProductsCreate, ProductsDelete, ProductsEdit, ProductsView};

/// Levels of the tree at the most.
const DEPTH: usize = 4;

impl Rules for Entity {
    const KIND: Kind = Kind {
        book: &fields::department::BOOK,
        singular: "department",
        unique: &[("code", ErrorCode::DuplicateCode)],
        hidden: &[],
    };

    const LIST: ListSpec = ListSpec {
        search: &["code", "name"],
        filters: &["parentId"],
        sort: &["code", "name", "sortOrder", "createdAt"],
    };

    async fn check(tx: &mut Tx, old: Option<&Model>, row: &mut Model, _: Instant) -> Result<()> {
        let is_new = |id: fn(&Model) -> Option<Uuid>| old.is_none_or(|old| id(old) != id(row));
        let mut check = Check::default();
        if let Some(group) = row.default_tax_group_id.filter(|_| is_new(|row| row.default_tax_group_id)) {
            check.that(lives::<tax_group::Entity>(tx, group).await?, "defaultTaxGroupId", "is no tax group");
        }
        if is_new(|row| row.parent_id) {
            check_place(tx, row, &mut check).await?;
        }
        check.finish()
    }

    async fn deletable(tx: &mut Tx, row: &Model, _: Instant) -> Result<()> {
        let products = product::Entity::find()
            .filter(product::Column::DepartmentId.eq(row.id))
            .filter(product::Column::DeletedAt.is_null())
            .count(tx)
            .await?;
        refuse_in_use(products, fields::product::BOOK.table)?;
        let below = Entity::find().filter(Column::ParentId.eq(row.id)).filter(Column::DeletedAt.is_null());
        refuse_in_use(below.count(tx).await?, fields::department::BOOK.table)
    }
}

/// No cycle, and not too deep: what is above the row, the row, and what is below it.
async fn check_place(tx: &Tx, row: &Model, check: &mut Check) -> Result<()> {
    let (mut above, mut levels) = (row.parent_id, 1);
    while let Some(parent) = above {
        levels += 1;
        if parent == row.id || levels > DEPTH {
            check.that(false, "parentId", "departments are a tree of at most four levels");
            return Ok(());
        }
        // Locked: of two that are moved below each other the second one sees the first, or is to come again.
        let found = Entity::find_by_id(parent).filter(Column::DeletedAt.is_null()).lock_shared().one(tx).await?;
        check.that(found.is_some(), "parentId", "is no department");
        above = found.and_then(|row| row.parent_id);
    }
    // One query a level, of which there are four at the most.
    let mut level = vec![row.id];
    while levels <= DEPTH {
        let below = Entity::find().filter(Column::ParentId.is_in(level)).filter(Column::DeletedAt.is_null());
        level = below.all(tx).await?.into_iter().map(|row| row.id).collect();
        if level.is_empty() {
            return Ok(());
        }
        levels += 1;
    }
    check.that(false, "parentId", "departments are a tree of at most four levels");
    Ok(())
}

/// The routes of departments.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{DuplicateCode, IdReused, InUse, VersionConflict};
    routes
        .get("/departments", plain::list::<Entity, (ProductsView, PosSell)>)
        .about("List departments, a page at a time.")
        .get("/departments/{id}", plain::get::<Entity, (ProductsView, PosSell)>)
        .about("One department, by its id.")
        .post("/departments", plain::create::<Entity, ProductsCreate>)
        .about("Make a new department.")
        .fails(&[IdReused, DuplicateCode])
        .patch("/departments/{id}", plain::edit::<Entity, ProductsEdit>)
        .about("Change some fields of a department.")
        .fails(&[VersionConflict, DuplicateCode])
        .delete("/departments/{id}", plain::delete::<Entity, ProductsDelete>)
        .about("Delete a department, in all stores too.")
        .fails(&[VersionConflict, InUse])
}
