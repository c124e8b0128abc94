//! Products as a file: `GET /products?format=csv` and `POST /products/import`. A product is known by its SKU.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value as Json};
use tillkeep_http::describe::{Listing, Lists, More};
use tillkeep_http::documents::csv::{self, Cell, Csv, Listed};
use tillkeep_http::error::{FieldError, Result};
use tillkeep_http::resource::{self, ListSpec, Parts, Query};
use tillkeep_http::table::Table;
use tillkeep_http::{Answer, Caller, List, Params};
use tillkeep_model::permission::code::{ProductsCreate, ProductsEdit, ProductsView};
use tillkeep_model::{ErrorCode, Instant, fields};
use tillkeep_storage::entity::product::{Column, Entity, Model};
use tillkeep_storage::entity::{department, supplier, tax_group};
use tillkeep_storage::registry::fold;
use tillkeep_storage::sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Value,
};
use tillkeep_storage::{Transaction, Tx, barcodes, price_copies};
use uuid::Uuid;

use super::cells::{self, amount, field, list_cell, own, packs, packs_cell, shown};
use super::file::{Row, Sheet};
use super::report::Import;
use super::{Asked, CHUNK, Lines, Report, all_right, twice, wrong};
use crate::backoffice::plain::Rules;
use crate::backoffice::products::around::{Around, Pair};
use crate::backoffice::products::{self, codes};
use crate::backoffice::{chain, files, rows};

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
        return resource::long_list(caller.reader(), &Entity::LIST, &query, Entity::find()).await.map(Listed::Json);
    }
    let file = file(&caller.snapshot().await?, &query).await?;
    files::kept(&caller, "products.export", &query).await?;
    Ok(Listed::File(file))
}

async fn file(conn: &Transaction, query: &Query) -> Result<Csv> {
    files::living(query)?;
    let mut parts = Parts::new(&Entity::LIST, query, Entity::find(), csv::CHUNK)?;
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

/// `POST /products/import`: all of the file, or nothing of it.
pub(crate) async fn import(
    caller: Caller<ProductsCreate>,
    Params(Asked { dry_run }): Params<Asked>,
    table: Table,
) -> Result<Answer<Report>> {
    caller.everywhere()?;
    let sheet = Sheet::open(&table.file, &COLUMNS, &["sku"])?;
    let mut act = caller.begin().await?;
    let mut taken = Taken {
        names: Names::load(&*act).await?,
        currency: chain::of_prices(&*act).await?,
        caller: &caller,
        now: caller.now(),
        skus: Lines::default(),
        codes: Lines::default(),
        plus: Lines::default(),
        report: Report::default(),
    };
    // What is sold with others comes before them, wherever it stands.
    for has_charge in [false, true] {
        let mut rows = sheet.rows();
        loop {
            let mut unread = Report::default();
            // Faults of reading are told once.
            let report = if has_charge { &mut unread } else { &mut taken.report };
            let mut some = rows.next(CHUNK, report)?;
            if some.is_empty() {
                break;
            }
            some.retain(|row| row.cell("chargeSku").is_some_and(|sku| !sku.is_empty()) == has_charge);
            taken.take(&mut act, some).await?;
        }
    }
    let import = Import {
        dry_run,
        action: "products.import",
        entity_type: Entity::KIND.name(),
        to_change: Some(ProductsEdit::CODE),
    };
    taken.report.finish(&caller, act, &import).await
}

/// A product that the file makes or changes.
struct Draft {
    line: u64,
    old: Option<Model>,
    new: Model,
}

/// What was taken of a file so far.
struct Taken<'a> {
    caller: &'a Caller<ProductsCreate>,
    now: Instant,
    names: Names,
    currency: (String, i16),
    skus: Lines,
    /// By the form that is compared.
    codes: Lines,
    plus: Lines,
    report: Report,
}

/// The column that a field stands in.
fn column_of(field: &str) -> &str {
    match field {
        "departmentId" => "departmentCode",
        "taxGroupId" => "taxGroupCode",
        "defaultSupplierId" => "defaultSupplierCode",
        "chargeProductId" => "chargeSku",
        other => other,
    }
}

