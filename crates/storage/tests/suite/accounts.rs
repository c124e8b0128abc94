//! What customers owe: moved once by each sale on account, and reckoned by a store with what it has sold since.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use tillkeep_model::Money;
use tillkeep_model::wire::Applied;
use tillkeep_storage::entity::{customer, sale as sale_row};
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::registry::Waiting;
use tillkeep_storage::verify::{self, Options, Source};
use tillkeep_storage::{Side, accounts, outbox};
use tokio::sync::Barrier;
use uuid::Uuid;

use crate::kit::chain::{Chain, id, sender};
use crate::kit::envelopes::{customer as new_customer, envelope, push, sale, take};
use crate::kit::{self, Hq, Shop, at};

/// A tea at 19.99, of which `amount` goes on the account of `customer` and the rest is paid in cash.
fn on_account(sender: &Sender, name: &str, customer: &str, amount: i64, tea: Uuid) -> Json {
    let id = id(name);
    let mut data = sale(sender, id, &[(tea, 1)]);
    data["customerId"] = json!(self::id(customer));
    data["salePayments"][0]["amount"] = json!(1999 - amount);
    let payment = json!({
        "id": Uuid::new_v5(&id, b"account"), "lineNo": 2, "tenderCode": "ACCT", "tenderKind": "on_account",
        "amount": amount, "status": "captured",
    });
    data["salePayments"].as_array_mut().expect("payments").push(payment);
    envelope(sender, "sales", id, "create", &data, at(0))
}

fn voided(create: &Json) -> Json {
    let mut void = create.clone();
    void["action"] = json!("void");
    void["timestamp"] = json!(at(60));
    void["data"]["status"] = json!("voided");
    void["data"]["salePayments"][0]["status"] = json!("voided");
    void["data"]["salePayments"][1]["status"] = json!("voided");
    void
}

fn person(name: &str) -> customer::Model {
    customer::Model {
        id: id(name),
        customer_number: format!("HQ-{name}"),
        credit_limit: Money(5000),
        is_active: true,
        synced: true,
        created_at: at(-60),
        updated_at: at(-60),
        ..customer::Model::default()
    }
}

async fn balance(hq: &Hq, customer: &str) -> (i64, i64) {
    let row = hq.row::<customer::Entity>(id(customer)).await.expect("the customer");
    (row.account_balance.0, row.sync_version)
}

/// Versions, levels, and balances by the checker.
async fn sound(hq: &Hq) {
    hq.verify().await;
    let source = Source::new(hq.db.reader(), Side::Hq).await.expect("a source");
    let findings = verify::run(Some(&source), &[], &Options::default()).await.expect("a verdict");
    assert!(findings.iter().all(|finding| finding.entity != "customers"), "{findings:#?}");
}

#[tokio::test]
async fn a_pushed_sale_on_account_moves_the_balance_once_and_its_void_moves_it_back() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.insert::<customer::Entity>([person("ada")]).await;
        let before = balance(&hq, "ada").await.1;
        let create = on_account(&chain.first, "sale", "ada", 1500, chain.tea);
        let pushed = push(&hq, &chain.first, std::slice::from_ref(&create)).await;
        let (owed, version) = balance(&hq, "ada").await;
        assert_eq!(owed, 1500);
        assert!(version > before, "stores pull it");
        assert!(pushed.changes.iter().any(|change| change.entity_type == "customers" && change.version == version));
        // No answer came: the same again, and the same in other words.
        assert_eq!(take(&hq, &chain.first, &create).await, Applied::Duplicate);
        let mut again = create.clone();
        again["timestamp"] = json!(at(30));
        take(&hq, &chain.first, &again).await;
        assert_eq!(balance(&hq, "ada").await, (1500, version));
        sound(&hq).await;

        let void = voided(&create);
        for _ in 0..2 {
            take(&hq, &chain.first, &void).await;
        }
        take(&hq, &chain.first, &create).await;
        assert_eq!(balance(&hq, "ada").await.0, 0);
        // A void that comes alone puts nothing on the account.
        take(&hq, &chain.first, &voided(&on_account(&chain.first, "other", "ada", 700, chain.tea))).await;
        assert_eq!(balance(&hq, "ada").await.0, 0);
        sound(&hq).await;
    }
}

