//! What every kind of row has in common on the way in and out: lists with search, filter and sort by white list; a
//! draft or a change read from JSON, where an unknown or read-only key is refused by its name.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use tillkeep_model::fields::{self, Book, Field, Problem, Side};
use tillkeep_model::{ByName, ErrorCode, Instant};
use tillkeep_storage::sea_orm::sea_query::{NullOrdering, SelectStatement};
use tillkeep_storage::sea_orm::{
    ColumnTrait, ColumnType, Condition, ConnectionTrait, EntityTrait, FromQueryResult, IdenStatic as _,
    IntoActiveModel, Iterable as _, ModelTrait, Order, PaginatorTrait, PrimaryKeyToColumn, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait, Select, Value,
};
use tillkeep_storage::search::contains;
use uuid::Uuid;

use crate::answer::{List, Paging};
use crate::costs;
use crate::cursor::{self, Cursor, Ordering};
use crate::error::{Error, FieldError, Result};

/// What may be asked of a list.
pub struct ListSpec {
    /// Columns that `?search=` looks into, case-insensitive.
    pub search: &'static [&'static str],
    /// Columns that may be filtered by equality, as query parameters in camelCase.
    pub filters: &'static [&'static str],
    /// Columns that `?sort=` may name, in camelCase; the first one is the default.
    pub sort: &'static [&'static str],
}

/// Characters of a query value at the most.
pub const MAX_VALUE: usize = 200;

/// The parameters of a list request.
pub type Query = BTreeMap<String, String>;

fn column<E: EntityTrait>(name: &str) -> Result<E::Column> {
    // A row of Rust has no field of that name.
    let named = if name == "type" { "kind" } else { name };
    E::Column::from_str(named).map_err(|_| Error::internal(format!("no column {name}")))
}

/// One page of the rows of `E` that are not deleted, below `base`, which may have columns and an order of its own.
pub async fn list<E, M>(conn: &impl ConnectionTrait, spec: &ListSpec, query: &Query, base: Select<E>) -> Result<List<M>>
where
    E: EntityTrait<Model = M>,
    M: FromQueryResult + Send + Sync,
{
    let (select, paging) = selected::<E>(spec, query, base)?;
    let mut rows = select.clone().limit(paging.size + 1).offset(paging.offset()).all(conn).await?;
    let is_last = ends(&mut rows, paging);
    let total = match is_last.then(|| counted(&rows, paging)).flatten() {
        Some(total) => total,
        None => select.count(conn).await?,
    };
    Ok(List::new(rows, total, paging))
}

/// As [`list`], of tables that grow without end and have one key: the page is found first, in an index where there is one of all
/// that is asked about, and then its rows are read. `base` narrows and does nothing else. Its pages are asked for by number or
/// by the cursor of the one before.
pub async fn long_list<E, M>(
    conn: &impl ConnectionTrait,
    spec: &ListSpec,
    query: &Query,
    base: Select<E>,
) -> Result<List<M>>
where
    E: EntityTrait<Model = M>,
    M: ModelTrait<Entity = E> + FromQueryResult + Send + Sync,
{
    let narrowed = narrowed::<E>(spec, query, base)?;
    let (keys, paging) = page_keys(spec, query, narrowed.clone())?;
    let ordering = ordering::<E>(spec, query)?;
    let rows = in_order(&ordering, E::find().filter(own_key::<E>()?.in_subquery(keys)));
    let mut rows = rows.all(conn).await?;
    let is_last = ends(&mut rows, paging);
    // Behind a cursor there are other rows before this page than its number says.
    let total = match (is_last && !query.contains_key("cursor")).then(|| counted(&rows, paging)).flatten() {
        Some(total) => total,
        None => narrowed.count(conn).await?,
    };
    let last = rows.last().filter(|_| !is_last);
    let next_cursor = last.map(|row| cursor::after(row, sort_of(spec, query), paging.page + 1, &ordering));
    Ok(List { next_cursor, ..List::new(rows, total, paging) })
}

/// Whether no page comes after these rows, which are those of a page and the one after them; that one is taken away.
fn ends<M>(rows: &mut Vec<M>, paging: Paging) -> bool {
    let size = usize::try_from(paging.size).unwrap_or(usize::MAX);
    let is_last = rows.len() <= size;
    rows.truncate(size);
    is_last
}

/// How many rows a list has whose last page these are: to count them costs as much as to find them. Beyond its end nothing is
/// known of it.
fn counted<M>(rows: &[M], paging: Paging) -> Option<u64> {
    let is_beyond = rows.is_empty() && paging.page > 1;
    (!is_beyond).then(|| paging.offset() + rows.len() as u64)
}

