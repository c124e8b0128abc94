//! How far a till may go down: floors of products, and limits of discounts.

use serde_json::{Value as Json, json};
use tillkeep_model::{Bps, Cost, Money, rdiv};

use super::market::{Dice, label};
use super::{
    anew, cash, extended, here, int, less, list, off, product, quoted, sends, special, specials, weighed, with,
};
use crate::kit::{Person, Shop, cart, id, line, people};

const GOODS: [&str; 6] = ["TALL", "LOW", "DEAL", "OPEN", "PLUM", "BARE"];

fn floor(sku: &str) -> Option<i64> {
    match sku {
        "TALL" => Some(800),
        "LOW" => Some(400),
        "DEAL" => Some(900),
        "OPEN" => Some(500),
        "PLUM" => Some(450),
        _ => None,
    }
}

/// A store in which a cashier may take off so much, with goods that have floors: the store sells LOW below its own, and a special
/// DEAL.
async fn scene(limit: i32) -> (Shop, Person) {
    let shop = Shop::open_with(|own| {
        (own.max_line_discount_bps, own.max_cart_discount_bps) = (Bps(limit), Bps(limit));
    })
    .await;
    shop.selling().await;
    let goods = [
        product("TALL", 1000),
        product("LOW", 500),
        product("DEAL", 1000),
        product::Model { is_open_price: true, ..product("OPEN", 0) },
        weighed("PLUM", 599, "4012"),
        product("BARE", 700),
    ];
    sends(&shop, goods.map(|row| product::Model { min_price: floor(&row.sku).map(|floor| Cost(Money(floor))), ..row }))
        .await;
    here(&shop, "LOW", |row| (row.price.0, row.has_price_override) = (300, true)).await;
    specials(&shop, [special("DEAL", "DEAL", |row| (row.percent_bps, row.is_stackable) = (Some(Bps(3000)), true))])
        .await;
    let cashier = shop.sign_in("cashier").await;
    (shop, cashier)
}

fn given(dice: &Dice, most: i64) -> Json {
    if dice.one_in(2) { off(i32::try_from(dice.from(1, most)).expect("small")) } else { less(dice.from(1, most / 10)) }
}

fn by_chance(dice: &Dice, most: i64) -> Json {
    let lines: Vec<Json> = (0..dice.from(1, 4))
        .map(|_| {
            let sku = *dice.pick(&GOODS);
            let mut sent = match sku {
                "OPEN" => with(line(sku, dice.from(1, 3)), "openPrice", dice.from(450, 900)),
                "PLUM" if dice.one_in(2) => {
                    json!({"productId": id(sku), "code": label("20", "04012", dice.from(1, 999))})
                }
                "PLUM" => line(sku, format!("1.{:03}", dice.from(0, 999))),
                _ => line(sku, dice.from(1, 3)),
            };
            if sku != "OPEN" && sent["code"].is_null() && dice.one_in(9) {
                sent["unitPriceOverride"] = json!(dice.from(200, 1200));
                sent["overrideReason"] = json!("a scratched tin");
            }
            if dice.one_in(3) {
                sent["lineDiscount"] = given(dice, most);
            }
            sent
        })
        .collect();
    let mut cart = cart(json!(lines), cash());
    if dice.one_in(4) {
        cart["cartDiscount"] = given(dice, most);
    }
    cart
}

/// What somebody at the till took off.
fn taken(line: &Json) -> i64 {
    int(line, "lineDiscount") + int(line, "cartDiscount")
}

/// Whether a till brought the line below the floor of its product.
fn is_brought_below(line: &Json) -> bool {
    let Some(floor) = floor(line["sku"].as_str().expect("a SKU")) else { return false };
    let quantity: tillkeep_model::Qty = serde_json::from_value(line["quantity"].clone()).expect("a quantity");
    let least = rdiv(i128::from(floor) * i128::from(quantity.0), 1000);
    let made_elsewhere = ["default", "store", "label"].map(|source| json!(source)).contains(&line["priceSource"]);
    i128::from(extended(line)) < least && (taken(line) > 0 || !made_elsewhere)
}

/// Whether more is taken off `base` than `limit` basis points of it and a minor unit.
fn is_beyond(taken: i64, base: i64, limit: i32) -> bool {
    i128::from(taken) * 10_000 > i128::from(base) * i128::from(limit) + 10_000
}

