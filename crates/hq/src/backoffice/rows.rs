//! Create, change and delete for any kind of master data: one way for all of them.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};
use tillkeep_http::auth::AuditedTx;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, Fields};
use tillkeep_http::{Caller, Created};
use tillkeep_model::fields::Book;
use tillkeep_model::permission::Requirement;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::sea_orm::sea_query::ValueType;
use tillkeep_storage::sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, ModelTrait, QueryFilter, QuerySelect, Value,
};
use tillkeep_storage::{DbErr, Synchronised, Tx, audit, db};
use uuid::Uuid;

use super::conflict::{self, Named};

/// A kind of master data.
pub struct Kind {
    /// What people write of it.
    pub book: &'static Book,
    /// For people: `department`.
    pub singular: &'static str,
    /// Keys that no two living rows share, and how a clash is answered; `kind, code` for one of two columns.
    pub unique: &'static [(&'static str, ErrorCode)],
    /// Keys that no answer shows.
    pub hidden: &'static [&'static str],
}

impl Kind {
    /// The synchronised type.
    pub const fn name(&self) -> &'static str {
        self.book.table
    }

    /// What may be sent of it.
    pub const fn fields(&self) -> Fields {
        Fields::hq(self.book)
    }
}

/// What every kind of row can do: a synchronised table with an id, a version and a tombstone.
pub trait Rows: Synchronised<Model: Serialize + DeserializeOwned + PartialEq> {}

impl<E: Synchronised<Model: Serialize + DeserializeOwned + PartialEq>> Rows for E {}

pub(super) fn column<E: EntityTrait>(name: &str) -> Result<E::Column> {
    name.parse().map_err(|_| Error::internal(format!("no column {name}")))
}

/// The living row `id`, or 404.
pub(crate) async fn find<E: EntityTrait>(conn: &impl ConnectionTrait, kind: &Kind, id: Uuid) -> Result<E::Model> {
    let select = E::find().filter(column::<E>("id")?.eq(id)).filter(column::<E>("deleted_at")?.is_null());
    select.one(conn).await?.ok_or_else(|| Error::not_found(kind.singular))
}

/// The row `id` with the version that it got when it was written, also when it was deleted since.
pub(crate) async fn written<E: EntityTrait>(conn: &impl ConnectionTrait, kind: &Kind, id: Uuid) -> Result<E::Model> {
    let row = E::find().filter(column::<E>("id")?.eq(id)).one(conn).await?;
    row.ok_or_else(|| Error::not_found(kind.singular))
}

/// As [`find`], and no other request changes the row before the transaction ends.
pub(crate) async fn find_to_change<E: EntityTrait>(tx: &Tx, kind: &Kind, id: Uuid) -> Result<E::Model> {
    let select = E::find().filter(column::<E>("id")?.eq(id)).filter(column::<E>("deleted_at")?.is_null());
    select.lock_exclusive().one(tx).await?.ok_or_else(|| Error::not_found(kind.singular))
}

/// Refuses a value that another living row has.
pub(crate) async fn check_unique<E: Rows>(tx: &Tx, kind: &Kind, model: &E::Model) -> Result<()> {
    let id = id_of::<E>(model)?;
    for (key, code) in kind.unique {
        let mut others = E::find().filter(column::<E>("deleted_at")?.is_null()).filter(column::<E>("id")?.ne(id));
        let mut is_said = true;
        for part in key.split(", ") {
            let value = model.get(column::<E>(part)?);
            is_said &= value != value.as_null();
            others = others.filter(column::<E>(part)?.eq(value));
        }
        if is_said && others.limit(1).one(tx).await?.is_some() {
            return Err(taken(kind, key, *code));
        }
    }
    Ok(())
}

pub(super) fn taken(kind: &Kind, key: &str, code: ErrorCode) -> Error {
    let (within, field) = key.rsplit_once(", ").map_or((None, key), |(within, last)| (Some(within), last));
    let field = shown_key(field);
    let of = within.map(|within| format!(" of this {within}")).unwrap_or_default();
    Error::new(code, format!("another {}{of} has this {field}", kind.singular)).at(field)
}

/// A column that is only compared is called like the one that it comes from.
fn shown_key(key: &str) -> &str {
    key.trim_end_matches("_folded")
}

