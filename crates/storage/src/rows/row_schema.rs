//! How a row looks in JSON, taken from what is there already: its keys are those that serialising it gives, their
//! types are those of the migration's columns.

use std::borrow::Cow;

use sea_orm::EntityTrait;
use serde::Serialize;
use serde_json::Value as Json;
use tillkeep_model::schema::nullable;
use tillkeep_model::{Bps, Cost, Instant, JsonText, Money, Ppm, Qty};
use utoipa::openapi::schema::{KnownFormat, Object, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{__dev::ComposeSchema, PartialSchema, ToSchema};

use crate::entity;
use crate::migration::{self, Column};

/// A name without what `camelCase` and `snake_case` do to it. A digit begins a word in some names (`address_line1`) and
/// ends one in others; the letters decide.
fn letters(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().filter(|byte| *byte != b'_').map(|byte| byte.to_ascii_lowercase())
}

/// The column of table `table` that a row shows as `key`.
fn column(table: &str, key: &str) -> Option<Column> {
    let table = migration::tables().find(|known| known.name == table)?;
    table.columns().find(|column| letters(column.name).eq(letters(key)))
}

fn plain(kind: Type, format: Option<KnownFormat>) -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(kind).format(format.map(SchemaFormat::KnownFormat)).into()
}

fn named<T: ToSchema>() -> RefOr<Schema> {
    Ref::from_schema_name(T::name()).into()
}

fn of_column(column: Column) -> RefOr<Schema> {
    let schema = match column.kind {
        "uuid" => plain(Type::String, Some(KnownFormat::Uuid)),
        "money" => named::<Money>(),
        "qty" => named::<Qty>(),
        "bps" => named::<Bps>(),
        "ppm" => named::<Ppm>(),
        "ts" => named::<Instant>(),
        "json" => return named::<JsonText>(),
        "big" => plain(Type::Integer, Some(KnownFormat::Int64)),
        "int" | "small" => plain(Type::Integer, Some(KnownFormat::Int32)),
        "bool" => plain(Type::Boolean, None),
        _ => plain(Type::String, None),
    };
    if column.nullable { nullable(schema).into() } else { schema }
}

/// The schema of what is shown or sent as `key` of a row of `table`; anything, when that is no column.
pub fn of_key(table: &str, key: &str) -> RefOr<Schema> {
    column(table, key).map_or_else(named::<JsonText>, of_column)
}

/// The schema of a value that the rows of `E` are filtered by.
pub fn filter<E: EntityTrait>(key: &str) -> Object {
    let kind = column(E::default().table_name(), key).map_or("text", |column| column.kind);
    let (kind, format) = match kind {
        "uuid" => (Type::String, Some(KnownFormat::Uuid)),
        "money" | "qty" | "big" | "bps" | "ppm" | "int" | "small" => (Type::Integer, Some(KnownFormat::Int64)),
        "bool" => (Type::Boolean, None),
        _ => (Type::String, None),
    };
    ObjectBuilder::new().schema_type(kind).format(format.map(SchemaFormat::KnownFormat)).build()
}

/// The schema of a row of `E` as it is answered. Costs are in an answer for some and not for others, so that no caller may rely on
/// them.
pub fn of_row<E>() -> Schema
where
    E: EntityTrait,
    E::Model: Default + Serialize,
{
    let table = E::default();
    let mut object = ObjectBuilder::new();
    let keys = |withheld| Cost::without(withheld, || serde_json::to_value(E::Model::default()));
    if let (Ok(Json::Object(row)), Ok(Json::Object(always))) = (keys(false), keys(true)) {
        for key in row.keys() {
            object = object.property(key, of_key(table.table_name(), key));
            if always.contains_key(key) {
                object = object.required(key);
            }
        }
    }
    object.into()
}

/// The types that columns have, with their names: what schemas of rows refer to.
pub fn used(schemas: &mut Vec<(String, RefOr<Schema>)>) {
    macro_rules! push {
        ($($name:ty),*) => { $( schemas.push((<$name>::name().into_owned(), <$name>::schema())); )* };
    }
    push!(Money, Qty, Bps, Ppm, Instant, JsonText);
}

macro_rules! described {
    ($($module:ident = $name:literal)*) => {$(
        impl ComposeSchema for entity::$module::Model {
            fn compose(_: Vec<RefOr<Schema>>) -> RefOr<Schema> { of_row::<entity::$module::Entity>().into() }
        }
        impl ToSchema for entity::$module::Model {
            fn name() -> Cow<'static, str> { $name.into() }
            fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) { used(schemas) }
        }
    )*};
}
// The rows that answers show, with their names there.
described! {
    audit_log = "AuditEntry"
    chain_entry = "ChainEntry"
    chain_signature = "ChainSignature"
    customer = "Customer"
    department = "Department"
    inventory_adjustment = "InventoryAdjustment"
    product = "Product"
    product_special = "Special"
    print_job = "PrintJob"
    reason = "Reason"
    refund_claim = "RefundClaim"
    register = "Register"
    register_session = "RegisterSession"
    role = "Role"
    sale = "Sale"
    sale_item = "SaleItem"
    sale_payment = "SalePayment"
    sales_rep = "SalesRep"
    store = "Store"
    store_product = "StoreProduct"
    supplier = "Supplier"
    tax_group = "TaxGroup"
    tax_group_rate = "TaxGroupRate"
    tax_rate = "TaxRate"
    tender = "Tender"
}
