//! A new row or a change read from JSON, where an unknown or read-only key is refused by its name.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use tillkeep_model::fields::{Book, Field, Problem, Side};
use tillkeep_model::{ByName, Instant};
use tillkeep_storage::sea_orm::{ModelTrait, Value};
use uuid::Uuid;

use super::columns::column;
use crate::error::{Error, FieldError, Result};

/// What a client may write of a row: the fields of a book that people write at this server.
#[derive(Clone, Copy)]
pub struct Fields {
    pub book: &'static Book,
    pub side: Side,
}

impl Fields {
    /// What people at headquarters write.
    pub const fn hq(book: &'static Book) -> Self {
        Self { book, side: Side::Hq }
    }

    /// What people at a store write.
    pub const fn store(book: &'static Book) -> Self {
        Self { book, side: Side::Store }
    }

    /// What may be sent, for a new row or for a change of one.
    pub fn writable(&self, new: bool) -> impl Iterator<Item = &'static Field> + use<> {
        self.book.writable(self.side).filter(move |field| new || !field.fixed)
    }
}

/// A new row: what the book gives it, then what was sent, which keeps the rules of the book. `id` may be sent too.
pub fn draft<M>(fields: Fields, mut body: Map<String, Json>, now: Instant) -> Result<M>
where
    M: ModelTrait + DeserializeOwned,
{
    let id = body.remove("id");
    check_keys(fields, &body)?;
    let missing: Vec<FieldError> = fields
        .writable(true)
        .filter(|field| field.required && body.get(field.name).is_none_or(Json::is_null))
        .map(|field| FieldError { field: field.name.to_owned(), message: "is required".to_owned() })
        .collect();
    if !missing.is_empty() {
        return Err(Error::fields(missing));
    }
    let mut merged = fields.book.initial(&body);
    merged.extend(body);
    let id = match id {
        None | Some(Json::Null) => Json::String(Uuid::now_v7().to_string()),
        Some(id) => id,
    };
    merged.insert("id".to_owned(), id);
    let row: M = read(Json::Object(merged))?;
    if row.get(column::<M::Entity>("id")?) == Value::from(Uuid::nil()) {
        return Err(Error::field("id", "must not be the nil UUID"));
    }
    refuse(fields.book.problems(|field| stored(&row, field), now))?;
    Ok(row)
}

/// `model` with what was sent; every other column stays, those that never travel included. Only what differs has to
/// keep the rules of the book, so that a row from before a rule can still be edited.
pub fn changed<M>(fields: Fields, model: &M, body: &Map<String, Json>, now: Instant) -> Result<M>
where
    M: ModelTrait + Serialize + DeserializeOwned,
{
    check_keys(fields, body)?;
    let Json::Object(mut merged) = serde_json::to_value(model)? else { return Err(Error::internal("no object")) };
    merged.extend(body.clone());
    let sent: M = read(Json::Object(merged))?;
    let mut changed = model.clone();
    for key in body.keys() {
        let column = column::<M::Entity>(key)?;
        changed.set(column, sent.get(column));
    }
    let differs = |field: &Field| {
        let value = stored(&changed, field)?;
        (stored(model, field).as_ref() != Some(&value)).then_some(value)
    };
    let fixed = fields.book.fields.iter().filter(|field| field.fixed && differs(field).is_some());
    let fixed = fixed.map(|field| Problem { field: field.name.to_owned(), message: "is fixed".to_owned() });
    refuse(fixed.collect())?;
    refuse(fields.book.problems(differs, now))?;
    Ok(changed)
}

/// What a row has of a field of its book.
fn stored<M: ModelTrait>(row: &M, field: &Field) -> Option<Value> {
    Some(row.get(column::<M::Entity>(field.name).ok()?))
}

fn refuse(problems: Vec<Problem>) -> Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    let errors = problems.into_iter().map(|Problem { field, message }| FieldError { field, message });
    Err(Error::fields(errors.collect()))
}

fn check_keys(fields: Fields, body: &Map<String, Json>) -> Result<()> {
    let message = |(key, value): (&String, &Json)| {
        // A field that is fixed may be sent again as it is.
        if fields.writable(true).all(|field| field.name != key.as_str()) {
            Some("is unknown here or cannot be written")
        } else if has_nul(value) {
            Some("must not contain the NUL character")
        } else {
            None
        }
    };
    let wrong: Vec<FieldError> = body
        .iter()
        .filter_map(|entry| Some(FieldError { field: entry.0.clone(), message: message(entry)?.to_owned() }))
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(Error::fields(wrong)) }
}

/// One of the two databases has no NUL in a text.
fn has_nul(value: &Json) -> bool {
    match value {
        Json::String(text) => text.contains('\0'),
        Json::Array(items) => items.iter().any(has_nul),
        Json::Object(entries) => entries.iter().any(|(key, value)| key.contains('\0') || has_nul(value)),
        _ => false,
    }
}

/// Takes what is no column of the row out of a body: `null` is the same as nothing.
pub(crate) fn take<'a, T: DeserializeOwned>(
    body: &mut Map<String, Json>,
    keys: impl IntoIterator<Item = &'a String>,
) -> Result<T> {
    let sent = keys.into_iter().filter_map(|key| body.remove_entry(key)).filter(|(_, value)| !value.is_null());
    let sent: Map<String, Json> = sent.collect();
    match sent.iter().find(|(_, value)| has_nul(value)) {
        Some((key, _)) => Err(Error::field(key, "must not contain the NUL character")),
        None => read(Json::Object(sent)),
    }
}

fn read<M: DeserializeOwned>(json: Json) -> Result<M> {
    serde_path_to_error::deserialize(ByName(json))
        .map_err(|error| Error::field(error.path().to_string(), error.into_inner().to_string()))
}

/// Whether the row that is there has what was sent, so that a repeated POST can be answered with it.
pub fn same<M: Serialize>(stored: &M, body: &Map<String, Json>) -> bool {
    let Ok(Json::Object(stored)) = serde_json::to_value(stored) else { return false };
    body.iter().all(|(key, value)| stored.get(key).is_none_or(|have| have == value))
}
