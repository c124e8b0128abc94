//! The rule book of what people write: each field of a customer, a product, a store … with its limits, its default and
//! who may write it. Both servers, the push, the description and the pages read it.
//!
//! What concerns several fields at once, or other rows, stays in the room of its kind. How to add a field:
//! `CONTRIBUTING.md`.

pub mod adjustment;
pub mod customer;
pub mod department;
pub mod order;
pub mod product;
pub mod register;
mod rule;
pub mod sale;
pub mod session;
pub mod shape;
pub mod store;
pub mod store_price;
pub mod tax;
pub mod tender;
pub mod transfer;
pub mod user;

use sea_orm::Value as Stored;
use serde_json::{Map, Value as Json};

use crate::Instant;
pub use rule::{Rule, Value};
pub use shape::Shape;

/// The largest amount (in minor units) or quantity (in thousandths) that may be entered: far above any shop, and far
/// from what a sum of many could overflow.
pub const LARGEST: i64 = 1_000_000_000_000;

/// A server at which a row is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Hq,
    Store,
}

/// Who writes a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// People at headquarters and at any store.
    Anyone,
    /// People at headquarters.
    Hq,
    /// People at a store.
    Store,
    /// No person: the server that makes the row, once.
    Maker,
}

/// What a new row has in a field that nobody sent.
#[derive(Clone, Copy, Debug)]
pub enum Initial {
    /// The default of its column: nothing, `false`, 0, an empty list.
    Empty,
    Flag(bool),
    Number(i64),
    Text(&'static str),
    /// It follows from what was sent.
    Follows(fn(&Map<String, Json>) -> Json),
}

/// One field of a kind of row.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// As it travels, in camelCase.
    pub name: &'static str,
    pub rule: Rule,
    /// A new row must have it.
    pub required: bool,
    /// It stays as the new row has it.
    pub fixed: bool,
    pub initial: Initial,
    pub by: By,
    /// Nothing obeys it yet: forms do not offer it.
    pub not_in_use: bool,
}

impl Field {
    /// A field that people at headquarters write.
    pub const fn new(name: &'static str, rule: Rule) -> Self {
        Self { name, rule, required: false, fixed: false, initial: Initial::Empty, by: By::Hq, not_in_use: false }
    }

    #[must_use]
    pub const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    #[must_use]
    pub const fn fixed(self) -> Self {
        Self { fixed: true, ..self }
    }

    #[must_use]
    pub const fn by(self, by: By) -> Self {
        Self { by, ..self }
    }

    #[must_use]
    pub const fn initially(self, initial: Initial) -> Self {
        Self { initial, ..self }
    }

    #[must_use]
    pub const fn not_in_use(self) -> Self {
        Self { not_in_use: true, ..self }
    }

    /// Whether people at `side` write it.
    pub const fn is_writable(&self, side: Side) -> bool {
        matches!((self.by, side), (By::Anyone, _) | (By::Hq, Side::Hq) | (By::Store, Side::Store))
    }

    /// Whether headquarters takes it from a store that pushes the row, which is new there or not.
    pub const fn is_pushed(&self, new: bool) -> bool {
        match self.by {
            By::Anyone | By::Store => new || !self.fixed,
            By::Maker => new,
            By::Hq => false,
        }
    }

    /// Whether `column` holds it: the same name in either spelling.
    pub fn is(&self, column: &str) -> bool {
        fn letters(name: &str) -> impl Iterator<Item = u8> {
            name.bytes().filter(|byte| *byte != b'_').map(|byte| byte.to_ascii_lowercase())
        }
        letters(self.name).eq(letters(column))
    }
}

/// A text of at most `max` characters.
pub const fn text(name: &'static str, max: usize) -> Field {
    Field::new(name, Rule::Text { min: 0, max, shape: None })
}

/// A text that says something, of at most `max` characters.
pub const fn label(name: &'static str, max: usize) -> Field {
    Field::new(name, Rule::Text { min: 1, max, shape: None })
}

/// A text of a certain form.
pub const fn shaped(name: &'static str, max: usize, shape: &'static Shape) -> Field {
    Field::new(name, Rule::Text { min: 1, max, shape: Some(shape) })
}

/// A telephone number, as people write it.
pub const fn phone(name: &'static str) -> Field {
    text(name, 50)
}

/// A mail address.
pub const fn email(name: &'static str) -> Field {
    Field::new(name, Rule::Text { min: 0, max: 200, shape: Some(&shape::EMAIL) })
}

/// A country of ISO 3166-1.
pub const fn country(name: &'static str) -> Field {
    shaped(name, 2, &shape::COUNTRY)
}

/// JSON of at most `max` bytes, which nobody looks into.
pub const fn json(name: &'static str, max: usize) -> Field {
    Field::new(name, Rule::Json { max })
}

/// One of some words.
pub const fn word(name: &'static str, words: &'static [&'static str]) -> Field {
    Field::new(name, Rule::Word(words))
}

/// True or false.
pub const fn flag(name: &'static str) -> Field {
    Field::new(name, Rule::Flag)
}

/// A flag that is true unless somebody says otherwise.
pub const fn flag_on(name: &'static str) -> Field {
    flag(name).initially(Initial::Flag(true))
}

/// A whole number within `min` and `max`.
pub const fn whole(name: &'static str, min: i64, max: i64) -> Field {
    Field::new(name, Rule::Whole { min, max })
}

/// Any whole number that its column holds.
pub const fn any_i32(name: &'static str) -> Field {
    const MOST: i64 = (1 << 31) - 1;
    whole(name, -MOST - 1, MOST)
}

/// Minor units of a currency, not below zero.
pub const fn money(name: &'static str) -> Field {
    whole(name, 0, LARGEST)
}

/// Basis points of a whole: 0 to 100 %.
pub const fn share(name: &'static str) -> Field {
    whole(name, 0, 10_000)
}

/// A quantity of goods, not below zero.
pub const fn quantity(name: &'static str) -> Field {
    Field::new(name, Rule::Quantity { min: 0, max: LARGEST })
}

/// The id of another row.
pub const fn id(name: &'static str) -> Field {
    Field::new(name, Rule::Id)
}

/// Every book.
pub static BOOKS: [&Book; 13] = [
    &adjustment::BOOK,
    &customer::BOOK,
    &department::BOOK,
    &product::BOOK,
    &register::BOOK,
    &store::BOOK,
    &store_price::BOOK,
    &tax::RATE,
    &tax::GROUP,
    &tax::GROUP_RATE,
    &tender::BOOK,
    &user::BOOK,
    &user::ROLE,
];

/// What is wrong with a field, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub field: String,
    pub message: String,
}

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

    /// The field called `name`, or held by the column of that name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.is(name))
    }

    /// What people at `side` write.
    pub fn writable(&self, side: Side) -> impl Iterator<Item = &'static Field> + use<> {
        self.fields.iter().filter(move |field| field.is_writable(side))
    }

    /// A new row as far as nobody sent anything else.
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

impl Field {
    /// What is wrong with this value; a field of a list within the value is named by its place.
    pub fn problems(&self, value: Value, now: Instant) -> Vec<Problem> {
        let found = self.rule.problems(value, now);
        let named = |(place, message): (String, String)| Problem { field: format!("{}{place}", self.name), message };
        found.into_iter().map(named).collect()
    }
}

#[cfg(test)]
mod tests;
