//! The till of `docs/write-a-till.md`, as it stands there, at a store that runs.

use std::process::Command;

use serde_json::{Value, json};

use crate::kit::{TestCluster, eventually};

const TILL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/till.mjs");

#[tokio::test(flavor = "multi_thread")]
async fn the_till_of_the_docs_works_a_whole_drawer_and_its_count_is_what_the_store_expects() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1999).await;
    let site = chain.store().await;
    let roles = chain.admin.get("/roles").await.data();
    let manager = roles.as_array().expect("list").iter().find(|role| role["code"] == "store_manager").expect("a role");
    chain.person("Max", "905172", json!([{"roleId": manager["id"], "storeId": site.id}])).await;
    let admin = site.admin().await;
    site.knows(&admin, &product, None).await;
    chain.caught_up(&site, &admin).await;
    let register = json!({"code": "01", "name": "Front", "terminalId": site.terminal});
    admin.post("/registers", register).await.data();

    let told = Command::new("node")
        .arg(TILL)
        .env("STORE_URL", &site.process.url)
        .env("STORE_ID", &site.id)
        .env("TERMINAL", &site.terminal)
        .env("PIN", "905172")
        .env("SKU", "A1")
        .output()
        .expect("Node.js runs");
    let (said, wrong) = (String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
    assert!(told.status.success(), "{said}{wrong}");
    let told: Value = serde_json::from_str(said.lines().last().expect("a line")).expect("JSON");
    for event in ["snapshot", "drawer open", "parked", "drawer counting", "drawer closed"] {
        assert!(told["heard"].as_array().expect("names").contains(&json!(event)), "{event} in {told}");
    }

    let session = told["session"].as_str().expect("an id");
    let drawer = admin.get(&format!("/register-sessions/{session}")).await.data();
    assert_eq!(drawer["status"], "closed");
    assert_eq!((&drawer["countedCash"], &drawer["cashVariance"]), (&told["inDrawer"], &json!(0)));
    let z = admin.get(&format!("/reports/z/{session}")).await.data();
    assert_eq!((&z["saleCount"], &z["refundCount"], &z["expectedCash"]), (&json!(2), &json!(1), &told["inDrawer"]));

    let mut total = 0;
    for id in told["sales"].as_array().expect("ids") {
        let path = format!("/sales/{}", id.as_str().expect("an id"));
        total += admin.get(&format!("/pos{path}")).await.data()["totalAmount"].as_i64().expect("an amount");
        eventually("headquarters has what the till sold", async || {
            chain.admin.get(&path).await.status.is_success().then_some(())
        })
        .await;
    }
    assert_eq!(z["totalAmount"], total, "three and one, and one came back");
}
