//! Guessing of PINs ends soon, and hurts no other user.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::auth::SignInSettings;
use tillkeep_model::ids;
use tillkeep_storage::attempts::{self, Bucket, Decision, Kind};
use tillkeep_storage::entity::{audit_log, pin_attempt};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::kit::{Got, Kit, Person, column, id_of};

const PIN: &str = "739154";
const WRONG: &str = "482915";

async fn audited(kit: &Kit, action: &str) -> Vec<Json> {
    let rows = audit_log::Entity::find().all(kit.hq.db().reader()).await.expect("log");
    rows.into_iter().filter(|row| row.action == action).map(|row| row.details.0).collect()
}

/// Ten wrong PINs, each as soon as it is let through; the first one that is not.
async fn lock(kit: &Kit, name: &str) -> Got {
    for _ in 0..10 {
        kit.login(name, WRONG).await.refused(401, "invalid_credentials");
        kit.clock.advance(11_000);
    }
    kit.login(name, PIN).await
}

#[tokio::test]
async fn of_two_hundred_guesses_at_once_at_an_account_three_are_looked_at() {
    let kit = Arc::new(Kit::new().await);
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    let before = kit.hq.auth.pins.computed();
    let guesses = (0..200).map(|_| {
        let kit = kit.clone();
        tokio::spawn(async move { kit.login("ann", WRONG).await.status })
    });
    let mut statuses = Vec::new();
    for guess in guesses.collect::<Vec<_>>() {
        statuses.push(guess.await.expect("a guess"));
    }
    // Slow machines let the first wait of a second pass meanwhile, never more than what waiting gives.
    let looked_at = statuses.iter().filter(|status| **status == 401).count();
    println!("{looked_at} were looked at");
    assert!((3..=8).contains(&looked_at), "{looked_at}");
    assert_eq!(kit.hq.auth.pins.computed() - before, looked_at as u64, "one hash for each");
    assert!(statuses.iter().all(|status| [401, 429].contains(status)));
    assert_eq!(audited(&kit, "login.refused").await.len(), looked_at);
    // On a slow machine those that were refused may have waited for the others alone.
    while kit.login("ann", WRONG).await.status == 401 {}
    let blocked = audited(&kit, "login.blocked").await.len();
    assert!((1..=2).contains(&blocked), "once, and again when the wait becomes a long one: {blocked}");
    for _ in 0..20 {
        kit.login("ann", WRONG).await;
    }
    assert!(audited(&kit, "login.blocked").await.len() <= blocked + 1, "not for each refusal");
}

#[tokio::test]
async fn an_unknown_name_is_throttled_like_a_known_one() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    let (known, unknown) = (lock(&kit, "ann").await, lock(&kit, "nobody-at-all").await);
    for got in [&known, &unknown] {
        got.refused(429, "too_many_attempts");
        assert!((870..=900).contains(&got.retry_after()), "{}", got.retry_after());
    }
    let plain = |got: &Got| got.text.replace(char::is_numeric, "");
    assert_eq!(plain(&known), plain(&unknown));
    let names = |got: &Got| got.headers.keys().map(|name| name.as_str().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&known), names(&unknown));
    let locks = kit.get(&admin, "/auth/locks").await.data();
    let mut labels = column(&locks, "label");
    labels.sort_unstable();
    assert_eq!(labels, ["a name that nobody has", "ann"]);
    assert!(!locks.to_string().contains("nobody-at-all"), "what a stranger typed is not kept");
}

#[tokio::test]
async fn people_of_other_accounts_and_at_other_addresses_are_unhurt_and_a_quarter_of_an_hour_frees_the_locked_one() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    kit.with_pin(&admin, "bob", "605182", json!({})).await;
    lock(&kit, "ann").await.refused(429, "too_many_attempts");
    kit.login("bob", "605182").await.is(200);
    kit.login("ANN", PIN).await.refused(429, "too_many_attempts");
    let elsewhere = kit.stranger("/auth/login", json!({"username": "ann", "pin": PIN}), "192.0.2.2", None).await;
    elsewhere.is(200);
    kit.login("ann", PIN).await.refused(429, "too_many_attempts");
    kit.clock.advance(900_000);
    kit.login("ann", PIN).await.is(200);
}

#[tokio::test]
async fn a_restart_forgets_nothing() {
    let mut kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    lock(&kit, "ann").await.refused(429, "too_many_attempts");
    kit.restart().await;
    kit.login("ann", PIN).await.refused(429, "too_many_attempts");
}

