//! A transfer is one document that two stores write: neither overwrites the other, in any order of arrival.
//! `docs/sync.md`, rules U7 and U11.

use serde_json::{Value as Json, json};
use tillkeep_model::Qty;
use tillkeep_storage::entity::{transfer, transfer_item};
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::sea_orm::EntityTrait;

use crate::kit::chain::{self, Chain, id};
use crate::kit::envelopes::{envelope, push, refuse, take};
use crate::kit::{self, Hq, Shop, at};

/// A transfer of the first store to the second one with these lines (name, sent, received).
fn document(chain: &Chain, status: &str, lines: &[(&str, i64, i64)], receipts: &Json) -> Json {
    let lines: Vec<Json> = lines
        .iter()
        .zip(1..)
        .map(|((name, sent, received), line_no)| {
            json!({"id": id(name), "lineNo": line_no, "productId": chain.tea, "requestedQuantity": 5,
                   "sentQuantity": sent, "receivedQuantity": received})
        })
        .collect();
    json!({
        "id": id("transfer"), "transferNumber": "S01-TR-1", "fromStoreId": chain.first.store_id,
        "toStoreId": chain.second.store_id, "status": status, "createdAt": at(0), "receipts": receipts,
        "receivedAt": (status == "received").then(|| at(30)), "transferItems": lines,
    })
}

fn reported(sender: &Sender, data: &Json, seconds: i64) -> Json {
    envelope(sender, "transfers", id("transfer"), "update", data, at(seconds))
}

async fn row(hq: &Hq) -> transfer::Model {
    hq.row::<transfer::Entity>(id("transfer")).await.expect("the transfer")
}

#[tokio::test]
async fn a_third_store_gets_nothing_and_may_write_nothing() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let third = chain::sender("S03");
        let sent = document(&chain, "in_transit", &[("a", 5, 0)], &json!([]));
        let pushed = push(&hq, &chain.first, &[reported(&chain.first, &sent, 1)]).await;
        let notified_stores: Vec<_> = pushed.changes.iter().filter_map(|change| change.store).collect();
        assert_eq!(notified_stores.len(), 2, "both sides are notified");
        assert!(!notified_stores.contains(&third.store_id));
        assert!(hq.rows("transfers", third.store_id).await.is_empty());
        assert_eq!(hq.rows("transfers", chain.second.store_id).await.len(), 1);
        let mut stolen = reported(&third, &sent, 2);
        stolen["data"]["toStoreId"] = json!(third.store_id);
        assert_eq!(refuse(&hq, &third, &stolen).await, "store_mismatch");
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_transfer_stays_between_the_two_stores_that_it_was_made_for() {
    for status in ["draft", "in_transit"] {
        for hq in kit::both().await {
            let chain = Chain::found(&hq).await;
            let third = chain::sender("S03");
            let made = document(&chain, status, &[("a", 5, 0)], &json!([]));
            take(&hq, &chain.first, &reported(&chain.first, &made, 1)).await;
            for (seconds, key) in [(2, "toStoreId"), (3, "fromStoreId")] {
                let mut moved = made.clone();
                moved[key] = json!(third.store_id);
                moved["note"] = json!(key);
                take(&hq, &chain.first, &reported(&chain.first, &moved, seconds)).await;
                let row = row(&hq).await;
                let parties = (row.from_store_id, row.to_store_id);
                assert_eq!(parties, (chain.first.store_id, chain.second.store_id), "{key} of one {status}");
                assert_eq!(row.note.as_deref(), Some(key), "the rest is taken");
            }
            assert!(hq.rows("transfers", third.store_id).await.is_empty());
            hq.verify().await;
        }
    }
}

#[tokio::test]
async fn a_transfer_that_is_refused_keeps_its_lines() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut other = document(&chain, "draft", &[("z", 1, 0)], &json!([]));
        (other["id"], other["transferNumber"]) = (json!(id("other")), json!("TAKEN"));
        take(&hq, &chain.first, &envelope(&chain.first, "transfers", id("other"), "create", &other, at(1))).await;
        let lines = [("a", 0, 0), ("b", 0, 0)];
        take(&hq, &chain.first, &reported(&chain.first, &document(&chain, "submitted", &lines, &json!([])), 2)).await;
        let mut shorter = document(&chain, "submitted", &lines[..1], &json!([]));
        shorter["transferNumber"] = json!("TAKEN");
        assert_eq!(refuse(&hq, &chain.first, &reported(&chain.first, &shorter, 3)).await, "not_storable");
        for name in ["a", "b"] {
            assert!(hq.row::<transfer_item::Entity>(id(name)).await.is_some(), "line {name}");
        }
        hq.verify().await;
    }
}

