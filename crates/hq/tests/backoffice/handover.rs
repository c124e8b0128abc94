//! A rotated token that its store takes over by itself: to whom it is given, and how often.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, header};
use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::entity::audit_log;
use tillkeep_storage::sea_orm::EntityTrait;
use uuid::Uuid;

use super::kit::{Got, Kit, Person};

struct Chain {
    kit: Kit,
    admin: Person,
    store: Uuid,
}

/// A process of a store, and what it has heard of headquarters.
#[derive(Clone)]
struct Process {
    instance: Uuid,
    ticket: Json,
    nonce: Json,
    key: Json,
    takes: bool,
}

impl Process {
    fn new() -> Self {
        Self { instance: Uuid::new_v4(), ticket: Json::Null, nonce: Json::Null, key: Json::Null, takes: true }
    }

    /// The same store after a start.
    fn started_again(&self) -> Self {
        Self { instance: Uuid::new_v4(), nonce: Json::Null, ..self.clone() }
    }
}

impl Chain {
    /// A store that is at work, with the token that it has.
    async fn new() -> (Self, Process, String) {
        let kit = Kit::new().await;
        let admin = kit.admin().await;
        let store = kit.store("S01").await;
        let token = kit.sync_token(store);
        let (chain, mut process) = (Self { kit, admin, store }, Process::new());
        chain.kit.post(&chain.admin, &format!("/stores/{store}/provision"), json!({})).await.is(200);
        chain.given(&token, &mut process).await;
        chain.given(&token, &mut process).await;
        assert!(process.key.is_string() && process.nonce.is_string(), "it has its key and is known");
        (chain, process, token)
    }

    /// A handshake from the machine of headquarters, over which keys are given.
    async fn shakes(&self, token: &str, process: &Process) -> Got {
        let body = json!({
            "nodeEpoch": "e", "storeVersion": "0.2.0", "ownPinKey": true, "signIn": true, "takesToken": process.takes,
            "instance": process.instance, "nonce": process.nonce, "ticket": process.ticket, "pinKeyId": process.key,
        });
        let peer: SocketAddr = "127.0.0.1:40000".parse().expect("an address");
        let request = Request::post("/api/v1/sync/handshake")
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .extension(ConnectInfo(peer));
        self.kit.send_plainly(request.body(Body::from(body.to_string())).expect("a request")).await
    }

    /// A handshake whose answer arrives; the token in it.
    async fn given(&self, token: &str, process: &mut Process) -> Option<String> {
        let got = self.shakes(token, process).await;
        got.is(200);
        (process.ticket, process.nonce) = (got.body["ticket"].clone(), got.body["nonce"].clone());
        if got.body["pinKey"].is_object() {
            process.key = got.body["pinKey"]["id"].clone();
        }
        got.body["syncToken"].as_str().map(str::to_owned)
    }

    /// Replaces the token; the one that a person gets to see.
    async fn rotates(&self, minutes: i64) -> String {
        let body = json!({"rotate": true, "graceMinutes": minutes});
        let data = self.kit.post(&self.admin, &format!("/stores/{}/provision", self.store), body).await.data();
        data["syncToken"].as_str().expect("a token").to_owned()
    }

    fn version(&self, token: &str) -> i32 {
        self.kit.hq.auth.tokens.sync(token, self.kit.clock.now()).expect("a token of this server").tv
    }

    /// The stores that headquarters gives notice of.
    async fn noticed(&self) -> Json {
        let notices = self.kit.get(&self.admin, "/security/notices").await.data();
        let all = notices.as_array().expect("notices").iter();
        all.filter(|notice| notice["kind"] == "token_asked_again")
            .map(|notice| notice["stores"][0]["code"].clone())
            .collect()
    }

    async fn acts(&self, action: &str) -> usize {
        let log = audit_log::Entity::find().all(self.kit.hq.db().reader()).await.expect("log");
        log.iter().filter(|row| row.action == action).count()
    }
}

