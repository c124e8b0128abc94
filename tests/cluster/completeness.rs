//! A lost sale is not silent: headquarters names what it lacks. `docs/sync.md`, rule U13.

use serde_json::{Value, json};
use tillkeep_storage::{Db, Side, raw};

use crate::kit::{TestCluster, TestStore, eventually};

async fn ask(chain: &TestCluster, site: &TestStore, date: &str) -> Value {
    chain.admin.get(&format!("/sync/completeness?storeId={}&date={date}", site.id)).await.data()
}

/// Removes a sale and every trace of its entry at headquarters; the number that the entry had.
async fn lose(chain: &TestCluster, sale: &str) -> i64 {
    let database = Db::open_file(&chain.hq.dir.join("tillkeep.db"), Side::Hq).await.expect("database");
    let tx = database.begin().await.expect("begin");
    let uuid: uuid::Uuid = sale.parse().expect("an id");
    let rows = raw::query(&tx, "SELECT seq FROM sync_log WHERE entity_id = $1", [sale.into()]).await.expect("the log");
    let seq = rows[0].try_get("", "seq").expect("a number");
    raw::execute(&tx, "DELETE FROM sync_log WHERE entity_id = $1", [sale.into()]).await.expect("a delete");
    let of_it =
        [("chain_entries", "sale_id"), ("sale_items", "sale_id"), ("sale_payments", "sale_id"), ("sales", "id")];
    for (table, column) in of_it {
        raw::execute(&tx, &format!("DELETE FROM {table} WHERE {column} = $1"), [uuid.into()]).await.expect("a delete");
    }
    tx.commit().await.expect("commit");
    database.close().await.expect("close");
    seq
}

#[tokio::test(flavor = "multi_thread")]
async fn of_twenty_sales_the_one_that_was_lost_is_named_with_its_receipt_and_its_number() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let mut site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    let mut sales = Vec::new();
    for _ in 0..20 {
        sales.push(site.sell(&till, &product, 1).await);
    }
    let date = sales[0]["businessDate"].as_str().expect("a date").to_owned();
    site.drained(&till).await;
    eventually("the day goes on", async || {
        let report = ask(&chain, &site, &date).await;
        let day = &report["days"][0];
        (day["reasons"] == json!(["session_open"]) && report["verdict"] == "open").then_some(())
    })
    .await;
    let session = sales[0]["registerSessionId"].as_str().expect("a session");
    let counted = till.nothing_counted().await;
    till.post(&format!("/register-sessions/{session}/close"), counted).await.data();
    site.drained(&till).await;
    let report = eventually("the day is complete", async || {
        let report = ask(&chain, &site, &date).await;
        (report["verdict"] == "complete").then_some(report)
    })
    .await;
    let register = &report["days"][0]["registers"][0];
    assert_eq!((&register["receiptCount"], &register["missingReceipts"]), (&json!(20), &json!([])));
    assert_eq!(register["sessions"][0]["zReport"]["saleCount"], 20);
    assert_eq!(register["sessions"][0]["difference"]["totalAmount"], 0);
    // What a store sends of itself is all its own.
    let metrics = reqwest::Client::builder().no_proxy().build().expect("a client");
    let page = metrics.get(format!("{}/metrics", chain.hq.url)).send().await.expect("an answer");
    assert!(!page.text().await.expect("a text").contains("tillkeep_push_ignored_columns_total{"));

    site.broken_on_purpose = true;
    chain.broken_on_purpose = true;
    let seq = lose(&chain, sales[6]["id"].as_str().expect("an id")).await;
    let report = ask(&chain, &site, &date).await;
    assert_eq!(report["verdict"], "incomplete");
    let day = &report["days"][0];
    assert_eq!(day["reasons"], json!(["receipts_missing", "totals_differ"]));
    let receipt = &sales[6]["receiptNumber"];
    let expected = json!([{"from": receipt, "to": receipt, "count": 1}]);
    assert_eq!(day["registers"][0]["missingReceipts"], expected);
    let session = &day["registers"][0]["sessions"][0];
    assert_eq!((&session["difference"]["saleCount"], &session["difference"]["netAmount"]), (&json!(-1), &json!(-1000)));
    assert_eq!(report["outbox"]["reasons"], json!(["entries_missing"]));
    assert_eq!(report["outbox"]["epochs"][0]["missing"], json!([{"from": seq, "to": seq}]));
}