#[tokio::test]
async fn a_stranger_cannot_get_more_tries_by_claiming_other_names_and_addresses() {
    let kit = Kit::new().await;
    let mut guesses = Vec::new();
    for guess in 0..31 {
        let body = json!({"username": format!("name{guess}"), "pin": WRONG});
        let forwarded = format!("203.0.113.{guess}");
        guesses.push(kit.stranger("/auth/login", body, "198.51.100.7", Some(&forwarded)).await.status);
    }
    assert_eq!((guesses[29], guesses[30]), (401, 429));
    let log = audited(&kit, "login.refused").await;
    assert!(log.iter().all(|details| details["address"] == "198.51.100.7"));
}

#[tokio::test]
async fn behind_a_trusted_proxy_each_client_is_counted_alone() {
    let trusted_proxies = vec!["198.51.100.0/24".parse().expect("a network")];
    let kit = Kit::with(SignInSettings { trusted_proxies, ..SignInSettings::default() }).await;
    let guess = async |client: &str, number: usize| {
        let body = json!({"username": format!("name{number}"), "pin": WRONG});
        kit.stranger("/auth/login", body, "198.51.100.7", Some(client)).await.status
    };
    for number in 0..30 {
        guess("10.1.1.1, 203.0.113.9", number).await;
    }
    assert_eq!(guess("10.9.9.9, 203.0.113.9", 30).await, 429, "what stands left of the client is its own word");
    assert_eq!(guess("203.0.113.10", 31).await, 401);
}

#[tokio::test]
async fn a_manager_unlocks_whom_they_may_see_and_a_cashier_unlocks_no_account() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (here, there) = (kit.store("S01").await, kit.store("S02").await);
    kit.role(&admin, "lead", &["users.view", "users.edit"]).await;
    let works = |store| json!({"assignments": [{"roleId": ids::role("cashier"), "storeId": store}]});
    kit.with_pin(&admin, "ann", PIN, works(here)).await;
    kit.with_pin(&admin, "bob", "605182", works(there)).await;
    lock(&kit, "ann").await.refused(429, "too_many_attempts");
    lock(&kit, "bob").await.refused(429, "too_many_attempts");
    let lead = kit.person("lea", &[("lead", Some(here))]).await;
    let cashier = kit.person("cas", &[("cashier", None)]).await;
    let all = kit.get(&admin, "/auth/locks").await.data();
    assert_eq!(all.as_array().map(Vec::len), Some(2));
    let bob = |lock: &&Json| lock["label"] == "bob";
    let of_bob = all.as_array().into_iter().flatten().find(bob).map(id_of).expect("a lock");
    let seen = kit.get(&lead, "/auth/locks").await.data();
    assert_eq!(column(&seen, "label"), ["ann"]);
    assert_eq!((&seen[0]["kind"], &seen[0]["wrongToday"]), (&json!("account"), &json!(10)));
    assert_eq!(seen[0]["place"], "192.0.2.1");
    let id = id_of(&seen[0]);
    kit.get(&cashier, "/auth/locks").await.refused(403, "forbidden");
    kit.post(&cashier, "/auth/unlock", json!({"id": id})).await.refused(403, "forbidden");
    kit.post(&lead, "/auth/unlock", json!({"id": of_bob})).await.is(404);
    kit.post(&lead, "/auth/unlock", json!({"id": id})).await.is(204);
    kit.post(&lead, "/auth/unlock", json!({"id": id})).await.is(404);
    kit.login("ann", PIN).await.is(200);
    kit.login("bob", "605182").await.refused(429, "too_many_attempts");
    let log = audited(&kit, "login.unlock").await;
    assert_eq!((log.len(), &log[0]["label"]), (1, &json!("ann")));
}

#[tokio::test]
async fn no_user_lifts_what_was_counted_of_their_own_account() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.role(&admin, "lead", &["users.view", "users.edit"]).await;
    let lead = kit.with_pin(&admin, "lea", PIN, json!({"assignments": [{"roleId": ids::role("lead")}]})).await;
    lock(&kit, "lea").await.refused(429, "too_many_attempts");
    let lead = Person { id: lead, token: kit.sign_in(lead, "lea", None).await };
    let locks = kit.get(&lead, "/auth/locks").await.data();
    assert_eq!((&locks[0]["kind"], &locks[0]["label"]), (&json!("account"), &json!("lea")));
    kit.post(&lead, "/auth/unlock", json!({"id": locks[0]["id"]})).await.refused(409, "self");
    kit.post(&admin, "/auth/unlock", json!({"id": locks[0]["id"]})).await.is(204);
}

