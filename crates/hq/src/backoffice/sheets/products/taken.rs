//! `POST /products/import`: what is taken of a file of products.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value as Json};
use tillkeep_http::error::{FieldError, Result};
use tillkeep_http::table::Table;
use tillkeep_http::{Answer, Caller, Params, resource};
use tillkeep_model::permission::code::{ProductsCreate, ProductsEdit};
use tillkeep_model::{ErrorCode, Instant, fields};
use tillkeep_storage::ahead::Ahead;
use tillkeep_storage::entity::product::{Column, Entity, Model};
use tillkeep_storage::registry::fold;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select, Value};
use tillkeep_storage::{Tx, barcodes, price_copies};
use uuid::Uuid;

use super::{COLUMNS, Names, cells_of, charges};
use crate::backoffice::plain::Rules;
use crate::backoffice::products::around::{Around, Pair};
use crate::backoffice::products::{self, codes};
use crate::backoffice::sheets::file::{Row, Sheet};
use crate::backoffice::sheets::report::Import;
use crate::backoffice::sheets::taking::{self, Intake};
use crate::backoffice::sheets::{Asked, Lines, Report, all_right, cells, twice, wrong};
use crate::backoffice::{chain, rows};

/// Columns that stores' rows of a product copy.
const COPIED: [&str; 2] = ["price", "cost"];

/// `POST /products/import`: all of the file, or nothing of it.
pub(crate) async fn import(
    caller: Caller<ProductsCreate>,
    Params(Asked { dry_run }): Params<Asked>,
    table: Table,
) -> Result<Answer<Report>> {
    caller.everywhere()?;
    let sheet = Sheet::open(&table.file, &COLUMNS, &["sku"])?;
    let (caller, sheet) = (&caller, &sheet);
    taking::unbroken(|| Box::pin(once(caller, sheet, dry_run))).await
}

async fn once(caller: &Caller<ProductsCreate>, sheet: &Sheet<'_>, dry_run: bool) -> Result<Answer<Report>> {
    let mut act = caller.begin().await?;
    let mut taken = Taken {
        names: Names::load(&*act).await?,
        currency: chain::of_prices(&*act).await?,
        now: caller.now(),
        skus: Lines::default(),
        codes: Lines::default(),
        plus: Lines::default(),
        report: Report::default(),
    };
    taking::take_all(sheet, &mut act, &mut taken).await?;
    let import = Import {
        dry_run,
        action: "products.import",
        entity_type: Entity::KIND.name(),
        to_change: Some(ProductsEdit::CODE),
    };
    taken.report.finish(caller, act, &import).await
}

/// A product that the file makes or changes.
struct Draft {
    line: u64,
    old: Option<Model>,
    new: Model,
    /// What the audit log is to say of it.
    details: Json,
}

/// What was taken of a file so far.
struct Taken {
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

/// How the SKU of a row is compared.
fn sku_of(row: &Row) -> String {
    fold(row.cell("sku").unwrap_or_default())
}

/// The SKU of what is sold with a row's product, where it says one.
fn charge_of(row: &Row) -> Option<String> {
    row.cell("chargeSku").filter(|sku| !sku.is_empty()).map(fold)
}

impl Intake for Taken {
    /// What is sold with others comes before them, wherever it stands.
    const GROUPS: &'static [fn(&Row) -> bool] = &[|row| charge_of(row).is_none(), |row| charge_of(row).is_some()];

    fn report(&mut self) -> &mut Report {
        &mut self.report
    }

    async fn foresee(&mut self, tx: &Tx, rows: &[Row], ahead: &mut Ahead) -> Result<()> {
        let there = living(rows.iter().map(sku_of).collect()).all(tx).await?;
        let there: HashMap<&str, &Model> = there.iter().map(|row| (row.sku_folded.as_str(), row)).collect();
        for row in rows {
            let Some(old) = there.get(sku_of(row).as_str()) else {
                ahead.makes_products = true;
                continue;
            };
            ahead.products.insert(old.id);
            let known = cells_of(old, &self.names, &self.currency);
            if row.differing(Some(&known)).any(|(column, _)| COPIED.contains(&column.name)) {
                ahead.followed.insert(old.id);
            }
        }
        ahead.products.extend(by_sku(tx, rows.iter().filter_map(charge_of).collect()).await?.into_values());
        Ok(())
    }

