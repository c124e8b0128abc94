//! A sale as a document: its numbers, its payments, its way to headquarters, and its repetition.

use serde_json::{Value as Json, json};
use tillkeep_storage::entity::{outbox, register, sale, stock_movement};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use crate::kit::{Shop, as_read, cart, document, id, line, nothing_counted, people, public, rows};

#[tokio::test]
async fn a_sale_is_what_the_quote_said_with_its_lines_and_payments() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let mut request = cart(
        json!([line("TEA", 2), {"productId": id("WINE"), "quantity": 1, "ageConfirmed": true}]),
        json!([{"tenderId": id("CASH"), "tenderedAmount": 10_000}]),
    );
    request["salesRepId"] = json!(id("rep"));
    request["customerId"] = json!(id("HQ-000001"));
    request["startedAt"] = json!("2026-11-20T13:59:00Z");
    let mut asked = request.clone();
    asked.as_object_mut().expect("an object").remove("payments");
    let quote = person.post("/pos/quote", asked).await.ok(200);
    request["expectedTotal"] = quote["totalAmount"].clone();
    let sold = person.post("/pos/sales", request.clone()).await.ok(201);
    for key in ["listAmount", "netAmount", "taxAmount", "totalAmount", "taxLines"] {
        assert_eq!(sold[key], quote[key], "{key}");
    }
    assert_eq!(sold["id"], request["id"]);
    assert_eq!(sold["receiptNumber"], "S01-01-000001");
    assert_eq!(sold["status"], "completed");
    assert_eq!(sold["businessDate"], "2026-11-20");
    assert_eq!(sold["cashierUserId"], json!(person.user_id));
    assert_eq!(sold["customerName"], "Ann Miller");
    assert_eq!(sold["salesRepId"], json!(id("rep")));
    assert_eq!(sold["startedAt"], "2026-11-20T13:59:00.000Z");
    let item = &sold["saleItems"][0];
    assert_eq!((&item["lineNo"], &item["sku"], &item["quantity"]), (&json!(1), &json!("TEA"), &json!(2)));
    assert_eq!((&item["unitCost"], &item["barcode"]), (&json!(999), &json!("5012345678900")));
    assert_eq!(sold["saleItems"][1]["ageConfirmed"], true);
    let stored = person.get(&format!("/pos/sales/{}", sold["id"].as_str().expect("an id"))).await.ok(200);
    assert_eq!(stored, as_read(&sold));
    assert_eq!(person.get("/pos/sales/by-receipt/S01-01-000001").await.ok(200), stored);
}

#[tokio::test]
async fn change_is_given_in_cash_and_only_the_amount_counts() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let cash = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH"), "tenderedAmount": 5000}]));
    let sold = person.post("/pos/sales", cash).await.ok(201);
    let payment = &sold["salePayments"][0];
    assert_eq!(
        (&payment["amount"], &payment["tenderedAmount"], &payment["changeAmount"], &sold["changeAmount"]),
        (&json!(2176), &json!(5000), &json!(2824), &json!(2824))
    );

    // A check of 25.00 gives its change from the drawer.
    let check = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CHECK"), "tenderedAmount": 2500}]));
    let sold = person.post("/pos/sales", check).await.ok(201);
    let rows: Vec<(Json, Json, Json)> = sold["salePayments"]
        .as_array()
        .expect("payments")
        .iter()
        .map(|row| (row["tenderCode"].clone(), row["amount"].clone(), row["isChange"].clone()))
        .collect();
    assert_eq!(rows, [(json!("CHECK"), json!(2500), json!(false)), (json!("CASH"), json!(-324), json!(true))]);

    // Part by card, the rest in cash.
    let both = cart(
        json!([line("TEA", 1)]),
        json!([{"tenderId": id("CASH"), "tenderedAmount": 2000}, {"tenderId": id("CARD"), "tenderedAmount": 1000}]),
    );
    let sold = person.post("/pos/sales", both).await.ok(201);
    let amounts: Vec<&Json> =
        sold["salePayments"].as_array().expect("payments").iter().map(|row| &row["amount"]).collect();
    assert_eq!(amounts, [&json!(1000), &json!(1176)]);
    assert_eq!(sold["changeAmount"], 824);
}

