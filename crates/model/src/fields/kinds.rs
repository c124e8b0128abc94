//! The kinds of fields that books are written with.

use super::field::{Field, Initial, Rule};
use super::shape::{self, Shape};

/// The largest amount (in minor units) or quantity (in thousandths) that may be entered: far above any shop, and far
/// from what a sum of many could overflow.
pub const LARGEST: i64 = 1_000_000_000_000;

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

/// JSON of at most `max` bytes, which is not looked into.
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

/// A flag that is true unless the caller says otherwise.
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

/// Minor units of a currency, of either sign.
pub const fn amount(name: &'static str) -> Field {
    whole(name, -LARGEST, LARGEST)
}

/// A change of a quantity, or a level, of either sign.
pub const fn change(name: &'static str) -> Field {
    Field::new(name, Rule::Quantity { min: -LARGEST, max: LARGEST })
}

/// Something happened then.
pub const fn instant(name: &'static str) -> Field {
    Field::new(name, Rule::Instant)
}

/// One object with these fields.
pub const fn object(name: &'static str, fields: &'static [Field]) -> Field {
    Field::new(name, Rule::Object { fields })
}

/// `least` to `most` entries with these fields.
pub const fn objects(name: &'static str, (least, most): (usize, usize), fields: &'static [Field]) -> Field {
    Field::new(name, Rule::Objects { least, most, fields })
}
