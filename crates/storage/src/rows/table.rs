//! Any entity as a value: what the sync engine needs of a table, without knowing its type.

use std::marker::PhantomData;
use std::ops::ControlFlow;

use sea_orm::sea_query::{self, Expr, OnConflict};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait as _, DbErr, EntityName, EntityTrait, FromQueryResult, IdenStatic,
    IntoActiveModel, Iterable, ModelTrait as _, QueryFilter, QueryOrder, QueryResult, QuerySelect, QueryTrait, Value,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tillkeep_model::Instant;
use uuid::Uuid;

use super::row::{Row, Typed, column_of};
use super::texts::Texts;
use super::unread::{Reading, Unread};
use crate::Transaction;
use crate::many::selects_in;
use crate::sql::bulk::{self, Added};
use crate::sql::connection::Scanned;
use crate::sql::sqlite::Found;

/// What can be done with the rows of any synchronised table.
#[async_trait::async_trait]
pub trait SyncTable: Send + Sync {
    fn name(&self) -> &'static str;
    fn columns(&self) -> Vec<&'static str>;

    /// Reads one row as it travels; the error names the field.
    fn decode(&self, json: &str) -> Result<Box<dyn Row>, String>;

    /// Rows with a version above `since` by rising version, at most `limit`, of those where one of the `filter`
    /// columns is `store`.
    async fn above(
        &self,
        conn: &Transaction,
        since: i64,
        limit: u64,
        filter: &[&str],
        store: Uuid,
    ) -> Result<Vec<Reading>, DbErr>;

    /// As [`SyncTable::above`], as they travel: as many as fit into a page of so many `bytes`.
    async fn texts_above(
        &self,
        conn: &Transaction,
        since_and_limit: (i64, usize),
        bytes: usize,
        filter: &[&str],
        store: Uuid,
    ) -> Result<Texts, DbErr>;

    /// The rows of `store` with an id above `after`, changed or received since `since`, by id, at most `limit`.
    async fn own(
        &self,
        conn: &Transaction,
        store: Uuid,
        after: Uuid,
        since: Instant,
        limit: u64,
    ) -> Result<Vec<Reading>, DbErr>;

    /// The rows behind the key `after` by the columns of `key`, which are ids, at most `limit`; with columns to filter by, of those
    /// where one of them is the store.
    async fn behind(
        &self,
        conn: &Transaction,
        key: &[&str],
        after: &[Uuid],
        limit: u64,
        filter: (&[&str], Uuid),
    ) -> Result<Vec<Reading>, DbErr>;

    /// Every row, by primary key.
    async fn every(&self, conn: &Transaction) -> Result<Vec<Reading>, DbErr>;

    /// The rows with one of `ids` in `column`, by primary key; locked until the end of the transaction when `lock`.
    async fn read_having(
        &self,
        conn: &Transaction,
        column: &str,
        ids: &[Uuid],
        lock: bool,
    ) -> Result<Vec<Reading>, DbErr>;

    /// As [`SyncTable::every`], when each of them can be read.
    async fn all(&self, conn: &Transaction) -> Result<Vec<Box<dyn Row>>, DbErr> {
        Ok(self.every(conn).await?.into_iter().collect::<Result<_, _>>()?)
    }

    /// As [`SyncTable::read_having`], when each of them can be read.
    async fn having(
        &self,
        conn: &Transaction,
        column: &str,
        ids: &[Uuid],
        lock: bool,
    ) -> Result<Vec<Box<dyn Row>>, DbErr> {
        Ok(self.read_having(conn, column, ids, lock).await?.into_iter().collect::<Result<_, _>>()?)
    }

    /// Inserts rows, or on conflict of `key` updates the `update` columns where `guard` holds. Set-wise.
    async fn upsert(
        &self,
        conn: &Transaction,
        rows: Vec<Box<dyn Row>>,
        key: &[&str],
        update: &[&str],
        guard: Option<Expr>,
    ) -> Result<u64, DbErr>;

    /// As [`SyncTable::upsert`], of rows of which probably none is there.
    async fn add(
        &self,
        conn: &Transaction,
        rows: Vec<Box<dyn Row>>,
        key: &[&str],
        update: &[&str],
        guard: Option<Expr>,
    ) -> Result<Added, DbErr>;
}

/// The table of the entity `E`.
pub struct Of<E>(PhantomData<fn() -> E>);

impl<E> Of<E> {
    pub const NEW: Self = Self(PhantomData);
}

