//! The rows of a list: a page of them, or all, one part after the other.

use tillkeep_storage::sea_orm::sea_query::SelectStatement;
use tillkeep_storage::sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, FromQueryResult, Iterable as _, ModelTrait, PaginatorTrait,
    PrimaryKeyToColumn, QueryFilter, QuerySelect, QueryTrait, Select,
};

use super::query::{ListSpec, Query, in_order, narrowed, ordering, paging, selected, sort_of};
use crate::answer::{List, Paging};
use crate::cursor::{self, Cursor, Ordering};
use crate::error::{Error, Result};

/// One page of the rows of `E` that are not deleted, below `base`, which may have columns and an order of its own.
pub async fn list<E, M>(conn: &impl ConnectionTrait, spec: &ListSpec, query: &Query, base: Select<E>) -> Result<List<M>>
where
    E: EntityTrait<Model = M>,
    M: FromQueryResult + Send + Sync,
{
    let (select, paging) = selected::<E>(spec, query, base)?;
    let mut rows = select.clone().limit(paging.size + 1).offset(paging.offset()).all(conn).await?;
    let is_last = ends(&mut rows, paging);
    let total = match is_last.then(|| counted(&rows, paging)).flatten() {
        Some(total) => total,
        None => select.count(conn).await?,
    };
    Ok(List::new(rows, total, paging))
}

/// As [`list`], of tables that grow without end and have one key: the page is found first, in an index where there is one of all
/// that is asked about, and then its rows are read. `base` narrows and does nothing else. Its pages are asked for by number or
/// by the cursor of the one before.
pub async fn long_list<E, M>(
    conn: &impl ConnectionTrait,
    spec: &ListSpec,
    query: &Query,
    base: Select<E>,
) -> Result<List<M>>
where
    E: EntityTrait<Model = M>,
    M: ModelTrait<Entity = E> + FromQueryResult + Send + Sync,
{
    counted_list(conn, spec, query, base, None).await
}

/// As [`long_list`], of which it may be known how many there are: to count them in another way takes less.
pub async fn counted_list<E, M>(
    conn: &impl ConnectionTrait,
    spec: &ListSpec,
    query: &Query,
    base: Select<E>,
    known: Option<u64>,
) -> Result<List<M>>
where
    E: EntityTrait<Model = M>,
    M: ModelTrait<Entity = E> + FromQueryResult + Send + Sync,
{
    let narrowed = narrowed::<E>(spec, query, base)?;
    let (keys, paging) = page_keys(spec, query, narrowed.clone())?;
    let ordering = ordering::<E>(spec, query)?;
    let rows = in_order(&ordering, E::find().filter(own_key::<E>()?.in_subquery(keys)));
    let mut rows = rows.all(conn).await?;
    let is_last = ends(&mut rows, paging);
    // Behind a cursor there are other rows before this page than its number says.
    let of_page = || if is_last && !query.contains_key("cursor") { counted(&rows, paging) } else { None };
    let total = match known.or_else(of_page) {
        Some(total) => total,
        None => narrowed.count(conn).await?,
    };
    let last = rows.last().filter(|_| !is_last);
    let next_cursor = last.map(|row| cursor::after(row, sort_of(spec, query), paging.page + 1, &ordering));
    Ok(List { next_cursor, ..List::new(rows, total, paging) })
}

/// Whether no page comes after these rows, which are those of a page and the one after them; that one is taken away.
fn ends<M>(rows: &mut Vec<M>, paging: Paging) -> bool {
    let size = usize::try_from(paging.size).unwrap_or(usize::MAX);
    let is_last = rows.len() <= size;
    rows.truncate(size);
    is_last
}

/// How many rows a list has whose last page these are: to count them costs as much as to find them. Beyond its end nothing is
/// known of it.
fn counted<M>(rows: &[M], paging: Paging) -> Option<u64> {
    let is_beyond = rows.is_empty() && paging.page > 1;
    (!is_beyond).then(|| paging.offset() + rows.len() as u64)
}

/// The keys of the rows that are on the page of `narrowed`, and of the one after them: nothing else is read of the rows before.
pub fn page_keys<E: EntityTrait>(
    spec: &ListSpec,
    query: &Query,
    narrowed: Select<E>,
) -> Result<(SelectStatement, Paging)> {
    let ordering = ordering::<E>(spec, query)?;
    let ordered = in_order(&ordering, narrowed);
    let mut paging = paging(query)?;
    let page = match query.get("cursor") {
        None => ordered.offset(paging.offset()),
        Some(_) if query.contains_key("page") => {
            return Err(Error::field("cursor", "says which page is asked for: leave out `page`"));
        }
        Some(text) => {
            let cursor = Cursor::read(text, sort_of(spec, query))?;
            paging.page = cursor.page;
            ordered.filter(cursor.rest::<E>(&ordering)?)
        }
    };
    let keys = page.limit(paging.size + 1).select_only().column(own_key::<E>()?);
    Ok((keys.into_query(), paging))
}

/// All rows of a list in its order, one part after the other.
pub struct Parts<E: EntityTrait> {
    select: Select<E>,
    ordering: Ordering<E>,
    size: u64,
    last: Option<E::Model>,
}

impl<E: EntityTrait> Parts<E> {
    /// Of `size` rows each.
    pub fn new(spec: &ListSpec, query: &Query, base: Select<E>, size: u64) -> Result<Self> {
        // What a page of it would be refused for.
        let (select, _) = selected::<E>(spec, query, base)?;
        Ok(Self { select, ordering: ordering::<E>(spec, query)?, size, last: None })
    }

    /// How many rows there are in all.
    pub async fn count(&self, conn: &impl ConnectionTrait) -> Result<u64>
    where
        E::Model: Send + Sync,
    {
        Ok(self.select.clone().count(conn).await?)
    }

    /// The next part, which begins behind the last row of the one before; nothing at the end.
    pub async fn next(&mut self, conn: &impl ConnectionTrait) -> Result<Vec<E::Model>>
    where
        E::Model: Send + Sync,
    {
        let mut select = self.select.clone().limit(self.size);
        if let Some(last) = &self.last {
            select = select.filter(cursor::behind_row(last, &self.ordering));
        }
        let rows = select.all(conn).await?;
        self.last = rows.last().cloned().or(self.last.take());
        Ok(rows)
    }
}

/// The one column that a row is known by.
fn own_key<E: EntityTrait>() -> Result<E::Column> {
    let mut keys = E::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column);
    match (keys.next(), keys.next()) {
        (Some(key), None) => Ok(key),
        _ => Err(Error::internal(format!("{} has more than one key", E::default().table_name()))),
    }
}
