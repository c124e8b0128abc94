//! A read replica that answers lists, falls behind, goes away and comes back. `docs/operations.md`, *A read replica*.

use std::time::Instant;

use std::process::Command;

use reqwest::Method;

use crate::kit::{TestCluster, TestStore, eventually, metric};
use crate::own_postgres::Server;
use crate::private_postgres::{OWNER, client};
use crate::standby::Standby;

/// Runs `sql` at the server on `port`; what it says. A standby that has much to catch up with breaks off what runs there
/// (hot standby conflicts, manual of `PostgreSQL`, 26.4.2): then once more.
fn ask(port: u16, sql: &str) -> String {
    loop {
        let mut psql: Command = client("psql", port);
        let output = psql.args(["-d", OWNER, "-Atq", "-c", sql]).output().expect("psql");
        if output.status.success() {
            return String::from_utf8_lossy(&output.stdout).trim().to_owned();
        }
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("conflict with recovery"), "{said}");
    }
}

/// The figures of the list of sales: how many there are, and up to when when a replica says so.
async fn sales(chain: &TestCluster, site: &TestStore) -> (u64, Option<String>) {
    let url = format!("{}/sales?storeId={}&pageSize=1", chain.admin.base, site.id);
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let request = client.request(Method::GET, url).bearer_auth(chain.admin.token.as_deref().expect("a token"));
    let answer = request.send().await.expect("an answer");
    assert_eq!(answer.status(), 200, "a list is answered whatever becomes of the replica");
    let up_to = answer.headers().get("tillkeep-figures-up-to").map(|up_to| up_to.to_str().expect("text").to_owned());
    let body: serde_json::Value = answer.json().await.expect("JSON");
    (body["pagination"]["total"].as_u64().expect("a total"), up_to)
}

async fn answered_by(chain: &TestCluster, site: &TestStore, replica: bool) -> u64 {
    let what = if replica { "the replica answers" } else { "the primary answers" };
    eventually(what, async || {
        let (total, up_to) = sales(chain, site).await;
        (up_to.is_some() == replica).then_some(total)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_come_from_the_replica_while_it_is_there_and_not_too_old_and_else_from_the_primary() {
    let begun = Instant::now();
    let server = Server::new();
    let standby = Standby::new(&server);
    let read_url = standby.url();
    let environment = [
        ("DATABASE_URL", server.url.as_str()),
        ("TILLKEEP_ACCEPT_UNSAFE_DATABASE", ""),
        ("DATABASE_READ_URL", &read_url),
        ("READ_REPLICA_MAX_LAG_SECONDS", "30"),
    ];
    let mut chain = TestCluster::with(&environment).await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    site.sell(&till, &product, 1).await;
    site.drained(&till).await;
    eventually("the replica shows the sale", async || (sales(&chain, &site).await.0 == 1).then_some(())).await;
    answered_by(&chain, &site, true).await;
    // A list is read in a transaction, the end of which is the last that its connection was asked.
    let reading = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tillkeep replica read' \
                   AND (query LIKE '%sales%' OR query IN ('ROLLBACK', 'COMMIT'))";
    eventually("the list was read there", async || {
        // The server asks on the same connections how far behind the replica is.
        sales(&chain, &site).await;
        (ask(standby.port, reading) != "0").then_some(())
    })
    .await;
    let summary = chain.admin.get("/sync/dashboard").await.data()["summary"]["readReplica"].clone();
    assert!(summary["used"] == true && summary["figuresUpTo"].is_string(), "{summary}");
    let history = format!("/sync/history?storeId={}", site.id);
    chain.admin.get(&history).await.data();
    assert_eq!(metric(&chain.hq.url, "tillkeep_read_replica_up").await, Some(1.0));
    assert!(metric(&chain.hq.url, "tillkeep_read_replica_lag_seconds").await.expect("a lag") < 30.0);

    // It is behind: as long as that is little, it shows what it has.
    ask(standby.port, "SELECT pg_wal_replay_pause()");
    site.sell(&till, &product, 1).await;
    site.drained(&till).await;
    let (total, up_to) = sales(&chain, &site).await;
    assert_eq!(
        (total, up_to.is_some()),
        (1, true),
        "what happened since then is not there yet, and the answer says so"
    );
    assert_eq!(answered_by(&chain, &site, false).await, 2, "too old");
    assert_eq!(metric(&chain.hq.url, "tillkeep_read_replica_up").await, Some(0.0));
    let summary = chain.admin.get("/sync/dashboard").await.data()["summary"]["readReplica"].clone();
    assert!(summary["used"] == false && summary["figuresUpTo"].is_null(), "{summary}");
    ask(standby.port, "SELECT pg_wal_replay_resume()");
    assert_eq!(answered_by(&chain, &site, true).await, 2);

    standby.crash();
    assert_eq!(sales(&chain, &site).await, (2, None), "the first list after that comes from the primary");
    site.sell(&till, &product, 1).await;
    site.drained(&till).await;
    assert_eq!(sales(&chain, &site).await, (3, None));
    standby.start();
    assert_eq!(answered_by(&chain, &site, true).await, 3);
    let minutes = usize::try_from(begun.elapsed().as_secs() / 60).expect("few");
    let warned = chain.hq.log().matches("the read replica is not used").count();
    assert!((1..=1 + minutes).contains(&warned), "{warned} times, and it is once a minute at the most");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_of_something_else_or_none_is_not_asked_and_keeps_no_server_from_starting() {
    let other = Server::new();
    // As that of another chain, with its own notes of the time.
    let mut environment = vec![("DATABASE_URL", other.url.as_str()), ("TILLKEEP_ACCEPT_UNSAFE_DATABASE", "")];
    environment.push(("DATABASE_READ_URL", other.url.as_str()));
    let theirs = TestCluster::with(&environment).await;
    eventually("theirs is its own replica", async || {
        (metric(&theirs.hq.url, "tillkeep_read_replica_up").await == Some(1.0)).then_some(())
    })
    .await;
    for read_url in [other.url.as_str(), "postgres://tillkeep:hunter2@127.0.0.1:1/tillkeep"] {
        // Its own database is new, so that both come to the same first start.
        let server = Server::new();
        let environment = [
            ("DATABASE_URL", server.url.as_str()),
            ("TILLKEEP_ACCEPT_UNSAFE_DATABASE", ""),
            ("DATABASE_READ_URL", read_url),
        ];
        let mut chain = TestCluster::with(&environment).await;
        let site = chain.store().await;
        assert_eq!(sales(&chain, &site).await, (0, None), "{read_url}");
        let log = chain.hq.log();
        assert!(log.contains("the read replica is not used") && !log.contains("hunter2"), "{log}");
    }
}