#[tokio::test]
async fn lines_go_and_come_until_the_shipment_and_not_after_it() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let shop = Shop::open(chain.second.store_id).await;
        let names = async || {
            let mut all: Vec<_> = transfer_item::Entity::find().all(hq.db.reader()).await.expect("the lines");
            all.sort_by_key(|line| line.line_no);
            all.iter().map(|line| line.id).collect::<Vec<_>>()
        };
        let state = |status: &str, lines: &[(&str, i64, i64)], seconds| {
            reported(&chain.first, &document(&chain, status, lines, &json!([])), seconds)
        };
        take(&hq, &chain.first, &state("submitted", &[("a", 0, 0), ("b", 0, 0)], 1)).await;
        shop.pull(&hq, "transfers", 10).await;
        take(&hq, &chain.first, &state("submitted", &[("a", 0, 0), ("c", 0, 0)], 2)).await;
        assert_eq!(names().await, [id("a"), id("c")]);
        // The line that is gone at HQ goes at the other store.
        shop.pull(&hq, "transfers", 10).await;
        let lines = shop.rows("transfers").await[0]["transferItems"].clone();
        let at_the_shop: Vec<_> = lines.as_array().expect("lines").iter().map(|line| line["id"].clone()).collect();
        assert_eq!(at_the_shop, [json!(id("a")), json!(id("c"))]);
        take(&hq, &chain.first, &state("in_transit", &[("a", 3, 0), ("c", 4, 0)], 3)).await;
        take(&hq, &chain.first, &state("in_transit", &[("a", 9, 0), ("d", 9, 0)], 4)).await;
        assert_eq!(names().await, [id("a"), id("c")], "what was shipped was shipped");
        hq.verify().await;
    }
}

#[tokio::test]
async fn the_destination_moves_a_transfer_only_from_the_shipment_on() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let of = |status: &str| document(&chain, status, &[("a", 5, 0)], &json!([]));
        take(&hq, &chain.first, &reported(&chain.first, &of("approved"), 1)).await;
        for (seconds, status) in [(2, "cancelled"), (3, "in_transit"), (4, "received"), (5, "draft")] {
            take(&hq, &chain.second, &reported(&chain.second, &of(status), seconds)).await;
            assert_ne!(row(&hq).await.status, status, "{status} is not the destination's to say");
        }
        take(&hq, &chain.first, &reported(&chain.first, &of("in_transit"), 6)).await;
        take(&hq, &chain.second, &reported(&chain.second, &of("cancelled"), 7)).await;
        take(&hq, &chain.second, &reported(&chain.second, &of("partially_received"), 8)).await;
        assert_eq!(row(&hq).await.status, "partially_received");
        take(&hq, &chain.first, &reported(&chain.first, &of("cancelled"), 9)).await;
        assert_eq!(row(&hq).await.status, "partially_received", "goods that were sent come back by a new transfer");
        take(&hq, &chain.second, &reported(&chain.second, &of("received"), 10)).await;
        assert_eq!(row(&hq).await.status, "received");
        hq.verify().await;
    }
}

#[tokio::test]
async fn receipts_are_a_union_by_their_ids() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let with = |status: &str, receipts: Json| document(&chain, status, &[("a", 5, 2)], &receipts);
        take(&hq, &chain.first, &reported(&chain.first, &with("in_transit", json!([{"receiptId": "x"}])), 1)).await;
        assert_eq!(row(&hq).await.receipts.0, json!([]), "the source receives nothing");
        let first = json!([{"receiptId": "r1", "note": "a"}]);
        take(&hq, &chain.second, &reported(&chain.second, &with("partially_received", first), 2)).await;
        // A store that was set up again knows only of what it received since.
        let second = json!([{"receiptId": "r2"}, {"receiptId": "r1", "note": "b"}]);
        take(&hq, &chain.second, &reported(&chain.second, &with("partially_received", second), 3)).await;
        let third = json!([{"receiptId": "r3"}]);
        take(&hq, &chain.second, &reported(&chain.second, &with("received", third), 4)).await;
        let expected = json!([{"receiptId": "r1", "note": "b"}, {"receiptId": "r2"}, {"receiptId": "r3"}]);
        assert_eq!(row(&hq).await.receipts.0, expected);
        hq.verify().await;
    }
}

