//! Alerts by webhook: told once when they begin and once when they end, signed, tried again for an hour. `docs/operations.md`.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value as Json, json};
use tillkeep_hq::alerts::{deliver, look};
use tillkeep_hq::routes;
use tillkeep_hq::sync::rounds;
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::alerts::deliveries::pause_ms;
use tillkeep_storage::entity::{alert, alert_delivery, alert_hook, register_session, sale};
use tillkeep_storage::raw::sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};
use tower::ServiceExt;
use uuid::Uuid;

use super::kit::{Kit, Person, column, id_of};
use super::receiver::{Does, Receiver};

const MINUTE_MS: i64 = 60_000;

/// Makes a hook: its id and its secret.
pub async fn hook(kit: &Kit, admin: &Person, url: &str, kinds: Json) -> (Uuid, String) {
    let made = kit.post(admin, "/alert-hooks", json!({"url": url, "kinds": kinds})).await;
    made.is(201);
    let made = made.data();
    (id_of(&made), made["secret"].as_str().expect("a secret").to_owned())
}

/// A store gives a sign of life.
pub async fn heard(kit: &Kit, store: Uuid) {
    kit.ask(&kit.sync_token(store), "/versions").await;
    rounds::flush(&kit.hq).await.expect("written");
}

/// A store that was heard of and then no more, for longer than one may be silent.
pub async fn silent(kit: &Kit, code: &str) -> Uuid {
    let store = kit.store(code).await;
    heard(kit, store).await;
    kit.clock.advance(6 * MINUTE_MS);
    store
}

async fn rows<E: EntityTrait>(kit: &Kit) -> Vec<E::Model> {
    E::find().all(kit.hq.db().reader()).await.expect("rows")
}

/// Looks, posts, and waits until nothing is under way: the background does the same, and may have begun.
pub async fn told(kit: &Kit) {
    look(&kit.hq).await.expect("a look");
    posted(kit).await;
}

/// Posts what is due, and waits until each of it has an answer.
pub async fn posted(kit: &Kit) {
    // What is in hand is due later too, but by no pause after an answer.
    let is_answered = |post: &alert_delivery::Model| {
        post.last_at.is_some_and(|at| post.due_at == at.plus_millis(pause_ms(post.attempts)))
    };
    for _ in 0..600 {
        deliver(&kit.hq).await.expect("posts");
        let now = kit.clock.now();
        let posts = rows::<alert_delivery::Entity>(kit).await;
        let mut waiting = posts.iter().filter(|post| post.state == "waiting");
        if waiting.all(|post| is_answered(post) && post.due_at > now) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("posts without an answer: {:?}", rows::<alert_delivery::Entity>(kit).await);
}

#[tokio::test]
async fn an_alert_is_told_once_when_it_begins_and_once_when_it_ends_however_often_it_is_looked_for() {
    let mut kit = Kit::new().await;
    let admin = kit.admin().await;
    let receiver = Receiver::start().await;
    let (_, secret) = hook(&kit, &admin, &receiver.url(), json!(["store_silent"])).await;
    let store = silent(&kit, "S01").await;
    told(&kit).await;
    told(&kit).await;
    kit.hq.leases.give_back().await.expect("given back");
    kit.restart().await;
    told(&kit).await;
    assert_eq!(receiver.posted().len(), 1, "a server that starts repeats nothing");
    heard(&kit, store).await;
    told(&kit).await;
    told(&kit).await;

    let posted = receiver.posted();
    assert_eq!(posted.len(), 2, "{posted:?}");
    let [began, ended] = [posted[0].json(), posted[1].json()];
    for (body, state) in [(&began, "firing"), (&ended, "ended")] {
        let said = ["kind", "state", "subject", "severity"].map(|key| body[key].as_str().unwrap_or_default());
        assert_eq!(said, ["store_silent", state, "S01", "critical"], "{body}");
        assert_eq!(id_of(&json!({"id": body["storeId"]})), store);
    }
    assert_eq!(began["id"], ended["id"], "it is one alert");
    assert_ne!(began["event"], ended["event"], "and two events");
    for post in &posted {
        assert_eq!(post.json()["event"], post.event());
        assert_eq!(post.headers["content-type"], "application/json");
        assert!(post.is_signed_with(&secret) && !post.is_signed_with("another"), "{post:?}");
    }
    let listed = kit.get(&admin, "/alerts?kind=store_silent").await.data();
    assert_eq!((column(&listed, "state"), column(&listed, "subject")), (vec!["ended"], vec!["S01"]), "{listed}");
    assert_eq!(kit.get(&admin, "/alerts?kind=store_silent&state=firing").await.data(), json!([]));
}

#[tokio::test]
async fn a_post_that_failed_comes_again_as_the_same_event_and_follows_no_redirect() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let receiver = Receiver::start().await;
    receiver.will([Does::Says(500), Does::Cuts, Does::LeadsOn]);
    let (id, secret) = hook(&kit, &admin, &receiver.url(), json!(["store_silent"])).await;
    silent(&kit, "S01").await;
    told(&kit).await;
    let last = async || kit.get(&admin, &format!("/alert-hooks/{id}")).await.data();
    for (tries, status) in [(1, json!(500)), (2, Json::Null), (3, json!(302)), (4, json!(200))] {
        let hook = last().await;
        assert_eq!((&hook["last"]["attempts"], &hook["last"]["status"]), (&json!(tries), &status), "{hook}");
        assert_eq!(
            (&hook["last"]["taken"], &hook["waiting"]),
            (&json!(tries == 4), &json!(i64::from(tries < 4))),
            "{hook}"
        );
        kit.clock.advance(2 * MINUTE_MS);
        posted(&kit).await;
    }
    let posted = receiver.posted();
    assert_eq!(posted.len(), 4, "{posted:?}");
    for post in &posted {
        assert_eq!((post.path.as_str(), post.event()), ("/hook", posted[0].event()));
        assert_eq!(post.body, posted[0].body, "to the letter");
        assert!(post.is_signed_with(&secret), "{post:?}");
    }
    assert_eq!(last().await["last"]["text"], "heard");
}

