//! What is written of rows and asked of lists, as types: the description of both follows from the data that the
//! handlers check by.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json};
use tillkeep_model::ErrorCode;
use tillkeep_model::schema::{nullable, uuid};
use tillkeep_storage::row_schema;
use tillkeep_storage::sea_orm::{EntityName, EntityTrait, IdenStatic, Iterable};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    AdditionalProperties, KnownFormat, Object, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type,
};
use utoipa::{__dev::ComposeSchema, PartialSchema, ToSchema};

use super::Argument;
use super::limits::{self, or_null};
use super::operation::{Operation, string};
use crate::error::Error;
use crate::extract::Params;
use crate::resource::{self, Fields, ListSpec, Query};

/// What may be written of a kind of row, as a type.
pub trait Write {
    type Row: EntityTrait;
    const FIELDS: Fields;
    /// What may be sent with a new row besides the columns: a plain struct with fields that may all be left out, or
    /// `()`.
    type More: ToSchema;
    /// Columns in which `null` restores the default.
    const RESET: &'static [&'static str] = &[];

    /// Names the body in the description: `Product` for `ProductDraft` and `ProductChange`.
    fn name() -> Cow<'static, str>;
}

/// Whether a body makes a row.
pub trait Mode {
    const NEW: bool;
}
pub struct New;
pub struct Existing;
impl Mode for New {
    const NEW: bool = true;
}
impl Mode for Existing {
    const NEW: bool = false;
}

/// The JSON of a row to be written, which the handler checks key by key against [`Write::FIELDS`].
pub struct Written<K, M> {
    pub keys: Map<String, Json>,
    kind: PhantomData<fn() -> (K, M)>,
}

/// A new row.
pub type Draft<K> = Written<K, New>;
/// A change of a row: any of its keys.
pub type Change<K> = Written<K, Existing>;

impl<'de, K, M> Deserialize<'de> for Written<K, M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(|keys| Self { keys, kind: PhantomData })
    }
}

impl<K: Write, M> Written<K, M>
where
    K::More: DeserializeOwned,
{
    /// The JSON of the row, and what was sent besides its columns; not for `()`.
    pub fn parted(mut self) -> Result<(Map<String, Json>, K::More), Error> {
        let properties = match K::More::schema() {
            RefOr::T(Schema::Object(more)) => more.properties,
            _ => BTreeMap::new(),
        };
        debug_assert!(!properties.is_empty(), "the fields are those of a plain struct");
        let more = resource::take(&mut self.keys, properties.keys())?;
        Ok((self.keys, more))
    }
}

impl<K: Write, M: Mode> ComposeSchema for Written<K, M> {
    fn compose(_: Vec<RefOr<Schema>>) -> RefOr<Schema> {
        let table = K::Row::default();
        let mut object =
            ObjectBuilder::new().additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)));
        for field in K::FIELDS.writable(M::NEW) {
            let column = row_schema::of_key(table.table_name(), field.name);
            let schema = limits::of_field(field, column, M::NEW);
            let is_reset = K::RESET.contains(&field.name);
            object = object.property(field.name, if is_reset { or_null(schema) } else { schema });
        }
        if let RefOr::T(Schema::Object(more)) = K::More::schema() {
            for (key, schema) in more.properties {
                object = object.property(key, schema);
            }
        }
        if !M::NEW {
            let version = ObjectBuilder::new()
                .schema_type(SchemaType::Array(vec![Type::Integer, Type::Null]))
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
                .description(Some("The `syncVersion` that the change is based on; another one is refused."));
            return object.property("expectedVersion", version).into();
        }
        let id = nullable(uuid());
        let mut object: Object = object.property("id", id).build();
        object.required =
            K::FIELDS.writable(true).filter(|field| field.required).map(|field| field.name.to_owned()).collect();
        object.into()
    }
}

impl<K: Write, M: Mode> ToSchema for Written<K, M> {
    fn name() -> Cow<'static, str> {
        format!("{}{}", K::name(), if M::NEW { "Draft" } else { "Change" }).into()
    }
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        row_schema::used(schemas);
        K::More::schemas(schemas);
    }
}

/// What may be asked of a list, as a type.
pub trait Listing {
    type Row: EntityTrait;
    const SPEC: ListSpec;
    /// Whether it is [`resource::long_list`]: its pages are asked for by cursors too.
    const LONG: bool = false;
    /// Parameters that are no columns: their names and kinds.
    const MORE: &'static [(&'static str, More)] = &[];
}

/// The kind of a parameter that a handler reads by itself.
#[derive(Clone, Copy)]
pub enum More {
    Flag,
    Id,
    Date,
    Instant,
    Text,
    /// As JSON or as a file.
    Format,
}

/// The parameters of a list.
pub struct Lists<L> {
    pub query: Query,
    list: PhantomData<fn() -> L>,
}

impl<S: Send + Sync, L> FromRequestParts<S> for Lists<L> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Params(query) = Params::<Query>::from_request_parts(parts, state).await?;
        Ok(Self { query, list: PhantomData })
    }
}

fn flag() -> Object {
    ObjectBuilder::new().schema_type(Type::Boolean).build()
}

fn whole(from: i64, to: i64) -> Object {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(from)).maximum(Some(to)).build()
}

fn formatted(format: KnownFormat) -> Object {
    string().format(Some(SchemaFormat::KnownFormat(format))).build()
}

fn text() -> Object {
    string().max_length(Some(crate::resource::MAX_VALUE)).build()
}

impl<L: Listing> Argument for Lists<L> {
    fn describe(operation: &mut Operation) {
        operation.fails(&[ErrorCode::Validation]);
        let has = |name: &str| <L::Row as EntityTrait>::Column::iter().any(|column| column.as_str() == name);
        let mut add = |name: &str, schema: Object, text: &str| operation.query(name, schema, false, Some(text));
        add("page", whole(1, 1_000_000), "Which page, from 1.");
        add("pageSize", whole(1, 200), "Rows of a page; 50 when not said.");
        if L::LONG {
            let schema = string().max_length(Some(crate::cursor::LONGEST)).build();
            add("cursor", schema, "`nextCursor` of the page before, in place of `page`.");
        }
        let sort = format!(
            "Columns to sort by, with `-` before one for falling order: {}.",
            L::SPEC.sort.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        );
        add("sort", text(), &sort);
        if !L::SPEC.search.is_empty() {
            let search = format!("A part of {}, in any case.", L::SPEC.search.join(", "));
            add("search", text(), &search);
        }
        if has("is_active") {
            add("active", flag(), "Only active rows, or only those that are not.");
        }
        add("includeDeleted", flag(), "Deleted rows too.");
        if has("updated_at") {
            add("updatedSince", formatted(KnownFormat::DateTime), "Only rows changed since then.");
        }
        for name in L::SPEC.filters {
            let schema = row_schema::filter::<L::Row>(name);
            add(name, schema, &format!("Only rows with this `{name}`."));
        }
        for (name, kind) in L::MORE {
            let schema = match kind {
                More::Flag => flag(),
                More::Id => formatted(KnownFormat::Uuid),
                More::Instant => formatted(KnownFormat::DateTime),
                More::Date => formatted(KnownFormat::Date),
                More::Text => text(),
                More::Format => string().enum_values(Some(["json", "csv"])).build(),
            };
            operation.query(name, schema, false, None);
        }
    }
}
