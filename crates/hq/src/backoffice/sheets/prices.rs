//! Prices of stores as a file: `POST /store-prices/import`; `GET /store-prices?format=csv` is of both servers. A price is known by
//! the code of its store and the SKU of its product.

use std::collections::HashMap;

use serde_json::{Map, Value as Json};
use tillkeep_http::error::Result;
use tillkeep_http::shelf::store_prices::{FILE, cells_of};
use tillkeep_http::table::Table;
use tillkeep_http::{Answer, Caller, Params};
use tillkeep_model::permission::code::StorePricesManage;
use tillkeep_model::{Instant, fields, ids};
use tillkeep_storage::Tx;
use tillkeep_storage::ahead::Ahead;
use tillkeep_storage::entity::store_product::{Column, Entity, Model};
use tillkeep_storage::entity::{product, store};
use tillkeep_storage::registry::fold;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use super::cells::{self, amount, field, own, shown};
use super::file::{Row, Sheet};
use super::report::Import;
use super::taking::{self, Intake};
use super::{Asked, Lines, Report, all_right, products, twice, wrong};
use crate::backoffice::store_prices;

/// The columns, in the order of [`FILE`]; `docs/integrate.md` says what stands in them.
const COLUMNS: [cells::Column; FILE.len()] = [
    own("storeCode"),
    own("sku"),
    shown("name"),
    shown("currencyCode"),
    shown("defaultPrice"),
    amount("price"),
    field("reorderPoint"),
    field("reorderQuantity"),
    field("binLocation"),
    field("isStocked"),
];

/// `POST /store-prices/import`: all of the file, or nothing of it.
pub(crate) async fn import(
    caller: Caller<StorePricesManage>,
    Params(Asked { dry_run }): Params<Asked>,
    table: Table,
) -> Result<Answer<Report>> {
    let sheet = Sheet::open(&table.file, &COLUMNS, &["storeCode", "sku"])?;
    let (caller, sheet) = (&caller, &sheet);
    taking::unbroken(|| Box::pin(once(caller, sheet, dry_run))).await
}

async fn once(caller: &Caller<StorePricesManage>, sheet: &Sheet<'_>, dry_run: bool) -> Result<Answer<Report>> {
    let mut act = caller.begin().await?;
    let living = store::Entity::find().filter(store::Column::DeletedAt.is_null()).all(&**act).await?;
    let mut taken = Taken {
        caller,
        now: caller.now(),
        stores: living.into_iter().map(|store| (store.code.clone(), store)).collect(),
        keys: Lines::default(),
        report: Report::default(),
    };
    taking::take_all(sheet, &mut act, &mut taken).await?;
    let import = Import { dry_run, action: "store_prices.import", entity_type: store_prices::NAME, to_change: None };
    taken.report.finish(caller, act, &import).await
}

/// What was taken of a file so far.
struct Taken<'a> {
    caller: &'a Caller<StorePricesManage>,
    now: Instant,
    /// By code.
    stores: HashMap<String, store::Model>,
    keys: Lines,
    report: Report,
}

/// Each field is called like its column.
fn column_of(field: &str) -> &str {
    field
}

fn code_of(row: &Row) -> &str {
    row.cell("storeCode").unwrap_or_default().trim()
}

fn sku_of(row: &Row) -> String {
    fold(row.cell("sku").unwrap_or_default())
}

impl Intake for Taken<'_> {
    fn report(&mut self) -> &mut Report {
        &mut self.report
    }

    async fn foresee(&mut self, tx: &Tx, rows: &[Row], ahead: &mut Ahead) -> Result<()> {
        let goods = products::by_sku(tx, rows.iter().map(sku_of).collect()).await?;
        let key = |row: &Row| Some((*goods.get(&sku_of(row))?, self.stores.get(code_of(row))?.id));
        ahead.levels.extend(rows.iter().filter_map(key));
        ahead.products.extend(goods.values());
        Ok(())
    }

    async fn take(&mut self, tx: &mut Tx, found: Vec<Row>) -> Result<()> {
        let found = self.keyed(found)?;
        if found.is_empty() {
            return Ok(());
        }
        // Locked, so that their prices do not change between here and the commit.
        let goods = products::stored(tx, found.iter().map(sku_of).collect()).await?;
        let key = |row: &Row| Some(ids::store_product(self.stores.get(code_of(row))?.id, goods.get(&sku_of(row))?.id));
        let stored = stored(tx, found.iter().filter_map(key).collect()).await?;
        let (mut written, mut made) = (Vec::new(), 0);
        for row in &found {
            match self.draft(row, &goods, &stored) {
                Ok(Some((new, is_new))) => {
                    made += usize::from(is_new);
                    written.push(new);
                }
                Ok(None) => self.report.same(),
                Err(error) => self.report.refuse(row.line, error, column_of)?,
            }
        }
        self.report.made(made);
        self.report.changed(written.len() - made);
        store_prices::upsert(tx, written).await
    }
}