    async fn take(&mut self, tx: &mut Tx, found: Vec<Row>) -> Result<()> {
        let found = self.keyed(found)?;
        if found.is_empty() {
            return Ok(());
        }
        let stored = stored(tx, found.iter().map(|(sku, _)| sku.clone()).collect()).await?;
        let charges_of_stored = stored.values().filter_map(|row| row.charge_product_id).collect();
        self.names.charges = charges(&*tx, charges_of_stored).await?;
        let charges = by_sku(tx, found.iter().filter_map(|(_, row)| charge_of(row)).collect()).await?;
        let mut drafts = Vec::new();
        for (sku, row) in &found {
            let old = stored.get(sku);
            match self.draft(row, old, &charges) {
                Ok(Some((new, details))) => drafts.push(Draft { line: row.line, old: old.cloned(), new, details }),
                Ok(None) => self.report.same(),
                Err(error) => self.report.refuse(row.line, error, column_of)?,
            }
        }
        let drafts = self.checked(tx, drafts).await?;
        self.write(tx, drafts).await
    }
}

impl Taken {
    /// Rows by their SKUs, as those are compared.
    fn keyed(&mut self, found: Vec<Row>) -> Result<Vec<(String, Row)>> {
        let mut keyed = Vec::new();
        for row in found {
            self.report.read();
            let sku = sku_of(&row);
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

    /// The product as the file has it, and what the audit log is to say of that; nothing, when it is what is there.
    fn draft(&self, row: &Row, old: Option<&Model>, charges: &HashMap<String, Uuid>) -> Result<Option<(Model, Json)>> {
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
            None => resource::draft(Entity::KIND.fields(), body.clone(), self.now)?,
        };
        products::complete(&mut new);
        let details = match old {
            Some(old) if *old == new => return Ok(None),
            Some(old) => rows::difference(&Entity::KIND, old, &new)?,
            None => body.into(),
        };
        Ok(Some((new, details)))
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
        for Draft { old, mut new, details, .. } in drafts {
            self.report.note(if old.is_none() { "create" } else { "edit" }, new.id, &details);
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
pub(in crate::backoffice::sheets) async fn stored(tx: &Tx, skus: BTreeSet<String>) -> Result<HashMap<String, Model>> {
    let found = living(skus).order_by_asc(Column::Id).lock_exclusive().all(tx).await?;
    Ok(found.into_iter().map(|row| (row.sku_folded.clone(), row)).collect())
}

fn living(skus: BTreeSet<String>) -> Select<Entity> {
    Entity::find().filter(Column::SkuFolded.is_in(skus)).filter(Column::DeletedAt.is_null())
}

/// The ids of living products by some column that names one.
async fn ids_by(tx: &Tx, column: Column, values: BTreeSet<String>) -> Result<HashMap<String, Uuid>> {
    if values.is_empty() {
        return Ok(HashMap::new());
    }
    let values = values.into_iter().map(Value::from);
    let select = Entity::find().select_only().columns([column, Column::Id]).filter(column.is_in(values));
    let found: Vec<(String, Uuid)> = select.filter(Column::DeletedAt.is_null()).into_tuple().all(tx).await?;
    Ok(found.into_iter().collect())
}

/// The ids of the living products with these SKUs, as they are compared.
pub(in crate::backoffice::sheets) async fn by_sku(tx: &Tx, skus: BTreeSet<String>) -> Result<HashMap<String, Uuid>> {
    ids_by(tx, Column::SkuFolded, skus).await
}

async fn of_plus(tx: &Tx, plus: BTreeSet<String>) -> Result<HashMap<String, Uuid>> {
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
