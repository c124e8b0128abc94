//! What people send is described with the limits that it is checked by: those of the rule book, and those of PINs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};
use tillkeep_model::adjustment::WORDS_BY_HAND;
use tillkeep_model::fields::{self, Book, Field, Rule, Side};
use tillkeep_storage::registry;

use crate::openapi::{documents, operations};

/// The bodies that the fields of each book are sent in.
const BODIES: &[(&Book, &[&str])] = &[
    (&fields::adjustment::BOOK, &["Adjustment"]),
    (&fields::customer::BOOK, &["CustomerDraft", "CustomerChange"]),
    (&fields::department::BOOK, &["DepartmentDraft", "DepartmentChange"]),
    (&fields::product::BOOK, &["ProductDraft", "ProductChange"]),
    (&fields::reason::BOOK, &["ReasonDraft", "ReasonChange"]),
    (&fields::register::BOOK, &["RegisterDraft", "RegisterChange"]),
    (&fields::sales_rep::BOOK, &["SalesRepDraft", "SalesRepChange"]),
    (&fields::special::BOOK, &["SpecialDraft", "SpecialChange"]),
    (&fields::store::BOOK, &["StoreDraft", "StoreChange", "ChainChange"]),
    (&fields::store_price::BOOK, &["StorePriceChange"]),
    (&fields::tax::RATE, &["TaxRateDraft", "TaxRateChange"]),
    (&fields::tax::GROUP, &["TaxGroupDraft", "TaxGroupChange"]),
    (&fields::tax::GROUP_RATE, &["TaxGroupRateInput", "put /api/v1/tax-groups/{id}/rates"]),
    (&fields::tender::BOOK, &["TenderDraft", "TenderChange"]),
    (&fields::user::BOOK, &["UserDraft", "UserChange"]),
    (&fields::user::ROLE, &["RoleDraft", "RoleChange"]),
];

/// The bodies that make documents, with what may be in them.
const DOCUMENTS: [(&str, &[Field]); 16] = [
    ("Adjustment", &fields::adjustment::REQUEST),
    ("ApprovalRequest", &fields::approval::REQUEST),
    ("Cart", &fields::sale::CART),
    ("CartLine", &fields::sale::CART_LINE),
    ("CartPayment", &fields::sale::CART_PAYMENT),
    ("Enrolment", &fields::device::ENROLMENT),
    ("PreviewDiscount", &fields::sale::PREVIEW_DISCOUNT),
    ("PreviewQuestionLine", &fields::sale::PREVIEW_LINE),
    ("PrintRequest", &fields::register::PRINT),
    ("Resolve", &fields::sync::RESOLUTION),
    ("SafeMovementRequest", &fields::safe::MOVEMENT),
    ("SaleBuyer", &fields::paper::BUYER),
    ("SessionClose", &fields::session::CLOSING),
    ("SessionOpening", &fields::session::OPENING),
    ("SpecialPreviewQuestion", &fields::sale::PREVIEW),
    ("TenderCount", &fields::session::COUNT),
];

/// The objects that people send to one server: of each its name, or the route that it is the body of.
fn bodies(document: &Json) -> BTreeMap<String, &Json> {
    fn collect<'a>(document: &'a Json, name: &str, schema: &'a Json, found: &mut BTreeMap<String, &'a Json>) {
        if let Some(to) = schema["$ref"].as_str() {
            let name = to.rsplit('/').next().expect("a name");
            if !found.contains_key(name) {
                collect(document, name, &document["components"]["schemas"][name], found);
            }
            return;
        }
        if let Some(properties) = schema["properties"].as_object() {
            found.insert(name.to_owned(), schema);
            properties.iter().for_each(|(key, inner)| collect(document, &format!("{name}.{key}"), inner, found));
        }
        let either =
            ["oneOf", "anyOf", "allOf"].into_iter().flat_map(|key| schema[key].as_array().into_iter().flatten());
        either.chain(schema.get("items")).for_each(|inner| collect(document, name, inner, found));
    }
    let mut found = BTreeMap::new();
    for (which, operation) in operations(document) {
        collect(document, &which, &operation["requestBody"]["content"]["application/json"]["schema"], &mut found);
    }
    found
}

/// `schema` with what it refers to, and without the null that it may be.
fn resolved<'a>(document: &'a Json, schema: &'a Json) -> &'a Json {
    if let Some(to) = schema["$ref"].as_str() {
        return document.pointer(to.strip_prefix('#').expect("inside")).expect("a schema");
    }
    let value = schema["oneOf"].as_array().and_then(|either| either.iter().find(|one| one["type"] != "null"));
    value.map_or(schema, |value| resolved(document, value))
}

