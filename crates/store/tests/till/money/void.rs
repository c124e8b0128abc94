//! A sale of the open drawer is undone: as if it had not happened, but for its number.

use serde_json::{Value as Json, json};
use tillkeep_model::{Money, Qty};
use tillkeep_storage::accounts;
use tillkeep_storage::entity::{account_charge, customer, reason, register, sale};
use tillkeep_storage::sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};
use tillkeep_store::sync::{Cycle, Sender};
use uuid::Uuid;

use super::{change_tender, close, document, path, queued, undo};
use crate::accounts::{bread, ledger, scene, used};
use crate::kit::{Person, Shop, cart, id, line, people, rows};

const WHY: &str = "the wrong item";

fn tea(payments: Json) -> Json {
    cart(json!([line("TEA", 2)]), payments)
}

async fn sold(person: &Person) -> Json {
    person.post("/pos/sales", tea(json!([{"tenderId": id("CASH")}]))).await.ok(201)
}

#[tokio::test]
async fn goods_and_money_come_back_and_the_number_stays_used() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sale = sold(&person).await;
    assert_eq!(shop.level("TEA").await, Qty::pieces(8));
    let voided = undo(&person, &sale, WHY).await.ok(200);
    assert_eq!(
        (&voided["status"], &voided["voidReason"], &voided["voidedBy"], &voided["receiptNumber"]),
        (&json!("voided"), &json!(WHY), &json!(person.user_id), &sale["receiptNumber"])
    );
    assert_eq!(voided["checkedAtHq"], false, "there is no line");
    assert!(voided["voidedAt"].is_string() && voided["salePayments"][0]["status"] == "voided", "{voided}");
    // The figures of what was sold stay as they were printed.
    for key in ["totalAmount", "taxLines", "cashRounding"] {
        assert_eq!(voided[key], sale[key], "{key}");
    }
    assert_eq!(shop.level("TEA").await, Qty::pieces(10));
    let mut read = person.get(&format!("/pos/sales/{}", sale["id"].as_str().expect("an id"))).await.ok(200);
    read.as_object_mut().expect("a sale").remove("refunds");
    assert_eq!(read, document(&voided));
    assert_eq!(queued(&shop, &sale["id"]).await, ["create", "void"]);
    let lines = shop.audited("sale.void").await;
    assert_eq!(lines.len(), 1);
    assert_eq!((lines[0].user_id, lines[0].approver_id), (Some(person.user_id), None));
    let next = sold(&person).await;
    assert_ne!(next["receiptNumber"], sale["receiptNumber"]);

    // The drawer holds the money of the other sale alone.
    let paid = next["salePayments"][0]["amount"].as_i64().expect("an amount");
    let closed = close(&person, 20_000 + paid).await;
    let totals = &closed["totals"];
    assert_eq!((&totals["saleCount"], &totals["voidCount"], &totals["refundCount"]), (&json!(1), &json!(1), &json!(0)));
    assert_eq!((&totals["totalAmount"], &closed["cashVariance"]), (&next["totalAmount"], &json!(0)));
    assert_eq!(closed["saleCount"], 2, "both receipts were printed");
}

#[tokio::test]
async fn a_void_that_is_sent_again_is_the_same_one_and_another_reason_is_told_so() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sale = sold(&person).await;
    let first = undo(&person, &sale, WHY).await.ok(200);
    let again = undo(&person, &sale, WHY).await.ok(200);
    assert_eq!(document(&again), document(&first));
    assert_eq!(again["checkedAtHq"], Json::Null, "headquarters was asked the first time");
    undo(&person, &sale, "something else").await.refused_at(409, "already_voided", "reason");
    assert_eq!(shop.level("TEA").await, Qty::pieces(10), "the goods came back once");
    assert_eq!(queued(&shop, &sale["id"]).await, ["create", "void"]);
    assert_eq!(shop.audited("sale.void").await.len(), 1);
    // Whoever sends the sale itself again gets what became of it.
    assert_eq!(first["id"], sale["id"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_tills_that_undo_one_sale_at_once_one_does() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sale = sold(&person).await;
    let mut sent = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let (person, sale) = (person.clone(), sale.clone());
        sent.spawn(async move { undo(&person, &sale, WHY).await.status });
    }
    assert!(sent.join_all().await.iter().all(|status| *status == 200));
    assert_eq!((shop.level("TEA").await, shop.audited("sale.void").await.len()), (Qty::pieces(10), 1));
}

