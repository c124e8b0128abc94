//! Products. A new default price reaches every store row that has no price of its own, in the same transaction.

pub(super) mod around;
mod charges;
pub(super) mod codes;
mod picture;
mod scaled;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value as Json;
use tillkeep_http::describe::{Change, Draft, Write};
use tillkeep_http::directory::products::by_barcode;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{Check, Fields, ListSpec, PRODUCT_SEARCH};
use tillkeep_http::{Answer, Body, Caller, Created, Id};
use tillkeep_model::fields;
use tillkeep_model::permission::code::{ProductsDelete, ProductsView};
use tillkeep_model::{ErrorCode, Instant, Qty};
use tillkeep_storage::db::{self, Turn};
use tillkeep_storage::entity::product::{Column, Entity, Model};
use tillkeep_storage::entity::store_product;
use tillkeep_storage::registry::fold;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect};
use tillkeep_storage::{Tx, price_copies};
use utoipa::ToSchema;
use uuid::Uuid;

use self::around::{Around, Pair};
use super::plain;
use super::plain::Rules;
use super::rows::{self, Kind};
use crate::state::Routes;
use tillkeep_model::permission::code::{ProductsCreate, ProductsEdit};

impl Rules for Entity {
    const KIND: Kind = Kind {
        book: &fields::product::BOOK,
        singular: "product",
        unique: &[("sku_folded", ErrorCode::DuplicateSku), ("plu", ErrorCode::Duplicate)],
        hidden: &[],
    };

    const LIST: ListSpec = ListSpec {
        search: PRODUCT_SEARCH,
        filters: &["departmentId", "taxGroupId", "defaultSupplierId"],
        sort: &["name", "sku", "price", "createdAt", "updatedAt"],
    };

    async fn check(tx: &mut Tx, old: Option<&Model>, row: &mut Model, _: Instant) -> Result<()> {
        complete(row);
        let around = Around::of(tx, &[(old, &*row)]).await?;
        check(&around, (old, &*row))
    }

    async fn written(tx: &mut Tx, old: Option<&Model>, new: &Model, now: Instant) -> Result<()> {
        if old.is_none_or(|old| codes::differ(old, new)) {
            codes::index(tx, new.id, codes::codes(new)).await?;
        }
        if old.is_some_and(|old| (old.price, old.cost) == (new.price, new.cost)) {
            return Ok(());
        }
        if old.is_none() {
            // It may have been sold before, and may be at this moment.
            db::take_turn(&*tx, Turn::Product).await?;
        }
        price_copies::follow(tx, &[new.id], now).await?;
        Ok(())
    }

    async fn deletable(tx: &mut Tx, row: &Model, _: Instant) -> Result<()> {
        charges::refuse_charged(tx, row.id).await?;
        refuse_stock(tx, row.id).await?;
        codes::index(tx, row.id, Vec::new()).await
    }
}

/// Fills in what follows from the other columns.
pub(super) fn complete(row: &mut Model) {
    row.sku_folded = fold(&row.sku);
}

/// Refuses what no product may be.
pub(super) fn check(around: &Around, pair: Pair<'_>) -> Result<()> {
    let (old, row) = pair;
    let mut check = Check::default();
    check_numbers(&mut check, old, row);
    around.others(&mut check, pair);
    check.finish()?;
    charges::keep(&around.charged, pair)?;
    codes::check(&around.owners, row)
}

/// Whether to be warned first, as a form does that a person sits at.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConfirmedCodes)]
pub(crate) struct Force {
    /// `false`: codes with a check digit that does not fit are refused. Else they are taken as they are.
    force: Option<bool>,
}

/// A product as it is written.
pub(crate) struct Written;

impl Write for Written {
    type Row = Entity;
    const FIELDS: Fields = Entity::KIND.fields();
    type More = Force;

    fn name() -> Cow<'static, str> {
        "Product".into()
    }
}

/// `POST /products`
async fn create(caller: Caller<ProductsCreate>, Body(draft): Body<Draft<Written>>) -> Result<Created<Model>> {
    caller.everywhere()?;
    let (mut body, Force { force }) = draft.parted()?;
    codes::part_packs(&mut body);
    let now = caller.now();
    let check = async |tx: &mut Tx, new: &mut Model| {
        Entity::check(tx, None, new, now).await?;
        if force == Some(false) { codes::refuse_misread(None, new) } else { Ok(()) }
    };
    let after = async |tx: &mut Tx, new: &Model| Entity::written(tx, None, new, now).await;
    rows::create::<Entity, _>(&caller, &Entity::KIND, body, check, after).await
}

