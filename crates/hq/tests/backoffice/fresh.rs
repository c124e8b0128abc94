//! What gives rights, tokens and sign-ins away wants the second factor, or the PIN, within a quarter of an hour.

use std::collections::BTreeSet;

use serde_json::json;
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::auth::SecondFactor;
use tillkeep_http::routes::Protection;
use tillkeep_storage::entity::factor_challenge;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};

use super::factors::{PIN, chief, login, noted, set_up, signed_in, with};
use super::kit::{Kit, Person};

const HERE: &str = "192.0.2.1";

/// Every route that must be fresh. A new one that writes in these rooms belongs here, or among [`APART`].
const FRESH: &[(&str, &str)] = &[
    ("DELETE", "/auth/factors/{id}"),
    ("DELETE", "/roles/{id}"),
    ("DELETE", "/users/{id}"),
    ("DELETE", "/users/{id}/factors"),
    ("DELETE", "/users/{id}/roles/{assignmentId}"),
    ("DELETE", "/users/{id}/sessions"),
    ("DELETE", "/users/{id}/sessions/{sessionId}"),
    ("PATCH", "/alert-hooks/{id}"),
    ("PATCH", "/roles/{id}"),
    ("PATCH", "/users/{id}"),
    ("POST", "/alert-hooks"),
    ("POST", "/alert-hooks/{id}/rotate-secret"),
    ("POST", "/alert-hooks/{id}/test"),
    ("POST", "/auth/factors/passkeys"),
    ("POST", "/auth/factors/passkeys/{id}"),
    ("POST", "/auth/factors/recovery-codes"),
    ("POST", "/auth/factors/totp"),
    ("POST", "/auth/factors/totp/{id}"),
    ("POST", "/roles"),
    ("POST", "/stores/{id}/allow-pin-key"),
    ("POST", "/stores/{id}/provision"),
    ("POST", "/stores/{id}/revoke-token"),
    ("POST", "/users"),
    ("POST", "/users/{id}/activate"),
    ("POST", "/users/{id}/deactivate"),
    ("POST", "/users/{id}/pin"),
    ("POST", "/users/{id}/roles"),
    ("PUT", "/roles/{id}/permissions"),
];

/// Routes of the same rooms that need not be, each with the reason.
const APART: &[(&str, &str, &str)] = &[
    ("POST", "/auth/unlock", "it lifts a wait, and no user lifts their own"),
    ("POST", "/auth/confirm", "it makes a session fresh"),
    ("POST", "/auth/logout", "it gives nothing away"),
    ("POST", "/auth/change-pin", "it asks for the present PIN itself, and whoever has a second factor for that"),
    ("DELETE", "/auth/sessions/{id}", "it ends a session of the own account"),
    ("DELETE", "/alert-hooks/{id}", "it tells nobody anything any more"),
];

#[test]
fn every_route_that_gives_rights_tokens_or_sign_ins_away_must_be_fresh() {
    let routes = tillkeep_hq::routes::table(&[]).1;
    // What belongs to these rooms, by its path or by the code that it asks for.
    let rooms = [
        "/alert-hooks",
        "/auth",
        "/users",
        "/roles",
        "/keys",
        "/exports",
        "/backups",
        "/audit-log",
        "/stores/{id}/allow-pin-key",
    ];
    let codes = ["users.", "roles.", "stores.provision"];
    let mut wanted = BTreeSet::new();
    for route in &routes {
        let Protection::User(held) = &route.protection else { continue };
        let of_room = rooms.iter().any(|room| route.path == *room || route.path.starts_with(&format!("{room}/")));
        let is_key = route.path.ends_with("-key");
        let by_code = is_key || held.iter().any(|code| codes.iter().any(|begin| code.starts_with(begin)));
        let is_apart = APART.iter().any(|(method, path, _)| (*method, *path) == (route.method, route.path));
        if route.method != "GET" && route.owner.is_none() && (of_room || by_code) && !is_apart {
            wanted.insert((route.method, route.path));
        }
    }
    let fresh: BTreeSet<_> =
        routes.iter().filter(|route| route.operation.fresh).map(|route| (route.method, route.path)).collect();
    assert_eq!(fresh, wanted, "these rooms, and the routes that want a fresh session");
    assert_eq!(fresh, FRESH.iter().copied().collect(), "the list in this file");
    for (method, path, _) in APART {
        assert!(routes.iter().any(|route| (route.method, route.path) == (*method, *path)), "{method} {path} is gone");
    }
}