#[tokio::test]
async fn the_present_pin_is_guessed_no_faster_where_it_is_changed() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = kit.with_pin(&admin, "ann", PIN, json!({})).await;
    let ann = Person { id, token: kit.sign_in(id, "ann", None).await };
    let change = |current: &str| json!({"currentPin": current, "newPin": "605182"});
    let weak = json!({"currentPin": WRONG, "newPin": "1111"});
    for _ in 0..9 {
        kit.post(&ann, "/auth/change-pin", change(WRONG)).await.refused(401, "invalid_credentials");
        kit.post(&ann, "/auth/change-pin", weak.clone()).await.refused(422, "pin_not_allowed");
        kit.clock.advance(11_000);
    }
    // The session is one, whichever way its PIN is guessed, and what strangers type is not counted there.
    let by_name = json!({"username": "ann", "pin": WRONG});
    kit.stranger("/auth/login", by_name, "0.0.0.0", None).await.refused(401, "invalid_credentials");
    kit.post(&ann, "/auth/confirm", json!({"pin": WRONG})).await.refused(401, "invalid_credentials");
    kit.clock.advance(11_000);
    kit.post(&ann, "/auth/change-pin", change(PIN)).await.refused(429, "too_many_attempts");
    kit.clock.advance(900_000);
    kit.post(&ann, "/auth/change-pin", change(PIN)).await.is(204);
    kit.get(&ann, "/auth/me").await.is(401);
    kit.login("ann", "605182").await.is(200);
}

#[tokio::test]
async fn fifty_one_wrong_pins_from_fifty_one_addresses_do_not_make_the_owner_wait_in_a_browser_of_theirs() {
    let trusted_proxies = vec!["198.51.100.0/24".parse().expect("a network")];
    let kit = Kit::with(SignInSettings { trusted_proxies, ..SignInSettings::default() }).await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    kit.with_pin(&admin, "bob", "605182", json!({})).await;
    let sign_in = async |name: &str, pin: &str, client: &str, key: &str| {
        kit.browser("/auth/login", json!({"username": name, "pin": pin}), "198.51.100.7", client, key).await
    };
    let key = sign_in("ann", PIN, "203.0.113.1", "new").await.data()["deviceKey"].as_str().expect("a key").to_owned();
    let again = sign_in("ann", PIN, "203.0.113.1", &key).await.data();
    assert!(again.get("deviceKey").is_none(), "it has one: {again}");
    for host in 0..=50 {
        sign_in("ann", WRONG, &format!("198.18.7.{host}"), "web_made-up").await.refused(401, "invalid_credentials");
    }
    let elsewhere = sign_in("ann", PIN, "203.0.113.1", "new").await;
    elsewhere.refused(429, "too_many_attempts");
    let token = sign_in("ann", PIN, "203.0.113.1", &key).await.data()["accessToken"].as_str().expect("one").to_owned();
    // Nor where they change it.
    let ann = Person { id: uuid::Uuid::nil(), token };
    kit.post(&ann, "/auth/change-pin", json!({"currentPin": PIN, "newPin": "316408"})).await.is(204);
    // It is the browser of its owner alone, and has a count of its own.
    for host in 0..=50 {
        sign_in("bob", WRONG, &format!("198.18.7.{host}"), &key).await.refused(401, "invalid_credentials");
    }
    sign_in("bob", "605182", "203.0.113.1", &key).await.refused(429, "too_many_attempts");
    let mut tries = 0;
    while sign_in("ann", WRONG, "198.18.8.1", &key).await.status == 401 {
        kit.clock.advance(11_000);
        tries += 1;
        assert!(tries < 20, "a key that was stolen opens no end of tries");
    }
    assert_eq!(tries, 10);
    let locks = kit.get(&admin, "/auth/locks").await.data();
    assert!(column(&locks, "place").contains(&"a browser of ann"), "{locks}");
}

/// Signs in at a till of headquarters with a PIN alone.
async fn with_pin_alone(kit: &Kit, store: uuid::Uuid, pin: &str) -> Got {
    let body = json!({"pin": pin, "storeId": store, "terminalId": "T1"});
    kit.stranger("/auth/pin-login", body, "192.0.2.1", None).await
}