/// One side of a transfer with a database of its own.
struct Side {
    shop: Shop,
    sender: Sender,
}

impl Side {
    /// Changes the transfer here, as a route would; what is to be sent.
    async fn work(&self, seconds: i64, change: impl FnOnce(&mut Json)) -> Json {
        let mut data = self.shop.rows("transfers").await.remove(0);
        change(&mut data);
        let mut row = data.clone();
        row["syncVersion"] = json!(1_000_000);
        self.shop.execute("UPDATE transfers SET synced = TRUE", []).await;
        let cursor = self.shop.cursor("transfers").await.version;
        self.shop.execute("UPDATE sequences SET last_version = 0 WHERE entity_type = 'transfers'", []).await;
        self.shop.receive("transfers", &[row]).await;
        self.shop.execute("UPDATE transfers SET synced = FALSE", []).await;
        self.shop
            .execute("UPDATE sequences SET last_version = $1 WHERE entity_type = 'transfers'", [cursor.into()])
            .await;
        reported(&self.sender, &data, seconds)
    }

    async fn send(&self, hq: &Hq, envelope: &Json) {
        take(hq, &self.sender, envelope).await;
        self.shop.execute("UPDATE transfers SET synced = TRUE", []).await;
    }

    /// The transfer as this store has it.
    async fn state(&self) -> Json {
        let mut row = self.shop.rows("transfers").await.remove(0);
        row["syncVersion"] = json!(0);
        row
    }
}

async fn end_at_hq(hq: &Hq, store: uuid::Uuid) -> Json {
    let mut row = hq.rows("transfers", store).await.remove(0);
    row["syncVersion"] = json!(0);
    row
}

#[tokio::test]
async fn a_source_that_edits_and_cancels_while_the_destination_receives_ends_as_headquarters_does() {
    for source_first in [true, false] {
        for hq in kit::both().await {
            let chain = Chain::found(&hq).await;
            let source = Side { shop: Shop::open(chain.first.store_id).await, sender: chain.first.clone() };
            let destination = Side { shop: Shop::open(chain.second.store_id).await, sender: chain.second.clone() };
            let sent = document(&chain, "in_transit", &[("a", 5, 0), ("b", 2, 0)], &json!([]));
            take(&hq, &chain.first, &reported(&chain.first, &sent, 1)).await;
            for side in [&source, &destination] {
                side.shop.pull(&hq, "transfers", 10).await;
            }
            // Both are offline.
            let edited = source
                .work(10, |row| {
                    row["trackingNumber"] = json!("T-77");
                    row["status"] = json!("cancelled");
                    row["cancelledReason"] = json!("wrong store");
                })
                .await;
            let received = destination
                .work(5, |row| {
                    row["status"] = json!("partially_received");
                    row["receipts"] = json!([{"receiptId": "r1"}]);
                    row["transferItems"][0]["receivedQuantity"] = json!(4);
                    row["transferItems"][0]["damagedQuantity"] = json!(1);
                })
                .await;
            // What HQ has does not overwrite what was not sent yet.
            hq.edit::<transfer::Entity>(id("transfer"), |_| {}).await;
            for side in [&source, &destination] {
                side.shop.pull(&hq, "transfers", 10).await;
            }
            assert_eq!(source.state().await["status"], "cancelled");
            assert_eq!(destination.state().await["transferItems"][0]["receivedQuantity"], 4);

            let mut order = [(&source, &edited), (&destination, &received)];
            if !source_first {
                order.reverse();
            }
            for (side, envelope) in order {
                side.send(&hq, envelope).await;
            }
            for side in [&source, &destination] {
                side.shop.pull(&hq, "transfers", 10).await;
            }
            let end = end_at_hq(&hq, chain.first.store_id).await;
            assert_eq!((&end["status"], &end["trackingNumber"]), (&json!("partially_received"), &json!("T-77")));
            assert_eq!(end["receipts"], json!([{"receiptId": "r1"}]));
            let line = &end["transferItems"][0];
            assert_eq!((&line["sentQuantity"], &line["receivedQuantity"]), (&json!(5), &json!(4)));
            assert_eq!(line["damagedQuantity"], 1);
            assert_eq!(source.state().await, end, "source first: {source_first}");
            assert_eq!(destination.state().await, end, "source first: {source_first}");
            let item = hq.row::<transfer_item::Entity>(id("b")).await.expect("the line");
            assert_eq!(item.sent_quantity, Some(Qty::pieces(2)));
            hq.verify().await;
        }
    }
}
