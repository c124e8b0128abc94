//! Prices of one store, and how the others follow the default price.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::{Cost, Money, Qty, ids};
use tillkeep_storage::entity::store_product;
use tillkeep_storage::sea_orm::{ActiveModelTrait, ActiveValue, IntoActiveModel};
use uuid::Uuid;

use super::kit::{Kit, column, id_of};

async fn row(kit: &Kit, store: Uuid, product: &Json) -> store_product::Model {
    kit.row::<store_product::Entity>(ids::store_product(store, id_of(product))).await
}

fn path(store: Uuid, product: &Json) -> String {
    format!("/store-prices/{store}/{}", id_of(product))
}

#[tokio::test]
async fn a_new_default_price_reaches_the_stores_without_a_price_of_their_own() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let product = kit.product(&admin, "P1", json!({"price": 1000})).await;
    let other = kit.product(&admin, "P2", json!({"price": 1000})).await;
    kit.put(&admin, &path(one, &product), json!({"price": 900})).await.is(200);
    kit.put(&admin, &path(two, &product), json!({"binLocation": "A-7"})).await.is(200);
    kit.put(&admin, &path(two, &other), json!({"binLocation": "A-8"})).await.is(200);
    let before = [row(&kit, one, &product).await, row(&kit, two, &product).await, row(&kit, two, &other).await];
    kit.patch(&admin, &format!("/products/{}", id_of(&product)), json!({"price": 1100})).await.is(200);
    let after = [row(&kit, one, &product).await, row(&kit, two, &product).await, row(&kit, two, &other).await];
    assert_eq!(before[0], after[0], "its own price stays, and so does its version");
    assert_eq!((after[1].price, after[1].has_price_override), (Money(1100), false));
    assert!(after[1].sync_version > before[1].sync_version, "the store learns of it");
    assert_eq!(before[2], after[2], "another product");
    kit.patch(&admin, &format!("/products/{}", id_of(&product)), json!({"name": "New"})).await.is(200);
    assert_eq!(row(&kit, two, &product).await, after[1], "a new name is no new price");
    kit.patch(&admin, &format!("/products/{}", id_of(&product)), json!({"cost": 600})).await.is(200);
    let costs = [row(&kit, one, &product).await, row(&kit, two, &product).await];
    assert_eq!(costs.each_ref().map(|row| row.cost), [Cost(Money(600)); 2], "the cost is a copy everywhere");
    assert_eq!(costs.each_ref().map(|row| row.price), [Money(900), Money(1100)]);
}

#[tokio::test]
async fn a_store_price_comes_and_goes() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let product = kit.product(&admin, "P1", json!({"price": 1000, "reorderPoint": 5})).await;
    let at = path(store, &product);
    kit.delete(&admin, &at).await.is(404);
    let set = kit.put(&admin, &at, json!({"price": 900, "isStocked": false, "reorderQuantity": 2.5})).await.data();
    assert_eq!(
        (&set["storePrice"], &set["defaultPrice"], &set["effectivePrice"]),
        (&json!(900), &json!(1000), &json!(900))
    );
    assert_eq!(set["id"], json!(ids::store_product(store, id_of(&product))), "as the store names the row");
    assert_eq!((&set["reorderPoint"], &set["reorderQuantity"]), (&json!(5), &json!(2.5)));
    let again = kit.put(&admin, &at, json!({"price": 900})).await.data();
    assert_eq!(again["syncVersion"], set["syncVersion"], "nothing new, no version");
    let late = kit.put(&admin, &at, json!({"price": 1, "expectedVersion": 0})).await;
    late.refused(409, "version_conflict");
    assert_eq!(
        (&late.body["current"]["storePrice"], &late.body["current"]["syncVersion"]),
        (&json!(900), &set["syncVersion"])
    );
    assert_eq!(late.body["changedBy"], json!({"id": admin.id, "name": "admin"}));
    kit.delete(&admin, &format!("{at}?expectedVersion=0")).await.refused(409, "version_conflict");
    let back = kit.put(&admin, &at, json!({"price": null})).await.data();
    assert_eq!((&back["storePrice"], &back["effectivePrice"]), (&json!(null), &json!(1000)));
    assert_eq!(back["isStocked"], false, "what was not sent stays");
    kit.put(&admin, &at, json!({"price": 800})).await.is(200);
    assert_eq!(kit.delete(&admin, &at).await.data()["hasPriceOverride"], false);
    assert_eq!(kit.delete(&admin, &at).await.data()["effectivePrice"], 1000);
}