impl Taken<'_> {
    /// The rows of which no other has the store and the product.
    fn keyed(&mut self, found: Vec<Row>) -> Result<Vec<Row>> {
        let mut keyed = Vec::new();
        for row in found {
            self.report.read();
            match self.keys.keep(format!("{}\n{}", code_of(&row), sku_of(&row)), row.line) {
                Some(before) => self.report.refuse(row.line, twice("sku", before), column_of)?,
                None => keyed.push(row),
            }
        }
        Ok(keyed)
    }

    /// The row as the file has it, and whether it is a new one; nothing, when it is what is there.
    fn draft(
        &mut self,
        row: &Row,
        goods: &HashMap<String, product::Model>,
        stored: &HashMap<(Uuid, Uuid), Model>,
    ) -> Result<Option<(Model, bool)>> {
        let (store, product) = (self.stores.get(code_of(row)), goods.get(&sku_of(row)));
        let (Some(store), Some(product)) = (store, product) else {
            let mut faults = Vec::new();
            if store.is_none() {
                faults.push(wrong("storeCode", "is the code of no store"));
            }
            if product.is_none() {
                faults.push(wrong("sku", "is the SKU of no product; make it first"));
            }
            return all_right(faults).map(|()| None);
        };
        if self.caller.at_store(store.id).is_err() {
            return all_right(vec![wrong("storeCode", "is a store that you may not set prices of")]).map(|()| None);
        }
        let there = stored.get(&(store.id, product.id));
        let old = there.cloned().unwrap_or_else(|| store_prices::fresh(store.id, product, self.now));
        let body = said(row, &old, product, store)?;
        if body.is_empty() {
            return Ok(None);
        }
        let mut new = store_prices::changed(&old, product, body.clone(), self.now)?;
        if new == old {
            return Ok(None);
        }
        new.updated_at = self.now;
        self.report.note(store_prices::SET, old.id, &store_prices::details(&old, &new, product, &body));
        Ok(Some((new, there.is_none())))
    }
}

/// What a row says that is not there.
fn said(row: &Row, old: &Model, product: &product::Model, store: &store::Model) -> Result<Map<String, Json>> {
    let known = cells_of(old, product, store);
    let (mut body, mut faults) = (Map::new(), Vec::new());
    if row.cell("currencyCode").is_some_and(|code| !code.is_empty() && code.trim() != store.currency_code) {
        let text = format!("must be {}: this store sells in it, and nothing is converted", store.currency_code);
        faults.push(wrong("currencyCode", text));
    }
    if row.differing(Some(&known)).any(|(column, text)| column.name == "price" && text.trim().is_empty()) {
        // The default price again.
        body.insert("price".to_owned(), Json::Null);
    }
    let differing = row.differing(Some(&known));
    let book = &fields::store_price::BOOK;
    cells::read::<Entity>(differing, book, store.currency_exponent, (&mut body, &mut faults));
    all_right(faults)?;
    Ok(body)
}

/// These rows, which no other request changes before the transaction ends; locked in the order in which pushes lock them.
async fn stored(tx: &Tx, rows: Vec<Uuid>) -> Result<HashMap<(Uuid, Uuid), Model>> {
    let select = Entity::find().filter(Column::Id.is_in(rows));
    let select = select.order_by_asc(Column::ProductId).order_by_asc(Column::StoreId);
    let found = select.lock_exclusive().all(tx).await?;
    Ok(found.into_iter().map(|row| ((row.store_id, row.product_id), row)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_out_is_taken_in_the_same_columns() {
        assert_eq!(COLUMNS.map(|column| column.name), FILE);
    }
}