/// `PATCH /products/{id}`
async fn edit(caller: Caller<ProductsEdit>, Id(id): Id, Body(change): Body<Change<Written>>) -> Result<Answer<Model>> {
    caller.everywhere()?;
    let (mut body, Force { force }) = change.parted()?;
    codes::part_packs(&mut body);
    let now = caller.now();
    let check = async |tx: &mut Tx, old: &Model, new: &mut Model| {
        Entity::check(tx, Some(old), new, now).await?;
        if force == Some(false) { codes::refuse_misread(Some(old), new) } else { Ok(()) }
    };
    let after = async |tx: &mut Tx, old: &Model, new: &Model| Entity::written(tx, Some(old), new, now).await;
    rows::change::<Entity, _>(&caller, &Entity::KIND, id, body, check, after).await.map(Answer)
}

/// What the numbers of a product say of each other.
fn check_numbers(check: &mut Check, old: Option<&Model>, row: &Model) {
    let differs = |part: fn(&Model) -> (i64, i64)| old.is_none_or(|old| part(old) != part(row));
    if differs(|row| (row.price.0, row.min_price.map_or(0, |floor| floor.0.0))) {
        let text = format!("must be between 0 and {}, the price", row.price.0);
        check.that(row.min_price.is_none_or(|floor| floor.0 <= row.price), "minPrice", &text);
    }
    if differs(|row| (row.is_weighed.into(), row.quantity_decimals.into())) {
        let text = "must be between 1 and 3 for what is weighed: with 0 decimals only whole units are sold";
        check.that(!row.is_weighed || row.quantity_decimals > 0, "quantityDecimals", text);
    }
    if differs(|row| (row.named_at_till.into(), row.is_open_price.into())) {
        let text = "is for products without a price of their own alone: send isOpenPrice: true too, or leave it out";
        check.that(!row.named_at_till || row.is_open_price, "namedAtTill", text);
    }
}

/// A product that is on hand somewhere, or owed to the stock there, could not be counted any more.
async fn refuse_stock(tx: &Tx, id: Uuid) -> Result<()> {
    use store_product::Column;
    let stocked = store_product::Entity::find()
        .filter(Column::ProductId.eq(id))
        .filter(Column::Quantity.ne(Qty::ZERO))
        .filter(Column::DeletedAt.is_null());
    let stores = stocked.count(tx).await?;
    if stores == 0 {
        return Ok(());
    }
    let text = format!(
        "the stock of this product is not 0 in {stores} stores; adjust it to 0 there first, or send isActive: false so \
         that it is no longer sold"
    );
    Err(Error::new(ErrorCode::InUse, text))
}

/// `POST /products/{id}/restore`: a deleted product comes back, if its numbers are still free.
pub(crate) async fn restore(caller: Caller<ProductsDelete>, Id(id): Id) -> Result<Answer<Model>> {
    let mut act = caller.begin().await?;
    let row = Entity::find_by_id(id).lock_exclusive().one(&**act).await?.ok_or_else(|| Error::not_found("product"))?;
    if row.deleted_at.is_none() {
        return Ok(Answer(row));
    }
    caller.everywhere()?;
    let now = caller.now();
    let mut restored = row.clone();
    // What it names may be gone by now, and its codes given away. Its own values are what they were.
    complete(&mut restored);
    let around = Around::of(&act, &[(None, &restored)]).await?;
    let mut check = Check::default();
    around.others(&mut check, (None, &restored));
    check.finish()?;
    codes::check(&around.owners, &restored)?;
    rows::check_unique::<Entity>(&act, &Entity::KIND, &restored).await?;
    act.update::<Entity>(|products| {
        products
            .col_expr(Column::DeletedAt, Expr::value(None::<Instant>))
            .col_expr(Column::UpdatedAt, Expr::value(now))
            .filter(Column::Id.eq(id))
    })
    .await?;
    codes::index(&act, id, codes::codes(&restored)).await?;
    act.done(rows::entry(&caller, "restore", Entity::KIND.name(), id, Json::Null)).await?;
    rows::written::<Entity>(caller.reader(), &Entity::KIND, id).await.map(Answer)
}

/// The routes of products.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{BadCheckDigit, DuplicateBarcode, DuplicateSku, IdReused, InUse, Validation, VersionConflict};
    routes
        .get("/products/{id}", plain::get::<Entity, ProductsView>)
        .about("One product, by its id.")
        .get("/products/by-barcode/{code}", by_barcode)
        .about("The product with a barcode.")
        .post("/products", create)
        .about("Make a new product.")
        .fails(&[IdReused, DuplicateSku, DuplicateBarcode, BadCheckDigit])
        .patch("/products/{id}", edit)
        .about("Change some fields of a product.")
        .fails(&[VersionConflict, DuplicateSku, DuplicateBarcode, BadCheckDigit, InUse])
        .delete("/products/{id}", plain::delete::<Entity, ProductsDelete>)
        .about("Delete a product, in all stores too.")
        .fails(&[VersionConflict, InUse])
        .post("/products/{id}/restore", restore)
        .about("Bring a deleted product back.")
        .fails(&[DuplicateSku, DuplicateBarcode, Validation])
        .with(picture::routes)
}
