//! The worked examples of `docs/domain.md` as quotes and sales, to the cent.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value as Json, json};
use tillkeep_model::{Bps, Ppm};
use tillkeep_storage::entity::{product, tax_group, tax_group_rate, tax_rate};

use super::{
    bundle, buy_get, cash, fixed, here, int, less, list, off, product, quoted, sends, sold, special, specials, with,
};
use crate::kit::{Person, Shop, cart, id, line, rows};

static VECTORS: LazyLock<Json> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../../model/tests/data/vectors.json")).expect("the vectors")
});

fn vectors() -> impl Iterator<Item = &'static Json> {
    VECTORS.as_array().expect("a list").iter()
}

fn expected(name: &str) -> &'static Json {
    &vectors().find(|vector| vector["id"] == name).expect("a vector")["expected"]
}

/// Nobody asks how much is taken off.
async fn generous(rounding: &'static str) -> Shop {
    Shop::open_with(|own| {
        own.tax_rounding = rounding.into();
        (own.max_line_discount_bps, own.max_cart_discount_bps) = (Bps(10_000), Bps(10_000));
    })
    .await
}

/// The taxes and products of a cart come to the store; the cart as a till sends it.
async fn comes(shop: &Shop, name: &str, example: &Json) -> Json {
    let mut rates: BTreeMap<String, tax_rate::Model> = BTreeMap::new();
    let mut groups: BTreeMap<String, (tax_group::Model, Vec<tax_group_rate::Model>)> = BTreeMap::new();
    let (mut products, mut lines) = (Vec::new(), Vec::new());
    for (place, sent) in list(example, "lines").iter().enumerate() {
        let group = format!("{name} {} {}", sent["inclusive"], sent["rates"]);
        let mut links = Vec::new();
        for (sequence, rate) in (1..).zip(list(sent, "rates")) {
            let code = format!("{name} {}", rate["code"].as_str().expect("a code"));
            let ppm = i32::try_from(int(rate, "ratePpm")).expect("a rate");
            links.push(rows::link(&group, &code, sequence, rate["compound"] == true, None));
            rates.insert(code.clone(), tax_rate::Model { rate_ppm: Ppm(ppm), ..rows::rate(&code, ppm) });
        }
        let mode = if sent["inclusive"] == true { "inclusive" } else { "exclusive" };
        groups.insert(group.clone(), (rows::group(&group, mode), links));
        let sku = format!("{name} {place}");
        products.push(product::Model {
            tax_group_id: id(&group),
            quantity_decimals: 3,
            allow_discount: sent["cartDiscountable"] == true,
            ..product(&sku, int(sent, "price"))
        });
        assert_eq!(sent["specialDiscount"], 0, "{name}: no till sends that");
        let milli = int(sent, "quantityMilli");
        let mut sent_line = line(&sku, format!("{}.{:03}", milli / 1000, milli % 1000));
        sent_line["lineDiscount"] = discount(&sent["lineDiscount"]);
        lines.push(sent_line);
    }
    if !rates.is_empty() {
        shop.insert::<tax_rate::Entity>(rates.into_values()).await;
    }
    let (groups, links): (Vec<_>, Vec<_>) = groups.into_values().unzip();
    shop.insert::<tax_group::Entity>(groups).await;
    let links: Vec<_> = links.into_iter().flatten().collect();
    if !links.is_empty() {
        shop.insert::<tax_group_rate::Entity>(links).await;
    }
    sends(shop, products).await;
    let mut request = with(cart(json!(lines), cash()), "cartDiscount", discount(&example["cartDiscount"]));
    if example["taxExempt"] == true {
        request["customerId"] = json!(id("HQ-000002"));
    }
    request
}

fn discount(of: &Json) -> Json {
    match of[0].as_str() {
        Some("pct") => off(i32::try_from(of[1].as_i64().expect("basis points")).expect("basis points")),
        Some("amt") => less(of[1].as_i64().expect("an amount")),
        _ => Json::Null,
    }
}

/// The names of amounts in the examples and on a sale.
const NAMES: [(&str, &str); 7] = [
    ("list", "listAmount"),
    ("special", "specialDiscount"),
    ("line_disc", "lineDiscount"),
    ("cart_disc", "cartDiscount"),
    ("net", "netAmount"),
    ("tax", "taxAmount"),
    ("total", "totalAmount"),
];

