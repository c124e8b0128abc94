//! Values on their way into `SQLite` and out of it.
//!
//! A row is handed to the ORM as a [`ProxyRow`], which gives a value of another type than the field wants as NULL, without
//! an error. So what the ORM reads has the types of the schema's columns, a value that does not fit its column is an error
//! here, and an expression that does not go by the name of a column is refused: [`crate::db::query`] reads those, with the
//! type that is asked for.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

use chrono::{DateTime, NaiveDateTime, SecondsFormat, Utc};
use rusqlite::Statement as Prepared;
use rusqlite::types::{ToSqlOutput, ValueRef};
use sea_orm::{DbErr, ProxyRow, QueryResult, Statement, Value, sea_query};
use tillkeep_model::Instant;
use uuid::Uuid;

use super::errors::{failed, misfit};
use crate::migration;

/// The columns of the schema.
static KINDS: LazyLock<HashMap<(&str, &str), Kind>> = LazyLock::new(|| {
    let columns = migration::tables().flat_map(|table| table.columns().map(|column| (table.name, column)));
    columns.map(|(table, column)| ((table, column.name), Kind::from_word(column.kind))).collect()
});

/// Expressions that the ORM makes by itself.
const OF_THE_ORM: &[(&str, Kind)] = &[("num_items", Kind::Stored)];

/// A tuple is read from a [`ProxyRow`] in the order of its keys. No tuple has more columns than this.
const LONGEST_TUPLE: usize = 12;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Bool,
    Small,
    Int,
    Big,
    Uuid,
    Time,
    Text,
    /// As it is stored, of whatever type.
    Stored,
}

impl Kind {
    /// The kind of a column, by its word in the steps of the schema.
    fn from_word(word: &str) -> Self {
        match word {
            "uuid" => Self::Uuid,
            "money" | "qty" | "big" => Self::Big,
            "bps" | "ppm" | "int" => Self::Int,
            "small" => Self::Small,
            "bool" => Self::Bool,
            "ts" => Self::Time,
            _ => Self::Text,
        }
    }

    fn read(self, stored: ValueRef<'_>) -> Option<Value> {
        let text = |bytes: &[u8]| str::from_utf8(bytes).ok().map(str::to_owned);
        Some(match (self, stored) {
            // Nullable fields take a null of any type.
            (_, ValueRef::Null) => Value::BigInt(None),
            (Self::Bool, ValueRef::Integer(number)) => (number != 0).into(),
            (Self::Small, ValueRef::Integer(number)) => i16::try_from(number).ok()?.into(),
            (Self::Int, ValueRef::Integer(number)) => i32::try_from(number).ok()?.into(),
            (Self::Big | Self::Stored, ValueRef::Integer(number)) => number.into(),
            (Self::Uuid, ValueRef::Blob(bytes)) => Uuid::from_slice(bytes).ok()?.into(),
            (Self::Time, ValueRef::Text(bytes)) => time(str::from_utf8(bytes).ok()?)?.into(),
            (Self::Text | Self::Stored, ValueRef::Text(bytes)) => text(bytes)?.into(),
            (Self::Stored, ValueRef::Blob(bytes)) => bytes.to_vec().into(),
            (Self::Stored, ValueRef::Real(number)) => number.into(),
            _ => return None,
        })
    }

    /// As [`Kind::read`], for a field that takes nothing but its own type: a null is one of this kind, and a time is what an
    /// [`Instant`] is.
    fn read_exactly(self, stored: ValueRef<'_>) -> Option<Value> {
        if stored != ValueRef::Null {
            return match self.read(stored)? {
                Value::ChronoDateTimeUtc(Some(time)) => Instant::within_reach(time).map(Value::from),
                value => Some(value),
            };
        }
        Some(match self {
            Self::Bool => Value::Bool(None),
            Self::Small => Value::SmallInt(None),
            Self::Int => Value::Int(None),
            Self::Big => Value::BigInt(None),
            Self::Uuid => Value::Uuid(None),
            Self::Time => Value::ChronoDateTimeUtc(None),
            Self::Text => Value::String(None),
            Self::Stored => return None,
        })
    }
}

/// A time as this program writes it, or as `SQLite`'s own functions do.
fn time(text: &str) -> Option<DateTime<Utc>> {
    let own = DateTime::parse_from_rfc3339(text).map(|time| time.with_timezone(&Utc));
    own.or_else(|_| NaiveDateTime::parse_from_str(text, "%F %T%.f").map(|time| time.and_utc())).ok()
}