impl<E> Of<E>
where
    E: EntityTrait + EntityName,
    E::Model: Default + Serialize + Send + Sync + 'static,
{
    fn column(name: &str) -> Result<E::Column, DbErr> {
        column_of::<E>(name).ok_or_else(|| DbErr::Custom(format!("{} has no column {name}", E::default().table_name())))
    }

    fn columns_named(names: &[&str]) -> Result<Vec<E::Column>, DbErr> {
        names.iter().map(|name| Self::column(name)).collect()
    }

    /// On conflict of `key` the `update` columns change where `guard` holds.
    fn conflict(key: &[&str], update: &[&str], guard: Option<Expr>) -> Result<OnConflict, DbErr> {
        let (key, update) = (Self::columns_named(key)?, Self::columns_named(update)?);
        let mut conflict = OnConflict::columns(key);
        if update.is_empty() {
            conflict.do_nothing();
        } else {
            conflict.update_columns(update).action_and_where_option(guard);
        }
        Ok(conflict)
    }

    fn models(rows: Vec<Box<dyn Row>>) -> Result<Vec<E::Model>, DbErr> {
        let typed = |row: Box<dyn Row>| {
            let typed = row.into_any().downcast::<Typed<E::Model>>();
            typed.map(|typed| typed.0).map_err(|_| DbErr::Custom("a row of another table".to_owned()))
        };
        rows.into_iter().map(typed).collect()
    }

    /// Gives `take` what `select` finds, row by row, until it has enough: one that cannot be read keeps none of the others back.
    async fn scan(
        conn: &Transaction,
        select: &sea_orm::Select<E>,
        parent: Option<&str>,
        take: &mut (dyn FnMut(Result<E::Model, Unread>) -> Result<ControlFlow<()>, DbErr> + Send),
    ) -> Result<(), DbErr> {
        let mut columns: Option<Vec<E::Column>> = None;
        let by_names = |row: &QueryResult, misfit: Option<DbErr>| {
            let model = misfit.map_or_else(|| E::Model::from_query_result(row, ""), Err);
            model.map_err(|error| Unread::new(E::default().table_name(), row, parent, &error))
        };
        let mut read = |found: Scanned<'_>| -> Result<ControlFlow<()>, DbErr> {
            let row = match found {
                Scanned::Named(row) => return take(by_names(&row, None)),
                Scanned::Placed(row) => row,
            };
            let columns = columns.get_or_insert_with(|| Self::places(row));
            if let Some(model) = Self::by_places(row, columns) {
                return take(Ok(model));
            }
            // Read by names it says what is wrong with it.
            let (row, misfit) = row.whole()?;
            take(by_names(&row, misfit))
        };
        conn.scan(select.as_query(), &mut read).await
    }

    /// The columns of a row by their places; none when they are not all of the table's, each in its place.
    fn places(row: &Found<'_>) -> Vec<E::Column> {
        let columns: Vec<E::Column> = E::Column::iter().collect();
        let are_there = row.names().eq(columns.iter().map(IdenStatic::as_str));
        if are_there { columns } else { Vec::new() }
    }

    /// A row whose values are in these places; none when one of them does not fit.
    fn by_places(row: &Found<'_>, columns: &[E::Column]) -> Option<E::Model> {
        if columns.is_empty() {
            return None;
        }
        let mut model = E::Model::default();
        for (at, column) in columns.iter().enumerate() {
            model.try_set(*column, row.value(at)?).ok()?;
        }
        Some(model)
    }

    /// What `select` finds.
    async fn readings(
        conn: &Transaction,
        select: sea_orm::Select<E>,
        parent: Option<&str>,
    ) -> Result<Vec<Reading>, DbErr> {
        let mut found = Vec::new();
        let mut keep = |row: Result<E::Model, Unread>| -> Result<ControlFlow<()>, DbErr> {
            found.push(row.map(|model| Box::new(Typed(model)) as Box<dyn Row>));
            Ok(ControlFlow::Continue(()))
        };
        Self::scan(conn, &select, parent, &mut keep).await?;
        Ok(found)
    }

    /// Rows with a version above `since` by rising version, at most `limit`, as [`SyncTable::above`] has them.
    fn versions_above(
        since: i64,
        limit: u64,
        filter: &[&str],
        store: Uuid,
    ) -> Result<(E::Column, sea_orm::Select<E>), DbErr> {
        let version = Self::column("sync_version")?;
        let select = E::find().filter(version.gt(since)).order_by_asc(version).limit(limit);
        Ok((version, Self::of_store(select, filter, store)?))
    }

    /// Of those where one of the `filter` columns is `store`; of all without one.
    fn of_store(select: sea_orm::Select<E>, filter: &[&str], store: Uuid) -> Result<sea_orm::Select<E>, DbErr> {
        if filter.is_empty() {
            return Ok(select);
        }
        let mut any = Condition::any();
        for name in filter {
            any = any.add(Self::column(name)?.eq(store));
        }
        Ok(select.filter(any))
    }

    fn ordered(mut select: sea_orm::Select<E>) -> sea_orm::Select<E> {
        for key in E::PrimaryKey::iter() {
            select = select.order_by_asc(sea_orm::PrimaryKeyToColumn::into_column(key));
        }
        select
    }
}

