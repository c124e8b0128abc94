//! The descriptions of both servers: whole, sound, and as they are checked in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value as Json;
use tillkeep_http::describe::{self, About};
use tillkeep_http::routes::{Protection, Route};

/// Both servers: the file of the description, what it says of itself, its routes.
fn servers() -> [(&'static str, About, Vec<Route>); 2] {
    [
        (
            "openapi-hq.json",
            tillkeep_hq::routes::ABOUT,
            tillkeep_hq::routes::described(&tillkeep_store::routes::writes()).1,
        ),
        (
            "openapi-store.json",
            tillkeep_store::routes::ABOUT,
            tillkeep_store::routes::described(&tillkeep_hq::routes::writes()).1,
        ),
    ]
}

pub fn documents() -> Vec<(&'static str, Json)> {
    let parsed = |(name, about, routes): (&'static str, About, Vec<Route>)| {
        (name, serde_json::from_str(&describe::text(about, &routes)).expect("json"))
    };
    servers().into_iter().map(parsed).collect()
}

/// Every operation, with its path and method.
pub fn operations(document: &Json) -> impl Iterator<Item = (String, &Json)> {
    let paths = document["paths"].as_object().expect("paths");
    paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().expect("an item").iter();
        methods.map(move |(method, operation)| (format!("{method} {path}"), operation))
    })
}

#[test]
fn the_descriptions_are_the_ones_that_are_checked_in() {
    for (name, about, routes) in servers() {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/generated").join(name);
        let now = describe::text(about, &routes);
        if std::env::var_os("UPDATE_GENERATED").is_some() {
            std::fs::write(&path, &now).expect("a file");
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == now, "docs/generated/{name} is not what the code says; run: make generated");
    }
}

#[test]
fn every_route_is_an_operation_with_an_id_of_its_own_and_a_summary() {
    for ((name, document), (_, _, routes)) in documents().iter().zip(servers()) {
        let mut ids = BTreeSet::new();
        for (which, operation) in operations(document) {
            let id = operation["operationId"].as_str().unwrap_or_default();
            assert!(!id.is_empty() && ids.insert(id.to_owned()), "{name}: {which} has no id of its own: {id:?}");
            let summary = operation["summary"].as_str().unwrap_or_default();
            let is_a_sentence = summary.split_whitespace().count() > 2
                && summary.ends_with('.')
                && summary.starts_with(|first: char| first.is_uppercase() || !first.is_alphabetic());
            assert!(is_a_sentence, "{name}: {which}: {summary:?}: say what it does with .about(…) in the table");
            let needs = operation["description"].as_str().unwrap_or_default();
            assert!(needs.starts_with("Needs "), "{name}: {which} does not say who may ask it: {needs:?}");
        }
        assert_eq!(ids.len(), routes.len(), "{name}");
    }
}

#[test]
fn every_operation_names_its_token_and_its_permissions() {
    for ((name, document), (_, _, routes)) in documents().iter().zip(servers()) {
        for route in &routes {
            let operation = &document["paths"][route.full_path()][route.method.to_lowercase()];
            let which = format!("{name}: {} {}", route.method, route.path);
            match &route.protection {
                Protection::Open => assert!(operation["security"].is_null(), "{which}"),
                Protection::User(codes) => {
                    assert!(operation["security"][0]["userToken"].is_array(), "{which}");
                    assert_eq!(operation["x-permissions"], serde_json::json!(codes), "{which}");
                    assert!(operation["responses"]["401"].is_object(), "{which}");
                }
                Protection::Sync => assert!(operation["security"][0]["syncToken"].is_array(), "{which}"),
            }
        }
    }
}

#[test]
fn refusals_with_one_status_are_of_one_class_and_name_their_codes() {
    for (name, document) in documents() {
        let mut classes = BTreeMap::new();
        for (which, operation) in operations(&document) {
            for (status, response) in operation["responses"].as_object().expect("responses") {
                if status.as_str() < "400" {
                    continue;
                }
                let response = match response["$ref"].as_str() {
                    Some(to) => document.pointer(to.strip_prefix('#').expect("inside")).expect("a response"),
                    None => response,
                };
                let schema = &response["content"]["application/json"]["schema"];
                let last = schema["anyOf"].as_array().and_then(|any| any.last()).unwrap_or(schema);
                let class = last["$ref"].as_str().unwrap_or_else(|| panic!("{name}: {which}: {status}: {schema}"));
                let codes = response["x-codes"].as_array().expect("codes");
                if codes.is_empty() {
                    continue;
                }
                let known = document.pointer(class.strip_prefix('#').expect("inside")).expect("a class");
                let all = &known["allOf"][1]["properties"]["code"]["enum"];
                assert!(
                    codes.iter().all(|code| all.as_array().is_some_and(|all| all.contains(code))),
                    "{which}: {class}"
                );
                assert_eq!(*classes.entry(status.clone()).or_insert(class.to_owned()), class, "{name}: {which}");
            }
        }
        assert!(classes.len() > 8, "{name}: {classes:?}");
    }
}

/// The parameters of the query, each with its schema.
fn parameters(operation: &Json) -> impl Iterator<Item = (&str, &Json)> {
    let all = operation["parameters"].as_array().into_iter().flatten();
    let of_query = all.filter(|parameter| parameter["in"] == "query");
    of_query.map(|parameter| (parameter["name"].as_str().expect("a name"), &parameter["schema"]))
}