#[tokio::test]
async fn a_rotated_token_is_given_once_to_the_process_that_goes_on_and_a_second_asking_is_an_alarm() {
    let (chain, mut process, token) = Chain::new().await;
    assert_eq!(chain.given(&token, &mut process).await, None, "nobody replaced it");
    chain.rotates(60).await;
    assert!(chain.kit.hq.stores_to_notify.contains(chain.store), "it is asked for a handshake");
    let copy = process.clone();
    let next = chain.given(&token, &mut process).await.expect("given");
    assert_eq!((chain.version(&token), chain.version(&next)), (1, 2));
    assert_eq!((chain.noticed().await, chain.acts("store.token_given").await), (json!([]), 1));

    // Who asks again gets nothing, be it the store whose answer was lost or a copy of it; the alarm is one.
    assert_eq!(chain.given(&token, &mut process).await, None);
    assert_eq!(chain.given(&token, &mut copy.started_again()).await, None);
    assert_eq!((chain.noticed().await, chain.acts("store.token_asked_again").await), (json!(["S01"]), 1));
    assert_eq!(chain.given(&next, &mut process.started_again()).await, None, "the new one is good");
    for row in audit_log::Entity::find().all(chain.kit.hq.db().reader()).await.expect("log") {
        assert!(!row.details.0.to_string().contains(&next), "no token in the log");
    }

    // What a person does about it ends it.
    let path = format!("/stores/{}/revoke-token", chain.store);
    chain.kit.call(&chain.admin, "POST", &path, None).await.is(204);
    assert_eq!(chain.noticed().await, json!([]));
    for gone in [&token, &next] {
        assert_eq!(chain.shakes(gone, &process).await.status, 401);
    }
}

#[tokio::test]
async fn a_token_that_was_taken_back_is_followed_by_none() {
    let (chain, process, token) = Chain::new().await;
    let by_hand = chain.rotates(0).await;
    let got = chain.shakes(&token, &process).await;
    assert_eq!((got.status, &got.body["syncToken"]), (401, &Json::Null));
    // The one that a person brings is followed by none either.
    let mut process = process.started_again();
    for _ in 0..3 {
        assert_eq!(chain.given(&by_hand, &mut process).await, None);
    }
    assert_eq!((chain.acts("store.token_given").await, chain.noticed().await), (0, json!([])));
}

#[tokio::test]
async fn a_rotated_token_is_given_to_nobody_who_does_not_show_everything() {
    let (chain, mut process, token) = Chain::new().await;
    let by_hand = chain.rotates(60).await;
    // Its key is missing: the token came without the machine.
    let key = std::mem::take(&mut process.key);
    assert_eq!(chain.given(&token, &mut process).await, None);
    // A process that was never answered: the next handshake says whether it lives.
    process = Process { key, ..process.started_again() };
    assert_eq!(chain.given(&token, &mut process).await, None);
    assert!(chain.kit.hq.stores_to_notify.contains(chain.store), "it is asked for another handshake");
    // A store that does not take it is given none.
    process.takes = false;
    assert_eq!(chain.given(&token, &mut process).await, None);
    process.takes = true;
    assert_eq!(chain.noticed().await, json!([]), "nothing was given yet, so nothing was asked for twice");
    assert!(chain.given(&token, &mut process).await.is_some());
    assert_eq!(chain.given(&by_hand, &mut process).await, None, "that of the person is as good");
}

#[tokio::test]
async fn another_installation_ends_the_handover_for_everybody() {
    let (chain, mut process, token) = Chain::new().await;
    chain.rotates(60).await;
    // With the token alone; and it does not become the store by asking again.
    let mut thief = Process::new();
    for _ in 0..3 {
        assert_eq!(chain.given(&token, &mut thief).await, None);
    }
    assert_eq!(chain.noticed().await, json!(["S01"]));
    assert_eq!(chain.given(&token, &mut process).await, None, "a person brings it");
    assert_eq!(chain.acts("store.token_given").await, 0);
}

#[tokio::test]
async fn a_token_that_a_person_brought_is_given_to_nobody_else() {
    let (chain, mut process, token) = Chain::new().await;
    let by_hand = chain.rotates(60).await;
    let copy = process.clone();
    process = process.started_again();
    assert_eq!(chain.given(&by_hand, &mut process).await, None);
    assert_eq!(chain.noticed().await, json!([]));
    assert_eq!(chain.given(&token, &mut copy.started_again()).await, None);
    assert_eq!(chain.noticed().await, json!(["S01"]));
}