#[tokio::test]
async fn receipt_numbers_have_no_gaps_over_registers_and_failures() {
    let shop = Shop::open_with(|own| own.allow_negative_stock = false).await;
    shop.insert::<register::Entity>([rows::register("02", "T2")]).await;
    let person = shop.selling().await;
    person.post(&format!("/registers/{}/open", id("register 02")), json!({})).await.ok(201);
    let beside = shop.sign_in_at("cashier", "T2").await;
    let sell_at = async |terminal: &str, quantity: i64| {
        let mut request = cart(json!([line("BREAD", quantity)]), json!([{"tenderId": id("CASH")}]));
        request["terminalId"] = json!(terminal);
        let till = if terminal == "T1" { &person } else { &beside };
        till.post("/pos/sales", request).await
    };
    let mut receipts = Vec::new();
    for (terminal, quantity) in [("T1", 1), ("T2", 1), ("T1", 100), ("T1", 1), ("T2", 100), ("T2", 1), ("T1", 1)] {
        let reply = sell_at(terminal, quantity).await;
        if quantity == 100 {
            reply.refused_at(409, "insufficient_stock", "lines[0].quantity");
        } else {
            receipts.push(reply.ok(201)["receiptNumber"].as_str().expect("a number").to_owned());
        }
    }
    receipts.sort();
    assert_eq!(receipts, ["S01-01-000001", "S01-01-000002", "S01-01-000003", "S01-02-000001", "S01-02-000002"]);
}

#[tokio::test]
async fn the_outbox_holds_the_exact_document_with_its_number() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let before = shop.outbox().await;
    let sold = person.sell(json!([line("TEA", 2), line("BREAD", 1)])).await.ok(201);
    let after = shop.outbox().await;
    assert_eq!(after.len(), before.len() + 1);
    let entry = after.last().expect("an entry");
    assert_eq!((entry.entity_type.as_str(), entry.action.as_str()), ("sales", "create"));
    assert_eq!(json!(entry.entity_id), sold["id"]);
    assert_eq!(serde_json::from_str::<Json>(&entry.payload).expect("JSON"), document(&sold));
    let seqs: Vec<i64> = after.iter().map(|entry| entry.seq).collect();
    assert_eq!(seqs, (1..).take(after.len()).collect::<Vec<_>>());
    assert!(after.windows(2).all(|pair| pair[0].timestamp < pair[1].timestamp), "the order of time is the order");
    assert!(json!(entry.timestamp).as_str() >= sold["createdAt"].as_str());
}

#[tokio::test]
async fn a_refused_sale_leaves_nothing_behind() {
    let shop = Shop::open_with(|own| own.allow_negative_stock = false).await;
    let person = shop.selling().await;
    let (entries, level) = (shop.count::<outbox::Entity>().await, shop.level("BREAD").await);
    person.sell(json!([line("TEA", 1), line("BREAD", 11)])).await.refused_at(
        409,
        "insufficient_stock",
        "lines[1].quantity",
    );
    assert_eq!(shop.count::<outbox::Entity>().await, entries);
    assert_eq!(shop.count::<sale::Entity>().await, 0);
    assert_eq!(shop.count::<stock_movement::Entity>().await, 0);
    assert_eq!(shop.level("BREAD").await, level);
}

