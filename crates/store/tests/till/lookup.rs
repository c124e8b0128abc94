//! What a scanner or a keyboard finds.

use serde_json::{Value as Json, json};
use tillkeep_model::JsonText;

use crate::kit::Shop;

#[tokio::test]
async fn every_kind_of_code_finds_its_product() {
    let shop = Shop::open().await;
    let person = shop.sign_in("cashier").await;
    for (code, sku, matched_by) in [
        ("5012345678900", "TEA", "barcode"),
        ("012345678905", "BREAD", "barcode"),
        // The same code as EAN-13, with its leading zero.
        ("0012345678905", "BREAD", "barcode"),
        ("ALT-1", "BREAD", "alt_barcode"),
        ("4011", "BANANA", "plu"),
        ("TEA", "TEA", "sku"),
        ("tea", "TEA", "sku"),
        ("%20TEA%20", "TEA", "sku"),
    ] {
        let found = person.get(&format!("/pos/lookup/{code}")).await.ok(200);
        assert_eq!((&found["product"]["sku"], &found["matchedBy"]), (&json!(sku), &json!(matched_by)), "{code}");
        assert_eq!(found["quantity"], 10, "{code}");
        assert_eq!(found.get("lineAmount"), None, "{code}");
    }
    let bread = person.get("/pos/lookup/ALT-1").await.ok(200);
    assert_eq!((&bread["effectivePrice"], &bread["priceSource"]), (&json!(250), &json!("store")));
    for code in ["nothing", "GONE", "%00", "%ff", "%20", "2299999999999", &"9".repeat(500)] {
        assert_eq!(person.get(&format!("/pos/lookup/{code}")).await.status, 404, "{code}");
    }
    person.get("/pos/lookup/nothing").await.refused(404, "product_not_found");
    person.get("/pos/lookup/4000000000006").await.refused(409, "product_inactive");
    person.get("/pos/lookup/OLD").await.refused(409, "product_inactive");
}

#[tokio::test]
async fn a_scale_label_says_how_much_it_is() {
    let shop = Shop::open().await;
    let person = shop.sign_in("cashier").await;
    let label = async |code: &str| -> [Json; 4] {
        let found = person.get(&format!("/pos/lookup/{code}")).await.ok(200);
        ["matchedBy", "lineQuantity", "lineAmount", "quantity"].map(|key| found[key].clone())
    };
    assert_eq!(label("2104011012378").await, [json!("weight_label"), json!(1.237), json!(741), json!(10)]);
    // The line costs what the label says, whatever the weight comes to.
    assert_eq!(label("2004011007414").await, [json!("price_label"), json!(1.237), json!(741), json!(10)]);
    person.get("/pos/lookup/2104011012379").await.refused(422, "bad_check_digit");
    person.get("/pos/lookup/2004012007413").await.refused(404, "product_not_found");
}

#[tokio::test]
async fn a_product_that_carries_the_full_code_beats_the_label() {
    let shop = Shop::open().await;
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let codes = [(crate::kit::id("TEA"), vec!["2104011012378".to_owned()])].into();
    tillkeep_storage::barcodes::replace(&tx, &codes).await.expect("codes");
    tx.commit().await.expect("a commit");
    shop.change_product("TEA", |product| product.barcodes = JsonText(json!(["2104011012378"]))).await;
    let found = shop.sign_in("cashier").await.get("/pos/lookup/2104011012378").await.ok(200);
    assert_eq!((&found["product"]["sku"], &found["matchedBy"]), (&json!("TEA"), &json!("alt_barcode")));
}

#[tokio::test]
async fn products_are_listed_with_price_and_stock() {
    let shop = Shop::open().await;
    let person = shop.sign_in("cashier").await;
    let listed = person.get("/pos/products?search=bre").await.ok(200);
    assert_eq!(listed.as_array().map(Vec::len), Some(1));
    assert_eq!(
        [&listed[0]["sku"], &listed[0]["effectivePrice"], &listed[0]["priceSource"], &listed[0]["quantity"]],
        [&json!("BREAD"), &json!(250), &json!("store"), &json!(10)]
    );
    assert_eq!(person.get("/pos/products?search=OLD").await.ok(200), json!([]), "not sold any more");
    assert_eq!(person.get("/pos/products?search=100%25").await.ok(200), json!([]), "a percent sign is a percent sign");
    let page = person.get("/pos/products?page=2&pageSize=3").await;
    assert_eq!(page.body["pagination"]["total"], 10);
    assert_eq!(page.ok(200).as_array().map(Vec::len), Some(3));
}
