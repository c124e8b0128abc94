//! A PIN alone at headquarters: one counter for all of it, and who is looked up at all.

use serde_json::json;
use tillkeep_http::auth::{PinLogin, SignInSettings};
use tillkeep_model::ids;
use uuid::Uuid;

use super::kit::{Got, Kit, Person};

const PIN: &str = "739154";
const WRONG: &str = "482915";
const PROXY: &str = "198.51.100.7";

async fn kit(pin_login_at_hq: PinLogin) -> Kit {
    let trusted_proxies = vec!["198.51.100.0/24".parse().expect("a network")];
    Kit::with(SignInSettings { trusted_proxies, pin_login_at_hq, ..SignInSettings::default() }).await
}

/// A PIN alone for `store`, through the proxy, from `client`.
async fn type_pin(kit: &Kit, store: Uuid, client: &str, pin: &str) -> Got {
    let body = json!({"pin": pin, "storeId": store, "terminalId": format!("T at {client}")});
    kit.stranger("/auth/pin-login", body, PROXY, Some(client)).await
}

#[tokio::test]
async fn a_hundred_store_ids_and_ten_addresses_get_a_hundred_and_ten_tries_a_day_in_all() {
    let kit = kit(PinLogin::All).await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    let mut stores = Vec::new();
    for number in 0..100 {
        stores.push(kit.store(&format!("S{number:02}")).await);
    }
    let begin = kit.clock.now();
    let (mut tries, mut looked_at, mut longest, mut honest) = (0, 0, 0, 0);
    while kit.clock.now().millis_since(begin) < 24 * 3_600_000 {
        let got = type_pin(&kit, stores[tries % 100], &format!("203.0.113.{}", tries % 10), WRONG).await;
        tries += 1;
        if got.status == 401 {
            looked_at += 1;
            assert!(
                looked_at <= 110,
                "more than are allowed, {} h after the first",
                kit.clock.now().millis_since(begin) / 3_600_000
            );
            continue;
        }
        got.refused(429, "too_many_attempts");
        longest = longest.max(got.retry_after());
        kit.clock.advance(got.retry_after() * 1000);
        // Now and then somebody honest comes first after the wait, which gives the guesser nothing.
        if looked_at % 30 == 15 {
            type_pin(&kit, stores[0], "203.0.113.99", PIN).await.is(200);
            honest += 1;
        }
    }
    assert!(looked_at >= 90, "only {looked_at} tries");
    assert!(longest == 900 && honest >= 3, "{longest} s, {honest}");
    // Whoever has no patience signs in with their name.
    type_pin(&kit, stores[7], "203.0.113.99", WRONG).await;
    type_pin(&kit, stores[8], "203.0.113.98", PIN).await.refused(429, "too_many_attempts");
    kit.login("ann", PIN).await.is(200);
    let admin = Person { token: kit.sign_in(admin.id, "admin", None).await, ..admin };
    let locks = kit.get(&admin, "/auth/locks").await.data();
    assert_eq!(
        (&locks[0]["kind"], &locks[0]["label"]),
        (&json!("headquarters"), &json!("a PIN alone at headquarters"))
    );
    kit.post(&admin, "/auth/unlock", json!({"id": locks[0]["id"]})).await.is(204);
    type_pin(&kit, stores[8], "203.0.113.98", PIN).await.is(200);
}

#[tokio::test]
async fn where_it_is_scoped_a_pin_is_held_only_against_people_whose_role_counts_in_that_store() {
    let kit = kit(PinLogin::Scoped).await;
    let admin = kit.admin().await;
    let (here, there) = (kit.store("S01").await, kit.store("S02").await);
    let works = |store: Option<Uuid>| json!({"assignments": [{"roleId": ids::role("cashier"), "storeId": store}]});
    kit.with_pin(&admin, "ann", PIN, works(Some(here))).await;
    kit.with_pin(&admin, "bob", "605182", works(None)).await;
    kit.with_pin(&admin, "cat", "918273", json!({})).await;
    let before = kit.hq.auth.pins.computed();
    let (wrong, elsewhere) =
        (type_pin(&kit, there, "203.0.113.1", WRONG).await, type_pin(&kit, there, "203.0.113.1", PIN).await);
    elsewhere.refused(401, "invalid_credentials");
    assert_eq!((wrong.status, &wrong.text), (elsewhere.status, &elsewhere.text), "one answer");
    assert_eq!(kit.hq.auth.pins.computed() - before, 4, "one cost");
    type_pin(&kit, here, "203.0.113.1", "918273").await.refused(401, "invalid_credentials");
    type_pin(&kit, here, "203.0.113.1", PIN).await.refused(429, "too_many_attempts");
    kit.clock.advance(5_000);
    type_pin(&kit, here, "203.0.113.1", PIN).await.is(200);
    for store in [here, there] {
        kit.clock.advance(60_000);
        type_pin(&kit, store, "203.0.113.1", "605182").await.is(200);
    }
}

#[tokio::test]
async fn where_it_is_off_nobody_is_looked_up_and_people_sign_in_with_their_names() {
    let kit = kit(PinLogin::Off).await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    let store = kit.store("S01").await;
    let before = kit.hq.auth.pins.computed();
    for pin in [PIN, WRONG, PIN, WRONG] {
        type_pin(&kit, store, "203.0.113.1", pin).await.refused(403, "pin_login_off");
    }
    type_pin(&kit, Uuid::nil(), "203.0.113.1", PIN).await.refused(403, "pin_login_off");
    assert_eq!(kit.hq.auth.pins.computed(), before);
    kit.login("ann", PIN).await.is(200);
}

#[tokio::test]
async fn the_key_of_a_till_is_not_looked_at_where_no_till_is_enrolled() {
    let kit = kit(PinLogin::All).await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    let body = json!({"username": "ann", "pin": PIN}).to_string();
    let request = axum::http::Request::post("/api/v1/auth/login")
        .header("content-type", "application/json")
        .header("tillkeep-device", "dev_of-a-store");
    kit.send(request.body(body.into()).expect("a request")).await.is(200);
}
