//! What a product costs the chain is for those who work with it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};
use tillkeep_http::costs::CODES;
use tillkeep_http::routes::Protection;
use tillkeep_model::permission::ALL;
use tillkeep_storage::registry::COST_KEYS;
use uuid::Uuid;

use crate::good_requests::Scene;

/// The keys of costs in `value`; with `empty` also of those that are null.
fn costs_in(value: &Json, empty: bool, found: &mut BTreeSet<&'static str>) {
    match value {
        Json::Object(entries) => {
            for (key, value) in entries {
                if let Some(key) = COST_KEYS.get(key).filter(|_| empty || !value.is_null()) {
                    found.insert(key);
                }
                costs_in(value, empty, found);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| costs_in(item, empty, found)),
        _ => {}
    }
}

#[tokio::test]
async fn costs_are_in_answers_to_those_alone_who_work_with_them() {
    let scene = Scene::new().await;
    let world = &scene.world;
    let mut people: Vec<(&str, Uuid)> = Vec::new();
    let token = world.at_hq().sign_in(world.admin).await;
    // No user gives away what they do not hold; the administrator holds everything.
    for name in ["seller", "buyer"] {
        let codes: Vec<&str> = ALL.iter().copied().filter(|code| name == "buyer" || !CODES.contains(code)).collect();
        let role =
            world.at_hq().post(&token, "/roles", json!({"code": name, "name": name, "permissions": codes})).await;
        let role: Uuid = role.data()["id"].as_str().expect("an id").parse().expect("a UUID");
        people.push((name, world.person(name, None, &[(role, None)]).await));
    }
    let mut seen: BTreeMap<&str, BTreeSet<&'static str>> = BTreeMap::new();
    let mut answered: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut n = 0;
    for (name, person) in people {
        for server in &world.servers {
            let token = server.sign_in(person).await;
            for route in server.routes.iter().filter(|route| matches!(route.protection, Protection::User(_))) {
                let got = match route.method {
                    "GET" => server.get(&token, &scene.path(route.path)).await,
                    "POST" => {
                        let Some((path, body)) = scene.request(server, route.path, n).await else { continue };
                        n += 1;
                        server.post(&token, &path, body).await
                    }
                    _ => continue,
                };
                assert!(got.status < 500, "{} {}: {}", route.method, route.path, got.text);
                let mut found = BTreeSet::new();
                costs_in(&got.body, name == "seller", &mut found);
                if name == "seller" {
                    assert!(found.is_empty(), "{} {} at {} tells {found:?}", route.method, route.path, server.name);
                }
                if !found.is_empty() {
                    answered.entry(server.name).or_default().insert(format!("{} {}", route.method, route.path));
                }
                seen.entry(server.name).or_default().extend(found);
            }
        }
    }
    // The sweep has seen something: each key, but the one of the lines of orders, which no route shows.
    let shown = COST_KEYS.iter().map(String::as_str).filter(|key| *key != "receivedCost");
    assert_eq!(seen["store"], shown.collect(), "{answered:?}");
    for route in [
        "GET /pos/lookup/{code}",
        "GET /products",
        "GET /products/{id}",
        "GET /inventory",
        "GET /inventory/adjustments",
        "POST /inventory/adjustments",
        "POST /pos/sales",
        "GET /pos/sales/{id}",
        "GET /pos/sales",
    ] {
        assert!(answered["store"].contains(route), "{route} has shown no cost: {answered:?}");
    }
    for route in ["GET /products", "GET /products/{id}", "POST /products", "GET /audit-log"] {
        assert!(answered["hq"].contains(route), "{route} has shown no cost: {answered:?}");
    }
}