#[tokio::test]
async fn a_refund_lowers_the_balance_and_a_sale_without_a_customer_moves_none() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.insert::<customer::Entity>([person("ada")]).await;
        let mut refund = on_account(&chain.first, "refund", "ada", -400, chain.tea);
        refund["data"]["saleType"] = json!("refund");
        let mut ownerless = on_account(&chain.first, "ownerless", "ada", 300, chain.tea);
        ownerless["data"]["customerId"] = Json::Null;
        let sale = on_account(&chain.first, "sale", "ada", 1000, chain.tea);
        assert_eq!(push(&hq, &chain.first, &[sale, refund, ownerless]).await.refused, 0);
        assert_eq!(balance(&hq, "ada").await.0, 600);
        sound(&hq).await;
    }
}

/// `customer` pays `amount` of what is owed, in cash.
fn settlement(sender: &Sender, name: &str, customer: &str, amount: i64, prepaid: bool) -> Json {
    let id = id(name);
    let mut data = sale(sender, id, &[]);
    data["saleType"] = json!("settlement");
    data["customerId"] = json!(self::id(customer));
    data["prepaid"] = json!(prepaid);
    data["salePayments"][0]["amount"] = json!(amount);
    let payment = json!({
        "id": Uuid::new_v5(&id, b"account"), "lineNo": 2, "tenderCode": "ACCT", "tenderKind": "on_account",
        "amount": -amount, "status": "captured",
    });
    data["salePayments"].as_array_mut().expect("payments").push(payment);
    envelope(sender, "sales", id, "create", &data, at(0))
}

async fn flags(hq: &Hq, name: &str) -> Json {
    hq.row::<sale_row::Entity>(id(name)).await.expect("the sale").flags.0
}

#[tokio::test]
async fn what_two_stores_took_of_what_was_owed_once_is_kept_and_flagged() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.insert::<customer::Entity>([
            person("ada"),
            customer::Model { merged_into_id: Some(id("ada")), ..person("ida") },
        ])
        .await;
        take(&hq, &chain.first, &on_account(&chain.first, "sale", "ada", 1000, chain.tea)).await;
        take(&hq, &chain.first, &settlement(&chain.first, "paid", "ada", 1000, false)).await;
        assert_eq!(
            (balance(&hq, "ada").await.0, flags(&hq, "paid").await),
            (0, json!([])),
            "no lines, and none missed"
        );
        // The other store has not heard of it; the customer is known there by another number.
        let twice = settlement(&chain.second, "paid twice", "ida", 600, false);
        take(&hq, &chain.second, &twice).await;
        assert_eq!((balance(&hq, "ada").await.0, flags(&hq, "paid twice").await), (-600, json!(["overpaid"])));
        assert_eq!(flags(&hq, "paid").await, json!([]), "it was owed then");
        // What is meant as more is none too much.
        take(&hq, &chain.first, &settlement(&chain.first, "ahead", "ada", 500, true)).await;
        assert_eq!(flags(&hq, "ahead").await, json!([]));
        sound(&hq).await;
        // The till takes its payment back.
        take(&hq, &chain.second, &voided(&twice)).await;
        assert_eq!((balance(&hq, "ada").await.0, flags(&hq, "paid twice").await), (-500, json!([])));
        sound(&hq).await;
    }
}

#[tokio::test]
async fn a_payment_that_took_too_much_stays_flagged_whatever_is_said_of_it_later() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.insert::<customer::Entity>([person("ada")]).await;
        take(&hq, &chain.first, &on_account(&chain.first, "sale", "ada", 1000, chain.tea)).await;
        take(&hq, &chain.first, &settlement(&chain.first, "paid", "ada", 1000, false)).await;
        let mut twice = settlement(&chain.second, "paid twice", "ada", 600, false);
        take(&hq, &chain.second, &twice).await;
        take(&hq, &chain.first, &on_account(&chain.first, "more", "ada", 1500, chain.tea)).await;
        twice["action"] = json!("update");
        twice["timestamp"] = json!(at(60));
        twice["data"]["buyer"] = json!({"name": "Ada"});
        take(&hq, &chain.second, &twice).await;
        assert_eq!((balance(&hq, "ada").await.0, flags(&hq, "paid twice").await), (900, json!(["overpaid"])));
        sound(&hq).await;
    }
}

