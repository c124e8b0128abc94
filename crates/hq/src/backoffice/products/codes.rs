//! The codes of a product: each names one product and, as those of packs do, how much of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value as Json};
use tillkeep_http::error::{Error, Result};
use tillkeep_model::gtin::is_misread;
use tillkeep_model::{ErrorCode, JsonText};
use tillkeep_storage::entity::product::Model;
use tillkeep_storage::{Tx, barcodes, db};
use uuid::Uuid;

/// An entry of `barcodes` that says how much the code is of is a pack. On the wire packs stand apart, so that a program that does not
/// know them takes none for one piece.
pub(super) fn part_packs(body: &mut Map<String, Json>) {
    let may_join = body.get("packs").is_none_or(|packs| packs.is_array() || packs.is_null());
    let Some(Json::Array(codes)) = body.get_mut("barcodes").filter(|_| may_join) else { return };
    let (packs, texts): (Vec<Json>, Vec<Json>) = std::mem::take(codes).into_iter().partition(Json::is_object);
    *codes = texts;
    if packs.is_empty() {
        return;
    }
    match body.get_mut("packs") {
        Some(Json::Array(more)) => more.extend(packs),
        _ => {
            body.insert("packs".to_owned(), packs.into());
        }
    }
}

/// Every code, in every form it was given in.
pub(in crate::backoffice) fn codes(row: &Model) -> Vec<String> {
    barcodes::codes(row.barcode.as_deref(), &row.barcodes.0, &row.packs.0)
}

/// Whether two rows have other codes.
pub(in crate::backoffice) fn differ(old: &Model, new: &Model) -> bool {
    (&old.barcode, &old.barcodes, &old.packs) != (&new.barcode, &new.barcodes, &new.packs)
}

fn texts(list: &JsonText) -> impl Iterator<Item = &str> {
    list.0.as_array().into_iter().flatten().filter_map(Json::as_str)
}

fn of_packs(list: &JsonText) -> impl Iterator<Item = &str> {
    list.0.as_array().into_iter().flatten().filter_map(|pack| pack["code"].as_str())
}

/// Refuses new codes with a wrong check digit: most likely one was misread. A program that imports what is printed is not asked.
pub(super) fn refuse_misread(old: Option<&Model>, row: &Model) -> Result<()> {
    let known: BTreeSet<String> = old.map(codes).into_iter().flatten().collect();
    let further = texts(&row.barcodes).enumerate().map(|(place, code)| (format!("barcodes[{place}]"), code));
    let packs = of_packs(&row.packs).enumerate().map(|(place, code)| (format!("packs[{place}].code"), code));
    let all = row.barcode.as_deref().map(|code| ("barcode".to_owned(), code)).into_iter().chain(further).chain(packs);
    let wrong: Vec<(String, &str)> = all.filter(|(_, code)| is_misread(code) && !known.contains(*code)).collect();
    let Some((_, first)) = wrong.first() else { return Ok(()) };
    let text = format!(
        "{first} has a check digit that does not fit; read it again, or send force: true when that is what is printed"
    );
    Err(wrong.iter().fold(Error::new(ErrorCode::BadCheckDigit, text), |error, (field, _)| error.at(field.as_str())))
}

/// Refuses a code that this or another product has.
pub(super) fn check(owners: &HashMap<String, Uuid>, row: &Model) -> Result<()> {
    let codes = codes(row);
    let is_taken = |form: &String| owners.get(form).is_some_and(|owner| *owner != row.id);
    let (code, text) = match twice_with_packs(row).or_else(|| barcodes::twice(&codes)) {
        Some(code) => (code, "this product has the same barcode twice, or in two forms"),
        None => match codes.iter().map(|code| barcodes::normal(code)).find(is_taken) {
            Some(code) => (code, "another product has this barcode"),
            None => return Ok(()),
        },
    };
    Err(duplicate(row, &code, text))
}

/// A refusal of a code of `row` in the form `code`, at the field that it stands in.
pub(in crate::backoffice) fn duplicate(row: &Model, code: &str, text: &str) -> Error {
    let is_it = |other: &str| barcodes::normal(other) == code;
    let field = if of_packs(&row.packs).any(is_it) {
        "packs"
    } else if row.barcode.as_deref().is_some_and(is_it) {
        "barcode"
    } else {
        "barcodes"
    };
    let text = format!("{text}: {code}; UPC-A and its EAN-13 form are one code");
    Error::new(ErrorCode::DuplicateBarcode, text).at(field)
}

/// The form of a code that a pack shares with another pack or with what is sold by the piece: it would say two quantities.
fn twice_with_packs(row: &Model) -> Option<String> {
    let pieces = row.barcode.as_deref().into_iter().chain(texts(&row.barcodes));
    let mut seen: BTreeSet<String> = pieces.map(barcodes::normal).collect();
    of_packs(&row.packs).map(barcodes::normal).find(|form| !seen.insert(form.clone()))
}

/// Writes the index of codes.
pub(super) async fn index(tx: &Tx, id: Uuid, codes: Vec<String>) -> Result<()> {
    index_all(tx, &BTreeMap::from([(id, codes)])).await
}

/// As [`index`], of many products.
pub(in crate::backoffice) async fn index_all(tx: &Tx, codes: &BTreeMap<Uuid, Vec<String>>) -> Result<()> {
    // Of two who give a code away at once, the second hears here what the check before could not see.
    barcodes::replace(tx, codes).await.map_err(|error| match db::unique_violation(&error) {
        Some(_) => Error::new(ErrorCode::DuplicateBarcode, "another product has just got this barcode").at("barcode"),
        None => error.into(),
    })
}
