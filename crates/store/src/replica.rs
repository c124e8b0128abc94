//! Master data as this store has it: read here, written at headquarters.

use std::collections::HashMap;

use crate::state::Routes;
use serde::Serialize;
use tillkeep_http::describe::{Listing, Lists};
use tillkeep_http::directory::lists;
use tillkeep_http::directory::products::by_barcode;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, ListSpec};
use tillkeep_http::{Answer, Caller, Id, List};
use tillkeep_model::permission::code::{PosSell, ProductsView, StoresView, TaxesView, TendersView};
use tillkeep_model::{ErrorCode, Ppm};
use tillkeep_storage::entity::{department, product, store, tax_group, tax_group_rate, tax_rate, tender};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use utoipa::ToSchema;
use uuid::Uuid;

const PRODUCTS: ListSpec = ListSpec {
    search: &["name", "shortName", "sku", "barcode", "barcodes", "plu"],
    filters: &["departmentId", "taxGroupId", "defaultSupplierId", "productType"],
    sort: &["name", "sku", "price", "createdAt", "updatedAt"],
};
const DEPARTMENTS: ListSpec =
    ListSpec { search: &["code", "name"], filters: &["parentId"], sort: &["code", "name", "sortOrder"] };
const TAX_GROUPS: ListSpec = ListSpec { search: &["code", "name"], filters: &["priceMode"], sort: &["code", "name"] };

/// The list of products.
pub(crate) struct Products;

impl Listing for Products {
    type Row = product::Entity;
    const SPEC: ListSpec = PRODUCTS;
}

/// The list of departments.
pub(crate) struct Departments;

impl Listing for Departments {
    type Row = department::Entity;
    const SPEC: ListSpec = DEPARTMENTS;
}

/// The list of tenders.
pub(crate) struct Tenders;

impl Listing for Tenders {
    type Row = tender::Entity;
    const SPEC: ListSpec = lists::TENDERS;
}

/// The list of tax rates.
pub(crate) struct TaxRates;

impl Listing for TaxRates {
    type Row = tax_rate::Entity;
    const SPEC: ListSpec = lists::TAX_RATES;
}

/// The list of tax groups.
pub(crate) struct TaxGroups;

impl Listing for TaxGroups {
    type Row = tax_group::Entity;
    const SPEC: ListSpec = TAX_GROUPS;
}

/// A tax group with the rates of every store.
#[derive(Serialize, ToSchema)]
pub(crate) struct TaxGroupWithRates {
    #[serde(flatten)]
    group: tax_group::Model,
    rates: Vec<GroupRate>,
}

/// A rate of a group, and where it counts.
#[derive(Serialize, ToSchema)]
#[schema(as = TaxGroupRateShown)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GroupRate {
    tax_rate_id: Uuid,
    code: String,
    name: String,
    rate_ppm: Ppm,
    store_id: Option<Uuid>,
    sequence: i32,
    is_compound: bool,
    is_active: bool,
}

pub(crate) async fn products(
    caller: Caller<ProductsView>,
    Lists { query, .. }: Lists<Products>,
) -> Result<List<product::Model>> {
    resource::list(caller.reader(), &PRODUCTS, &query, product::Entity::find()).await
}

pub(crate) async fn product(caller: Caller<ProductsView>, Id(id): Id) -> Result<Answer<product::Model>> {
    let row = product::Entity::find_by_id(id).filter(product::Column::DeletedAt.is_null());
    let row = row.one(caller.reader()).await?;
    row.map(Answer).ok_or_else(|| Error::new(ErrorCode::ProductNotFound, "there is no product with this id"))
}

pub(crate) async fn departments(
    caller: Caller<(ProductsView, PosSell)>,
    Lists { query, .. }: Lists<Departments>,
) -> Result<List<department::Model>> {
    resource::list(caller.reader(), &DEPARTMENTS, &query, department::Entity::find()).await
}

