//! Specials and limits as a till shows them before anything is sold.

use serde_json::{Value as Json, json};
use tillkeep_model::{Bps, Cost, Money};
use tillkeep_storage::entity::product;

use super::{bundle, buy_get, cash, here, less, list, off, product, sends, sold, special, specials, with};
use crate::kit::{Person, Shop, cart, id, line};

async fn scene() -> (Shop, Person) {
    let shop = Shop::open_with(|own| {
        (own.max_line_discount_bps, own.max_cart_discount_bps) = (Bps(1000), Bps(500));
    })
    .await;
    sends(&shop, [product("CAKE", 1000), product("ROLL", 399), product("PIE", 500)]).await;
    here(&shop, "CAKE", |row| (row.price.0, row.has_price_override) = (900, true)).await;
    specials(
        &shop,
        [
            special("A", "CAKE", |row| row.is_stackable = true),
            special("B", "CAKE", |row| (row.requires_customer, row.percent_bps) = (true, Some(Bps(5000)))),
            special("C", "ROLL", |row| bundle(row, 3, 1000)),
            special("D", "", |row| {
                (row.product_id, row.department_id) = (None, Some(id("department")));
                buy_get(row, 2, 1, 10_000);
                row.priority = -5;
            }),
            special("ENDED", "CAKE", |row| row.end_date = Some("2026-11-19".into())),
            special("LATER", "CAKE", |row| row.start_date = Some("2026-11-21".into())),
            special("OFF", "CAKE", |row| row.is_active = false),
            special("THERE", "CAKE", |row| row.store_id = Some(id("S02"))),
            special("EVENING", "CAKE", |row| {
                (row.start_time, row.end_time) = (Some("18:00".into()), Some("20:00".into()));
            }),
        ],
    )
    .await;
    let person = shop.selling().await;
    (shop, person)
}

/// Code, words and price of one of each special.
fn active(row: &Json) -> Vec<(String, String, Json)> {
    let text = |special: &Json, key: &str| special[key].as_str().expect("a text").to_owned();
    let one = |special| (text(special, "code"), text(special, "text"), special["unitPrice"].clone());
    list(row, "activeSpecials").iter().map(one).collect()
}

#[tokio::test]
async fn the_list_and_the_look_up_name_the_specials_that_are_in_force() {
    let (_shop, person) = scene().await;
    let expect = |all: &[(&str, &str, Json)]| -> Vec<(String, String, Json)> {
        let one = |(code, text, price): &(&str, &str, Json)| ((*code).to_owned(), (*text).to_owned(), price.clone());
        all.iter().map(one).collect()
    };
    let free = ("D", "buy 2, get 1 free", Json::Null);
    let cake = expect(&[("A", "10 % off", json!(810)), ("B", "50 % off", json!(450)), free.clone()]);
    let roll = expect(&[("C", "3 for 10.00", Json::Null), free.clone()]);
    let pie = expect(&[free]);
    let listed = person.get("/pos/products?pageSize=200").await.ok(200);
    for (sku, expected) in [("CAKE", cake), ("ROLL", roll), ("PIE", pie)] {
        let row = listed.as_array().expect("a list").iter().find(|row| row["sku"] == sku).expect("the product");
        assert_eq!(active(row), expected, "{sku}");
        let found = person.get(&format!("/pos/lookup/{sku}")).await.ok(200);
        assert_eq!(found["activeSpecials"], row["activeSpecials"]);
        assert_eq!(found["effectivePrice"], row["effectivePrice"]);
    }
    let found = person.get("/pos/lookup/CAKE").await.ok(200);
    let wants: Vec<&Json> = list(&found, "activeSpecials").iter().map(|special| &special["requiresCustomer"]).collect();
    assert_eq!(wants, [&json!(false), &json!(true), &json!(false)]);
}

