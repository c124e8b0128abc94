//! Charges that belong to a product, and what a store does not keep.

use serde_json::{Value as Json, json};
use tillkeep_model::{Bps, Qty};
use tillkeep_storage::entity::product;

use super::{cash, here, int, list, off, product, sends, sold, special, specials, with};
use crate::kit::{Person, Shop, cart, id, line, rows};

async fn scene() -> (Shop, Person) {
    let shop = Shop::open().await;
    let taxed = |sku: &str, price: i64| product::Model { tax_group_id: id("EXCLUSIVE"), ..product(sku, price) };
    sends(
        &shop,
        [
            product::Model { charge_product_id: Some(id("DEPOSIT")), ..taxed("COLA", 200) },
            product::Model { product_type: "deposit".into(), tax_group_id: id("QUEBEC"), ..product("DEPOSIT", 25) },
            product("CAKE", 1000),
        ],
    )
    .await;
    specials(
        &shop,
        [
            special("COLA", "COLA", |row| row.is_stackable = true),
            special("NEVER", "DEPOSIT", |row| {
                row.percent_bps = Some(Bps(5000));
            }),
        ],
    )
    .await;
    let person = shop.selling().await;
    (shop, person)
}

fn codes(answer: &Json) -> Vec<(&str, i64)> {
    let one = |warning| (text(warning, "code"), int(warning, "lineNo"));
    list(answer, "warnings").iter().map(one).collect()
}

fn text<'a>(row: &'a Json, key: &str) -> &'a str {
    row[key].as_str().expect("a text")
}

#[tokio::test]
async fn a_charge_is_a_line_behind_its_line_of_the_same_quantity_with_its_own_tax_and_no_discount() {
    let (shop, person) = scene().await;
    let colas = with(line("COLA", 6), "lineDiscount", off(1000));
    let request = cart(json!([line("CAKE", 1), colas, line("COLA", 1), line("CAKE", 2)]), cash());
    let (quote, sale) = sold(&person, with(request.clone(), "cartDiscount", off(2000))).await;
    let skus: Vec<&str> = list(&sale, "saleItems").iter().map(|item| text(item, "sku")).collect();
    assert_eq!(skus, ["CAKE", "COLA", "DEPOSIT", "COLA", "DEPOSIT", "CAKE"]);
    let of: Vec<&Json> = list(&quote, "lines").iter().map(|line| &line["chargeOf"]).collect();
    assert_eq!(of, [&Json::Null, &Json::Null, &json!(2), &Json::Null, &json!(4), &Json::Null]);
    for (place, owner, quantity) in [(2, 1, 6), (4, 3, 1)] {
        let item = &sale["saleItems"][place];
        assert_eq!(item["chargeOf"], sale["saleItems"][owner]["id"]);
        assert_eq!((int(item, "quantity"), int(item, "netAmount")), (quantity, 25 * quantity));
        assert_eq!((int(item, "specialDiscount"), int(item, "cartDiscount")), (0, 0), "{item}");
        let taxes: Vec<&str> = list(item, "taxDetails").iter().map(|tax| text(tax, "code")).collect();
        assert_eq!(taxes, ["GST", "QST"]);
        assert_eq!(quote["lines"][place]["takesDiscount"], false);
    }
    assert_eq!(shop.level("DEPOSIT").await, Qty::pieces(3));
    // Less than all would be no repetition; what was sent is one.
    let again = with(with(request, "cartDiscount", off(2000)), "expectedTotal", sale["totalAmount"].clone());
    assert_eq!(person.post("/pos/sales", again).await.ok(200)["receiptNumber"], sale["receiptNumber"]);
}

#[tokio::test]
async fn a_charge_can_be_sold_alone_like_anything_else() {
    let (_shop, person) = scene().await;
    let (quote, sale) = sold(&person, cart(json!([line("DEPOSIT", 2)]), cash())).await;
    assert_eq!((&sale["saleItems"][0]["chargeOf"], int(&sale, "specialDiscount")), (&Json::Null, 25));
    assert_eq!(quote["warnings"], json!([]));
}

#[tokio::test]
async fn without_its_charge_a_product_is_sold_with_a_warning() {
    for change in [
        (|row| row.is_active = false) as fn(&mut product::Model),
        |row| row.deleted_at = Some(rows::made()),
        |row| row.is_open_price = true,
        |row| row.is_weighed = true,
    ] {
        let (shop, person) = scene().await;
        shop.change_product("DEPOSIT", change).await;
        let (quote, sale) = sold(&person, cart(json!([line("CAKE", 1), line("COLA", 2)]), cash())).await;
        assert_eq!(list(&sale, "saleItems").len(), 2);
        assert_eq!((codes(&quote), codes(&sale)), (vec![("charge_not_sold", 2)], vec![("charge_not_sold", 2)]));
    }
    let (shop, person) = scene().await;
    shop.change_product("COLA", |row| row.charge_product_id = Some(id("nowhere"))).await;
    let (quote, _) = sold(&person, cart(json!([line("COLA", 2)]), cash())).await;
    assert_eq!(codes(&quote), [("charge_not_sold", 1)]);
}

#[tokio::test]
async fn too_little_stock_names_the_line_that_was_sent_and_not_that_of_its_charge() {
    let (shop, person) = scene().await;
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let own = tillkeep_storage::entity::store::ActiveModel {
        id: tillkeep_storage::raw::sea_orm::ActiveValue::Set(shop.store.id),
        allow_negative_stock: tillkeep_storage::raw::sea_orm::ActiveValue::Set(false),
        ..Default::default()
    };
    tillkeep_storage::sea_orm::ActiveModelTrait::update(own, &tx).await.expect("an update");
    tx.commit().await.expect("a commit");
    for (lines, field) in [
        (json!([line("COLA", 2), line("COLA", 1), line("CAKE", 11)]), "lines[2].quantity"),
        (json!([line("CAKE", 1), line("COLA", 11)]), "lines[1].quantity"),
    ] {
        person.sell(lines).await.refused_at(409, "insufficient_stock", field);
    }
}

#[tokio::test]
async fn what_a_store_does_not_keep_is_offered_to_nobody_and_sold_with_a_warning_when_it_is_scanned() {
    let (shop, person) = scene().await;
    let offered = async || -> Vec<Json> {
        let all = person.get("/pos/products?pageSize=200").await.ok(200);
        all.as_array().expect("a list").iter().map(|row| row["sku"].clone()).collect()
    };
    assert!(offered().await.contains(&json!("CAKE")));
    here(&shop, "CAKE", |row| row.is_stocked = false).await;
    assert!(!offered().await.contains(&json!("CAKE")));
    assert_eq!(person.get("/pos/products?search=cake").await.ok(200), json!([]));
    let found = person.get("/pos/lookup/CAKE").await.ok(200);
    assert_eq!((&found["isStocked"], &found["effectivePrice"]), (&json!(false), &json!(1000)));
    assert_eq!(person.get("/pos/lookup/COLA").await.ok(200)["isStocked"], true);
    let (quote, sale) = sold(&person, cart(json!([line("COLA", 1), line("CAKE", 1)]), cash())).await;
    // Behind the deposit.
    assert_eq!((codes(&quote), codes(&sale)), (vec![("not_stocked_here", 3)], vec![("not_stocked_here", 3)]));
    assert_eq!(shop.level("CAKE").await, Qty::pieces(9));
}
