//! Products, customers and prices of stores as CSV files. What a file says on its way out is taken again on its way in: the same
//! columns, the same words, and nothing is written where nothing differs. `docs/integrate.md`.

mod cells;
pub(super) mod customers;
mod file;
pub(super) mod prices;
pub(super) mod products;
mod report;
mod taking;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::Deserialize;
use tillkeep_http::error::{Error, FieldError, Result};
use tillkeep_model::ErrorCode;
use utoipa::ToSchema;

use crate::state::Routes;

pub(crate) use report::Report;

/// The routes of what comes in and goes out as a file.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{DuplicateBarcode, DuplicateSku, Forbidden, StoreNotReady, Validation};
    routes
        .get("/products", products::list)
        .about("List products, a page at a time, or all of them as a file.")
        .post("/products/import", products::import)
        .about("Make and change many products by a CSV file: all of it or nothing, with `dryRun=true` to see what would come of it.")
        .fails(&[DuplicateSku, DuplicateBarcode, Forbidden, Validation])
        .get("/customers", customers::list)
        .about("List customers, a page at a time, or all of them as a file.")
        .post("/customers/import", customers::import)
        .about("Make and change many customers by a CSV file: all of it or nothing, with `dryRun=true` to see what would come of it.")
        .fails(&[Forbidden, StoreNotReady, Validation])
        .post("/store-prices/import", prices::import)
        .about("Set many prices of stores by a CSV file: all of it or nothing, with `dryRun=true` to see what would come of it.")
        .fails(&[Validation])
}

/// Rows of a file that are looked at, and written, at once.
const CHUNK: usize = 1000;

/// How a file is taken.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ImportQuery)]
pub(crate) struct Asked {
    /// `true`: everything is checked and told, and nothing is written.
    #[serde(default)]
    dry_run: bool,
}

/// The lines in which keys of a file stand for the first time.
#[derive(Default)]
struct Lines(HashMap<String, u64>);

impl Lines {
    /// Keeps the line of a key, or says in which one it was before.
    fn keep(&mut self, key: String, line: u64) -> Option<u64> {
        match self.0.entry(key) {
            Entry::Occupied(before) => Some(*before.get()),
            Entry::Vacant(place) => {
                place.insert(line);
                None
            }
        }
    }

    /// The line of a key, unless it is this one.
    fn elsewhere(&self, key: &str, line: u64) -> Option<u64> {
        self.0.get(key).copied().filter(|before| *before != line)
    }
}

/// A row that says the same thing as one before.
fn twice(column: &str, before: u64) -> Error {
    Error::field(column, format!("is in line {before} already; leave one of the two rows out"))
}

fn wrong(field: &str, message: impl Into<String>) -> FieldError {
    FieldError { field: field.to_owned(), message: message.into() }
}

/// Refuses what is wrong, if anything is.
fn all_right(wrong: Vec<FieldError>) -> Result<()> {
    if wrong.is_empty() { Ok(()) } else { Err(Error::fields(wrong)) }
}
