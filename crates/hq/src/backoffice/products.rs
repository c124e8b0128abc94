//! Products. A new default price reaches every store row that has no price of its own, in the same transaction.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use serde_json::{Value as Json, json};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{Check, Fields, ListSpec};
use tillkeep_http::{Answer, Caller, Id};
use tillkeep_model::permission::code::{ProductsDelete, ProductsView};
use tillkeep_model::{ErrorCode, Instant, Money};
use tillkeep_storage::entity::product::{Column, Entity, Model};
use tillkeep_storage::entity::{department, store_product, supplier, tax_group};
use tillkeep_storage::registry::fold;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use tillkeep_storage::{Tx, barcodes, db, versions};
use uuid::Uuid;

use super::plain;
use super::plain::Rules;
use super::rows::{self, Kind};
use super::{LARGEST, lives};
use crate::Hq;
use crate::routes::Routes;
use tillkeep_model::permission::code::{ProductsCreate, ProductsEdit};

/// Further barcodes, and tags, of one product at the most.
const MOST_WORDS: usize = 50;

impl Rules for Entity {
    const KIND: Kind = Kind {
        name: "products",
        singular: "product",
        fields: Fields {
            writable: &[
                "sku",
                "barcode",
                "barcodes",
                "plu",
                "name",
                "shortName",
                "description",
                "departmentId",
                "taxGroupId",
                "defaultSupplierId",
                "productType",
                "unitOfMeasure",
                "quantityDecimals",
                "isWeighed",
                "price",
                "cost",
                "minPrice",
                "isOpenPrice",
                "allowDiscount",
                "maxDiscountBps",
                "isReturnable",
                "trackStock",
                "ageRestriction",
                "reorderPoint",
                "reorderQuantity",
                "brand",
                "imageUrl",
                "tags",
                "isActive",
            ],
            required: &["sku", "name", "departmentId", "taxGroupId", "price"],
        },
        defaults: |_| {
            json!({
                "productType": "standard", "unitOfMeasure": "ea", "allowDiscount": true, "isReturnable": true,
                "trackStock": true, "isActive": true,
            })
        },
        unique: &[("sku_folded", ErrorCode::DuplicateSku), ("plu", ErrorCode::Duplicate)],
        hidden: &[],
    };

    const LIST: ListSpec = ListSpec {
        search: &["sku", "name", "barcode", "shortName"],
        filters: &["departmentId", "taxGroupId", "defaultSupplierId"],
        sort: &["name", "sku", "price", "createdAt", "updatedAt"],
    };

    async fn check(tx: &mut Tx, _: Option<&Model>, row: &mut Model, _: Instant) -> Result<()> {
        let mut check = Check::default();
        check_texts(&mut check, row);
        check_numbers(&mut check, row);
        if check.is_clean() {
            check
                .that(lives::<department::Entity>(tx, row.department_id).await?, "departmentId", "is no department")
                .that(lives::<tax_group::Entity>(tx, row.tax_group_id).await?, "taxGroupId", "is no tax group");
            if let Some(supplier) = row.default_supplier_id {
                check.that(lives::<supplier::Entity>(tx, supplier).await?, "defaultSupplierId", "is no supplier");
            }
        }
        check.finish()?;
        row.sku_folded = fold(&row.sku);
        check_barcodes(tx, row).await
    }

    async fn written(tx: &mut Tx, old: Option<&Model>, new: &Model, now: Instant) -> Result<()> {
        if old.is_none_or(|old| (&old.barcode, &old.barcodes) != (&new.barcode, &new.barcodes)) {
            index(tx, new.id, codes(new)).await?;
        }
        match old {
            Some(old) if (old.price, old.cost) != (new.price, new.cost) => follow_product(tx, old, new, now).await,
            _ => Ok(()),
        }
    }

    async fn deletable(tx: &mut Tx, row: &Model, _: Instant) -> Result<()> {
        index(tx, row.id, Vec::new()).await
    }
}