#[tokio::test]
async fn a_quote_and_a_sale_name_each_special_of_a_line_and_what_it_saves_in_words() {
    let (shop, person) = scene().await;
    let (quote, _) = sold(&person, cart(json!([line("CAKE", 1), line("ROLL", 4), line("PIE", 1)]), cash())).await;
    let said: Vec<Json> = list(&quote, "lines").iter().map(|line| line["specialDetails"].clone()).collect();
    let special = |code: &str, quantity: i64, amount: i64, words: &str| {
        let text = format!("Week of {code}: {words}");
        json!([{
            "specialId": id(&format!("special {code}")), "code": code, "name": format!("Week of {code}"),
            "quantity": quantity, "amount": amount, "text": text,
        }])
    };
    let expected =
        [special("A", 1, 90, "10 % off, saves 0.90"), special("C", 3, 197, "3 for 10.00, saves 1.97"), json!([])];
    assert_eq!(said, expected);
    // The words are those of the day of the sale.
    super::ends(&shop, "A").await;
    let sales = person.get("/pos/sales").await.ok(200);
    let sale = person.get(&format!("/pos/sales/{}", sales[0]["id"].as_str().expect("an id"))).await.ok(200);
    assert_eq!(sale["saleItems"][0]["specialDetails"], expected[0]);
}

#[tokio::test]
async fn what_a_cart_takes_off_is_shown_beside_what_may_be_taken_off() {
    let (shop, _) = scene().await;
    let fixed = special("NET", "FIXED", |_| ());
    specials(&shop, [fixed]).await;
    let floor = product::Model { min_price: Some(Cost(Money(480))), ..product("FLOOR", 500) };
    sends(&shop, [floor, product("FIXED", 1000), product("PLAIN", 1000)]).await;
    let cashier = shop.sign_in("cashier").await;
    let lines = json!([
        with(line("PLAIN", 1), "lineDiscount", off(800)),
        line("FIXED", 1),
        with(line("FLOOR", 1), "lineDiscount", less(30)),
        line("PLAIN", 1),
    ]);
    let asked = json!({"lines": lines, "cartDiscount": off(400)});
    let shown = cashier.post("/pos/discounts/validate", asked.clone()).await.ok(200);
    let of_line = |place: usize, keys: &[&str]| -> Vec<Json> {
        keys.iter().map(|key| shown["lines"][place][key].clone()).collect()
    };
    let keys = ["lineNo", "takesDiscount", "lineDiscount", "cartDiscount", "limitBps", "requestedBps", "allowed"];
    assert_eq!(json!(of_line(0, &keys)), json!([1, true, 80, 37, 1000, 1170, false]), "{shown}");
    assert_eq!(json!(of_line(1, &keys[..4])), json!([2, false, 0, 0]));
    assert_eq!(json!(of_line(2, &["belowFloor", "needsOverride", "allowed"])), json!([true, true, false]));
    assert_eq!(json!(of_line(3, &keys)), json!([4, true, 0, 40, 500, 400, true]));
    let of_cart = ["limitBps", "requestedBps", "allowed", "needsOverride"].map(|key| shown["cart"][key].clone());
    assert_eq!(of_cart, [json!(500), json!(400), json!(true), json!(false)]);
    let quote = super::quoted(&cashier, &asked).await;
    assert_eq!(shown["totalAmount"], quote["totalAmount"]);
    // Who may go beyond the limit is told so; the limit stays what it is.
    let manager = shop.sign_in("store_manager").await;
    let shown = manager.post("/pos/discounts/validate", asked).await.ok(200);
    assert_eq!((&shown["lines"][0]["allowed"], &shown["lines"][0]["needsOverride"]), (&json!(true), &json!(true)));
    assert_eq!(shop.count::<tillkeep_storage::entity::sale::Entity>().await, 0);
    let on_fixed = json!({"lines": [with(line("FIXED", 1), "lineDiscount", off(100))]});
    manager.post("/pos/discounts/validate", on_fixed).await.refused_at(422, "validation", "lines[0].lineDiscount");
}
