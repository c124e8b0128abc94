//! Notifications with a message broker that is absent at the start, stopped under pushes and back again.

use std::process::Command;
use std::time::Instant;

use serde_json::json;
use tokio_tungstenite::connect_async;

use crate::kit::{ADMIN, Process, TestCluster, eventually, secrets};
use crate::nats_server::NatsServer;
use crate::socket::{address, text};

const PASSWORD: &str = "broker-2718281828";

async fn metrics(chain: &TestCluster) -> String {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let answer = client.get(format!("{}/metrics", chain.hq.url)).send().await.expect("an answer");
    answer.text().await.expect("a text")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_push_is_answered_and_every_store_notified_whatever_the_broker_does() {
    secrets::note("the password of the broker", PASSWORD);
    let started = Instant::now();
    let mut broker = NatsServer::stopped(&format!("authorization {{ user: till, password: \"{PASSWORD}\" }}"));
    let url = format!("nats://till:{PASSWORD}@{}", broker.address());
    let mut chain = TestCluster::with(&[("NATS_URL", &url)]).await;
    let product = chain.product("TEA", 1000).await;
    let site = chain.store().await;
    let mut listener = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    // The store's own server would take the place of this socket.
    listener.process.stop();
    let query = format!("?sync_token={}", listener.sync_token);
    let (mut socket, _) = connect_async(address(&chain, &query)).await.expect("connect");

    for (sold, up) in [(1, false), (2, true), (3, false), (4, true)] {
        if up {
            broker.start();
        } else {
            broker.kill();
        }
        // While it goes or comes, and once that is noticed.
        for sold in [2 * sold - 1, 2 * sold] {
            let begun = Instant::now();
            site.sell(&till, &product, 1).await;
            till.post("/customers", json!({"lastName": format!("Customer {sold}")})).await.data();
            while text(&mut socket).await["entityType"] != "customers" {}
            site.drained(&till).await;
            println!("sold, made and notified after {:?}", begun.elapsed());
            assert_eq!(chain.sales(&site).await, sold, "each sale is there once");
            eventually("the dashboard says how the broker stands", async || {
                let summary = chain.admin.get("/sync/dashboard").await.data()["summary"].clone();
                (summary["notifications"]["degraded"] == !up).then_some(())
            })
            .await;
        }
        let page = metrics(&chain).await;
        assert!(page.contains(&format!("tillkeep_broker_up {}\n", u8::from(up))), "{page}");
    }
    eventually("what waited for the broker is published", async || {
        let page = metrics(&chain).await;
        let published = page.contains("tillkeep_notifications_published_total ");
        (published && page.contains("tillkeep_notifications_waiting{to=\"broker\"} 0\n")).then_some(())
    })
    .await;
    let log = chain.hq.log();
    let warned = log.matches("notifications between servers are delayed").count();
    let minutes = usize::try_from(started.elapsed().as_secs() / 60).expect("minutes");
    assert!((1..=1 + minutes).contains(&warned), "{warned} times, and it is once a minute:\n{log}");
    assert!(!log.contains("async_nats"), "{log}");
    drop((socket, listener, site));
}

#[tokio::test]
async fn an_address_of_a_broker_that_cannot_be_one_is_refused_at_the_start_and_by_the_check() {
    let dir = tempfile::tempdir().expect("a directory");
    let check = |url: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tillkeep"));
        let done = command.args(["config", "check"]).env_clear().env("NATS_URL", url).output().expect("a check");
        (done.status.success(), String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned())
    };
    let environment =
        [("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1), ("NATS_URL", "https://till:broker-2718281828@mq")];
    let refusal = Process::that_fails("hq", &dir.path().join("hq"), &environment);
    let (sound, checked) = check(environment[2].1);
    assert!(!sound);
    for text in [refusal, checked] {
        let what = "nats_url (NATS_URL): address 1: https:// is not spoken here; write nats://host:4222";
        assert!(text.contains(what) && !text.contains(PASSWORD), "{text}");
    }
    // One that does not answer is sound, and shown without its password.
    let (sound, checked) = check(&format!("nats://till:{PASSWORD}@127.0.0.1:9"));
    assert!(sound && checked.contains("***@127.0.0.1:9") && !checked.contains(PASSWORD), "{checked}");
}