fn check_texts(check: &mut Check, row: &Model) {
    let plu = |plu: &str| (4..=5).contains(&plu.len()) && plu.bytes().all(|byte| byte.is_ascii_digit());
    check
        .text(&row.sku, "sku", 40)
        .text(&row.name, "name", 200)
        .optional(row.short_name.as_deref(), "shortName", 24)
        .optional(row.description.as_deref(), "description", 4000)
        .optional(row.brand.as_deref(), "brand", 100)
        .optional(row.image_url.as_deref(), "imageUrl", 500)
        .text(&row.unit_of_measure, "unitOfMeasure", 10)
        .one_of(&row.product_type, "productType", &["standard", "service", "gift_card", "deposit"])
        .that(
            row.barcode.as_deref().is_none_or(is_barcode),
            "barcode",
            "must have 1 to 40 characters, none of them a space",
        )
        .that(row.plu.as_deref().is_none_or(plu), "plu", "must have 4 or 5 digits")
        .that(
            words(&row.barcodes.0).is_some_and(|codes| codes.iter().all(|code| is_barcode(code))),
            "barcodes",
            "must be a list of at most 50 barcodes",
        )
        .that(
            words(&row.tags.0).is_some_and(|tags| tags.iter().all(|tag| tag.chars().count() <= 50)),
            "tags",
            "must be a list of at most 50 texts of at most 50 characters",
        );
}

fn check_numbers(check: &mut Check, row: &Model) {
    check
        .range(row.quantity_decimals, "quantityDecimals", 0..=3)
        .range(row.price.0, "price", 0..=LARGEST)
        .range(row.cost.0, "cost", 0..=LARGEST)
        .range(row.min_price.unwrap_or(Money::ZERO).0, "minPrice", 0..=row.price.0.max(0))
        .range(row.max_discount_bps.unwrap_or_default().0, "maxDiscountBps", 0..=10_000)
        .range(row.age_restriction.unwrap_or_default(), "ageRestriction", 0..=120)
        .range(row.reorder_point.0, "reorderPoint", 0..=LARGEST)
        .range(row.reorder_quantity.0, "reorderQuantity", 0..=LARGEST);
}

fn is_barcode(code: &str) -> bool {
    (1..=40).contains(&code.chars().count())
        && !code.contains(|letter: char| letter.is_whitespace() || letter.is_control())
}

/// A JSON list of texts, not too many.
fn words(list: &Json) -> Option<Vec<&str>> {
    let list = list.as_array().filter(|list| list.len() <= MOST_WORDS)?;
    list.iter().map(Json::as_str).collect()
}

fn codes(row: &Model) -> Vec<String> {
    barcodes::codes(row.barcode.as_deref(), &row.barcodes.0)
}

async fn check_barcodes(tx: &Tx, row: &Model) -> Result<()> {
    let codes = codes(row);
    let (code, text) = match barcodes::twice(&codes) {
        Some(code) => (code, "this product has the same barcode in two forms"),
        None => match barcodes::taken(tx, row.id, &codes).await? {
            Some(code) => (code, "another product has this barcode"),
            None => return Ok(()),
        },
    };
    let is_main = row.barcode.as_deref().is_some_and(|main| barcodes::normal(main) == code);
    let text = format!("{text}: {code}; UPC-A and its EAN-13 form are one code");
    Err(Error::new(ErrorCode::DuplicateBarcode, text).at(if is_main { "barcode" } else { "barcodes" }))
}

async fn index(tx: &Tx, id: Uuid, codes: Vec<String>) -> Result<()> {
    // Of two who give a code away at once, the second is told here what the check before could not see.
    barcodes::replace(tx, &BTreeMap::from([(id, codes)])).await.map_err(|error| match db::unique_violation(&error) {
        Some(_) => Error::new(ErrorCode::DuplicateBarcode, "another product has just got this barcode").at("barcode"),
        None => error.into(),
    })
}

