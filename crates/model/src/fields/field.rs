//! A field that people write: what its values must be, its default and who writes it.

use serde_json::{Map, Value as Json};

use super::shape::Shape;

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

/// What a new row has in a field that was not sent.
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
    /// How a request that comes again is held against the row that it made.
    pub kept: ColumnValue,
}

/// What a row has in the column of a field that a request says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnValue {
    /// What was sent.
    AsSent,
    /// What was sent; something else when nothing was.
    IfSent,
    /// What the handler made of it, or it is no column: the handler compares it, or it is not compared.
    Otherwise,
}

impl Field {
    /// A field that people at headquarters write.
    pub const fn new(name: &'static str, rule: Rule) -> Self {
        Self {
            name,
            rule,
            required: false,
            fixed: false,
            initial: Initial::Empty,
            by: By::Hq,
            not_in_use: false,
            kept: ColumnValue::AsSent,
        }
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

    #[must_use]
    pub const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    #[must_use]
    pub const fn kept(self, kept: ColumnValue) -> Self {
        Self { kept, ..self }
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

/// What the values of a field must be. A field that is null has no rule to keep.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// `min` to `max` characters; from 1 on some that are no space. An empty text has no shape to keep where it may be
    /// empty.
    Text {
        min: usize,
        max: usize,
        shape: Option<&'static Shape>,
    },
    Word(&'static [&'static str]),
    Flag,
    /// A whole number; amounts in minor units, rates in their own.
    Whole {
        min: i64,
        max: i64,
    },
    /// A quantity, in thousandths.
    Quantity {
        min: i64,
        max: i64,
    },
    Id,
    Instant,
    /// Any JSON, of at most `max` bytes.
    Json {
        max: usize,
    },
    /// A JSON list of at most `most` texts.
    Texts {
        most: usize,
        each: &'static Self,
    },
    /// A JSON list of `least` to `most` objects with these fields.
    Objects {
        least: usize,
        most: usize,
        fields: &'static [Field],
    },
    /// One JSON object with these fields.
    Object {
        fields: &'static [Field],
    },
}

impl Rule {
    /// The characters of a text at the most.
    pub const fn max_chars(&self) -> Option<usize> {
        if let Self::Text { max, .. } = self { Some(*max) } else { None }
    }
}