/// What of this cart a cashier may not do alone, by the rules as they are written.
fn asks(quote: &Json, limit: i32) -> bool {
    let lines = list(quote, "lines");
    let of_line = |line: &Json| {
        let base = int(line, "listAmount") - int(line, "specialDiscount");
        line["priceSource"] == "override" || is_brought_below(line) || is_beyond(taken(line), base, limit)
    };
    let base = |line: &Json| extended(line) + int(line, "cartDiscount");
    let base: i64 = lines.iter().filter(|line| line["takesDiscount"] == true).map(base).sum();
    lines.iter().any(of_line) || is_beyond(int(quote, "cartDiscount"), base, limit)
}

#[tokio::test]
async fn no_line_is_below_its_floor_by_what_a_cashier_did_and_whatever_is_not_is_sold() {
    for (limit, most, seed) in [(10_000, 3500, 5), (1000, 1100, 6)] {
        let (shop, cashier) = scene(limit).await;
        let (_, pin) = people::person(&shop, "store_manager").await;
        let dice = Dice::of(seed);
        let (mut sold, mut refused, mut approved) = (0, 0, 0);
        for _ in 0..200 {
            let request = by_chance(&dice, most);
            let quote = quoted(&cashier, &request).await;
            let reply = cashier.post("/pos/sales", request.clone()).await;
            assert_eq!(reply.status, if asks(&quote, limit) { 403 } else { 201 }, "{quote}\n{}", reply.body);
            if reply.status == 201 {
                sold += 1;
                let sale = reply.ok(201);
                assert!(!list(&sale, "saleItems").iter().any(is_brought_below), "{sale}");
                continue;
            }
            assert_eq!(reply.body["approvable"], true, "{}", reply.body);
            refused += 1;
            if refused % 5 == 0 {
                sold_with_all_approvals_alone(&cashier, &pin, &request).await;
                approved += 1;
            }
        }
        assert!(sold > 30 && refused > 30 && approved > 5, "{sold} sold, {refused} refused, {approved} approved");
    }
}

/// With all of what it needs it is sold, and with all but one of them it is not.
async fn sold_with_all_approvals_alone(cashier: &Person, pin: &str, request: &Json) {
    let quote = quoted(cashier, request).await;
    let lacking: Vec<&str> = list(&quote, "requiredPermissions").iter().filter_map(Json::as_str).collect();
    let lacking: Vec<&str> = lacking.into_iter().filter(|code| *code != "pos.discount").collect();
    if list(&quote, "lines").iter().any(is_brought_below) {
        for both in ["pos.price.override", "pos.discount.override_max"] {
            assert!(lacking.contains(&both), "{quote}");
        }
    }
    let mut tokens = Vec::new();
    for permission in &lacking {
        tokens.push(super::approval(cashier, pin, permission, request).await);
    }
    for (place, permission) in lacking.iter().enumerate() {
        let mut some = tokens.clone();
        some.remove(place);
        let reply = cashier.post("/pos/sales", with(request.clone(), "approvals", some)).await;
        assert_eq!((reply.status, &reply.body["required"]), (403, &json!([permission])), "{}", reply.body);
    }
    let sale = cashier.post("/pos/sales", with(request.clone(), "approvals", tokens)).await.ok(201);
    let noted: Vec<&str> = list(&sale, "approvals").iter().filter_map(|row| row["permission"].as_str()).collect();
    assert_eq!(noted, lacking);
}

#[tokio::test]
async fn eight_per_cent_off_a_line_and_five_off_the_cart_are_above_a_limit_of_ten() {
    let (_shop, cashier) = scene(1000).await;
    let with_both = |of_line: Json, of_cart: Json| {
        with(cart(json!([with(line("BARE", 10), "lineDiscount", of_line)]), cash()), "cartDiscount", of_cart)
    };
    let refusal = cashier.post("/pos/sales", with_both(off(800), off(500))).await;
    let refusal = refusal.refused(403, "discount_limit_exceeded");
    assert_eq!((&refusal["limitBps"], &refusal["requestedBps"]), (&json!(1000), &json!(1260)), "{refusal}");
    assert_eq!(refusal["required"], json!(["pos.discount.override_max"]));
    for (of_line, of_cart) in [(off(800), Json::Null), (Json::Null, off(500)), (off(500), off(500))] {
        cashier.post("/pos/sales", with_both(of_line, of_cart)).await.ok(201);
    }
}

#[tokio::test]
async fn a_minor_unit_above_the_limit_is_rounding_and_two_are_a_discount() {
    let (shop, cashier) = scene(1000).await;
    sends(&shop, [product("TEN", 1000)]).await;
    for (amount, status) in [(100, 201), (101, 201), (102, 403)] {
        let of_line = cart(json!([with(line("TEN", 1), "lineDiscount", less(amount))]), cash());
        let of_cart = with(cart(json!([line("TEN", 1)]), cash()), "cartDiscount", less(amount));
        for request in [of_line, of_cart] {
            assert_eq!(cashier.post("/pos/sales", request).await.status, status, "{amount}");
        }
    }
}