/// The keys of the rows that are on the page of `narrowed`, and of the one after them: nothing else is read of the rows before.
pub fn page_keys<E: EntityTrait>(
    spec: &ListSpec,
    query: &Query,
    narrowed: Select<E>,
) -> Result<(SelectStatement, Paging)> {
    let ordering = ordering::<E>(spec, query)?;
    let ordered = in_order(&ordering, narrowed);
    let mut paging = paging(query)?;
    let page = match query.get("cursor") {
        None => ordered.offset(paging.offset()),
        Some(_) if query.contains_key("page") => {
            return Err(Error::field("cursor", "says which page is asked for: leave out `page`"));
        }
        Some(text) => {
            let cursor = Cursor::read(text, sort_of(spec, query))?;
            paging.page = cursor.page;
            ordered.filter(cursor.rest::<E>(&ordering)?)
        }
    };
    let keys = page.limit(paging.size + 1).select_only().column(own_key::<E>()?);
    Ok((keys.into_query(), paging))
}

/// All rows of a list in its order, one part after the other.
pub struct Parts<E: EntityTrait> {
    select: Select<E>,
    ordering: Ordering<E>,
    size: u64,
    last: Option<E::Model>,
}

impl<E: EntityTrait> Parts<E> {
    /// Of `size` rows each.
    pub fn new(spec: &ListSpec, query: &Query, base: Select<E>, size: u64) -> Result<Self> {
        // What a page of it would be refused for.
        let (select, _) = selected::<E>(spec, query, base)?;
        Ok(Self { select, ordering: ordering::<E>(spec, query)?, size, last: None })
    }

    /// How many rows there are in all.
    pub async fn count(&self, conn: &impl ConnectionTrait) -> Result<u64>
    where
        E::Model: Send + Sync,
    {
        Ok(self.select.clone().count(conn).await?)
    }

    /// The next part, which begins behind the last row of the one before; nothing at the end.
    pub async fn next(&mut self, conn: &impl ConnectionTrait) -> Result<Vec<E::Model>>
    where
        E::Model: Send + Sync,
    {
        let mut select = self.select.clone().limit(self.size);
        if let Some(last) = &self.last {
            select = select.filter(cursor::behind_row(last, &self.ordering));
        }
        let rows = select.all(conn).await?;
        self.last = rows.last().cloned().or(self.last.take());
        Ok(rows)
    }
}

/// The one column that a row is known by.
fn own_key<E: EntityTrait>() -> Result<E::Column> {
    let mut keys = E::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column);
    match (keys.next(), keys.next()) {
        (Some(key), None) => Ok(key),
        _ => Err(Error::internal(format!("{} has more than one key", E::default().table_name()))),
    }
}

/// All rows that a request means, in their order, and the page of them that it asks for.
pub fn selected<E: EntityTrait>(spec: &ListSpec, query: &Query, base: Select<E>) -> Result<(Select<E>, Paging)> {
    if query.contains_key("cursor") {
        return Err(unknown_parameter("cursor"));
    }
    Ok((in_order(&ordering::<E>(spec, query)?, narrowed(spec, query, base)?), paging(query)?))
}

/// All rows that a request means, in no order.
pub fn narrowed<E: EntityTrait>(spec: &ListSpec, query: &Query, mut select: Select<E>) -> Result<Select<E>> {
    let mut deleted_too = false;
    for (key, value) in query.iter().filter(|(key, _)| *key != "cursor") {
        check_value(key, value)?;
        match key.as_str() {
            "page" | "pageSize" | "sort" => {}
            "search" if !spec.search.is_empty() => select = select.filter(search::<E>(spec.search, value)?),
            "active" if column::<E>("is_active").is_ok() => {
                select = select.filter(column::<E>("is_active")?.eq(boolean(key, value)?));
            }
            "includeDeleted" => deleted_too = boolean(key, value)?,
            "updatedSince" => {
                let since = Instant::parse(value)
                    .ok_or_else(|| Error::field(key, "must be an instant like 2026-11-20T12:34:56.789Z"))?;
                select = select.filter(column::<E>("updated_at")?.gte(since));
            }
            key if spec.filters.contains(&key) => {
                let column = column::<E>(key)?;
                select = select.filter(column.eq(typed(key, value, column.def().get_column_type())?));
            }
            key => {
                return Err(unknown_parameter(key));
            }
        }
    }
    if let Ok(deleted) = column::<E>("deleted_at")
        && !deleted_too
    {
        select = select.filter(deleted.is_null());
    }
    Ok(select)
}

/// What is asked of a list that does not know it.
fn unknown_parameter(key: &str) -> Error {
    Error::new(ErrorCode::UnknownParameter, "this is not a parameter of this list").at(key)
}

/// What a request sorts by.
fn sort_of<'a>(spec: &ListSpec, query: &'a Query) -> &'a str {
    query.get("sort").map(String::as_str).or_else(|| spec.sort.first().copied()).unwrap_or("id")
}

