//! One bad envelope fails alone, is remembered once, and is settled by a later success. `docs/sync.md`, rules U4, U5
//! and U12.

use serde_json::{Value as Json, json};
use tillkeep_model::Qty;
use tillkeep_model::wire::{Applied, PushStatus};
use tillkeep_storage::document::movement::{Kind, Movement};
use tillkeep_storage::entity::{customer, sale, sync_log, sync_status};
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use tillkeep_storage::{push as storage_push, raw, stock, sync_log as log};
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{create_sale, customer as new_customer, envelope, push, refuse, take};
use crate::kit::{self, Hq, at};

#[tokio::test]
async fn one_bad_entry_among_two_hundred_fails_alone() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.second, &new_customer(&chain.second, id("first"), "TAKEN")).await;
        let mut envelopes: Vec<Json> =
            (0..199).map(|n| create_sale(&chain.first, id(&format!("sale {n}")), &[(chain.tea, 1)])).collect();
        envelopes.insert(77, new_customer(&chain.first, id("second"), "TAKEN"));
        let pushed = push(&hq, &chain.first, &envelopes).await;
        assert_eq!((pushed.results.len(), pushed.refused), (200, 1));
        for (place, result) in pushed.results.iter().enumerate() {
            let expected = if place == 77 { PushStatus::Error } else { PushStatus::Ok };
            assert_eq!(result.status, expected, "place {place}: {result:?}");
        }
        let error = pushed.results[77].error.as_deref().expect("a reason");
        assert_eq!(error, "another row has the same key: customerNumber", "the field, and nothing of the database");
        let stock = hq.stock(chain.first.store_id, chain.tea).await.expect("the stock");
        assert_eq!(stock.quantity, Qty::pieces(-199));
        let status = hq.status(chain.first.store_id, "customers").await.expect("a status");
        assert_eq!((status.pending_count, status.total_pushed, status.last_error_at), (1, 0, Some(at(100))));
        assert!(status.last_error.expect("an error").contains("same key"));
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_malformed_envelope_only_fails_itself_and_says_where() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let good = || create_sale(&chain.first, id("sale"), &[(chain.tea, 1)]);
        let broken = |change: &dyn Fn(&mut Json)| {
            let mut envelope = good();
            change(&mut envelope);
            envelope
        };
        let envelopes = [
            broken(&|e| e["entity_id"] = json!("not a uuid")),
            broken(&|e| e["timestamp"] = json!("yesterday")),
            broken(&|e| {
                e.as_object_mut().expect("an object").remove("data");
            }),
            json!(7),
            json!("text"),
            json!(null),
            json!([]),
            json!({}),
            broken(&|e| e["data"] = json!([1])),
            broken(&|e| e["data"]["totalAmount"] = json!(19.99)),
            broken(&|e| e["data"]["saleItems"] = json!({})),
            broken(&|e| e["data"]["saleItems"][0]["quantity"] = json!(1.2345)),
            broken(&|e| e["data"]["id"] = json!(id("another"))),
            good(),
        ];
        let pushed = push(&hq, &chain.first, &envelopes).await;
        assert_eq!((pushed.results.len(), pushed.refused), (envelopes.len(), envelopes.len() - 1));
        assert_eq!(pushed.results.last().expect("a result").applied, Some(Applied::Inserted));
        let codes: Vec<_> = pushed.results.iter().map(|result| result.code.as_deref().unwrap_or("ok")).collect();
        let malformed = ["malformed"; 8];
        assert_eq!(codes[..8], malformed);
        assert_eq!(codes[8..], ["bad_data", "bad_data", "bad_data", "bad_data", "id_mismatch", "ok"]);
        let error = |place: usize| pushed.results[place].error.clone().unwrap_or_default();
        assert!(error(0).contains("entity_id"), "{}", error(0));
        assert!(error(9).contains("totalAmount"), "{}", error(9));
        assert!(error(11).contains("saleItems[0]") && error(11).contains("quantity"), "{}", error(11));
        hq.verify().await;
    }
}

