//! Rows of own SQL, read with the types that are asked for.

use std::fmt::Debug;

use sea_orm::sea_query::ValueType;
use sea_orm::{ColIdx, DbErr, QueryResult, RuntimeErr, TryGetable, sqlx};

use super::sqlite;

/// A row that [`crate::db::query`] found.
#[derive(Debug)]
pub struct Row(QueryResult);

impl From<QueryResult> for Row {
    fn from(row: QueryResult) -> Self {
        Self(row)
    }
}

impl Row {
    /// The value of `column`; an error that names it, when it is of another type.
    pub fn try_get<T: TryGetable + ValueType>(&self, prefix: &str, column: &str) -> Result<T, DbErr> {
        self.read(format!("{prefix}{column}").as_str())
    }

    /// The value of the column with this number, from 0.
    pub fn try_get_by_index<T: TryGetable + ValueType>(&self, index: usize) -> Result<T, DbErr> {
        self.read(index)
    }

    fn read<T: TryGetable + ValueType, I: ColIdx + Debug>(&self, index: I) -> Result<T, DbErr> {
        let Some(row) = self.0.try_as_proxy_row() else { return Ok(T::try_get_by(&self.0, index)?) };
        let by_name = || row.values.get(index.as_str()?);
        let by_number = || row.values.get(&sqlite::numbered(*index.as_usize()?));
        let stored = by_name().or_else(by_number).ok_or_else(|| {
            let error = sqlx::Error::ColumnNotFound(format!("{index:?}"));
            DbErr::Query(RuntimeErr::SqlxError(error.into()))
        })?;
        sqlite::stored_as(stored.clone()).ok_or_else(|| {
            let source = format!("it is not of the type {}", T::type_name()).into();
            let error = sqlx::Error::ColumnDecode { index: format!("{index:?}"), source };
            DbErr::Query(RuntimeErr::SqlxError(error.into()))
        })
    }
}
