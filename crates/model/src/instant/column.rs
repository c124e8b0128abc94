//! An instant in a column of either database.

use chrono::{DateTime, TimeDelta, Utc};
use sea_orm::sea_query::{ArrayType, ColumnType, Nullable, ValueType, ValueTypeErr};
use sea_orm::sqlx::{Row, ValueRef};
use sea_orm::{ColIdx, DbErr, QueryResult, RuntimeErr, TryGetError, TryGetable, Value, sqlx};

use super::Instant;

/// What `PostgreSQL` counts its microseconds from: the first of January 2000, in milliseconds since the Unix epoch.
const POSTGRES_EPOCH_MS: i64 = 946_684_800_000;

impl TryGetable for Instant {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        let unread = |source: sqlx::error::BoxDynError| {
            let error = sqlx::Error::ColumnDecode { index: format!("{index:?}"), source };
            TryGetError::DbErr(DbErr::Query(RuntimeErr::SqlxError(error.into())))
        };
        let time = match row.try_as_pg_row() {
            // The driver panics at `infinity`, which anybody can write with SQL.
            Some(row) => {
                let value = row.try_get_raw(index.as_sqlx_postgres_index()).map_err(|error| unread(error.into()))?;
                if value.is_null() {
                    return Err(TryGetError::Null(format!("{index:?}")));
                }
                let bytes = value.as_bytes().map_err(unread)?;
                let micros = i64::from_be_bytes(
                    bytes.try_into().map_err(|error: std::array::TryFromSliceError| unread(error.into()))?,
                );
                TimeDelta::try_milliseconds(POSTGRES_EPOCH_MS)
                    .and_then(|epoch| DateTime::UNIX_EPOCH.checked_add_signed(epoch))
                    .and_then(|epoch| epoch.checked_add_signed(TimeDelta::microseconds(micros)))
            }
            None => Some(DateTime::<Utc>::try_get_by(row, index)?),
        };
        time.and_then(Self::within_reach).ok_or_else(|| unread("no instant of the years 1 to 9999".into()))
    }
}

impl From<Instant> for Value {
    fn from(instant: Instant) -> Self {
        instant.0.into()
    }
}

impl ValueType for Instant {
    fn try_from(value: Value) -> Result<Self, ValueTypeErr> {
        <DateTime<Utc> as ValueType>::try_from(value).map(Self)
    }
    fn type_name() -> String {
        "Instant".to_owned()
    }
    fn array_type() -> ArrayType {
        <DateTime<Utc> as ValueType>::array_type()
    }
    fn column_type() -> ColumnType {
        <DateTime<Utc> as ValueType>::column_type()
    }
}

impl Nullable for Instant {
    fn null() -> Value {
        <DateTime<Utc> as Nullable>::null()
    }
}