#[tokio::test]
async fn what_stores_do_not_push_is_an_unknown_type() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let types = ["products", "carts", "", "SALES", "store_product_dynamic"];
        let envelopes: Vec<_> =
            types.iter().map(|name| envelope(&chain.first, name, id("x"), "create", &json!({}), at(0))).collect();
        let pushed = push(&hq, &chain.first, &envelopes).await;
        for result in &pushed.results {
            assert_eq!((result.status, result.code.as_deref()), (PushStatus::UnknownType, Some("unknown_type")));
        }
        assert_eq!(hq.log().await.iter().filter(|row| row.status == log::FAILED).count(), types.len());
        hq.verify().await;
    }
}

#[tokio::test]
async fn an_envelope_in_the_name_of_another_store_is_refused() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let sale = create_sale(&chain.second, id("sale"), &[(chain.tea, 1)]);
        assert_eq!(refuse(&hq, &chain.first, &sale).await, "store_mismatch");
        assert!(hq.row::<tillkeep_storage::entity::sale::Entity>(id("sale")).await.is_none());
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_failing_envelope_is_one_row_of_the_log_however_often_it_comes() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.second, &new_customer(&chain.second, id("first"), "TAKEN")).await;
        let bad = new_customer(&chain.first, id("second"), "TAKEN");
        let unreadable = json!({"entity_type": "sales", "entity_id": "x", "action": "create", "seq": 4});
        for _ in 0..3 {
            assert_eq!(refuse(&hq, &chain.first, &bad).await, "not_storable");
            assert_eq!(refuse(&hq, &chain.first, &unreadable).await, "malformed");
        }
        let failed: Vec<_> = hq.log().await.into_iter().filter(|row| row.status == log::FAILED).collect();
        assert_eq!(failed.len(), 2);
        for row in &failed {
            assert_eq!(row.retry_count, 2, "{}", row.entity_type);
            assert!(row.error.as_deref().is_some_and(|text| !text.is_empty()));
        }
        let kept: Json = kit::parse(failed[0].envelope.as_deref().expect("the envelope is kept for a retry"));
        assert_eq!(kept, bad);
        assert_eq!((failed[1].seq, failed[1].entity_id.as_str()), (Some(4), "x"));
        for name in ["customers", "sales"] {
            assert_eq!(hq.status(chain.first.store_id, name).await.expect("a status").pending_count, 1);
        }
    }
}

#[tokio::test]
async fn a_later_success_settles_the_older_failures_of_the_entity() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.second, &new_customer(&chain.second, id("first"), "TAKEN")).await;
        refuse(&hq, &chain.first, &new_customer(&chain.first, id("second"), "TAKEN")).await;
        refuse(&hq, &chain.first, &new_customer(&chain.first, id("third"), "TAKEN")).await;
        let mut renamed = new_customer(&chain.first, id("second"), "S01-7");
        renamed["timestamp"] = json!(at(9));
        assert_eq!(take(&hq, &chain.first, &renamed).await, Applied::Inserted);
        let rows = hq.log().await;
        let of = |name| rows.iter().filter(|row| row.entity_id == id(name).to_string()).collect::<Vec<_>>();
        let settled = of("second");
        assert_eq!(settled[0].status, log::RESOLVED);
        assert!(settled[0].resolved_at.is_some() && settled[0].envelope.is_none() && settled[0].note.is_some());
        assert_eq!(settled[1].status, log::SUCCESS);
        assert_eq!(of("third")[0].status, log::FAILED, "another entity's failure stays");
        assert_eq!(hq.status(chain.first.store_id, "customers").await.expect("a status").pending_count, 1);
    }
}

#[tokio::test]
async fn a_failed_envelope_can_be_applied_again_from_what_was_kept() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.second, &new_customer(&chain.second, id("first"), "TAKEN")).await;
        refuse(&hq, &chain.first, &new_customer(&chain.first, id("second"), "TAKEN")).await;
        let kept = hq.log().await.into_iter().find_map(|row| row.envelope).expect("the envelope");
        let again = storage_push::push(&hq.db, &chain.first, &[kept.as_str()], at(200)).await.expect("an answer");
        assert_eq!(again.refused, 1);
        hq.edit::<customer::Entity>(id("first"), |row| row.customer_number = "FREE".into()).await;
        let again = storage_push::push(&hq.db, &chain.first, &[kept.as_str()], at(300)).await.expect("an answer");
        assert_eq!(again.results[0].applied, Some(Applied::Inserted));
        hq.verify().await;
    }
}