/// The order that a request asks for, down to the key of the rows, so that each has its place.
fn ordering<E: EntityTrait>(spec: &ListSpec, query: &Query) -> Result<Ordering<E>> {
    let mut ordering: Ordering<E> = Vec::new();
    let mut add = |column: E::Column, order: Order| {
        // Once in its place, a column says nothing more.
        if ordering.iter().all(|(other, _)| other.as_str() != column.as_str()) {
            ordering.push((column, order));
        }
    };
    let mut last = Order::Asc;
    for name in sort_of(spec, query).split(',') {
        let (name, order) = name.strip_prefix('-').map_or((name, Order::Asc), |name| (name, Order::Desc));
        if !spec.sort.contains(&name) {
            let text = format!("cannot sort by {name}; choose of {}", spec.sort.join(", "));
            return Err(Error::field("sort", text));
        }
        last = order.clone();
        add(column::<E>(name)?, order);
    }
    for key in E::PrimaryKey::iter() {
        // The way of the column before it: an index of both is read in either direction, but not in two at once.
        add(key.into_column(), last.clone());
    }
    Ok(ordering)
}

fn in_order<E: EntityTrait>(ordering: &Ordering<E>, mut select: Select<E>) -> Select<E> {
    for (column, order) in ordering {
        // What is missing comes first, as SQLite has it; PostgreSQL would put it last.
        let nulls = if *order == Order::Asc { NullOrdering::First } else { NullOrdering::Last };
        select = if column.def().is_null() {
            select.order_by_with_nulls(*column, order.clone(), nulls)
        } else {
            select.order_by(*column, order.clone())
        };
    }
    select
}

fn paging(query: &Query) -> Result<Paging> {
    let of = |key| query.get(key).map(|value| number(key, value)).transpose();
    Paging::new(of("page")?, of("pageSize")?)
}

/// One of `columns` contains `text`, case-insensitive.
pub fn search<E: EntityTrait>(columns: &[&str], text: &str) -> Result<Condition> {
    check_value("search", text)?;
    let columns: Vec<E::Column> = columns.iter().map(|name| column::<E>(name)).collect::<Result<_>>()?;
    Ok(contains(columns, text))
}

/// Refuses a value that no parameter of a list has.
pub fn check_value(key: &str, value: &str) -> Result<()> {
    if value.contains('\0') || value.chars().count() > MAX_VALUE {
        return Err(Error::field(key, format!("must have at most {MAX_VALUE} characters, NUL not among them")));
    }
    Ok(())
}

fn number(key: &str, value: &str) -> Result<u64> {
    value.parse().map_err(|_| Error::field(key, "must be a whole number"))
}

fn boolean(key: &str, value: &str) -> Result<bool> {
    value.parse().map_err(|_| Error::field(key, "must be true or false"))
}

fn typed(key: &str, value: &str, kind: &ColumnType) -> Result<Value> {
    Ok(match kind {
        ColumnType::Uuid => value.parse::<Uuid>().map_err(|_| Error::field(key, "must be a UUID"))?.into(),
        ColumnType::Boolean => boolean(key, value)?.into(),
        ColumnType::Integer | ColumnType::BigInteger | ColumnType::SmallInteger => {
            value.parse::<i64>().map_err(|_| Error::field(key, "must be a whole number"))?.into()
        }
        _ => value.into(),
    })
}

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

/// Takes a parameter of a list that is no column of the listed rows.
pub fn take_flag(query: &mut Query, key: &str) -> Result<bool> {
    query.remove(key).map_or(Ok(false), |value| boolean(key, &value))
}

/// As [`take_flag`], for an id.
pub fn take_id(query: &mut Query, key: &str) -> Result<Option<Uuid>> {
    let parsed = query.remove(key).map(|value| value.parse().map_err(|_| Error::field(key, "must be a UUID")));
    parsed.transpose()
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

/// Refuses a change that was made from another version of a row than the present one.
pub fn refuse_outdated(expected: Option<i64>, version: i64, current: impl FnOnce() -> Result<Json>) -> Result<()> {
    if expected.is_none_or(|expected| expected == version) {
        return Ok(());
    }
    let text = "somebody else changed this row in the meantime; read it again and decide once more";
    Err(Error::new(ErrorCode::VersionConflict, text).with("current", costs::as_answered(current)?))
}

/// `?expectedVersion=` of a change without an object as its body: the version of the row that it was made from.
#[derive(serde::Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expected {
    /// The `syncVersion` that the change is based on; another one is refused.
    #[serde(default)]
    pub expected_version: Option<i64>,
}

/// The keys of `expectedVersion` and the rest of a change.
pub fn take_expected_version(body: &mut Map<String, Json>) -> Result<Option<i64>> {
    match body.remove("expectedVersion") {
        None | Some(Json::Null) => Ok(None),
        Some(value) => {
            value.as_i64().map(Some).ok_or_else(|| Error::field("expectedVersion", "must be a whole number"))
        }
    }
}

/// Another living row with the same value in `column`.
pub async fn taken<E>(conn: &impl ConnectionTrait, id: Uuid, key: &str, value: impl Into<Value> + Send) -> Result<bool>
where
    E: EntityTrait,
    E::Model: IntoActiveModel<E::ActiveModel> + Send + Sync,
{
    let mut select = E::find().filter(column::<E>(key)?.eq(value.into())).filter(column::<E>("id")?.ne(id));
    if let Ok(deleted) = column::<E>("deleted_at") {
        select = select.filter(deleted.is_null());
    }
    Ok(select.count(conn).await? > 0)
}

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