impl Taken<'_> {
    async fn take(&mut self, tx: &mut Tx, found: Vec<Row>) -> Result<()> {
        let found = self.keyed(found)?;
        if found.is_empty() {
            return Ok(());
        }
        let stored = stored(tx, found.iter().map(|(sku, _)| sku.clone()).collect()).await?;
        let charges_of_stored = stored.values().filter_map(|row| row.charge_product_id).collect();
        self.names.charges = charges(&*tx, charges_of_stored).await?;
        let asked = found.iter().filter_map(|(_, row)| row.cell("chargeSku")).filter(|sku| !sku.is_empty());
        let charges = by_sku(tx, asked.map(fold).collect()).await?;
        let mut drafts = Vec::new();
        for (sku, row) in &found {
            let old = stored.get(sku);
            match self.draft(row, old, &charges) {
                Ok(Some(new)) => drafts.push(Draft { line: row.line, old: old.cloned(), new }),
                Ok(None) => self.report.same(),
                Err(error) => self.report.refuse(row.line, error, column_of)?,
            }
        }
        let drafts = self.checked(tx, drafts).await?;
        self.write(tx, drafts).await
    }

    /// Rows by their SKUs, as those are compared.
    fn keyed(&mut self, found: Vec<Row>) -> Result<Vec<(String, Row)>> {
        let mut keyed = Vec::new();
        for row in found {
            self.report.read();
            let sku = fold(row.cell("sku").unwrap_or_default());
            if sku.is_empty() {
                self.report.fault(row.line, Some("sku"), "is empty: each product has its own");
            } else if let Some(before) = self.skus.keep(sku.clone(), row.line) {
                self.report.refuse(row.line, twice("sku", before), column_of)?;
            } else {
                keyed.push((sku, row));
            }
        }
        Ok(keyed)
    }

    /// The product as the file has it; nothing, when it is what is there.
    fn draft(&self, row: &Row, old: Option<&Model>, charges: &HashMap<String, Uuid>) -> Result<Option<Model>> {
        let known = old.map(|old| cells_of(old, &self.names, &self.currency));
        let (mut body, mut faults) = (Map::new(), Vec::new());
        for (column, text) in row.differing(known.as_ref().map(|known| &known[..])) {
            self.name(column.name, text.trim(), charges, (&mut body, &mut faults));
        }
        let said = row.differing(known.as_ref().map(|known| &known[..]));
        cells::read::<Entity>(said, &fields::product::BOOK, self.currency.1, (&mut body, &mut faults));
        all_right(faults)?;
        let mut new = match old {
            Some(_) if body.is_empty() => return Ok(None),
            Some(old) => resource::changed(Entity::KIND.fields(), old, &body, self.now)?,
            None => resource::draft(Entity::KIND.fields(), body, self.now)?,
        };
        products::complete(&mut new);
        Ok(Some(new).filter(|new| Some(new) != old))
    }

    /// Reads the cells that name other rows.
    fn name(
        &self,
        column: &str,
        text: &str,
        charges: &HashMap<String, Uuid>,
        (body, faults): (&mut Map<String, Json>, &mut Vec<FieldError>),
    ) {
        let (field, id, may_be_missing) = match column {
            "departmentCode" => ("departmentId", self.names.departments.living.get(text), false),
            "taxGroupCode" => ("taxGroupId", self.names.tax_groups.living.get(text), false),
            "defaultSupplierCode" => ("defaultSupplierId", self.names.suppliers.living.get(text), true),
            "chargeSku" => ("chargeProductId", charges.get(&fold(text)), true),
            "currencyCode" if text != self.currency.0 && !text.is_empty() => {
                let text = format!("must be {}: prices are in it, and nothing is converted", self.currency.0);
                return faults.push(wrong(column, text));
            }
            _ => return,
        };
        match id {
            Some(id) => drop(body.insert(field.to_owned(), id.to_string().into())),
            None if text.is_empty() && may_be_missing => drop(body.insert(field.to_owned(), Json::Null)),
            None if text.is_empty() => {}
            None => faults.push(wrong(column, "is known of no row that is there: type its code, or make it first")),
        }
    }

    /// Those that keep all rules.
    async fn checked(&mut self, tx: &Tx, drafts: Vec<Draft>) -> Result<Vec<Draft>> {
        let pairs: Vec<Pair<'_>> = drafts.iter().map(|draft| (draft.old.as_ref(), &draft.new)).collect();
        let around = Around::of(tx, &pairs).await?;
        let plus = of_plus(tx, drafts.iter().filter_map(|draft| draft.new.plu.clone()).collect()).await?;
        let mut good = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let kept = products::check(&around, (draft.old.as_ref(), &draft.new));
            match kept.and_then(|()| self.alone(&draft, &plus)) {
                Ok(()) => good.push(draft),
                Err(error) => self.report.refuse(draft.line, error, column_of)?,
            }
        }
        Ok(good)
    }

    /// Refuses what two products would share.
    fn alone(&mut self, Draft { line, new, .. }: &Draft, plus: &HashMap<String, Uuid>) -> Result<()> {
        let forms: Vec<String> = codes::codes(new).iter().map(|code| barcodes::normal(code)).collect();
        for form in &forms {
            if let Some(before) = self.codes.elsewhere(form, *line) {
                return Err(codes::duplicate(new, form, &format!("the product of line {before} has this barcode")));
            }
        }
        if let Some(plu) = &new.plu {
            if let Some(before) = self.plus.elsewhere(plu, *line) {
                return Err(twice("plu", before));
            }
            if plus.get(plu).is_some_and(|owner| *owner != new.id) {
                return Err(rows::taken(&Entity::KIND, "plu", ErrorCode::Duplicate));
            }
        }
        for form in forms {
            self.codes.keep(form, *line);
        }
        if let Some(plu) = &new.plu {
            self.plus.keep(plu.clone(), *line);
        }
        Ok(())
    }

    async fn write(&mut self, tx: &mut Tx, drafts: Vec<Draft>) -> Result<()> {
        let (mut made, mut changed) = (Vec::new(), Vec::new());
        let (mut indexed, mut repriced) = (BTreeMap::new(), Vec::new());
        for Draft { old, mut new, .. } in drafts {
            let now_coded = codes::codes(&new);
            if old.as_ref().map_or(!now_coded.is_empty(), |old| codes::differ(old, &new)) {
                indexed.insert(new.id, now_coded);
            }
            let Some(old) = old else {
                rows::stamp::<Entity>(&mut new, self.now, true)?;
                made.push(new);
                continue;
            };
            if (old.price, old.cost) != (new.price, new.cost) {
                repriced.push(new.id);
            }
            if old.price != new.price {
                let details = rows::difference(&Entity::KIND, &old, &new)?;
                self.report.note(rows::entry(self.caller, "edit", Entity::KIND.name(), new.id, details));
            }
            rows::stamp::<Entity>(&mut new, self.now, false)?;
            changed.push(new);
        }
        self.report.made(made.len());
        self.report.changed(changed.len());
        tx.insert_all::<Entity>(made).await.map_err(|error| rows::clash(&Entity::KIND, error))?;
        tx.write_all::<Entity>(changed).await.map_err(|error| rows::clash(&Entity::KIND, error))?;
        codes::index_all(tx, &indexed).await?;
        // No store can have a row of a product that is new: its id was drawn here.
        price_copies::follow(tx, &repriced, self.now).await?;
        Ok(())
    }
}

