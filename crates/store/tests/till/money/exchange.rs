//! Goods come back and others are sold in one act: two documents, and one difference.

use serde_json::{Value as Json, json};
use tillkeep_model::Qty;
use tillkeep_storage::entity::sale;
use uuid::Uuid;

use super::{change_tender, close, queued, undo};
use crate::kit::{Person, Shop, cart, id, line, people};

const WHY: &str = "too hard";

/// A shop with an open drawer, and four loaves at 2.50 that were paid in cash.
async fn scene() -> (Shop, Person, Json) {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sold = person.sell(json!([line("BREAD", 4)])).await.ok(201);
    (shop, person, sold)
}

/// `loaves` come back against `lines`.
fn exchange(sold: &Json, loaves: i64, lines: &Json) -> Json {
    let item = json!({"saleItemId": sold["saleItems"][0]["id"], "quantity": loaves, "reason": WHY});
    json!({
        "terminalId": "T1",
        "refund": {"id": Uuid::now_v7(), "saleId": sold["id"], "items": [item]},
        "sale": {"id": Uuid::now_v7(), "lines": lines},
    })
}

/// With payments of the difference.
fn paid(mut exchange: Json, payments: Json) -> Json {
    exchange["payments"] = payments;
    exchange
}

fn cash() -> Json {
    json!([{"tenderId": id("CASH")}])
}

/// Flowers at a price that is typed in.
fn flowers(price: i64) -> Json {
    let mut line = line("FLOWERS", 1);
    line["openPrice"] = json!(price);
    line
}

/// Tender and amount of each payment.
fn payments(document: &Json) -> Vec<(String, i64)> {
    let rows = document["salePayments"].as_array().expect("payments").iter();
    rows.map(|row| (row["tenderCode"].as_str().expect("a code").to_owned(), row["amount"].as_i64().expect("an amount")))
        .collect()
}

fn named(amounts: &[(&str, i64)]) -> Vec<(String, i64)> {
    amounts.iter().map(|(code, amount)| ((*code).to_owned(), *amount)).collect()
}

#[tokio::test]
async fn the_customer_pays_what_the_new_goods_cost_more() {
    let (shop, person, sold) = scene().await;
    let done = person.post("/pos/exchanges", paid(exchange(&sold, 2, &json!([line("TEA", 1)])), cash())).await.ok(201);
    let (refund, sale) = (&done["refund"], &done["sale"]);
    let total = sale["totalAmount"].as_i64().expect("a total");
    assert_eq!((&refund["totalAmount"], &refund["saleType"]), (&json!(-500), &json!("refund")));
    assert_eq!(payments(refund), named(&[("EXCHANGE", -500)]));
    assert_eq!(payments(sale), named(&[("EXCHANGE", 500), ("CASH", total - 500)]));
    assert_eq!(
        (&refund["exchangeGroupId"], &sale["exchangeGroupId"]),
        (&done["exchangeGroupId"], &done["exchangeGroupId"])
    );
    assert_eq!((&refund["originalSaleId"], &sale["originalSaleId"]), (&sold["id"], &Json::Null));
    assert_eq!((&done["checkedAtHq"], &sale["saleType"]), (&json!(false), &json!("sale")));
    // One number after the other.
    let number = |document: &Json| -> i64 {
        let text = document["receiptNumber"].as_str().expect("a number");
        text.rsplit('-').next().expect("digits").parse().expect("a number")
    };
    assert_eq!((number(refund), number(sale)), (number(&sold) + 1, number(&sold) + 2));
    assert_eq!((shop.level("BREAD").await, shop.level("TEA").await), (Qty::pieces(8), Qty::pieces(9)));
    for (document, actions) in [(refund, &["create"][..]), (sale, &["create"]), (&sold, &["create", "update"])] {
        assert_eq!(queued(&shop, &document["id"]).await, actions);
    }
    let lines = shop.audited("sale.exchange").await;
    assert_eq!((lines.len(), lines[0].entity_id.as_deref()), (1, sale["id"].as_str()));
    let original = person.get(&format!("/pos/sales/{}", sold["id"].as_str().expect("an id"))).await.ok(200);
    assert_eq!(
        (&original["status"], &original["saleItems"][0]["refundedQuantity"], &original["refundedAmount"]),
        (&json!("partially_refunded"), &json!(2), &json!(500))
    );
}