#[test]
fn every_list_has_pages_with_bounds() {
    let mut lists = 0;
    for (name, document) in documents() {
        for (which, operation) in operations(&document) {
            let answer = &operation["responses"]["200"]["content"]["application/json"]["schema"]["properties"];
            let given: BTreeMap<&str, &Json> = parameters(operation).collect();
            if answer["pagination"].is_object() {
                lists += 1;
                assert!(given.contains_key("page") && given.contains_key("pageSize"), "{name}: {which} has no pages");
            }
            for (parameter, most) in [("page", 1_000_000), ("pageSize", 200), ("limit", 10_000)] {
                let Some(schema) = given.get(parameter) else { continue };
                let is_bounded = schema["maximum"].as_i64().is_some_and(|maximum| (100..=most).contains(&maximum));
                assert!(schema["minimum"] == 1 && is_bounded, "{name}: {parameter} of {which}: {schema}");
            }
        }
    }
    assert!(lists > 30, "{lists}");
}

#[test]
fn what_a_list_searches_is_named_as_its_rows_name_it() {
    let mut searched = 0;
    for (name, document) in documents() {
        for (which, operation) in operations(&document) {
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                if parameter["name"] == "search" {
                    let text = parameter["description"].as_str().unwrap_or_default();
                    assert!(!text.contains('_'), "{name}: {which} searches {text}");
                    searched += 1;
                }
            }
        }
    }
    assert!(searched > 15, "{searched}");
}

#[test]
fn every_route_of_people_says_that_it_refuses_parameters_it_does_not_know() {
    for ((name, document), (_, _, routes)) in documents().iter().zip(servers()) {
        for route in &routes {
            let refused = &document["paths"][route.full_path()][route.method.to_lowercase()]["responses"]["422"];
            let refused = match refused["$ref"].as_str() {
                Some(to) => document.pointer(to.strip_prefix('#').expect("inside")).expect("a response"),
                None => refused,
            };
            let says = refused.to_string().contains("\"unknown_parameter\"");
            let expected = route.protection != Protection::Sync && !route.operation.takes_any_query();
            assert_eq!(says, expected, "{name}: {} {}", route.method, route.path);
        }
    }
}

/// What is taken away is no row of master data that a user has read and edits.
const NO_EDITS: [&str; 8] = [
    "/auth/factors/{id}",
    "/auth/sessions/{id}",
    "/refund-claims/{id}",
    "/sync/sales/{id}/claims/{refundId}",
    "/users/{id}/factors",
    "/users/{id}/sessions",
    "/users/{id}/sessions/{sessionId}",
    "/users/{id}/roles/{assignmentId}",
];

#[test]
fn every_edit_of_a_row_of_headquarters_may_name_the_version_it_was_made_from() {
    let document: Json = serde_json::from_str(&describe::text(
        tillkeep_hq::routes::ABOUT,
        &tillkeep_hq::routes::described(&tillkeep_store::routes::writes()).1,
    ))
    .expect("json");
    for route in tillkeep_hq::routes::table(&tillkeep_store::routes::writes()).1 {
        let refused = route.operation.takes_any_query();
        if !["PATCH", "PUT", "DELETE"].contains(&route.method) || refused || NO_EDITS.contains(&route.path) {
            continue;
        }
        let operation = &document["paths"][route.full_path()][route.method.to_lowercase()];
        let body = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        let body = body.as_str().and_then(|to| document.pointer(to.strip_prefix('#')?));
        let in_body = body.is_some_and(|body| body["properties"]["expectedVersion"].is_object());
        let in_query = parameters(operation).any(|(name, _)| name == "expectedVersion");
        let which = format!("{} {}", route.method, route.path);
        assert!(in_body != in_query, "{which}: expectedVersion belongs into the body, or into the query without one");
        assert!(
            operation["responses"]["409"].to_string().contains("version_conflict")
                || operation["responses"]["409"]["$ref"].to_string().contains("version_conflict"),
            "{which}"
        );
    }
}

#[test]
fn every_value_in_a_path_is_a_parameter_that_the_handler_reads() {
    for (name, _, routes) in servers() {
        for route in &routes {
            let in_path = route.path.matches('{').count();
            // What belongs to the other side is refused without a look at it.
            assert!(
                route.owner.is_some() || route.operation.segments() == in_path,
                "{name}: {} {}",
                route.method,
                route.path
            );
        }
    }
}

#[test]
fn every_reference_leads_somewhere_and_no_name_means_two_things() {
    fn walk<'a>(json: &'a Json, found: &mut Vec<&'a str>) {
        match json {
            Json::Object(entries) => {
                for (key, value) in entries {
                    match (key.as_str(), value) {
                        ("$ref", Json::String(to)) => found.push(to),
                        _ => walk(value, found),
                    }
                }
            }
            Json::Array(items) => items.iter().for_each(|item| walk(item, found)),
            _ => {}
        }
    }
    for ((name, document), (_, _, routes)) in documents().iter().zip(servers()) {
        let mut found = Vec::new();
        walk(document, &mut found);
        let mut used: BTreeMap<&str, usize> = BTreeMap::new();
        for to in found {
            let pointer = to.strip_prefix('#').expect("a reference inside the document");
            assert!(document.pointer(pointer).is_some(), "{name}: {to} leads nowhere");
            *used.entry(to).or_default() += 1;
        }
        for kept in document["components"]["schemas"].as_object().expect("schemas").keys() {
            assert!(
                used.contains_key(format!("#/components/schemas/{kept}").as_str()),
                "{name}: {kept} is used nowhere"
            );
        }
        assert_eq!(describe::clashes(&routes), BTreeSet::new(), "{name}: rename one of each with #[schema(as = …)]");
    }
}
