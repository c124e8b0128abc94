//! What a cart costs, through HTTP: the worked examples and what decides a price.

use serde_json::{Value as Json, json};
use tillkeep_model::{Cost, Money};
use tillkeep_storage::entity::store;
use uuid::Uuid;

use crate::kit::{Shop, cart, id, line};

fn totals(quote: &Json) -> [i64; 3] {
    ["netAmount", "taxAmount", "totalAmount"].map(|key| quote[key].as_i64().expect("an amount"))
}

async fn quote(shop: &Shop, lines: Json) -> Json {
    let person = shop.sign_in("cashier").await;
    person.post("/pos/quote", json!({"lines": lines})).await.ok(200)
}

#[tokio::test]
async fn vectors_t01_t04_and_t06_cost_through_http_what_they_cost_on_paper() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    for (product, expected, taxes) in [
        ("TEA", [1999, 177, 2176], json!({"NY": 177})),
        ("T04", [10_000, 1498, 11_498], json!({"GST": 500, "QST": 998})),
        ("T06", [3999, 599, 4598], json!({"GST": 200, "QSTC": 399})),
    ] {
        let priced = person.post("/pos/quote", json!({"lines": [line(product, 1)]})).await.ok(200);
        assert_eq!(totals(&priced), expected, "{product}");
        let sale = person.sell(json!([line(product, 1)])).await.ok(201);
        assert_eq!(totals(&sale), expected, "{product}");
        for document in [&priced["taxLines"], &sale["taxLines"], &sale["saleItems"][0]["taxDetails"]] {
            let named: Json = document
                .as_array()
                .expect("a list")
                .iter()
                .map(|tax| (tax["code"].as_str().expect("a code").to_owned(), tax["taxAmount"].clone()))
                .collect::<serde_json::Map<_, _>>()
                .into();
            assert_eq!(named, taxes, "{product}");
        }
    }
}

#[tokio::test]
async fn prices_with_and_without_tax_meet_in_one_cart() {
    let shop = Shop::open().await;
    let priced = quote(&shop, json!([line("TEA", 2), line("T06", 1)])).await;
    // Two of 1999 with 8.875 % on top, and 4598 with its taxes inside.
    assert_eq!(totals(&priced), [3998 + 3999, 355 + 599, 4353 + 4598]);
    assert_eq!(priced["lines"][0]["priceIncludesTax"], false);
    assert_eq!(priced["lines"][1]["priceIncludesTax"], true);
}

#[tokio::test]
async fn a_group_that_names_this_store_is_taxed_with_those_rates_alone() {
    let shop = Shop::open().await;
    let priced = quote(&shop, json!([line("LOCAL", 1)])).await;
    assert_eq!(totals(&priced), [10_000, 500, 10_500]);
    assert_eq!(priced["taxLines"][0]["code"], "GST");
    // The other way round, another store's rows do not count here.
    assert_eq!(totals(&quote(&shop, json!([line("TEA", 1)])).await), [1999, 177, 2176]);
}

#[tokio::test]
async fn a_group_without_a_mode_of_its_own_follows_the_store() {
    let shop = Shop::open_with(|own| own.prices_include_tax = true).await;
    assert_eq!(totals(&quote(&shop, json!([line("LOCAL", 1)])).await), [9524, 476, 10_000]);
}

#[tokio::test]
async fn the_price_of_the_store_beats_that_of_the_catalogue_only_when_it_is_its_own() {
    let shop = Shop::open().await;
    let priced = quote(&shop, json!([line("BREAD", 1), line("TEA", 1)])).await;
    assert_eq!((&priced["lines"][0]["unitPrice"], &priced["lines"][0]["priceSource"]), (&json!(250), &json!("store")));
    assert_eq!(
        (&priced["lines"][1]["unitPrice"], &priced["lines"][1]["priceSource"]),
        (&json!(1999), &json!("default"))
    );
}

