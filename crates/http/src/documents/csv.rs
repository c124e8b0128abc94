//! Lists as files for a spreadsheet: RFC 4180, with a byte order mark, without which they read letters beyond ASCII wrongly. A
//! text that one would take for a formula is a text to it, and [`as_written`] is that text again. `docs/api.md`, "Lists as files".

use std::borrow::Cow;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use tillkeep_model::{Instant, Money, Qty};
use uuid::Uuid;

use crate::describe::{Operation, Reply};
use crate::error::{Error, Result};
use crate::operation::string;
use crate::resource::Query;

/// Rows of a file at the most.
pub const MOST: u64 = 100_000;
/// Rows that are read at once.
pub const CHUNK: u64 = 2_000;

const KIND: &str = "text/csv; charset=utf-8; header=present";
/// What spreadsheets begin a formula with, in letters of either width; what they pass over before one.
const FORMULAS: [char; 11] = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}', '\t', '\r', '\n'];
/// What ends a cell or a row for one that parts cells by `;`, as those of half of Europe do: it knows no quotes within a cell.
const ENDS: [char; 4] = [';', '\t', '\r', '\n'];

/// Whether a list is asked for as a file: `format=csv`.
pub fn wanted(query: &mut Query) -> Result<bool> {
    match query.remove("format").as_deref() {
        None | Some("json") => Ok(false),
        Some("csv") => Ok(true),
        Some(_) => Err(Error::field("format", "must be json or csv")),
    }
}

/// Refuses a file of so many rows.
pub fn fits(rows: u64) -> Result<()> {
    if rows <= MOST {
        return Ok(());
    }
    let text =
        format!("a file has at most {MOST} rows, and these are {rows}: narrow them down, as by dates or a store");
    Err(Error::field("format", text))
}

/// A file while it is written.
pub struct Csv {
    name: &'static str,
    text: String,
}

impl Csv {
    /// A file of this name, without its ending, with its first line.
    #[must_use]
    pub fn new(name: &'static str, columns: &[&str]) -> Self {
        let mut file = Self { name, text: "\u{feff}".to_owned() };
        file.text.push_str(&columns.join(","));
        file.text.push_str("\r\n");
        file
    }

    /// Adds a row, which has a cell for each column.
    pub fn row(&mut self, cells: &[Cell<'_>]) {
        for (place, cell) in cells.iter().enumerate() {
            if place > 0 {
                self.text.push(',');
            }
            match cell {
                Cell::Text(text) => push_text(&mut self.text, text),
                Cell::Made(text) => push_text(&mut self.text, text),
                Cell::Plain(text) => self.text.push_str(text),
                Cell::Nothing => {}
            }
        }
        self.text.push_str("\r\n");
    }
}

/// What stands in one place of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// What people wrote.
    Text(&'a str),
    /// What was put together of that.
    Made(String),
    /// Numbers, dates, ids: nothing in it means anything to a spreadsheet.
    Plain(String),
    Nothing,
}

impl<'a> Cell<'a> {
    #[must_use]
    pub fn text(text: Option<&'a str>) -> Self {
        text.map_or(Self::Nothing, Self::Text)
    }

    /// In major units, with a point.
    #[must_use]
    pub fn money(amount: impl Into<Option<Money>>, exponent: i16) -> Self {
        amount.into().map_or(Self::Nothing, |amount| Self::Plain(decimal(amount, exponent)))
    }

    #[must_use]
    pub fn quantity(quantity: Qty) -> Self {
        Self::Plain(quantity.to_string())
    }

    #[must_use]
    pub fn flag(flag: bool) -> Self {
        Self::Plain(flag.to_string())
    }

    #[must_use]
    pub fn number(number: Option<impl ToString>) -> Self {
        number.map_or(Self::Nothing, |number| Self::Plain(number.to_string()))
    }

    /// What it says, without what a file adds to it.
    #[must_use]
    pub fn says(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Made(text) | Self::Plain(text) => text,
            Self::Nothing => "",
        }
    }

    #[must_use]
    pub fn instant(at: impl Into<Option<Instant>>) -> Self {
        at.into().map_or(Self::Nothing, |at| Self::Plain(at.to_string()))
    }

    #[must_use]
    pub fn id(id: Uuid) -> Self {
        Self::Plain(id.to_string())
    }
}

fn push_text(into: &mut String, text: &str) {
    let is_formula = looks_like_one(text);
    if !is_formula && !text.contains([',', ';', '"', '\t', '\r', '\n']) {
        into.push_str(text);
        return;
    }
    into.push('"');
    if is_formula {
        into.push('\'');
    }
    push_inside(into, text);
    into.push('"');
}

/// Whether a text begins as a formula does; one that has been given a `'` gets another one, so that either can be taken off again.
fn looks_like_one(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(FORMULAS)
}

/// The same of what follows the end of a cell within a text.
fn looks_like_one_inside(text: &str) -> bool {
    let text = text.trim_start_matches('\'');
    text.starts_with(FORMULAS) && !text.starts_with(ENDS)
}

/// Whether another cell may begin behind `letter`.
fn begins_behind(letter: char, begins: bool) -> bool {
    ENDS.contains(&letter) || (begins && letter == '"')
}

/// `text` between quotes. Where another cell may begin in it, no formula does.
fn push_inside(into: &mut String, text: &str) {
    let mut begins = false;
    for (at, letter) in text.char_indices() {
        if begins && looks_like_one_inside(&text[at..]) {
            into.push('\'');
        }
        if letter == '"' {
            into.push('"');
        }
        into.push(letter);
        begins = begins_behind(letter, begins);
    }
}

