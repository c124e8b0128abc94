//! Every POST of people with an `Idempotency-Key`, sent again and sent twice at once.

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::{Value as Json, json};
use tillkeep_http::idempotency::is_secret;
use tillkeep_http::routes::{Protection, Route};
use tillkeep_storage::{Side, migration, raw, registry};

use crate::good_requests::Scene;
use crate::kit::{Got, Server, as_sent, path_of};

async fn keyed(server: &Server, token: &str, path: &str, body: &Json, key: &str) -> Got {
    let (kind, text) = as_sent(path, body);
    let request = Request::post(format!("/api/v1{path}"))
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .header(header::CONTENT_TYPE, kind)
        .header("idempotency-key", key);
    server.send(request.body(Body::from(text)).expect("a request")).await
}

/// How many rows each table has, but for what the servers write on their own.
async fn rows(server: &Server) -> BTreeMap<&'static str, i64> {
    let side = if server.store_id.is_some() { Side::Store } else { Side::Hq };
    let own = ["sync_outbox", "sync_outbox_sent", "sequences", "staged_cursors", "staged_rows", "sync_state"];
    let pulled = |name: &str| registry::find(name).is_some_and(|kind| kind.is_pulled() && !kind.is_pushed());
    // What headquarters heard of stores it notes by itself, a moment later, and then it makes the look-ups of a new PIN.
    let noted = ["sync_log", "sync_status", "store_nodes", "store_lookups", "alerts", "alert_deliveries", "sale_news"];
    let own = |name: &str| {
        if server.store_id.is_some() { own.contains(&name) || pulled(name) } else { noted.contains(&name) }
    };
    let mut out = BTreeMap::new();
    for table in migration::tables().filter(|table| table.is_on(side)).filter(|table| !own(table.name)) {
        // What a store pushes or pulls meanwhile is not of this request.
        let sql = format!("SELECT COUNT(*) AS n FROM {}", table.name);
        let row = raw::query(server.db.reader(), &sql, []).await.expect("a count").remove(0);
        out.insert(table.name, row.try_get("", "n").expect("a number"));
    }
    out
}

fn posts(server: &Server) -> impl Iterator<Item = &Route> {
    server.routes.iter().filter(|route| route.method == "POST" && matches!(route.protection, Protection::User(_)))
}

/// Posts that take more than a row: an entry that failed, a second person, a PIN that is not known any more.
pub const WITHOUT: [&str; 16] = [
    "/auth/change-pin",
    "/auth/confirm",
    "/auth/factors/passkeys/{id}",
    "/auth/factors/recovery-codes",
    "/auth/factors/totp/{id}",
    "/auth/logout",
    "/auth/unlock",
    "/pos/approvals",
    "/sync/errors/{id}/renumber",
    "/sync/now",
    "/sync/outbox/requeue-all",
    "/sync/outbox/{id}/requeue",
    "/sync/resolve/{id}",
    "/sync/retry-all",
    "/sync/retry/{id}",
    "/users/{id}/pin",
];

#[tokio::test]
async fn every_post_that_is_repeated_with_its_key_acts_once() {
    let scene = Scene::new().await;
    let mut acted = 0;
    for server in &scene.world.servers {
        let token = scene.token(server);
        // Customers are made on both sides: those of headquarters come before anything is counted here.
        crate::kit::until("the store has every customer", async || {
            let count = async |server: &Server| rows(server).await["customers"];
            server.store_id.is_none() || count(scene.world.at_hq()).await == count(server).await
        })
        .await;
        for (place, route) in posts(server).enumerate() {
            let what = format!("POST {} at {}", route.path, server.name);
            let Some((path, body)) = scene.request(server, route.path, 2 * place).await else {
                let is_excused = route.owner.is_some() || WITHOUT.contains(&route.path);
                assert!(is_excused, "{what}: give it a good request in tests/contract/good_requests.rs");
                if route.path != "/auth/logout" {
                    refused_twice(server, route, token).await;
                }
                continue;
            };
            let key = format!("{} {}", server.name, route.path);
            let first = keyed(server, token, &path, &body, &key).await;
            assert!((200..300).contains(&first.status), "{what}: {}", first.text);
            let before = rows(server).await;
            let again = keyed(server, token, &path, &body, &key).await;
            let other = other_than(&body);
            let reused = keyed(server, token, &path, &other, &key).await;
            assert_eq!(rows(server).await, before, "{what} acted again");
            let kept = before["idempotency_keys"];
            if ["/pos/quote", "/pos/discounts/validate", "/specials/preview", "/taxes/preview"].contains(&route.path) {
                // It does nothing, so that there is nothing to keep.
                assert_eq!((again.status, reused.status), (200, 422), "{what}");
                continue;
            }
            acted += 1;
            if is_secret(route.path) {
                assert_eq!((again.status, again.code()), (409, "already_done"), "{what}");
            } else {
                assert_eq!((again.status, &again.text), (first.status, &first.text), "{what}");
            }
            assert_eq!((reused.status, reused.code()), (422, "idempotency_key_reused"), "{what}");

            let (path, body) = scene.request(server, route.path, 2 * place + 1).await.expect("another one");
            let kept = rows(server).await["idempotency_keys"].max(kept);
            let at_once = format!("{key} at once");
            let (one, two) = tokio::join!(
                keyed(server, token, &path, &body, &at_once),
                keyed(server, token, &path, &body, &at_once)
            );
            let fine =
                |got: &Got| (200..300).contains(&got.status) || ["in_progress", "already_done"].contains(&got.code());
            let done = |got: &Got| (200..300).contains(&got.status);
            assert!(fine(&one) && fine(&two) && (done(&one) || done(&two)), "{what}: {} {}", one.text, two.text);
            assert_eq!(rows(server).await["idempotency_keys"], kept + 1, "{what}");
        }
    }
    assert!(acted >= 20, "{acted} routes did something");
}

