//! Labels of scales and codes of packs: the store reads amount and quantity out of the code.

use serde_json::{Value as Json, json};
use tillkeep_model::{Bps, JsonText, Qty, rdiv};

use super::market::{Dice, label};
use super::{bundle, cash, fixed, here, int, list, off, product, sends, sold, special, specials, weighed, with};
use crate::kit::{Person, Shop, cart, id, line};

async fn scene() -> (Shop, Person) {
    let shop = Shop::open().await;
    shop.selling().await;
    let case = product::Model {
        barcode: Some("5000000000104".into()),
        packs: JsonText(json!([
            {"code": "50000000000012", "quantity": 6}, {"code": "50000000000029", "quantity": 12, "price": 999},
        ])),
        ..product("CAN", 99)
    };
    let deli = [weighed("PLUM", 599, "4012"), weighed("FISH", 2350, "12345"), weighed("FREE", 0, "40999"), case];
    sends(&shop, deli).await;
    specials(
        &shop,
        [
            special("RIPE", "PLUM", |row| row.percent_bps = Some(Bps(5000))),
            special("CHEAP", "FISH", |row| fixed(row, 1)),
            special("CANS", "CAN", |row| bundle(row, 3, 200)),
        ],
    )
    .await;
    let cashier = shop.sign_in("cashier").await;
    (shop, cashier)
}

/// A line that says nothing but what was scanned.
fn scanned(sku: &str, code: &str) -> Json {
    json!({"productId": id(sku), "code": code})
}

#[tokio::test]
async fn three_hundred_of_three_hundred_labels_are_sold_at_the_price_that_is_printed_on_them() {
    let (shop, cashier) = scene().await;
    let dice = Dice::of(300);
    let mut right = 0;
    for round in 0..30 {
        let labels: Vec<(&str, i64, String)> = (0..10)
            .map(|_| {
                let (sku, plu) = *dice.pick(&[("PLUM", "04012"), ("FISH", "12345"), ("FREE", "40999")]);
                let printed = dice.from(1, 99_999);
                (sku, printed, label("20", plu, printed))
            })
            .collect();
        let lines: Vec<Json> = labels
            .iter()
            .map(|(sku, printed, code)| {
                let line = scanned(sku, code);
                if dice.one_in(2) { with(line, "labelAmount", *printed) } else { line }
            })
            .collect();
        // What was printed yesterday is sold at the price of yesterday.
        let price = dice.from(1, 5000);
        shop.change_product("PLUM", |row| row.price.0 = price).await;
        here(&shop, "FISH", |row| (row.price.0, row.has_price_override) = (2000 + round, true)).await;
        let (_, sale) = sold(&cashier, cart(json!(lines), cash())).await;
        for ((sku, printed, code), item) in labels.iter().zip(list(&sale, "saleItems")) {
            let price = [("PLUM", price), ("FISH", 2000 + round), ("FREE", 0)].into_iter().find(|(of, _)| of == sku);
            let quantity = match price.expect("a price").1 {
                0 => Qty::ONE,
                price => {
                    Qty(i64::try_from(rdiv(i128::from(*printed) * 1000, i128::from(price))).expect("small").max(1))
                }
            };
            assert_eq!((int(item, "listAmount"), int(item, "totalAmount")), (*printed, *printed), "{item}");
            assert_eq!((&item["priceSource"], &item["scannedCode"]), (&json!("label"), &json!(code)));
            assert_eq!((&item["specialDetails"], &item["quantity"]), (&json!([]), &json!(quantity)), "{item}");
            right += 1;
        }
    }
    assert_eq!(right, 300);
}

#[tokio::test]
async fn a_label_with_a_weight_is_sold_by_the_price_of_the_shelf_and_its_specials() {
    let (_shop, cashier) = scene().await;
    let dice = Dice::of(21);
    for _ in 0..50 {
        let grams = dice.from(1, 99_999);
        let code = label("21", "04012", grams);
        let found = cashier.get(&format!("/pos/lookup/{code}")).await.ok(200);
        let (_, sale) = sold(&cashier, cart(json!([scanned("PLUM", &code)]), cash())).await;
        let item = &sale["saleItems"][0];
        assert_eq!((&item["quantity"], &item["priceSource"]), (&json!(Qty(grams)), &json!("default")));
        assert_eq!((&item["listAmount"], &item["quantity"]), (&found["lineAmount"], &found["lineQuantity"]));
        let list = i128::from(int(item, "listAmount"));
        assert_eq!(i128::from(int(item, "specialDiscount")), rdiv(list * 5000, 10_000), "{item}");
    }
    // The weight may be said besides, and is never another one.
    let code = label("21", "04012", 1237);
    sold(&cashier, cart(json!([with(scanned("PLUM", &code), "quantity", json!(1.237))]), cash())).await;
    let other = cart(json!([with(scanned("PLUM", &code), "quantity", json!(1.238))]), cash());
    cashier.post("/pos/sales", other).await.refused_at(422, "validation", "lines[0].quantity");
}

