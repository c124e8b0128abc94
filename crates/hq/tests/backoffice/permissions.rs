//! Which default role gets through to which route.

use serde_json::json;
use tillkeep_hq::routes;
use tillkeep_http::routes::Protection;
use tillkeep_model::permission::{ADMINISTRATOR, satisfied};
use uuid::Uuid;

use super::kit::Kit;

fn path_of(pattern: &str) -> String {
    pattern
        .split('/')
        .map(|part| if part.starts_with('{') { Uuid::nil().to_string() } else { part.to_owned() })
        .collect::<Vec<_>>()
        .join("/")
}

#[tokio::test]
async fn every_route_lets_through_who_holds_one_of_its_codes_and_nobody_else() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for role in tillkeep_model::permission::DEFAULT_ROLES {
        let held: Vec<&str> = role.codes().collect();
        let person =
            if role.code == ADMINISTRATOR { admin.clone() } else { kit.person(role.code, &[(role.code, None)]).await };
        for route in routes::table().1 {
            let Protection::User(required) = &route.protection else { continue };
            // Leaving ends the session of this test; streams do not end.
            if route.path == "/auth/logout" || route.path.ends_with("/stream") {
                continue;
            }
            let body = (route.method != "GET" && route.method != "DELETE").then(|| json!({}));
            let got = kit.call(&person, route.method, &path_of(route.path), body).await;
            let through = got.body["code"] != "forbidden";
            let may = satisfied(required, held.iter().copied());
            assert_eq!(through, may, "{} {} as {}: {} {}", route.method, route.path, role.code, got.status, got.text);
            assert_ne!(got.status, 500, "{} {}: {}", route.method, route.path, got.text);
        }
    }
}

#[tokio::test]
async fn nobody_gets_through_without_a_token() {
    let kit = Kit::new().await;
    let nobody = super::kit::Person { id: Uuid::nil(), token: String::new() };
    for route in routes::table().1 {
        if !matches!(route.protection, Protection::User(_)) {
            continue;
        }
        let got = kit.call(&nobody, route.method, &path_of(route.path), Some(json!({}))).await;
        got.is(401);
        assert_eq!(got.body, json!({"success": false, "error": "Unauthorized"}), "{}", route.path);
    }
}

#[tokio::test]
async fn a_manager_sees_the_stores_to_send_goods_to_and_no_more_of_them() {
    let kit = Kit::new().await;
    let (here, _) = (kit.store("S01").await, kit.store("S02").await);
    let manager = kit.person("mia", &[("store_manager", Some(here))]).await;
    let stores = kit.get(&manager, "/stores").await.data();
    assert_eq!(super::kit::column(&stores, "code"), ["S01", "S02"]);
    let keys: Vec<_> = stores[0].as_object().expect("object").keys().cloned().collect();
    assert_eq!(keys.len(), 4, "{keys:?}");
    kit.get(&manager, &format!("/stores/{here}")).await.refused(403, "forbidden");
}
