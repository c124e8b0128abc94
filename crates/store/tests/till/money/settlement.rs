//! A customer pays what is owed: a document of no lines, which the drawer counts and no ticket is.

use serde_json::{Value as Json, json};
use tillkeep_storage::entity::sale;
use uuid::Uuid;

use super::{change_tender, close, document, queued, undo};
use crate::accounts::{bread, scene, used};
use crate::kit::{Person, Shop, id};

/// The customer of the scene pays this much of what is owed, with these payments.
fn pays(amount: i64, payments: &Json) -> Json {
    json!({
        "id": Uuid::now_v7(), "terminalId": "T1", "customerId": id("HQ-000010"),
        "settlement": {"amount": amount}, "payments": payments,
    })
}

fn cash() -> Json {
    json!([{"tenderId": id("CASH")}])
}

/// A customer who owes 10.00.
async fn owing() -> (Shop, Person) {
    let (shop, _) = scene().await;
    let person = shop.sign_in("administrator").await;
    person.post("/pos/sales", bread(4)).await.ok(201);
    (shop, person)
}

#[tokio::test]
async fn what_is_paid_is_owed_no_more_and_frees_the_limit() {
    let (shop, person) = owing().await;
    let request = pays(400, &json!([{"tenderId": id("CASH"), "tenderedAmount": 500}]));
    let paid = person.post("/pos/sales", request.clone()).await.ok(201);
    assert_eq!(
        (&paid["saleType"], &paid["totalAmount"], &paid["saleItems"], &paid["changeAmount"], &paid["prepaid"]),
        (&json!("settlement"), &json!(0), &json!([]), &json!(100), &json!(false))
    );
    let amounts: Vec<(&Json, &Json)> = paid["salePayments"]
        .as_array()
        .expect("payments")
        .iter()
        .map(|payment| (&payment["tenderKind"], &payment["amount"]))
        .collect();
    assert_eq!(amounts, [(&json!("cash"), &json!(400)), (&json!("on_account"), &json!(-400))]);
    assert!(paid["receiptNumber"].as_str().is_some_and(|number| number.starts_with("S01-01-")), "{paid}");
    assert_eq!(used(&shop).await, 600);
    assert_eq!(queued(&shop, &paid["id"]).await, ["create"]);
    // The limit of 10.00 has room for 4.00.
    let cashier = shop.sign_in("cashier").await;
    cashier.post("/pos/sales", bread(2)).await.refused(403, "credit_limit_exceeded");
    cashier.post("/pos/sales", bread(1)).await.ok(201);

    // Sent again it is paid once.
    assert_eq!(person.post("/pos/sales", request.clone()).await.ok(200), paid);
    for (key, value) in [
        ("settlement", json!({"amount": 401})),
        ("settlement", json!({"amount": 400, "prepay": true})),
        ("customerId", json!(id("HQ-000001"))),
        ("payments", json!([{"tenderId": id("CASH"), "tenderedAmount": 400}])),
        ("note", json!("another one")),
    ] {
        let mut other = request.clone();
        other[key] = value;
        person.post("/pos/sales", other).await.refused_at(409, "id_reused", "id");
    }
    let mut goods = bread(1);
    goods["id"] = request["id"].clone();
    person.post("/pos/sales", goods).await.refused_at(409, "id_reused", "id");
    assert_eq!(used(&shop).await, 850);
}

#[tokio::test]
async fn no_more_is_taken_than_is_owed_unless_it_is_meant() {
    let (shop, person) = owing().await;
    let refusal = person.post("/pos/sales", pays(1001, &cash())).await.refused(409, "not_owed");
    assert_eq!((&refusal["owed"], &refusal["details"][0]["field"]), (&json!(1000), &json!("settlement.amount")));
    let mut ahead = pays(1500, &cash());
    ahead["settlement"]["prepay"] = json!(true);
    let paid = person.post("/pos/sales", ahead).await.ok(201);
    assert_eq!((&paid["prepaid"], used(&shop).await), (&json!(true), -500));
    let refusal = person.post("/pos/sales", pays(1, &cash())).await.refused(409, "not_owed");
    assert_eq!(refusal["owed"], 0, "who paid ahead owes nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_tills_at_once_do_not_take_together_what_is_owed_once() {
    let (shop, person) = owing().await;
    let mut sent = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let person = person.clone();
        sent.spawn(async move { person.post("/pos/sales", pays(400, &cash())).await.status });
    }
    let mut statuses = sent.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 201, 409, 409, 409, 409, 409, 409]);
    assert_eq!(used(&shop).await, 200);
}