#[tokio::test]
async fn what_the_new_goods_cost_less_is_given_back_and_like_for_like_moves_no_money() {
    let (shop, person, sold) = scene().await;
    let cheaper = paid(exchange(&sold, 2, &json!([line("BREAD", 1)])), cash());
    let done = person.post("/pos/exchanges", cheaper).await.ok(201);
    assert_eq!(payments(&done["refund"]), named(&[("EXCHANGE", -250), ("CASH", -250)]));
    assert_eq!(payments(&done["sale"]), named(&[("EXCHANGE", 250)]));
    // Without a word on it, it goes back to what paid.
    let unsaid = person.post("/pos/exchanges", exchange(&sold, 1, &json!([flowers(100)]))).await.ok(201);
    assert_eq!(payments(&unsaid["refund"]), named(&[("EXCHANGE", -100), ("CASH", -150)]));
    let same = person.post("/pos/exchanges", exchange(&sold, 1, &json!([line("BREAD", 1)]))).await.ok(201);
    assert_eq!(payments(&same["refund"]), named(&[("EXCHANGE", -250)]));
    assert_eq!(payments(&same["sale"]), named(&[("EXCHANGE", 250)]));
    // Four were sold, four came back, two went out.
    assert_eq!(shop.level("BREAD").await, Qty::pieces(8));
    let none_left = exchange(&sold, 1, &json!([line("BREAD", 1)]));
    person.post("/pos/exchanges", none_left).await.refused_at(409, "over_refund", "refund.items[0].quantity");

    // The drawer saw 10.00 come and 4.00 go.
    let closed = close(&person, 20_600).await;
    let totals = &closed["totals"];
    assert_eq!((&closed["cashVariance"], &closed["saleCount"]), (&json!(0), &json!(7)));
    assert_eq!((&totals["saleCount"], &totals["refundCount"]), (&json!(4), &json!(3)));
    let tenders = totals["tenders"].as_array().expect("tenders");
    let exchanged = tenders.iter().find(|tender| tender["tenderCode"] == "EXCHANGE").expect("the exchanges");
    assert_eq!(exchanged["amount"], 0, "both halves settle each other");
    assert_eq!(totals["totalAmount"], 600);
}

#[tokio::test]
async fn the_difference_alone_is_rounded_to_coins_and_gives_change() {
    let shop = Shop::open_with(|store| store.cash_rounding_increment = 5).await;
    let person = shop.selling().await;
    let sold = person.sell(json!([line("BREAD", 4)])).await.ok(201);
    let dearer =
        paid(exchange(&sold, 1, &json!([flowers(498)])), json!([{"tenderId": id("CASH"), "tenderedAmount": 1000}]));
    let done = person.post("/pos/exchanges", dearer).await.ok(201);
    assert_eq!(payments(&done["sale"]), named(&[("EXCHANGE", 250), ("CASH", 250)]));
    assert_eq!(
        (&done["sale"]["cashRounding"], &done["sale"]["changeAmount"], &done["refund"]["cashRounding"]),
        (&json!(2), &json!(750), &json!(0))
    );
    let cheaper = paid(exchange(&sold, 2, &json!([flowers(252)])), cash());
    let done = person.post("/pos/exchanges", cheaper).await.ok(201);
    assert_eq!(payments(&done["refund"]), named(&[("EXCHANGE", -252), ("CASH", -250)]));
    assert_eq!((&done["refund"]["cashRounding"], &done["sale"]["cashRounding"]), (&json!(-2), &json!(0)));
}

#[tokio::test]
async fn sent_again_it_is_the_same_one_and_with_one_of_its_ids_changed_another() {
    let (shop, person, sold) = scene().await;
    let request = paid(exchange(&sold, 1, &json!([line("BREAD", 2)])), cash());
    let done = person.post("/pos/exchanges", request.clone()).await.ok(201);
    let again = person.post("/pos/exchanges", request.clone()).await.ok(200);
    assert_eq!(
        (&again["refund"], &again["sale"], &again["exchangeGroupId"]),
        (&done["refund"], &done["sale"], &done["exchangeGroupId"])
    );
    let other = |change: fn(&mut Json)| {
        let mut request = request.clone();
        change(&mut request);
        request
    };
    for (request, field) in [
        (other(|body| body["sale"]["id"] = json!(Uuid::now_v7())), "refund.id"),
        (other(|body| body["refund"]["id"] = json!(Uuid::now_v7())), "sale.id"),
        (other(|body| body["refund"]["items"][0]["quantity"] = json!(2)), "refund.id"),
        (other(|body| body["refund"]["items"][0]["restock"] = json!(false)), "refund.id"),
        (other(|body| body["sale"]["lines"][0]["quantity"] = json!(3)), "refund.id"),
        (other(|body| body["payments"][0]["tenderedAmount"] = json!(1000)), "refund.id"),
    ] {
        person.post("/pos/exchanges", request).await.refused_at(409, "id_reused", field);
    }
    // Neither half is a document of its own.
    let mut alone = cart(json!([line("BREAD", 2)]), json!([]));
    alone["id"] = request["sale"]["id"].clone();
    person.post("/pos/sales", alone).await.refused_at(409, "id_reused", "id");
    assert_eq!(shop.count::<sale::Entity>().await, 3);
    for half in ["refund", "sale"] {
        let code = if half == "sale" { "part_of_exchange" } else { "not_refundable" };
        undo(&person, &done[half], WHY).await.refused(409, code);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_the_same_exchange_sent_at_once_there_is_one() {
    let (shop, person, sold) = scene().await;
    let request = paid(exchange(&sold, 4, &json!([line("BREAD", 2)])), cash());
    let mut sent = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (person, request) = (person.clone(), request.clone());
        sent.spawn(async move { person.post("/pos/exchanges", request).await.status });
    }
    let mut statuses = sent.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses, [[200; 7].as_slice(), &[201]].concat());
    assert_eq!((shop.count::<sale::Entity>().await, shop.level("BREAD").await), (3, Qty::pieces(8)));
}