/// Of two who take a value at once, the second hears here what the check before could not see.
pub(super) fn clash(kind: &Kind, error: DbErr) -> Error {
    let Some(fields) = db::unique_violation(&error) else { return error.into() };
    if fields.iter().all(|field| field == "id") {
        // It was not there a moment ago. Sent again, the request learns whether it is the same.
        return Error::new(ErrorCode::InProgress, "another request with this id was first").at("id").retry_after(1);
    }
    let is_of = |key: &str| fields.iter().any(|field| key.split(", ").any(|part| field == shown_key(part)));
    let named = kind.unique.iter().find(|(key, _)| is_of(key));
    named.map_or_else(|| error.into(), |(key, code)| taken(kind, key, *code))
}

fn id_of<E: EntityTrait>(model: &E::Model) -> Result<Uuid> {
    match model.get(column::<E>("id")?) {
        Value::Uuid(Some(id)) => Ok(id),
        _ => Err(Error::internal("a row without an id")),
    }
}

pub(super) fn stamp<E: EntityTrait>(model: &mut E::Model, now: Instant, new: bool) -> Result<()> {
    if new {
        model.set(column::<E>("created_at")?, now.into());
    }
    model.set(column::<E>("updated_at")?, now.into());
    Ok(())
}

/// A new row. `check` sees it inside the transaction and may complete or refuse it; `after` does what follows.
///
/// The same id with the same content again is answered with the row that is there; with other content it is
/// `id_reused`.
pub(crate) async fn create<E: Rows, P: Requirement>(
    caller: &Caller<P>,
    kind: &Kind,
    body: Map<String, Json>,
    check: impl AsyncFnOnce(&mut Tx, &mut E::Model) -> Result<()>,
    after: impl AsyncFnOnce(&mut Tx, &E::Model) -> Result<()>,
) -> Result<Created<E::Model>> {
    let mut model: E::Model = resource::draft(kind.fields(), body.clone(), caller.now())?;
    let id = id_of::<E>(&model)?;
    let mut act = caller.begin().await?;
    if let Some(stored) = E::find().filter(column::<E>("id")?.eq(id)).one(&*act).await? {
        if resource::same(&stored, &body) {
            return Ok(Created { data: stored, new: false });
        }
        return Err(Error::new(ErrorCode::IdReused, "this id belongs to a row with other content").at("id"));
    }
    stamp::<E>(&mut model, caller.now(), true)?;
    check(&mut act, &mut model).await?;
    check_unique::<E>(&act, kind, &model).await?;
    act.insert::<E>(model.clone()).await.map_err(|error| clash(kind, error))?;
    after(&mut act, &model).await?;
    act.done(entry(caller, "create", kind.name(), id, json!(body))).await?;
    written::<E>(caller.reader(), kind, id).await.map(Created::new)
}

/// A change of some keys. `check` sees the row before and after, `after` does what follows; nothing sent that differs
/// is no change at all.
pub(crate) async fn change<E: Rows, P: Requirement>(
    caller: &Caller<P>,
    kind: &Kind,
    id: Uuid,
    body: Map<String, Json>,
    check: impl AsyncFnOnce(&mut Tx, &E::Model, &mut E::Model) -> Result<()>,
    after: impl AsyncFnOnce(&mut Tx, &E::Model, &E::Model) -> Result<()>,
) -> Result<E::Model> {
    change_in::<E, P>(caller.begin().await?, caller, kind, id, body, check, after).await
}

/// As [`change`], where something was done before.
pub(crate) async fn change_in<E: Rows, P: Requirement>(
    act: AuditedTx,
    caller: &Caller<P>,
    kind: &Kind,
    id: Uuid,
    mut body: Map<String, Json>,
    check: impl AsyncFnOnce(&mut Tx, &E::Model, &mut E::Model) -> Result<()>,
    after: impl AsyncFnOnce(&mut Tx, &E::Model, &E::Model) -> Result<()>,
) -> Result<E::Model> {
    let expected = resource::take_expected_version(&mut body)?;
    let edit = async |tx: &mut Tx, old: &E::Model, new: &mut E::Model| {
        refuse_outdated::<E>(tx, kind, expected, old).await?;
        *new = resource::changed(kind.fields(), old, &body, caller.now())?;
        check(tx, old, new).await?;
        difference(kind, old, new)
    };
    update_in::<E, P>(act, caller, kind, ("edit", id), edit, after).await
}

/// Refuses what was decided from another version of the row.
pub(super) async fn refuse_outdated<E: Rows>(
    tx: &Tx,
    kind: &Kind,
    expected: Option<i64>,
    row: &E::Model,
) -> Result<()> {
    let Value::BigInt(Some(version)) = row.get(column::<E>("sync_version")?) else {
        return Err(Error::internal("a row without a version"));
    };
    let changed_at = <Instant as ValueType>::try_from(row.get(column::<E>("updated_at")?)).ok();
    let named = Named { entity_type: kind.name(), id: Some(id_of::<E>(row)?), changed_at };
    conflict::refuse_outdated(tx, &named, (expected, version), || shown(kind, row)).await
}