#[tokio::test]
async fn what_cannot_be_undone_is_refused_and_nothing_of_it_changes() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    shop.insert::<register::Entity>([rows::register("02", "T2")]).await;
    let sale = sold(&person).await;
    let act = path(&sale, "void");
    person.post(&act, json!({"terminalId": "T1"})).await.refused_at(422, "validation", "reason");
    person.post(&act, json!({"terminalId": "T1", "reason": " "})).await.refused_at(422, "validation", "reason");
    let coded = json!({"terminalId": "T1", "reasonCode": "no_such"});
    person.post(&act, coded).await.refused_at(422, "validation", "reasonCode");
    person.post(&act, json!({"reason": WHY, "why": "x"})).await.refused_at(422, "validation", "why");
    let elsewhere = format!("/pos/sales/{}/void", Uuid::now_v7());
    person.post(&elsewhere, json!({"reason": WHY})).await.refused(404, "sale_not_found");
    let beside = shop.sign_in_at("administrator", "T2").await;
    beside.post(&act, json!({"reason": WHY})).await.refused_at(409, "session_closed", "terminalId");
    // A till says its own terminal or none.
    person.post(&act, json!({"terminalId": "T2", "reason": WHY})).await.refused(403, "wrong_terminal");

    change_tender(&shop, "CASH", |tender| tender.is_voidable = false).await;
    let refusal = undo(&person, &sale, WHY).await.refused(409, "tender_not_voidable");
    assert_eq!(refusal["tenderCode"], "CASH");
    // A tender that is gone says so still, and one that is gone and may is taken back.
    change_tender(&shop, "CASH", |tender| tender.deleted_at = Some(rows::made())).await;
    undo(&person, &sale, WHY).await.refused(409, "tender_not_voidable");
    assert_eq!(queued(&shop, &sale["id"]).await, ["create"]);
    change_tender(&shop, "CASH", |tender| (tender.is_voidable, tender.deleted_at) = (true, None)).await;

    // Some of it was given back, though nothing of the sale says so.
    let refund = sale::Model {
        id: Uuid::now_v7(),
        store_id: shop.store.id,
        original_sale_id: sale["id"].as_str().and_then(|id| id.parse().ok()),
        receipt_number: "S01-01-000099".to_owned(),
        sale_type: "refund".to_owned(),
        status: "completed".to_owned(),
        ..sale::Model::default()
    };
    shop.insert::<sale::Entity>([refund.clone()]).await;
    let refusal = undo(&person, &sale, WHY).await.refused(409, "has_refunds");
    assert!(refusal["error"].as_str().expect("a text").contains("S01-01-000099"), "{refusal}");
    assert_eq!((shop.level("TEA").await, queued(&shop, &sale["id"]).await.len()), (Qty::pieces(8), 1));

    let of_drawer = sold(&person).await;
    let expected = 20_000 + 2 * of_drawer["totalAmount"].as_i64().expect("an amount");
    close(&person, expected).await;
    undo(&person, &of_drawer, WHY).await.refused(409, "session_closed");
    // The next drawer of the register is another one.
    person.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
    undo(&person, &of_drawer, WHY).await.refused(409, "session_closed");
    assert_eq!(queued(&shop, &of_drawer["id"]).await, ["create"]);
}