/// A user at headquarters takes care of everything that failed.
async fn settle_by_hand(hq: &Hq) {
    let sql = "UPDATE sync_log SET status = 'resolved', resolved_by = $1, resolved_at = $2 WHERE status = 'failed'";
    let tx = hq.db.begin().await.expect("a transaction");
    raw::execute(&tx, sql, [id("user").into(), at(150).into()]).await.expect("an update");
    tx.commit().await.expect("a commit");
}

#[tokio::test]
async fn what_a_user_settled_by_hand_is_neither_applied_nor_a_new_failure_when_it_comes_once_more() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.second, &new_customer(&chain.second, id("first"), "TAKEN")).await;
        let bad = new_customer(&chain.first, id("second"), "TAKEN");
        let mut garbled = create_sale(&chain.first, id("sale"), &[(chain.tea, 1)]);
        garbled["data"]["totalAmount"] = json!("x");
        let unreadable = json!({"entity_type": "sales", "entity_id": "x", "action": "create", "seq": 4});
        for envelope in [&bad, &garbled, &unreadable] {
            refuse(&hq, &chain.first, envelope).await;
        }
        settle_by_hand(&hq).await;
        // By now the customer could be stored.
        hq.edit::<customer::Entity>(id("first"), |row| row.customer_number = "FREE".into()).await;
        for _ in 0..2 {
            assert_eq!(take(&hq, &chain.first, &bad).await, Applied::Skipped);
            assert_eq!(take(&hq, &chain.first, &garbled).await, Applied::Skipped);
            refuse(&hq, &chain.first, &unreadable).await;
        }
        assert!(hq.row::<customer::Entity>(id("second")).await.is_none());
        assert!(hq.log().await.iter().all(|row| row.status != log::FAILED));
        // Another envelope of the same row is another matter.
        let mut renamed = new_customer(&chain.first, id("second"), "S01-7");
        renamed["timestamp"] = json!(at(9));
        assert_eq!(take(&hq, &chain.first, &renamed).await, Applied::Inserted);
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_success_closes_the_older_failures_of_its_row_and_no_newer_one_whatever_they_are_numbered_by() {
    // A failure by its number and database, and its time; whether number 5 of database "a", made at 10, closes it.
    let failures = [
        (Some((4, "a")), 20, true),
        (Some((6, "a")), 5, false),
        (Some((9, "b")), 5, true),
        (Some((1, "b")), 20, false),
        (None, 5, true),
        (None, 20, false),
    ];
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        take(&hq, &chain.second, &new_customer(&chain.second, id("first"), "TAKEN")).await;
        for (place, (number, seconds, closed)) in failures.into_iter().enumerate() {
            let row = id(&format!("customer {place}"));
            let numbered = |customer_number: &str, number: Option<(i64, &str)>, seconds| {
                let mut envelope = new_customer(&chain.first, row, customer_number);
                envelope["timestamp"] = json!(at(seconds));
                if let Some((seq, epoch)) = number {
                    (envelope["seq"], envelope["node_epoch"]) = (json!(seq), json!(epoch));
                }
                envelope
            };
            refuse(&hq, &chain.first, &numbered("TAKEN", number, seconds)).await;
            let mut other_type = envelope(&chain.first, "sales", row, "create", &json!([]), at(0));
            (other_type["seq"], other_type["node_epoch"]) = (json!(1), json!("a"));
            refuse(&hq, &chain.first, &other_type).await;
            let good = numbered(&format!("S01-{place}"), Some((5, "a")), 10);
            let pushed = push(&hq, &chain.first, &[good]).await;
            assert_eq!(pushed.results[0].applied, Some(Applied::Inserted));
            assert!(!closed || pushed.handshake, "{number:?} at {seconds}: the store is to learn of it");
            let rows = hq.log().await;
            let of = |name| rows.iter().find(|entry| is_failure_of(entry, name, row)).expect("the failure");
            let (failed, other) = (of("customers"), of("sales"));
            assert_eq!(failed.status == log::RESOLVED, closed, "{number:?} at {seconds}");
            assert_eq!(failed.envelope.is_none(), closed, "what is to be tried again is kept");
            assert_eq!((other.status.as_str(), other.envelope.is_some()), (log::FAILED, true), "another type");
        }
        hq.verify().await;
    }
}

