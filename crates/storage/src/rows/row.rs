//! One row of any synchronised table, without knowing its type.

use std::any::Any;
use std::str::FromStr;

use sea_orm::{EntityTrait, ModelTrait, Value};
use serde::Serialize;
use tillkeep_model::Instant;
use uuid::Uuid;

/// One row of some type.
pub trait Row: Send + Sync + Any {
    /// The value of `column`; `None` when there is no such column.
    fn get(&self, column: &str) -> Option<Value>;
    /// Sets `column`; false when there is no such column or the value is of another type.
    fn set(&mut self, column: &str, value: Value) -> bool;
    /// The row as it travels.
    fn to_json(&self) -> Result<String, serde_json::Error>;
    fn as_any(&self) -> &dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl dyn Row {
    pub fn uuid(&self, column: &str) -> Option<Uuid> {
        match self.get(column)? {
            Value::Uuid(id) => id,
            _ => None,
        }
    }

    pub fn text(&self, column: &str) -> Option<String> {
        match self.get(column)? {
            Value::String(text) => text,
            _ => None,
        }
    }

    pub fn flag(&self, column: &str) -> Option<bool> {
        match self.get(column)? {
            Value::Bool(flag) => flag,
            _ => None,
        }
    }

    pub fn integer(&self, column: &str) -> Option<i64> {
        match self.get(column)? {
            Value::BigInt(number) => number,
            Value::Int(number) => number.map(i64::from),
            _ => None,
        }
    }

    pub fn instant(&self, column: &str) -> Option<Instant> {
        match self.get(column)? {
            Value::ChronoDateTimeUtc(time) => time.map(Into::into),
            _ => None,
        }
    }

    /// The row as what it is, when that is `M`.
    pub fn typed<M: 'static>(&self) -> Option<&M> {
        self.as_any().downcast_ref::<Typed<M>>().map(|typed| &typed.0)
    }
}

/// A row of `M`.
pub(crate) struct Typed<M>(pub M);

impl<M> Row for Typed<M>
where
    M: ModelTrait + Serialize + Send + Sync + 'static,
{
    fn get(&self, column: &str) -> Option<Value> {
        Some(self.0.get(column_of::<M::Entity>(column)?))
    }

    fn set(&mut self, column: &str, value: Value) -> bool {
        column_of::<M::Entity>(column).is_some_and(|column| self.0.try_set(column, value).is_ok())
    }

    fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&self.0)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

pub(crate) fn column_of<E: EntityTrait>(name: &str) -> Option<E::Column> {
    E::Column::from_str(name).ok()
}
