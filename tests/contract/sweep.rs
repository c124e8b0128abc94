//! Every route of both servers, with nothing and with each default role.

use tillkeep_http::routes::Protection;
use tillkeep_model::ids;
use tillkeep_model::permission::{DEFAULT_ROLES, satisfied};

use crate::kit::{UNAUTHORIZED, World, is_tried};

#[tokio::test]
async fn no_route_but_the_open_ones_answers_without_a_token() {
    let world = World::new().await;
    for server in &world.servers {
        for route in &server.routes {
            let got = server.try_route(route, None).await;
            if route.protection == Protection::Open {
                assert_ne!(got.text, UNAUTHORIZED, "{} {}", route.method, route.path);
            } else {
                assert_eq!((got.status, got.text.as_str()), (401, UNAUTHORIZED), "{} {}", route.method, route.path);
            }
            assert!(got.status < 500, "{} {} at {}: {}", route.method, route.path, server.name, got.text);
        }
    }
}

#[tokio::test]
async fn only_signing_in_is_open() {
    for routes in [
        tillkeep_hq::routes::table(&tillkeep_store::routes::writes()).1,
        tillkeep_store::routes::table(&tillkeep_hq::routes::writes()).1,
    ] {
        let open: Vec<_> = routes.iter().filter(|route| route.protection == Protection::Open).collect();
        let open: Vec<_> = open.iter().map(|route| (route.method, route.path)).collect();
        let sign_in = [("POST", "/auth/login"), ("POST", "/auth/pin-login"), ("POST", "/auth/refresh")];
        assert_eq!(open, sign_in);
    }
}

#[tokio::test]
async fn each_default_role_gets_through_where_it_holds_a_code_and_learns_what_it_lacks_elsewhere() {
    let world = World::new().await;
    for (rank, role) in DEFAULT_ROLES.iter().enumerate() {
        let places = [("everywhere", None), ("here", Some(world.s01)), ("elsewhere", Some(world.s02))];
        for (nth, (place, store)) in places.into_iter().enumerate() {
            let user = world.person(&format!("{}-{place}", role.code), None, &[(ids::role(role.code), store)]).await;
            for server in &world.servers {
                let counts = store.is_none() || server.store_id.is_none() || store == server.store_id;
                let held: Vec<&str> = role.codes().filter(|_| counts).collect();
                let tried = server.user_routes().enumerate();
                for (_, (route, required)) in tried.filter(|(number, _)| is_tried(number + rank + nth, 2)) {
                    // A session of its own: some routes end the one they are called with.
                    let token = server.sign_in(user).await;
                    let got = server.try_route(route, Some(&token)).await;
                    let what = format!("{} {} at {} as {} {place}", route.method, route.path, server.name, role.code);
                    assert_eq!(
                        got.code() != "forbidden",
                        satisfied(required, held.iter().copied()),
                        "{what}: {}",
                        got.text
                    );
                    if got.code() == "forbidden" {
                        assert_eq!((got.status, &got.body["required"]), (403, &serde_json::json!(required)), "{what}");
                    }
                    // Of the one route that asks who it is there is nothing to be seen by that.
                    let asked = got.code() == "second_factor_required" && route.path == "/auth/confirm";
                    assert!(got.status < 500 && (asked || got.status != 401), "{what}: {} {}", got.status, got.text);
                }
            }
        }
    }
}

#[tokio::test]
async fn each_server_answers_its_own_pages_and_not_those_of_the_other() {
    let world = World::new().await;
    for server in &world.servers {
        let (own, others): (&[&str], &[&str]) =
            (&["/", "/login", "/hq", "/hq/sync"], &["/till", "/till/display", "/store", "/store/sales"]);
        let (own, others) = if server.store_id.is_none() { (own, others) } else { (others, own) };
        for (paths, expected) in [(own, (200, "")), (others, (404, "not_found")), (&["/favicon.svg"], (200, ""))] {
            for path in paths {
                let got = server.ask("GET", path, None, None).await;
                assert_eq!((got.status, got.code()), expected, "{path} at {}", server.name);
            }
        }
    }
}