#[tokio::test]
async fn money_that_was_given_back_and_half_an_exchange_are_not_undone() {
    type Case = (fn(&mut sale::Model), &'static str);
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let cases: [Case; 4] = [
        (|row| row.sale_type = "refund".to_owned(), "not_refundable"),
        (|row| row.exchange_group_id = Some(Uuid::now_v7()), "part_of_exchange"),
        (|row| row.status = "partially_refunded".to_owned(), "has_refunds"),
        (|row| row.status = "refunded".to_owned(), "has_refunds"),
    ];
    for (change, code) in cases {
        let sale = sold(&person).await;
        let key: Uuid = sale["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
        let tx = shop.store.test_db().begin().await.expect("a transaction");
        let mut row = sale::Entity::find_by_id(key).one(&tx).await.expect("a read").expect("the sale");
        change(&mut row);
        sale::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
        tx.commit().await.expect("a commit");
        undo(&person, &sale, WHY).await.refused(409, code);
        assert_eq!(queued(&shop, &sale["id"]).await, ["create"], "{code}");
    }
}

#[tokio::test]
async fn a_cashier_undoes_a_sale_with_an_approval_of_that_very_sale() {
    let shop = Shop::open().await;
    shop.selling().await;
    let cashier = shop.sign_in("cashier").await;
    let (manager, pin) = people::person(&shop, "store_manager").await;
    let (sale, other) = (sold(&cashier).await, sold(&cashier).await);
    let refusal = undo(&cashier, &sale, WHY).await.refused(403, "approval_required");
    assert_eq!((&refusal["required"], &refusal["approvable"]), (&json!(["pos.void"]), &json!(true)));
    let approved = async |sale: &Json| {
        let context = json!({"saleId": sale["id"]});
        let body = json!({"permission": "pos.void", "pin": pin, "reason": WHY, "context": context});
        cashier.post("/pos/approvals", body).await.ok(201)["token"].clone()
    };
    let token = approved(&sale).await;
    let with = |token: &Json| json!({"reason": WHY, "approvals": [token]});
    cashier.post(&path(&other, "void"), with(&token)).await.refused(403, "approval_required");
    let voided = cashier.post(&path(&sale, "void"), with(&token)).await.ok(200);
    assert_eq!((&voided["status"], &voided["voidedBy"]), (&json!("voided"), &json!(cashier.user_id)));
    assert_eq!(shop.audited("sale.void").await[0].approver_id, Some(manager));
    // It is sent again with a token that is used up.
    assert_eq!(document(&cashier.post(&path(&sale, "void"), with(&token)).await.ok(200)), document(&voided));
    assert_eq!(shop.level("TEA").await, Qty::pieces(8), "the other one is as it was");
}

#[tokio::test]
async fn where_reasons_are_chosen_from_a_list_the_code_and_its_name_are_kept() {
    let shop = Shop::open_with(|store| store.reasons_required = true).await;
    let person = shop.selling().await;
    let reason = reason::Model {
        id: id("reason"),
        code: "wrong_item".into(),
        name: "Wrong item".into(),
        kind: "void".into(),
        is_active: true,
        ..reason::Model::default()
    };
    shop.insert::<reason::Entity>([reason]).await;
    let sale = sold(&person).await;
    undo(&person, &sale, WHY).await.refused_at(422, "validation", "reasonCode");
    let coded = json!({"reasonCode": "wrong_item"});
    let voided = person.post(&path(&sale, "void"), coded.clone()).await.ok(200);
    assert_eq!((&voided["voidReasonCode"], &voided["voidReason"]), (&json!("wrong_item"), &json!("Wrong item")));
    assert_eq!(document(&person.post(&path(&sale, "void"), coded).await.ok(200)), document(&voided));
}

#[tokio::test]
async fn a_sale_that_waits_for_headquarters_is_off_the_account_at_once() {
    let (shop, _) = scene().await;
    let person = shop.sign_in("administrator").await;
    let sale = person.post("/pos/sales", bread(3)).await.ok(201);
    assert_eq!(used(&shop).await, 750);
    undo(&person, &sale, WHY).await.ok(200);
    assert_eq!(used(&shop).await, 0);
    person.post("/pos/sales", bread(4)).await.ok(201);
    assert_eq!(used(&shop).await, 1000, "the limit is free again");
}

#[tokio::test]
async fn a_sale_that_the_balance_contains_is_taken_off_it() {
    let (shop, _) = scene().await;
    let person = shop.sign_in("administrator").await;
    let sale = person.post("/pos/sales", bread(3)).await.ok(201);
    // As a pull leaves it when headquarters has the sale.
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    account_charge::Entity::delete_many().exec(&tx).await.expect("a delete");
    let row = customer::Model { account_balance: Money(750), credit_limit: Money(1000), ..rows::customer("HQ-000010") };
    customer::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
    tx.commit().await.expect("a commit");
    assert_eq!(used(&shop).await, 750);
    undo(&person, &sale, WHY).await.ok(200);
    assert_eq!(used(&shop).await, 0);
    let account = accounts::at_store(shop.store.test_db().reader(), id("HQ-000010")).await.expect("a read");
    assert_eq!(account.expect("the customer").available(), Money(1000));
}

#[tokio::test]
async fn a_void_counts_once_at_every_moment_between_sale_and_balance() {
    for pulled_first in [false, true] {
        let (shop, _hq) = ledger(false).await;
        let person = shop.sign_in("administrator").await;
        let (mut sender, mut cycle) = (Sender::default(), Cycle::default());
        sender.step(&shop.store).await;
        if pulled_first {
            cycle.step(&shop.store).await;
        }
        let sales = sale::Entity::find().all(shop.store.test_db().reader()).await.expect("the sales");
        let sale = json!({"id": sales[0].id});
        assert_eq!(used(&shop).await, 500, "headquarters has the sale");
        undo(&person, &sale, WHY).await.ok(200);
        assert_eq!(used(&shop).await, 0, "{pulled_first}");
        cycle.step(&shop.store).await;
        assert_eq!(used(&shop).await, 0, "the balance contains the sale, and the void waits: {pulled_first}");
        sender.step(&shop.store).await;
        assert_eq!(used(&shop).await, 0, "the void is at headquarters: {pulled_first}");
        cycle.step(&shop.store).await;
        assert_eq!(used(&shop).await, 0, "the balance contains both: {pulled_first}");
        assert_eq!(shop.count::<account_charge::Entity>().await, 0, "{pulled_first}");
    }
}

#[tokio::test]
async fn headquarters_says_no_when_another_store_has_given_some_of_it_back() {
    let (shop, hq) = ledger(false).await;
    let person = shop.sign_in("administrator").await;
    Cycle::default().step(&shop.store).await;
    let sale = person.sell(json!([line("TEA", 2)])).await.ok(201);
    let says = |status: u16, body: Json| *hq.claims.lock().expect("not poisoned") = Some((status, body));
    says(409, json!({"success": false, "code": "over_refund", "error": "too much", "givenBack": [{"quantity": 1}]}));
    let refusal = undo(&person, &sale, WHY).await.refused(409, "has_refunds");
    assert_eq!(refusal["givenBack"], json!([{"quantity": 1}]));
    assert_eq!((shop.level("TEA").await, queued(&shop, &sale["id"]).await.len()), (Qty::pieces(8), 1));

    // What is claimed and not undone is given up.
    says(200, json!({"known": false, "givenBack": []}));
    person.post(&path(&sale, "void"), json!({"reason": WHY})).await.ok(200);
    let claimed = hq.claimed.lock().expect("not poisoned").clone();
    let of = format!("/sales/{}/claims", sale["id"].as_str().expect("an id"));
    assert_eq!(claimed, [of.clone(), of]);
    assert_eq!(queued(&shop, &sale["id"]).await, ["create", "void"]);
}

#[tokio::test]
async fn a_void_says_that_headquarters_has_looked() {
    let (shop, hq) = ledger(false).await;
    let person = shop.sign_in("administrator").await;
    Cycle::default().step(&shop.store).await;
    *hq.claims.lock().expect("not poisoned") = Some((200, json!({"known": true, "givenBack": []})));
    let sale = person.sell(json!([line("TEA", 1)])).await.ok(201);
    assert_eq!(undo(&person, &sale, WHY).await.ok(200)["checkedAtHq"], true);
    // An older release knows no claims.
    *hq.claims.lock().expect("not poisoned") = None;
    let sale = person.sell(json!([line("TEA", 1)])).await.ok(201);
    assert_eq!(undo(&person, &sale, WHY).await.ok(200)["checkedAtHq"], false);
}
