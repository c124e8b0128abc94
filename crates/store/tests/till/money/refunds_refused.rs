//! What does not come back, each with its code, its field and the remedy; and that nothing of a refused refund happened.

use serde_json::{Value as Json, json};
use tillkeep_model::Qty;
use tillkeep_storage::entity::{register, sale};
use uuid::Uuid;

use super::refunds::{WHY, by, give_back, item, read, refund};
use super::{change_tender, close, document, path, queued, undo};
use crate::kit::{Shop, cart, id, line, rows};

#[tokio::test]
async fn never_more_than_was_sold_comes_back_and_the_line_and_what_is_left_are_named() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sale = person.sell(json!([line("BREAD", 1), line("TEA", 3)])).await.ok(201);
    give_back(&person, &sale, json!([item(&sale, 1, 2)])).await.ok(201);
    let refusal =
        give_back(&person, &sale, json!([item(&sale, 0, 1), item(&sale, 1, 2)])).await.refused(409, "over_refund");
    assert_eq!(refusal["details"][0]["field"], "items[1].quantity", "{refusal}");
    assert_eq!((&refusal["lineNo"], &refusal["refundableQuantity"]), (&json!(2), &json!(1)));
    assert_eq!(refusal["saleItemId"], sale["saleItems"][1]["id"]);
    assert_eq!((shop.level("BREAD").await, shop.level("TEA").await), (Qty::pieces(9), Qty::pieces(9)));
    give_back(&person, &sale, json!([item(&sale, 0, 1), item(&sale, 1, 1)])).await.ok(201);
    give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.refused(409, "over_refund");
    assert_eq!(read(&person, &sale).await["status"], "refunded");
}

#[tokio::test]
async fn what_is_asked_wrongly_is_refused_by_its_field() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sale = person.sell(json!([line("TEA", 2)])).await.ok(201);
    let to = path(&sale, "refunds");
    let good = || refund(json!([item(&sale, 0, 1)]));
    let wrong = |change: &dyn Fn(&mut Json)| {
        let mut asked = good();
        change(&mut asked);
        asked
    };
    let stranger = json!({"saleItemId": Uuid::now_v7(), "quantity": 1});
    for (asked, field) in [
        (wrong(&|asked| asked["id"] = Json::Null), "id"),
        (wrong(&|asked| asked["items"] = json!([])), "items"),
        (wrong(&|asked| asked["items"][0]["quantity"] = json!(0)), "items[0].quantity"),
        (wrong(&|asked| asked["items"][0]["quantity"] = json!(-1)), "items[0].quantity"),
        (wrong(&|asked| asked["items"][0]["quantity"] = json!(0.5)), "items[0].quantity"),
        (wrong(&|asked| asked["items"] = json!([stranger])), "items[0].saleItemId"),
        (wrong(&|asked| asked["items"] = json!([item(&sale, 0, 1), item(&sale, 0, 1)])), "items[1].saleItemId"),
        (wrong(&|asked| asked["reason"] = json!(" ")), "items[0].reason"),
        (wrong(&|asked| asked["items"][0]["reasonCode"] = json!("no_such")), "items[0].reasonCode"),
        (wrong(&|asked| asked["payments"] = json!([{"tenderId": Uuid::now_v7()}])), "payments[0].tenderId"),
        (wrong(&|asked| asked["payments"] = json!([{"tenderId": id("CASH"), "amount": -5}])), "payments[0].amount"),
        (wrong(&|asked| asked["lastReceipt"] = json!("nothing")), "lastReceipt"),
    ] {
        person.post(&to, asked).await.refused_at(422, "validation", field);
    }
    let exchange = wrong(&|asked| asked["payments"] = json!([{"tenderId": id("EXCHANGE")}]));
    person.post(&to, exchange).await.refused_at(422, "tender_rule", "payments[0].tenderId");
    assert_eq!(queued(&shop, &sale["id"]).await, ["create"]);
    person.post(&to, good()).await.ok(201);
}

#[tokio::test]
async fn another_amount_than_the_customer_was_told_is_refused() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sale = person.sell(json!([line("TEA", 1)])).await.ok(201);
    let to = path(&sale, "refunds");
    let mut asked = refund(json!([item(&sale, 0, 1)]));
    asked["expectedTotal"] = json!(2000);
    let refusal = person.post(&to, asked.clone()).await.refused(422, "refund_amount_mismatch");
    assert_eq!((&refusal["totalAmount"], &refusal["details"][0]["field"]), (&json!(2176), &json!("expectedTotal")));
    asked["expectedTotal"] = json!(2176);
    for amount in [2000, 3000] {
        asked["payments"] = json!([{"tenderId": id("CASH"), "amount": amount}]);
        person.post(&to, asked.clone()).await.refused(422, "refund_amount_mismatch");
    }
    asked["payments"] = json!([]);
    person.post(&to, asked.clone()).await.refused_at(422, "refund_amount_mismatch", "payments");
    asked["payments"] = json!([{"tenderId": id("CASH"), "amount": 2176}]);
    person.post(&to, asked).await.ok(201);
}

