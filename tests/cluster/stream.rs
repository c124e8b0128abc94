//! The dashboard as it happens, with a real store that goes away.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde_json::Value;

use crate::kit::{TestCluster, eventually};

#[tokio::test(flavor = "multi_thread")]
async fn who_looks_sees_within_a_second_that_a_store_went_away_and_that_a_change_is_live() {
    let mut chain = TestCluster::new().await;
    let mut site = chain.store().await;
    eventually("the store is connected", async || {
        (chain.admin.get("/sync/dashboard").await.data()["summary"]["connected"] == 1).then_some(())
    })
    .await;
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let token = chain.admin.token.as_ref().expect("a token");
    let request = client.get(format!("{}/sync/dashboard/stream", chain.admin.base)).bearer_auth(token);
    let mut bytes = request.send().await.expect("a stream").bytes_stream();
    let mut text = String::new();
    // The data of the next event for which `wanted` holds.
    let mut next = async |wanted: fn(&Value) -> bool| {
        let read = async {
            loop {
                while let Some(end) = text.find("\n\n") {
                    let event: String = text.drain(..end + 2).collect();
                    let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                    let data: Value = data.map_or(Value::Null, |data| serde_json::from_str(data).expect("JSON"));
                    if wanted(&data) {
                        return data;
                    }
                }
                let piece = bytes.next().await.expect("the stream goes on").expect("a piece");
                text.push_str(&String::from_utf8_lossy(&piece));
            }
        };
        tokio::time::timeout(Duration::from_secs(90), read).await.expect("an event in time")
    };
    let snapshot = next(|data| data["summary"].is_object()).await;
    assert!(snapshot["stores"][0]["node"].is_string(), "{snapshot}");

    // A change is live as soon as the store has it, which it says at once.
    let product = chain.product("TEA", 1999).await;
    let till = site.admin().await;
    site.knows(&till, &product, None).await;
    let has = Instant::now();
    eventually("the rollout is complete", async || {
        let rollout = chain.admin.get("/sync/rollout?entityType=products").await.data();
        (rollout["live"] == 1 && rollout["stores"] == 1).then_some(())
    })
    .await;
    println!("live after {:?}", has.elapsed());

    let killed = Instant::now();
    site.process.kill();
    next(|data| data["stores"][0]["connection"]["connected"] == false).await;
    println!("shown as gone after {:?}", killed.elapsed());
}
