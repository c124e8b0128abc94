//! What the types of rows call a cost, for JSON that is stored and has no type any more.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Map, Value as Json};
use tillkeep_model::Cost;

use super::list::ALL;
use crate::rows::SyncTable;

/// The keys of costs ([`Cost`]) in the rows of all types: those that are missing where costs are withheld.
pub static COST_KEYS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let tables = ALL.iter().flat_map(|entity| entity.children.iter().map(|child| child.table).chain([entity.table]));
    let keys = |table: &dyn SyncTable, withheld| Cost::without(withheld, || keys(table));
    tables.flat_map(|table| &keys(table, false) - &keys(table, true)).collect()
});

/// The keys of a row of defaults.
fn keys(table: &dyn SyncTable) -> BTreeSet<String> {
    let row = table.decode("{}").ok().and_then(|row| row.to_json().ok());
    let row: Map<String, Json> = row.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    row.into_iter().map(|(key, _)| key).collect()
}
