//! From a cell to what a request would say, and back: as people type it, without ever a fraction that is no integer of its
//! smallest unit.

use serde_json::{Map, Value as Json, json};
use tillkeep_http::documents::csv::{Cell, decimal};
use tillkeep_http::error::FieldError;
use tillkeep_model::fields::{Book, Rule};
use tillkeep_model::{JsonText, Money, Qty};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait};

use super::wrong;

/// What parts the entries of a list in a cell.
const BETWEEN: char = '|';
/// Digits before the point at the most.
const DIGITS: usize = 13;
/// Columns of codes, which spreadsheets take for numbers and spoil.
const CODES: [&str; 6] = ["sku", "barcode", "barcodes", "packs", "plu", "phone"];

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The field of that name, as the rule book has it.
    Field,
    /// The same, an amount.
    Amount,
    /// The same, codes of several units at once.
    Packs,
    /// What each kind reads by itself: a key, the code of another row.
    Own,
    /// For people who read the file; it changes nothing.
    Shown,
}

/// A column of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub name: &'static str,
    pub form: Form,
}

pub(super) const fn field(name: &'static str) -> Column {
    Column { name, form: Form::Field }
}

pub(super) const fn amount(name: &'static str) -> Column {
    Column { name, form: Form::Amount }
}

pub(super) const fn packs(name: &'static str) -> Column {
    Column { name, form: Form::Packs }
}

pub(super) const fn own(name: &'static str) -> Column {
    Column { name, form: Form::Own }
}

pub(super) const fn shown(name: &'static str) -> Column {
    Column { name, form: Form::Shown }
}

/// Adds to `body` what the cells of fields say; what they cannot say goes into `faults`. An empty cell takes away what may be
/// missing, and says nothing of what may not.
pub(super) fn read<'a, E: EntityTrait>(
    said: impl Iterator<Item = (&'static Column, &'a str)>,
    book: &Book,
    exponent: i16,
    (body, faults): (&mut Map<String, Json>, &mut Vec<FieldError>),
) {
    for (column, text) in said {
        let Some(field) = book.field(column.name) else { continue };
        let is_list = matches!(field.rule, Rule::Texts { .. } | Rule::Objects { .. });
        let may_be_missing = || column.name.parse::<E::Column>().is_ok_and(|column| column.def().is_null());
        let value = match column.form {
            Form::Own | Form::Shown => continue,
            _ if text.is_empty() && is_list => Ok(json!([])),
            _ if text.is_empty() && may_be_missing() => Ok(Json::Null),
            _ if text.trim().is_empty() && !matches!(field.rule, Rule::Text { .. }) => continue,
            _ if text.is_empty() => continue,
            _ if CODES.contains(&column.name) && is_spoiled(text) => {
                Err("was made a number by a spreadsheet; make the column one of texts there, and type the code again"
                    .to_owned())
            }
            Form::Field => value(&field.rule, text),
            Form::Amount => money(text, exponent).map(Json::from),
            Form::Packs => packs_of(text, exponent),
        };
        match value {
            Ok(value) => drop(body.insert(column.name.to_owned(), value)),
            Err(message) => faults.push(wrong(column.name, message)),
        }
    }
}

/// Whether a spreadsheet wrote a long number as 5.01E+12.
fn is_spoiled(text: &str) -> bool {
    let Some((number, power)) = text.trim().split_once(['E', 'e']) else { return false };
    let is_number = number.starts_with(|letter: char| letter.is_ascii_digit())
        && number.contains(['.', ','])
        && number.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | ','));
    let power = power.strip_prefix(['+', '-']).unwrap_or_default();
    is_number && !power.is_empty() && power.bytes().all(|byte| byte.is_ascii_digit())
}

