//! Back-pressure: more than can be stored in five seconds is not taken in. `docs/sync.md`, rule U14.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::fault;
use tillkeep_storage::raw::sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::kit::{Got, Kit, Person};

fn request(store: Uuid, sale: Uuid) -> Json {
    let data = json!({"id": sale, "createdAt": "2026-11-20T12:00:00.000Z"});
    json!({"envelopes": [{
        "store_id": store, "entity_type": "sales", "entity_id": sale, "action": "create", "data": data,
        "timestamp": "2026-11-20T12:00:00.000Z",
    }]})
}

async fn unreadable(kit: &Kit, machine: &Person) -> Got {
    let request = Request::post("/api/v1/sync/push")
        .header(header::AUTHORIZATION, format!("Bearer {}", machine.token))
        .header(header::CONTENT_TYPE, "application/json");
    kit.send(request.body(Body::from("this is no JSON")).expect("request")).await
}

#[tokio::test]
async fn a_push_behind_a_long_queue_is_sent_away_unread_and_goes_through_when_it_comes_again() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let provisioned = kit.post(&admin, &format!("/stores/{store}/provision"), json!({})).await.data();
    let machine = Person { id: store, token: provisioned["syncToken"].as_str().expect("a token").to_owned() };
    // The first call of a store writes when it was seen first.
    kit.get(&machine, "/sync/versions").await.is(200);
    unreadable(&kit, &machine).await.refused(400, "unreadable_json");
    // A disk that does next to nothing, and a request that holds the writer.
    for _ in 0..100 {
        kit.hq.pushes.measured(0, Duration::from_mins(1));
    }
    let held = kit.hq.db().begin().await.expect("the writer");
    if !kit.hq.db().is_embedded() {
        held.execute_unprepared("LOCK TABLE sync_log IN ACCESS EXCLUSIVE MODE").await.expect("a lock");
    }
    let (first, second) = (Uuid::now_v7(), Uuid::now_v7());
    let crowd = async {
        while kit.hq.pushes.is_empty() {
            tokio::task::yield_now().await;
        }
        for _ in 0..3 {
            let sent_away = kit.post(&machine, "/sync/push", request(store, second)).await;
            assert!(sent_away.retry_after() >= 1);
            sent_away.refused(503, "unavailable");
        }
        unreadable(&kit, &machine).await.refused(503, "unavailable");
        assert_eq!((kit.hq.pushes.len(), kit.hq.pushes.refused()), (1, 4));
        // What else a store asks is answered.
        kit.get(&machine, "/sync/versions").await.is(200);
        drop(held);
    };
    let ((), taken) = tokio::join!(crowd, kit.post(&machine, "/sync/push", request(store, first)));
    assert_eq!(taken.body["results"][0]["applied"], "inserted", "{}", taken.text);
    assert!(kit.hq.pushes.is_empty());
    let again = kit.post(&machine, "/sync/push", request(store, second)).await;
    assert_eq!(again.body["results"][0]["applied"], "inserted", "nothing of it had been taken");
    assert!(kit.hq.pushes.is_empty());
}

#[tokio::test]
async fn equal_pushes_at_once_are_all_answered_and_one_of_them_is_taken() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let provisioned = kit.post(&admin, &format!("/stores/{store}/provision"), json!({})).await.data();
    let machine = Person { id: store, token: provisioned["syncToken"].as_str().expect("a token").to_owned() };
    kit.get(&machine, "/sync/versions").await.is(200);
    let sale = Uuid::now_v7();
    let all = (0..8).map(|_| kit.post(&machine, "/sync/push", request(store, sale)));
    let mut applied: Vec<String> = Vec::new();
    for got in futures_util::future::join_all(all).await {
        assert_eq!(got.status, 200, "{}", got.text);
        applied.push(got.body["results"][0]["applied"].as_str().expect("a word").to_owned());
    }
    applied.sort();
    let (equal, taken) = applied.split_at(7);
    assert!(equal.iter().all(|word| word == "duplicate") && taken == ["inserted"], "{applied:?}");
}

#[tokio::test]
async fn pushes_of_two_stores_are_read_side_by_side_while_somebody_has_the_database() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let mut machines = Vec::new();
    for code in ["S01", "S02"] {
        let id = kit.store(code).await;
        let provisioned = kit.post(&admin, &format!("/stores/{id}/provision"), json!({})).await.data();
        let machine = Person { id, token: provisioned["syncToken"].as_str().expect("a token").to_owned() };
        kit.get(&machine, "/sync/versions").await.is(200);
        machines.push(machine);
    }
    let read = Arc::new(AtomicUsize::new(0));
    let counted = read.clone();
    fault::call("push.read", move || {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    let held = kit.hq.db().begin().await.expect("the writer");
    if !kit.hq.db().is_embedded() {
        held.execute_unprepared("LOCK TABLE sync_log IN ACCESS EXCLUSIVE MODE").await.expect("a lock");
    }
    let both_are_read = async {
        let wait = async {
            while read.load(Ordering::SeqCst) < 2 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), wait).await.expect("neither waits for the other one");
        assert_eq!(kit.hq.pushes.len(), 2, "none of them is stored");
        drop(held);
    };
    let [one, other] = [&machines[0], &machines[1]];
    let ((), first, second) = tokio::join!(
        both_are_read,
        kit.post(one, "/sync/push", request(one.id, Uuid::now_v7())),
        kit.post(other, "/sync/push", request(other.id, Uuid::now_v7())),
    );
    for taken in [first, second] {
        assert_eq!(taken.body["results"][0]["applied"], "inserted", "{}", taken.text);
    }
    assert!(kit.hq.pushes.is_empty(), "both are done");
}