/// Store rows hold copies: of the default price, unless they have a price of their own, and of the cost.
async fn follow_product(tx: &mut Tx, old: &Model, row: &Model, now: Instant) -> Result<()> {
    use store_product::Column;
    let mut follow = store_product::Entity::update_many()
        .col_expr(
            Column::Price,
            Expr::case(Column::HasPriceOverride.eq(true), Expr::col(Column::Price)).finally(row.price).into(),
        )
        .col_expr(Column::Cost, Expr::value(row.cost))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .col_expr(Column::SyncVersion, Expr::value(versions::UNSTAMPED))
        .filter(Column::ProductId.eq(row.id));
    if old.cost == row.cost {
        // Nothing is new for a row with a price of its own: it gets no new version.
        follow = follow.filter(Column::HasPriceOverride.eq(false));
    }
    follow.exec(tx).await?;
    tx.touch("store_product_dynamic");
    Ok(())
}

/// `GET /products/by-barcode/{code}`: the code as it is, else a UPC-A as the EAN-13 it equals and the other way round.
pub async fn by_barcode(
    caller: Caller<ProductsView>,
    code: std::result::Result<Path<String>, PathRejection>,
) -> Result<Answer<Model>> {
    let unknown = || Error::not_found("product");
    let code = code.map_err(|_| unknown())?.0;
    if !is_barcode(&code) {
        return Err(unknown());
    }
    let conn = caller.db().snapshot().await?;
    let id = barcodes::find(&conn, &code).await?.ok_or_else(unknown)?;
    rows::find::<Entity>(&conn, &Entity::KIND, id).await.map(Answer)
}

/// `POST /products/{id}/restore`: a deleted product comes back, if its numbers are still free.
pub async fn restore(caller: Caller<ProductsDelete>, State(hq): State<Arc<Hq>>, Id(id): Id) -> Result<Answer<Model>> {
    let mut tx = caller.db().begin().await?;
    let row = Entity::find_by_id(id).lock_exclusive().one(&tx).await?.ok_or_else(|| Error::not_found("product"))?;
    if row.deleted_at.is_none() {
        return Ok(Answer(row));
    }
    caller.everywhere()?;
    let now = caller.now();
    let mut restored = row.clone();
    Entity::check(&mut tx, Some(&row), &mut restored, now).await?;
    rows::check_unique::<Entity>(&tx, &Entity::KIND, &restored).await?;
    Entity::update_many()
        .col_expr(Column::DeletedAt, Expr::value(None::<Instant>))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .col_expr(Column::SyncVersion, Expr::value(versions::UNSTAMPED))
        .filter(Column::Id.eq(id))
        .exec(&tx)
        .await?;
    tx.touch(Entity::KIND.name);
    index(&tx, id, codes(&restored)).await?;
    rows::record(&tx, &caller, "restore", Entity::KIND.name, id, Json::Null).await?;
    hq.commit(tx).await?;
    rows::find::<Entity>(caller.db().reader(), &Entity::KIND, id).await.map(Answer)
}

/// The routes of products.
pub fn routes(routes: Routes) -> Routes {
    use ErrorCode::{DuplicateBarcode, DuplicateSku, IdReused, Validation, VersionConflict};
    routes
        .get("/products", plain::list::<Entity, ProductsView>)
        .about("List products.")
        .get("/products/{id}", plain::get::<Entity, ProductsView>)
        .about("One product.")
        .get("/products/by-barcode/{code}", by_barcode)
        .about("The product with a barcode.")
        .post("/products", plain::create::<Entity, ProductsCreate>)
        .about("Make a product.")
        .fails(&[IdReused, DuplicateSku, DuplicateBarcode])
        .patch("/products/{id}", plain::edit::<Entity, ProductsEdit>)
        .about("Change a product.")
        .fails(&[VersionConflict, DuplicateSku, DuplicateBarcode])
        .delete("/products/{id}", plain::delete::<Entity, ProductsDelete>)
        .about("Delete a product.")
        .fails(&[VersionConflict])
        .post("/products/{id}/restore", restore)
        .about("Bring a deleted product back.")
        .fails(&[DuplicateSku, DuplicateBarcode, Validation])
}
