//! A PIN alone at headquarters: one counter for all of it, and who is looked up at all.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::auth::{PinLogin, SignInSettings};
use tillkeep_model::ids;
use tillkeep_storage::user_pins;
use uuid::Uuid;

use super::kit::{Got, Kit, Person, id_of};

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

/// The same in a browser that sends this as its key.
async fn type_pin_in(kit: &Kit, store: Uuid, client: &str, pin: &str, key: &str) -> Got {
    let body = json!({"pin": pin, "storeId": store, "terminalId": "T"});
    kit.browser("/auth/pin-login", body, PROXY, client, key).await
}

/// Uses up what all strangers together have, each from an address of its own.
async fn use_up(kit: &Kit, store: Uuid) {
    for host in 0..=60 {
        if type_pin(kit, store, &format!("198.18.7.{host}"), WRONG).await.status == 429 {
            return;
        }
    }
    panic!("strangers are never stopped");
}

#[tokio::test]
async fn a_hundred_store_ids_are_one_guesser_with_a_hundred_and_five_tries_a_day_unnoticed_at_other_addresses() {
    let kit = kit(PinLogin::All).await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    let mut stores = Vec::new();
    for number in 0..100 {
        stores.push(kit.store(&format!("S{number:02}")).await);
    }
    let begin = kit.clock.now();
    let (mut tries, mut looked_at, mut longest) = (0, 0, 0);
    while kit.clock.now().millis_since(begin) < 24 * 3_600_000 {
        let got = type_pin(&kit, stores[tries % 100], "203.0.113.1", WRONG).await;
        tries += 1;
        if got.status == 401 {
            looked_at += 1;
            assert!(looked_at <= 110, "{} h after the first", kit.clock.now().millis_since(begin) / 3_600_000);
            continue;
        }
        got.refused(429, "too_many_attempts");
        longest = longest.max(got.retry_after());
        // Whoever is elsewhere, and was never here before, does not wait while this one does.
        if looked_at % 30 == 15 {
            type_pin(&kit, stores[0], &format!("203.0.113.{}", 100 + looked_at), PIN).await.is(200);
        }
        kit.clock.advance(got.retry_after() * 1000);
    }
    assert!(looked_at >= 90, "only {looked_at} tries");
    assert_eq!(longest, 900);
    let admin = Person { token: kit.sign_in(admin.id, "admin", None).await, ..admin };
    while type_pin(&kit, stores[7], "203.0.113.1", WRONG).await.status == 401 {}
    let locks = kit.get(&admin, "/auth/locks").await.data();
    assert_eq!(
        (&locks[0]["kind"], &locks[0]["label"], &locks[0]["place"]),
        (&json!("headquarters"), &json!("a PIN alone at headquarters"), &json!("203.0.113.1"))
    );
    kit.post(&admin, "/auth/unlock", json!({"id": locks[0]["id"]})).await.is(204);
    type_pin(&kit, stores[8], "203.0.113.1", PIN).await.is(200);
}

#[tokio::test]
async fn whoever_has_any_number_of_addresses_gets_a_hundred_and_fifty_tries_a_day_and_no_known_place_waits_for_it() {
    let kit = kit(PinLogin::Scoped).await;
    let (admin, store) = (kit.admin().await, kit.store("S01").await);
    let works = json!({"assignments": [{"roleId": ids::role("cashier"), "storeId": store}]});
    kit.with_pin(&admin, "ann", PIN, works).await;
    type_pin(&kit, store, "203.0.113.99", PIN).await.is(200);
    let asked = type_pin_in(&kit, store, "203.0.113.98", PIN, "new").await.data();
    let key = asked["deviceKey"].as_str().expect("a key").to_owned();
    let begin = kit.clock.now();
    let (mut address, mut looked_at, mut honest) = (0, 0, 0);
    while kit.clock.now().millis_since(begin) < 24 * 3_600_000 {
        address += 1;
        let got = type_pin(&kit, store, &format!("198.18.{}.{}", address / 250, address % 250), WRONG).await;
        if got.status == 401 {
            looked_at += 1;
            assert!(looked_at <= 155, "{} h after the first", kit.clock.now().millis_since(begin) / 3_600_000);
            continue;
        }
        got.refused(429, "too_many_attempts");
        if looked_at % 25 == 5 {
            type_pin(&kit, store, "203.0.113.99", PIN).await.is(200);
            type_pin_in(&kit, store, &format!("198.19.0.{looked_at}"), PIN, &key).await.is(200);
            honest += 1;
        }
        kit.clock.advance(got.retry_after() * 1000);
    }
    assert!(looked_at >= 130 && honest >= 3, "{looked_at}, {honest}");
}

