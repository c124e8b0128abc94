//! Products as a file: `GET /products?format=csv` and `POST /products/import`. A product is known by its SKU.

mod taken;

use std::collections::{BTreeSet, HashMap};

use tillkeep_http::describe::{Listing, Lists, More};
use tillkeep_http::documents::csv::{self, Cell, Csv, Listed};
use tillkeep_http::error::Result;
use tillkeep_http::resource::{self, ListSpec, Parts, Query};
use tillkeep_http::{Caller, List};
use tillkeep_model::permission::code::ProductsView;
use tillkeep_storage::Transaction;
use tillkeep_storage::entity::product::{Column, Entity, Model};
use tillkeep_storage::entity::{department, supplier, tax_group};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use uuid::Uuid;

use super::cells::{self, amount, field, list_cell, own, packs, packs_cell, shown};
use crate::backoffice::plain::Rules;
use crate::backoffice::{chain, files, rows, sought};

pub(super) use taken::{by_sku, import, stored};

/// The columns; `docs/integrate.md` says what stands in them.
const COLUMNS: [cells::Column; 33] = [
    field("sku"),
    field("name"),
    field("shortName"),
    field("description"),
    own("departmentCode"),
    own("taxGroupCode"),
    own("defaultSupplierCode"),
    field("barcode"),
    field("barcodes"),
    packs("packs"),
    field("plu"),
    field("productType"),
    field("unitOfMeasure"),
    field("quantityDecimals"),
    field("isWeighed"),
    shown("currencyCode"),
    amount("price"),
    amount("cost"),
    amount("minPrice"),
    field("isOpenPrice"),
    field("namedAtTill"),
    own("chargeSku"),
    field("allowDiscount"),
    field("maxDiscountBps"),
    field("isReturnable"),
    field("trackStock"),
    field("ageRestriction"),
    field("reorderPoint"),
    field("reorderQuantity"),
    field("brand"),
    field("imageUrl"),
    field("tags"),
    field("isActive"),
];

/// The list of products.
pub(crate) struct Products;

impl Listing for Products {
    type Row = Entity;
    const SPEC: ListSpec = Entity::LIST;
    const LONG: bool = true;
    const MORE: &'static [(&'static str, More)] = &[("format", More::Format)];
}

/// `GET /products`; as a file all that the list means.
pub(crate) async fn list(
    caller: Caller<ProductsView>,
    Lists { mut query, .. }: Lists<Products>,
) -> Result<Listed<List<Model>>> {
    if !csv::wanted(&mut query)? {
        let (select, query) = sought::narrowed::<Entity>(caller.reader(), &query).await?;
        return resource::long_list(caller.reader(), &Entity::LIST, &query, select).await.map(Listed::Json);
    }
    let file = file(&caller.snapshot().await?, &query).await?;
    files::kept(&caller, "products.export", &query).await?;
    Ok(Listed::File(file))
}

async fn file(conn: &Transaction, query: &Query) -> Result<Csv> {
    files::living(query)?;
    let (select, query) = sought::narrowed(conn, query).await?;
    let mut parts = Parts::<Entity>::new(&Entity::LIST, &query, select, csv::CHUNK)?;
    csv::fits(parts.count(conn).await?)?;
    let (mut names, currency) = (Names::load(conn).await?, chain::of_prices(conn).await?);
    let mut file = Csv::new("products", &COLUMNS.map(|column| column.name));
    loop {
        let rows = parts.next(conn).await?;
        if rows.is_empty() {
            return Ok(file);
        }
        names.charges = charges(conn, rows.iter().filter_map(|row| row.charge_product_id).collect()).await?;
        for row in &rows {
            file.row(&cells_of(row, &names, &currency));
        }
    }
}

/// The codes of a kind of rows.
struct Codes {
    /// Of deleted ones too.
    by_id: HashMap<Uuid, String>,
    living: HashMap<String, Uuid>,
}

impl Codes {
    async fn load<E: EntityTrait>(conn: &impl ConnectionTrait) -> Result<Self> {
        let columns = [rows::column::<E>("id")?, rows::column::<E>("code")?];
        let all = E::find().select_only().columns(columns);
        let living = all.clone().filter(rows::column::<E>("deleted_at")?.is_null());
        let living: Vec<(Uuid, String)> = living.into_tuple().all(conn).await?;
        let all: Vec<(Uuid, String)> = all.into_tuple().all(conn).await?;
        Ok(Self { by_id: all.into_iter().collect(), living: living.into_iter().map(|(id, code)| (code, id)).collect() })
    }

    fn of(&self, id: Option<Uuid>) -> Cell<'_> {
        Cell::text(id.and_then(|id| self.by_id.get(&id)).map(String::as_str))
    }
}

/// What products name.
struct Names {
    departments: Codes,
    tax_groups: Codes,
    suppliers: Codes,
    /// SKUs of charges, of the rows at hand.
    charges: HashMap<Uuid, String>,
}

impl Names {
    async fn load(conn: &impl ConnectionTrait) -> Result<Self> {
        Ok(Self {
            departments: Codes::load::<department::Entity>(conn).await?,
            tax_groups: Codes::load::<tax_group::Entity>(conn).await?,
            suppliers: Codes::load::<supplier::Entity>(conn).await?,
            charges: HashMap::new(),
        })
    }
}

/// The SKUs of these products.
async fn charges(conn: &impl ConnectionTrait, ids: BTreeSet<Uuid>) -> Result<HashMap<Uuid, String>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let select = Entity::find().select_only().columns([Column::Id, Column::Sku]).filter(Column::Id.is_in(ids));
    let found: Vec<(Uuid, String)> = select.into_tuple().all(conn).await?;
    Ok(found.into_iter().collect())
}

fn cells_of<'a>(row: &'a Model, names: &'a Names, currency: &'a (String, i16)) -> [Cell<'a>; COLUMNS.len()] {
    let (code, exponent) = (currency.0.as_str(), currency.1);
    let charge = row.charge_product_id.and_then(|id| names.charges.get(&id));
    [
        Cell::Text(&row.sku),
        Cell::Text(&row.name),
        Cell::text(row.short_name.as_deref()),
        Cell::text(row.description.as_deref()),
        names.departments.of(Some(row.department_id)),
        names.tax_groups.of(Some(row.tax_group_id)),
        names.suppliers.of(row.default_supplier_id),
        Cell::text(row.barcode.as_deref()),
        list_cell(&row.barcodes),
        packs_cell(&row.packs, exponent),
        Cell::text(row.plu.as_deref()),
        Cell::Text(&row.product_type),
        Cell::Text(&row.unit_of_measure),
        Cell::number(Some(row.quantity_decimals)),
        Cell::flag(row.is_weighed),
        Cell::Text(code),
        Cell::money(row.price, exponent),
        Cell::money(row.cost.0, exponent),
        Cell::money(row.min_price.map(|floor| floor.0), exponent),
        Cell::flag(row.is_open_price),
        Cell::flag(row.named_at_till),
        Cell::text(charge.map(String::as_str)),
        Cell::flag(row.allow_discount),
        Cell::number(row.max_discount_bps.map(|share| share.0)),
        Cell::flag(row.is_returnable),
        Cell::flag(row.track_stock),
        Cell::number(row.age_restriction),
        Cell::quantity(row.reorder_point),
        Cell::quantity(row.reorder_quantity),
        Cell::text(row.brand.as_deref()),
        Cell::text(row.image_url.as_deref()),
        list_cell(&row.tags),
        Cell::flag(row.is_active),
    ]
}
