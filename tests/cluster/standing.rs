//! How headquarters shows stores that are not well, and those that are: each with its own server.

use serde_json::{Value, json};

use crate::kit::{TestCluster, TestStore, eventually, metric};

/// The store's row of the dashboard.
async fn row(chain: &TestCluster, site: &TestStore) -> Value {
    let dashboard = chain.admin.get("/sync/dashboard").await.data();
    let rows = dashboard["stores"].as_array().expect("stores").iter();
    rows.clone().find(|row| row["storeId"] == site.id.as_str()).cloned().expect("the store")
}

/// The row, once it is as `fits` wants it.
async fn shown(what: &str, chain: &TestCluster, site: &TestStore, fits: impl Fn(&Value) -> bool) -> Value {
    eventually(what, async || Some(row(chain, site).await).filter(&fits)).await
}

/// What is pulled of a type.
fn entity<'a>(row: &'a Value, name: &str) -> &'a Value {
    let types = row["sync"].as_array().expect("types");
    types.iter().find(|one| one["entityType"] == name && one["direction"] == "pull").unwrap_or(&Value::Null)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_cannot_keep_products_says_so_gets_everything_else_and_recovers() {
    let mut chain = TestCluster::new().await;
    chain.product("A1", 1000).await;
    // It gets nothing yet.
    let mut site = chain.store_with(&[("FAILPOINTS", "cycle.handshake=return(error)")]).await;
    site.process.stop();
    let refuse = "CREATE TRIGGER no_products BEFORE INSERT ON products BEGIN SELECT RAISE(ABORT, 'no room'); END";
    site.execute(refuse).await;
    site.process.forget_environment("FAILPOINTS");
    site.process.restart();
    let broken = shown("headquarters hears that products are not stored", &chain, &site, |row| {
        row["unstored"] == json!(["products"]) && entity(row, "sales_reps")["lastSuccessAt"].is_string()
    })
    .await;
    let products = entity(&broken, "products");
    assert_eq!((&products["totalPulled"], &products["lastSuccessAt"]), (&json!(0), &Value::Null), "{products}");
    assert_eq!(
        (&products["lastError"], &broken["lastError"]),
        (&json!("the database refuses a row"), &products["lastError"])
    );
    // Those that are pulled after it are there: people can sign in.
    let local = site.admin().await;
    let line = local.get("/sync/status").await.data()["line"].clone();
    assert_eq!(line["unstored"], json!({"products": "the database refuses a row"}));
    let failed = products["lastErrorAt"].clone();
    let again =
        shown("each cycle says it again", &chain, &site, |row| entity(row, "products")["lastErrorAt"] != failed).await;
    assert_eq!(entity(&again, "products")["totalPulled"], 0);
    assert!(entity(&again, "users")["totalPulled"].as_i64() > Some(0));
    // It is one failed entry, and tried again it is loaded from the beginning.
    let failed = async || chain.admin.get("/sync/errors").await.data();
    let entries = failed().await;
    assert_eq!((entries.as_array().map(Vec::len), &again["errorCount"]), (Some(1), &json!(1)), "{entries}");
    let listed = ["direction", "entityType", "error"].map(|key| entries[0][key].as_str());
    assert_eq!(listed, ["pull", "products", "the database refuses a row"].map(Some));
    let path = format!("/sync/retry/{}", entries[0]["id"].as_str().expect("an id"));
    assert_eq!(chain.admin.post(&path, json!({})).await.data()["status"], "retried");
    let second = eventually("it fails again", async || failed().await.get(0).cloned()).await;
    assert_ne!(second["id"], entries[0]["id"]);
    eventually("it loads the type again", async || {
        site.process.log().contains("headquarters asks for it: loading this type again").then_some(())
    })
    .await;

    site.process.stop();
    site.execute("DROP TRIGGER no_products").await;
    site.process.restart();
    let well = shown("the products are there", &chain, &site, |row| row["unstored"] == json!([])).await;
    let products = entity(&well, "products");
    assert_eq!((&products["totalPulled"], &products["pendingCount"]), (&json!(1), &json!(0)), "{products}");
    assert_eq!((failed().await, &well["errorCount"]), (json!([]), &json!(0)), "it closed itself");
    // From here on nothing happens, and each cycle is a success.
    let quiet = well["lastSuccessAt"].clone();
    let later =
        shown("a quiet store succeeds", &chain, &site, |row| row["lastSuccessAt"].as_str() > quiet.as_str()).await;
    assert_eq!(entity(&later, "products")["totalPulled"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_way_in_which_a_line_ends_is_shown_and_outlives_headquarters() {
    let mut chain = TestCluster::new().await;
    let mut site = chain.store().await;
    let there = |row: &Value| row["connection"]["connected"] == true;
    let gone = |row: &Value| row["connection"]["connected"] == false;
    let ending = |row: &Value| (row["endedBecause"].clone(), row["lastHeardAt"].clone());
    shown("the store is there", &chain, &site, there).await;

    site.process.kill();
    let killed = shown("it is gone", &chain, &site, gone).await;
    assert_eq!(killed["endedBecause"], "no_line");
    assert!(killed["lastHeardAt"].is_string() && killed["connection"]["lastHeartbeatAt"].is_null());

    site.process.restart();
    assert_eq!(shown("it is back", &chain, &site, there).await["endedBecause"], Value::Null);
    site.process.stop();
    let stopped = shown("it is gone", &chain, &site, gone).await;
    assert_eq!(stopped["endedBecause"], "stopped");
    chain.hq.stop();
    chain.hq.restart();
    assert_eq!(ending(&row(&chain, &site).await), ending(&stopped));

    site.process.restart();
    assert_eq!(shown("it is back", &chain, &site, there).await["endedBecause"], Value::Null);
    chain.admin.post(&format!("/stores/{}/revoke-token", site.id), json!({})).await;
    let revoked = shown("it is gone", &chain, &site, gone).await;
    assert_eq!(revoked["endedBecause"], "revoked");
    // Whoever looks has it written, so that a kill takes nothing of it.
    row(&chain, &site).await;
    chain.hq.kill();
    chain.hq.restart();
    assert_eq!(row(&chain, &site).await["endedBecause"], "revoked");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outbox_that_does_not_move_with_a_line_is_known_within_a_cycle_and_an_alarm_after_five_minutes() {
    let mut chain = TestCluster::new().await;
    let stuck = [("FAILPOINTS", "sender.send=return(error)"), ("CLOCK_OFFSET_MS", "-400000")];
    let mut site = chain.store_with(&stuck).await;
    // Opening a drawer is a document; its clock is slow, which headquarters knows and reckons with.
    site.open_till().await;
    let waits = shown("headquarters hears what waits", &chain, &site, |row| row["outboxPending"] != 0).await;
    assert_eq!((&waits["outboxStuck"], &waits["clockWarning"]), (&json!(false), &json!(true)), "{waits}");
    assert!(waits["oldestPendingAt"].is_string());
    assert_eq!(metric(&chain.hq.url, "tillkeep_stores_outbox_stuck ").await, Some(0.0));

    // With its clock put right the entry is as old as it says.
    site.process.stop();
    site.process.set_environment("CLOCK_OFFSET_MS", "0");
    site.process.restart();
    shown("the alarm", &chain, &site, |row| row["outboxStuck"] == true).await;
    let summary = chain.admin.get("/sync/dashboard").await.data()["summary"].clone();
    assert_eq!(summary["outboxStuck"], 1);
    assert_eq!(metric(&chain.hq.url, "tillkeep_stores_outbox_stuck ").await, Some(1.0));
    assert!(metric(&chain.hq.url, "tillkeep_oldest_pending_seconds ").await > Some(390.0));

    site.process.stop();
    site.process.forget_environment("FAILPOINTS");
    site.process.restart();
    let sent = shown("everything went", &chain, &site, |row| row["outboxPending"] == 0).await;
    assert_eq!((&sent["outboxStuck"], &sent["oldestPendingAt"]), (&json!(false), &Value::Null));
}
