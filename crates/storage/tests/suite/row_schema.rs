//! Rows as they are answered, held against the schemas that describe them.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::{EntityTrait, ModelTrait};
use serde_json::Value as Json;
use tillkeep_model::Instant;
use tillkeep_storage::registry::COST_KEYS;
use tillkeep_storage::{entity as entities, row_schema, sea_orm};
use uuid::Uuid;

use crate::kit::fill;

/// The schemas that those of rows refer to.
fn used() -> BTreeMap<String, Json> {
    let mut used = Vec::new();
    row_schema::used(&mut used);
    used.into_iter().map(|(name, schema)| (name, serde_json::to_value(schema).expect("json"))).collect()
}

/// Whether `value` is what `schema` says, as far as rows use the words of JSON schemas.
fn fits(value: &Json, schema: &Json, used: &BTreeMap<String, Json>) -> bool {
    if let Some(to) = schema["$ref"].as_str() {
        return fits(value, &used[to.rsplit('/').next().expect("a name")], used);
    }
    if let Some(either) = schema["oneOf"].as_array() {
        return either.iter().filter(|schema| fits(value, schema, used)).count() == 1;
    }
    let of_type = match schema["type"].as_str() {
        None => true,
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some(other) => panic!("a row has no {other}"),
    };
    let of_format = match (schema["format"].as_str(), value.as_str()) {
        (Some("uuid"), Some(text)) => text.parse::<Uuid>().is_ok(),
        (Some("date-time"), Some(text)) => Instant::parse(text).is_some(),
        _ => true,
    };
    of_type && of_format
}

fn check<E>()
where
    E: EntityTrait,
    E::Model: Default + ModelTrait<Entity = E> + serde::Serialize,
{
    let (schema, used) = (serde_json::to_value(row_schema::of_row::<E>()).expect("json"), used());
    let properties = schema["properties"].as_object().expect("properties");
    let names: BTreeSet<&String> = properties.keys().collect();
    let required: BTreeSet<&str> =
        schema["required"].as_array().expect("required").iter().filter_map(Json::as_str).collect();
    // Filled, one of three deleted, and with nothing in what may be empty.
    for row in [fill::model::<E>(1), fill::model::<E>(2), E::Model::default()] {
        let row = serde_json::to_value(&row).expect("json");
        let keys: BTreeSet<&String> = row.as_object().expect("an object").keys().collect();
        assert_eq!(keys, names);
        // Costs are in an answer for some alone, and no caller may rely on them.
        let always = keys.iter().map(|key| key.as_str()).filter(|key| !COST_KEYS.contains(*key));
        assert_eq!(always.collect::<BTreeSet<_>>(), required);
        for (key, value) in row.as_object().expect("an object") {
            assert!(fits(value, &properties[key], &used), "{key}: {value} is not {}", properties[key]);
        }
    }
}

#[test]
fn a_row_looks_as_its_schema_says() {
    check::<entities::audit_log::Entity>();
    check::<entities::customer::Entity>();
    check::<entities::department::Entity>();
    check::<entities::inventory_adjustment::Entity>();
    check::<entities::product::Entity>();
    check::<entities::product_special::Entity>();
    check::<entities::register::Entity>();
    check::<entities::register_session::Entity>();
    check::<entities::role::Entity>();
    check::<entities::sale::Entity>();
    check::<entities::sale_item::Entity>();
    check::<entities::sale_payment::Entity>();
    check::<entities::store::Entity>();
    check::<entities::store_product::Entity>();
    check::<entities::tax_group::Entity>();
    check::<entities::tax_group_rate::Entity>();
    check::<entities::tax_rate::Entity>();
    check::<entities::tender::Entity>();
}

#[test]
fn a_value_of_another_kind_does_not_fit() {
    let (schema, used) =
        (serde_json::to_value(row_schema::of_row::<entities::product::Entity>()).expect("json"), used());
    for (key, wrong) in [("price", "\"1\""), ("id", "\"x\""), ("createdAt", "\"yesterday\""), ("isActive", "null")] {
        let wrong: Json = serde_json::from_str(wrong).expect("json");
        assert!(!fits(&wrong, &schema["properties"][key], &used), "{key}");
    }
}

#[test]
fn what_never_travels_is_in_no_schema() {
    let schema = serde_json::to_value(row_schema::of_row::<entities::sale::Entity>()).expect("json");
    assert!(schema["properties"]["reprintCount"].is_null());
    assert!(schema["properties"]["receiptNumber"].is_object());
    let renamed = serde_json::to_value(row_schema::of_row::<entities::product_special::Entity>()).expect("json");
    assert!(renamed["properties"]["type"].is_object() && renamed["properties"]["kind"].is_null());
}
