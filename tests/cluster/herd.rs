//! A chain of stores that all come back at once after an outage.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;
use uuid::Uuid;

use crate::kit::{Client, TestCluster, eventually, id};

const STORES: usize = 20;

/// How many come back: few enough for a slow machine, or as many as `HERD` says, `HERD=1000` for the figure.
fn how_many() -> usize {
    std::env::var("HERD").map_or(240, |text| text.parse().expect("HERD is a number"))
}

/// What a store does when the line is back; whether it was answered, and how often it was asked to come again.
async fn back(client: Client, store: String, number: usize) -> Result<usize, String> {
    let sale = Uuid::now_v7();
    let envelope = json!({
        "store_id": store, "entity_type": "sales", "entity_id": sale, "action": "create",
        "timestamp": "2026-11-20T10:00:00.000Z",
        "data": {"id": sale, "receiptNumber": format!("H-{number}-000001"), "registerCode": number.to_string()},
    });
    let handshake = json!({"nodeEpoch": format!("node {number}"), "lastSeq": 1, "storeVersion": "0"});
    let requests = [
        (Method::POST, "/sync/handshake", Some(handshake)),
        (Method::GET, "/sync/versions", None),
        (Method::GET, "/sync/pull?entity_type=products&since_version=0&limit=2000", None),
        (Method::POST, "/sync/push", Some(json!({"envelopes": [envelope]}))),
    ];
    let mut again = 0;
    for (method, path, body) in requests {
        loop {
            let reply = client.try_call(method.clone(), path, body.clone()).await;
            match reply.map(|reply| (reply.status.as_u16(), reply)) {
                Ok((200..=299, reply)) if path == "/sync/push" && reply.body["results"][0]["status"] != "ok" => {
                    return Err(reply.text);
                }
                Ok((200..=299, _)) => break,
                // A connection that was not accepted in time is tried again, as a store does.
                Ok((429 | 503, _)) | Err(_) => {}
                Ok((status, reply)) => return Err(format!("{path}: {status} {}", reply.text)),
            }
            again += 1;
            // As long as it takes: who is turned away is served in the end, and the machine may be slow.
            tokio::time::sleep(Duration::from_millis(200 << again.min(4))).await;
        }
    }
    Ok(again)
}

#[tokio::test(flavor = "multi_thread")]
async fn all_stores_that_come_back_at_once_are_served() {
    let chain = TestCluster::new().await;
    for number in 0..5 {
        chain.product(&format!("A{number}"), 1000).await;
    }
    let mut stores = Vec::new();
    for number in 0..STORES {
        let body = json!({"code": format!("H{number:02}"), "name": "Herd", "timezone": "UTC"});
        let store = chain.admin.post("/stores", body).await.data();
        let token = chain.admin.post(&format!("/stores/{}/provision", id(&store)), json!({})).await.data();
        stores.push((id(&store), token["syncToken"].as_str().expect("token").to_owned()));
    }
    let (memory, files) = chain.hq.footprint();
    // One pool of connections: to make a client costs more than to ask.
    let herder = Client::new(&chain.hq.url);
    let begun = Instant::now();
    let mut herd = tokio::task::JoinSet::new();
    let many = how_many();
    for number in 0..many {
        let (store, token) = &stores[number % STORES];
        herd.spawn(back(herder.with_token(token), store.clone(), number));
    }
    let mut again = 0;
    while let Some(done) = herd.join_next().await {
        again += done.expect("a task").expect("an answer");
    }
    let took = begun.elapsed();
    let total = chain.admin.get("/sales?pageSize=1").await.body["pagination"]["total"].clone();
    assert_eq!(total, many);
    drop(herder);
    // What a burst took goes back to the system over some seconds, not at once: what stays is a leak.
    let (memory_after, files_after) = eventually("their connections and their memory are given back", async || {
        let (memory_now, open) = chain.hq.footprint();
        (open < files + 50 && memory_now < memory + 100 * 1024).then_some((memory_now, open))
    })
    .await;
    eprintln!(
        "{many} stores in {took:?}, asked {again} times to come again; memory {memory} KiB, then {memory_after} KiB; \
         files {files}, then {files_after}"
    );
}
