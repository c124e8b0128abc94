//! What a store's token is worth: of which users the store gets verifiers, of whom it asks, and to whom its key is
//! given.

use std::net::SocketAddr;
use std::pin::pin;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, header};
use futures_util::future::join_all;
use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::pins::Pins;
use tillkeep_model::ids;
use tillkeep_model::wire::PinKey;
use tillkeep_storage::entity::{store_node, user};
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::factors::set_up;
use super::kit::{Got, Kit, Person};

const EVERYWHERE: &str = "739154";
const HERE: &str = "482157";
const THERE: &str = "605182";
const WRONG: &str = "000000000";

/// A headquarters with two stores, and people of all of them and of each.
struct Chain {
    kit: Kit,
    admin: Person,
    here: Uuid,
    there: Uuid,
    token: String,
}

async fn chain() -> Chain {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (here, there) = (kit.store("S01").await, kit.store("S02").await);
    let works = |store: Option<Uuid>| json!({"assignments": [{"roleId": ids::role("cashier"), "storeId": store}]});
    let rules = json!({"assignments": [{"roleId": ids::role("administrator"), "storeId": null}]});
    kit.with_pin(&admin, "ann", EVERYWHERE, rules).await;
    kit.with_pin(&admin, "bob", HERE, works(Some(here))).await;
    kit.with_pin(&admin, "cleo", THERE, works(Some(there))).await;
    let token = kit.sync_token(here);
    Chain { kit, admin, here, there, token }
}

impl Chain {
    /// The id of the user with this name.
    async fn id(&self, name: &str) -> String {
        let found = self.kit.get(&self.admin, &format!("/users?search={name}")).await.data();
        found[0]["id"].as_str().expect("an id").to_owned()
    }

    /// What the store passes on of a user who changes their PIN, or without a new one how it is kept.
    async fn changes(&self, user: &str, current: &str, new: Option<&str>) -> Got {
        let mut body = json!({"userId": user, "currentPin": current});
        if let Some(new) = new {
            body["newPin"] = json!(new);
        }
        self.machine(&self.token, "/change-pin", body).await
    }

    /// A request with a store's token from the same machine, over which keys are given.
    async fn machine(&self, token: &str, path: &str, body: Json) -> Got {
        let peer: SocketAddr = "127.0.0.1:40000".parse().expect("an address");
        let request = Request::post(format!("/api/v1/sync{path}"))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .header("x-request-id", "the-same")
            .extension(ConnectInfo(peer));
        self.kit.send_plainly(request.body(Body::from(body.to_string())).expect("a request")).await
    }

    async fn asks(&self, body: Json) -> Got {
        self.machine(&self.token, "/sign-in", body).await
    }

    /// A handshake of a program of today, with more.
    async fn shakes(&self, token: &str, more: Json) -> Got {
        let mut body = json!({"nodeEpoch": "e", "storeVersion": "0.2.0", "ownPinKey": true, "signIn": true});
        for (key, value) in more.as_object().into_iter().flatten() {
            body[key] = value.clone();
        }
        self.machine(token, "/handshake", body).await
    }

    /// The users whose verifiers come with a pull, each with the look-up.
    async fn verifiers(&self, token: &str) -> Vec<(String, String)> {
        let (_, bytes) = self.kit.machine(token, "/pull?entity_type=users&since_version=0&limit=500", "identity").await;
        let page: Json = serde_json::from_slice(&bytes).expect("a page");
        let rows = page["rows"].as_array().expect("rows").iter();
        let text = |row: &Json, key: &str| row[key].as_str().map(str::to_owned);
        let mut all: Vec<_> = rows.filter_map(|row| Some((text(row, "username")?, text(row, "pinLookup")?))).collect();
        all.sort_unstable();
        all
    }

    async fn names(&self, token: &str) -> Vec<String> {
        self.verifiers(token).await.into_iter().map(|(name, _)| name).collect()
    }

