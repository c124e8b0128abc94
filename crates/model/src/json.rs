//! A JSON value kept as text in one column, read and written whole, never queried inside the database.

use std::sync::Arc;

use sea_orm::sea_query::{ArrayType, ColumnType, Nullable, ValueType, ValueTypeErr};
use sea_orm::{ColIdx, DbErr, QueryResult, RuntimeErr, TryGetError, TryGetable, Value, sqlx};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JsonText(pub serde_json::Value);

impl JsonText {
    /// `[]`, the default of every list column.
    #[must_use]
    pub fn empty_list() -> Self {
        Self(serde_json::Value::Array(Vec::new()))
    }

    /// Any serialisable value; what cannot be JSON (a map with keys that are no text) becomes `null`.
    #[must_use]
    pub fn new<T: Serialize>(value: &T) -> Self {
        Self(serde_json::to_value(value).unwrap_or_default())
    }
}

impl Default for JsonText {
    fn default() -> Self {
        Self::empty_list()
    }
}

impl From<JsonText> for Value {
    fn from(json: JsonText) -> Self {
        json.0.to_string().into()
    }
}

impl TryGetable for JsonText {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        let text = String::try_get_by(row, index)?;
        serde_json::from_str(&text).map_err(|error| {
            // As the driver says it of every other type, so that the column has its name.
            let error = sqlx::Error::ColumnDecode { index: format!("{index:?}"), source: error.into() };
            TryGetError::DbErr(DbErr::Query(RuntimeErr::SqlxError(Arc::new(error))))
        })
    }
}

impl ValueType for JsonText {
    fn try_from(value: Value) -> Result<Self, ValueTypeErr> {
        let text = <String as ValueType>::try_from(value)?;
        serde_json::from_str(&text).map_err(|_| ValueTypeErr)
    }
    fn type_name() -> String {
        "JsonText".to_owned()
    }
    fn array_type() -> ArrayType {
        ArrayType::String
    }
    fn column_type() -> ColumnType {
        ColumnType::Text
    }
}

impl Nullable for JsonText {
    fn null() -> Value {
        <String as Nullable>::null()
    }
}
