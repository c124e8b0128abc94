//! What a request may say, route by route: parameters, lists in place of objects, pages.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::{Value as Json, json};
use tillkeep_http::routes::{Protection, Route};
use tillkeep_model::ids;

use crate::kit::{Got, Server, World, path_of};

/// Calls `route` with `query`; without a body an empty object goes where one belongs.
async fn call(server: &Server, route: &Route, token: &str, query: &str, body: Option<Json>) -> Got {
    let path = format!("{}?{query}", path_of(&route.full_path()));
    let body = body.or_else(|| (!["GET", "DELETE"].contains(&route.method)).then(|| json!({})));
    server.ask(route.method, &path, Some(&format!("Bearer {token}")), body).await
}

fn named(route: &Route, server: &Server) -> String {
    format!("{} {} at {}", route.method, route.path, server.name)
}

/// The routes of people; what belongs to the other side is refused whatever it says.
fn of_people(server: &Server) -> impl Iterator<Item = &Route> {
    server.routes.iter().filter(|route| route.protection != Protection::Sync && route.owner.is_none())
}

fn first_field(got: &Got) -> &str {
    got.body["details"][0]["field"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn an_unknown_parameter_is_refused_by_its_name_on_every_route_of_people() {
    let world = World::new().await;
    for server in &world.servers {
        let token = server.sign_in(world.admin).await;
        for route in of_people(server) {
            let what = named(route, server);
            // What belongs into a header is no parameter of the query either.
            let mut got = call(server, route, &token, "Idempotency-Key=1", None).await;
            assert_eq!((got.status, first_field(&got)), (422, "Idempotency-Key"), "{what}: {}", got.text);
            got = call(server, route, &token, "surprise=1", None).await;
            assert_eq!((got.status, got.code()), (422, "unknown_parameter"), "{what}: {}", got.text);
            assert_eq!(first_field(&got), "surprise", "{what}");
            let known: Vec<&str> = route.operation.in_query().collect();
            let says = |name: &&str| got.text.contains(*name);
            assert!(known.iter().all(says) && (!known.is_empty() || got.text.contains("takes none")), "{}", got.text);
            if let Some(name) = known.first() {
                let got = call(server, route, &token, &format!("{name}=1&{name}=1"), None).await;
                assert_eq!((got.status, first_field(&got)), (422, *name), "{what} twice: {}", got.text);
            }
        }
        // A caller without the permission learns of it and of nothing else.
        let anonymous = server.ask("GET", "/api/v1/users?surprise=1", None, None).await;
        assert_eq!(anonymous.status, 401);
        let elsewhere = server.routes.iter().find(|route| route.owner.is_some()).expect("a write of the other side");
        let got = call(server, elsewhere, &token, "surprise=1", None).await;
        assert_eq!(got.status, 409, "which parameters it takes is the other side's to say: {}", got.text);
        assert_eq!(server.ask("GET", "/health?probe=7", None, None).await.status, 200, "a balancer may decorate it");
    }
}

#[tokio::test]
async fn the_machine_protocol_leaves_aside_what_it_does_not_know() {
    let world = World::new().await;
    let server = world.at_hq();
    let admin = server.sign_in(world.admin).await;
    // Not the store that runs here: a second one would look like a clone of it.
    let provisioned = server.post(&admin, &format!("/stores/{}/provision", world.s02), json!({})).await.data();
    let token = provisioned["syncToken"].as_str().expect("a token");
    let envelope = json!({
        "store_id": world.s02, "entity_type": "of_a_newer_release", "entity_id": ids::role("cashier"), "action": "create",
        "data": {}, "timestamp": "2026-11-20T12:00:00Z", "surprise": {"a": [1]},
    });
    for route in server.routes.iter().filter(|route| route.protection == Protection::Sync) {
        let (query, mut body) = match route.path {
            "/sync/pull" => ("entity_type=products&limit=5", None),
            "/sync/own-documents" => ("entity_type=sales", None),
            "/sync/handshake" => ("", Some(json!({"nodeEpoch": "e", "storeVersion": "9.9.9"}))),
            "/sync/push" => ("", Some(json!({"envelopes": [envelope]}))),
            "/sync/change-pin" => ("", Some(json!({"userId": world.s02, "currentPin": "739154"}))),
            "/sync/sign-in" => ("", Some(json!({"pin": "000000000"}))),
            "/sync/sales/{id}/claims" => ("", Some(json!({"id": ids::named("a refund"), "lines": []}))),
            _ => ("", None),
        };
        let what = named(route, server);
        let plain = call(server, route, token, query, body.clone()).await;
        if let Some(body) = &mut body {
            body["surprise"] = json!([{"a": 1}]);
        }
        let got = call(server, route, token, &format!("{query}&surprise=1&surprise=%20&page=x"), body).await;
        assert_eq!((got.status, got.code()), (plain.status, plain.code()), "{what}: {} {}", plain.text, got.text);
        let expected = match route.path {
            "/sync/ws" => 426,
            "/sync/change-pin" | "/sync/sign-in" => 401,
            "/sync/sales/{id}" | "/sync/sales/{storeCode}/{receiptNumber}" | "/sync/pictures/{hash}" => 404,
            "/sync/sales/{id}/claims/{refundId}" => 204,
            _ => 200,
        };
        assert_eq!(got.status, expected, "{what}: {}", got.text);
        if route.path == "/sync/push" {
            assert_eq!(
                got.body["results"][0]["status"], "unknown_type",
                "an unknown key is not malformed: {}",
                got.text
            );
        }
    }
}

#[tokio::test]
async fn a_list_in_place_of_an_object_is_refused_on_every_route_with_a_body() {
    let world = World::new().await;
    for server in &world.servers {
        let token = server.sign_in(world.admin).await;
        // A picture and a table are files.
        let is_file = |route: &Route| route.operation.takes_table() || route.path == "/products/{id}/picture";
        let with_json = |route: &&Route| route.operation.has_body() && !is_file(route);
        for route in server.routes.iter().filter(with_json) {
            let machine = route.protection == Protection::Sync;
            let token = if machine { &world.sync_token } else { &token };
            for body in [json!(["root", "739154"]), json!([]), json!([null, null, null, null])] {
                // The one body that is a list, as the description says.
                if route.path == "/tax-groups/{id}/rates" && body == json!([]) {
                    continue;
                }
                let got = call(server, route, token, "", Some(body.clone())).await;
                let what = format!("{} with {body}: {}", named(route, server), got.text);
                // A push that cannot be read as a whole is 400, as its row of the contract says.
                assert_eq!(got.status, if route.path == "/sync/push" { 400 } else { 422 }, "{what}");
                assert!(machine || ["body", "[0]"].contains(&first_field(&got)), "{what}");
            }
        }
    }
    let cashier = ids::role("cashier");
    let rate = json!([ids::named("x"), null, 1, false]);
    for (server, path, body, field) in [
        (world.at_store(), "/pos/quote", json!({"lines": [["a", "b", "c"]]}), "lines[0]"),
        (
            world.at_hq(),
            "/users",
            json!({"username": "u", "displayName": "U", "assignments": [[cashier, null]]}),
            "assignments[0]",
        ),
        (world.at_hq(), "/tax-groups", json!({"code": "X", "name": "X", "rates": [rate]}), "rates[0]"),
    ] {
        let token = server.sign_in(world.admin).await;
        let got = server.post(&token, path, body).await;
        assert_eq!((got.status, first_field(&got)), (422, field), "{path}: {}", got.text);
    }
    let envelope = json!([world.s01, "customers", ids::named("x"), "create", {}, "2026-11-20T12:00:00Z"]);
    let pushed = world.at_hq().post(&world.sync_token, "/sync/push", json!({"envelopes": [envelope]})).await;
    assert_eq!(pushed.body["results"][0]["code"], "malformed", "{}", pushed.text);
}

#[tokio::test]
async fn a_page_is_refused_outside_of_its_bounds_on_every_list() {
    let world = World::new().await;
    let mut tried = 0;
    for server in &world.servers {
        let token = server.sign_in(world.admin).await;
        for route in &server.routes {
            let token = if route.protection == Protection::Sync { &world.sync_token } else { &token };
            for name in route.operation.in_query().filter(|name| ["page", "pageSize", "limit"].contains(name)) {
                let beyond = match name {
                    "pageSize" => "201",
                    "page" => "1000001",
                    _ => "10001",
                };
                for value in ["0", "-1", beyond, "99999999999999999999", "1.5", "ten", ""] {
                    // What else must be there, and a user who is: else the answer is about that.
                    let more = match route.path {
                        "/pos/customers" => "search=ab&",
                        "/reports/best-sellers" => "from=2026-11-20&to=2026-11-20&",
                        "/sync/pull" | "/sync/own-documents" => "entity_type=store_product_dynamic&",
                        _ => "",
                    };
                    let path = route.full_path().replace("{id}", &world.admin.to_string());
                    let path = format!("{path}?{more}{name}={value}");
                    let got = server.ask(route.method, &path, Some(&format!("Bearer {token}")), None).await;
                    let what = format!("{}: {name}={value}: {}", named(route, server), got.text);
                    assert!([400, 422].contains(&got.status) && first_field(&got) == name, "{what}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 7 * 60, "{tried}");
}

#[tokio::test]
async fn a_query_that_is_no_text_is_answered_like_any_other() {
    let world = World::new().await;
    for server in &world.servers {
        let token = server.sign_in(world.admin).await;
        for query in ["%ff=1", "=1", "&&", "page", "page%00=1", "%E2%82%AC=1", "page=%ff"] {
            let request = Request::get(format!("/api/v1/users?{query}"));
            let request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
            let got = server.send(request.body(Body::empty()).expect("a request")).await;
            let expected: &[u16] = if query == "&&" { &[200] } else { &[422] };
            assert!(expected.contains(&got.status), "{query}: {} {}", got.status, got.text);
        }
    }
}

#[test]
fn what_takes_a_table_is_given_its_time_and_is_no_other_route() {
    let routes = tillkeep_hq::routes::table(&tillkeep_store::routes::writes()).1;
    let taking: BTreeSet<&str> =
        routes.iter().filter(|route| route.operation.takes_table()).map(|route| route.path).collect();
    assert_eq!(taking, BTreeSet::from(tillkeep_http::table::ROUTES));
}
