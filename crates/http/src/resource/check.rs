//! What is wrong with a request, all of it at once.

use tillkeep_model::Instant;
use tillkeep_model::fields::{self, Book, Problem};

use crate::error::{Error, FieldError, Result};

/// Collects what is wrong with a row, so that all of it is said at once.
#[derive(Default)]
pub struct Check(Vec<FieldError>);

impl Check {
    /// `ok` or this message for `field`.
    pub fn that(&mut self, ok: bool, field: &str, message: &str) -> &mut Self {
        if !ok {
            self.0.push(FieldError { field: field.to_owned(), message: message.to_owned() });
        }
        self
    }

    /// A text that must have 1 to `max` characters.
    pub fn text(&mut self, value: &str, field: &str, max: usize) -> &mut Self {
        let fits = !value.trim().is_empty() && value.chars().count() <= max && !value.contains('\0');
        self.that(fits, field, &format!("must have 1 to {max} characters"))
    }

    /// A text that may be missing, of at most `max` characters.
    pub fn optional(&mut self, value: Option<&str>, field: &str, max: usize) -> &mut Self {
        let fits = value.is_none_or(|value| value.chars().count() <= max && !value.contains('\0'));
        self.that(fits, field, &format!("must have at most {max} characters"))
    }

    /// What the book says of a value of `field`, which stands at `place` in the request.
    pub fn by_book<'a>(
        &mut self,
        book: &Book,
        (place, field): (&str, &str),
        value: impl Into<fields::Value<'a>>,
        now: Instant,
    ) -> &mut Self {
        let problems = book.field(field).map(|field| field.problems(value.into(), now)).unwrap_or_default();
        for Problem { field, message } in problems {
            self.that(false, &format!("{place}{field}"), &message);
        }
        self
    }

    /// Whether nothing is wrong so far.
    pub const fn is_clean(&self) -> bool {
        self.0.is_empty()
    }

    pub fn finish(&mut self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::fields(std::mem::take(&mut self.0))) }
    }
}