#[tokio::test]
async fn the_audit_log_says_what_made_the_price_of_a_product_everywhere() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let product = kit.product(&admin, "P1", json!({"price": 1000})).await;
    let other = kit.product(&admin, "P2", json!({"price": 1000})).await;
    let path_of = |product: &Json| format!("/products/{}", id_of(product));
    kit.patch(&admin, &path_of(&product), json!({"price": 1100})).await.is(200);
    kit.patch(&admin, &path_of(&product), json!({"name": "New"})).await.is(200);
    kit.put(&admin, &path(store, &product), json!({"price": 900})).await.is(200);
    kit.put(&admin, &path(store, &product), json!({"binLocation": "A-7"})).await.is(200);
    kit.delete(&admin, &path(store, &product)).await.is(200);
    kit.put(&admin, &path(store, &other), json!({"price": 800})).await.is(200);
    let log = kit.get(&admin, &format!("/audit-log?priceOf={}", id_of(&product))).await.data();
    assert_eq!(column(&log, "action"), ["store_price.set", "store_price.set", "edit", "create"]);
    let change = |line: usize| (&log[line]["details"]["from"], &log[line]["details"]["to"]);
    let (own, default) =
        (json!({"price": 900, "hasPriceOverride": true}), json!({"price": 1100, "hasPriceOverride": false}));
    assert_eq!(change(0), (&own, &default), "the price of all stores again");
    assert_eq!(change(1), (&default, &own));
    assert_eq!((&log[0]["details"]["storeId"], &log[0]["username"]), (&json!(store), &json!("admin")));
    assert_eq!((&log[2]["details"]["from"]["price"], &log[2]["details"]["to"]["price"]), (&json!(1000), &json!(1100)));
    assert_eq!(log[3]["details"]["price"], 1000);
    let edits = kit.get(&admin, &format!("/audit-log?priceOf={}&action=edit", id_of(&product))).await.data();
    assert_eq!(edits, json!([log[2]]));
    kit.get(&admin, "/audit-log?priceOf=P1").await.names("priceOf");
}

#[tokio::test]
async fn of_two_who_set_a_store_price_at_once_one_learns_of_the_other() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let at = path(store, &kit.product(&admin, "P1", json!({"price": 1000})).await);
    let mut version = json!(0);
    // First there is no row, then there is one.
    for round in 0..2 {
        let set = async |price: i64| kit.put(&admin, &at, json!({"price": price, "expectedVersion": version})).await;
        let (one, other) = tokio::join!(set(700 + round), set(800 + round));
        let (won, lost) = if one.status == 200 { (one, other) } else { (other, one) };
        lost.refused(409, "version_conflict");
        let won = won.data();
        assert_eq!(lost.body["current"]["storePrice"], won["storePrice"], "the present row is shown");
        version = won["syncVersion"].clone();
    }
}

#[tokio::test]
async fn a_store_price_that_cannot_be_is_refused() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let product = kit.product(&admin, "P1", json!({"price": 1000, "minPrice": 800})).await;
    let at = path(store, &product);
    let low = kit.put(&admin, &at, json!({"price": 799})).await;
    low.refused(422, "below_min_price");
    low.names("price");
    kit.put(&admin, &at, json!({"price": 800})).await.is(200);
    for (field, value) in [
        ("price", json!(-1)),
        ("price", json!(9.5)),
        ("price", json!("9")),
        ("reorderPoint", json!(-1)),
        ("reorderPoint", json!(1.2345)),
        ("binLocation", json!("x".repeat(41))),
        ("isStocked", json!(null)),
        ("quantity", json!(7)),
        ("hasPriceOverride", json!(true)),
    ] {
        kit.put(&admin, &at, json!({field: value})).await.names(field);
    }
    kit.put(&admin, &format!("/store-prices/{store}/{}", Uuid::now_v7()), json!({"price": 1})).await.is(404);
    kit.put(&admin, &path(Uuid::now_v7(), &product), json!({"price": 1})).await.is(404);
    kit.put(&admin, "/store-prices/S01/P1", json!({"price": 1})).await.is(404);
}

#[tokio::test]
async fn the_stock_of_a_store_is_not_headquarters_to_write() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let product = kit.product(&admin, "P1", json!({})).await;
    kit.put(&admin, &path(store, &product), json!({"price": 900})).await.is(200);
    let mut sold = row(&kit, store, &product).await.into_active_model();
    sold.quantity = ActiveValue::Set(Qty(-3000));
    let tx = kit.hq.db().begin().await.expect("begin");
    sold.update(&tx).await.expect("stock");
    tx.commit().await.expect("commit");
    kit.put(&admin, &path(store, &product), json!({"price": 950})).await.is(200);
    let row = row(&kit, store, &product).await;
    assert_eq!((row.quantity, row.price), (Qty(-3000), Money(950)));
}

#[tokio::test]
async fn the_list_of_store_prices_is_narrowed() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let apple = kit.product(&admin, "APPLE", json!({})).await;
    let pear = kit.product(&admin, "PEAR", json!({"name": "BÍLÁ hruška"})).await;
    kit.put(&admin, &path(one, &apple), json!({"price": 1})).await.is(200);
    kit.put(&admin, &path(one, &pear), json!({"binLocation": "A"})).await.is(200);
    kit.put(&admin, &path(two, &apple), json!({"binLocation": "B"})).await.is(200);
    let count = async |query: &str| {
        let rows = kit.get(&admin, &format!("/store-prices?{query}")).await.data();
        column(&rows, "sku").len()
    };
    assert_eq!(count("").await, 3);
    assert_eq!(count(&format!("storeId={one}")).await, 2);
    assert_eq!(count(&format!("productId={}", id_of(&apple))).await, 2);
    assert_eq!(count("overriddenOnly=true").await, 1);
    assert_eq!(count("search=pea").await, 1);
    assert_eq!(count("search=b%C3%ADl%C3%A1").await, 1, "in any case of any script");
    assert_eq!(count(&format!("sort=-storeId&storeId={one}")).await, 2);
    kit.delete(&admin, &format!("/products/{}", id_of(&pear))).await.is(204);
    assert_eq!(count("").await, 2, "a deleted product has no prices to look at");
}
