//! The private index of codes: main and further barcodes of every product, each code once.

use std::collections::BTreeMap;

use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, QueryFilter};
use uuid::Uuid;

use crate::db::rows_per_statement;
use crate::entity::product_barcode::{Column, Entity, Model};

/// Every code of a product; a deleted one has none.
pub fn codes(barcode: Option<&str>, further: &serde_json::Value) -> Vec<String> {
    let further = further.as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
    let mut codes: Vec<String> =
        barcode.into_iter().chain(further).filter(|code| !code.is_empty()).map(str::to_owned).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Replaces the codes of the products in `wanted`. A code that another product has moves over: at a store rows arrive
/// one at a time, and HQ has checked before.
pub async fn replace(conn: &impl ConnectionTrait, wanted: &BTreeMap<Uuid, Vec<String>>) -> Result<(), DbErr> {
    let ids: Vec<Uuid> = wanted.keys().copied().collect();
    for chunk in ids.chunks(1000) {
        Entity::delete_many().filter(Column::ProductId.is_in(chunk.iter().copied())).exec(conn).await?;
    }
    // One statement cannot touch a row twice: of two products that claim one code, the later one has it.
    let by_code: BTreeMap<&String, Uuid> =
        wanted.iter().flat_map(|(id, codes)| codes.iter().map(|code| (code, *id))).collect();
    let rows: Vec<_> = by_code
        .into_iter()
        .map(|(code, product_id)| Model { code: code.clone(), product_id }.into_active_model())
        .collect();
    for chunk in rows.chunks(rows_per_statement(2)) {
        Entity::insert_many(chunk.to_vec())
            .on_conflict(OnConflict::column(Column::Code).update_column(Column::ProductId).to_owned())
            .exec_without_returning(conn)
            .await?;
    }
    Ok(())
}

/// A code of `codes` that a product other than `product_id` has.
pub async fn taken(conn: &impl ConnectionTrait, product_id: Uuid, codes: &[String]) -> Result<Option<String>, DbErr> {
    let other = Entity::find()
        .filter(Column::Code.is_in(codes.iter().cloned()))
        .filter(Column::ProductId.ne(product_id))
        .one(conn)
        .await?;
    Ok(other.map(|row| row.code))
}
