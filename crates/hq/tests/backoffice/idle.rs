//! The question that a store asks in a quiet cycle, time and again. `docs/sync.md`, rule D10.

use std::time::Duration;

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::metrics;
use tillkeep_model::Instant;
use tokio::time::timeout;
use uuid::Uuid;

use super::kit::{Kit, Person, id_of};
use super::pulls::counted;

/// Each reading of the word of [`Site::word`] counts one of these.
const READ: &str = "tillkeep_sync_ignored_total{what=\"reported_type\"}";

/// Headquarters with a store that has everything.
struct Site {
    kit: Kit,
    store: Uuid,
    token: String,
    admin: Person,
}

impl Site {
    async fn new() -> Self {
        metrics::start();
        let kit = Kit::new().await;
        let store = kit.store("S01").await;
        let admin = kit.admin().await;
        kit.product(&admin, "P1", json!({})).await;
        Self { token: kit.sync_token(store), kit, store, admin }
    }

    async fn heads(&self) -> Json {
        self.kit.ask(&self.token, "/versions").await
    }

    /// That the store has all of `heads`, and one type that headquarters does not know: it is left aside.
    fn word(heads: &Json, more: &str) -> String {
        let versions = heads["versions"].as_object().expect("versions");
        let have: Vec<String> = versions.iter().map(|(name, version)| format!("{name}:{version}")).collect();
        let epoch = heads["epoch"].as_str().expect("epoch");
        format!("/versions?epoch={epoch}&have={},spaceships:3&pending=0&dead=0{more}", have.join(","))
    }

    async fn ask(&self, word: &str) -> Json {
        self.kit.ask(&self.token, word).await
    }

    /// The store as people see it.
    async fn shown(&self) -> Json {
        tillkeep_hq::sync::rounds::flush(&self.kit.hq).await.expect("written");
        let all = self.kit.get(&self.admin, "/sync/dashboard").await.data();
        all["stores"][0].clone()
    }
}

#[tokio::test]
async fn a_store_that_says_the_same_again_is_not_read_again_and_asks_no_database() {
    let site = Site::new().await;
    let heads = site.heads().await;
    let word = Site::word(&heads, "");
    let (before, first) = (counted(READ), site.ask(&word).await);
    assert_eq!((&first["versions"], &first["handshake"]), (&heads["versions"], &json!(false)));
    assert_eq!(counted(READ) - before, 1);
    // Whatever still answers has no connection.
    let readers = site.kit.hold_readers().await;
    let writers = [site.kit.hq.db().begin().await.expect("the writer")];
    for _ in 0..100 {
        let again = timeout(Duration::from_mins(1), site.ask(&word)).await.expect("an answer without a query");
        assert_eq!(again, first);
    }
    assert_eq!(counted(READ) - before, 1);
    drop((readers, writers));
}

#[tokio::test]
async fn a_word_that_is_said_again_gets_the_versions_of_now_and_what_moves_elsewhere_makes_no_work() {
    let site = Site::new().await;
    let other = site.kit.store("S02").await;
    let product = id_of(&site.kit.product(&site.admin, "P2", json!({})).await);
    let heads = site.heads().await;
    let word = Site::word(&heads, "");
    site.ask(&word).await;
    let price = async |store: Uuid, price: i64| {
        let path = format!("/store-prices/{store}/{product}");
        site.kit.put(&site.admin, &path, json!({"price": price})).await.is(200);
    };
    let before = counted(READ);
    price(other, 5).await;
    assert_eq!(site.ask(&word).await["versions"], heads["versions"], "a price of another store");
    assert_eq!(counted(READ), before);
    let head = |answer: &Json, name: &str| answer["versions"][name].as_i64().expect("a version");
    price(site.store, 6).await;
    let moved = site.ask(&word).await;
    assert!(
        head(&moved, "store_product_dynamic") > head(&heads, "store_product_dynamic"),
        "a price of its own: {moved}"
    );
    site.kit.product(&site.admin, "P3", json!({})).await;
    let moved = site.ask(&word).await;
    assert!(head(&moved, "products") > head(&heads, "products"), "a product for all: {moved}");
}

#[tokio::test]
async fn a_word_that_is_said_again_counts_as_one_that_is_read() {
    let site = Site::new().await;
    let heads = site.heads().await;
    let (word, busy) = (Site::word(&heads, ""), Site::word(&heads, "").replace("pending=0", "pending=2"));
    let products = |row: &Json| {
        let types = row["sync"].as_array().cloned().unwrap_or_default();
        let products = types.into_iter().find(|row| row["entityType"] == "products" && row["direction"] == "pull");
        products.expect("products")["lastSuccessAt"].clone()
    };
    site.ask(&word).await;
    let first = site.shown().await;
    site.kit.clock.advance(60_000);
    site.ask(&word).await;
    let second = site.shown().await;
    let time = |value: &Json| value.as_str().and_then(Instant::parse).expect("a time");
    for (before, after) in [(&first["lastHeardAt"], &second["lastHeardAt"]), (&products(&first), &products(&second))] {
        assert!(time(after).millis_since(time(before)) >= 60_000, "{before} and {after}");
    }
    // What was said in between holds until it says otherwise.
    site.ask(&busy).await;
    assert_eq!(site.shown().await["outboxPending"], 2);
    site.ask(&word).await;
    site.ask(&word).await;
    assert_eq!(site.shown().await["outboxPending"], 0);
    // A store that reloads a type has said so by its pull.
    let path = format!("/pull?entity_type=products&since_version=0&limit=100&epoch={}", site.kit.hq.epoch);
    site.kit.ask(&site.token, &path).await;
    let live = async || site.kit.get(&site.admin, "/sync/rollout?entityType=products").await.data()["live"].clone();
    site.shown().await;
    assert_eq!(live().await, 0);
    site.ask(&word).await;
    site.shown().await;
    assert_eq!(live().await, 1);
}

#[tokio::test]
async fn a_word_that_is_said_again_does_not_let_in_a_store_with_an_ended_token() {
    let site = Site::new().await;
    let word = Site::word(&site.heads().await, "");
    let who = Person { id: Uuid::nil(), token: site.token.clone() };
    let ask = async || site.kit.get(&who, &format!("/sync{word}")).await;
    ask().await.is(200);
    ask().await.is(200);
    let path = format!("/stores/{}/provision", site.store);
    site.kit.post(&site.admin, &path, json!({})).await.is(200);
    ask().await.is(200);
    site.kit.post(&site.admin, &path, json!({"rotate": true})).await.is(200);
    ask().await.is(401);
}

#[tokio::test]
async fn a_word_that_is_said_again_is_asked_for_a_handshake_when_another_copy_was_given_one() {
    let site = Site::new().await;
    let who = Person { id: Uuid::nil(), token: site.token.clone() };
    let shake = async |instance: Uuid| {
        let body = json!({"nodeEpoch": "n1", "instance": instance});
        let got = site.kit.post(&who, "/sync/handshake", body).await;
        got.is(200);
        got.body["nonce"].as_str().expect("a nonce").to_owned()
    };
    let (one, two) = (Uuid::new_v4(), Uuid::new_v4());
    let nonce = shake(one).await;
    let word = Site::word(&site.heads().await, &format!("&instance={one}&nonce={nonce}"));
    for _ in 0..2 {
        assert_eq!(site.ask(&word).await["handshake"], false);
    }
    shake(two).await;
    assert_eq!(site.ask(&word).await["handshake"], true);
}