fn value(rule: &Rule, text: &str) -> Result<Json, String> {
    match rule {
        Rule::Word(_) | Rule::Id | Rule::Instant => Ok(text.trim().into()),
        Rule::Flag => flag(text).map(Json::from),
        Rule::Whole { .. } => {
            let number = text.trim().parse::<i64>().ok().filter(|_| !text.trim().starts_with('+'));
            number.map(Json::from).ok_or_else(|| "must be a whole number".to_owned())
        }
        Rule::Quantity { .. } => match units(text, 3) {
            Some(thousandths) => Ok(Qty(thousandths).to_string().into()),
            None => Err("must be a quantity like 2 or 1.237, with at most three decimals".to_owned()),
        },
        Rule::Texts { .. } => list(text),
        Rule::Text { .. } | Rule::Json { .. } | Rule::Objects { .. } | Rule::Object { .. } => Ok(text.into()),
    }
}

fn flag(text: &str) -> Result<bool, String> {
    // Spreadsheets write them in the language of who has them open.
    let is_one_of = |words: [&str; 5]| words.iter().any(|word| word.eq_ignore_ascii_case(text.trim()));
    if is_one_of(["true", "yes", "1", "wahr", "ja"]) {
        Ok(true)
    } else if is_one_of(["false", "no", "0", "falsch", "nein"]) {
        Ok(false)
    } else {
        Err("must be true or false".to_owned())
    }
}

/// Smallest units of a decimal with a point or a comma and at most so many decimals; nothing for anything else, groups of digits and
/// powers of ten included.
fn units(text: &str, decimals: usize) -> Option<i64> {
    let text = text.trim();
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, fraction) = digits.split_once(['.', ',']).unwrap_or((digits, ""));
    let has_sign = whole.len() < digits.len();
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let fits = (1..=DIGITS).contains(&whole.len()) && fraction.len() <= decimals && has_sign != fraction.is_empty();
    if !fits || !are_digits(whole) || !are_digits(fraction) {
        return None;
    }
    format!("{whole}{fraction:0<decimals$}").parse::<i64>().ok().map(|units| sign * units)
}

/// Minor units of an amount in major units.
pub(super) fn money(text: &str, exponent: i16) -> Result<i64, String> {
    let decimals = usize::try_from(exponent).unwrap_or_default();
    units(text, decimals).ok_or_else(|| {
        let example = decimal(Money(1999), exponent);
        match decimals {
            0 => format!("must be an amount like {example}, without decimals and without signs between digits"),
            _ => format!("must be an amount like {example}, with at most {decimals} decimals and no other signs"),
        }
    })
}

/// The entries of a list: between bars, or as JSON where one has a bar in it.
fn list(text: &str) -> Result<Json, String> {
    if text.trim_start().starts_with('[') {
        let texts = serde_json::from_str::<Vec<String>>(text).map(Json::from);
        return texts.map_err(|_| "begins with [ and is no JSON list of texts; part the entries by |".to_owned());
    }
    Ok(text.split(BETWEEN).map(str::trim).filter(|entry| !entry.is_empty()).collect())
}

/// An entry that stands between bars as it is.
fn plain(entry: &Json) -> Option<&str> {
    let text = entry.as_str().filter(|text| !text.is_empty() && text.trim() == *text);
    text.filter(|text| !text.contains(BETWEEN) && !text.starts_with('['))
}

/// What [`list`] reads.
pub(super) fn list_cell(list: &JsonText) -> Cell<'static> {
    let entries = list.0.as_array().map(Vec::as_slice).unwrap_or_default();
    if entries.is_empty() {
        return Cell::Nothing;
    }
    let plain: Option<Vec<&str>> = entries.iter().map(plain).collect();
    Cell::Made(plain.map_or_else(|| list.0.to_string(), |entries| entries.join("|")))
}

/// `CASE*6=54.00 TRAY*24`: codes of several units at once, with what they cost together where that is said.
fn packs_of(text: &str, exponent: i16) -> Result<Json, String> {
    let pack = |entry: &str| {
        let wrong =
            || format!("{entry:?} must be like CASE*6 or CASE*6=54.00: a code, how many it is of, and what they cost");
        let (code, rest) = entry.rsplit_once('*').ok_or_else(wrong)?;
        let (quantity, price) = rest.split_once('=').map_or((rest, None), |(quantity, price)| (quantity, Some(price)));
        let quantity: i64 = quantity.parse().map_err(|_| wrong())?;
        let mut pack = json!({"code": code, "quantity": quantity});
        if let Some(price) = price {
            pack["price"] = money(price, exponent)?.into();
        }
        Ok(pack)
    };
    text.split_whitespace().map(pack).collect::<Result<Vec<Json>, String>>().map(Json::from)
}

