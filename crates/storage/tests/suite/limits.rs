//! What is longer than it may be: refused by name, or cut off where money came in. `docs/sync.md`, rule U9.

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use tillkeep_model::wire::{Applied, PushStatus};
use tillkeep_storage::entity::{
    customer, inventory_adjustment, register_session, sale, sale_item, sale_payment, transfer,
};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use tillkeep_storage::sync_log as log;

use crate::kit::chain::{self, Chain, id};
use crate::kit::envelopes::{
    adjustment, create_sale, customer as new_customer, envelope, push, refuse, take, void_sale,
};
use crate::kit::{self, Hq, at};

/// Letters of more than one byte: they are counted, not their bytes.
fn letters(count: usize) -> String {
    "é".repeat(count)
}

fn with(mut envelope: Json, more: &[(&str, Json)]) -> Json {
    for (key, value) in more {
        envelope["data"][*key] = value.clone();
    }
    envelope
}

fn order(chain: &Chain, more: &[(&str, Json)]) -> Json {
    let data = json!({
        "id": id("order"), "poNumber": "S01-PO-1", "supplierId": id("supplier"), "status": "draft", "createdAt": at(0),
    });
    with(envelope(&chain.first, "purchase_orders", id("order"), "create", &data, at(0)), more)
}

fn transfer(chain: &Chain, lines: &Json) -> Json {
    let data = json!({
        "id": id("transfer"), "transferNumber": "S01-TR-1", "fromStoreId": chain.first.store_id,
        "toStoreId": chain.second.store_id, "status": "draft", "createdAt": at(0), "transferItems": lines,
    });
    envelope(&chain.first, "transfers", id("transfer"), "create", &data, at(0))
}

async fn supplier(hq: &Hq) {
    hq.insert::<tillkeep_storage::entity::supplier::Entity>([chain::supplier()]).await;
}

async fn sale_of(hq: &Hq, name: &str) -> sale::Model {
    hq.row::<sale::Entity>(id(name)).await.expect("the sale")
}