/// What a schema must say for a rule to be known.
fn limits(rule: &Rule) -> Json {
    match rule {
        Rule::Text { min, max, shape } => {
            let mut limits = json!({"maxLength": max});
            if *min > 0 {
                limits["minLength"] = json!(min);
            }
            if let Some(shape) = shape {
                limits["pattern"] = json!(shape.pattern);
            }
            limits
        }
        Rule::Word(words) => json!({"enum": words}),
        Rule::Whole { min, max } => json!({"minimum": min, "maximum": max}),
        Rule::Quantity { min, max } => json!({"minimum": min / 1000, "maximum": max / 1000}),
        Rule::Id => json!({"format": "uuid"}),
        Rule::Flag | Rule::Instant | Rule::Json { .. } => json!({}),
        Rule::Texts { most, each } => json!({"maxItems": most, "items": limits(each)}),
        Rule::Objects { most, fields, .. } => {
            let inner: Map<String, Json> =
                fields.iter().map(|field| (field.name.to_owned(), limits(&field.rule))).collect();
            json!({"maxItems": most, "items": {"properties": inner}})
        }
        Rule::Object { fields } => {
            let inner: Map<String, Json> =
                fields.iter().map(|field| (field.name.to_owned(), limits(&field.rule))).collect();
            json!({"properties": inner})
        }
    }
}

/// The limits of a field as it is sent.
fn limits_of(field: &Field, book: &Book) -> Json {
    // Documents write some reasons, people the others.
    let by_hand = book.table == fields::adjustment::BOOK.table && field.name == "reason";
    if by_hand { json!({"enum": WORDS_BY_HAND}) } else { limits(&field.rule) }
}

/// Whether `schema` says all of `limits`, wherever they are in it.
fn says(schema: &Json, limits: &Json) -> bool {
    match limits {
        Json::Object(limits) => limits.iter().all(|(key, limit)| says(&schema[key], limit)),
        limit => schema == limit,
    }
}

#[test]
fn what_makes_a_document_is_described_with_the_limits_that_it_is_checked_by() {
    let documents = documents();
    for (name, fields) in DOCUMENTS {
        let mut seen = false;
        for (_, document) in &documents {
            let Some(body) = bodies(document).get(name).copied() else { continue };
            seen = true;
            for field in fields {
                let schema = resolved(document, &body["properties"][field.name]);
                assert!(says(schema, &limits_of_list(field)), "{name}.{}: {schema}", field.name);
            }
        }
        assert!(seen, "{name} is the body of no route");
    }
}

/// The limits of a field; the entries of a list of objects are bodies of their own.
fn limits_of_list(field: &Field) -> Json {
    match field.rule {
        Rule::Objects { most, .. } | Rule::Texts { most, .. } => json!({"maxItems": most}),
        ref rule => limits(rule),
    }
}

