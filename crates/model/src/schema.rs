//! How the types of this crate look in JSON, for the description of the interface. Written by hand: their serde says
//! more than their fields do.

use std::borrow::Cow;

use utoipa::openapi::schema::{KnownFormat, Object, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{OneOfBuilder, RefOr};
use utoipa::{__dev::ComposeSchema, ToSchema};

use crate::{Bps, Instant, JsonText, Money, Ppm, Qty};

/// Units of a quantity at the most: fifteen digits before the point.
const MOST_UNITS: i64 = 999_999_999_999_999;

fn whole(format: KnownFormat, text: &str) -> Object {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(format)))
        .description(Some(text))
        .build()
}

fn money() -> Object {
    whole(KnownFormat::Int64, "Minor units of the store's currency: cents of a dollar, yen of Japan.")
}

fn ppm() -> Object {
    whole(KnownFormat::Int32, "A tax rate in parts per million: 8.875 % is 88750.")
}

fn bps() -> Object {
    whole(KnownFormat::Int32, "Basis points: 10 % is 1000.")
}

fn qty() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::Number)
        .minimum(Some(-MOST_UNITS - 1))
        .maximum(Some(MOST_UNITS + 1))
        .description(Some("Units of measure with at most three decimals: 2 pieces, 1.237 kg."))
        .build()
}

fn instant() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .description(Some("RFC 3339, answered in UTC with milliseconds; any offset is taken, years 1 to 9999 in UTC."))
        .examples([serde_json::json!("2026-11-20T12:34:56.789Z")])
        .build()
}

fn any() -> Object {
    ObjectBuilder::new().schema_type(SchemaType::AnyValue).description(Some("Any JSON.")).build()
}

macro_rules! described {
    ($($name:ident = $schema:ident),*) => {$(
        impl ComposeSchema for $name {
            fn compose(_: Vec<RefOr<Schema>>) -> RefOr<Schema> { $schema().into() }
        }
        impl ToSchema for $name {
            fn name() -> Cow<'static, str> { stringify!($name).into() }
        }
    )*};
}
described!(Money = money, Qty = qty, Ppm = ppm, Bps = bps, Instant = instant, JsonText = any);

/// `schema`, or `null`.
#[must_use]
pub fn nullable(schema: impl Into<RefOr<Schema>>) -> Schema {
    OneOfBuilder::new().item(ObjectBuilder::new().schema_type(Type::Null)).item(schema).into()
}

/// An id.
#[must_use]
pub fn uuid() -> Object {
    ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid))).build()
}
