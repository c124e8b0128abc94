//! Reading what stores write: drawers, stock levels and adjustments, what customers bought. A store lists its own, headquarters
//! those of all stores.

pub mod csv;
pub mod customer_sales;
pub mod drawers;
pub mod papers;
pub mod sales;
pub mod shop;
pub mod stock;

use crate::error::{Error, Result};
use crate::resource::Query;
use tillkeep_model::fields::shape::is_date;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Select};

/// Documents are looked at from the last one back, unless the request says otherwise.
pub fn newest_first(query: &mut Query) {
    query.entry("sort".to_owned()).or_insert_with(|| "-createdAt".to_owned());
}

/// A parameter that is called otherwise than its column.
pub fn rename(query: &mut Query, parameter: &str, column: &str) {
    if let Some(value) = query.remove(parameter) {
        query.insert(column.to_owned(), value);
    }
}

/// `businessDateFrom` and `businessDateTo`: dates of the business, never instants, and both part of the range.
pub fn business_dates<E: EntityTrait>(
    query: &mut Query,
    column: E::Column,
    mut select: Select<E>,
) -> Result<Select<E>> {
    let (from, to) = (date(query, "businessDateFrom")?, date(query, "businessDateTo")?);
    if let Some(day) = from.as_ref().filter(|from| to.as_ref() == Some(from)) {
        // The databases take a range for many rows, of which no index is worth much.
        return Ok(select.filter(column.eq(day)));
    }
    if let Some(from) = from {
        select = select.filter(column.gte(from));
    }
    if let Some(to) = to {
        select = select.filter(column.lte(to));
    }
    Ok(select)
}

fn date(query: &mut Query, key: &str) -> Result<Option<String>> {
    let Some(value) = query.remove(key) else { return Ok(None) };
    if is_date(&value) { Ok(Some(value)) } else { Err(Error::field(key, "must be a date like 2026-11-20")) }
}