#[tokio::test]
async fn of_what_was_voided_or_gives_money_back_itself_nothing_comes_back() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let voided = person.sell(json!([line("TEA", 1)])).await.ok(201);
    undo(&person, &voided, WHY).await.ok(200);
    let sale = person.sell(json!([line("TEA", 1)])).await.ok(201);
    let back = give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.ok(201);
    for (of, code) in [(&voided, "sale_voided"), (&back, "not_refundable")] {
        give_back(&person, of, json!([item(of, 0, 1)])).await.refused(409, code);
        person.get(&path(of, "refundable")).await.refused(409, code);
    }
    // A sale that came back in part is not voided any more.
    undo(&person, &sale, WHY).await.refused(409, "has_refunds");
}

#[tokio::test]
async fn without_an_open_drawer_nothing_comes_back_and_at_another_till_it_does() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    shop.insert::<register::Entity>([rows::register("02", "T2")]).await;
    let sale = person.sell(json!([line("TEA", 2)])).await.ok(201);
    let beside = shop.sign_in_at("administrator", "T2").await;
    let mut asked = refund(json!([item(&sale, 0, 1)]));
    asked["terminalId"] = json!("T2");
    beside.post(&path(&sale, "refunds"), asked.clone()).await.refused_at(409, "session_closed", "terminalId");
    person.post(&path(&sale, "refunds"), asked.clone()).await.refused(403, "wrong_terminal");
    beside.post(&format!("/registers/{}/open", id("register 02")), json!({})).await.ok(201);
    let back = beside.post(&path(&sale, "refunds"), asked).await.ok(201);
    assert_eq!((&back["registerCode"], &back["receiptNumber"]), (&json!("02"), &json!("S01-02-000001")));

    // In the next drawer of the register it comes back as well: the Z report of the sale's own is printed.
    let paid = sale["totalAmount"].as_i64().expect("an amount");
    close(&person, 20_000 + paid).await;
    give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.refused_at(409, "session_closed", "terminalId");
    person.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
    let back = give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.ok(201);
    let closed = close(&person, 20_000 + back["totalAmount"].as_i64().expect("an amount")).await;
    assert_eq!((&closed["cashVariance"], &closed["totals"]["refundCount"]), (&json!(0), &json!(1)));
}

#[tokio::test]
async fn a_tender_that_is_not_given_back_to_is_refused() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sold = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CARD")}]));
    let sale = person.post("/pos/sales", sold).await.ok(201);
    change_tender(&shop, "CARD", |tender| tender.is_refundable = false).await;
    let items = json!([item(&sale, 0, 1)]);
    give_back(&person, &sale, items.clone()).await.refused_at(409, "tender_not_refundable", "payments[0]");
    person.post(&path(&sale, "refunds"), by("CARD", items.clone())).await.refused(409, "tender_not_refundable");
    person.post(&path(&sale, "refunds"), by("CASH", items)).await.ok(201);
}

#[tokio::test]
async fn another_currency_than_the_store_has_is_not_paid_out() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sale = person.sell(json!([line("TEA", 1)])).await.ok(201);
    shop.change_store(|own| own.currency_code = "EUR".to_owned()).await;
    give_back(&person, &sale, json!([item(&sale, 0, 1)])).await.refused(409, "not_refundable");
}

#[tokio::test]
async fn the_same_request_again_is_the_same_refund_and_anything_else_another_one() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sale = person.sell(json!([line("TEA", 3)])).await.ok(201);
    let to = path(&sale, "refunds");
    let asked = refund(json!([item(&sale, 0, 1)]));
    let first = person.post(&to, asked.clone()).await.ok(201);
    let again = person.post(&to, asked.clone()).await.ok(200);
    assert_eq!(document(&again), document(&first));
    assert_eq!(again["checkedAtHq"], Json::Null);
    let change = |key: &str, value: Json| {
        let mut other = asked.clone();
        other[key] = value;
        other
    };
    let mut kept = item(&sale, 0, 1);
    kept["restock"] = json!(false);
    for other in [
        change("items", json!([item(&sale, 0, 2)])),
        change("items", json!([kept])),
        change("reason", json!("another one")),
        change("note", json!("a note")),
        change("payments", json!([{"tenderId": id("CARD")}])),
        change("expectedTotal", json!(1)),
    ] {
        person.post(&to, other).await.refused_at(409, "id_reused", "id");
    }
    // Whoever else asks asks for another one.
    let other = shop.sign_in("administrator").await;
    other.post(&to, asked.clone()).await.refused_at(409, "id_reused", "id");
    let second = person.sell(json!([line("TEA", 1)])).await.ok(201);
    person.post(&path(&second, "refunds"), asked.clone()).await.refused_at(409, "id_reused", "id");
    let taken = change("id", sale["id"].clone());
    person.post(&to, taken).await.refused_at(409, "id_reused", "id");
    assert_eq!(shop.level("TEA").await, Qty::pieces(7));

    // Two equal refunds under two ids are two.
    let mut twin = asked;
    twin["id"] = json!(Uuid::now_v7());
    person.post(&to, twin).await.ok(201);
    assert_eq!((shop.level("TEA").await, shop.count::<sale::Entity>().await), (Qty::pieces(8), 4));
}
