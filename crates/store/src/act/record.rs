//! Rows that people make at a store.

use serde::Serialize;
use tillkeep_model::Instant;
use tillkeep_storage::sea_orm::sea_query::{Alias, Expr, ExprTrait, OnConflict};
use tillkeep_storage::sea_orm::{
    ActiveModelTrait, ConnectionTrait, EntityName, EntityTrait, IntoActiveModel, QueryFilter,
};
use tillkeep_storage::{DbErr, Tx, registry};
use uuid::Uuid;

/// Something that people make at a store, stored under an id: a document that headquarters takes, or a row of this store
/// alone. It is serialised as it travels, lines inside.
pub trait Record: Serialize + Send + Sync + Sized + 'static {
    /// The table of its own row; those of its lines are written beside it.
    type Row: EntityTrait;
    /// What it is to people, with its article.
    const NOUN: &'static str;

    fn id(&self) -> Uuid;
    fn created_at(&self) -> Instant;
    /// Its row, with every column.
    fn row(&self) -> <Self::Row as EntityTrait>::ActiveModel;
    /// `row` with its lines.
    fn load(
        conn: &impl ConnectionTrait,
        row: <Self::Row as EntityTrait>::Model,
    ) -> impl Future<Output = Result<Self, DbErr>> + Send;

    /// Its table, which is the name of its type.
    fn table() -> &'static str {
        Self::Row::default().table_name()
    }

    /// Whether it goes to headquarters.
    fn travels() -> bool {
        registry::find(Self::table()).is_some_and(registry::SyncType::is_pushed)
    }
}

/// Makes the rows of an entity records without lines.
macro_rules! record_of_row {
    ($entity:ident, $noun:literal) => {
        impl crate::act::Record for $entity::Model {
            type Row = $entity::Entity;
            const NOUN: &'static str = $noun;

            fn id(&self) -> ::uuid::Uuid {
                self.id
            }

            fn created_at(&self) -> ::tillkeep_model::Instant {
                self.created_at
            }

            fn row(&self) -> $entity::ActiveModel {
                ::tillkeep_storage::sea_orm::IntoActiveModel::into_active_model(self.clone())
            }

            async fn load(
                _: &impl ::tillkeep_storage::sea_orm::ConnectionTrait,
                row: Self,
            ) -> ::std::result::Result<Self, ::tillkeep_storage::DbErr> {
                Ok(row)
            }
        }
    };
}
pub(crate) use record_of_row;

/// The one that is stored under `id`.
pub(crate) async fn find<D: Record>(conn: &impl ConnectionTrait, id: Uuid) -> Result<Option<D>, DbErr> {
    match D::Row::find().filter(Expr::col(Alias::new("id")).eq(id)).one(conn).await? {
        Some(row) => D::load(conn, row).await.map(Some),
        None => Ok(None),
    }
}

/// Stores its row; false when there is one with its id.
#[expect(clippy::disallowed_methods, reason = "the door itself: an entry in the outbox goes with it")]
pub(super) async fn insert<D: Record>(tx: &Tx, record: &D) -> Result<bool, DbErr> {
    let unless_there = OnConflict::column(Alias::new("id")).do_nothing().to_owned();
    let insert = D::Row::insert(record.row()).on_conflict(unless_there);
    Ok(insert.exec_without_returning(tx).await? > 0)
}

/// Stores its row as it is now.
#[expect(clippy::disallowed_methods, reason = "the door itself: an entry in the outbox goes with it")]
pub(super) async fn update<D: Record>(tx: &Tx, record: &D) -> Result<(), DbErr>
where
    <D::Row as EntityTrait>::Model: IntoActiveModel<<D::Row as EntityTrait>::ActiveModel>,
{
    D::Row::update(record.row().reset_all()).exec(tx).await?;
    Ok(())
}