#[tokio::test]
async fn a_customer_an_order_and_a_transfer_beyond_a_limit_are_refused_by_name_and_the_rest_goes_on() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        supplier(&hq).await;
        let person = |name: &str| new_customer(&chain.first, id(name), name);
        let line = |name: usize| json!([{"lineNo": 1, "productId": chain.tea, "productName": letters(name)}]);
        let envelopes = [
            with(person("long"), &[("notes", json!(letters(4001)))]),
            with(person("odd"), &[("email", json!("no address"))]),
            order(&chain, &[("notes", json!(letters(4001)))]),
            transfer(&chain, &line(501)),
            with(person("fits"), &[("notes", json!(letters(4000)))]),
            create_sale(&chain.first, id("sale"), &[(chain.tea, 1)]),
        ];
        let results = push(&hq, &chain.first, &envelopes).await.results;
        let said: Vec<_> = results.iter().map(|result| result.error.clone().unwrap_or_default()).collect();
        assert_eq!(said[0], "data.notes: must have at most 4000 characters");
        assert_eq!(said[1], "data.email: must be an e-mail address of at most 200 characters, such as ann@example.com");
        assert_eq!(said[2], "data.notes: must have at most 4000 characters");
        assert_eq!(said[3], "data.transferItems[0].productName: must have at most 500 characters");
        assert_eq!(said[4..], ["", ""]);
        assert!(results[..4].iter().all(|result| result.code.as_deref() == Some("bad_data")));
        let kept = hq.log().await.into_iter().filter(|row| row.status == log::FAILED && row.envelope.is_some()).count();
        assert_eq!(kept, 4, "they can be tried again");
        take(&hq, &chain.first, &order(&chain, &[("notes", json!(letters(4000)))])).await;
        take(&hq, &chain.first, &transfer(&chain, &line(500))).await;
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_text_of_a_sale_a_drawer_or_an_adjustment_is_cut_at_a_letter_and_flagged() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut sale =
            with(create_sale(&chain.first, id("sale"), &[(chain.tea, 1)]), &[("note", json!(letters(2001)))]);
        sale["data"]["saleItems"][0]["product_name"] = json!(letters(501));
        sale["data"]["salePayments"][0]["reference"] = json!(letters(200));
        let data = json!({
            "id": id("drawer"), "registerCode": "01", "sessionNumber": 1, "status": "open",
            "businessDate": "2026-11-20", "openedAt": at(0), "createdAt": at(0), "closeNote": letters(2001),
        });
        let drawer = envelope(&chain.first, "register_sessions", id("drawer"), "create", &data, at(0));
        let mut found = adjustment(&chain.first, id("found"), chain.tea, "found", 1, None);
        found["data"]["note"] = json!(letters(501));
        let pushed = push(&hq, &chain.first, &[sale, drawer, found]).await;
        assert!(pushed.results.iter().all(|result| result.status == PushStatus::Ok), "{:?}", pushed.results);
        let stored = sale_of(&hq, "sale").await;
        assert_eq!(stored.note.as_deref(), Some(letters(2000).as_str()));
        assert_eq!(stored.flags.0, json!(["cut:note", "cut:saleItems.productName"]));
        let line = sale_item::Entity::find().filter(sale_item::Column::SaleId.eq(stored.id)).one(hq.db.reader()).await;
        assert_eq!(line.expect("a read").expect("the line").product_name, letters(500));
        let paid = sale_payment::Entity::find().filter(sale_payment::Column::SaleId.eq(stored.id));
        let paid = paid.one(hq.db.reader()).await.expect("a read").expect("the payment");
        assert_eq!(paid.reference.as_deref(), Some(letters(200).as_str()), "what fits stays whole");
        let drawer = hq.row::<register_session::Entity>(id("drawer")).await.expect("the drawer");
        assert_eq!((drawer.close_note, drawer.flags.0), (Some(letters(2000)), json!(["cut:closeNote"])));
        let found = hq.row::<inventory_adjustment::Entity>(id("found")).await.expect("the adjustment");
        assert_eq!((found.note, found.flags.0), (Some(letters(500)), json!(["cut:note"])));
        let warnings: Vec<_> = hq.log().await.into_iter().filter_map(|row| row.warning).collect();
        assert!(warnings.contains(&"cut:note".to_owned()), "of the adjustment: {warnings:?}");
        assert!(warnings.contains(&"cut:note, cut:saleItems.productName".to_owned()), "{warnings:?}");
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_document_that_was_cut_is_the_same_when_it_comes_again_and_stays_flagged() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let products = [(chain.tea, 1)];
        let mut sale = with(create_sale(&chain.first, id("sale"), &products), &[("note", json!(letters(3000)))]);
        sale["data"]["saleItems"][0]["sku"] = json!(letters(101));
        assert_eq!(take(&hq, &chain.first, &sale).await, Applied::Inserted);
        assert_eq!(take(&hq, &chain.first, &sale).await, Applied::Duplicate, "the same envelope");
        sale["timestamp"] = json!(at(5));
        assert_eq!(take(&hq, &chain.first, &sale).await, Applied::Duplicate, "the same content");
        let flags = json!(["cut:note", "cut:saleItems.sku"]);
        assert_eq!(sale_of(&hq, "sale").await.flags.0, flags);
        // A void says nothing of the note, and its reason is too long itself.
        let void = with(void_sale(&chain.first, id("sale"), &products), &[("voidReason", json!(letters(501)))]);
        assert_eq!(take(&hq, &chain.first, &void).await, Applied::Updated);
        let stored = sale_of(&hq, "sale").await;
        assert_eq!(stored.flags.0, json!(["cut:note", "cut:saleItems.sku", "cut:voidReason"]));
        assert_eq!((stored.note, stored.void_reason), (Some(letters(2000)), Some(letters(500))));
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_drawer_with_a_note_that_fits_now_is_flagged_no_more() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let with_note = |note: usize, seconds: i64| {
            let data = json!({
                "id": id("drawer"), "registerCode": "01", "sessionNumber": 1, "status": "open",
                "businessDate": "2026-11-20", "openedAt": at(0), "createdAt": at(0), "closeNote": letters(note),
            });
            envelope(&chain.first, "register_sessions", id("drawer"), "update", &data, at(seconds))
        };
        take(&hq, &chain.first, &with_note(2001, 1)).await;
        take(&hq, &chain.first, &with_note(7, 2)).await;
        let drawer = hq.row::<register_session::Entity>(id("drawer")).await.expect("the drawer");
        assert_eq!((drawer.close_note, drawer.flags.0), (Some(letters(7)), json!([])));
    }
}

