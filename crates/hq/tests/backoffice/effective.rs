//! What a product, and what a cart, costs in a store at a moment.

use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::kit::{Kit, Person, column, id_of};

/// A Friday.
const AT: &str = "2026-11-20T14:00:00Z";

async fn special(kit: &Kit, who: &Person, code: &str, product: &Json, more: Json) {
    let mut body = json!({"code": code, "name": format!("Special {code}"), "productId": product["id"]});
    for (key, value) in more.as_object().expect("an object") {
        body[key] = value.clone();
    }
    kit.post(who, "/specials", body).await.is(201);
}

/// A tax group that takes a tenth on top.
async fn a_tenth(kit: &Kit, who: &Person) -> Json {
    let rate = kit.post(who, "/tax-rates", json!({"code": "TEN", "name": "Ten", "ratePpm": 100_000})).await.data();
    let group = json!({"code": "TAXED", "name": "Taxed", "priceMode": "exclusive"});
    let group = kit.post(who, "/tax-groups", group).await.data();
    let rates = json!([{"taxRateId": rate["id"], "storeId": null, "sequence": 1, "isCompound": false}]);
    kit.put(who, &format!("/tax-groups/{}/rates", id_of(&group)), rates).await.is(200);
    group["id"].clone()
}

#[tokio::test]
async fn a_price_says_how_it_came_about_in_its_store_and_at_its_moment() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let group = a_tenth(&kit, &admin).await;
    let tea = kit.product(&admin, "TEA", json!({"taxGroupId": group})).await;
    kit.put(&admin, &format!("/store-prices/{one}/{}", id_of(&tea)), json!({"price": 900})).await.is(200);
    let hours = json!({"type": "percent_off", "percentBps": 2000, "startTime": "09:00", "endTime": "15:00"});
    special(&kit, &admin, "TEATIME", &tea, hours).await;
    let members = json!({"type": "amount_off", "amount": 300, "requiresCustomer": true});
    special(&kit, &admin, "MEMBERS", &tea, members).await;
    special(&kit, &admin, "BUNDLE", &tea, json!({"type": "multi_buy", "bundleQuantity": 3, "bundlePrice": 2000})).await;
    let path =
        |store: Uuid, at: &str| format!("/store-prices/effective?productId={}&storeId={store}&at={at}", id_of(&tea));

    let price = kit.get(&admin, &path(one, AT)).await.data();
    assert_eq!((&price["defaultPrice"], &price["storePrice"]), (&json!(1000), &json!(900)));
    assert_eq!((&price["priceSource"], &price["effectivePrice"]), (&json!("store"), &json!(900)));
    assert_eq!(column(&price["activeSpecials"], "code"), ["BUNDLE", "MEMBERS", "TEATIME"]);
    assert_eq!(column(&price["activeSpecials"], "text"), ["3 for 20.00", "3.00 off", "20 % off"]);
    let prices: Vec<&Json> =
        price["activeSpecials"].as_array().expect("a list").iter().map(|one| &one["unitPrice"]).collect();
    assert_eq!(prices, [&json!(null), &json!(600), &json!(720)]);
    let unit = &price["unit"];
    assert_eq!((&unit["specialDiscount"], &unit["netAmount"]), (&json!(180), &json!(720)), "nobody is a member");
    assert_eq!((&unit["taxAmount"], &unit["totalAmount"]), (&json!(72), &json!(792)));
    assert_eq!(unit["specialDetails"][0]["text"], "Special TEATIME: 20 % off, saves 1.80");
    assert_eq!(unit["taxDetails"][0]["code"], "TEN");

    let other = kit.get(&admin, &path(two, AT)).await.data();
    assert_eq!((&other["storePrice"], &other["priceSource"]), (&json!(null), &json!("default")));
    assert_eq!(other["unit"]["specialDiscount"], 200);
    let later = kit.get(&admin, &path(one, "2026-11-20T15:00:00Z")).await.data();
    assert_eq!((column(&later["activeSpecials"], "code").len(), &later["unit"]["specialDiscount"]), (2, &json!(0)));

    let unnamed = format!("/store-prices/effective?productId={}", id_of(&tea));
    kit.get(&admin, &unnamed).await.names("storeId");
    kit.get(&admin, &format!("/store-prices/effective?productId={}&storeId={one}", Uuid::now_v7())).await.is(404);
    kit.get(&admin, &path(Uuid::now_v7(), AT)).await.is(404);
    kit.get(&admin, &path(one, "noon")).await.is(422);
    let manager = kit.person("manager", &[("store_manager", Some(two))]).await;
    kit.get(&manager, &path(two, AT)).await.is(200);
    kit.get(&manager, &path(one, AT)).await.refused(403, "scope");
}

#[tokio::test]
async fn the_list_of_store_prices_names_what_is_cheaper_there_now() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let tea = kit.product(&admin, "TEA", json!({})).await;
    let typed = kit.product(&admin, "TYPED", json!({"isOpenPrice": true, "price": 0})).await;
    for (store, product) in [(one, &tea), (two, &tea), (one, &typed)] {
        let path = format!("/store-prices/{store}/{}", id_of(product));
        kit.put(&admin, &path, json!({"binLocation": "A"})).await.is(200);
    }
    special(&kit, &admin, "HERE", &tea, json!({"type": "fixed_price", "fixedPrice": 850, "storeId": one})).await;
    special(&kit, &admin, "PAST", &tea, json!({"type": "percent_off", "percentBps": 100, "endDate": "2020-01-01"}))
        .await;
    let everything = json!({
        "code": "ALL", "name": "All", "departmentId": tea["departmentId"], "type": "percent_off", "percentBps": 1000,
    });
    kit.post(&admin, "/specials", everything).await.is(201);
    let rows = kit.get(&admin, "/store-prices").await.data();
    let rows = rows.as_array().expect("rows");
    let of = |store: Uuid, product: &Json| {
        let is_it = |row: &&Json| row["storeId"] == json!(store) && row["productId"] == product["id"];
        let row = rows.iter().find(is_it).expect("a row");
        assert_eq!(row["effectivePrice"], product["price"], "specials apart");
        column(&row["activeSpecials"], "code")
    };
    assert_eq!(of(one, &tea), ["ALL", "HERE"]);
    assert_eq!(of(two, &tea), ["ALL"]);
    assert_eq!(of(one, &typed), [""; 0], "what is typed in gets none");
}