fn is_failure_of(entry: &sync_log::Model, entity_type: &str, row: Uuid) -> bool {
    entry.code.is_some() && entry.entity_type == entity_type && entry.entity_id == row.to_string()
}

#[tokio::test]
async fn what_a_store_writes_into_an_error_is_kept_and_answered_as_far_as_a_user_reads_it() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let long = "9".repeat(20_000);
        let mut amount = create_sale(&chain.first, id("amount"), &[(chain.tea, 1)]);
        amount["data"]["totalAmount"] = json!(long);
        let mut quantity = create_sale(&chain.first, id("quantity"), &[(chain.tea, 1)]);
        quantity["data"]["saleItems"][0]["quantity"] = json!(long);
        let mut time = create_sale(&chain.first, id("time"), &[(chain.tea, 1)]);
        time["timestamp"] = json!(long);
        let unknown = envelope(&chain.first, &long, id("type"), "create", &json!({}), at(0));
        let named = json!({"entity_type": long, "entity_id": long, "action": long});
        let pushed = push(&hq, &chain.first, &[amount, quantity, time, unknown, named]).await;
        assert_eq!(pushed.refused, 5);
        let short = |text: &str, most: usize| assert!(text.chars().count() <= most, "{} letters", text.len());
        for result in &pushed.results {
            short(result.error.as_deref().expect("an error"), 401);
            short(&result.entity_type, 100);
            short(&result.entity_id, 100);
        }
        for row in hq.log().await {
            short(row.error.as_deref().expect("an error"), 401);
            short(&row.entity_type, 100);
            // What was read and refused a retry needs whole; what cannot be read it never takes.
            let whole = row.code.as_deref() != Some("malformed");
            assert_eq!((row.envelope.is_some(), row.beginning.is_none()), (whole, whole), "{:?}", row.code);
        }
        let status = hq.status(chain.first.store_id, "sales").await.expect("a status");
        short(&status.last_error.expect("an error"), 401);
    }
}

#[tokio::test]
async fn amounts_and_quantities_that_no_sum_holds_stop_nothing() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut rich = create_sale(&chain.first, id("rich"), &[(chain.tea, 1)]);
        for (key, amount) in [("netAmount", i64::MAX), ("taxAmount", 1), ("totalAmount", i64::MIN)] {
            rich["data"][key] = json!(amount);
            rich["data"]["saleItems"][0][key] = json!(amount);
        }
        let mut hoard = create_sale(&chain.first, id("hoard"), &[(chain.rice, 1); 10]);
        for line in 0..10 {
            hoard["data"]["saleItems"][line]["quantity"] = json!(999_999_999_999_999_i64);
        }
        let good = create_sale(&chain.first, id("good"), &[(chain.tea, 1)]);
        let pushed = push(&hq, &chain.first, &[rich, hoard, good]).await;
        let codes: Vec<_> = pushed.results.iter().map(|result| result.code.as_deref().unwrap_or("ok")).collect();
        assert_eq!(codes, ["ok", "not_storable", "ok"]);
        let rich = hq.row::<sale::Entity>(id("rich")).await.expect("the sale");
        let wrong = ["net_and_tax_are_not_total", "line_price_mismatch", "payments_mismatch"];
        assert_eq!(rich.flags.0, json!(wrong));
        let tea = hq.stock(chain.first.store_id, chain.tea).await.expect("the stock");
        assert_eq!(tea.quantity, Qty::pieces(-2));
        assert_eq!(hq.stock(chain.first.store_id, chain.rice).await, None);
        hq.verify().await;
    }
}