#[tokio::test]
async fn a_duplicate_buys_on_the_account_that_it_was_merged_into() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let merged = |name: &str, into: &str| customer::Model { merged_into_id: Some(id(into)), ..person(name) };
        hq.insert::<customer::Entity>([person("ada"), merged("ada 2", "ada"), merged("ada 3", "ada 2")]).await;
        take(&hq, &chain.first, &on_account(&chain.first, "one", "ada 3", 100, chain.tea)).await;
        take(&hq, &chain.first, &on_account(&chain.first, "two", "ada 2", 10, chain.tea)).await;
        take(&hq, &chain.first, &on_account(&chain.first, "three", "ada", 1, chain.tea)).await;
        assert_eq!(balance(&hq, "ada").await.0, 111);
        assert_eq!((balance(&hq, "ada 2").await.0, balance(&hq, "ada 3").await.0), (0, 0));
        sound(&hq).await;
    }
}

#[tokio::test]
async fn a_customer_who_comes_after_the_sale_owes_it_all_the_same() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.first, &on_account(&chain.first, "sale", "ada", 1500, chain.tea)).await;
        take(&hq, &chain.first, &voided(&on_account(&chain.first, "void", "ada", 200, chain.tea))).await;
        take(&hq, &chain.first, &new_customer(&chain.first, id("ada"), "S01-000001")).await;
        assert_eq!(balance(&hq, "ada").await.0, 1500);
        take(&hq, &chain.first, &on_account(&chain.first, "next", "ada", 20, chain.tea)).await;
        assert_eq!(balance(&hq, "ada").await.0, 1520);
        sound(&hq).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_customer_who_comes_at_the_same_time_as_a_sale_owes_it() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let rounds: Vec<String> = (0..20).map(|round| format!("customer {round}")).collect();
        for (number, name) in rounds.iter().enumerate() {
            let sale = [on_account(&chain.second, &format!("sale {number}"), name, 1500, chain.tea)];
            let person = [new_customer(&chain.first, id(name), &format!("S01-{number:06}"))];
            let start = Barrier::new(2);
            let beside = async |sender, envelopes| {
                start.wait().await;
                push(&hq, sender, envelopes).await.refused
            };
            let refused = tokio::join!(beside(&chain.second, &sale), beside(&chain.first, &person));
            assert_eq!(refused, (0, 0));
            assert_eq!(balance(&hq, name).await.0, 1500, "round {number}");
        }
        sound(&hq).await;
    }
}

#[tokio::test]
async fn a_balance_beyond_what_a_number_holds_is_a_refusal_of_that_sale_alone() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.insert::<customer::Entity>([customer::Model { account_balance: Money(i64::MAX), ..person("ada") }]).await;
        let too_much = on_account(&chain.first, "sale", "ada", 1, chain.tea);
        let mut cash = on_account(&chain.first, "other", "ada", 0, chain.tea);
        cash["data"]["salePayments"].as_array_mut().expect("payments").pop();
        let pushed = push(&hq, &chain.first, &[too_much, cash]).await;
        assert_eq!((pushed.refused, pushed.results[0].code.as_deref()), (1, Some("not_storable")));
        assert_eq!(balance(&hq, "ada").await.0, i64::MAX);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn stores_that_sell_to_one_customer_at_once_all_count() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.insert::<customer::Entity>([person("ada"), person("bob")]).await;
        let (hq, start) = (Arc::new(hq), Arc::new(Barrier::new(8)));
        let pushes: Vec<_> = (0..8)
            .map(|n| {
                let (hq, start) = (hq.clone(), start.clone());
                let store = sender(if n % 2 == 0 { "S01" } else { "S02" });
                let mut customers = ["ada", "bob"];
                if n >= 4 {
                    customers.reverse();
                }
                let sales: Vec<_> = (0..10)
                    .map(|sale| on_account(&store, &format!("{n} {sale}"), customers[sale % 2], 100, chain.tea))
                    .collect();
                tokio::spawn(async move {
                    start.wait().await;
                    // Sent twice, as after a lost answer.
                    push(&hq, &store, &sales).await.refused + push(&hq, &store, &sales).await.refused
                })
            })
            .collect();
        for refused in pushes {
            assert_eq!(refused.await.expect("a push"), 0);
        }
        assert_eq!((balance(&hq, "ada").await.0, balance(&hq, "bob").await.0), (4000, 4000));
        sound(&hq).await;
    }
}