#[tokio::test]
async fn the_limit_of_a_product_beats_that_of_its_department_and_that_of_the_store() {
    let shop = Shop::open_with(|own| own.max_line_discount_bps = Bps(1000)).await;
    shop.selling().await;
    super::market::fill(&shop).await;
    let cashier = shop.sign_in("cashier").await;
    let of_product =
        product::Model { department_id: id("bakery"), max_discount_bps: Some(Bps(2000)), ..product("OWN", 10_000) };
    let of_department = product::Model { department_id: id("bakery"), ..product("BAKED", 10_000) };
    sends(&shop, [of_product, of_department, product::Model { department_id: id("none"), ..product("STORE", 10_000) }])
        .await;
    for (sku, limit) in [("OWN", 2000), ("BAKED", 1500), ("STORE", 1000)] {
        for (bps, status) in [(limit, 201), (limit + 10, 403)] {
            let request = cart(json!([with(line(sku, 1), "lineDiscount", off(bps))]), cash());
            assert_eq!(cashier.post("/pos/sales", request).await.status, status, "{bps} of {sku}");
        }
    }
}

#[tokio::test]
async fn a_discount_on_what_takes_none_is_refused_by_its_field() {
    let (shop, cashier) = scene(10_000).await;
    sends(&shop, [product::Model { allow_discount: false, ..product("NEVER", 100) }, product("NET", 100)]).await;
    specials(&shop, [special("NET", "NET", |_| ())]).await;
    for sku in ["NEVER", "NET"] {
        let request = cart(json!([line("BARE", 1), with(line(sku, 1), "lineDiscount", off(100))]), cash());
        cashier.post("/pos/quote", request.clone()).await.refused_at(422, "validation", "lines[1].lineDiscount");
        cashier.post("/pos/sales", request).await.refused_at(422, "validation", "lines[1].lineDiscount");
        let request = with(cart(json!([line(sku, 1)]), cash()), "cartDiscount", off(100));
        cashier.post("/pos/sales", request).await.refused_at(422, "validation", "cartDiscount");
        // Beside a line that takes one it has no part of it.
        let request = with(cart(json!([line(sku, 1), line("BARE", 1)]), cash()), "cartDiscount", off(1000));
        let (_, sale) = super::sold(&cashier, request).await;
        let parts = [0, 1].map(|place: usize| int(&sale["saleItems"][place], "cartDiscount"));
        assert_eq!(parts, [0, 70], "{sku}");
    }
}

#[tokio::test]
async fn a_discount_that_says_nothing_of_use_is_refused_by_its_field() {
    let (_shop, cashier) = scene(10_000).await;
    for (given, field) in [
        (json!({"type": "percent", "reason": "x"}), "bps"),
        (json!({"type": "percent", "bps": 0, "reason": "x"}), "bps"),
        (json!({"type": "percent", "bps": 10_001, "reason": "x"}), "bps"),
        (json!({"type": "percent", "bps": 100, "amount": 5, "reason": "x"}), "amount"),
        (json!({"type": "amount", "reason": "x"}), "amount"),
        (json!({"type": "amount", "amount": 0, "reason": "x"}), "amount"),
        (json!({"type": "amount", "amount": -5, "reason": "x"}), "amount"),
        (json!({"type": "amount", "amount": 5, "bps": 5, "reason": "x"}), "bps"),
        (json!({"type": "gift", "amount": 5, "reason": "x"}), "type"),
        (json!({"type": "percent", "bps": 100}), "reason"),
        (json!({"type": "percent", "bps": 100, "reason": " "}), "reason"),
    ] {
        let of_line = cart(json!([with(line("BARE", 1), "lineDiscount", given.clone())]), cash());
        let named = format!("lines[0].lineDiscount.{field}");
        cashier.post("/pos/sales", of_line).await.refused_at(422, "validation", &named);
        let of_cart = with(cart(json!([line("BARE", 1)]), cash()), "cartDiscount", given);
        // What a discount without a reason comes to may be asked.
        if field != "reason" {
            let quoted = cashier.post("/pos/quote", anew(&of_cart)).await;
            quoted.refused_at(422, "validation", &format!("cartDiscount.{field}"));
        }
        cashier.post("/pos/sales", of_cart).await.refused_at(422, "validation", &format!("cartDiscount.{field}"));
    }
}