#[tokio::test]
async fn what_is_wrong_with_either_half_is_refused_by_its_field_and_nothing_is_booked() {
    type Case = (fn(&mut Json), u16, &'static str, &'static str);
    let (shop, person, sold) = scene().await;
    let good = paid(exchange(&sold, 1, &json!([line("BREAD", 2)])), cash());
    let cases: [Case; 15] = [
        (|body| body["refund"]["id"] = Json::Null, 422, "validation", "refund.id"),
        (|body| body["sale"]["id"] = Json::Null, 422, "validation", "sale.id"),
        (|body| body["sale"]["id"] = body["refund"]["id"].clone(), 422, "validation", "sale.id"),
        (|body| body["sale"]["payments"] = cash(), 422, "validation", "sale.payments"),
        (|body| body["sale"]["terminalId"] = json!("T1"), 422, "validation", "sale.terminalId"),
        (|body| body["sale"]["lines"] = json!([]), 422, "validation", "sale.lines"),
        (|body| body["sale"]["lines"][0]["quantity"] = json!(1.5), 422, "validation", "sale.lines[0].quantity"),
        (|body| body["refund"]["items"] = json!([]), 422, "validation", "refund.items"),
        (
            |body| body["refund"]["items"][0]["saleItemId"] = json!(Uuid::now_v7()),
            422,
            "validation",
            "refund.items[0].saleItemId",
        ),
        (|body| body["refund"]["items"][0]["quantity"] = json!(5), 409, "over_refund", "refund.items[0].quantity"),
        (|body| body["refund"]["expectedTotal"] = json!(251), 422, "refund_amount_mismatch", "refund.expectedTotal"),
        (|body| body["sale"]["expectedTotal"] = json!(501), 409, "total_mismatch", "sale.expectedTotal"),
        (|body| body["payments"] = json!([]), 422, "underpaid", "payments"),
        (|body| body["payments"][0]["tenderId"] = json!(id("EXCHANGE")), 422, "tender_rule", "payments[0].tenderId"),
        (|body| body["payments"][0]["tenderedAmount"] = json!(249), 422, "underpaid", "payments"),
    ];
    for (change, status, code, field) in cases {
        let mut body = good.clone();
        change(&mut body);
        person.post("/pos/exchanges", body).await.refused_at(status, code, field);
    }
    let mut unknown = good.clone();
    unknown["refund"]["saleId"] = json!(Uuid::now_v7());
    person.post("/pos/exchanges", unknown).await.refused(503, "hq_unreachable");
    change_tender(&shop, "EXCHANGE", |tender| tender.is_active = false).await;
    person.post("/pos/exchanges", good.clone()).await.refused(409, "no_exchange_tender");
    assert_eq!((shop.count::<sale::Entity>().await, shop.level("BREAD").await), (1, Qty::pieces(6)));
    change_tender(&shop, "EXCHANGE", |tender| tender.is_active = true).await;
    person.post("/pos/exchanges", good).await.ok(201);
}

#[tokio::test]
async fn a_cashier_exchanges_with_an_approval_of_what_comes_back() {
    let (shop, _, sold) = scene().await;
    shop.change_product("BREAD", |row| row.is_returnable = true).await;
    let cashier = shop.sign_in("cashier").await;
    let (manager, pin) = people::person(&shop, "store_manager").await;
    let request = paid(exchange(&sold, 1, &json!([line("BREAD", 2)])), cash());
    let refusal = cashier.post("/pos/exchanges", request.clone()).await.refused(403, "approval_required");
    assert_eq!((&refusal["required"], &refusal["approvable"]), (&json!(["pos.refund"]), &json!(true)));
    let asked = json!({
        "permission": "pos.refund", "pin": pin, "reason": WHY, "context": {"refundHash": refusal["refundHash"]},
    });
    let token = cashier.post("/pos/approvals", asked).await.ok(201)["token"].clone();
    let with = |mut request: Json| {
        request["approvals"] = json!([token]);
        request
    };
    // Of one loaf, not of two.
    let more = paid(exchange(&sold, 2, &json!([line("BREAD", 2)])), cash());
    cashier.post("/pos/exchanges", with(more)).await.refused(403, "approval_required");
    let done = cashier.post("/pos/exchanges", with(request)).await.ok(201);
    assert_eq!(done["refund"]["approvals"][0]["approverId"], json!(manager));
    assert_eq!(done["sale"]["approvals"], json!([]));
}