pub(crate) async fn tenders(
    caller: Caller<(TendersView, PosSell)>,
    Lists { query, .. }: Lists<Tenders>,
) -> Result<List<tender::Model>> {
    resource::list(caller.reader(), &lists::TENDERS, &query, tender::Entity::find()).await
}

pub(crate) async fn tender(caller: Caller<TendersView>, Id(id): Id) -> Result<Answer<tender::Model>> {
    let row = tender::Entity::find_by_id(id).filter(tender::Column::DeletedAt.is_null());
    row.one(caller.reader()).await?.map(Answer).ok_or_else(|| Error::not_found("tender"))
}

pub(crate) async fn tax_rates(
    caller: Caller<TaxesView>,
    Lists { query, .. }: Lists<TaxRates>,
) -> Result<List<tax_rate::Model>> {
    resource::list(caller.reader(), &lists::TAX_RATES, &query, tax_rate::Entity::find()).await
}

/// Groups with the rates of every store; `GET /pos/bootstrap` has those that count here.
pub(crate) async fn tax_groups(
    caller: Caller<(TaxesView, PosSell)>,
    Lists { query, .. }: Lists<TaxGroups>,
) -> Result<List<TaxGroupWithRates>> {
    use tax_group_rate::Column;
    let snapshot = caller.snapshot().await?;
    let page = resource::list(&snapshot, &TAX_GROUPS, &query, tax_group::Entity::find()).await?;
    let ids: Vec<Uuid> = page.rows.iter().map(|group: &tax_group::Model| group.id).collect();
    let links = tax_group_rate::Entity::find()
        .filter(Column::TaxGroupId.is_in(ids))
        .filter(Column::DeletedAt.is_null())
        .order_by_asc(Column::Sequence)
        .all(&snapshot)
        .await?;
    let rates = tax_rate::Entity::find().filter(tax_rate::Column::DeletedAt.is_null()).all(&snapshot).await?;
    let rates: HashMap<Uuid, tax_rate::Model> = rates.into_iter().map(|rate| (rate.id, rate)).collect();
    let of_group = |group: &tax_group::Model| -> Vec<GroupRate> {
        let links = links.iter().filter(|link| link.tax_group_id == group.id);
        links.filter_map(|link| Some(rate_of(link, rates.get(&link.tax_rate_id)?))).collect()
    };
    let with_rates = |group: tax_group::Model| TaxGroupWithRates { rates: of_group(&group), group };
    Ok(page.map(with_rates))
}

fn rate_of(link: &tax_group_rate::Model, rate: &tax_rate::Model) -> GroupRate {
    GroupRate {
        tax_rate_id: rate.id,
        code: rate.code.clone(),
        name: rate.name.clone(),
        rate_ppm: rate.rate_ppm,
        store_id: link.store_id,
        sequence: link.sequence,
        is_compound: link.is_compound,
        is_active: rate.is_active,
    }
}

/// `GET /stores/{id}` of this store and of those where the caller holds the permission.
pub(crate) async fn store(caller: Caller<StoresView>, Id(id): Id) -> Result<Answer<store::Model>> {
    caller.at_store(id)?;
    let row = store::Entity::find_by_id(id).filter(store::Column::DeletedAt.is_null());
    row.one(caller.reader()).await?.map(Answer).ok_or_else(|| Error::not_found("store"))
}

/// The routes that read master data.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .get("/products", products)
        .about("List products, a page at a time.")
        .get("/products/{id}", product)
        .about("One product, by its id.")
        .fails(&[ErrorCode::ProductNotFound])
        .get("/products/by-barcode/{code}", by_barcode)
        .about("The product with a barcode.")
        .get("/departments", departments)
        .about("List departments, a page at a time.")
        .get("/tenders", tenders)
        .about("List tenders, a page at a time.")
        .get("/tenders/{id}", tender)
        .about("One tender, by its id.")
        .get("/tax-rates", tax_rates)
        .about("List tax rates, a page at a time.")
        .get("/tax-groups", tax_groups)
        .about("List tax groups with the rates of every store.")
        .get("/stores/{id}", store)
        .about("One store, by its id.")
}