/// The living products with these SKUs, as they are compared; no other request changes them before the transaction ends.
pub(super) async fn stored(tx: &Tx, skus: Vec<String>) -> Result<HashMap<String, Model>> {
    let select = Entity::find().filter(Column::SkuFolded.is_in(skus)).filter(Column::DeletedAt.is_null());
    let found = select.order_by_asc(Column::Id).lock_exclusive().all(tx).await?;
    Ok(found.into_iter().map(|row| (row.sku_folded.clone(), row)).collect())
}

/// The ids of living products by some column that names one.
async fn ids_by(tx: &Tx, column: Column, values: Vec<String>) -> Result<HashMap<String, Uuid>> {
    if values.is_empty() {
        return Ok(HashMap::new());
    }
    let values = values.into_iter().map(Value::from);
    let select = Entity::find().select_only().columns([column, Column::Id]).filter(column.is_in(values));
    let found: Vec<(String, Uuid)> = select.filter(Column::DeletedAt.is_null()).into_tuple().all(tx).await?;
    Ok(found.into_iter().collect())
}

async fn by_sku(tx: &Tx, skus: Vec<String>) -> Result<HashMap<String, Uuid>> {
    ids_by(tx, Column::SkuFolded, skus).await
}

async fn of_plus(tx: &Tx, plus: Vec<String>) -> Result<HashMap<String, Uuid>> {
    ids_by(tx, Column::Plu, plus).await
}

#[cfg(test)]
mod tests {
    use tillkeep_model::fields::Side;

    use super::*;

    #[test]
    fn what_people_write_of_a_product_has_a_column() {
        let columns: BTreeSet<&str> = COLUMNS.iter().map(|column| column.name).collect();
        for field in fields::product::BOOK.writable(Side::Hq) {
            assert!(columns.contains(column_of(field.name)), "{}", field.name);
        }
        assert_eq!(columns.len(), COLUMNS.len());
    }
}