/// Writes a row that the server changed by itself, with a version of its own.
pub(crate) async fn rewrite<E: Rows>(tx: &mut Tx, kind: &Kind, mut row: E::Model, now: Instant) -> Result<()> {
    stamp::<E>(&mut row, now, false)?;
    tx.write::<E>(row).await.map_err(|error| clash(kind, error))
}

/// Any change of one row, by the name that the audit log keeps; `edit` says what the log is to know of it.
pub(crate) async fn update<E: Rows, P: Requirement>(
    caller: &Caller<P>,
    kind: &Kind,
    (action, id): (&'static str, Uuid),
    edit: impl AsyncFnOnce(&mut Tx, &E::Model, &mut E::Model) -> Result<Json>,
    after: impl AsyncFnOnce(&mut Tx, &E::Model, &E::Model) -> Result<()>,
) -> Result<E::Model> {
    update_in::<E, P>(caller.begin().await?, caller, kind, (action, id), edit, after).await
}

async fn update_in<E: Rows, P: Requirement>(
    mut act: AuditedTx,
    caller: &Caller<P>,
    kind: &Kind,
    (action, id): (&'static str, Uuid),
    edit: impl AsyncFnOnce(&mut Tx, &E::Model, &mut E::Model) -> Result<Json>,
    after: impl AsyncFnOnce(&mut Tx, &E::Model, &E::Model) -> Result<()>,
) -> Result<E::Model> {
    let old = find_to_change::<E>(&act, kind, id).await?;
    let mut new = old.clone();
    let details = edit(&mut act, &old, &mut new).await?;
    if new == old {
        return Ok(old);
    }
    check_unique::<E>(&act, kind, &new).await?;
    stamp::<E>(&mut new, caller.now(), false)?;
    act.write::<E>(new.clone()).await.map_err(|error| clash(kind, error))?;
    after(&mut act, &old, &new).await?;
    act.done(entry(caller, action, kind.name(), id, details)).await?;
    written::<E>(caller.reader(), kind, id).await
}

/// Marks a row as deleted; it travels as a row (rule D3 of `docs/sync.md`). `check` refuses what is still in use, and
/// clears away what goes with it.
pub(crate) async fn delete<E: Rows, P: Requirement>(
    caller: &Caller<P>,
    kind: &Kind,
    (id, expected): (Uuid, Option<i64>),
    check: impl AsyncFnOnce(&mut Tx, &E::Model) -> Result<()>,
) -> Result<()> {
    let mut act = caller.begin().await?;
    let mut model = find_to_change::<E>(&act, kind, id).await?;
    refuse_outdated::<E>(&act, kind, expected, &model).await?;
    check(&mut act, &model).await?;
    stamp::<E>(&mut model, caller.now(), false)?;
    model.set(column::<E>("deleted_at")?, Some(caller.now()).into());
    act.write::<E>(model).await?;
    act.done(entry(caller, "delete", kind.name(), id, Json::Null)).await
}

/// A row as an answer may show it.
fn shown<M: Serialize>(kind: &Kind, row: &M) -> Result<Json> {
    let mut json = serde_json::to_value(row)?;
    if let Json::Object(keys) = &mut json {
        keys.retain(|key, _| !kind.hidden.contains(&key.as_str()));
    }
    Ok(json)
}

/// What the log is to know of a change: the fields that are others now, before and after.
pub(super) fn difference<M: Serialize>(kind: &Kind, old: &M, new: &M) -> Result<Json> {
    let (Json::Object(mut from), Json::Object(mut to)) = (shown(kind, old)?, shown(kind, new)?) else {
        return Err(Error::internal("a row that is no object"));
    };
    to.retain(|key, value| from.get(key) != Some(value));
    from.retain(|key, _| to.contains_key(key));
    Ok(json!({"from": from, "to": to}))
}

/// What the audit log is to say of what the caller does with a row.
pub(super) fn entry<P: Requirement>(
    caller: &Caller<P>,
    action: &'static str,
    entity_type: &'static str,
    id: Uuid,
    details: Json,
) -> audit::Entry {
    audit::Entry { entity_type: Some(entity_type), entity_id: Some(id.to_string()), details, ..caller.audit(action) }
}