/// Something that must be fresh.
async fn makes_a_role(kit: &Kit, who: &Person, code: &str) -> super::kit::Got {
    kit.post(who, "/roles", json!({"code": code, "name": code, "permissions": []})).await
}

#[tokio::test]
async fn a_sign_in_is_fresh_for_a_quarter_of_an_hour_and_a_refresh_does_not_renew_it() {
    for setting in [SecondFactor::Off, SecondFactor::Optional] {
        let kit = with(setting).await;
        let (_, id) = chief(&kit).await;
        let got = login(&kit, json!({}), HERE).await;
        let refresh = got.body["data"]["refreshToken"].clone();
        let chief = signed_in(id, got);
        makes_a_role(&kit, &chief, "one").await.is(201);
        kit.clock.advance(15 * 60_000 - 2_000);
        makes_a_role(&kit, &chief, "two").await.is(201);
        kit.clock.advance(3_000);
        makes_a_role(&kit, &chief, "three").await.refused(403, "second_factor_stale");
        kit.get(&chief, "/roles").await.is(200);
        let again = kit.stranger("/auth/refresh", json!({"refreshToken": refresh}), HERE, None).await;
        let chief = signed_in(id, again);
        makes_a_role(&kit, &chief, "three").await.refused(403, "second_factor_stale");
        // The PIN again, of whoever has no second factor.
        let asked = kit.post(&chief, "/auth/confirm", json!({})).await;
        asked.refused(401, "second_factor_required");
        assert_eq!(asked.body["challenge"], json!({"methods": ["pin"]}));
        kit.post(&chief, "/auth/confirm", json!({"pin": "482915"})).await.refused(401, "invalid_credentials");
        let confirmed = kit.post(&chief, "/auth/confirm", json!({"pin": PIN})).await.data();
        assert!(confirmed["confirmedAt"].as_str() < confirmed["freshUntil"].as_str(), "{confirmed}");
        makes_a_role(&kit, &chief, "three").await.is(201);
        assert_eq!(noted(&kit, "session.confirm").await.len(), 1);
    }
}

#[tokio::test]
async fn what_was_shown_more_than_a_minute_from_now_says_nothing() {
    let kit = Kit::new().await;
    let (_, id) = chief(&kit).await;
    let chief = signed_in(id, login(&kit, json!({}), HERE).await);
    kit.clock.advance(-50_000);
    makes_a_role(&kit, &chief, "one").await.is(201);
    kit.clock.advance(-20_000);
    makes_a_role(&kit, &chief, "two").await.refused(403, "second_factor_stale");
}

#[tokio::test]
async fn whoever_has_a_second_factor_confirms_with_it_and_not_with_the_pin() {
    let kit = Kit::new().await;
    let (_, id) = chief(&kit).await;
    let (app, codes) = set_up(&kit, &signed_in(id, login(&kit, json!({}), HERE).await)).await;
    let chief = signed_in(id, login(&kit, json!({"code": app.code(&kit, 0)}), HERE).await);
    kit.clock.advance(16 * 60_000);
    makes_a_role(&kit, &chief, "one").await.refused(403, "second_factor_stale");
    kit.post(&chief, "/auth/confirm", json!({"pin": PIN})).await.refused(401, "second_factor_required");
    kit.post(&chief, "/auth/confirm", json!({"code": "000000"})).await.refused(401, "invalid_credentials");
    let code = app.code(&kit, 0);
    kit.post(&chief, "/auth/confirm", json!({"code": code})).await.is(200);
    makes_a_role(&kit, &chief, "one").await.is(201);
    // It was used, whatever for.
    kit.post(&chief, "/auth/confirm", json!({"code": code})).await.refused(401, "invalid_credentials");
    kit.clock.advance(60_000);
    kit.post(&chief, "/auth/confirm", json!({"code": codes[0]})).await.is(200);
    // A challenge of a sign-in is none of a session.
    let asked = login(&kit, json!({}), HERE).await;
    let passkey = json!({"challenge": asked.body["challenge"]["id"], "passkey": {}});
    kit.post(&chief, "/auth/confirm", passkey).await.refused(401, "second_factor_required");
}

