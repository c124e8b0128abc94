//! Tables as text, and what they become: columns and indexes of either server.
//!
//! A column is `name type`, with `!` for a part of the primary key, `?` for nullable, `=value` for a default, `>table`
//! for a reference that HQ enforces and `>>table` for one that both servers enforce (a child and its own parent).

use crate::Side;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    Both,
    Hq,
    Store,
}

impl On {
    pub fn has(self, side: Side) -> bool {
        match self {
            Self::Both => true,
            Self::Hq => side == Side::Hq,
            Self::Store => side == Side::Store,
        }
    }
}

/// A table as a step makes it.
#[derive(Clone, Copy, Debug)]
pub struct NewTable {
    pub name: &'static str,
    pub on: On,
    pub columns: &'static str,
    /// See [`Key::Natural`].
    pub natural_keys: &'static [&'static str],
    /// See [`Key::Conflict`].
    pub conflict_keys: &'static [&'static str],
    /// See [`Key::Plain`].
    pub indexes: &'static [&'static str],
    /// Rows are added and never changed or deleted.
    pub append_only: bool,
}

impl NewTable {
    pub const EMPTY: Self = Self {
        name: "",
        on: On::Both,
        columns: "",
        natural_keys: &[],
        conflict_keys: &[],
        indexes: &[],
        append_only: false,
    };
}

/// What an index is for. Columns are separated by `, `.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Unique at HQ among rows that are not deleted, a plain index at a store, where rows arrive one at a time. A last
    /// part with `?` may be null and then counts as a value of its own; `*` says the table has no deleted rows.
    Natural(&'static str),
    /// Unique everywhere: what an upsert names as its conflict.
    Conflict(&'static str),
    /// Columns, and ` WHERE …` for an index of some rows only.
    Plain(&'static str),
    /// The same at headquarters alone, where people page through the rows of all stores. A column with `?` may be null: rows without
    /// a value come first, as lists have them.
    Lists(&'static str),
    /// The same at stores alone.
    AtStores(&'static str),
}

/// A table as the steps so far leave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub name: &'static str,
    pub on: On,
    pub append_only: bool,
    pub(crate) columns: Vec<Column>,
    pub(crate) indexes: Vec<Index>,
}

/// One column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: &'static str,
    pub nullable: bool,
    pub key: bool,
    pub default: Option<&'static str>,
    pub references: Option<&'static str>,
    pub references_everywhere: bool,
}

/// One index of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    pub name: String,
    pub on: On,
    pub unique: bool,
    pub columns: Vec<&'static str>,
    /// Of these, those whose nulls come first: `SQLite` has it so, `PostgreSQL` would put them last.
    pub nulls_first: Vec<&'static str>,
    /// The rows that are in it; all of them when there is none.
    pub filter: Option<String>,
}

impl Table {
    pub fn is_on(&self, side: Side) -> bool {
        self.on.has(side)
    }

    pub fn columns(&self) -> impl Iterator<Item = Column> {
        self.columns.iter().copied()
    }

    /// The columns of the primary key.
    pub fn key(&self) -> impl Iterator<Item = &'static str> {
        self.columns().filter(|column| column.key).map(|column| column.name)
    }

    /// The indexes at one of the servers.
    pub fn indexes(&self, side: Side) -> impl Iterator<Item = &Index> {
        self.indexes.iter().filter(move |index| index.on.has(side))
    }
}

impl From<&NewTable> for Table {
    fn from(new: &NewTable) -> Self {
        let columns: Vec<Column> = columns(new.columns).collect();
        let mut keys = Vec::new();
        if columns.iter().any(|column| column.name == "sync_version") {
            if columns.iter().any(|column| column.name == "store_id" && !column.nullable) {
                keys.push(Key::Plain("store_id, sync_version"));
            }
            keys.push(Key::Plain("sync_version"));
        }
        keys.extend(new.conflict_keys.iter().copied().map(Key::Conflict));
        keys.extend(new.natural_keys.iter().copied().map(Key::Natural));
        keys.extend(new.indexes.iter().copied().map(Key::Plain));
        let indexes = keys.into_iter().flat_map(|key| key.indexes(new.name)).collect();
        Self { name: new.name, on: new.on, append_only: new.append_only, columns, indexes }
    }
}

/// The columns that `text` names.
pub(crate) fn columns(text: &'static str) -> impl Iterator<Item = Column> {
    text.split(',').map(|text| {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let word = words.next().unwrap_or_default();
        let (kind, default) = word.split_once('=').map_or((word, None), |(kind, default)| (kind, Some(default)));
        let reference = words.next();
        Column {
            name,
            kind: kind.trim_end_matches(['!', '?']),
            nullable: kind.ends_with('?'),
            key: kind.ends_with('!'),
            default,
            references: reference.map(|text| text.trim_start_matches('>')),
            references_everywhere: reference.is_some_and(|text| text.starts_with(">>")),
        }
    })
}

/// Letters of a name at the most: `PostgreSQL` cuts longer ones.
const LONGEST_NAME: usize = 63;

/// After its columns, as many as a name has room for.
fn named(table: &str, columns: &[&str]) -> String {
    let mut name = format!("ix_{table}");
    for column in columns {
        if name.len() + 1 + column.len() > LONGEST_NAME {
            break;
        }
        name.push('_');
        name.push_str(column);
    }
    name
}

impl Key {
    /// What this key is as indexes of `table`, which are named after their columns, so that adding or dropping one
    /// renames no other.
    pub(super) fn indexes(self, table: &str) -> Vec<Index> {
        let index = |on: On, unique: bool, columns: &'static str, filter: Option<String>| {
            let may_be_null = |name: &'static str| name.strip_suffix('?').filter(|_| matches!(self, Self::Lists(_)));
            let nulls_first = columns.split(", ").filter_map(may_be_null).collect();
            let columns: Vec<_> = columns.split(", ").map(|name| name.trim_end_matches(['?', '*'])).collect();
            Index { name: named(table, &columns), on, unique, columns, nulls_first, filter }
        };
        match self {
            Self::Plain(text) | Self::Lists(text) | Self::AtStores(text) => {
                let (columns, filter) = text.split_once(" WHERE ").map_or((text, None), |(a, b)| (a, Some(b)));
                let on = match self {
                    Self::Lists(_) => On::Hq,
                    Self::AtStores(_) => On::Store,
                    _ => On::Both,
                };
                vec![index(on, false, columns, filter.map(str::to_owned))]
            }
            Self::Conflict(columns) => vec![index(On::Both, true, columns, None)],
            Self::Natural(columns) => {
                let alive = (!columns.ends_with('*')).then_some("deleted_at IS NULL");
                let rows = |more: Option<String>| {
                    let parts: Vec<String> = alive.map(str::to_owned).into_iter().chain(more).collect();
                    (!parts.is_empty()).then(|| parts.join(" AND "))
                };
                let mut all = vec![index(On::Store, false, columns, None)];
                match columns.rsplit_once(", ").and_then(|(rest, last)| Some((rest, last.strip_suffix('?')?))) {
                    None => all.push(index(On::Hq, true, columns, rows(None))),
                    // A null is never equal to a null, so "everywhere" needs an index of its own.
                    Some((rest, last)) => {
                        all.push(index(On::Hq, true, columns, rows(Some(format!("{last} IS NOT NULL")))));
                        all.push(index(On::Hq, true, rest, rows(Some(format!("{last} IS NULL")))));
                    }
                }
                all
            }
        }
    }
}