/// A text as it was before a file of ours gave it each `'` that keeps it from being a formula.
#[must_use]
pub fn as_written(cell: &str) -> Cow<'_, str> {
    if !cell.contains('\'') {
        return Cow::Borrowed(cell);
    }
    let rest = cell.strip_prefix('\'').filter(|rest| looks_like_one(rest)).unwrap_or(cell);
    let (mut text, mut begins) = (String::with_capacity(rest.len()), false);
    for (at, letter) in rest.char_indices() {
        if begins && letter == '\'' && looks_like_one_inside(&rest[at..]) {
            begins = false;
            continue;
        }
        text.push(letter);
        begins = begins_behind(letter, begins);
    }
    Cow::Owned(text)
}

/// An amount in major units, of which one has `exponent` decimals.
#[must_use]
pub fn decimal(amount: Money, exponent: i16) -> String {
    let places = usize::try_from(exponent).unwrap_or_default();
    let digits = format!("{:0>width$}", amount.0.unsigned_abs(), width = places + 1);
    let (whole, rest) = digits.split_at(digits.len() - places);
    let sign = if amount.0 < 0 { "-" } else { "" };
    if places == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest}") }
}

impl IntoResponse for Csv {
    fn into_response(self) -> Response {
        let name = format!("attachment; filename=\"{}.csv\"", self.name);
        match HeaderValue::try_from(name) {
            Ok(name) => {
                let kind = (header::CONTENT_TYPE, HeaderValue::from_static(KIND));
                ([kind, (header::CONTENT_DISPOSITION, name)], self.text).into_response()
            }
            Err(error) => Error::internal(error).into_response(),
        }
    }
}

/// A list as JSON, or all of it as a file.
pub enum Listed<A> {
    Json(A),
    File(Csv),
}

impl<A: IntoResponse> IntoResponse for Listed<A> {
    fn into_response(self) -> Response {
        match self {
            Self::Json(answer) => answer.into_response(),
            Self::File(file) => file.into_response(),
        }
    }
}

impl<A: Reply> Reply for Listed<A> {
    fn describe(operation: &mut Operation) {
        A::describe(operation);
        operation.also_as(200, "text/csv", string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_decimals_of_their_currency() {
        for (amount, exponent, text) in [
            (0, 2, "0.00"),
            (5, 2, "0.05"),
            (-5, 2, "-0.05"),
            (123_456, 2, "1234.56"),
            (-1234, 3, "-1.234"),
            (1500, 0, "1500"),
            (i64::MIN, 2, "-92233720368547758.08"),
        ] {
            assert_eq!(decimal(Money(amount), exponent), text);
        }
    }

    #[test]
    fn a_text_stays_whole_and_no_formula_is_one() {
        let mut file = Csv::new("names", &["name", "amount"]);
        for text in ["Tea", "Tea, green", "5\" nails", "two\r\nlines", "=1+1", "-5", "@home", "\u{ff1d}1", " =1", ""] {
            file.row(&[Cell::Text(text), Cell::money(Money(-5), 2)]);
        }
        file.row(&[Cell::text(None), Cell::money(None::<Money>, 2)]);
        let lines = [
            "\u{feff}name,amount",
            "Tea,-0.05",
            "\"Tea, green\",-0.05",
            "\"5\"\" nails\",-0.05",
            "\"two\r\nlines\",-0.05",
            "\"'=1+1\",-0.05",
            "\"'-5\",-0.05",
            "\"'@home\",-0.05",
            "\"'\u{ff1d}1\",-0.05",
            " =1,-0.05",
            ",-0.05",
            ",",
            "",
        ];
        assert_eq!(file.text, lines.join("\r\n"));
    }

    #[test]
    fn no_formula_begins_in_the_middle_of_a_text_for_who_parts_cells_by_semicolons() {
        for (text, written) in [
            ("Tea;=1+1", "\"Tea;'=1+1\""),
            ("Tea;\"=1+1\"", "\"Tea;\"\"'=1+1\"\"\""),
            ("two\r\n@lines", "\"two\r\n'@lines\""),
            ("a\t-1", "\"a\t'-1\""),
            ("a;b-1", "\"a;b-1\""),
            ("a -1", "a -1"),
        ] {
            let mut file = String::new();
            push_text(&mut file, text);
            assert_eq!(file, written);
        }
    }

    #[test]
    fn what_a_file_adds_to_a_text_is_taken_off_again() {
        let odd = ["=1+1", "+49 30 1", "-5", "@home", "\tx", "\rx", "\nx", "\u{ff1d}1"];
        let more = [
            "'=1",
            "''-5",
            "'quoted'",
            "it's",
            "Tea;=1+1",
            "Tea;'=1",
            "a;\"=1",
            "a\t'-1",
            "two\r\n@lines",
            "a;;=1",
            "'",
            "",
        ];
        for text in odd.into_iter().chain(more) {
            let mut file = String::new();
            push_text(&mut file, text);
            let cell = file.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(&file);
            assert_eq!(as_written(&cell.replace("\"\"", "\"")), text, "{file:?}");
        }
        for text in odd {
            let mut file = String::new();
            push_text(&mut file, text);
            assert!(file.starts_with("\"'"), "{file:?}");
        }
    }

    #[test]
    fn more_rows_than_a_file_has_are_refused_with_how_many_there_are() {
        assert!(fits(MOST).is_ok());
        let refused = fits(MOST + 1).expect_err("too many");
        assert!(refused.details()[0].message.contains("100001"), "{refused:?}");
    }
}
