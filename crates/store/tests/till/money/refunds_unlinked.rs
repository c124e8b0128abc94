//! Money back without a receipt: where the store allows it, up to its limit, and approved as a whole.

use serde_json::{Value as Json, json};
use tillkeep_model::{Money, Qty};
use tillkeep_storage::entity::store;
use uuid::Uuid;

use super::document;
use crate::kit::{Person, Reply, Shop, id, line, people};

fn refund(items: Json) -> Json {
    let mut refund = json!({"id": Uuid::now_v7(), "terminalId": "T1", "reason": "too small"});
    refund["items"] = items;
    refund["payments"] = json!([{"tenderId": id("CASH")}]);
    refund
}

async fn ask(person: &Person, refund: &Json) -> Reply {
    person.post("/pos/refunds", refund.clone()).await
}

fn allows(own: &mut store::Model) {
    (own.allow_unlinked_refunds, own.unlinked_refund_limit) = (true, Money(5000));
}

#[tokio::test]
async fn a_store_that_does_not_allow_it_says_so() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    ask(&person, &refund(json!([line("TEA", 1)]))).await.refused(403, "unlinked_refund_disabled");
}

#[tokio::test]
async fn it_costs_what_the_shelf_says_with_the_taxes_of_today() {
    let shop = Shop::open_with(allows).await;
    let person = shop.selling().await;
    let mut kept = line("BREAD", 2);
    kept["restock"] = json!(false);
    let asked = refund(json!([line("TEA", 1), kept]));
    let back = ask(&person, &asked).await.ok(201);
    let (tea, bread) = (&back["saleItems"][0], &back["saleItems"][1]);
    assert_eq!(
        (&tea["unitPrice"], &tea["taxAmount"], &tea["totalAmount"]),
        (&json!(1999), &json!(-177), &json!(-2176))
    );
    assert_eq!((&bread["unitPrice"], &bread["priceSource"]), (&json!(250), &json!("store")));
    assert_eq!((&back["totalAmount"], &back["salePayments"][0]["amount"]), (&json!(-2676), &json!(-2676)));
    assert_eq!((&back["saleType"], &back["originalSaleId"]), (&json!("refund"), &Json::Null));
    assert_eq!(back["taxLines"][0]["taxAmount"], -177);
    assert_eq!((&tea["unitCost"], &tea["costAmount"]), (&json!(999), &json!(-999)));
    assert_eq!((shop.level("TEA").await, shop.level("BREAD").await), (Qty::pieces(11), Qty::pieces(10)));
    assert_eq!(shop.audited("sale.refund").await.len(), 1);
    assert_eq!(back["checkedAtHq"], Json::Null);
    let again = ask(&person, &asked).await.ok(200);
    assert_eq!(document(&again), document(&back));
    let mut other = asked;
    other["items"][0]["quantity"] = json!(2);
    ask(&person, &other).await.refused_at(409, "id_reused", "id");
}

#[tokio::test]
async fn a_price_that_was_paid_is_typed_in() {
    let shop = Shop::open_with(allows).await;
    let person = shop.selling().await;
    let mut tea = line("TEA", 1);
    tea["unitPrice"] = json!(1000);
    let mut flowers = line("FLOWERS", 1);
    ask(&person, &refund(json!([flowers]))).await.refused_at(422, "validation", "items[0].unitPrice");
    flowers["unitPrice"] = json!(700);
    let back = ask(&person, &refund(json!([tea, flowers]))).await.ok(201);
    assert_eq!((&back["saleItems"][0]["netAmount"], &back["saleItems"][1]["netAmount"]), (&json!(-1000), &json!(-700)));
    for (items, field) in [
        (json!([{"productId": Uuid::now_v7(), "quantity": 1}]), "items[0].productId"),
        (json!([line("TEA", 0.5)]), "items[0].quantity"),
    ] {
        ask(&person, &refund(items)).await.refused_at(422, "validation", field);
    }
    ask(&person, &refund(json!([line("GONE", 1)]))).await.refused_at(409, "product_inactive", "items[0].productId");
    let mut unpaid = refund(json!([line("TEA", 1)]));
    unpaid.as_object_mut().expect("a refund").remove("payments");
    ask(&person, &unpaid).await.refused_at(422, "refund_amount_mismatch", "payments");
}

#[tokio::test]
async fn who_pays_no_taxes_gets_none_back() {
    let shop = Shop::open_with(allows).await;
    let person = shop.selling().await;
    let mut asked = refund(json!([line("TEA", 1)]));
    asked["customerId"] = json!(id("HQ-000002"));
    let back = ask(&person, &asked).await.ok(201);
    assert_eq!(
        (&back["totalAmount"], &back["taxExempt"], &back["customerName"]),
        (&json!(-1999), &json!(true), &json!("City School"))
    );
}

#[tokio::test]
async fn a_manager_approves_all_that_was_sent_and_above_the_limit_twice() {
    let shop = Shop::open_with(allows).await;
    shop.selling().await;
    let cashier = shop.sign_in("cashier").await;
    let manager = people::person(&shop, "store_manager").await;
    let token = async |permission: &str, refusal: &Json| {
        let context = json!({"refundHash": refusal["refundHash"]});
        let asked = json!({"permission": permission, "pin": manager.1, "reason": "a regular", "context": context});
        cashier.post("/pos/approvals", asked).await.ok(201)["token"].clone()
    };
    let asked = refund(json!([line("TEA", 2)]));
    let refusal = ask(&cashier, &asked).await.refused(403, "approval_required");
    assert_eq!((&refusal["required"], &refusal["approvable"]), (&json!(["pos.refund"]), &json!(true)));
    let yes = token("pos.refund", &refusal).await;
    let mut other = asked.clone();
    other["approvals"] = json!([yes]);
    let approved = other.clone();
    other["note"] = json!("for a friend");
    ask(&cashier, &other).await.refused(403, "approval_required");
    other = approved.clone();
    other["items"][0]["unitPrice"] = json!(2000);
    ask(&cashier, &other).await.refused(403, "approval_required");
    ask(&cashier, &approved).await.ok(201);

    let large = refund(json!([line("TEA", 3)]));
    let refusal = ask(&cashier, &large).await.refused(403, "approval_required");
    assert_eq!(refusal["required"], json!(["pos.discount.override_max", "pos.refund"]));
    let tokens = [token("pos.refund", &refusal).await, token("pos.discount.override_max", &refusal).await];
    let mut approved = large;
    approved["approvals"] = json!(tokens);
    let back = ask(&cashier, &approved).await.ok(201);
    assert_eq!(back["approvals"].as_array().map(Vec::len), Some(2));
}
