//! Create, change and delete for any kind of master data: one way for all of them.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};
use tillkeep_http::Created;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, Fields};
use tillkeep_model::permission::Requirement;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, Iterable, ModelTrait, QueryFilter,
};
use tillkeep_storage::{Tx, audit, versions};
use uuid::Uuid;

use crate::Hq;
use tillkeep_http::Caller;

/// A kind of master data.
pub struct Kind {
    /// The synchronised type.
    pub name: &'static str,
    /// For people: `department`.
    pub singular: &'static str,
    pub fields: Fields,
    /// Values of a new row that nobody sent.
    pub defaults: fn() -> Json,
    /// Keys that no two living rows share, and how a clash is answered.
    pub unique: &'static [(&'static str, ErrorCode)],
}

fn column<E: EntityTrait>(name: &str) -> Result<E::Column> {
    name.parse().map_err(|_| Error::internal(format!("no column {name}")))
}

/// The living row `id`, or 404.
pub async fn find<E>(conn: &impl tillkeep_storage::sea_orm::ConnectionTrait, kind: &Kind, id: Uuid) -> Result<E::Model>
where
    E: EntityTrait,
{
    let select = E::find().filter(column::<E>("id")?.eq(id)).filter(column::<E>("deleted_at")?.is_null());
    select.one(conn).await?.ok_or_else(|| Error::not_found(kind.singular))
}

/// Refuses a value that another living row has.
pub async fn check_unique<E>(tx: &Tx, kind: &Kind, model: &E::Model) -> Result<()>
where
    E: EntityTrait,
    E::Model: IntoActiveModel<E::ActiveModel> + Send + Sync,
{
    let id = id_of::<E>(model)?;
    for (key, code) in kind.unique {
        let value = model.get(column::<E>(key)?);
        if value == value.as_null() {
            continue;
        }
        if resource::taken::<E>(tx, id, key, value).await? {
            return Err(Error::new(*code, format!("another {} has this {key}", kind.singular)).at(*key));
        }
    }
    Ok(())
}

fn id_of<E: EntityTrait>(model: &E::Model) -> Result<Uuid> {
    match model.get(column::<E>("id")?) {
        tillkeep_storage::sea_orm::Value::Uuid(Some(id)) => Ok(id),
        _ => Err(Error::internal("a row without an id")),
    }
}

fn stamp<E: EntityTrait>(model: &mut E::Model, now: Instant, new: bool) -> Result<()> {
    if new {
        model.set(column::<E>("created_at")?, now.into());
    }
    model.set(column::<E>("updated_at")?, now.into());
    model.set(column::<E>("sync_version")?, versions::UNSTAMPED.into());
    Ok(())
}

/// A new row. `check` sees it inside the transaction and may complete or refuse it; `after` does what follows.
///
/// The same id with the same content again is answered with the row that is there; with other content it is
/// `id_reused`.
pub async fn create<E, P>(
    hq: &Hq,
    caller: &Caller<P>,
    kind: &Kind,
    body: Map<String, Json>,
    check: impl AsyncFnOnce(&mut Tx, &mut E::Model) -> Result<()>,
    after: impl AsyncFnOnce(&mut Tx, &E::Model) -> Result<()>,
) -> Result<Created<E::Model>>
where
    E: EntityTrait,
    E::Model: Serialize + DeserializeOwned + IntoActiveModel<E::ActiveModel> + Send + Sync,
    E::ActiveModel: ActiveModelTrait<Entity = E> + Send,
    P: Requirement,
{
    let mut model: E::Model = resource::draft(&kind.fields, (kind.defaults)(), body.clone())?;
    let id = id_of::<E>(&model)?;
    let now = caller.now();
    let mut tx = caller.db().begin().await?;
    if let Some(stored) = E::find().filter(column::<E>("id")?.eq(id)).one(&tx).await? {
        if resource::same(&stored, &body) {
            return Ok(Created { data: stored, new: false });
        }
        return Err(Error::new(ErrorCode::IdReused, "this id belongs to a row with other content").at("id"));
    }
    stamp::<E>(&mut model, now, true)?;
    check(&mut tx, &mut model).await?;
    check_unique::<E>(&tx, kind, &model).await?;
    E::insert(model.clone().into_active_model()).exec_without_returning(&tx).await?;
    tx.touch(kind.name);
    after(&mut tx, &model).await?;
    record(&tx, caller, "create", kind, id, json!(body)).await?;
    hq.commit(tx).await?;
    let model = E::find().filter(column::<E>("id")?.eq(id)).one(caller.db().reader()).await?;
    model.map(Created::new).ok_or_else(|| Error::not_found(kind.singular))
}