#[async_trait::async_trait]
impl<E> SyncTable for Of<E>
where
    E: EntityTrait + EntityName,
    E::Model: Default + Serialize + DeserializeOwned + IntoActiveModel<E::ActiveModel> + Send + Sync + 'static,
    E::ActiveModel: Send,
{
    fn name(&self) -> &'static str {
        E::default().table_name()
    }

    fn columns(&self) -> Vec<&'static str> {
        E::Column::iter().map(|column| column.as_str()).collect()
    }

    fn decode(&self, json: &str) -> Result<Box<dyn Row>, String> {
        // To keep track of the field costs a tenth of reading: only what cannot be read is read once more for it.
        let model = serde_json::from_str::<E::Model>(json).or_else(|_| {
            let named = serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(json));
            named.map_err(|error| format!("{}: {}", error.path(), error.inner()))
        })?;
        Ok(Box::new(Typed(model)))
    }

    async fn above(
        &self,
        conn: &Transaction,
        since: i64,
        limit: u64,
        filter: &[&str],
        store: Uuid,
    ) -> Result<Vec<Reading>, DbErr> {
        let (_, select) = Self::versions_above(since, limit, filter, store)?;
        Self::readings(conn, select, None).await
    }

    async fn texts_above(
        &self,
        conn: &Transaction,
        (since, limit): (i64, usize),
        bytes: usize,
        filter: &[&str],
        store: Uuid,
    ) -> Result<Texts, DbErr> {
        let mut texts = Texts::new(since, limit, bytes);
        let one_more = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        let (version, select) = Self::versions_above(since, one_more, filter, store)?;
        let mut take = |row: Result<E::Model, Unread>| -> Result<ControlFlow<()>, DbErr> {
            let model = match row {
                Ok(model) => model,
                Err(unread) => return Ok(texts.leave_out(unread)),
            };
            let text = serde_json::to_string(&model).map_err(|error| DbErr::Json(error.to_string()))?;
            let version = match model.get(version) {
                Value::BigInt(version) => version,
                _ => None,
            };
            Ok(texts.take(text, version))
        };
        Self::scan(conn, &select, None, &mut take).await?;
        Ok(texts)
    }

    async fn own(
        &self,
        conn: &Transaction,
        store: Uuid,
        after: Uuid,
        since: Instant,
        limit: u64,
    ) -> Result<Vec<Reading>, DbErr> {
        let id = Self::column("id")?;
        // Whatever the clock of its store said then: what came since is recent.
        let mut recent = Condition::any().add(Self::column("updated_at")?.gte(since));
        if let Some(received) = column_of::<E>("received_at") {
            recent = recent.add(received.gte(since));
        }
        let select = E::find().filter(Self::column("store_id")?.eq(store)).filter(id.gt(after)).filter(recent);
        Self::readings(conn, select.order_by_asc(id).limit(limit), None).await
    }

    async fn behind(
        &self,
        conn: &Transaction,
        key: &[&str],
        after: &[Uuid],
        limit: u64,
        (filter, store): (&[&str], Uuid),
    ) -> Result<Vec<Reading>, DbErr> {
        let key = Self::columns_named(key)?;
        let place = Expr::tuple(key.iter().map(|column| Expr::col(column.as_column_ref())));
        let last = Expr::tuple(after.iter().map(|id| Expr::val(*id)));
        let mut select =
            Self::of_store(E::find(), filter, store)?.filter(sea_query::ExprTrait::gt(place, last)).limit(limit);
        for column in key {
            select = select.order_by_asc(column);
        }
        Self::readings(conn, select, None).await
    }

    async fn every(&self, conn: &Transaction) -> Result<Vec<Reading>, DbErr> {
        Self::readings(conn, Self::ordered(E::find()), None).await
    }

    async fn read_having(
        &self,
        conn: &Transaction,
        column: &str,
        ids: &[Uuid],
        lock: bool,
    ) -> Result<Vec<Reading>, DbErr> {
        let by = Self::column(column)?;
        let mut select = Self::ordered(E::find());
        if lock {
            select = select.lock_exclusive();
        }
        let mut found = Vec::new();
        for select in selects_in(conn.get_database_backend(), &select, by, ids.iter().copied())? {
            found.extend(Self::readings(conn, select, Some(column)).await?);
        }
        Ok(found)
    }

    async fn upsert(
        &self,
        conn: &Transaction,
        rows: Vec<Box<dyn Row>>,
        key: &[&str],
        update: &[&str],
        guard: Option<Expr>,
    ) -> Result<u64, DbErr> {
        let conflict = Self::conflict(key, update, guard)?;
        bulk::insert::<E>(conn, Self::models(rows)?, Some(conflict)).await
    }

    async fn add(
        &self,
        conn: &Transaction,
        rows: Vec<Box<dyn Row>>,
        key: &[&str],
        update: &[&str],
        guard: Option<Expr>,
    ) -> Result<Added, DbErr> {
        let conflict = Self::conflict(key, update, guard)?;
        bulk::add::<E>(conn, Self::models(rows)?, conflict).await
    }
}