#[tokio::test]
async fn a_row_from_before_a_limit_stays_editable_in_its_other_fields() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.first, &new_customer(&chain.first, id("ada"), "S01-1")).await;
        let long = letters(51);
        hq.edit::<customer::Entity>(id("ada"), |row| row.phone = Some(long.clone())).await;
        let edit = |seconds: i64, more: &[(&str, Json)]| {
            let mut envelope = with(new_customer(&chain.first, id("ada"), "S01-1"), more);
            (envelope["action"], envelope["timestamp"]) = (json!("update"), json!(at(seconds)));
            envelope
        };
        let renamed = edit(10, &[("firstName", json!("Bea")), ("phone", json!(long))]);
        assert_eq!(take(&hq, &chain.first, &renamed).await, Applied::Updated);
        assert_eq!(refuse(&hq, &chain.first, &edit(20, &[("phone", json!(letters(52)))])).await, "bad_data");
        // What a store does not own is not taken, so that it may be anything.
        let foreign = edit(30, &[("phone", json!("1")), ("taxExemptNumber", json!(letters(99)))]);
        assert_eq!(take(&hq, &chain.first, &foreign).await, Applied::Updated);
        let row = hq.row::<customer::Entity>(id("ada")).await.expect("the customer");
        assert_eq!((row.first_name.as_deref(), row.phone.as_deref()), (Some("Ada"), Some("1")));
        hq.verify().await;
    }
}

#[tokio::test]
async fn lists_of_money_that_are_too_long_are_left_out_and_never_refused() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let many = vec![(chain.tea, 1); 1001];
        let sale = with(create_sale(&chain.first, id("sale"), &many), &[("taxLines", json!([letters(40_000)]))]);
        take(&hq, &chain.first, &sale).await;
        let stored = sale_of(&hq, "sale").await;
        assert_eq!((stored.tax_lines.0, stored.total_amount.0), (json!([]), 1001 * 1999), "the money is what it was");
        let flags = stored.flags.0.as_array().cloned().unwrap_or_default();
        for flag in ["cut:taxLines", "cut:saleItems", "lines_total_mismatch"] {
            assert!(flags.contains(&json!(flag)), "{flag} in {flags:?}");
        }
        let lines = sale_item::Entity::find().all(hq.db.reader()).await.expect("the lines");
        assert_eq!(lines.len(), 1000);
        let line = json!({"productId": chain.tea});
        let transfer = transfer(&chain, &json!(vec![line; 5001]));
        assert_eq!(refuse(&hq, &chain.first, &transfer).await, "too_large");
        assert!(hq.row::<transfer::Entity>(id("transfer")).await.is_none());
    }
}

#[tokio::test]
async fn an_envelope_larger_than_any_document_is_refused_by_its_largest_field_and_kept_as_its_beginning() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let huge = "x".repeat(5 << 20);
        let customer = with(new_customer(&chain.first, id("ada"), "S01-1"), &[("notes", json!(huge))]);
        let sale = with(create_sale(&chain.first, id("sale"), &[(chain.tea, 1)]), &[("note", json!(huge))]);
        let unknown = envelope(&chain.first, "spaceships", id("x"), "create", &json!({"name": huge}), at(0));
        let sent = [customer, sale, unknown];
        let results = push(&hq, &chain.first, &sent).await.results;
        assert_eq!(results[0].code.as_deref(), Some("too_large"));
        let error = results[0].error.as_deref().unwrap_or_default();
        assert!(error.starts_with("data.notes: takes 5242882 bytes") && error.ends_with("shorten it"), "{error}");
        assert_eq!((results[1].code.as_deref(), results[2].status), (Some("too_large"), PushStatus::UnknownType));
        let log = hq.log().await;
        assert_eq!(log.len(), 3);
        for (row, sent) in log.iter().zip(&sent) {
            let sent = sent.to_string();
            assert_eq!((row.envelope.as_deref(), row.length), (None, i64::try_from(sent.len()).ok()));
            assert_eq!(row.beginning.as_deref(), sent.get(..16 << 10), "the first 16 KiB");
            assert_eq!(row.hash, hex::encode(Sha256::digest(&sent)));
        }
        assert!(hq.rows("customers", chain.second.store_id).await.is_empty());
    }
}
