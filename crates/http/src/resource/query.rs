//! What a request asks of a list: search, filters and order by white list, and the page.

use std::collections::BTreeMap;

use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::sea_orm::sea_query::NullOrdering;
use tillkeep_storage::sea_orm::{
    ColumnTrait, ColumnType, Condition, EntityTrait, IdenStatic as _, Iterable as _, Order, PrimaryKeyToColumn,
    QueryFilter, QueryOrder, Select, Value,
};
use tillkeep_storage::search::contains;
use uuid::Uuid;

use super::columns::column;
use crate::answer::Paging;
use crate::cursor::Ordering;
use crate::error::{Error, Result};

/// What may be asked of a list.
pub struct ListSpec {
    /// Columns that `?search=` looks into, case-insensitive.
    pub search: &'static [&'static str],
    /// Columns that may be filtered by equality, as query parameters in camelCase.
    pub filters: &'static [&'static str],
    /// Columns that `?sort=` may name, in camelCase; the first one is the default.
    pub sort: &'static [&'static str],
}

/// Characters of a query value at the most.
pub const MAX_VALUE: usize = 200;

/// The parameters of a list request.
pub type Query = BTreeMap<String, String>;

/// All rows that a request means, in their order, and the page of them that it asks for.
pub fn selected<E: EntityTrait>(spec: &ListSpec, query: &Query, base: Select<E>) -> Result<(Select<E>, Paging)> {
    if query.contains_key("cursor") {
        return Err(unknown_parameter("cursor"));
    }
    Ok((in_order(&ordering::<E>(spec, query)?, narrowed(spec, query, base)?), paging(query)?))
}

/// All rows that a request means, in no order.
pub fn narrowed<E: EntityTrait>(spec: &ListSpec, query: &Query, mut select: Select<E>) -> Result<Select<E>> {
    let mut deleted_too = false;
    for (key, value) in query.iter().filter(|(key, _)| *key != "cursor") {
        check_value(key, value)?;
        match key.as_str() {
            "page" | "pageSize" | "sort" => {}
            "search" if !spec.search.is_empty() => select = select.filter(search::<E>(spec.search, value)?),
            "active" if column::<E>("is_active").is_ok() => {
                select = select.filter(column::<E>("is_active")?.eq(boolean(key, value)?));
            }
            "includeDeleted" => deleted_too = boolean(key, value)?,
            "updatedSince" => {
                let since = Instant::parse(value)
                    .ok_or_else(|| Error::field(key, "must be an instant like 2026-11-20T12:34:56.789Z"))?;
                select = select.filter(column::<E>("updated_at")?.gte(since));
            }
            key if spec.filters.contains(&key) => {
                let column = column::<E>(key)?;
                select = select.filter(column.eq(typed(key, value, column.def().get_column_type())?));
            }
            key => {
                return Err(unknown_parameter(key));
            }
        }
    }
    if let Ok(deleted) = column::<E>("deleted_at")
        && !deleted_too
    {
        select = select.filter(deleted.is_null());
    }
    Ok(select)
}

/// What is asked of a list that does not know it.
fn unknown_parameter(key: &str) -> Error {
    Error::new(ErrorCode::UnknownParameter, "this is not a parameter of this list").at(key)
}

/// What a request sorts by.
pub(super) fn sort_of<'a>(spec: &ListSpec, query: &'a Query) -> &'a str {
    query.get("sort").map(String::as_str).or_else(|| spec.sort.first().copied()).unwrap_or("id")
}

/// The order that a request asks for, down to the key of the rows, so that each has its place.
pub(super) fn ordering<E: EntityTrait>(spec: &ListSpec, query: &Query) -> Result<Ordering<E>> {
    let mut ordering: Ordering<E> = Vec::new();
    let mut add = |column: E::Column, order: Order| {
        // Once in its place, a column says nothing more.
        if ordering.iter().all(|(other, _)| other.as_str() != column.as_str()) {
            ordering.push((column, order));
        }
    };
    let mut last = Order::Asc;
    for name in sort_of(spec, query).split(',') {
        let (name, order) = name.strip_prefix('-').map_or((name, Order::Asc), |name| (name, Order::Desc));
        if !spec.sort.contains(&name) {
            let text = format!("cannot sort by {name}; choose of {}", spec.sort.join(", "));
            return Err(Error::field("sort", text));
        }
        last = order.clone();
        add(column::<E>(name)?, order);
    }
    for key in E::PrimaryKey::iter() {
        // The way of the column before it: an index of both is read in either direction, but not in two at once.
        add(key.into_column(), last.clone());
    }
    Ok(ordering)
}

pub(super) fn in_order<E: EntityTrait>(ordering: &Ordering<E>, mut select: Select<E>) -> Select<E> {
    for (column, order) in ordering {
        // What is missing comes first, as SQLite has it; PostgreSQL would put it last.
        let nulls = if *order == Order::Asc { NullOrdering::First } else { NullOrdering::Last };
        select = if column.def().is_null() {
            select.order_by_with_nulls(*column, order.clone(), nulls)
        } else {
            select.order_by(*column, order.clone())
        };
    }
    select
}

pub(super) fn paging(query: &Query) -> Result<Paging> {
    let of = |key| query.get(key).map(|value| number(key, value)).transpose();
    Paging::new(of("page")?, of("pageSize")?)
}

/// One of `columns` contains `text`, case-insensitive.
pub fn search<E: EntityTrait>(columns: &[&str], text: &str) -> Result<Condition> {
    check_value("search", text)?;
    let columns: Vec<E::Column> = columns.iter().map(|name| column::<E>(name)).collect::<Result<_>>()?;
    Ok(contains(columns, text))
}

/// Refuses a value that no parameter of a list has.
pub fn check_value(key: &str, value: &str) -> Result<()> {
    if value.contains('\0') || value.chars().count() > MAX_VALUE {
        return Err(Error::field(key, format!("must have at most {MAX_VALUE} characters, NUL not among them")));
    }
    Ok(())
}

fn number(key: &str, value: &str) -> Result<u64> {
    value.parse().map_err(|_| Error::field(key, "must be a whole number"))
}

fn boolean(key: &str, value: &str) -> Result<bool> {
    value.parse().map_err(|_| Error::field(key, "must be true or false"))
}

fn typed(key: &str, value: &str, kind: &ColumnType) -> Result<Value> {
    Ok(match kind {
        ColumnType::Uuid => value.parse::<Uuid>().map_err(|_| Error::field(key, "must be a UUID"))?.into(),
        ColumnType::Boolean => boolean(key, value)?.into(),
        ColumnType::Integer | ColumnType::BigInteger | ColumnType::SmallInteger => {
            value.parse::<i64>().map_err(|_| Error::field(key, "must be a whole number"))?.into()
        }
        _ => value.into(),
    })
}

/// Takes a parameter of a list that is no column of the listed rows.
pub fn take_flag(query: &mut Query, key: &str) -> Result<bool> {
    query.remove(key).map_or(Ok(false), |value| boolean(key, &value))
}

/// As [`take_flag`], for an id.
pub fn take_id(query: &mut Query, key: &str) -> Result<Option<Uuid>> {
    let parsed = query.remove(key).map(|value| value.parse().map_err(|_| Error::field(key, "must be a UUID")));
    parsed.transpose()
}