/// A change of some keys. `check` sees the row before and after; nothing sent that differs is no change at all.
pub async fn change<E, P>(
    hq: &Hq,
    caller: &Caller<P>,
    kind: &Kind,
    id: Uuid,
    mut body: Map<String, Json>,
    check: impl AsyncFnOnce(&mut Tx, &E::Model, &mut E::Model) -> Result<()>,
) -> Result<E::Model>
where
    E: EntityTrait,
    E::Model: Serialize + DeserializeOwned + IntoActiveModel<E::ActiveModel> + PartialEq + Send + Sync,
    E::ActiveModel: ActiveModelTrait<Entity = E> + Send,
    P: Requirement,
{
    let expected = resource::take_expected_version(&mut body)?;
    let mut tx = caller.db().begin().await?;
    let old = find::<E>(&tx, kind, id).await?;
    let version = old.get(column::<E>("sync_version")?);
    if expected.is_some_and(|expected| version != expected.into()) {
        let text = "somebody else changed this row in the meantime";
        return Err(Error::new(ErrorCode::VersionConflict, text).with("current", &old));
    }
    let mut new = resource::changed(&kind.fields, &old, &body)?;
    check(&mut tx, &old, &mut new).await?;
    if new == old {
        return Ok(old);
    }
    check_unique::<E>(&tx, kind, &new).await?;
    stamp::<E>(&mut new, caller.now(), false)?;
    write::<E>(&tx, new).await?;
    tx.touch(kind.name);
    record(&tx, caller, "edit", kind, id, json!(body)).await?;
    hq.commit(tx).await?;
    find::<E>(caller.db().reader(), kind, id).await
}

/// Marks a row as deleted; it travels as a row (rule D3 of `docs/sync.md`). `check` refuses what is still in use.
pub async fn delete<E, P>(
    hq: &Hq,
    caller: &Caller<P>,
    kind: &Kind,
    id: Uuid,
    check: impl AsyncFnOnce(&mut Tx, &E::Model) -> Result<()>,
) -> Result<()>
where
    E: EntityTrait,
    E::Model: IntoActiveModel<E::ActiveModel> + Send + Sync,
    E::ActiveModel: ActiveModelTrait<Entity = E> + Send,
    P: Requirement,
{
    let mut tx = caller.db().begin().await?;
    let mut model = find::<E>(&tx, kind, id).await?;
    check(&mut tx, &model).await?;
    stamp::<E>(&mut model, caller.now(), false)?;
    model.set(column::<E>("deleted_at")?, Some(caller.now()).into());
    write::<E>(&tx, model).await?;
    tx.touch(kind.name);
    record(&tx, caller, "delete", kind, id, Json::Null).await?;
    hq.commit(tx).await?;
    Ok(())
}

/// Writes every column of an existing row.
pub async fn write<E>(tx: &Tx, model: E::Model) -> Result<()>
where
    E: EntityTrait,
    E::Model: IntoActiveModel<E::ActiveModel>,
    E::ActiveModel: ActiveModelTrait<Entity = E> + Send,
{
    let mut active = model.into_active_model();
    for column in E::Column::iter() {
        if let Some(value) = active.get(column).into_value() {
            active.set(column, value);
        }
    }
    E::update(active).exec(tx).await?;
    Ok(())
}

async fn record<P: Requirement>(
    tx: &Tx,
    caller: &Caller<P>,
    action: &'static str,
    kind: &Kind,
    id: Uuid,
    details: Json,
) -> Result<()> {
    let entry = audit::Entry {
        entity_type: Some(kind.name),
        entity_id: Some(id.to_string()),
        details,
        ..caller.audit(action)
    };
    audit::record(tx, entry, caller.now()).await?;
    Ok(())
}