fn is_as_on_paper(name: &str, sale: &Json, result: &Json) {
    for (paper, wire) in NAMES {
        assert_eq!(sale[wire], result["totals"][paper], "{wire} of {name}");
    }
    let (items, lines) = (list(sale, "saleItems"), list(result, "lines"));
    assert_eq!(items.len(), lines.len(), "{name}");
    for (item, line) in items.iter().zip(lines) {
        for (paper, wire) in NAMES {
            assert_eq!(item[wire], line[paper], "{wire} of {name}");
        }
        let taxes: Map<String, Json> = list(item, "taxDetails")
            .iter()
            .map(|tax| {
                let code = tax["code"].as_str().expect("a code").trim_start_matches(name).trim_start();
                (code.to_owned(), tax["taxAmount"].clone())
            })
            .collect();
        assert_eq!(json!(taxes), line["taxes"], "{name}");
    }
}

#[tokio::test]
async fn every_cart_of_the_examples_costs_at_a_till_what_it_costs_on_paper() {
    let mut seen: Vec<&str> = Vec::new();
    for rounding in ["line", "invoice"] {
        let shop = generous(rounding).await;
        let person = shop.selling().await;
        for vector in vectors() {
            let carts = list(vector, "carts").iter().enumerate();
            for (place, example) in carts.filter(|(_, example)| example["taxRounding"] == rounding) {
                let name = format!("{} {place}", vector["id"].as_str().expect("a name"));
                let request = comes(&shop, &name, example).await;
                let (_, sale) = sold(&person, request).await;
                is_as_on_paper(&name, &sale, &example["result"]);
                seen.push(vector["id"].as_str().expect("a name"));
            }
        }
    }
    for name in ["T09", "T10", "D01", "D03", "R02"] {
        assert!(seen.contains(&name), "{name} of {seen:?}");
    }
    assert!(seen.len() >= 20, "{seen:?}");
}

/// The only line of a sale of `quantity` of a product.
async fn item(person: &Person, sku: &str, quantity: i64) -> Json {
    let (_, sale) = sold(person, cart(json!([line(sku, quantity)]), cash())).await;
    sale["saleItems"][0].clone()
}

#[tokio::test]
async fn vectors_s01_to_s08_take_off_at_a_till_what_they_take_off_on_paper() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    sends(
        &shop,
        [("S01", 1299), ("S02", 1500), ("S03", 1500), ("S04", 1000), ("S05", 1399), ("S08", 399)]
            .map(|(sku, price)| product(sku, price)),
    )
    .await;
    here(&shop, "S02", |row| (row.price.0, row.has_price_override) = (1199, true)).await;
    here(&shop, "S03", |row| (row.price.0, row.has_price_override) = (899, true)).await;
    specials(
        &shop,
        [
            special("P15", "S01", |row| row.percent_bps = Some(Bps(1500))),
            special("F2", "S02", |row| fixed(row, 999)),
            special("F3", "S03", |row| fixed(row, 999)),
            special("P20", "S04", |row| row.percent_bps = Some(Bps(2000))),
            special("F850", "S04", |row| fixed(row, 850)),
            special("2+1", "S05", |row| buy_get(row, 2, 1, 10_000)),
            special("3FOR10", "S08", |row| bundle(row, 3, 1000)),
        ],
    )
    .await;
    for (name, quantity) in [("S01", 2), ("S02", 3), ("S03", 1)] {
        assert_eq!(item(&person, name, quantity).await["specialDiscount"], *expected(name), "{name}");
    }
    let best = item(&person, "S04", 1).await;
    assert_eq!((&best["specialDetails"][0]["code"], list(&best, "specialDetails").len()), (expected("S04"), 1));
    assert_eq!(best["specialDiscount"], 200);
    assert_eq!(item(&person, "S05", 3).await["specialDiscount"], expected("S05")["0"]);
    let seven = item(&person, "S08", 7).await;
    assert_eq!(seven["specialDiscount"], expected("S08")[0]["0"]);
    assert_eq!(seven["specialDetails"][0]["quantity"], json!(expected("S08")[1].as_array().map(Vec::len)));
    assert_eq!(seven["specialDetails"][0]["text"], "Week of 3FOR10: 3 for 10.00, saves 3.94");
}

