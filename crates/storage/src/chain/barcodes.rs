//! The private index of codes: main and further barcodes of every product and those of its packs, each code once.

use std::collections::{BTreeMap, HashMap};

use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter};
use serde_json::Value as Json;
use uuid::Uuid;

use crate::db::execute;
use crate::entity::product_barcode::{Column, Entity, Model};
use crate::many::{execute_in, select_in};
use crate::sql::bulk;
use crate::{Side, Tx};

/// The one form of a code that all who compare codes compare: a UPC-A of 12 digits is the EAN-13 with a zero before it.
pub fn normal(code: &str) -> String {
    let code = code.trim();
    if code.len() == 12 && code.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!("0{code}");
    }
    code.to_owned()
}

/// Every code of a product, those of its packs among them; a deleted one has none.
pub fn codes(barcode: Option<&str>, further: &Json, packs: &Json) -> Vec<String> {
    let further = further.as_array().into_iter().flatten().filter_map(Json::as_str);
    let packs = packs.as_array().into_iter().flatten().filter_map(|pack| pack["code"].as_str());
    let all = barcode.into_iter().chain(further).chain(packs);
    let mut codes: Vec<String> = all.filter(|code| !code.is_empty()).map(str::to_owned).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Replaces the codes of the products in `wanted`. At a store a code that another product has moves over: rows arrive
/// there one at a time, and headquarters has checked before. Headquarters refuses it.
pub async fn replace(tx: &Tx, wanted: &BTreeMap<Uuid, Vec<String>>) -> Result<(), DbErr> {
    execute_in(tx, "DELETE FROM product_barcodes WHERE product_id IN ($list)", &[], wanted.keys().copied()).await?;
    bulk::insert::<Entity>(tx, rows(wanted), (tx.side() == Side::Store).then(moves)).await?;
    Ok(())
}

/// The codes of products that were not at this store: none is there to be replaced.
pub(crate) async fn add(tx: &Tx, wanted: &BTreeMap<Uuid, Vec<String>>) -> Result<(), DbErr> {
    bulk::add::<Entity>(tx, rows(wanted), moves()).await?;
    Ok(())
}

/// Removes the codes of products that are not at this store any more.
pub(crate) async fn forget_strays(tx: &Tx) -> Result<(), DbErr> {
    execute(tx, "DELETE FROM product_barcodes WHERE product_id NOT IN (SELECT id FROM products)", []).await?;
    Ok(())
}

fn rows(wanted: &BTreeMap<Uuid, Vec<String>>) -> Vec<Model> {
    // One statement cannot touch a row twice: of two products that claim one code, the later one has it.
    let by_code: BTreeMap<&String, Uuid> =
        wanted.iter().flat_map(|(id, codes)| codes.iter().map(|code| (code, *id))).collect();
    let row = |(code, product_id): (&String, Uuid)| Model { code: code.clone(), normal: normal(code), product_id };
    by_code.into_iter().map(row).collect()
}

/// A code that another product has goes to the one that claims it now.
fn moves() -> OnConflict {
    OnConflict::column(Column::Code).update_column(Column::ProductId).to_owned()
}

/// The product that answers to `code`: the one that has it in this very form, else in its other one.
pub async fn find(conn: &impl ConnectionTrait, code: &str) -> Result<Option<Uuid>, DbErr> {
    let found = Entity::find().filter(Column::Normal.eq(normal(code))).all(conn).await?;
    let hit = found.iter().find(|row| row.code == code).or(found.first());
    Ok(hit.map(|row| row.product_id))
}

/// Those of `numbers` that are a code of at least eight digits here; zeros that a code begins with are in no number.
pub async fn among(conn: &impl ConnectionTrait, numbers: &[i64]) -> Result<Vec<i64>, DbErr> {
    /// Digits of the codes of goods: EAN-8, UPC-A, EAN-13 and GTIN-14.
    const LENGTHS: [usize; 4] = [8, 12, 13, 14];
    // One digit less than the shortest code, which may begin with a zero.
    let long = numbers.iter().filter(|number| **number >= 1_000_000);
    let forms: Vec<String> = long
        .flat_map(|number| {
            let digits = number.to_string();
            LENGTHS.map(|length| normal(&format!("{digits:0>length$}")))
        })
        .collect();
    if forms.is_empty() {
        return Ok(Vec::new());
    }
    let found = Entity::find().filter(Column::Normal.is_in(forms)).all(conn).await?;
    Ok(found.iter().filter_map(|row| row.normal.parse().ok()).collect())
}

/// Of each of these forms ([`normal`]) that a product has, which one.
pub async fn owners(
    conn: &impl ConnectionTrait,
    forms: impl IntoIterator<Item = String>,
) -> Result<HashMap<String, Uuid>, DbErr> {
    let found = select_in::<Entity, _>(conn, Entity::find(), Column::Normal, forms).await?;
    Ok(found.into_iter().map(|row| (row.normal, row.product_id)).collect())
}

/// A form that two of `codes` share.
pub fn twice(codes: &[String]) -> Option<String> {
    let mut forms: Vec<String> = codes.iter().map(|code| normal(code)).collect();
    forms.sort_unstable();
    forms.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upc_a_is_ean_13_with_its_leading_zero_and_no_other_code_is_another() {
        for (code, form) in [
            ("012345678905", "0012345678905"),
            ("0012345678905", "0012345678905"),
            (" 012345678905 ", "0012345678905"),
            ("5012345678900", "5012345678900"),
            ("00012345678905", "00012345678905"),
            ("12345670", "12345670"),
            ("01234567890a", "01234567890a"),
            ("ab-7", "ab-7"),
        ] {
            assert_eq!(normal(code), form, "{code}");
        }
    }
}