/// Another body than this one.
fn other_than(body: &Json) -> Json {
    if let Json::String(table) = body {
        return json!(format!("{table}\n"));
    }
    let mut other = body.clone();
    other["another"] = json!(true);
    other
}

/// A route that is refused here keeps no key.
async fn refused_twice(server: &Server, route: &Route, token: &str) {
    let path = path_of(route.path);
    let before = rows(server).await["idempotency_keys"];
    let mut statuses = Vec::new();
    for _ in 0..2 {
        let got = keyed(server, token, &path, &json!({}), "refused").await;
        assert!(got.status < 500, "{} {}", route.path, got.text);
        statuses.push(got.status);
    }
    assert_eq!(statuses[0], statuses[1], "{}", route.path);
    if statuses[0] >= 400 {
        assert_eq!(rows(server).await["idempotency_keys"], before, "{}", route.path);
    }
}

#[tokio::test]
async fn every_post_of_people_describes_the_key_and_none_of_stores_does() {
    for routes in [
        tillkeep_hq::routes::table(&tillkeep_store::routes::writes()).1,
        tillkeep_store::routes::table(&tillkeep_hq::routes::writes()).1,
    ] {
        let about = tillkeep_http::describe::About { title: "", text: "", examples: "{}" };
        let document = serde_json::to_value(tillkeep_http::describe::document(about, &routes)).expect("a document");
        for route in routes {
            let operation = &document["paths"][route.full_path()][route.method.to_lowercase()];
            let named =
                operation["parameters"].as_array().into_iter().flatten().any(|one| one["name"] == "Idempotency-Key");
            let honoured = route.method == "POST" && route.protection != Protection::Sync;
            assert_eq!(named, honoured, "{} {}", route.method, route.path);
        }
    }
}

/// The names of all members that a schema leads to.
pub fn names<'a>(document: &'a Json, schema: &'a Json, found: &mut BTreeSet<&'a str>, passed: &mut BTreeSet<&'a str>) {
    if let Some(target) = schema["$ref"].as_str() {
        if passed.insert(target) {
            let target = document.pointer(target.trim_start_matches('#')).expect("a schema");
            names(document, target, found, passed);
        }
        return;
    }
    match schema {
        Json::Object(entries) => {
            found.extend(
                entries
                    .get("properties")
                    .and_then(Json::as_object)
                    .into_iter()
                    .flatten()
                    .map(|(name, _)| name.as_str()),
            );
            entries.values().for_each(|value| names(document, value, found, passed));
        }
        Json::Array(items) => items.iter().for_each(|item| names(document, item, found, passed)),
        _ => {}
    }
}

#[tokio::test]
async fn no_answer_that_is_kept_has_a_place_for_a_secret() {
    let secret = |name: &&str| {
        let name = name.to_lowercase();
        ["token", "secret", "devicekey", "generatedpin", "pinhash"].iter().any(|word| name.contains(word))
    };
    let mut answered = BTreeSet::new();
    for routes in [
        tillkeep_hq::routes::table(&tillkeep_store::routes::writes()).1,
        tillkeep_store::routes::table(&tillkeep_hq::routes::writes()).1,
    ] {
        let about = tillkeep_http::describe::About { title: "", text: "", examples: "{}" };
        let document = serde_json::to_value(tillkeep_http::describe::document(about, &routes)).expect("a document");
        for route in routes.iter().filter(|route| route.method == "POST" && route.protection != Protection::Sync) {
            let answers = &document["paths"][route.full_path()]["post"]["responses"];
            let mut found = BTreeSet::new();
            for status in ["200", "201"] {
                names(&document, &answers[status], &mut found, &mut BTreeSet::new());
            }
            let secrets: Vec<&str> = found.into_iter().filter(secret).collect();
            if is_secret(route.path) {
                answered.extend(secrets.iter().map(|_| route.path));
            } else {
                // How often a store's token was replaced, and since when the one before is refused, is no secret.
                let only: Vec<&&str> = secrets.iter().filter(|name| !["syncTokenVersion"].contains(*name)).collect();
                assert!(only.is_empty(), "POST {} answers {only:?}: name it in SECRET of idempotency.rs", route.path);
            }
        }
    }
    for route in ["/auth/login", "/stores/{id}/provision", "/pos/approvals", "/devices"] {
        assert!(answered.contains(route), "the search finds the secrets that are there: {answered:?}");
    }
}
