//! A server of headquarters that was away and is back: it is not taken for two, and stores spread over it again. `docs/sync.md`,
//! "Several servers of headquarters".

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

use crate::haproxy::{BEHIND, HaProxy};
use crate::kit::{Client, Process, TestCluster, eventually, id, metric};

/// Stores with nothing but a socket.
const SOCKETS: usize = 24;

/// The servers that a dashboard lists.
async fn listed(client: &Client) -> Vec<Value> {
    client.get("/sync/dashboard").await.data()["nodes"].as_array().expect("servers").clone()
}

fn names(nodes: &[Value]) -> Vec<&str> {
    nodes.iter().map(|node| node["name"].as_str().expect("a name")).collect()
}

/// A second server beside that of `chain`, not started.
fn south(chain: &TestCluster) -> Process {
    let mut other = chain.hq.beside();
    other.set_environment("HQ_NODE", "south");
    other
}

#[tokio::test(flavor = "multi_thread")]
async fn a_headquarters_that_was_killed_is_alone_when_it_starts_again() {
    let mut chain = TestCluster::new().await;
    for _ in 0..2 {
        chain.hq.kill();
        chain.hq.restart();
        assert_eq!(listed(&chain.admin).await.len(), 1);
        let notifications = chain.admin.get("/sync/dashboard").await.data()["summary"]["notifications"].clone();
        assert_eq!(notifications["degraded"], false, "{notifications}");
    }
    assert!(!chain.hq.log().contains("other servers of headquarters run"), "{}", chain.hq.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_killed_and_runs_again_is_listed_once_at_all_of_them() {
    let chain = TestCluster::with(&[("HQ_NODE", "north")]).await;
    let mut other = south(&chain);
    other.start_prepared();
    let at_other = Client::new(&other.url).with_token(chain.admin.token.as_deref().expect("a token"));
    other.kill();
    other.restart();
    let here = listed(&at_other).await;
    assert_eq!(names(&here), ["north", "south"]);
    eventually("the other one has heard of it", async || {
        let there = listed(&chain.admin).await;
        let has_heard = there.iter().any(|node| node["id"] == here[1]["id"]);
        assert!(!has_heard || names(&there) == ["north", "south"], "{there:?}");
        has_heard.then_some(())
    })
    .await;
    other.stop();
}

/// Keeps a socket at `url` open, and counts with which codes it was closed.
async fn keep(url: String, codes: Arc<Mutex<BTreeMap<u16, usize>>>) {
    loop {
        // The balancer may be about to be reloaded.
        let Ok((mut socket, _)) = connect_async(&url).await else { continue };
        while let Some(Ok(message)) = socket.next().await {
            if let Message::Close(frame) = message {
                *codes.lock().expect("a lock").entry(frame.map_or(0, |frame| frame.code.into())).or_default() += 1;
                break;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sockets_spread_over_a_server_that_comes_back_and_no_store_is_said_to_have_no_line() {
    let chain = TestCluster::with(&[("HQ_NODE", "north"), BEHIND]).await;
    let mut balancer = HaProxy::before(&[&chain.hq.url]);
    balancer.has_up(&[&chain.hq.url]);
    let codes = Arc::new(Mutex::new(BTreeMap::new()));
    let mut kept = Vec::new();
    for number in 0..SOCKETS {
        let store = json!({"code": format!("K{number:02}"), "name": "Kept", "timezone": "UTC"});
        let store = id(&chain.admin.post("/stores", store).await.data());
        let token = chain.admin.post(&format!("/stores/{store}/provision"), json!({})).await.data();
        let token = token["syncToken"].as_str().expect("a token").to_owned();
        let url = format!("{}/api/v1/sync/ws?sync_token={token}", balancer.url().replacen("http", "ws", 1));
        kept.push(tokio::spawn(keep(url, codes.clone())));
    }
    let connected = async |server: &Process| metric(&server.url, "tillkeep_stores_connected").await.unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a few sockets")]
    let all = SOCKETS as f64;
    eventually("all are connected", async || (connected(&chain.hq).await >= all).then_some(())).await;
    let mut other = south(&chain);
    other.start_prepared();
    let servers = [chain.hq.url.as_str(), other.url.as_str()];
    balancer.set_servers(&servers);
    balancer.has_up(&servers);
    eventually("some have gone over", async || (connected(&other).await >= 3.0).then_some(())).await;
    assert_eq!(codes.lock().expect("a lock").keys().copied().collect::<Vec<_>>(), [1001]);
    for row in chain.admin.get("/sync/dashboard").await.data()["stores"].as_array().expect("stores") {
        assert!(row["endedBecause"].is_null(), "{row}");
    }
    kept.iter().for_each(tokio::task::JoinHandle::abort);
}
