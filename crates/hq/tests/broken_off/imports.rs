//! Files that come in while a store pushes what changes the same rows: both go through, in whichever order each has them.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use serde_json::{Value as Json, json};
use tillkeep_model::{Money, Qty, ids};
use tillkeep_storage::entity::{customer, product, store_product};
use tillkeep_storage::fault;
use uuid::Uuid;

use crate::backoffice::kit::{Got, Kit, Person, column};
use crate::several::waiting_for_a_lock;

/// So many rows that those before and behind them are taken in different parts of a file.
const BETWEEN: usize = 1000;

/// Two ids, the lower one first: pushes lock rows in the order of their ids.
fn two() -> [Uuid; 2] {
    let mut two = [Uuid::now_v7(), Uuid::now_v7()];
    two.sort_unstable();
    two
}

fn envelope(kit: &Kit, store: Uuid, entity_type: &str, (id, action): (Uuid, &str), mut data: Json) -> Json {
    let now = kit.clock.now();
    for (key, value) in
        [("id", json!(id)), ("storeId", json!(store)), ("createdAt", json!(now)), ("updatedAt", json!(now))]
    {
        data[key] = value;
    }
    json!({
        "store_id": store, "entity_type": entity_type, "entity_id": id, "action": action, "data": data, "timestamp": now,
    })
}

/// Two pieces of a product, perhaps on the account of a customer.
fn sale(kit: &Kit, store: Uuid, receipt: &str, product: Uuid, customer: Option<Uuid>) -> Json {
    let now = kit.clock.now();
    let (code, kind) = if customer.is_some() { ("ACCOUNT", "on_account") } else { ("CASH", "cash") };
    let data = json!({
        "receiptNumber": receipt, "registerCode": "01", "saleType": "sale", "status": "completed",
        "businessDate": now.to_string()[..10], "startedAt": now, "completedAt": now, "netAmount": 2000, "taxAmount": 0,
        "totalAmount": 2000, "customerId": customer,
        "saleItems": [{"id": Uuid::now_v7(), "lineNo": 1, "productId": product, "quantity": 2, "unitPrice": 1000,
                       "listAmount": 2000, "netAmount": 2000, "totalAmount": 2000}],
        "salePayments": [{"id": Uuid::now_v7(), "lineNo": 1, "tenderCode": code, "tenderKind": kind, "amount": 2000,
                          "status": "captured"}],
    });
    envelope(kit, store, "sales", (Uuid::now_v7(), "create"), data)
}

/// Sends a file as soon as a push has written rows for the `nth` time, which goes on when the file waits for one of its locks.
async fn at_once(kit: &Kit, who: &Person, store: Uuid, pushed: (&[Json], usize), file: (&str, String)) -> (Json, Got) {
    let (go, gone) = mpsc::channel::<()>();
    let (gone, is_there, passed) = (Mutex::new(gone), Arc::new(AtomicBool::new(false)), AtomicUsize::new(0));
    let ((envelopes, nth), there) = (pushed, is_there.clone());
    fault::call("push.rows", move || {
        if passed.fetch_add(1, Ordering::SeqCst) + 1 == nth {
            there.store(true, Ordering::SeqCst);
            // It ends with the other side.
            let ended = tokio::task::block_in_place(|| gone.lock().expect("no panic").recv());
            assert!(ended.is_err());
        }
    });
    let token = kit.sync_token(store);
    let push = kit.push(&token, envelopes);
    let held = async || {
        while !is_there.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
    };
    let import = async {
        held().await;
        kit.import(who, file.0, file.1).await
    };
    let release = async {
        held().await;
        waiting_for_a_lock(kit, 1).await;
        drop(go);
    };
    let (results, got, ()) = tokio::join!(push, import, release);
    fault::set("push.rows", "off");
    (results, got)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_file_of_customers_and_a_push_that_changes_them_both_go_through() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let [product, _] = two();
    kit.product(&admin, "TEA", json!({"id": product})).await;
    for (round, (named, buys)) in [(0, 1), (1, 0)].into_iter().enumerate() {
        let known = two();
        let mut numbers = Vec::new();
        for id in known {
            let made = kit.post(&admin, "/customers", json!({"id": id, "lastName": "Old"})).await.data();
            numbers.push(made["customerNumber"].as_str().expect("a number").to_owned());
        }
        let mut text = format!("customerNumber,lastName\n{},New\n", numbers[1]);
        for number in 0..BETWEEN {
            let _ = writeln!(text, ",Between {round} {number}");
        }
        let _ = writeln!(text, "{},New", numbers[0]);
        let change = json!({"customerNumber": numbers[named], "firstName": "Pushed"});
        let envelopes = [
            envelope(&kit, store, "customers", (known[named], "update"), change),
            sale(&kit, store, &format!("S01-01-00000{round}"), product, Some(known[buys])),
        ];
        let (results, got) = at_once(&kit, &admin, store, (&envelopes, 1), ("/customers/import", text)).await;
        got.is(200);
        assert_eq!(column(&results, "status"), ["ok", "ok"], "{results}");
        let mut rows = Vec::new();
        for id in known {
            rows.push(kit.row::<customer::Entity>(id).await);
        }
        assert!(rows.iter().all(|row| row.last_name.as_deref() == Some("New")));
        assert_eq!(rows[named].first_name.as_deref(), Some("Pushed"));
        assert_eq!((rows[named].account_balance, rows[buys].account_balance), (Money(0), Money(2000)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_file_of_prices_and_a_push_that_moves_stock_both_go_through() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    for (round, (sold, received)) in [(0, 1), (1, 0)].into_iter().enumerate() {
        let known = two();
        let sku = |place: usize| format!("R{round}P{place}");
        for (place, id) in known.into_iter().enumerate() {
            kit.product(&admin, &sku(place), json!({"id": id, "trackStock": true})).await;
            kit.put(&admin, &format!("/store-prices/{store}/{id}"), json!({"binLocation": "A"})).await.is(200);
        }
        let row = |place: usize| format!("{};Product;GENERAL;NONE;11.00\n", sku(place));
        let mut text = format!("sku;name;departmentCode;taxGroupCode;price\n{}", row(1));
        for number in 0..BETWEEN {
            let _ = writeln!(text, "R{round}B{number};Between;GENERAL;NONE;1.00");
        }
        text.push_str(&row(0));
        let receipt = json!({
            "productId": known[received], "reason": "received", "quantityChange": 4, "unitCost": 480,
            "businessDate": kit.clock.now().to_string()[..10], "occurredAt": kit.clock.now(),
        });
        let envelopes = [
            sale(&kit, store, &format!("S01-01-00000{round}"), known[sold], None),
            envelope(&kit, store, "inventory_adjustments", (Uuid::now_v7(), "create"), receipt),
        ];
        // With the rows of the second type the stock of the first one has moved.
        let (results, got) = at_once(&kit, &admin, store, (&envelopes, 2), ("/products/import", text)).await;
        got.is(200);
        assert_eq!(column(&results, "status"), ["ok", "ok"], "{results}");
        for (place, quantity) in [(sold, -2), (received, 4)] {
            assert_eq!(kit.row::<product::Entity>(known[place]).await.price, Money(1100));
            let level = kit.row::<store_product::Entity>(ids::store_product(store, known[place])).await;
            assert_eq!((level.price, level.quantity), (Money(1100), Qty::pieces(quantity)));
        }
    }
}
