//! Numbers that begin with another store's code: nothing is taken from that store. `docs/sync.md`, rule U11.

use serde_json::{Value as Json, json};
use tillkeep_model::wire::{Applied, PushStatus};
use tillkeep_storage::completeness::{self, StoreContact, Verdict};
use tillkeep_storage::document::flags::FOREIGN_NUMBER;
use tillkeep_storage::entity::{customer, purchase_order, sale, store, supplier, transfer};
use tillkeep_storage::high_water;

use crate::kit::chain::{self, Chain, id};
use crate::kit::envelopes::{create_sale, customer as new_customer, envelope, push, take};
use crate::kit::{self, Hq, Shop, at};

async fn customer_of(hq: &Hq, name: &str) -> (String, Json) {
    let row = hq.row::<customer::Entity>(id(name)).await.expect("the customer");
    (row.customer_number, row.flags.0)
}

#[tokio::test]
async fn a_customer_with_another_store_s_number_gets_one_of_headquarters_and_that_store_keeps_its_own() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let shop = Shop::open(chain.first.store_id).await;
        let foreign = new_customer(&chain.first, id("foreign"), "S02-000123");
        assert_eq!(take(&hq, &chain.first, &foreign).await, Applied::Inserted);
        assert_eq!(customer_of(&hq, "foreign").await, ("HQ-000001".into(), json!([FOREIGN_NUMBER])));
        assert!(
            hq.log().await.iter().any(|row| row.warning.as_deref() == Some(FOREIGN_NUMBER)),
            "the dashboard says it"
        );
        // The other store's own customer of that number.
        take(&hq, &chain.second, &new_customer(&chain.second, id("real"), "S02-000123")).await;
        assert_eq!(customer_of(&hq, "real").await, ("S02-000123".into(), json!([])));
        // With the next pull the store that had given it has the new one.
        let mine = customer::Model {
            id: id("foreign"),
            customer_number: "S02-000123".into(),
            synced: true,
            ..Default::default()
        };
        shop.insert::<customer::Entity>(mine).await;
        shop.pull(&hq, "customers", 10).await;
        let row = shop.row::<customer::Entity>(id("foreign")).await.expect("the customer");
        assert_eq!((row.customer_number.as_str(), row.flags.0), ("HQ-000001", json!([FOREIGN_NUMBER])));
        // A later change neither brings the number back nor takes the flag away.
        let mut later = foreign.clone();
        (later["timestamp"], later["data"]["firstName"]) = (json!(at(9)), json!("Bea"));
        assert_eq!(take(&hq, &chain.first, &later).await, Applied::Updated);
        assert_eq!(customer_of(&hq, "foreign").await, ("HQ-000001".into(), json!([FOREIGN_NUMBER])));
        // Headquarters' own numbers are no store's either; what is no store's is taken as it is.
        take(&hq, &chain.first, &new_customer(&chain.first, id("like hq"), "HQ-000777")).await;
        assert_eq!(customer_of(&hq, "like hq").await, ("HQ-000002".into(), json!([FOREIGN_NUMBER])));
        for number in ["S01-000004", "S99-000001", "OLD 7"] {
            take(&hq, &chain.first, &new_customer(&chain.first, id(number), number)).await;
            assert_eq!(customer_of(&hq, number).await, (number.into(), json!([])));
        }
        hq.verify().await;
    }
}

#[tokio::test]
async fn two_stores_that_take_each_other_s_numbers_at_once_get_different_ones() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let of = |sender, code: &str, name: &str| {
            (1..=20)
                .map(|number| new_customer(sender, id(&format!("{name} {number}")), &format!("{code}-{number:06}")))
                .collect::<Vec<_>>()
        };
        let (one, other) = (of(&chain.first, "S02", "one"), of(&chain.second, "S01", "other"));
        let (first, second) = tokio::join!(push(&hq, &chain.first, &one), push(&hq, &chain.second, &other));
        assert!(first.results.iter().chain(&second.results).all(|result| result.status == PushStatus::Ok));
        let mut numbers: Vec<_> = hq.rows("customers", chain.first.store_id).await;
        numbers.retain(|row| row["customerNumber"].as_str().is_some_and(|number| number.starts_with("HQ-0000")));
        assert_eq!(numbers.len(), 40);
    }
}