#[tokio::test]
async fn an_account_of_ones_own_makes_three_addresses_and_one_count_for_its_browsers_and_no_more() {
    let kit = kit(PinLogin::Scoped).await;
    let (admin, store) = (kit.admin().await, kit.store("S01").await);
    let works = json!({"assignments": [{"roleId": ids::role("cashier"), "storeId": store}]});
    kit.with_pin(&admin, "ann", PIN, works).await;
    let mut keys = Vec::new();
    for host in 1..=6 {
        kit.clock.advance(1000);
        let got = type_pin_in(&kit, store, &format!("203.0.113.{host}"), PIN, "new").await.data();
        keys.push(got["deviceKey"].as_str().expect("a key").to_owned());
    }
    use_up(&kit, store).await;
    let mut through = Vec::new();
    for host in 1..=6 {
        through.push(type_pin(&kit, store, &format!("203.0.113.{host}"), WRONG).await.status);
    }
    assert_eq!(through, [429, 429, 429, 401, 401, 401]);
    let mut in_browsers = Vec::new();
    for key in &keys {
        in_browsers.push(type_pin_in(&kit, store, "198.19.0.1", WRONG, key).await.status);
    }
    assert_eq!(in_browsers, [401, 401, 401, 429, 429, 429], "the browsers of one person are one");
    let locks = kit.get(&admin, "/auth/locks").await.data();
    let places = super::kit::column(&locks, "place");
    assert!(places.contains(&"a browser of ann"), "{places:?}");
    // The user of the account is out, and so are its places.
    let ann = kit.get(&admin, "/users?search=ann").await.data();
    let path = format!("/users/{}", ann[0]["id"].as_str().expect("an id"));
    kit.post(&admin, &format!("{path}/deactivate"), json!({})).await.is(200);
    kit.clock.advance(2000);
    type_pin(&kit, store, "203.0.113.6", WRONG).await.refused(429, "too_many_attempts");
}

#[tokio::test]
async fn accounts_that_one_person_makes_have_one_count_and_make_no_place_known_at_first() {
    let kit = kit(PinLogin::Scoped).await;
    let (admin, store) = (kit.admin().await, kit.store("S01").await);
    let works = json!({"assignments": [{"roleId": ids::role("cashier"), "storeId": store}]});
    let mut keys = Vec::new();
    for (number, pin) in [PIN, "605182", "316408"].into_iter().enumerate() {
        let id = kit.with_pin(&admin, &format!("t{number}"), pin, works.clone()).await;
        let got = type_pin_in(&kit, store, &format!("203.0.113.{number}"), pin, "new").await.data();
        keys.push(got["deviceKey"].as_str().expect("a key").to_owned());
        let tx = kit.hq.db().begin().await.expect("begin");
        user_pins::made(&tx, id, Some(admin.id), 6, kit.clock.now()).await.expect("made by the administrator");
        tx.commit().await.expect("commit");
    }
    for number in 0..7 {
        let got = type_pin_in(&kit, store, "198.19.0.1", WRONG, &keys[number % 3]).await;
        got.refused(401, "invalid_credentials");
        kit.clock.advance(11_000);
    }
    for key in &keys {
        type_pin_in(&kit, store, "198.19.0.1", WRONG, key).await.refused(429, "too_many_attempts");
    }
    // It is a count of who made them, and not theirs to lift.
    let locks = kit.get(&admin, "/auth/locks").await.data();
    let of_admin = |lock: &&Json| lock["kind"] == "headquarters" && lock["place"] == "a browser of admin";
    let lock = locks.as_array().into_iter().flatten().find(of_admin).expect("a lock");
    kit.post(&admin, "/auth/unlock", json!({"id": lock["id"]})).await.refused(409, "self");
    // A new one is known nowhere.
    let mut body = works.clone();
    (body["username"], body["displayName"]) = (json!("new"), json!("New"));
    kit.chooses(id_of(&kit.post(&admin, "/users", body).await.data()), "926350").await;
    let got = type_pin_in(&kit, store, "203.0.113.9", "926350", "new").await.data();
    assert!(got.get("deviceKey").is_none(), "{got}");
    use_up(&kit, store).await;
    type_pin(&kit, store, "203.0.113.9", WRONG).await.refused(429, "too_many_attempts");
}

#[tokio::test]
async fn where_it_is_scoped_a_pin_is_held_only_against_people_with_a_role_in_that_store() {
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
async fn where_it_is_off_no_pin_is_looked_up_and_people_sign_in_with_their_names() {
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
async fn the_key_of_a_till_is_refused_nowhere_at_headquarters_and_a_key_is_given_to_whoever_asks() {
    let kit = kit(PinLogin::All).await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    let body = json!({"username": "ann", "pin": PIN}).to_string();
    let request = axum::http::Request::post("/api/v1/auth/login")
        .header("content-type", "application/json")
        .header("tillkeep-device", "dev_of-a-store");
    let got = kit.send(request.body(body.into()).expect("a request")).await.data();
    assert!(got["deviceKey"].as_str().is_some_and(|key| key.starts_with("web_")), "{got}");
    let got = kit.login("ann", PIN).await.data();
    assert!(got.get("deviceKey").is_none(), "it was not asked for: {got}");
}