#[test]
fn what_people_may_write_is_described_with_the_limits_of_the_book() {
    let [hq, store]: [_; 2] = documents().try_into().expect("two documents");
    let mut missing = BTreeSet::new();
    for (side, (_, document)) in [(Side::Hq, &hq), (Side::Store, &store)] {
        let bodies = bodies(document);
        for (book, names) in BODIES {
            let sent: Vec<_> = names.iter().filter_map(|name| bodies.get_key_value(*name)).collect();
            for field in book.writable(side) {
                let mut described = 0;
                for (name, body) in &sent {
                    let schema = resolved(document, &body["properties"][field.name]);
                    described += usize::from(!schema.is_null());
                    let limits = limits_of(field, book);
                    if !schema.is_null() && !says(schema, &limits) {
                        missing.insert(format!("{name}.{} is {schema}, and not {limits}", field.name));
                    }
                }
                assert!(described > 0, "{side:?}: {} of {} is in no body of {names:?}", field.name, book.table);
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    let adjustment = &store.1["components"]["schemas"]["Adjustment"];
    let [change, level] = ["quantityChange", "newQuantity"].map(|name| &adjustment["properties"][name]);
    assert_eq!((change, &change["type"]), (level, &json!(["number", "null"])), "either may be left out");
    assert_eq!(adjustment["required"], json!(["id", "productId", "reason"]));
    let price = &hq.1["components"]["schemas"]["StorePriceChange"]["properties"]["price"];
    assert_eq!(price["type"], json!(["integer", "null"]), "null is the price of the chain again");
}

#[test]
fn every_book_and_every_body_of_a_row_is_compared() {
    let compared: BTreeSet<&str> = BODIES.iter().map(|(book, _)| book.table).collect();
    assert_eq!(compared, registry::books().map(|book| book.table).collect());
    let names: BTreeSet<&str> = BODIES.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let mut found = BTreeSet::new();
    for (_, document) in &documents() {
        found.extend(bodies(document).into_keys());
    }
    for name in &found {
        let of_row = name.ends_with("Draft") || name.ends_with("Change");
        assert!(!of_row || names.contains(name.as_str()), "say in BODIES which book {name} keeps to");
    }
    for name in names {
        assert!(found.contains(name), "{name} is sent to no server");
    }
}

/// A PIN that a user has is right or wrong, whatever it looks like.
const PRESENT_PINS: [(&str, &str); 7] = [
    ("ApprovalRequest", "pin"),
    ("ChangePin", "currentPin"),
    ("Confirm", "pin"),
    ("ForwardedPin", "currentPin"),
    ("Login", "pin"),
    ("PinLogin", "pin"),
    ("StoreSignIn", "pin"),
];

#[test]
fn every_pin_that_a_user_chooses_is_described_with_its_digits() {
    let mut chosen = BTreeSet::new();
    for (_, document) in &documents() {
        for (name, body) in bodies(document) {
            let properties = body["properties"].as_object().expect("properties").iter();
            for (key, schema) in properties.filter(|(key, _)| key.as_str() == "pin" || key.ends_with("Pin")) {
                if resolved(document, schema)["type"] == "boolean" || PRESENT_PINS.contains(&(&name, key)) {
                    continue;
                }
                let digits = json!({"minLength": 4, "maxLength": 12, "pattern": "^[0-9]+$"});
                assert!(says(schema, &digits), "{name}.{key} is {schema}");
                chosen.insert(format!("{name}.{key}"));
            }
        }
    }
    assert_eq!(chosen.into_iter().collect::<Vec<_>>(), ["ChangePin.newPin", "ForwardedPin.newPin"]);
}

#[test]
fn the_bodies_of_rows_say_what_is_required_and_what_a_new_row_has() {
    let [(_, hq), (_, store)]: [_; 2] = documents().try_into().expect("two documents");
    let property = |document: &Json, schema: &str, field: &str| {
        document["components"]["schemas"][schema]["properties"][field].clone()
    };
    for (document, schema) in [(&hq, "CustomerDraft"), (&hq, "CustomerChange"), (&store, "CustomerDraft")] {
        let phone = property(document, schema, "phone");
        assert_eq!((&phone["maxLength"], &phone["type"]), (&json!(50), &json!(["string", "null"])), "{schema}");
        assert_eq!(property(document, schema, "email")["pattern"], r"^([^@\s]+@[^@\s]+)?$", "{schema}");
    }
    assert!(property(&hq, "CustomerDraft", "creditLimit").is_object());
    assert!(property(&store, "CustomerDraft", "creditLimit").is_null(), "a store gives no credit");
    let kind = property(&hq, "ProductDraft", "productType");
    assert_eq!(kind["enum"], json!(["standard", "service", "gift_card", "deposit"]));
    assert_eq!(kind["default"], "standard");
    assert!(property(&hq, "ProductChange", "productType")["default"].is_null(), "a change leaves out what stays");
    let discount = property(&hq, "StoreDraft", "maxLineDiscountBps");
    assert_eq!([&discount["minimum"], &discount["maximum"], &discount["default"]], [0, 10_000, 1000]);
    assert_eq!(property(&hq, "ProductDraft", "reorderPoint")["maximum"], 1_000_000_000);
    let tags = property(&hq, "ProductDraft", "tags");
    assert_eq!([&tags["maxItems"], &tags["items"]["maxLength"]], [50, 50]);
    let rule = &property(&hq, "StoreDraft", "scaleBarcodeRules")["items"];
    assert_eq!(rule["required"], json!(["prefix", "value", "pluDigits", "valueDigits"]));
    assert_eq!(hq["components"]["schemas"]["TaxRateDraft"]["required"], json!(["code", "name", "ratePpm"]));
    assert!(property(&store, "RegisterChange", "code").is_null(), "the code of a register is fixed");
}