#[tokio::test]
async fn a_post_is_given_up_after_an_hour_and_shown_as_such() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let receiver = Receiver::start().await;
    receiver.will([Does::Says(503); 50]);
    let (id, _) = hook(&kit, &admin, &receiver.url(), json!(["store_silent"])).await;
    let store = silent(&kit, "S01").await;
    told(&kit).await;
    let began = kit.clock.now();
    let mut rounds = 0;
    while rows::<alert_delivery::Entity>(&kit).await[0].state == "waiting" {
        kit.clock.advance(11 * MINUTE_MS);
        posted(&kit).await;
        rounds += 1;
        assert!(rounds < 10, "it is never given up");
    }
    let tried_for = kit.clock.now().millis_since(began);
    assert!((50 * MINUTE_MS..75 * MINUTE_MS).contains(&tried_for), "{tried_for}");
    let tries = receiver.posted().len();
    let hook = kit.get(&admin, &format!("/alert-hooks/{id}")).await.data();
    assert_eq!((&hook["givenUp"], &hook["waiting"], &hook["last"]["status"]), (&json!(1), &json!(0), &json!(503)));
    kit.clock.advance(60 * MINUTE_MS);
    posted(&kit).await;
    assert_eq!(receiver.posted().len(), tries, "it is tried no more");
    // What comes later is.
    heard(&kit, store).await;
    told(&kit).await;
    assert_eq!(receiver.posted().last().expect("a post").json()["state"], "ended");
}

#[tokio::test]
async fn an_address_that_alerts_may_not_go_to_is_refused_at_its_field() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let refused = async |body: Json, field: &str| kit.post(&admin, "/alert-hooks", body).await.names(field);
    for url in [
        "http://example.com/",
        "http://192.0.2.1/",
        "https://name:word@example.com/",
        "https://example.com/#a",
        "nothing",
        "",
    ] {
        refused(json!({"url": url}), "url").await;
    }
    refused(json!({"url": "https://example.com/", "kinds": []}), "kinds").await;
    refused(json!({"url": "https://example.com/", "kinds": ["store_sad"]}), "kinds[0]").await;
    refused(json!({"url": "https://example.com/", "secret": "mine"}), "secret").await;
    let (id, _) = hook(&kit, &admin, "https://example.com/a", json!(["dead_letter"])).await;
    kit.patch(&admin, &format!("/alert-hooks/{id}"), json!({"url": "http://example.com/"})).await.names("url");
    for _ in 1..20 {
        hook(&kit, &admin, "https://example.com/a", json!(["dead_letter"])).await;
    }
    refused(json!({"url": "https://example.com/"}), "url").await;
}

#[tokio::test]
async fn a_secret_is_shown_when_it_is_made_and_never_again() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let receiver = Receiver::start().await;
    let (id, first) = hook(&kit, &admin, &receiver.url(), json!(["store_silent"])).await;
    let path = format!("/alert-hooks/{id}");
    let test = kit.post(&admin, &format!("{path}/test"), json!({})).await.data();
    assert_eq!(
        (&test["status"], &test["taken"], &test["text"]),
        (&json!(200), &json!(true), &json!("heard")),
        "{test}"
    );
    let rotated = kit.post(&admin, &format!("{path}/rotate-secret"), json!({})).await.data();
    let second = rotated["secret"].as_str().expect("a secret").to_owned();
    kit.post(&admin, &format!("{path}/test"), json!({})).await.is(200);
    let posted = receiver.posted();
    assert_eq!(posted.iter().map(|post| post.json()["kind"].clone()).collect::<Vec<_>>(), ["test", "test"]);
    assert!(posted[0].is_signed_with(&first) && !posted[0].is_signed_with(&second));
    assert!(posted[1].is_signed_with(&second) && !posted[1].is_signed_with(&first));

    let edited = kit.patch(&admin, &path, json!({"active": false})).await;
    let log = kit.get(&admin, "/audit-log?entityType=alert_hooks").await;
    let (list, one) = (kit.get(&admin, "/alert-hooks").await, kit.get(&admin, &path).await);
    let kept = &rows::<alert_hook::Entity>(&kit).await[0];
    for text in [&edited.text, &log.text, &list.text, &one.text, &kept.secret] {
        assert!(!text.is_empty() && !text.contains(&first) && !text.contains(&second), "{text}");
    }
    let acts = log.data();
    assert_eq!(
        column(&acts, "action"),
        ["edit", "alert_hook.test", "alert_hook.rotate_secret", "alert_hook.test", "create"]
    );
    assert!(!acts.to_string().contains("/hook"), "an address may hold a key of its receiver: {acts}");
}