/// However long a busy machine takes to look at PINs.
fn patient() -> SignInSettings {
    assert_eq!(SignInSettings::default().waits_for_others, Duration::from_secs(2));
    SignInSettings { waits_for_others: Duration::from_mins(1), ..SignInSettings::default() }
}

#[tokio::test]
async fn six_right_pins_at_one_moment_at_one_address_are_all_let_in() {
    let kit = Kit::with(patient()).await;
    let (admin, store) = (kit.admin().await, kit.store("S01").await);
    let pins = ["739154", "605182", "481907", "926350", "370618", "518294"];
    for pin in pins {
        kit.with_pin(&admin, &format!("p{pin}"), pin, json!({"assignments": [{"roleId": ids::role("cashier")}]})).await;
    }
    let alone = join_all(pins.iter().map(|pin| with_pin_alone(&kit, store, pin))).await;
    assert_eq!(alone.iter().map(|got| got.status).collect::<Vec<_>>(), [200; 6]);
    // One name six times, as of six browsers.
    let named = join_all((0..6).map(|_| kit.login("p739154", pins[0]))).await;
    assert_eq!(named.iter().map(|got| got.status).collect::<Vec<_>>(), [200; 6]);
    assert_eq!(audited(&kit, "login.blocked").await, Vec::<Json>::new());
    let counters = pin_attempt::Entity::find().all(kit.hq.db().reader()).await.expect("the counters");
    assert!(counters.iter().all(|row| (row.wrong_today, row.in_a_row) == (0, 0)), "{counters:?}");
}

#[tokio::test]
async fn wrong_pins_among_right_ones_at_one_moment_get_no_more_tries_than_one_after_the_other() {
    let kit = Kit::with(patient()).await;
    let (admin, store) = (kit.admin().await, kit.store("S01").await);
    kit.with_pin(&admin, "ann", PIN, json!({"assignments": [{"roleId": ids::role("cashier")}]})).await;
    let before = kit.hq.auth.pins.computed();
    let guesses =
        join_all((0..40).map(|number| with_pin_alone(&kit, store, if number == 20 { PIN } else { WRONG }))).await;
    let count = |status: u16| guesses.iter().filter(|got| got.status == status).count();
    println!("{} wrong, {} right, {} refused", count(401), count(200), count(429));
    assert!((3..=8).contains(&count(401)), "a right one ends no waits here: {}", count(401));
    assert_eq!(count(401) + count(200) + count(429), 40);
    assert_eq!(
        kit.hq.auth.pins.computed() - before,
        2 * (count(401) + count(200)) as u64,
        "no other one was looked at"
    );
    let counter = pin_attempt::Entity::find().filter(pin_attempt::Column::Kind.eq("headquarters"));
    let counter = counter.one(kit.hq.db().reader()).await.expect("a read").expect("the counter");
    assert_eq!(usize::try_from(counter.wrong_today).expect("few"), count(401));
}

#[tokio::test]
async fn who_waits_in_vain_for_those_before_is_asked_to_come_again_in_a_second() {
    let settings = SignInSettings { waits_for_others: Duration::from_millis(100), ..SignInSettings::default() };
    let kit = Kit::with(settings).await;
    let (admin, store) = (kit.admin().await, kit.store("S01").await);
    kit.with_pin(&admin, "ann", PIN, json!({"assignments": [{"roleId": ids::role("cashier")}]})).await;
    let (bucket, now) = ([Bucket::new(Kind::Headquarters, "192.0.2.1")], kit.clock.now());
    let mut under_way = Vec::new();
    for _ in 0..3 {
        let tx = kit.hq.db().begin().await.expect("begin");
        let taken = attempts::take(&tx, &bucket, kit.hq.auth.judge(), now).await.expect("a decision");
        tx.commit().await.expect("commit");
        let Decision::Go(taken) = taken else { panic!("it is let in") };
        under_way.push(taken);
    }
    let before = kit.hq.auth.pins.computed();
    let got = with_pin_alone(&kit, store, PIN).await;
    got.refused(429, "too_many_attempts");
    assert_eq!((got.retry_after(), kit.hq.auth.pins.computed()), (1, before));
    assert!(got.text.contains("others are signing in"), "{}", got.text);
    let tx = kit.hq.db().begin().await.expect("begin");
    for taken in &under_way {
        attempts::succeeded(&tx, taken, now).await.expect("settled");
    }
    tx.commit().await.expect("commit");
    with_pin_alone(&kit, store, PIN).await.is(200);
}