/// What [`packs_of`] reads.
pub(super) fn packs_cell(list: &JsonText, exponent: i16) -> Cell<'static> {
    let entries = list.0.as_array().map(Vec::as_slice).unwrap_or_default();
    let pack = |pack: &Json| {
        let price = pack["price"].as_i64().map(|price| format!("={}", decimal(Money(price), exponent)));
        format!("{}*{}{}", pack["code"].as_str().unwrap_or_default(), pack["quantity"], price.unwrap_or_default())
    };
    if entries.is_empty() { Cell::Nothing } else { Cell::Made(entries.iter().map(pack).collect::<Vec<_>>().join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_typed_with_a_point_or_a_comma_and_nothing_else() {
        for (text, exponent, minor) in [
            ("19.99", 2, Some(1999)),
            ("19,99", 2, Some(1999)),
            (" 19.9 ", 2, Some(1990)),
            ("19", 2, Some(1900)),
            ("-0.05", 2, Some(-5)),
            ("1.999", 3, Some(1999)),
            ("1500", 0, Some(1500)),
            ("1.5", 0, None),
            ("19.999", 2, None),
            ("1.999,00", 2, None),
            ("1,999.00", 2, None),
            ("1'999", 2, None),
            ("1e3", 2, None),
            ("+5", 2, None),
            ("19.", 2, None),
            (".99", 2, None),
            ("", 2, None),
            ("$5", 2, None),
            ("\u{0661}", 2, None),
            ("99999999999999", 2, None),
        ] {
            assert_eq!(money(text, exponent).ok(), minor, "{text}");
        }
        assert!(money("1e3", 2).expect_err("a refusal").contains("19.99"));
        assert!(money("1.5", 0).expect_err("a refusal").contains("1999, without decimals"));
    }

    #[test]
    fn a_list_is_the_same_after_it_was_a_cell() {
        for entries in
            [json!([]), json!(["a", "b c"]), json!(["a|b"]), json!(["[a"]), json!([" a", ""]), json!(["x", "y|"])]
        {
            let cell = list_cell(&JsonText(entries.clone()));
            let read = if cell.says().is_empty() { json!([]) } else { list(cell.says()).expect("a list") };
            assert_eq!(read, entries, "{cell:?}");
        }
        assert_eq!(list("a | b||c").expect("a list"), json!(["a", "b", "c"]));
        assert!(list("[1").is_err());
    }

    #[test]
    fn packs_are_the_same_after_they_were_a_cell() {
        let packs = json!([{"code": "A*B", "quantity": 6, "price": 5400}, {"code": "TRAY", "quantity": 24}]);
        let cell = packs_cell(&JsonText(packs.clone()), 2);
        assert_eq!(cell.says(), "A*B*6=54.00 TRAY*24");
        assert_eq!(packs_of(cell.says(), 2).expect("packs"), packs);
        for bad in ["CASE", "CASE*x", "CASE*6=5e1", "CASE*6="] {
            assert!(packs_of(bad, 2).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_code_that_became_a_number_is_seen() {
        assert!(is_spoiled("5.01235E+12") && is_spoiled("5,01E+12"));
        for code in ["5012345678900", "E12", "1E5", "TEA-E+1", "12.5", "1.5E", ""] {
            assert!(!is_spoiled(code), "{code}");
        }
    }

    #[test]
    fn a_flag_is_what_people_write_for_one() {
        assert_eq!(["true", "TRUE", "Yes", " 1 "].map(|text| flag(text).ok()), [Some(true); 4]);
        assert_eq!(["false", "no", "0", "FALSE"].map(|text| flag(text).ok()), [Some(false); 4]);
        assert!(flag("maybe").is_err());
    }
}
