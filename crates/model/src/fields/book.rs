//! The fields of one kind of row.

use sea_orm::Value as Stored;
use serde_json::{Map, Value as Json};

use super::field::{Field, Initial, Side};
use super::problem::Problem;
use crate::Instant;

/// The fields of one kind of row.
#[derive(Debug)]
pub struct Book {
    /// Its table.
    pub table: &'static str,
    pub fields: &'static [Field],
    /// The columns that are the servers' own: no person writes them, and no rule of the book holds for them.
    pub server: &'static [&'static str],
}

impl Book {
    /// How much room the texts and lists of a document take. Programs write it, not people: its other columns have no rule
    /// here.
    pub const fn of_document(table: &'static str, fields: &'static [Field]) -> Self {
        Self { table, fields, server: &[] }
    }

    pub const fn is_of_document(&self) -> bool {
        self.server.is_empty()
    }

    /// The field called `name`, or held by the column of that name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.is(name))
    }

    /// What people at `side` write.
    pub fn writable(&self, side: Side) -> impl Iterator<Item = &'static Field> + use<> {
        self.fields.iter().filter(move |field| field.is_writable(side))
    }

    /// A new row as far as nothing else was sent.
    pub fn initial(&self, sent: &Map<String, Json>) -> Map<String, Json> {
        let value = |field: &Field| match field.initial {
            Initial::Empty => None,
            Initial::Flag(flag) => Some(flag.into()),
            Initial::Number(number) => Some(number.into()),
            Initial::Text(text) => Some(text.into()),
            Initial::Follows(follow) => Some(follow(sent)),
        };
        self.fields.iter().filter_map(|field| Some((field.name.to_owned(), value(field)?))).collect()
    }

    /// Everything that is wrong with a row, of which `value` says what it has of a field, and `None` of what is not to
    /// be checked.
    pub fn problems(&self, value: impl Fn(&Field) -> Option<Stored>, now: Instant) -> Vec<Problem> {
        let mut problems = Vec::new();
        for field in self.fields {
            if let Some(value) = value(field) {
                problems.extend(field.problems((&value).into(), now));
            }
        }
        problems
    }
}
