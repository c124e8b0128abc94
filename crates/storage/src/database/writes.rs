//! Writes of rows that stores pull, by the type of the row: what is written here gets a version with the commit, and stores
//! hear of it.

use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{
    ActiveModelTrait, DbErr, DeleteMany, EntityName, EntityTrait, IdenStatic, IntoActiveModel, Iterable, ModelTrait,
    PrimaryKeyToColumn, UpdateMany, Value,
};
use uuid::Uuid;

use super::tx::Tx;
use crate::Side;
use crate::many::execute_in;
use crate::registry::{self, SyncType, awaited};
use crate::sql::bulk;
use crate::sql::bulk::Lines;
use crate::versions::UNSTAMPED;

/// An entity with rows that are written by type.
pub trait Synchronised:
    EntityTrait<
        Model: ModelTrait<Entity = Self> + IntoActiveModel<Self::ActiveModel> + Send + Sync,
        ActiveModel: ActiveModelTrait<Entity = Self> + Send,
    >
{
}

impl<E> Synchronised for E
where
    E: EntityTrait,
    E::Model: ModelTrait<Entity = E> + IntoActiveModel<E::ActiveModel> + Send + Sync,
    E::ActiveModel: ActiveModelTrait<Entity = E> + Send,
{
}

/// The synchronised type of the rows of `E`.
fn type_of<E: EntityName + Default>() -> Result<&'static SyncType, DbErr> {
    let entity = E::default();
    let found = registry::find(entity.table_name()).filter(|found| found.is_pulled());
    found.ok_or_else(|| DbErr::Custom(format!("{} is no type that stores pull", entity.table_name())))
}

/// The column of the version; a type that is pulled whole has none.
fn version<E: EntityTrait>() -> Option<E::Column> {
    "sync_version".parse().ok()
}

impl Tx {
    /// As [`Tx::touch`], by the entity.
    pub(crate) fn wrote<E: EntityName + Default>(&mut self) -> Result<(), DbErr> {
        self.touch(type_of::<E>()?);
        Ok(())
    }

    /// Adds a row.
    pub async fn insert<E: Synchronised>(&mut self, row: E::Model) -> Result<(), DbErr> {
        self.insert_all::<E>(vec![row]).await
    }

    /// Adds rows.
    pub async fn insert_all<E: Synchronised>(&mut self, mut rows: Vec<E::Model>) -> Result<(), DbErr> {
        let entity = type_of::<E>()?;
        if rows.is_empty() {
            return Ok(());
        }
        rows.iter_mut().for_each(unstamp::<E>);
        let ids = ids::<E>(&rows);
        bulk::insert::<E>(self, rows, None).await?;
        self.touch(entity);
        self.came(entity, &ids).await
    }

    /// What documents name of these rows, which are new at headquarters, is not unknown any more.
    async fn came(&self, entity: &SyncType, ids: &[Uuid]) -> Result<(), DbErr> {
        if self.side() == Side::Hq { awaited::came(self, entity.name, ids).await } else { Ok(()) }
    }

    /// Adds a row, or sets the columns `changed` of the one that has its `key`.
    pub async fn upsert<E: Synchronised>(
        &mut self,
        row: E::Model,
        key: impl IntoIterator<Item = E::Column>,
        changed: impl IntoIterator<Item = E::Column>,
    ) -> Result<(), DbErr> {
        self.upsert_all::<E>(vec![row], key, changed).await
    }

    /// As [`Tx::upsert`], of many rows, none of which has the key of another.
    pub async fn upsert_all<E: Synchronised>(
        &mut self,
        mut rows: Vec<E::Model>,
        key: impl IntoIterator<Item = E::Column>,
        changed: impl IntoIterator<Item = E::Column>,
    ) -> Result<(), DbErr> {
        let entity = type_of::<E>()?;
        if rows.is_empty() {
            return Ok(());
        }
        rows.iter_mut().for_each(unstamp::<E>);
        let changed = changed.into_iter().chain(version::<E>());
        let conflict = OnConflict::columns(key).update_columns(changed).to_owned();
        let ids = ids::<E>(&rows);
        bulk::insert::<E>(self, rows, Some(conflict)).await?;
        self.touch(entity);
        self.came(entity, &ids).await
    }

