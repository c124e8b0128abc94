//! Master data is read here. That it is written at headquarters alone is tested in `tests/contract/elsewhere.rs`.

use serde_json::{Value as Json, json};
use tillkeep_model::Bps;
use tillkeep_storage::entity::product_special;
use uuid::Uuid;

use crate::kit::{Shop, id, rows};

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

#[tokio::test]
async fn a_store_shows_what_headquarters_set_of_its_prices_taxes_tenders_and_specials() {
    let shop = Shop::open().await;
    shop.insert::<product_special::Entity>([
        special("TEATIME", |row| {
            row.product_id = Some(id("TEA"));
            (row.start_time, row.end_time) = (Some("09:00".into()), Some("10:00".into()));
        }),
        special("EVENING", |row| {
            row.department_id = Some(id("department"));
            (row.start_time, row.end_time) = (Some("18:00".into()), Some("20:00".into()));
        }),
        special("ELSEWHERE", |row| (row.product_id, row.store_id) = (Some(id("TEA")), Some(id("S02")))),
    ])
    .await;
    let person = shop.sign_in("administrator").await;
    let codes = |rows: &Json| -> Vec<String> {
        let code = |row: &Json| row["code"].as_str().or(row["sku"].as_str()).expect("a code").to_owned();
        rows.as_array().expect("rows").iter().map(code).collect()
    };
    assert_eq!(codes(&person.get("/tax-rates?sort=code").await.ok(200)), ["GST", "NY", "QST", "QSTC"]);
    let cash = person.get(&format!("/tenders/{}", id("CASH"))).await.ok(200);
    assert_eq!((&cash["code"], &cash["kind"]), (&json!("CASH"), &json!("cash")));
    person.get(&format!("/tenders/{}", id("no tender"))).await.refused(404, "not_found");
    // A UPC-A is the EAN-13 with a zero before it.
    for code in ["012345678905", "0012345678905", "ALT-1"] {
        assert_eq!(person.get(&format!("/products/by-barcode/{code}")).await.ok(200)["sku"], "BREAD");
    }
    person.get("/products/by-barcode/4999999999999").await.refused(404, "not_found");
    assert_eq!(codes(&person.get("/specials?sort=code").await.ok(200)), ["ELSEWHERE", "EVENING", "TEATIME"]);
    // It is nine in the morning here.
    assert_eq!(codes(&person.get("/specials/active").await.ok(200)), ["TEATIME"]);
    assert_eq!(codes(&person.get("/specials/active?at=2026-11-20T23:30:00Z").await.ok(200)), ["EVENING"]);
    assert_eq!(codes(&person.get("/sales-reps").await.ok(200)), ["R1"]);
    assert_eq!(person.get(&format!("/sales-reps/{}", id("rep"))).await.ok(200)["name"], "Rita");
    assert_eq!(person.get("/reasons?kind=discount").await.ok(200), json!([]));
}

#[tokio::test]
async fn a_store_shows_its_own_prices_with_what_is_cheaper_now_and_those_of_no_other_one() {
    let shop = Shop::open().await;
    shop.insert::<product_special::Entity>([special("TEN", |row| row.product_id = Some(id("BREAD")))]).await;
    let person = shop.sign_in("administrator").await;
    let bread = person.get("/store-prices?search=brea").await.ok(200)[0].clone();
    assert_eq!((&bread["defaultPrice"], &bread["storePrice"]), (&json!(300), &json!(250)));
    assert_eq!((&bread["hasPriceOverride"], &bread["effectivePrice"]), (&json!(true), &json!(250)));
    assert_eq!(
        (&bread["activeSpecials"][0]["code"], &bread["activeSpecials"][0]["unitPrice"]),
        (&json!("TEN"), &json!(225))
    );
    let own = person.get("/store-prices?overriddenOnly=true").await.ok(200);
    assert_eq!(own.as_array().map(Vec::len), Some(1));
    let tea = person.get(&format!("/store-prices?productId={}", id("TEA"))).await.ok(200)[0].clone();
    assert_eq!((&tea["storePrice"], &tea["activeSpecials"]), (&json!(null), &json!([])));
    person.get(&format!("/store-prices?storeId={}", id("S02"))).await.refused(403, "scope");

    let price = person.get(&format!("/store-prices/effective?productId={}", id("BREAD"))).await.ok(200);
    assert_eq!((&price["storeId"], &price["priceSource"]), (&json!(id("S01")), &json!("store")));
    assert_eq!((&price["effectivePrice"], &price["unit"]["totalAmount"]), (&json!(250), &json!(225)));
    let elsewhere = format!("/store-prices/effective?productId={}&storeId={}", id("BREAD"), id("S02"));
    person.get(&elsewhere).await.refused(403, "scope");
    person.get(&format!("/store-prices/effective?productId={}", id("GONE"))).await.refused(404, "not_found");
    let cashier = shop.sign_in("cashier").await;
    cashier.get("/store-prices").await.refused(403, "forbidden");
    cashier.get(&format!("/store-prices/effective?productId={}", id("TEA"))).await.ok(200);
}

/// 10 % off at any time.
fn special(code: &str, change: impl FnOnce(&mut product_special::Model)) -> product_special::Model {
    let mut row = product_special::Model {
        id: id(&format!("special {code}")),
        code: code.into(),
        name: code.to_lowercase(),
        kind: "percent_off".into(),
        percent_bps: Some(Bps(1000)),
        days_of_week: 127,
        is_active: true,
        created_at: rows::made(),
        updated_at: rows::made(),
        ..product_special::Model::default()
    };
    change(&mut row);
    row
}
