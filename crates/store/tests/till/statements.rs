//! What each thing that a till asks for costs the database of its store: statements, however long the cart is.

use serde_json::{Value as Json, json};
use tillkeep_storage::count::{replanned, statements};
use tillkeep_storage::entity::register;
use tillkeep_storage::raw::sea_orm::ConnectionTrait;
use uuid::Uuid;

use crate::kit::{Shop, id, line, nothing_counted, people, rows};

/// The most that a sale of three lines may cost.
const SALE: u64 = 15;

const PRODUCTS: [&str; 7] = ["TEA", "T04", "T06", "LOCAL", "BREAD", "BANANA", "REPAIR"];

fn lines(count: usize) -> Json {
    PRODUCTS.iter().cycle().take(count).map(|name| line(name, 1)).collect()
}

/// The statements that `work` costs.
async fn cost<F: Future>(work: F) -> u64 {
    let before = statements();
    work.await;
    statements() - before
}

#[tokio::test]
async fn a_sale_of_three_lines_costs_fourteen_statements_and_further_lines_none() {
    let shop = Shop::that_rests().await;
    let person = shop.selling().await;
    person.sell(lines(PRODUCTS.len())).await.ok(201);
    for count in [3, 1, 2, 20, 100, 3] {
        let cost = cost(async { person.sell(lines(count)).await.ok(201) }).await;
        assert_eq!(cost, 14, "{count} lines");
        assert!(cost <= SALE);
    }
    // The customer, twice what their account has, and the charge.
    let sale = json!([{"tenderId": id("ACCOUNT")}]);
    let on_account = || async {
        let mut cart = crate::kit::cart(json!([line("BREAD", 1)]), sale.clone());
        cart["customerId"] = json!(id("HQ-000001"));
        person.post("/pos/sales", cart).await.ok(201);
    };
    assert_eq!(cost(on_account()).await, 14 + 1 + 2 + 1);
}

#[tokio::test]
async fn a_refund_costs_as_many_statements_however_often_some_of_its_sale_came_back_before() {
    let shop = Shop::that_rests().await;
    let person = shop.selling().await;
    let sale = person.sell(json!([line("TEA", 9)])).await.ok(201);
    let path = format!("/pos/sales/{}/refunds", sale["id"].as_str().expect("an id"));
    let mut costs = Vec::new();
    for _ in 0..6 {
        let items = json!([{"saleItemId": sale["saleItems"][0]["id"], "quantity": 1, "reason": "too small"}]);
        let refund = json!({"id": Uuid::now_v7(), "terminalId": "T1", "items": items});
        costs.push(cost(async { person.post(&path, refund).await.ok(201) }).await);
    }
    // Before the first one there are no lines to be read.
    assert!(costs[1..].iter().all(|cost| *cost == costs[1]), "{costs:?}");
}

#[tokio::test]
async fn after_a_pull_the_first_sale_reads_what_it_needs_once_for_all_its_lines() {
    let shop = Shop::that_rests().await;
    let person = shop.selling().await;
    let mut costs = Vec::new();
    for count in [1, 3, 20] {
        shop.change_product("TEA", |row| row.name.push('!')).await;
        costs.push(cost(async { person.sell(lines(count)).await.ok(201) }).await);
    }
    // The settings of the shop are ten statements, products one; the specials, read once, are none of what changed.
    assert_eq!(costs, [14 + 10 + 1 + 1, 14 + 10 + 1, 14 + 10 + 1]);
}

#[tokio::test]
async fn a_quote_costs_one_statement_and_so_does_what_is_scanned_again() {
    let shop = Shop::that_rests().await;
    let person = shop.selling().await;
    person.post("/pos/quote", json!({"lines": lines(7)})).await.ok(200);
    for count in [1, 3, 20] {
        let quote = json!({"lines": lines(count), "payments": [{"tenderId": id("CASH")}]});
        assert_eq!(cost(async { person.post("/pos/quote", quote).await.ok(200) }).await, 1, "{count} lines");
    }
    for code in ["5012345678900", "ALT-1", "4011", "tea"] {
        let path = format!("/pos/lookup/{code}");
        person.get(&path).await.ok(200);
        assert_eq!(cost(async { person.get(&path).await.ok(200) }).await, 1, "{code}");
    }
    // A label is another one each time: is it a barcode, which product has it, what is there of it.
    assert_eq!(cost(async { person.get("/pos/lookup/2104011012378").await.ok(200) }).await, 3);
}

#[tokio::test]
async fn a_sign_in_with_a_pin_costs_fourteen_statements_and_a_new_user_four_more() {
    let shop = Shop::that_rests().await;
    // The counter of the address is there from the first sign-in on.
    shop.sign_in("cashier").await;
    let known = people::person(&shop, "cashier").await;
    let costs = [
        cost(shop.sign_in_with(&known, "T1")).await,
        // Each further one ends the session before it at that till.
        cost(shop.sign_in_with(&known, "T1")).await,
        cost(shop.sign_in_with(&known, "T1")).await,
    ];
    assert_eq!(costs, [18, 14, 14]);
}

#[tokio::test]
async fn opening_a_drawer_costs_eight_statements_and_closing_it_no_more_whatever_it_sold() {
    let shop = Shop::that_rests().await;
    shop.insert::<register::Entity>([rows::register("02", "T2")]).await;
    let person = shop.sign_in_at("administrator", "T2").await;
    let mut closing = Vec::new();
    for sales in [0, 3] {
        person.get("/pos/bootstrap").await.ok(200);
        let open = format!("/registers/{}/open", id("register 02"));
        assert_eq!(cost(async { person.post(&open, json!({})).await.ok(201) }).await, 8);
        let session = person.get("/register-sessions/current?terminalId=T2").await.ok(200)["id"].clone();
        for _ in 0..sales {
            let mut cart = crate::kit::cart(lines(3), json!([{"tenderId": id("CASH")}]));
            cart["terminalId"] = json!("T2");
            person.post("/pos/sales", cart).await.ok(201);
        }
        let close = format!("/register-sessions/{}/close", session.as_str().expect("an id"));
        closing.push(cost(async { person.post(&close, nothing_counted()).await.ok(200) }).await);
    }
    assert_eq!(closing[0], closing[1]);
    assert!(closing[0] <= 26, "{closing:?}");
}

#[tokio::test]
async fn no_statement_of_a_sale_is_planned_twice_whatever_it_sells() {
    let shop = Shop::that_rests().await;
    let person = shop.selling().await;
    // What the planner knows of the values in the tables would make it look at those that are bound.
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    tx.execute_unprepared("ANALYZE").await.expect("statistics");
    tx.commit().await.expect("a commit");
    for count in [1, 3, 20] {
        person.sell(lines(count)).await.ok(201);
    }
    let before = replanned();
    for count in [3, 1, 20, 3] {
        person.sell(lines(count)).await.ok(201);
    }
    assert_eq!(replanned(), before);
}
