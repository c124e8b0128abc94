//! Products by what is printed on them.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use tillkeep_model::fields::shape::BARCODE;
use tillkeep_model::permission::code::ProductsView;
use tillkeep_storage::barcodes;
use tillkeep_storage::entity::product::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use crate::Answer;
use crate::auth::Caller;
use crate::error::{Error, Result};

/// `GET /products/by-barcode/{code}`: the code as it is, else a UPC-A as the EAN-13 it equals and the other way round.
pub async fn by_barcode(
    caller: Caller<ProductsView>,
    code: std::result::Result<Path<String>, PathRejection>,
) -> Result<Answer<Model>> {
    let unknown = || Error::not_found("product");
    let code = code.map_err(|_| unknown())?.0;
    if code.chars().count() > 40 || !(BARCODE.is)(&code, caller.now()) {
        return Err(unknown());
    }
    let conn = caller.snapshot().await?;
    let id = barcodes::find(&conn, &code).await?.ok_or_else(unknown)?;
    let row = Entity::find_by_id(id).filter(Column::DeletedAt.is_null()).one(&conn).await?;
    row.map(Answer).ok_or_else(unknown)
}