#[tokio::test]
async fn a_weighed_line_costs_its_weight() {
    let shop = Shop::open().await;
    assert_eq!(totals(&quote(&shop, json!([line("BANANA", 1.237)])).await), [741, 0, 741]);
    assert_eq!(totals(&quote(&shop, json!([line("BANANA", "0.835")])).await), [500, 0, 500]);
}

#[tokio::test]
async fn an_open_price_is_typed_in_and_no_other_price_is() {
    let shop = Shop::open().await;
    let person = shop.sign_in("cashier").await;
    let with =
        |product: &str, price: Json| json!({"lines": [{"productId": id(product), "quantity": 1, "openPrice": price}]});
    let priced = person.post("/pos/quote", with("FLOWERS", json!(1250))).await.ok(200);
    assert_eq!((&priced["totalAmount"], &priced["lines"][0]["priceSource"]), (&json!(1250), &json!("open")));
    person.post("/pos/quote", with("FLOWERS", Json::Null)).await.refused_at(422, "validation", "lines[0].openPrice");
    person.post("/pos/quote", with("TEA", json!(1))).await.refused_at(422, "validation", "lines[0].openPrice");
    person.post("/pos/quote", with("FLOWERS", json!(-1))).await.refused_at(422, "validation", "lines[0].openPrice");
}

#[tokio::test]
async fn a_customer_who_is_exempt_pays_no_tax() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let mut sale = cart(json!([line("TEA", 1), line("T06", 1)]), json!([{"tenderId": id("CASH")}]));
    sale["customerId"] = json!(id("HQ-000002"));
    let sold = person.post("/pos/sales", sale).await.ok(201);
    assert_eq!(totals(&sold), [1999 + 3999, 0, 5998]);
    assert_eq!((&sold["taxExempt"], &sold["customerName"]), (&json!(true), &json!("City School")));
    assert_eq!(sold["saleItems"][0]["taxDetails"][0]["taxAmount"], 0, "the rate stays on the receipt");
}

#[tokio::test]
async fn a_store_that_rounds_by_invoice_taxes_the_sum() {
    let by = |rounding: &'static str| move |own: &mut store::Model| own.tax_rounding = rounding.into();
    let lines: Vec<Json> = (0..10).map(|_| line("BANANA", 1)).collect();
    for (rounding, expected) in [("line", 10 * 53), ("invoice", 532)] {
        let shop = Shop::open_with(by(rounding)).await;
        shop.tax("BANANA", "EXCLUSIVE").await;
        let priced = quote(&shop, json!(lines)).await;
        assert_eq!(totals(&priced), [5990, expected, 5990 + expected], "{rounding}");
    }
}

#[tokio::test]
async fn cash_is_rounded_to_coins_and_cards_are_not() {
    let shop = Shop::open_with(|own| own.cash_rounding_increment = 5).await;
    let person = shop.selling().await;
    let priced = person.post("/pos/quote", json!({"lines": [line("TEA", 1)]})).await.ok(200);
    assert_eq!((&priced["totalAmount"], &priced["cashDue"]), (&json!(2176), &json!(2175)));
    let sold = person.sell(json!([line("TEA", 1)])).await.ok(201);
    assert_eq!((&sold["cashRounding"], &sold["salePayments"][0]["amount"]), (&json!(-1), &json!(2175)));
    let card = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CARD")}]));
    let sold = person.post("/pos/sales", card).await.ok(201);
    assert_eq!((&sold["cashRounding"], &sold["salePayments"][0]["amount"]), (&json!(0), &json!(2176)));
}

#[tokio::test]
async fn the_cost_of_a_line_is_the_average_else_the_store_s_else_the_product_s() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let cost =
        async |product: &str| person.sell(json!([line(product, 2)])).await.ok(201)["saleItems"][0]["unitCost"].clone();
    assert_eq!(cost("TEA").await, 999);
    let received = json!({"id": Uuid::now_v7(), "productId": id("TEA"), "quantityChange": 8, "reason": "received", "unitCost": 1200});
    person.post("/inventory/adjustments", received).await.ok(201);
    assert_eq!(shop.stock_row("TEA").await.average_cost, Some(Cost(Money(1200))));
    assert_eq!(cost("TEA").await, 1200);
}