    /// The alarms of the first store, as the dashboard has them.
    async fn alarms(&self) -> Vec<String> {
        let stores = self.kit.get(&self.admin, "/sync/dashboard").await.data()["stores"].clone();
        let store = stores.as_array().expect("stores").iter().find(|store| store["storeCode"] == "S01").cloned();
        let alarms = store.expect("the store")["alarms"].clone();
        let code = |alarm: &Json| alarm["code"].as_str().expect("a code").to_owned();
        alarms.as_array().expect("a list").iter().map(code).collect()
    }

    async fn node(&self) -> store_node::Model {
        let found = store_node::Entity::find_by_id(self.here).one(self.kit.hq.db().reader()).await;
        found.expect("a read").expect("the store shook hands")
    }
}

/// The secrets of a store with this key.
fn store_with(key: &Json) -> (tempfile::TempDir, Pins) {
    let key: PinKey = serde_json::from_value(key.clone()).expect("a key");
    let dir = tempfile::tempdir().expect("dir");
    let pins = Pins::open(&dir.path().join("pin.key"), 1).expect("pins");
    pins.install(&key).expect("kept");
    (dir, pins)
}

#[tokio::test]
async fn a_store_learns_who_typed_a_pin_of_people_with_a_role_there_and_nothing_of_others() {
    let chain = chain().await;
    let key = chain.shakes(&chain.token, json!({})).await.body["pinKey"].clone();
    let (_dir, store) = store_with(&key);
    for asked in [json!({"pin": EVERYWHERE}), json!({"username": "ANN", "pin": EVERYWHERE})] {
        let got = chain.asks(asked).await;
        got.is(200);
        let text = |key: &str| got.body[key].as_str().expect("a text").to_owned();
        assert_eq!(
            (store.lookup(EVERYWHERE).await.expect("looked up").remove(0), &got.body["keepDays"]),
            (text("pinLookup"), &json!(7))
        );
        assert!(store.verify(EVERYWHERE, Some(text("pinHash"))).await.expect("verified"));
    }
    chain.asks(json!({"username": "bob", "pin": HERE})).await.is(200);
    // Unknown, wrong, of another store and not active: one answer.
    let ann = chain.kit.get(&chain.admin, "/users?search=ann").await.data();
    let path = format!("/users/{}/deactivate", ann[0]["id"].as_str().expect("an id"));
    chain.kit.post(&chain.admin, &path, json!({})).await.is(200);
    let refused = [
        json!({"pin": EVERYWHERE}),
        json!({"pin": WRONG}),
        json!({"pin": THERE}),
        json!({"username": "cleo", "pin": THERE}),
        json!({"username": "nobody", "pin": WRONG}),
        json!({"username": "bob", "pin": WRONG}),
    ];
    let mut texts = Vec::new();
    for asked in refused {
        let got = chain.asks(asked).await;
        got.refused(401, "invalid_credentials");
        texts.push(got.text);
    }
    texts.dedup();
    assert_eq!(texts.len(), 1, "{texts:?}");
}

