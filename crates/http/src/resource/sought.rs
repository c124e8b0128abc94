//! `?search=` along the texts that rows are looked for by, where they have such texts: stores have none, and look into the columns.

use tillkeep_storage::entity::product;
use tillkeep_storage::sea_orm::sea_query::SelectStatement;
use tillkeep_storage::sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait,
};
use tillkeep_storage::sought;

use super::query::{check_value, search};
use crate::error::Result;

/// What products are looked for by, in every list of headquarters that has them.
pub const PRODUCT_SEARCH: &[&str] = &["sku", "name", "barcode", "shortName", "plu", "barcodes"];

/// Rows of `E` with `text` in one of `columns`, in any case. These must be those of their text: where a row has none yet, they are
/// looked into.
async fn looked_for<E: EntityTrait>(conn: &impl ConnectionTrait, columns: &[&str], text: &str) -> Result<Condition> {
    check_value("search", text)?;
    if let Some(sought) = sought::of(E::default().table_name())
        && sought.answers(conn, text).await?
    {
        return Ok(sought.contains(text));
    }
    search::<E>(columns, text)
}

/// The ids of the products with `text` in what they are looked for by. Deleted ones are none of them.
pub async fn products_with(conn: &impl ConnectionTrait, text: &str) -> Result<SelectStatement> {
    let found = looked_for::<product::Entity>(conn, PRODUCT_SEARCH, text).await?;
    let ids = product::Entity::find().select_only().column(product::Column::Id);
    // Each is there once anyway: said so, `PostgreSQL` goes along the index of the texts by itself, where it would read all products
    // in the order of what they are joined with.
    Ok(ids.distinct().filter(product::Column::DeletedAt.is_null()).filter(found).into_query())
}