async fn used(shop: &Shop) -> i64 {
    accounts::at_store(shop.db.reader(), id("ada")).await.expect("a read").expect("the customer").used.0
}

/// Sells on account at the store: the document, its charge and its entry.
async fn sell(shop: &Shop, create: &Json) {
    let data = &create["data"];
    let tx = shop.begin().await;
    let sales = kit::entity("sales");
    sales
        .table
        .upsert(&tx, vec![sales.table.decode(&data.to_string()).expect("a row")], &["id"], &[], None)
        .await
        .expect("a row");
    for child in sales.children {
        for line in data[child.key].as_array().into_iter().flatten() {
            let mut row = child.table.decode(&line.to_string()).expect("a line");
            row.set(child.parent, data["id"].as_str().expect("id").parse::<Uuid>().expect("id").into());
            child.table.upsert(&tx, vec![row], &["id"], &[], None).await.expect("a line");
        }
    }
    let sale: Uuid = data["id"].as_str().expect("id").parse().expect("id");
    let amount = data["salePayments"][1]["amount"].as_i64().expect("an amount");
    accounts::charge(&tx, sale, id("ada"), Money(amount)).await.expect("a charge");
    let entry = outbox::Entry {
        entity_type: "sales",
        entity_id: sale,
        action: "create",
        data,
        created_at: at(0),
        depends_on: None,
    };
    outbox::enqueue(&tx, &entry, at(0)).await.expect("an entry");
    tx.commit().await.expect("a commit");
}

async fn confirm(shop: &Shop) {
    let batch = outbox::batch(shop.db.reader(), 100, at(1000), 0).await.expect("a batch");
    let tx = shop.begin().await;
    outbox::confirm(&tx, &batch.iter().collect::<Vec<_>>(), at(200)).await.expect("a confirmation");
    tx.commit().await.expect("a commit");
}

#[tokio::test]
async fn a_store_reckons_with_its_unsent_sales_and_with_those_that_a_kept_away_balance_does_not_have() {
    let hq = Hq::sqlite().await;
    let chain = Chain::found(&hq).await;
    hq.insert::<customer::Entity>([person("ada")]).await;
    let shop = Shop::open(chain.first.store_id).await;
    shop.pull_everything(&hq, 100).await;
    let (one, two) =
        (on_account(&chain.first, "one", "ada", 700, chain.tea), on_account(&chain.first, "two", "ada", 50, chain.tea));
    sell(&shop, &one).await;
    assert_eq!(used(&shop).await, 700);
    shop.pull(&hq, "customers", 100).await;
    assert_eq!(used(&shop).await, 700, "a pull does not forget what was not sent");

    // A user works on the customer here: the pulled row stays away, and so does its balance (rule D6).
    shop.execute("UPDATE customers SET synced = FALSE", []).await;
    take(&hq, &chain.first, &one).await;
    confirm(&shop).await;
    shop.pull(&hq, "customers", 100).await;
    assert_eq!(used(&shop).await, 700);
    assert!(!shop.db.reader().has_open_charges().await.expect("a read"), "no pull would bring it");
    shop.execute("UPDATE customers SET synced = TRUE", []).await;
    assert!(shop.db.reader().has_open_charges().await.expect("a read"));
    shop.reload(&hq, "customers").await;
    assert_eq!((used(&shop).await, balance(&hq, "ada").await.0), (700, 700));

    // Headquarters was restored and has lost it: what goes out again is charged again.
    sell(&shop, &two).await;
    confirm(&shop).await;
    shop.execute("UPDATE customers SET account_balance = 0", []).await;
    shop.execute("DELETE FROM account_charges", []).await;
    let tx = shop.begin().await;
    assert_eq!(outbox::resend(&tx, 1).await.expect("sent again"), 2);
    tx.commit().await.expect("a commit");
    assert_eq!(used(&shop).await, 750);
}