#[tokio::test]
async fn a_hook_hears_of_its_kinds_while_it_is_in_use_and_is_changed_by_who_may_change_every_store() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, other, off) = (Receiver::start().await, Receiver::start().await, Receiver::start().await);
    let (id, _) = hook(&kit, &admin, &one.url(), json!(["store_silent"])).await;
    hook(&kit, &admin, &other.url(), json!(["chain_broken"])).await;
    let (off_id, _) = hook(&kit, &admin, &off.url(), json!(["store_silent"])).await;
    kit.patch(&admin, &format!("/alert-hooks/{off_id}"), json!({"active": false})).await.is(200);
    silent(&kit, "S01").await;
    told(&kit).await;
    assert_eq!([&one, &other, &off].map(|receiver| receiver.posted().len()), [1, 0, 0]);

    let path = format!("/alert-hooks/{id}");
    let stale = json!({"kinds": ["dead_letter"], "expectedVersion": 7});
    kit.patch(&admin, &path, stale).await.refused(409, "version_conflict");
    let changed = kit.patch(&admin, &path, json!({"kinds": ["dead_letter"], "expectedVersion": 1})).await.data();
    assert_eq!((&changed["kinds"], &changed["version"]), (&json!(["dead_letter"]), &json!(2)));
    let second = kit.store("S02").await;
    kit.role(&admin, "setter", &["stores.edit", "stores.view"]).await;
    let setter = kit.person("setter", &[("setter", Some(second))]).await;
    kit.get(&setter, "/alert-hooks").await.refused(403, "scope");
    kit.post(&setter, "/alert-hooks", json!({"url": "https://example.com/"})).await.refused(403, "scope");
    assert_eq!(kit.get(&setter, "/alerts").await.data(), json!([]), "of other stores it hears nothing");
    kit.delete(&admin, &path).await.is(204);
    kit.get(&admin, &path).await.refused(404, "not_found");
}

#[tokio::test]
async fn a_closed_drawer_of_which_sales_are_missing_is_an_alert_until_they_came() {
    let kit = Kit::new().await;
    let store = kit.store("S01").await;
    let now = kit.clock.now();
    let drawer = register_session::Model {
        id: Uuid::now_v7(),
        store_id: store,
        register_code: "01".to_owned(),
        status: "closed".to_owned(),
        business_date: now.to_string()[..10].to_owned(),
        closed_at: Some(now.plus_millis(-2 * 60 * MINUTE_MS)),
        sale_count: Some(2),
        ..register_session::Model::default()
    };
    let sold = |number: u32| sale::Model {
        id: Uuid::now_v7(),
        store_id: store,
        register_session_id: drawer.id,
        receipt_number: format!("S01-01-00000{number}"),
        ..sale::Model::default()
    };
    let tx = kit.hq.db().begin().await.expect("begin");
    drawer.clone().into_active_model().insert(&tx).await.expect("a drawer");
    sold(1).into_active_model().insert(&tx).await.expect("a sale");
    tx.commit().await.expect("commit");
    let gaps = async || {
        look(&kit.hq).await.expect("a look");
        let all = rows::<alert::Entity>(&kit).await.into_iter().filter(|alert| alert.kind == "completeness_gap");
        all.map(|alert| (alert.subject, alert.state)).collect::<Vec<_>>()
    };
    assert_eq!(gaps().await, [("S01".to_owned(), "firing".to_owned())]);
    let request = Request::get("/metrics").body(Body::empty()).expect("a request");
    let page = routes::metrics(kit.hq.clone()).oneshot(request).await.expect("an answer");
    let page = page.into_body().collect().await.expect("a body").to_bytes();
    let page = String::from_utf8_lossy(&page);
    assert!(page.contains("\ntillkeep_stores_with_gaps 1\n"), "{page}");
    assert!(page.contains("\ntillkeep_store_missing{store=\"S01\"} 1\n"), "{page}");
    let tx = kit.hq.db().begin().await.expect("begin");
    sold(2).into_active_model().insert(&tx).await.expect("a sale");
    tx.commit().await.expect("commit");
    kit.clock.advance(11 * MINUTE_MS);
    assert_eq!(gaps().await, [("S01".to_owned(), "ended".to_owned())]);
}