    /// Writes every column of a row that is there.
    pub async fn write<E: Synchronised>(&mut self, mut row: E::Model) -> Result<(), DbErr> {
        let entity = type_of::<E>()?;
        unstamp::<E>(&mut row);
        let mut active = row.into_active_model();
        for column in E::Column::iter() {
            if let Some(value) = active.get(column).into_value() {
                active.set(column, value);
            }
        }
        // SeaORM holds the row twice while it waits; boxed, the callers do not hold it as well.
        Box::pin(E::update(active).exec(&**self)).await?;
        self.touch(entity);
        Ok(())
    }

    /// As [`Tx::write`], of many rows.
    pub async fn write_all<E: Synchronised>(&mut self, mut rows: Vec<E::Model>) -> Result<(), DbErr> {
        let entity = type_of::<E>()?;
        if rows.is_empty() {
            return Ok(());
        }
        let key = || E::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column);
        let keys: Vec<&str> = key().map(|column| column.as_str()).collect();
        let others = E::Column::iter().filter(|column| !keys.contains(&column.as_str()));
        let conflict = OnConflict::columns(key()).update_columns(others).to_owned();
        rows.iter_mut().for_each(unstamp::<E>);
        bulk::insert::<E>(self, rows, Some(conflict)).await?;
        self.touch(entity);
        Ok(())
    }

    /// Sets columns of the rows that `which` filters; how many these are.
    pub async fn update<E: Synchronised>(
        &mut self,
        which: impl FnOnce(UpdateMany<E>) -> UpdateMany<E>,
    ) -> Result<u64, DbErr> {
        let entity = type_of::<E>()?;
        let all = match version::<E>() {
            Some(version) => E::update_many().col_expr(version, Expr::value(UNSTAMPED)),
            None => E::update_many(),
        };
        let changed = which(all).exec(&**self).await?.rows_affected;
        if changed > 0 {
            self.touch(entity);
        }
        Ok(changed)
    }

    /// Adds lines of a document, which travel inside of it.
    pub async fn insert_lines(&self, lines: Lines) -> Result<(), DbErr> {
        lines.insert(self).await
    }

    /// Gives these rows of `entity` a new version with the commit, so that stores pull them again.
    pub async fn restamp(&mut self, entity: &'static SyncType, ids: &[Uuid]) -> Result<(), DbErr> {
        let table = entity.table.name();
        let sql = format!("UPDATE {table} SET sync_version = {UNSTAMPED} WHERE id IN ($list)");
        execute_in(self, &sql, &[], ids.iter().copied()).await?;
        self.touch(entity);
        Ok(())
    }

    /// Removes the rows that `which` filters, of a type that is pulled whole; how many they were. Rows of other types are
    /// marked as deleted, or stores would keep them (`docs/sync.md`, rule D3).
    pub async fn remove<E: Synchronised>(
        &mut self,
        which: impl FnOnce(DeleteMany<E>) -> DeleteMany<E>,
    ) -> Result<u64, DbErr> {
        let entity = type_of::<E>()?;
        if !entity.replace_all {
            return Err(DbErr::Custom(format!("rows of {} are marked as deleted, not removed", entity.name)));
        }
        let removed = which(E::delete_many()).exec(&**self).await?.rows_affected;
        if removed > 0 {
            self.touch(entity);
        }
        Ok(removed)
    }
}

fn ids<E: Synchronised>(rows: &[E::Model]) -> Vec<Uuid> {
    let Ok(column) = "id".parse::<E::Column>() else { return Vec::new() };
    let id = |row: &E::Model| if let Value::Uuid(id) = row.get(column) { id } else { None };
    rows.iter().filter_map(id).collect()
}

fn unstamp<E: Synchronised>(row: &mut E::Model) {
    if let Some(version) = version::<E>() {
        row.set(version, UNSTAMPED.into());
    }
}
