//! Which specials concern a product.

use tillkeep_storage::DbErr;
use tillkeep_storage::entity::product_special::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use uuid::Uuid;

/// The specials that may be in force in `store` for products with their departments, by code.
pub(crate) async fn concerning(
    conn: &impl ConnectionTrait,
    store: Uuid,
    sold: &[(Uuid, Option<Uuid>)],
) -> Result<Vec<Model>, DbErr> {
    if sold.is_empty() {
        return Ok(Vec::new());
    }
    let mut products: Vec<Uuid> = sold.iter().map(|(product, _)| *product).collect();
    let mut departments: Vec<Uuid> = sold.iter().filter_map(|(_, department)| *department).collect();
    for ids in [&mut products, &mut departments] {
        ids.sort_unstable();
        ids.dedup();
    }
    let concerned =
        Condition::any().add(Column::ProductId.is_in(products)).add(Column::DepartmentId.is_in(departments));
    Entity::find()
        .filter(Column::DeletedAt.is_null())
        .filter(Column::IsActive.eq(true))
        .filter(Condition::any().add(Column::StoreId.is_null()).add(Column::StoreId.eq(store)))
        .filter(concerned)
        .order_by_asc(Column::Code)
        .all(conn)
        .await
}