/// Text that some database, index or log refuses.
fn awkward() -> Vec<String> {
    vec!["a\0b".to_owned(), incompressible(20_000), "\u{10ffff}\u{fffe}\r\n\t\"'\\;--".to_owned()]
}

/// Text that stays long when a database compresses it.
fn incompressible(length: usize) -> String {
    (0..length / 32).map(|n| id(&n.to_string()).simple().to_string()).collect()
}

async fn still_works(hq: &Hq, chain: &Chain, name: &str) {
    let sale = create_sale(&chain.first, id(name), &[(chain.tea, 1)]);
    assert_eq!(take(hq, &chain.first, &sale).await, Applied::Inserted);
}

#[tokio::test]
async fn no_text_in_an_envelope_can_stop_the_others() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        for (round, text) in awkward().into_iter().enumerate() {
            let name = |what: &str| id(&format!("{what} {round}"));
            let mut bad = vec![
                envelope(&chain.first, &text, name("type"), "create", &json!({}), at(0)),
                envelope(&chain.first, "sales", name("action"), &text, &json!({}), at(0)),
                envelope(&chain.first, "customers", name("customer"), "create", &json!({"email": text}), at(0)),
                new_customer(&chain.first, name("number"), &text),
                json!({"entity_type": text, "entity_id": text, "action": text, "store_id": text}),
            ];
            let mut key = create_sale(&chain.first, name("key"), &[(chain.tea, 1)]);
            key["data"][&text] = json!(text);
            key["data"]["taxLines"] = json!([{ "name": text }]);
            bad.push(key);
            let mut epoch = create_sale(&chain.first, name("epoch"), &[(chain.tea, 1)]);
            epoch["node_epoch"] = json!(text);
            bad.push(epoch);
            bad.push(create_sale(&chain.first, name("good"), &[(chain.tea, 1)]));
            let pushed = push(&hq, &chain.first, &bad).await;
            assert_eq!(pushed.results.len(), bad.len());
            assert_eq!(pushed.results.last().expect("a result").applied, Some(Applied::Inserted));
        }
        still_works(&hq, &chain, "after all").await;
        hq.verify().await;
    }
}

#[tokio::test]
async fn no_number_in_an_envelope_can_stop_the_others() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let numbers = ["9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e400", "-0", "0.0001"];
        let mut envelopes = Vec::new();
        for (round, number) in numbers.iter().enumerate() {
            for field in ["totalAmount", "netAmount", "cartDiscountValue", "saleItems", "taxLines"] {
                let sale = id(&format!("{field} {round}"));
                let text = create_sale(&chain.first, sale, &[(chain.tea, 1)]).to_string();
                let value = match field {
                    "saleItems" => {
                        format!("[{{\"quantity\":{number},\"netAmount\":{number}}},{{\"netAmount\":{number}}}]")
                    }
                    "taxLines" => format!("[{number}]"),
                    _ => (*number).to_owned(),
                };
                // Later keys would be duplicates, so the field is put under another name first.
                let text = text.replacen(&format!("\"{field}\":"), "\"was\":", 1);
                let text = text.replacen("\"data\":{", &format!("\"data\":{{\"{field}\":{value},"), 1);
                envelopes.push(text);
            }
        }
        let envelopes: Vec<&str> = envelopes.iter().map(String::as_str).collect();
        let pushed = storage_push::push(&hq.db, &chain.first, &envelopes, at(100)).await.expect("an answer");
        assert_eq!(pushed.results.len(), envelopes.len());
        still_works(&hq, &chain, "after all").await;
    }
}

#[tokio::test]
async fn a_request_may_have_more_products_than_a_statement_has_places() {
    // SQLite's limit, 32 766, is the lower one.
    let hq = Hq::sqlite().await;
    let chain = Chain::found(&hq).await;
    let movements = (0..33_000_u128)
        .map(|n| Movement {
            kind: Kind::Sale,
            product_id: Uuid::from_u128(n),
            change: Qty::pieces(-1),
            source_id: id("sale"),
            line_id: Uuid::from_u128(n),
            business_date: "2026-11-20".to_owned(),
            at: at(0),
            received: false,
            unit_cost: None,
            tracked: None,
            average_after: None,
        })
        .collect();
    let mut tx = hq.db.begin().await.expect("a transaction");
    let effects = stock::apply(&mut tx, chain.first.store_id, movements, at(0)).await.expect("the effects");
    tx.commit().await.expect("a commit");
    assert_eq!(effects.levels.len(), 33_000);
    hq.verify().await;
}

