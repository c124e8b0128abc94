//! What a field may hold, in the words of JSON Schema: its limits and its default, from the book that the handlers check
//! by.

use serde_json::{Value as Json, json};
use tillkeep_model::Qty;
use tillkeep_model::fields::{Book, Field, Initial, Rule};
use tillkeep_model::schema;
use tillkeep_storage::row_schema;
use utoipa::openapi::RefOr;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::schema::{
    AdditionalProperties, ArrayBuilder, KnownFormat, Object, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type,
};

use crate::pins::{LONGEST, SHORTEST};

/// The field `name` of `book`, in a body that is a struct.
pub fn of_book(book: &Book, name: &str) -> RefOr<Schema> {
    let column = row_schema::of_key(book.table, name);
    match book.field(name) {
        Some(field) => of_field(field, column, false),
        None => column,
    }
}

/// The schema of a body's types with what the rules of its fields say.
pub fn of_fields(mut types: RefOr<Schema>, fields: &'static [Field]) -> RefOr<Schema> {
    let RefOr::T(Schema::Object(object)) = &mut types else { return types };
    for field in fields {
        let property = object.properties.get_mut(field.name);
        debug_assert!(property.is_some(), "{} is no field of this body", field.name);
        let Some(property) = property else { continue };
        limit(property, field);
    }
    let is_required = |field: &&Field| field.required || object.required.iter().any(|name| name == field.name);
    object.required = fields.iter().filter(is_required).map(|field| field.name.to_owned()).collect();
    debug_assert_eq!(object.properties.len(), fields.len(), "each field of a body has a rule");
    types
}

fn limit(typed: &mut RefOr<Schema>, field: &Field) {
    let nullable = is_nullable(typed) && !field.required;
    if let (RefOr::T(Schema::Array(list)), Rule::Objects { least, most, .. }) = (&mut *typed, &field.rule) {
        (list.min_items, list.max_items) = ((*least > 0).then_some(*least), Some(*most));
        return;
    }
    if let (RefOr::T(Schema::Array(list)), Rule::Texts { most, .. }) = (&mut *typed, &field.rule) {
        list.max_items = Some(*most);
        return;
    }
    let ruled = match (of_rule(&field.rule), &field.rule) {
        (Some(Schema::Object(ruled)), _) => ruled,
        (None, Rule::Id) if field.required => schema::uuid(),
        _ => return,
    };
    let about = description(typed);
    let mut ruled = if nullable { or_null_type(ruled) } else { ruled };
    ruled.description = ruled.description.or(about);
    *typed = ruled.into();
}

fn is_nullable(schema: &RefOr<Schema>) -> bool {
    let has_null = |kind: &SchemaType| matches!(kind, SchemaType::Array(kinds) if kinds.contains(&Type::Null));
    match schema {
        RefOr::T(Schema::Object(object)) => has_null(&object.schema_type),
        // The one that it is, or null.
        RefOr::T(Schema::OneOf(_)) => true,
        _ => false,
    }
}

fn description(schema: &RefOr<Schema>) -> Option<String> {
    match schema {
        RefOr::T(Schema::Object(object)) => object.description.clone(),
        RefOr::T(Schema::OneOf(one)) => one.description.clone().or_else(|| one.items.iter().find_map(description)),
        RefOr::Ref(named) => Some(named.description.clone()).filter(|text| !text.is_empty()),
        RefOr::T(_) => None,
    }
}

/// `value`, or null.
pub fn or_null(value: RefOr<Schema>) -> RefOr<Schema> {
    match value {
        RefOr::T(Schema::Object(object)) => or_null_type(object).into(),
        value => schema::nullable(value).into(),
    }
}

/// A PIN that a user chooses, as far as a description can say what is no `pins::weakness`.
pub fn new_pin() -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(SHORTEST))
        .max_length(Some(LONGEST))
        .pattern(Some("^[0-9]+$"))
        .description(Some(format!("must have {SHORTEST} to {LONGEST} digits")))
        .into()
}

/// The same where it may be left out.
pub fn new_pin_or_null() -> RefOr<Schema> {
    or_null(new_pin())
}

fn or_null_type(mut object: Object) -> Object {
    if let SchemaType::Type(kind) = object.schema_type {
        object.schema_type = SchemaType::Array(vec![kind, Type::Null]);
    }
    object
}

/// `field`, of a column with rows that look like `column`; a new row has a default.
pub(super) fn of_field(field: &Field, column: RefOr<Schema>, new: bool) -> RefOr<Schema> {
    let nullable = matches!(&column, RefOr::T(Schema::OneOf(_)));
    let mut schema = match of_rule(&field.rule) {
        // What a rule cannot say better than the column.
        None => return column,
        Some(Schema::Object(object)) => object,
        Some(list) => return list.into(),
    };
    if nullable {
        schema = or_null_type(schema);
    }
    schema.default = default_of(field).filter(|_| new);
    schema.extensions = field.not_in_use.then(|| Extensions::builder().add("x-not-in-use", true).build());
    schema.into()
}

fn default_of(field: &Field) -> Option<Json> {
    match field.initial {
        Initial::Empty | Initial::Follows(_) => None,
        Initial::Flag(flag) => Some(json!(flag)),
        Initial::Number(number) => Some(json!(number)),
        Initial::Text(text) => Some(json!(text)),
    }
}

fn of_rule(rule: &Rule) -> Option<Schema> {
    let object = ObjectBuilder::new();
    let object = match rule {
        Rule::Text { min, max, shape } => object
            .schema_type(Type::String)
            .min_length((*min > 0).then_some(*min))
            .max_length(Some(*max))
            .pattern(shape.map(|shape| shape.pattern))
            .description(shape.map(|shape| shape.says)),
        Rule::Word(words) => object.schema_type(Type::String).enum_values(Some(words.iter().copied())),
        Rule::Flag => object.schema_type(Type::Boolean),
        Rule::Whole { min, max } => {
            let format = if i32::try_from(*max).is_ok() { KnownFormat::Int32 } else { KnownFormat::Int64 };
            object
                .schema_type(Type::Integer)
                .format(Some(SchemaFormat::KnownFormat(format)))
                .minimum(Some(*min))
                .maximum(Some(*max))
        }
        Rule::Quantity { min, max } => {
            object.schema_type(Type::Number).minimum(Some(units(*min))).maximum(Some(units(*max)))
        }
        Rule::Id | Rule::Instant | Rule::Json { .. } => return None,
        Rule::Texts { most, each } => return Some(list(*most, of_rule(each)?)),
        Rule::Objects { most, fields, .. } => return Some(list(*most, of_objects(fields).into())),
        Rule::Object { fields } => return Some(of_objects(fields).into()),
    };
    Some(object.build().into())
}

/// Whole units of a quantity in thousandths.
const fn units(thousandths: i64) -> i64 {
    thousandths / Qty::ONE.0
}

fn list(most: usize, each: Schema) -> Schema {
    ArrayBuilder::new().items(RefOr::T(each)).max_items(Some(most)).into()
}

fn of_objects(fields: &[Field]) -> Object {
    let mut object = ObjectBuilder::new().additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)));
    for field in fields {
        if let Some(schema) = of_rule(&field.rule) {
            object = object.property(field.name, schema);
        }
        if field.required {
            object = object.required(field.name);
        }
    }
    object.build()
}