#[tokio::test]
async fn what_is_no_payment_of_what_is_owed_is_refused_by_its_field() {
    let (shop, person) = owing().await;
    for (key, value, field) in [
        ("lines", json!([{"productId": id("TEA"), "quantity": 1}]), "lines"),
        ("cartDiscount", json!({"type": "percent", "bps": 100}), "cartDiscount"),
        ("expectedTotal", json!(0), "expectedTotal"),
        ("customerId", Json::Null, "customerId"),
        ("customerId", json!(Uuid::now_v7()), "customerId"),
        ("settlement", json!({"amount": 0}), "settlement.amount"),
        ("settlement", json!({"amount": -1}), "settlement.amount"),
        ("settlement", json!({}), "settlement.amount"),
        ("settlement", json!({"amount": 1, "because": "x"}), "settlement.because"),
        ("salesRepId", json!(Uuid::now_v7()), "salesRepId"),
    ] {
        let mut request = pays(100, &cash());
        request[key] = value;
        person.post("/pos/sales", request).await.refused_at(422, "validation", field);
    }
    let mut nothing = pays(100, &cash());
    nothing.as_object_mut().expect("an object").remove("settlement");
    person.post("/pos/sales", nothing).await.refused_at(422, "validation", "lines");
    person.post("/pos/quote", pays(100, &cash())).await.refused_at(422, "validation", "settlement");
    // What is owed is not paid by owing it, nor by an exchange.
    for code in ["ACCOUNT", "EXCHANGE"] {
        person.post("/pos/sales", pays(100, &json!([{"tenderId": id(code)}]))).await.refused(422, "tender_rule");
    }
    person.post("/pos/sales", pays(100, &json!([]))).await.refused(422, "underpaid");
    change_tender(&shop, "ACCOUNT", |tender| tender.is_active = false).await;
    person.post("/pos/sales", pays(100, &cash())).await.refused_at(422, "tender_rule", "settlement");
    assert_eq!((used(&shop).await, shop.count::<sale::Entity>().await), (1000, 1));
}

#[tokio::test]
async fn the_z_report_counts_it_on_a_line_of_its_own_and_the_drawer_its_cash() {
    let (shop, person) = owing().await;
    let (one, other) = (pays(300, &cash()), pays(200, &json!([{"tenderId": id("CARD")}])));
    person.post("/pos/sales", one).await.ok(201);
    person.post("/pos/sales", other).await.ok(201);
    let undone = person.post("/pos/sales", pays(100, &cash())).await.ok(201);
    assert_eq!(used(&shop).await, 400);
    let voided = undo(&person, &undone, "the wrong customer").await.ok(200);
    assert_eq!((&voided["status"], used(&shop).await), (&json!("voided"), 500), "it is owed again");
    assert_eq!(document(&voided)["saleType"], "settlement");
    let closed = close(&person, 20_300).await;
    let totals = &closed["totals"];
    assert_eq!(totals["settlements"], json!({"count": 2, "amount": 500}));
    assert_eq!(
        (&totals["saleCount"], &totals["voidCount"], &totals["totalAmount"], &closed["cashVariance"]),
        (&json!(1), &json!(1), &json!(1000), &json!(0))
    );
    assert_eq!(closed["saleCount"], 4, "receipts of any kind");
    let tenders: Vec<(&Json, &Json)> = totals["tenders"]
        .as_array()
        .expect("tenders")
        .iter()
        .map(|tender| (&tender["tenderCode"], &tender["amount"]))
        .collect();
    // 10.00 were sold on the account, and 5.00 of it were paid.
    let expected = [("ACCOUNT", 500), ("CARD", 200), ("CASH", 300)].map(|(code, amount)| (json!(code), json!(amount)));
    assert_eq!(tenders, expected.iter().map(|(code, amount)| (code, amount)).collect::<Vec<_>>());
}

#[tokio::test]
async fn cash_is_rounded_and_what_is_owed_is_not() {
    let shop = Shop::open_with(|store| store.cash_rounding_increment = 5).await;
    let person = shop.selling().await;
    let mut sale = bread(1);
    sale["customerId"] = json!(id("HQ-000001"));
    person.post("/pos/sales", sale).await.ok(201);
    let mut request = pays(248, &cash());
    request["customerId"] = json!(id("HQ-000001"));
    let paid = person.post("/pos/sales", request).await.ok(201);
    assert_eq!(
        (&paid["cashRounding"], &paid["salePayments"][0]["amount"], &paid["salePayments"][1]["amount"]),
        (&json!(2), &json!(250), &json!(-248))
    );
    let mut rest = pays(2, &cash());
    rest["customerId"] = json!(id("HQ-000001"));
    let paid = person.post("/pos/sales", rest).await.ok(201);
    assert_eq!((&paid["cashRounding"], &paid["salePayments"][0]["amount"]), (&json!(-2), &json!(0)));
}
