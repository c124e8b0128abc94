//! A second person's yes, from the store to headquarters.

use serde_json::json;
use uuid::Uuid;

use crate::kit::{Client, TestCluster, eventually};

#[tokio::test(flavor = "multi_thread")]
async fn headquarters_knows_who_approved_a_changed_price() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1999).await;
    let site = chain.store().await;
    let roles = chain.admin.get("/roles").await.data();
    let role = |code: &str| {
        let role = roles.as_array().expect("list").iter().find(|role| role["code"] == code).expect("role");
        role["id"].clone()
    };
    let mut ids = Vec::new();
    for (name, pin, code) in [("Ann", "482157", "cashier"), ("Max", "905172", "store_manager")] {
        let assignments = json!([{"roleId": role(code), "storeId": site.id}]);
        ids.push(json!(chain.person(name, pin, assignments).await));
    }
    let administrator = site.open_till().await;
    site.knows(&administrator, &product, None).await;
    chain.caught_up(&site, &administrator).await;

    let anybody = Client::new(&site.process.url);
    let body = json!({"pin": "482157", "storeId": site.id, "terminalId": site.terminal});
    let cashier = eventually("Ann can sign in", async || {
        let reply = anybody.post("/auth/pin-login", body.clone()).await;
        Some(anybody.with_token(reply.body["data"]["accessToken"].as_str()?))
    })
    .await;
    let line = json!({
        "productId": product, "quantity": 1, "unitPriceOverride": 1500, "overrideReason": "a scratched tin",
    });
    let quote = cashier.post("/pos/quote", json!({"lines": [line]})).await.data();
    let asked = json!({
        "permission": "pos.price.override", "pin": "905172", "reason": "shown to me",
        "context": {"cartHash": quote["cartHash"]},
    });
    let given = cashier.post("/pos/approvals", asked).await.data();
    let tenders = cashier.get("/tenders").await.data();
    let card = tenders.as_array().expect("list").iter().find(|tender| tender["code"] == "CARD").expect("card");
    let sale = json!({
        "id": Uuid::now_v7(), "lines": [line], "payments": [{"tenderId": card["id"]}], "approvals": [given["token"]],
    });
    let sold = cashier.post("/pos/sales", sale).await.data();

    let path = format!("/sales/{}", sold["id"].as_str().expect("id"));
    let at_hq = eventually("the sale is at HQ", async || {
        let reply = chain.admin.get(&path).await;
        reply.status.is_success().then(|| reply.data())
    })
    .await;
    assert_eq!(at_hq["approvals"], sold["approvals"]);
    assert_eq!(at_hq["approvals"][0]["approverId"], ids[1]);
    // A cashier does not see what goods cost; whoever works with costs sees the same at both servers.
    let here = administrator.get(&format!("/pos{path}")).await.data();
    assert_eq!(at_hq["saleItems"], here["saleItems"]);
    let item = &at_hq["saleItems"][0];
    assert_eq!((&item["overrideApprovedBy"], &item["overrideReason"]), (&ids[1], &json!("a scratched tin")));
    assert_eq!((&item["regularPrice"], &item["unitPrice"]), (&json!(1999), &json!(1500)));
    let token = given["token"].as_str().expect("a token");
    assert!(!site.process.log().contains(token) && !site.process.log().contains("905172"));
}