#[tokio::test]
async fn a_pack_with_a_price_costs_that_and_one_without_costs_its_pieces() {
    let (_shop, cashier) = scene().await;
    for (line, quantity, total, source) in [
        (scanned("CAN", "50000000000029"), 12, 999, "label"),
        (with(scanned("CAN", "50000000000029"), "quantity", 36), 36, 2997, "label"),
        (with(scanned("CAN", "50000000000029"), "labelAmount", 999), 12, 999, "label"),
        // Three for 2.00 is on the pieces.
        (scanned("CAN", "50000000000012"), 6, 400, "default"),
        (with(scanned("CAN", "50000000000012"), "quantity", 12), 12, 800, "default"),
        (with(scanned("CAN", "5000000000104"), "quantity", 2), 2, 198, "default"),
    ] {
        let (_, sale) = sold(&cashier, cart(json!([line]), cash())).await;
        let item = &sale["saleItems"][0];
        let found = (&item["quantity"], int(item, "totalAmount"), item["priceSource"].as_str());
        assert_eq!(found, (&json!(quantity), total, Some(source)), "{line}");
        assert_eq!(item["scannedCode"], line["code"]);
    }
    for (code, quantity, pack, amount) in
        [("50000000000029", 12, Some(12), Some(999)), ("50000000000012", 6, Some(6), Some(594))]
    {
        let found = cashier.get(&format!("/pos/lookup/{code}")).await.ok(200);
        assert_eq!((&found["matchedBy"], &found["product"]["sku"]), (&json!("pack"), &json!("CAN")), "{found}");
        let said = [&found["packQuantity"], &found["lineQuantity"], &found["lineAmount"]];
        assert_eq!(said, [&json!(pack), &json!(quantity), &json!(amount)], "{found}");
    }
}

#[tokio::test]
async fn what_a_code_does_not_say_is_refused_at_its_field() {
    let (_shop, cashier) = scene().await;
    let price = label("20", "04012", 741);
    let pack = scanned("CAN", "50000000000029");
    for (line, field) in [
        (with(line("PLUM", json!(1.237)), "labelAmount", 741), "labelAmount"),
        (with(scanned("PLUM", &price), "labelAmount", 740), "labelAmount"),
        (with(scanned("PLUM", &label("21", "04012", 1237)), "labelAmount", 1), "labelAmount"),
        (with(with(scanned("CAN", "CAN"), "quantity", 1), "labelAmount", 99), "labelAmount"),
        (with(with(pack.clone(), "quantity", 24), "labelAmount", 999), "labelAmount"),
        (scanned("FISH", &price), "code"),
        (with(scanned("PLUM", "5012345678900"), "quantity", 1), "code"),
        (with(scanned("PLUM", "no such code"), "quantity", 1), "code"),
        (with(scanned("PLUM", &price), "openPrice", 741), "openPrice"),
        (with(with(scanned("PLUM", &price), "unitPriceOverride", 1), "overrideReason", "x"), "unitPriceOverride"),
        (with(pack, "quantity", 13), "quantity"),
        (with(scanned("PLUM", &price), "quantity", 2), "quantity"),
        (scanned("CAN", "CAN"), "quantity"),
        (json!({"productId": id("CAN")}), "quantity"),
    ] {
        let request = cart(json!([line]), cash());
        let field = format!("lines[0].{field}");
        cashier.post("/pos/quote", request.clone()).await.refused_at(422, "validation", &field);
        cashier.post("/pos/sales", request).await.refused_at(422, "validation", &field);
    }
    let wrong = price.replace("00741", "00742");
    let request = cart(json!([scanned("PLUM", &wrong)]), cash());
    cashier.post("/pos/quote", request.clone()).await.refused_at(422, "bad_check_digit", "lines[0].code");
    cashier.post("/pos/sales", request).await.refused_at(422, "bad_check_digit", "lines[0].code");
}

#[tokio::test]
async fn a_discount_on_a_label_is_off_what_is_printed() {
    let (shop, _) = scene().await;
    let manager = shop.sign_in("store_manager").await;
    let discounted = with(scanned("PLUM", &label("20", "04012", 1000)), "lineDiscount", off(1000));
    let (_, sale) = sold(&manager, cart(json!([discounted]), cash())).await;
    assert_eq!((int(&sale, "listAmount"), int(&sale, "totalAmount")), (1000, 900));
}