/// The value of type `T` that `stored`, of a row that was read as it is stored, stands for.
pub(crate) fn stored_as<T: sea_query::ValueType>(stored: Value) -> Option<T> {
    let candidates: Vec<Value> = match &stored {
        Value::BigInt(Some(number)) => {
            let int = i32::try_from(*number).ok().map(Value::from);
            let small = i16::try_from(*number).ok().map(Value::from);
            let bool = (*number == 0 || *number == 1).then(|| Value::from(*number == 1));
            [int, small, bool].into_iter().flatten().collect()
        }
        Value::String(Some(text)) => time(text).map(Value::from).into_iter().collect(),
        Value::Bytes(Some(bytes)) => Uuid::from_slice(bytes).map(Value::from).into_iter().collect(),
        Value::BigInt(None) => vec![
            Value::String(None),
            Value::Uuid(None),
            Value::ChronoDateTimeUtc(None),
            Value::Int(None),
            Value::Bool(None),
            Value::SmallInt(None),
            Value::Bytes(None),
        ],
        _ => Vec::new(),
    };
    std::iter::once(stored).chain(candidates).find_map(|value| <T as sea_query::ValueType>::try_from(value).ok())
}

/// Bytes of a text, and values of a statement, that is kept for a next time. Longer ones differ by their numbers of rows, and
/// hundreds of them would fill the memory; a list of 2 048 values, and what stands before it, is one of few.
const LONGEST_TEXT: usize = 16_000;
const MOST_VALUES: usize = 2_100;

/// Whether what is prepared of `sql` is kept for a next time.
pub(super) fn is_kept(prepared: &Prepared<'_>, sql: &str) -> bool {
    sql.len() <= LONGEST_TEXT && prepared.parameter_count() <= MOST_VALUES
}

/// What a statement's rows are read with.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Reading {
    /// By the types of the columns.
    Typed,
    /// As they are stored.
    Stored,
}

/// The columns of a statement's rows, in their order.
pub(super) struct Shape(Vec<Column>);

struct Column {
    name: String,
    kind: Kind,
    /// Its name among the fields of a tuple, where there can be one.
    numbered: Option<String>,
}

/// The name by which the column with this number is read, from 0: a tuple's are read in the order of their names.
pub(crate) fn numbered(at: usize) -> String {
    format!("\0{at:02}")
}

/// A column that holds something else than it should.
#[derive(Clone, Debug)]
struct Misfit {
    column: String,
    found: &'static str,
}

impl Misfit {
    fn error(&self) -> DbErr {
        misfit(&self.column, format!("{} does not fit its type", self.found))
    }
}

impl Shape {
    pub(super) fn new(prepared: &Prepared<'_>, sql: &str, reading: Reading) -> Result<Self, DbErr> {
        let only = main_table(sql);
        let described = prepared.columns_with_metadata();
        let tuple = described.len() <= LONGEST_TUPLE;
        let columns = described.iter().enumerate().map(|(at, described)| {
            let name = described.name();
            let kind = match reading {
                Reading::Stored => Kind::Stored,
                Reading::Typed => {
                    let table = described.table_name().or(only).unwrap_or_default();
                    let column = described.origin_name().unwrap_or(name);
                    let of_the_orm = || OF_THE_ORM.iter().find(|(of, _)| *of == name).map(|(_, kind)| *kind);
                    KINDS.get(&(table, column)).copied().or_else(of_the_orm).ok_or_else(|| {
                        DbErr::Type(format!("the type of {name} is not known; read it by db::query, in {sql}"))
                    })?
                }
            };
            Ok(Column { name: name.to_owned(), kind, numbered: tuple.then(|| numbered(at)) })
        });
        columns.collect::<Result<_, DbErr>>().map(Self)
    }

    /// One row, and the first of its columns that does not fit, which is null in it.
    fn row(&self, row: &rusqlite::Row<'_>) -> Result<(QueryResult, Option<Misfit>), DbErr> {
        let mut wrong = None;
        let mut values = BTreeMap::new();
        for (at, column) in self.0.iter().enumerate() {
            let stored = row.get_ref(at).map_err(failed)?;
            let value = column.kind.read(stored).unwrap_or_else(|| {
                wrong.get_or_insert(Misfit { column: column.name.clone(), found: name_of(stored) });
                Value::BigInt(None)
            });
            if let Some(number) = &column.numbered {
                values.insert(number.clone(), value.clone());
            }
            values.insert(column.name.clone(), value);
        }
        Ok((ProxyRow::new(values).into(), wrong))
    }
}

