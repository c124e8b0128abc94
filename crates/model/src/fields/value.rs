//! A value that is held against the rule of its field.

use sea_orm::Value as Stored;
use serde_json::Value as Json;
use uuid::Uuid;

use crate::{Bps, Money, Qty};

/// A value to check: of a typed row or of JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Flag(bool),
    Number(i64),
    Text(&'a str),
    Id(Uuid),
    /// What no rule is for.
    Other,
}

impl<'a> From<&'a Stored> for Value<'a> {
    fn from(value: &'a Stored) -> Self {
        match value {
            Stored::Bool(Some(flag)) => Self::Flag(*flag),
            Stored::SmallInt(Some(number)) => Self::Number((*number).into()),
            Stored::Int(Some(number)) => Self::Number((*number).into()),
            Stored::BigInt(Some(number)) => Self::Number(*number),
            Stored::String(Some(text)) => Self::Text(text),
            Stored::Uuid(Some(id)) => Self::Id(*id),
            value if *value == value.as_null() => Self::Null,
            _ => Self::Other,
        }
    }
}

impl<'a> From<&'a Json> for Value<'a> {
    fn from(value: &'a Json) -> Self {
        match value {
            Json::Null => Self::Null,
            Json::Bool(flag) => Self::Flag(*flag),
            Json::Number(number) => number.as_i64().map_or(Self::Other, Self::Number),
            Json::String(text) => Self::Text(text),
            Json::Array(_) | Json::Object(_) => Self::Other,
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

macro_rules! numbers {
    ($($name:ty),*) => {$(
        impl From<$name> for Value<'_> {
            fn from(number: $name) -> Self { Self::Number(number.0.into()) }
        }
    )*};
}
numbers!(Money, Qty, Bps);

impl From<i32> for Value<'_> {
    fn from(number: i32) -> Self {
        Self::Number(number.into())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value<'_> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