#[tokio::test]
async fn a_pin_alone_changes_no_pin_of_a_user_with_a_second_factor() {
    for setting in [SecondFactor::Off, SecondFactor::Optional] {
        let kit = with(setting).await;
        let store = kit.store("S01").await;
        let (admin, id) = chief(&kit).await;
        let (app, _) = set_up(&kit, &signed_in(id, login(&kit, json!({}), HERE).await)).await;
        let alone = async |pin: &str| {
            let body = json!({"pin": pin, "storeId": store, "terminalId": "T1"});
            signed_in(id, kit.stranger("/auth/pin-login", body, HERE, None).await)
        };
        let change = |current: &str, new: &str| json!({"currentPin": current, "newPin": new});
        let finder = alone(PIN).await;
        if setting == SecondFactor::Off {
            kit.post(&finder, "/auth/change-pin", change(PIN, "605182")).await.is(204);
            continue;
        }
        kit.post(&finder, "/auth/change-pin", change(PIN, "605182")).await.refused(403, "second_factor_stale");
        kit.post(&finder, "/auth/confirm", json!({"code": app.code(&kit, 0)})).await.is(200);
        kit.post(&finder, "/auth/change-pin", change(PIN, "605182")).await.is(204);
        // Nor does one that was made for them, which they can show the factor for.
        let made = kit.post(&admin, &format!("/users/{id}/pin"), json!({})).await.data()["generatedPin"].clone();
        let first = made.as_str().expect("a PIN");
        let owner = alone(first).await;
        kit.post(&owner, "/auth/change-pin", change(first, "739154")).await.refused(403, "second_factor_stale");
        kit.clock.advance(30_000);
        kit.post(&owner, "/auth/confirm", json!({"code": app.code(&kit, 0)})).await.is(200);
        kit.post(&owner, "/auth/change-pin", change(first, "739154")).await.is(204);
    }
}

#[tokio::test]
async fn whoever_asks_again_and_again_what_to_show_leaves_ten_challenges_and_no_line() {
    let kit = Kit::new().await;
    let (_, id) = chief(&kit).await;
    let chief = signed_in(id, login(&kit, json!({}), HERE).await);
    set_up(&kit, &chief).await;
    let lines = noted(&kit, "factor.asked").await.len();
    for _ in 0..15 {
        kit.post(&chief, "/auth/confirm", json!({})).await.refused(401, "second_factor_required");
    }
    assert_eq!(noted(&kit, "factor.asked").await.len(), lines);
    let open = factor_challenge::Entity::find().filter(factor_challenge::Column::UserId.eq(id));
    assert_eq!(open.count(kit.hq.db().reader()).await.expect("a count"), 10);
}

#[tokio::test]
async fn guesses_at_a_confirmation_are_counted_as_those_at_a_sign_in() {
    let kit = Kit::new().await;
    let (_, id) = chief(&kit).await;
    let chief = signed_in(id, login(&kit, json!({}), HERE).await);
    let mut judged = 0;
    while judged < 30 {
        let got = kit.post(&chief, "/auth/confirm", json!({"pin": "482915"})).await;
        if got.status == 429 {
            break;
        }
        got.refused(401, "invalid_credentials");
        judged += 1;
    }
    assert_eq!(judged, 3, "the third one waits for a second");
}

#[tokio::test]
async fn strangers_who_guess_at_a_name_keep_no_signed_in_user_from_confirming() {
    let kit = Kit::new().await;
    let (_, id) = chief(&kit).await;
    let signed = signed_in(id, login(&kit, json!({}), HERE).await);
    let mut refused = 0;
    for host in 0..90 {
        let got = login(&kit, json!({"pin": "704913"}), &format!("203.0.113.{host}")).await;
        refused += u32::from(got.status == 429);
    }
    assert!(refused > 10, "they made whoever signs in wait");
    login(&kit, json!({}), HERE).await.refused(429, "too_many_attempts");
    kit.post(&signed, "/auth/confirm", json!({"pin": PIN})).await.is(200);
    // What is guessed in a session is bounded all the same.
    let mut guesses = 0;
    while kit.post(&signed, "/auth/confirm", json!({"pin": "704913"})).await.status == 401 {
        guesses += 1;
        assert!(guesses <= 20);
    }
    assert!(guesses >= 1);
}