/// A row where it was found, of which nothing is read yet.
pub(crate) struct Found<'row> {
    shape: &'row Shape,
    row: &'row rusqlite::Row<'row>,
}

impl<'row> Found<'row> {
    pub(super) const fn new(shape: &'row Shape, row: &'row rusqlite::Row<'row>) -> Self {
        Self { shape, row }
    }

    /// The names of its columns, in their order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.shape.0.iter().map(|column| column.name.as_str())
    }

    /// The value of the column with this number, from 0; none when it does not fit its column.
    pub(crate) fn value(&self, at: usize) -> Option<Value> {
        self.shape.0.get(at)?.kind.read_exactly(self.row.get_ref(at).ok()?)
    }

    /// All of it, to be read by names, with what does not fit.
    pub(crate) fn whole(&self) -> Result<(QueryResult, Option<DbErr>), DbErr> {
        let (row, misfit) = self.shape.row(self.row)?;
        Ok((row, misfit.as_ref().map(Misfit::error)))
    }
}

fn name_of(stored: ValueRef<'_>) -> &'static str {
    match stored {
        ValueRef::Null => "nothing",
        ValueRef::Integer(_) => "a number",
        ValueRef::Real(_) => "a fraction",
        ValueRef::Text(bytes) if str::from_utf8(bytes).is_err() => "a text that is not UTF-8",
        ValueRef::Text(_) => "a text",
        ValueRef::Blob(_) => "bytes",
    }
}

/// The table that a statement is about: columns of RETURNING and expressions do not say it.
fn main_table(sql: &str) -> Option<&str> {
    let mut words = sql.split([' ', '\n', '"', '(']).filter(|word| !word.is_empty());
    let before = match words.next()? {
        "UPDATE" => return words.next(),
        "INSERT" => "INTO",
        _ => "FROM",
    };
    words.skip_while(|word| *word != before).nth(1)
}

/// Binds by number, as the other database has it: [`super::places::counted`] has made the places so.
pub(super) fn bind(prepared: &mut Prepared<'_>, statement: &Statement) -> Result<(), DbErr> {
    let values: &[Value] = statement.values.as_ref().map_or(&[], |values| &values.0);
    for number in 1..=prepared.parameter_count() {
        let value = values
            .get(number - 1)
            .ok_or_else(|| DbErr::Type(format!("no value for parameter {number} of {}", statement.sql)))?;
        let text;
        let bound = match value {
            Value::Bool(Some(value)) => ValueRef::Integer((*value).into()),
            Value::SmallInt(Some(value)) => ValueRef::Integer((*value).into()),
            Value::Int(Some(value)) => ValueRef::Integer((*value).into()),
            Value::BigInt(Some(value)) => ValueRef::Integer(*value),
            Value::BigUnsigned(Some(value)) => ValueRef::Integer(i64::try_from(*value).unwrap_or(i64::MAX)),
            Value::String(Some(value)) => ValueRef::Text(value.as_bytes()),
            Value::Bytes(Some(value)) => ValueRef::Blob(value),
            Value::Uuid(Some(value)) => ValueRef::Blob(value.as_bytes()),
            Value::ChronoDateTimeUtc(Some(value)) => {
                // Times are compared as texts: all of them have this form.
                text = value.to_rfc3339_opts(SecondsFormat::AutoSi, false);
                ValueRef::Text(text.as_bytes())
            }
            value if *value == value.as_null() => ValueRef::Null,
            value => return Err(DbErr::Type(format!("a value of this type cannot be bound: {value:?}"))),
        };
        prepared.raw_bind_parameter(number, ToSqlOutput::Borrowed(bound)).map_err(failed)?;
    }
    Ok(())
}

/// Shapes by the text of the statement; forgotten together when there are too many.
#[derive(Default)]
pub(super) struct Shapes(HashMap<Reading, HashMap<String, Arc<Shape>>>);

impl Shapes {
    const MOST: usize = 600;

    pub(super) fn get(&mut self, prepared: &Prepared<'_>, sql: &str, reading: Reading) -> Result<Arc<Shape>, DbErr> {
        let known = self.0.entry(reading).or_default();
        if let Some(shape) = known.get(sql) {
            return Ok(shape.clone());
        }
        let shape = Arc::new(Shape::new(prepared, sql, reading)?);
        if known.len() >= Self::MOST {
            known.clear();
        }
        if is_kept(prepared, sql) {
            known.insert(sql.to_owned(), shape.clone());
        }
        Ok(shape)
    }
}
