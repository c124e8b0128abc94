//! Master data is read here. That it is written at headquarters alone is tested in `tests/contract/elsewhere.rs`.

use serde_json::json;
use uuid::Uuid;

use crate::kit::{Shop, id};

#[tokio::test]
async fn master_data_is_read_from_the_replica() {
    let shop = Shop::open().await;
    let person = shop.sign_in("administrator").await;
    let products = person.get("/products?search=tea").await.ok(200);
    assert_eq!((&products[0]["sku"], &products[0]["price"]), (&json!("TEA"), &json!(1999)));
    assert_eq!(person.get(&format!("/products/{}", id("TEA"))).await.ok(200), products[0]);
    person.get(&format!("/products/{}", id("GONE"))).await.refused(404, "product_not_found");
    assert_eq!(person.get("/products?active=false").await.ok(200)[0]["sku"], "OLD");
    assert_eq!(person.get("/departments").await.ok(200)[0]["code"], "GROC");
    assert_eq!(person.get("/tenders?kind=cash").await.ok(200)[0]["code"], "CASH");
    let groups = person.get("/tax-groups?search=local").await.ok(200);
    let rates: Vec<_> =
        groups[0]["rates"].as_array().expect("rates").iter().map(|rate| (&rate["code"], &rate["storeId"])).collect();
    assert_eq!(rates.len(), 2, "the rows of every store");
    assert!(rates.contains(&(&json!("GST"), &json!(id("S01")))));
}

#[tokio::test]
async fn people_and_stores_are_read_here_and_their_pins_are_not() {
    let shop = Shop::open().await;
    let person = shop.sign_in("administrator").await;
    let users = person.get("/users").await.ok(200);
    assert!(users[0]["username"].is_string() && users[0].get("pinHash").is_none(), "{users}");
    let own = format!("/users/{}", person.user_id);
    assert_eq!(person.get(&own).await.ok(200)["assignments"][0]["roleCode"], "administrator");
    assert_eq!(person.get(&format!("{own}/roles")).await.ok(200)[0]["storeId"], json!(shop.store.id));
    assert_eq!(person.get("/roles").await.ok(200).as_array().map_or(0, Vec::len), 3);
    assert_eq!(person.get("/permissions").await.ok(200)[0]["module"], "pos");
    assert_eq!(person.get("/stores").await.ok(200)[0]["code"], "S01");
    assert_eq!(person.get(&format!("/stores/{}", shop.store.id)).await.ok(200)["code"], "S01");
    person.get(&format!("/stores/{}", Uuid::nil())).await.refused(403, "scope");
    let why = format!("/permissions/explain?userId={}&code=pos.sell", person.user_id);
    assert_eq!(person.get(&why).await.ok(200)["allowed"], true);
    assert_eq!(person.get("/audit-log").await.ok(200)[0]["action"], "pin_login");
    let cashier = shop.sign_in("cashier").await;
    for path in ["/users", "/roles", "/permissions", "/stores", "/audit-log"] {
        cashier.get(path).await.refused(403, "forbidden");
    }
}