#[tokio::test]
async fn above_ten_thousand_failures_or_64_mib_of_them_a_store_keeps_no_payload() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let of = async |sender: &Sender, full: bool| {
            let log: Vec<_> = hq.log().await.into_iter().filter(|row| row.store_id == sender.store_id).collect();
            let sent = sync_status::Entity::find()
                .filter(sync_status::Column::StoreId.eq(sender.store_id))
                .filter(sync_status::Column::Direction.eq(log::PUSH))
                .all(hq.db.reader())
                .await
                .expect("the counters");
            assert_eq!(log::is_full(&sent.iter().collect::<Vec<_>>()), full, "{}", sender.store_code);
            let bytes: i64 = sent.iter().map(|row| row.pending_bytes).sum();
            let kept: usize = log.iter().filter_map(|row| row.envelope.as_ref()).map(String::len).sum();
            assert_eq!(usize::try_from(bytes).ok(), Some(kept), "what is counted is what is kept");
            (log.len(), log.iter().filter(|row| row.envelope.is_some()).count())
        };
        let many: Vec<_> = (0..10_005).map(|number| json!({"entity_type": "sales", "entity_id": number})).collect();
        for part in many.chunks(2500) {
            push(&hq, &chain.first, part).await;
        }
        assert_eq!(of(&chain.first, true).await, (10_001, 10_000), "each has its row, and those beyond have one");
        let large = "x".repeat(2_000_000);
        let name = |number: usize| json!({"name": number, "text": large});
        let unknown = |number: usize| envelope(&chain.second, "spaceships", id("x"), "create", &name(number), at(0));
        for _ in 0..2 {
            // The same again is the same rows.
            push(&hq, &chain.second, &(0..35).map(unknown).collect::<Vec<_>>()).await;
            assert_eq!(of(&chain.second, true).await, (35, 33));
        }
        // What a user settles makes room.
        settle_by_hand(&hq).await;
        let tx = hq.db.begin().await.expect("a transaction");
        log::count_pending(&tx, chain.second.store_id).await.expect("counted");
        tx.commit().await.expect("a commit");
        let failed = hq.status(chain.second.store_id, log::UNKNOWN).await.expect("a status");
        assert_eq!((failed.pending_count, failed.pending_bytes), (0, 0));
    }
}

#[tokio::test]
async fn a_nul_in_a_text_is_bad_data_on_both_databases_and_names_the_field() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let sale = |name: &str| create_sale(&chain.first, id(name), &[(chain.tea, 1), (chain.tea, 2)]);
        let (mut noted, mut line, mut harmless) = (sale("noted"), sale("line"), sale("harmless"));
        noted["data"]["customerName"] = json!("a\0b");
        line["data"]["saleItems"][1]["productName"] = json!("\0");
        // Not the letter itself, and a key that nobody reads.
        harmless["data"]["customerName"] = json!("\\u0000");
        harmless["data"]["unheardOf"] = json!("a\0b");
        let pushed = push(&hq, &chain.first, &[noted, sale("good"), line, harmless]).await;
        let codes: Vec<_> = pushed.results.iter().map(|result| result.code.as_deref().unwrap_or("ok")).collect();
        assert_eq!(codes, ["bad_data", "ok", "bad_data", "ok"]);
        let said = |place: usize| pushed.results[place].error.as_deref().unwrap_or_default();
        assert_eq!(said(0), "data.customerName: must not contain the NUL character");
        assert_eq!(said(2), "data.saleItems[1].productName: must not contain the NUL character");
        let kept = hq.row::<sale::Entity>(id("harmless")).await.expect("the sale");
        assert_eq!(kept.customer_name.as_deref(), Some("\\u0000"));
        hq.verify().await;
    }
}
