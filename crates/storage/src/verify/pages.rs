//! Reading what grows without end: so many rows at once, each page behind the last row of the one before. What the checker holds
//! does not grow with what it checks.

use sea_orm::{DbErr, Value};
use uuid::Uuid;

use super::source::Source;
use crate::db::{Row as Read, placeholders, query};
use crate::many::find_in;
use crate::rows::{Row, SyncTable};

/// How many rows of a few columns weigh as much as a document with its lines.
const OF_A_DOCUMENT: usize = 4;

/// Whole documents that a statement reads at once.
pub(super) fn documents(source: &Source) -> usize {
    source.rows.div_ceil(OF_A_DOCUMENT)
}

pub(super) fn as_limit(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}

/// The rows of a statement of own text, by a key that no two of them share.
pub(super) struct Pages<'a> {
    source: &'a Source,
    sql: String,
    values: Vec<Value>,
    /// What stands for `IN ($list)`.
    list: Option<Vec<Value>>,
    /// The columns of the key in the rows, and the last of each.
    key: Vec<(&'static str, Value)>,
    is_over: bool,
}

impl<'a> Pages<'a> {
    /// `sql` says `$behind` where the condition on the place belongs, and neither order nor limit; `values` are its `$1`, `$2`, …
    /// Its rows have the columns of `key`, each with a value that lies before all of them.
    pub(super) fn new(
        source: &'a Source,
        sql: &str,
        values: impl IntoIterator<Item = Value>,
        key: &[(&'static str, Value)],
    ) -> Self {
        let values: Vec<Value> = values.into_iter().collect();
        let columns = key.iter().map(|(column, _)| *column).collect::<Vec<_>>().join(", ");
        let places = placeholders(values.len() + 1, key.len());
        // Compared as one: of conditions on each, only the first would be looked up in an index.
        let sql = sql.replace("$behind", &format!("({columns}) > ({places})"));
        let sql = format!("{sql} ORDER BY {columns} LIMIT {}", source.rows);
        Self { source, sql, values, list: None, key: key.to_vec(), is_over: false }
    }

    /// By the column `id`.
    pub(super) fn by_id(source: &'a Source, sql: &str, values: impl IntoIterator<Item = Value>) -> Self {
        Self::new(source, sql, values, &[("id", Uuid::nil().into())])
    }

    /// By the number of an entry, `seq`.
    pub(super) fn by_seq(source: &'a Source, sql: &str, values: impl IntoIterator<Item = Value>) -> Self {
        Self::new(source, sql, values, &[("seq", i64::MIN.into())])
    }

    /// Of a statement that says `IN ($list)`: a page of ids, so that one statement takes all of them.
    pub(super) fn of<T: Into<Value>>(mut self, list: impl IntoIterator<Item = T>) -> Self {
        self.list = Some(list.into_iter().map(Into::into).collect());
        self
    }

    /// The next rows, until there is none.
    pub(super) async fn page(&mut self) -> Result<Option<Vec<Read>>, DbErr> {
        if self.is_over {
            return Ok(None);
        }
        let conn = &self.source.conn;
        let mut values = self.values.clone();
        values.extend(self.key.iter().map(|(_, last)| last.clone()));
        let rows = match &self.list {
            Some(list) => find_in(conn, &self.sql, &values, list.iter().cloned()).await?,
            None => query(conn, &self.sql, values).await?,
        };
        self.is_over = rows.len() < self.source.rows;
        let Some(last) = rows.last() else { return Ok(None) };
        for (column, value) in &mut self.key {
            let name = column.rsplit_once('.').map_or(*column, |(_, name)| name);
            *value = same_kind(value, last, name)?;
        }
        Ok(Some(rows))
    }
}

/// What `row` has in `column`, of the type of `value`.
fn same_kind(value: &Value, row: &Read, column: &str) -> Result<Value, DbErr> {
    Ok(match value {
        Value::Uuid(_) => row.try_get::<Uuid>("", column)?.into(),
        Value::BigInt(_) => row.try_get::<i64>("", column)?.into(),
        Value::Int(_) => row.try_get::<i32>("", column)?.into(),
        _ => row.try_get::<String>("", column)?.into(),
    })
}

/// The key of a row, which consists of ids.
pub(super) type Key = Vec<Uuid>;

fn key_of(row: &dyn Row, columns: &[&str]) -> Key {
    columns.iter().filter_map(|column| row.uuid(column)).collect()
}

/// Which rows of a table are read whole: by `key`, those that have a store in one of the `filter` columns.
#[derive(Clone, Copy)]
pub(super) struct Which<'a> {
    pub table: &'a dyn SyncTable,
    pub key: &'a [&'a str],
    pub filter: &'a [&'a str],
    pub store: Uuid,
}

impl Which<'_> {
    async fn behind(&self, source: &Source, after: &[Uuid]) -> Result<Vec<Box<dyn Row>>, DbErr> {
        let limit = as_limit(documents(source));
        let rows = self.table.behind(&source.conn, self.key, after, limit, (self.filter, self.store)).await?;
        Ok(rows.into_iter().collect::<Result<_, _>>()?)
    }

    /// The last key of a page behind which there is more.
    fn end(&self, source: &Source, rows: &[Box<dyn Row>]) -> Option<Key> {
        let last = rows.last().filter(|_| rows.len() >= documents(source))?;
        Some(key_of(&**last, self.key))
    }
}

/// Whole rows of one database.
pub(super) struct Whole<'a> {
    source: &'a Source,
    which: Which<'a>,
    after: Option<Key>,
}

impl<'a> Whole<'a> {
    pub(super) fn new(source: &'a Source, which: Which<'a>) -> Self {
        Self { source, which, after: Some(first(which)) }
    }

    /// The next rows, until there is none.
    pub(super) async fn page(&mut self) -> Result<Option<Vec<Box<dyn Row>>>, DbErr> {
        let Some(after) = self.after.take() else { return Ok(None) };
        let rows = self.which.behind(self.source, &after).await?;
        self.after = self.which.end(self.source, &rows);
        Ok(Some(rows).filter(|rows| !rows.is_empty()))
    }
}

/// Whole rows of two databases, merged by one key: what has a key that lies in a page is there on both sides.
pub(super) struct Merged<'a> {
    sides: [(&'a Source, Which<'a>); 2],
    after: Option<Key>,
}

impl<'a> Merged<'a> {
    /// Both sides have the same key.
    pub(super) fn new(one: (&'a Source, Which<'a>), other: (&'a Source, Which<'a>)) -> Self {
        Self { sides: [one, other], after: Some(first(one.1)) }
    }

    /// The next rows of either side, until there is none.
    pub(super) async fn page(&mut self) -> Result<Option<[Vec<Box<dyn Row>>; 2]>, DbErr> {
        let Some(after) = self.after.take() else { return Ok(None) };
        let [(one, of_one), (other, of_other)] = &self.sides;
        let mut pages = [of_one.behind(one, &after).await?, of_other.behind(other, &after).await?];
        let ends = [of_one.end(one, &pages[0]), of_other.end(other, &pages[1])];
        // What lies behind the earlier of the two ends is read again with what the other side has there.
        if let Some(end) = ends.into_iter().flatten().min() {
            for rows in &mut pages {
                rows.retain(|row| key_of(&**row, of_one.key) <= end);
            }
            self.after = Some(end);
        }
        Ok(Some(pages).filter(|pages| pages.iter().any(|rows| !rows.is_empty())))
    }
}

/// What lies before every key.
fn first(which: Which<'_>) -> Key {
    vec![Uuid::nil(); which.key.len()]
}
