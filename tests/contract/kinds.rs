//! Which kind of token opens which kind of route, at which server.

use serde_json::json;
use tillkeep_http::routes::Protection;
use tillkeep_model::ids;

use crate::kit::{NOT_SYNC, PIN, UNAUTHORIZED, World};

/// Where a token comes from and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    HqAccess,
    HqTerminal,
    HqRefresh,
    StoreAccess,
    StoreTerminal,
    StoreRefresh,
    Sync,
}

const KINDS: [Kind; 7] = [
    Kind::HqAccess,
    Kind::HqTerminal,
    Kind::HqRefresh,
    Kind::StoreAccess,
    Kind::StoreTerminal,
    Kind::StoreRefresh,
    Kind::Sync,
];

/// A new token of `kind`, got as people and stores get it.
async fn token(world: &World, kind: Kind) -> String {
    let server = match kind {
        Kind::Sync => return world.sync_token.clone(),
        Kind::HqAccess | Kind::HqTerminal | Kind::HqRefresh => world.at_hq(),
        _ => world.at_store(),
    };
    let (path, key, body) = match kind {
        Kind::HqTerminal | Kind::StoreTerminal => {
            ("/auth/pin-login", "accessToken", json!({"pin": PIN, "storeId": world.s01, "terminalId": "T1"}))
        }
        Kind::HqRefresh | Kind::StoreRefresh => {
            ("/auth/login", "refreshToken", json!({"username": "root", "pin": PIN}))
        }
        _ => ("/auth/login", "accessToken", json!({"username": "root", "pin": PIN})),
    };
    let answer = server.call("POST", path, None, Some(body)).await.data();
    answer[key].as_str().expect("a token").to_owned()
}

/// What a route says to a token of `kind`: `None` is that the token is taken.
fn refusal(server: &str, protection: &Protection, kind: Kind) -> Option<&'static str> {
    let at_hq = server == "hq";
    match (protection, kind) {
        (Protection::User(_), Kind::HqAccess | Kind::HqTerminal) if at_hq => None,
        (Protection::User(_), Kind::StoreAccess | Kind::StoreTerminal) if !at_hq => None,
        (Protection::Open, _) | (Protection::Sync, Kind::Sync) => None,
        (Protection::Sync, Kind::HqAccess | Kind::HqTerminal | Kind::HqRefresh) => Some(NOT_SYNC),
        _ => Some(UNAUTHORIZED),
    }
}

#[tokio::test]
async fn a_token_of_one_kind_or_server_is_worth_nothing_on_the_routes_of_another() {
    let world = World::new().await;
    let mut tokens = Vec::new();
    for kind in KINDS {
        tokens.push((kind, token(&world, kind).await));
    }
    for server in &world.servers {
        for route in server.routes.iter().filter(|route| route.path != "/auth/logout") {
            for (kind, token) in &tokens {
                let got = server.try_route(route, Some(token)).await;
                let what = format!(
                    "{kind:?} on {} {} at {}: {} {}",
                    route.method, route.path, server.name, got.status, got.text
                );
                match refusal(server.name, &route.protection, *kind) {
                    Some(body) => assert_eq!((got.status, got.text.as_str()), (401, body), "{what}"),
                    None => {
                        assert!(got.status < 500 && ![UNAUTHORIZED, NOT_SYNC].contains(&got.text.as_str()), "{what}");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn a_refresh_route_takes_refresh_tokens_of_its_own_server_alone() {
    let world = World::new().await;
    for server in &world.servers {
        for kind in KINDS {
            let body = json!({"refreshToken": token(&world, kind).await});
            let got = server.call("POST", "/auth/refresh", None, Some(body)).await;
            let own = if server.name == "hq" { Kind::HqRefresh } else { Kind::StoreRefresh };
            let expected = if kind == own { (200, "") } else { (401, "invalid_token") };
            assert_eq!((got.status, got.code()), expected, "{kind:?} at {}", server.name);
        }
    }
}

#[tokio::test]
async fn a_person_without_a_role_in_a_store_gets_a_token_there_that_opens_nothing() {
    let world = World::new().await;
    world.person("elsewhere", Some("482915"), &[(ids::role("store_manager"), Some(world.s02))]).await;
    let body = json!({"pin": "482915", "storeId": world.s01, "terminalId": "T1"});
    let answer = world.at_hq().call("POST", "/auth/pin-login", None, Some(body)).await.data();
    assert_eq!(answer["user"]["permissions"], json!([]));
    let token = answer["accessToken"].as_str().expect("a token");
    for (route, required) in world.at_hq().user_routes().filter(|(_, required)| !required.is_empty()) {
        let got = world.at_hq().try_route(route, Some(token)).await;
        assert_eq!((got.status, got.code()), (403, "forbidden"), "{} {} needs {required:?}", route.method, route.path);
    }
}