#[tokio::test]
async fn the_same_id_twice_is_one_sale() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let request = cart(
        json!([line("TEA", 1), {"productId": id("FLOWERS"), "quantity": 1, "openPrice": 700}]),
        json!([{"tenderId": id("CASH"), "tenderedAmount": 2000}, {"tenderId": id("CARD"), "tenderedAmount": 1000}]),
    );
    let sold = person.post("/pos/sales", request.clone()).await.ok(201);
    let entries = shop.count::<outbox::Entity>().await;
    // Also when the drawer is closed by now, and whoever repeats it.
    let session = person.get("/register-sessions/current?terminalId=T1").await.ok(200);
    let close = format!("/register-sessions/{}/close", session["id"].as_str().expect("an id"));
    person.post(&close, nothing_counted()).await.ok(200);
    let colleague = shop.sign_in("cashier").await;
    assert_eq!(colleague.post("/pos/sales", request.clone()).await.ok(200), public(&sold));
    assert_eq!(shop.count::<sale::Entity>().await, 1);
    assert_eq!(shop.count::<outbox::Entity>().await, entries + 1, "the close alone");

    let changes: [(&str, Json); 6] = [
        ("/lines/0/quantity", json!(2)),
        ("/lines/0/productId", json!(id("T04"))),
        ("/lines/1/openPrice", json!(701)),
        ("/payments/0/tenderedAmount", json!(2001)),
        ("/payments/1/tenderId", json!(id("CHECK"))),
        ("/payments/1/reference", json!("A1")),
    ];
    for (pointer, value) in changes {
        let mut other = request.clone();
        match other.pointer_mut(pointer) {
            Some(place) => *place = value,
            None => other["payments"][1]["reference"] = value,
        }
        person.post("/pos/sales", other).await.refused_at(409, "id_reused", "id");
    }
    for (key, value) in [("customerId", json!(id("HQ-000001"))), ("expectedTotal", json!(1))] {
        let mut other = request.clone();
        other[key] = value;
        person.post("/pos/sales", other).await.refused_at(409, "id_reused", "id");
    }
}

#[tokio::test]
async fn a_total_that_the_customer_was_not_quoted_is_refused_with_the_new_quote() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let mut request = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]));
    request["expectedTotal"] = json!(2176);
    shop.change_product("TEA", |product| product.price = tillkeep_model::Money(2099)).await;
    let refusal = person.post("/pos/sales", request.clone()).await.refused(409, "total_mismatch");
    assert_eq!(refusal["quote"]["totalAmount"], 2285);
    assert_eq!(refusal["quote"]["lines"][0]["unitPrice"], 2099);
    assert_eq!(shop.count::<sale::Entity>().await, 0);
    request["expectedTotal"] = refusal["quote"]["totalAmount"].clone();
    person.post("/pos/sales", request).await.ok(201);
}

#[tokio::test]
async fn sales_are_listed_newest_first_and_found_by_what_is_on_the_receipt() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    for quantity in 1..=3 {
        person.sell(json!([line("BREAD", quantity)])).await.ok(201);
        shop.clock.advance(1000);
    }
    let numbers = async |query: &str| -> Vec<String> {
        let list = person.get(&format!("/pos/sales{query}")).await.ok(200);
        let number = |row: &Json| row["receiptNumber"].as_str().expect("a number")[7..].to_owned();
        list.as_array().expect("a list").iter().map(number).collect()
    };
    assert_eq!(numbers("").await, ["000003", "000002", "000001"]);
    assert_eq!(numbers("?receiptNumber=S01-01-000002").await, ["000002"]);
    assert_eq!(numbers("?sort=totalAmount&pageSize=1").await, ["000001"]);
    assert_eq!(numbers("?businessDate=2026-11-20&status=completed").await.len(), 3);
    assert!(numbers("?businessDateTo=2026-11-19").await.is_empty());
    assert!(numbers(&format!("?sessionId={}", Uuid::nil())).await.is_empty());
    assert!(numbers(&format!("?customerId={}", Uuid::nil())).await.is_empty());
    person.get("/pos/sales?receipt=1").await.refused(422, "unknown_parameter");
    person.get("/pos/sales?active=true").await.refused(422, "unknown_parameter");
    person.get("/pos/sales?sort=--createdAt").await.refused(422, "validation");
    person.get("/pos/sales?businessDateTo=yesterday").await.refused(422, "validation");
    person.get("/pos/sales?pageSize=201").await.refused(422, "validation");
    person.get(&format!("/pos/sales/{}", Uuid::nil())).await.refused(404, "sale_not_found");
    person.get("/pos/sales/by-receipt/S01-01-000009").await.refused(404, "sale_not_found");
}