#[tokio::test]
async fn orders_and_transfers_with_another_store_s_number_get_one_of_headquarters_for_good() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.insert::<supplier::Entity>([chain::supplier()]).await;
        let order = |seconds: i64, notes: &str| {
            let data = json!({"id": id("order"), "poNumber": "S02-PO-000001", "supplierId": id("supplier"),
                              "status": "draft", "notes": notes, "createdAt": at(0)});
            envelope(&chain.first, "purchase_orders", id("order"), "update", &data, at(seconds))
        };
        let moved = |sender: &_, seconds: i64, status: &str, number: &str| {
            let data = json!({"id": id("transfer"), "transferNumber": number, "status": status, "createdAt": at(0),
                              "fromStoreId": chain.first.store_id, "toStoreId": chain.second.store_id});
            envelope(sender, "transfers", id("transfer"), "update", &data, at(seconds))
        };
        for (seconds, status) in [(0, "draft"), (5, "in_transit")] {
            take(&hq, &chain.first, &order(seconds, status)).await;
            take(&hq, &chain.first, &moved(&chain.first, seconds, status, "S02-TR-000001")).await;
            let row = hq.row::<purchase_order::Entity>(id("order")).await.expect("the order");
            let said = (row.po_number.as_str(), row.notes.as_deref(), row.flags.0);
            assert_eq!(said, ("HQ-PO-000001", Some(status), json!([FOREIGN_NUMBER])));
            let row = hq.row::<transfer::Entity>(id("transfer")).await.expect("the transfer");
            let said = (row.transfer_number.as_str(), row.status.as_str(), row.flags.0);
            assert_eq!(said, ("HQ-TR-000001", status, json!([FOREIGN_NUMBER])));
        }
        // The other store's own.
        let data =
            json!({"id": id("its"), "poNumber": "S02-PO-000001", "supplierId": id("supplier"), "status": "draft"});
        take(&hq, &chain.second, &envelope(&chain.second, "purchase_orders", id("its"), "create", &data, at(0))).await;
        // Who receives a transfer says its number as it is.
        let mut own = moved(&chain.first, 0, "in_transit", "S01-TR-000007");
        (own["entity_id"], own["data"]["id"]) = (json!(id("own")), json!(id("own")));
        take(&hq, &chain.first, &own).await;
        let mut received = moved(&chain.second, 9, "received", "S01-TR-000007");
        (received["entity_id"], received["data"]["id"]) = (json!(id("own")), json!(id("own")));
        take(&hq, &chain.second, &received).await;
        let row = hq.row::<transfer::Entity>(id("own")).await.expect("the transfer");
        assert_eq!((row.transfer_number.as_str(), row.flags.0), ("S01-TR-000007", json!([])));
        hq.verify().await;
    }
}

fn sold(chain: &Chain, receipt: &str) -> Json {
    let mut sale = create_sale(&chain.first, id(receipt), &[(chain.tea, 1)]);
    sale["data"]["receiptNumber"] = json!(receipt);
    sale["data"]["registerSessionId"] = json!(id("session"));
    sale
}

fn drawer(chain: &Chain, name: &str, number: i32, sales: i64, (first, last): (&str, &str)) -> Json {
    let data = json!({
        "id": id(name), "registerCode": "01", "sessionNumber": number, "status": "closed", "businessDate": "2026-11-20",
        "createdAt": at(0), "openedAt": at(0), "firstReceiptNumber": first, "lastReceiptNumber": last,
        "totals": {"saleCount": sales, "refundCount": 0, "voidCount": 0, "netAmount": 1999 * sales, "taxAmount": 0,
                   "totalAmount": 1999 * sales},
    });
    envelope(&chain.first, "register_sessions", id(name), "update", &data, at(50))
}

#[tokio::test]
async fn a_foreign_receipt_or_drawer_is_flagged_and_counts_neither_as_complete_nor_as_the_highest() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.insert::<store::Entity>([chain::store("S00"), chain::store("S012")]).await;
        let mut yesterday = [sold(&chain, "S01-01-000001"), sold(&chain, "S00-01-000009")];
        for sale in &mut yesterday {
            sale["data"]["businessDate"] = json!("2026-11-19");
        }
        assert_eq!(push(&hq, &chain.first, &yesterday).await.refused, 0);
        let sent = [
            drawer(&chain, "session", 1, 4, ("S01-01-000002", "S01-01-000003")),
            drawer(&chain, "foreign", 9, 0, ("S02-01-000040", "S02-01-000060")),
            sold(&chain, "S01-01-000002"),
            sold(&chain, "S01-01-000003"),
            sold(&chain, "S02-01-000050"),
            sold(&chain, "S012-01-000099"),
        ];
        assert_eq!(push(&hq, &chain.first, &sent).await.refused, 0);
        for receipt in ["S00-01-000009", "S02-01-000050", "S012-01-000099"] {
            let row = hq.row::<sale::Entity>(id(receipt)).await.expect("the sale");
            assert_eq!(row.receipt_number, receipt, "as it was printed");
            assert!(row.flags.0.as_array().expect("flags").contains(&json!(FOREIGN_NUMBER)), "{}", row.flags.0);
        }
        let own = hq.row::<sale::Entity>(id("S01-01-000002")).await.expect("the sale");
        assert!(!own.flags.0.to_string().contains(FOREIGN_NUMBER));
        let snapshot = hq.db.snapshot().await.expect("a snapshot");
        let dates = ["2026-11-20".to_owned()];
        let known = StoreContact { pending: false, first_seen: Some("2026-11-01"), last_seen: Some("2026-11-25") };
        let day = completeness::days(&snapshot, chain.first.store_id, &dates, known).await;
        let day = day.expect("the day").remove(0);
        // What they sold is in the sums of the drawer.
        assert_eq!((day.verdict, day.reasons.as_slice()), (Verdict::Complete, [].as_slice()));
        assert_eq!((day.receipt_count, day.missing_receipt_count, day.session_count), (2, 0, 2));
        let numbers = high_water::of_store(&snapshot, chain.first.store_id, "S01", "").await.expect("the numbers");
        assert_eq!((numbers.get("receipt:01"), numbers.get("session:01")), (Some(&3), Some(&1)), "{numbers:?}");
    }
}