#[tokio::test]
async fn a_pin_that_another_one_found_verifies_no_person_at_a_store_and_at_headquarters_needs_the_second_factor() {
    let chain = chain().await;
    let kit = &chain.kit;
    chain.shakes(&chain.token, json!({})).await.is(200);
    let person = async |name: &str| {
        let found = kit.get(&chain.admin, &format!("/users?search={name}")).await.data();
        let id: Uuid = found[0]["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
        Person { id, token: kit.sign_in(id, name, None).await }
    };
    let (app, _) = set_up(kit, &person("bob").await).await;
    let bobs = json!({"username": "bob", "pin": HERE});
    chain.asks(bobs.clone()).await.is(200);
    assert_eq!(chain.names(&chain.token).await, ["bob"]);

    let finder = person("ann").await;
    let body = json!({"currentPin": EVERYWHERE, "newPin": HERE});
    kit.post(&finder, "/auth/change-pin", body).await.refused(422, "pin_not_allowed");
    chain.asks(bobs).await.refused(401, "invalid_credentials");
    chain.asks(json!({"pin": HERE})).await.refused(401, "invalid_credentials");
    let pulled = kit.ask(&chain.token, "/pull?entity_type=users&since_version=0&limit=500").await;
    let row = pulled["rows"].as_array().into_iter().flatten().find(|row| row["username"] == "bob").expect("his row");
    assert_eq!((&row["pinHash"], &row["pinLookup"]), (&Json::Null, &Json::Null));

    kit.login("bob", HERE).await.refused(401, "second_factor_required");
    let body = json!({"username": "bob", "pin": HERE, "code": app.code(kit, 0)});
    kit.stranger("/auth/login", body, "192.0.2.1", None).await.is(200);
    // Whoever looks after people learns whose it was, and the finder does not.
    for (who, is_shown) in [(&chain.admin, true), (&finder, false)] {
        let notices = kit.get(who, "/security/notices").await.data();
        let shown = notices.as_array().into_iter().flatten().any(|notice| notice["kind"] == "pin_ended");
        assert_eq!(shown, is_shown, "{notices}");
    }
}

#[tokio::test]
async fn after_thirty_wrong_ones_in_an_hour_no_pin_is_judged_for_that_store_until_the_hour_ends() {
    let chain = chain().await;
    chain.shakes(&chain.token, json!({})).await.is(200);
    for nth in 0..29 {
        chain.asks(json!({"pin": WRONG})).await.refused(401, "invalid_credentials");
        // A right one takes its own back, and nothing else.
        if nth % 10 == 0 {
            chain.asks(json!({"pin": EVERYWHERE})).await.is(200);
        }
    }
    assert_eq!(chain.alarms().await, Vec::<String>::new());
    chain.asks(json!({"username": "ann", "pin": WRONG})).await.refused(401, "invalid_credentials");
    let got = chain.asks(json!({"pin": EVERYWHERE})).await;
    got.refused(429, "too_many_attempts");
    assert!((3300..=3600).contains(&got.retry_after()), "{}", got.retry_after());
    assert_eq!(chain.alarms().await, ["sign_ins_stopped"]);
    // Another store, and people at headquarters, notice nothing.
    let other = chain.kit.sync_token(chain.there);
    chain.machine(&other, "/sign-in", json!({"pin": EVERYWHERE})).await.is(200);
    chain.kit.login("ann", EVERYWHERE).await.is(200);
    chain.kit.clock.advance(got.retry_after() * 1000);
    chain.asks(json!({"pin": EVERYWHERE})).await.is(200);
}

#[tokio::test]
async fn names_that_a_stranger_invents_use_up_nothing_of_what_a_store_may_ask() {
    let chain = chain().await;
    chain.shakes(&chain.token, json!({})).await.is(200);
    let mut refused = 0;
    for nth in 0..70 {
        let got = chain.asks(json!({"username": format!("invented {nth}"), "pin": WRONG})).await;
        if got.status == 429 {
            // Each costs a hash: headquarters does not reckon without an end. Who types a PIN alone notices nothing.
            refused += 1;
            chain.asks(json!({"pin": EVERYWHERE})).await.is(200);
            chain.kit.clock.advance(got.retry_after() * 1000);
            continue;
        }
        got.refused(401, "invalid_credentials");
    }
    assert_eq!(refused, 2, "thirty a minute");
    assert_eq!(chain.alarms().await, Vec::<String>::new());
    chain.asks(json!({"username": "ann", "pin": EVERYWHERE})).await.is(200);
}

#[tokio::test]
async fn a_pin_that_a_store_passes_on_counts_as_one_that_it_asks_of_unless_the_store_verifies_its_owner() {
    let chain = chain().await;
    chain.shakes(&chain.token, json!({})).await.is(200);
    let (ann, bob) = (chain.id("ann").await, chain.id("bob").await);
    chain.changes(&bob, WRONG, None).await.refused(401, "invalid_credentials");
    chain.changes(&ann, EVERYWHERE, None).await.is(204);
    for _ in 0..29 {
        chain.asks(json!({"pin": WRONG})).await.refused(401, "invalid_credentials");
    }
    chain.changes(&ann, WRONG, None).await.refused(401, "invalid_credentials");
    chain.asks(json!({"pin": EVERYWHERE})).await.refused(429, "too_many_attempts");
    chain.changes(&ann, EVERYWHERE, None).await.refused(429, "too_many_attempts");
    assert_eq!(chain.alarms().await, ["sign_ins_stopped"]);
    // The store verifies him itself.
    chain.changes(&bob, HERE, None).await.is(204);
}

#[tokio::test]
async fn people_of_all_stores_are_verified_at_headquarters_unless_the_release_of_a_store_cannot_ask() {
    let chain = chain().await;
    assert_eq!(chain.names(&chain.token).await, ["bob"], "a store that has not said anything");
    let got = chain.shakes(&chain.token, json!({"signIn": false})).await;
    got.is(200);
    assert_eq!(chain.names(&chain.token).await, ["ann", "bob"]);
    assert_eq!(chain.alarms().await, ["too_old"]);
    let id = got.body["pinKey"]["id"].clone();
    let before = chain.verifiers(&chain.token).await;

    // It is upgraded: they leave it, and look-ups are others.
    let got = chain.shakes(&chain.token, json!({"pinKeyId": id.clone()})).await;
    assert_eq!(got.body["resync"], json!(["users"]));
    let (_dir, store) = store_with(&got.body["pinKey"]);
    let bob = chain.verifiers(&chain.token).await;
    assert_eq!(bob, [("bob".to_owned(), store.lookup(HERE).await.expect("looked up").remove(0))]);
    assert_ne!(bob[0], before[1]);
    assert_eq!(chain.alarms().await, Vec::<String>::new());
    // Whoever has its token does not make it an older one.
    chain.shakes(&chain.token, json!({"signIn": false, "pinKeyId": id})).await.is(200);
    assert_eq!(chain.verifiers(&chain.token).await, bob);
    assert_eq!(chain.alarms().await, ["too_old"]);
    // A user at headquarters does.
    let path = format!("/stores/{}/allow-pin-key", chain.here);
    chain.kit.post(&chain.admin, &path, json!({"olderRelease": true})).await.is(204);
    let fingerprints = json!({"signIn": false, "fingerprints": {"users": "columns"}});
    let got = chain.shakes(&chain.token, fingerprints).await;
    assert_eq!(got.body["resync"], json!(["users"]));
    assert_eq!(chain.verifiers(&chain.token).await, before);
}

#[tokio::test]
async fn look_ups_are_made_once_while_pulls_hold_no_connection_and_what_a_store_asks_does_not_wait_for_them() {
    let chain = chain().await;
    chain.shakes(&chain.token, json!({})).await.is(200);
    let pins = &chain.kit.hq.auth.pins;
    let turn = pins.turn_to_derive().await;
    // More than there are readers, and each of them wants what bob is found by.
    let mut pulls = pin!(join_all((0..12).map(|_| chain.names(&chain.token))));
    let others = async {
        for _ in 0..50 {
            chain.kit.ask(&chain.token, "/pull?entity_type=transfers&since_version=0&limit=1").await;
        }
        chain.asks(json!({"username": "ann", "pin": EVERYWHERE})).await.is(200);
    };
    tokio::select! {
        _ = &mut pulls => panic!("another pull has the turn"),
        () = others => {}
    }
    assert_eq!(pins.derived_lookups(), 1, "ann's, past all of them");
    drop(turn);
    assert!(pulls.await.iter().all(|names| *names == ["bob"]));
    assert_eq!(pins.derived_lookups(), 2, "of those who waited each finds what the first one made");
}

#[tokio::test]
async fn pins_of_release_0_1_0_are_no_missing_look_ups_that_a_page_ends_before() {
    let chain = chain().await;
    chain.shakes(&chain.token, json!({})).await.is(200);
    for nth in 0..20 {
        let person = chain.kit.person(&format!("former{nth}"), &[("cashier", Some(chain.here))]).await;
        let mut tx = chain.kit.hq.db().begin().await.expect("begin");
        let former = Expr::value("$argon2id$".to_owned());
        tx.update::<user::Entity>(|people| {
            people.col_expr(user::Column::PinHash, former).filter(user::Column::Id.eq(person.id))
        })
        .await
        .expect("an update");
        chain.kit.hq.commit(tx).await.expect("commit");
    }
    let page = chain.kit.ask(&chain.token, "/pull?entity_type=users&since_version=0&limit=500").await;
    let with_pin = |row: &&Json| row["pinHash"].is_string();
    assert_eq!(page["rows"].as_array().expect("rows").iter().filter(with_pin).count(), 21, "bob, and all of them");
}

#[tokio::test]
async fn a_store_that_asks_from_now_on_is_asked_to_reload_people_until_an_answer_arrives() {
    let chain = chain().await;
    let shakes = async |sign_in: bool, ticket: &Json| {
        let more = json!({"signIn": sign_in, "ticket": ticket, "fingerprints": {"users": "columns"}});
        let got = chain.shakes(&chain.token, more).await;
        got.is(200);
        got.body
    };
    let before = shakes(false, &Json::Null).await["ticket"].clone();
    let lost = shakes(true, &before).await;
    let taken = shakes(true, &before).await;
    assert_eq!((&lost["resync"], &taken["resync"]), (&json!(["users"]), &json!(["users"])));
    assert_eq!(shakes(true, &taken["ticket"]).await["resync"], json!([]));
}

#[tokio::test]
async fn the_key_of_a_store_is_given_until_the_store_has_it_and_then_only_when_an_administrator_allows_it() {
    let chain = chain().await;
    let first = chain.shakes(&chain.token, json!({})).await.body["pinKey"].clone();
    // The answer may have been lost.
    let again = chain.shakes(&chain.token, json!({"nodeEpoch": "another"})).await.body["pinKey"].clone();
    assert!(first["own"].is_string() && first == again, "{first} {again}");
    let has = json!({"pinKeyId": first["id"]});
    assert_eq!(chain.shakes(&chain.token, has.clone()).await.body["pinKey"], Json::Null);
    assert!(chain.node().await.pin_key_closed);
    let none = json!({"pinKeyId": null});
    let older = json!({"pinKeyId": "guessed", "nodeEpoch": "another", "signIn": false, "ownPinKey": false});
    for asked in [json!({}), none, json!({"nodeEpoch": "another"}), json!({"pinKeyId": "guessed"}), older] {
        let got = chain.shakes(&chain.token, asked.clone()).await;
        assert_eq!((got.status, &got.body["pinKey"]), (200, &Json::Null), "{asked}");
    }
    assert_eq!(chain.alarms().await, ["pin_key_asked", "too_old"]);
    // Whoever has it in another form gets the present one.
    let kept: PinKey = serde_json::from_value(first.clone()).expect("a key");
    let (_dir, former) = store_with(&serde_json::to_value(PinKey { own_salt: None, ..kept }).expect("JSON"));
    let got = chain.shakes(&chain.token, json!({"pinKeyId": former.key_id()})).await;
    assert_eq!(got.body["pinKey"], first);
    assert_eq!(chain.alarms().await, ["pin_key_asked"], "an operator has to look into it");

    // A store that lost its disk, once an administrator says so.
    chain.kit.post(&chain.admin, &format!("/stores/{}/allow-pin-key", chain.here), json!({})).await.is(204);
    assert_eq!(chain.alarms().await, Vec::<String>::new());
    assert_eq!(chain.shakes(&chain.token, json!({"nodeEpoch": "new"})).await.body["pinKey"], first);
    chain.shakes(&chain.token, has.clone()).await.is(200);
    assert_eq!(chain.shakes(&chain.token, json!({})).await.body["pinKey"], Json::Null);

    // Provisioned anew, with the token before in its grace: that one gets nothing.
    let path = format!("/stores/{}/provision", chain.here);
    chain.kit.post(&chain.admin, &path, json!({})).await.is(200);
    let body = json!({"rotate": true, "graceMinutes": 60});
    let data = chain.kit.post(&chain.admin, &path, body).await.data();
    let token = data["syncToken"].as_str().expect("a token");
    assert_eq!(chain.shakes(&chain.token, json!({})).await.body["pinKey"], Json::Null);
    // Nor does its machine, which has the key, speak for the new one.
    chain.shakes(&chain.token, has.clone()).await.is(200);
    assert_eq!(chain.shakes(token, json!({})).await.body["pinKey"], first);
    chain.shakes(token, has).await.is(200);
    assert_eq!(chain.shakes(token, json!({})).await.body["pinKey"], Json::Null);
}

#[tokio::test]
async fn with_a_stores_token_a_new_pin_is_set_only_for_people_who_hold_no_more_than_runs_a_store() {
    let chain = chain().await;
    let (ann, bob) = (chain.id("ann").await, chain.id("bob").await);
    let change = async |user: &str, current: &str, new: Option<&str>| chain.changes(user, current, new).await;
    let got = change(&ann, EVERYWHERE, Some("316408")).await;
    got.refused(403, "change_at_headquarters");
    // Whether the present one is right is not said either.
    assert_eq!(change(&ann, WRONG, Some("316408")).await.text, got.text);
    change(&ann, EVERYWHERE, None).await.is(204);
    change(&bob, HERE, Some("316408")).await.is(204);
    chain.kit.login("ann", EVERYWHERE).await.is(200);
    chain.kit.login("bob", "316408").await.is(200);
}

#[tokio::test]
async fn a_handshake_that_names_no_process_is_a_second_copy_while_a_process_of_the_store_is_heard() {
    let chain = chain().await;
    // Alone it is a store of an older release.
    chain.shakes(&chain.token, json!({})).await.is(200);
    let instance = Uuid::new_v4();
    chain.shakes(&chain.token, json!({"instance": instance, "intervalMs": 30_000})).await.is(200);
    let twice = async || {
        let stores = chain.kit.get(&chain.admin, "/sync/dashboard").await.data()["stores"].clone();
        stores.as_array().expect("stores").iter().filter(|store| !store["runsTwiceSince"].is_null()).count()
    };
    assert_eq!(twice().await, 0);
    chain.shakes(&chain.token, json!({})).await.refused(409, "store_runs_elsewhere");
    assert_eq!(twice().await, 1);
    chain.kit.clock.advance(60_000);
    chain.kit.ask(&chain.token, &format!("/versions?instance={instance}")).await;
    chain.kit.clock.advance(60_000);
    chain.shakes(&chain.token, json!({})).await.refused(409, "store_runs_elsewhere");
    // The one that is the store goes on.
    chain.shakes(&chain.token, json!({"instance": instance})).await.is(200);
    // It is not heard any more: it was set back to an older release. Servers that share a database go by its clock, which is compared
    // now and then and does not jump with the one of this test.
    for _ in 0..50 {
        chain.kit.clock.advance(100_000);
        let got = chain.shakes(&chain.token, json!({})).await;
        if got.status == 200 && twice().await == 0 {
            return;
        }
        if got.status != 200 {
            got.refused(409, "store_runs_elsewhere");
        }
    }
    panic!("it is refused after the time of every process is over");
}