#[tokio::test]
async fn a_cashier_sees_the_sales_of_the_own_open_drawer_and_finds_any_receipt() {
    let shop = Shop::open().await;
    shop.insert::<register::Entity>([rows::register("02", "T2")]).await;
    let manager = shop.sign_in_at("administrator", "T2").await;
    manager.post(&format!("/registers/{}/open", id("register 02")), json!({})).await.ok(201);
    let mut request = cart(json!([line("BREAD", 1)]), json!([{"tenderId": id("CASH")}]));
    request["terminalId"] = json!("T2");
    manager.post("/pos/sales", request).await.ok(201);

    let cashier = shop.sign_in("cashier").await;
    cashier.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
    cashier.sell(json!([line("TEA", 1)])).await.ok(201);
    let seen = cashier.get("/pos/sales").await.ok(200);
    assert_eq!(seen.as_array().map(Vec::len), Some(1));
    assert_eq!(seen[0]["receiptNumber"], "S01-01-000001");
    cashier.get("/pos/sales/by-receipt/S01-02-000001").await.ok(200);
    let all = shop.sign_in("store_manager").await.get("/pos/sales").await.ok(200);
    assert_eq!(all.as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_cashier_who_sold_into_the_drawer_of_another_sees_its_sales_from_anywhere_until_it_is_closed() {
    let shop = Shop::open().await;
    let manager = shop.sign_in("administrator").await;
    let session = manager.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
    let known = people::person(&shop, "cashier").await;
    shop.sign_in_with(&known, "T1").await.sell(json!([line("TEA", 1)])).await.ok(201);
    // At another till, which knows nothing of that drawer.
    shop.insert::<register::Entity>([rows::register("02", "T2")]).await;
    let elsewhere = shop.sign_in_with(&known, "T2").await;
    let numbers = async || -> Vec<Json> {
        let seen = elsewhere.get("/pos/sales").await.ok(200);
        seen.as_array().expect("sales").iter().map(|sale| sale["receiptNumber"].clone()).collect()
    };
    assert_eq!(numbers().await, ["S01-01-000001"]);
    manager
        .post(&format!("/register-sessions/{}/close", session["id"].as_str().expect("an id")), nothing_counted())
        .await
        .ok(200);
    assert!(numbers().await.is_empty(), "a closed drawer is the manager's");
}

#[tokio::test]
async fn lines_payments_and_movements_of_a_sale_have_ids_behind_those_of_the_sales_before() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let ids = |rows: &Json| -> Vec<Uuid> {
        let ids = rows.as_array().expect("rows").iter().map(|row| row["id"].as_str().expect("an id"));
        ids.map(|id| id.parse().expect("a UUID")).collect()
    };
    let mut before: Vec<Vec<Uuid>> = Vec::new();
    for second in 1..=5_u64 {
        // Sales of one millisecond stand in no order.
        let mut request = cart(json!([line("TEA", 1), line("BREAD", 2)]), json!([{"tenderId": id("CASH")}]));
        let made = uuid::Timestamp::from_unix(uuid::NoContext, 1_790_000_000 + second, 0);
        let sale_id = Uuid::new_v7(made);
        request["id"] = json!(sale_id);
        let sale = person.post("/pos/sales", request).await.ok(201);
        let movements = stock_movement::Entity::find().filter(stock_movement::Column::SourceId.eq(sale_id));
        let movements = movements.all(shop.store.test_db().reader()).await.expect("the ledger");
        let movements: Vec<Uuid> = movements.into_iter().map(|row| row.id).collect();
        let parts = [ids(&sale["saleItems"]), ids(&sale["salePayments"]), movements];
        assert_eq!(parts.each_ref().map(Vec::len), [2, 1, 2]);
        for (earlier, later) in std::iter::zip(&before, &parts) {
            assert!(earlier.iter().max() < later.iter().min(), "{earlier:?} {later:?}");
        }
        before = parts.to_vec();
    }
}