#[tokio::test]
async fn a_cart_is_priced_as_it_would_be_sold_and_nothing_is_written() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let tea = kit.product(&admin, "TEA", json!({})).await;
    let bread = kit.product(&admin, "BREAD", json!({"price": 500})).await;
    special(&kit, &admin, "BUNDLE", &tea, json!({"type": "multi_buy", "bundleQuantity": 3, "bundlePrice": 2000})).await;
    let asked = json!({
        "storeId": store, "at": AT,
        "lines": [
            {"productId": tea["id"], "quantity": 3},
            {"productId": bread["id"], "quantity": 1, "lineDiscount": {"type": "percent", "bps": 1000}},
        ],
        "cartDiscount": {"type": "amount", "amount": 100},
    });
    let cart = kit.post(&admin, "/specials/preview", asked).await.data();
    let figures = |of: &Json| {
        ["listAmount", "specialDiscount", "lineDiscount", "cartDiscount", "totalAmount"]
            .map(|key| of[key].as_i64().expect("an amount"))
    };
    assert_eq!(figures(&cart), [3500, 1000, 50, 100, 2350]);
    assert_eq!(figures(&cart["lines"][0]), [3000, 1000, 0, 0, 2000], "a deal that takes no discount besides");
    assert_eq!(figures(&cart["lines"][1]), [500, 0, 50, 100, 350]);
    assert_eq!(cart["lines"][0]["specialDetails"][0]["text"], "Special BUNDLE: 3 for 20.00, saves 10.00");
    let needs: Vec<(&Json, &Json)> = cart["needs"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|need| {
            assert_eq!((&need["approvable"], &need["held"]), (&json!(true), &json!(true)));
            (&need["lineNo"], &need["deed"])
        })
        .collect();
    let (line, whole) = (json!(2), json!(null));
    assert_eq!(
        needs,
        [
            (&line, &json!("line_discount")),
            (&line, &json!("beyond_limit")),
            (&whole, &json!("cart_discount")),
            (&whole, &json!("beyond_limit")),
        ]
    );
}

#[tokio::test]
async fn what_a_till_would_refuse_of_a_cart_is_refused_by_its_field() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let tea = kit.product(&admin, "TEA", json!({})).await;
    let typed = kit.product(&admin, "TYPED", json!({"isOpenPrice": true, "price": 0})).await;
    let fixed = kit.product(&admin, "FIXED", json!({"allowDiscount": false})).await;
    let old = kit.product(&admin, "OLD", json!({"isActive": false})).await;
    let line = |product: &Json| json!({"productId": product["id"], "quantity": 1});
    let cut = |mut line: Json, discount: Json| {
        line["lineDiscount"] = discount;
        line
    };
    let percent = json!({"type": "percent", "bps": 1000});
    for (change, field) in [
        (json!({"lines": []}), "lines"),
        (json!({"lines": vec![line(&tea); 501]}), "lines"),
        (json!({"lines": [{"productId": Uuid::now_v7(), "quantity": 1}]}), "lines[0].productId"),
        (json!({"lines": [line(&typed)]}), "lines[0].productId"),
        (json!({"lines": [{"productId": tea["id"], "quantity": 1.5}]}), "lines[0].quantity"),
        (json!({"lines": [{"productId": tea["id"], "quantity": 0}]}), "lines[0].quantity"),
        (json!({"lines": [cut(line(&fixed), percent.clone())]}), "lines[0].lineDiscount"),
        (json!({"lines": [cut(line(&tea), json!({"type": "amount"}))]}), "lines[0].lineDiscount.amount"),
        (json!({"lines": [line(&fixed)], "cartDiscount": percent}), "cartDiscount"),
        (json!({"cartDiscount": {"type": "percent", "bps": 0}}), "cartDiscount.bps"),
        (json!({"customerId": Uuid::now_v7()}), "customerId"),
        (json!({"storeId": Uuid::now_v7()}), "storeId"),
        (json!({"payments": []}), "payments"),
    ] {
        let mut asked = json!({"storeId": one, "lines": [line(&tea)]});
        for (key, value) in change.as_object().expect("an object") {
            asked[key] = value.clone();
        }
        let got = kit.post(&admin, "/specials/preview", asked).await;
        got.is(422);
        got.names(field);
    }
    let asked = |store: Uuid, product: &Json| json!({"storeId": store, "lines": [line(product)]});
    kit.post(&admin, "/specials/preview", asked(one, &old)).await.refused(409, "product_inactive");
    let local = kit.person("local", &[("administrator", Some(two))]).await;
    kit.post(&local, "/specials/preview", asked(two, &tea)).await.is(200);
    kit.post(&local, "/specials/preview", asked(one, &tea)).await.refused(403, "scope");
    let cashier = kit.person("cashier", &[("cashier", Some(one))]).await;
    kit.post(&cashier, "/specials/preview", asked(one, &tea)).await.refused(403, "forbidden");
}