#[tokio::test]
async fn vectors_p01_to_p04_choose_the_price_at_a_till_that_they_choose_on_paper() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    sends(&shop, [("P01", 1000), ("P02", 1000), ("P03", 1000), ("P04", 1000)].map(|(sku, price)| product(sku, price)))
        .await;
    for sku in ["P01", "P03"] {
        here(&shop, sku, |row| (row.price.0, row.has_price_override) = (1100, true)).await;
    }
    // The row of the store is a copy of the price of yesterday.
    shop.change_product("P02", |row| row.price.0 = 1050).await;
    specials(
        &shop,
        [
            special("P20", "P03", |row| row.percent_bps = Some(Bps(2000))),
            special("FIRST", "P04", |row| {
                fixed(row, 900);
                row.priority = 10;
            }),
            special("P25", "P04", |row| row.percent_bps = Some(Bps(2500))),
        ],
    )
    .await;
    for name in ["P01", "P02"] {
        let item = item(&person, name, 1).await;
        assert_eq!(json!([item["netAmount"], item["priceSource"]]), *expected(name), "{name}");
    }
    for name in ["P03", "P04"] {
        assert_eq!(item(&person, name, 1).await["netAmount"], *expected(name), "{name}");
    }
}

#[tokio::test]
async fn vector_d04_asks_for_the_limit_of_the_product_before_that_of_the_store() {
    let shop = Shop::open_with(|own| own.max_line_discount_bps = Bps(1000)).await;
    shop.selling().await;
    let cashier = shop.sign_in("cashier").await;
    sends(&shop, [product::Model { max_discount_bps: Some(Bps(500)), ..product("D04", 2000) }]).await;
    for (bps, needs_override) in [500, 700].into_iter().zip(expected("D04").as_array().expect("a list")) {
        let request = cart(json!([with(line("D04", 1), "lineDiscount", off(bps))]), cash());
        let quote = quoted(&cashier, &request).await;
        let asked = list(&quote, "requiredPermissions").contains(&json!("pos.discount.override_max"));
        assert_eq!(json!(asked), *needs_override, "{bps}");
        let reply = cashier.post("/pos/sales", request).await;
        if asked {
            let refusal = reply.refused(403, "discount_limit_exceeded");
            assert_eq!((&refusal["limitBps"], &refusal["requestedBps"]), (&json!(500), &json!(700)), "{refusal}");
        } else {
            assert_eq!(reply.ok(201)["totalAmount"], 1900);
        }
    }
}

#[tokio::test]
async fn vectors_b01_and_b02_are_sold_by_their_code_alone() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    for (name, source) in [("B01", "default"), ("B02", "label")] {
        let scanned = json!({"productId": id("BANANA"), "code": expected(name)});
        let (_, sale) = sold(&person, cart(json!([scanned]), cash())).await;
        let item = &sale["saleItems"][0];
        assert_eq!((&item["quantity"], &item["totalAmount"]), (&json!(1.237), &json!(741)), "{name}");
        assert_eq!((&item["scannedCode"], &item["priceSource"]), (expected(name), &json!(source)));
    }
}

#[tokio::test]
async fn vectors_c01_c04_and_c05_are_what_a_customer_pays_in_cash() {
    for (name, due, increment, mode, totals) in [
        ("C01", 0..4, 5, "nearest", [2176, 2177, 2178, 2182].as_slice()),
        ("C04", 0..2, 10, "nearest", &[2175, 2165]),
        ("C05", 0..1, 5, "down", &[2179]),
        ("C05", 1..2, 5, "up", &[2179]),
    ] {
        let shop = Shop::open_with(|own| {
            (own.cash_rounding_increment, own.cash_rounding_mode) = (increment, mode.into());
        })
        .await;
        let person = shop.selling().await;
        for (total, due) in totals.iter().zip(&expected(name).as_array().expect("a list")[due]) {
            let sku = format!("{name} {total}");
            sends(&shop, [product(&sku, *total)]).await;
            let (quote, sale) = sold(&person, cart(json!([line(&sku, 1)]), cash())).await;
            assert_eq!((&quote["cashDue"], &sale["salePayments"][0]["amount"]), (due, due), "{name} {mode}");
            assert_eq!(int(&sale, "cashRounding"), due.as_i64().expect("an amount") - total);
        }
    }
}
