//! The tables as the last step leaves them.

use std::sync::LazyLock;

use super::step::Schema;
use super::steps::STEPS;
use super::table::Table;
use crate::Side;

static NEWEST: LazyLock<Schema> = LazyLock::new(|| Schema::after(STEPS));

/// All of them, parents first.
pub fn tables() -> impl Iterator<Item = &'static Table> {
    NEWEST.tables().iter()
}

/// The columns of a unique index of headquarters, by the name that the database gives when it refuses a row.
pub fn columns_of_index(name: &str) -> Option<Vec<String>> {
    let index = tables().flat_map(|table| table.indexes(Side::Hq)).find(|index| index.name == name)?;
    Some(index.columns.iter().map(|column| (*column).to_owned()).collect())
}
