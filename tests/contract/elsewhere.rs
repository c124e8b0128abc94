//! What one side refuses for the other: read from the other side's table, never more than stands there.

use std::collections::BTreeSet;

use serde_json::json;
use tillkeep_http::elsewhere::{Owner, WriteRoute};
use tillkeep_http::routes::{Protection, Route};

use crate::kit::{World, path_of};

/// Method and path, whatever the parameters are called.
fn shape(method: &str, path: &str) -> String {
    let part = |part: &str| if part.starts_with('{') { "{}".to_owned() } else { part.to_owned() };
    format!("{method} {}", path.split('/').map(part).collect::<Vec<_>>().join("/"))
}

fn served(routes: &[Route]) -> BTreeSet<String> {
    let own = routes.iter().filter(|route| route.owner.is_none());
    own.map(|route| shape(route.method, route.path)).collect()
}

/// Both servers: who owns what it refuses, its table, and that of the other one.
fn sides() -> [(Owner, Vec<Route>, Vec<Route>); 2] {
    let hq = || tillkeep_hq::routes::table(&tillkeep_store::routes::writes()).1;
    let store = || tillkeep_store::routes::table(&tillkeep_hq::routes::writes()).1;
    [(Owner::Store, hq(), store()), (Owner::Hq, store(), hq())]
}

#[test]
fn each_side_refuses_exactly_the_writes_of_the_other_that_it_does_not_serve_itself() {
    for (owner, routes, other) in sides() {
        let own = served(&routes);
        let of_people =
            other.iter().filter(|route| route.owner.is_none() && matches!(route.protection, Protection::User(_)));
        let writes = of_people.filter(|route| route.method != "GET").map(|route| shape(route.method, route.path));
        let expected: BTreeSet<String> = writes.filter(|write| !own.contains(write)).collect();
        let refused: Vec<&Route> = routes.iter().filter(|route| route.owner.is_some()).collect();
        let shapes: BTreeSet<String> = refused.iter().map(|route| shape(route.method, route.path)).collect();
        assert_eq!(shapes, expected, "what {owner:?} does");
        assert_eq!(refused.len(), shapes.len(), "each of them once");
        assert!(refused.len() >= 6 && refused.iter().all(|route| route.owner == Some(owner)));
    }
}

#[test]
fn a_refusal_never_names_a_route_that_the_other_side_does_not_serve() {
    for (_, routes, other) in sides() {
        let there = served(&other);
        for route in routes.iter().filter(|route| route.owner.is_some()) {
            assert!(there.contains(&shape(route.method, route.path)), "{} {}", route.method, route.path);
        }
    }
}

#[test]
fn a_refusal_takes_no_request_that_this_side_serves() {
    // A literal part wins over a parameter, for every method of its path.
    let takes = |refusal: &str, own: &str| {
        let (refusal, own): (Vec<_>, Vec<_>) = (refusal.split('/').collect(), own.split('/').collect());
        // No word of a path is an id.
        let covers = |(refusal, own): (&&str, &&str)| refusal == own || (own.starts_with('{') && *own != "{id}");
        let same_length = refusal.len() == own.len();
        same_length
            && shape("", &refusal.join("/")) != shape("", &own.join("/"))
            && refusal.iter().zip(&own).all(covers)
    };
    assert!(takes("/pos/lookup/all", "/pos/lookup/{code}") && !takes("/pos/lookup/{id}", "/pos/lookup/{code}"));
    for (_, routes, _) in sides() {
        for refusal in routes.iter().filter(|route| route.owner.is_some()) {
            // What this side answers at that very path is not taken from it.
            let own = |method: &str| {
                routes.iter().any(|one| one.owner.is_none() && one.method == method && one.path == refusal.path)
            };
            let shadowed = routes
                .iter()
                .find(|route| route.owner.is_none() && takes(refusal.path, route.path) && !own(route.method));
            assert!(shadowed.is_none(), "{} stands before {:?}", refusal.path, shadowed.map(|route| route.path));
        }
    }
}

#[test]
fn a_write_that_is_new_on_one_side_is_refused_on_the_other_under_the_name_it_has_there() {
    let new = [
        WriteRoute { method: "POST", path: "/promotions" },
        // The store reads this path under another name of the parameter, and serves the second one itself.
        WriteRoute { method: "PUT", path: "/customers/{customerId}" },
        WriteRoute { method: "POST", path: "/registers/{registerId}/open" },
        WriteRoute { method: "POST", path: "/registers/{registerId}/retire" },
    ];
    let (before, after) = (tillkeep_store::routes::table(&[]).1, tillkeep_store::routes::table(&new).1);
    assert_eq!(served(&before), served(&after), "what it serves it serves still");
    let refused: Vec<_> =
        after.iter().filter(|route| route.owner.is_some()).map(|route| (route.method, route.path)).collect();
    assert_eq!(
        refused,
        [("POST", "/promotions"), ("PUT", "/customers/{id}"), ("POST", "/registers/{registerId}/retire")]
    );
}

#[tokio::test]
async fn a_write_of_the_other_side_is_answered_409_with_its_owner_to_whoever_is_signed_in() {
    let world = World::new().await;
    for (server, code) in [(world.at_hq(), "owned_by_store"), (world.at_store(), "owned_by_hq")] {
        let token = server.sign_in(world.admin).await;
        for route in server.routes.iter().filter(|route| route.owner.is_some()) {
            let path = path_of(&route.full_path());
            let what = format!("{} {path} at {}", route.method, server.name);
            let got = server.ask(route.method, &path, Some(&format!("Bearer {token}")), Some(json!({}))).await;
            assert_eq!((got.status, got.code()), (409, code), "{what}: {}", got.text);
            assert_eq!(server.ask(route.method, &path, None, Some(json!({}))).await.status, 401, "{what}");
        }
    }
}

#[tokio::test]
async fn what_neither_side_serves_is_no_route_of_either() {
    let world = World::new().await;
    for server in &world.servers {
        let token = server.sign_in(world.admin).await;
        for (method, path, status) in [
            ("PUT", "/products/1", 405),
            ("POST", "/store-prices/bulk", 404),
            ("POST", "/worksheets", 404),
            ("POST", "/transfers", 404),
        ] {
            let got = server.call(method, path, Some(&format!("Bearer {token}")), Some(json!({}))).await;
            assert_eq!(got.status, status, "{method} {path} at {}: {}", server.name, got.text);
        }
    }
}
