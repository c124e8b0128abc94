//! Envelopes that say what they are about, and what HQ writes down of a customer whom a store changed. `docs/sync.md`, rules
//! U11 and U13.

use serde_json::{Value as Json, json};
use tillkeep_model::Qty;
use tillkeep_model::wire::{Applied, Number, SentRange};
use tillkeep_storage::entity::{audit_log, customer, outbox, outbox_sent};
use tillkeep_storage::outbox::{self as entries, Entry};
use tillkeep_storage::sea_orm::{EntityTrait, QueryOrder};
use tillkeep_storage::{audit, nodes};
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{create_sale, customer as new_customer, push, take};
use crate::kit::{self, Hq, Shop, at};

/// A later envelope with the whole row as its store has it.
fn later(mut envelope: Json, seconds: i64, data: &[(&str, &str)], changed: Option<&[&str]>) -> Json {
    (envelope["action"], envelope["timestamp"]) = (json!("update"), json!(at(seconds)));
    for (key, value) in data {
        envelope["data"][key] = json!(value);
    }
    if let Some(changed) = changed {
        envelope["changed"] = json!(changed);
    }
    envelope
}

async fn names(hq: &Hq, name: &str) -> (Option<String>, Option<String>, Option<String>) {
    let row = hq.row::<customer::Entity>(id(name)).await.expect("the customer");
    (row.first_name, row.last_name, row.phone)
}

fn some(first: &str, last: &str, phone: &str) -> (Option<String>, Option<String>, Option<String>) {
    let of = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    (of(first), of(last), of(phone))
}

#[tokio::test]
async fn an_envelope_that_names_what_it_changed_puts_nothing_else_back() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let made = new_customer(&chain.first, id("Ada"), "S01-1");
        assert_eq!(take(&hq, &chain.first, &made).await, Applied::Inserted);
        hq.edit::<customer::Entity>(id("Ada"), |row| row.last_name = Some("Lovelace".to_owned())).await;
        // The store has not pulled that yet.
        let whole = [("lastName", "Byron"), ("phone", "555 0101")];
        let phone = later(made.clone(), 10, &whole, Some(&["phone"]));
        assert_eq!(take(&hq, &chain.first, &phone).await, Applied::Updated);
        assert_eq!(names(&hq, "Ada").await, some("Ada", "Lovelace", "555 0101"));
        let mut the_same = phone.clone();
        the_same.as_object_mut().expect("an object").remove("changed");
        assert_eq!(take(&hq, &chain.first, &the_same).await, Applied::Duplicate, "its hash is that of its data");
        let either =
            later(made.clone(), 11, &[("firstName", "Augusta"), ("phone", "none")], Some(&["first_name", "no_such"]));
        assert_eq!(take(&hq, &chain.first, &either).await, Applied::Updated);
        assert_eq!(names(&hq, "Ada").await, some("Augusta", "Lovelace", "555 0101"), "in either spelling");
        assert_eq!(take(&hq, &chain.first, &later(made.clone(), 12, &whole, Some(&[]))).await, Applied::Duplicate);
        assert_eq!(names(&hq, "Ada").await, some("Augusta", "Lovelace", "555 0101"), "it names nothing");
        assert_eq!(take(&hq, &chain.first, &later(made, 13, &whole, None)).await, Applied::Updated);
        assert_eq!(names(&hq, "Ada").await, some("Ada", "Byron", "555 0101"), "without a word it is all of the row");
        // A row that HQ lacks is taken whole.
        let lost = later(new_customer(&chain.first, id("Eve"), "S01-2"), 14, &whole, Some(&["phone"]));
        assert_eq!(take(&hq, &chain.first, &lost).await, Applied::Inserted);
        assert_eq!(names(&hq, "Eve").await, some("Ada", "Byron", "555 0101"));
        hq.verify().await;
    }
}

#[tokio::test]
async fn headquarters_writes_down_what_a_store_changed_of_a_customer() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let made = |name: &str, number: &str| new_customer(&chain.first, id(name), number);
        push(&hq, &chain.first, &[made("Ada", "S01-1"), made("Eve", "S01-2")]).await;
        let log = async || {
            let rows = audit_log::Entity::find().order_by_asc(audit_log::Column::Seq).all(hq.db.reader()).await;
            let rows = rows.expect("the log").into_iter().filter(|row| row.action == "sync.change");
            rows.map(|row| (row.entity_id.expect("an id"), row.details.0)).collect::<Vec<_>>()
        };
        assert_eq!(log().await, [], "what is new has no old values");
        let edits = [
            later(made("Ada", "S01-1"), 10, &[("phone", "555 0101"), ("firstName", "Augusta")], None),
            later(made("Eve", "S01-2"), 10, &[("phone", "555 0102")], Some(&["phone"])),
        ];
        assert_eq!(
            push(
                &hq,
                &chain.second,
                &edits.clone().map(|mut edit| {
                    edit["store_id"] = json!(chain.second.store_id);
                    edit
                })
            )
            .await
            .refused,
            0
        );
        let rows = log().await;
        let of = |name: &str| rows.iter().find(|(row, _)| *row == id(name).to_string()).expect(name).1.clone();
        let ada = of("Ada");
        assert_eq!((&ada["storeCode"], &ada["storeId"]), (&json!("S02"), &json!(chain.second.store_id)));
        assert_eq!(ada["old"], json!({"firstName": "Ada", "phone": null}));
        assert_eq!(ada["new"], json!({"firstName": "Augusta", "phone": "555 0101"}));
        assert_eq!(of("Eve")["new"], json!({"phone": "555 0102"}));
        assert_eq!(rows.len(), 2);
        // The same values again are no change.
        let again = later(made("Eve", "S01-2"), 20, &[("phone", "555 0102")], None);
        take(&hq, &chain.first, &again).await;
        assert_eq!(log().await.len(), 2);
        audit::verify(hq.db.reader(), None).await.expect("a read").expect("a whole chain");
        hq.verify().await;
    }
}

#[tokio::test]
async fn headquarters_lets_a_store_forget_what_it_has_without_a_hole_for_ninety_days_by_its_own_clock() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let store = chain.first.store_id;
        let sent: Vec<Json> = [1, 2, 3, 5, 6]
            .map(|seq| {
                let mut sale = create_sale(&chain.first, id(&format!("sale {seq}")), &[(chain.tea, 1)]);
                (sale["seq"], sale["node_epoch"]) = (json!(seq), json!("this database"));
                sale
            })
            .into();
        push(&hq, &chain.first, &sent).await;
        let range =
            |whole_from| SentRange { node_epoch: "this database".to_owned(), first: 1, last: 6, recent: 6, whole_from };
        // What is pushed here is seen at 100 s.
        let up_to = async |whole_from, before| {
            let kept = nodes::long_kept(hq.db.reader(), store, &[range(whole_from)], at(before)).await.expect("a read");
            kept.into_iter().map(|Number { seq, .. }| seq).collect::<Vec<_>>()
        };
        assert_eq!(up_to(Some(1), 100).await, [0_i64; 0], "it is not long ago");
        assert_eq!(up_to(Some(1), 101).await, [3], "the fourth one never came");
        assert_eq!(up_to(Some(2), 101).await, [3]);
        assert_eq!(up_to(Some(4), 101).await, [0_i64; 0]);
        assert_eq!(up_to(Some(5), 101).await, [6]);
        assert_eq!(up_to(None, 101).await, [0_i64; 0], "the store has nothing whole");
        assert_eq!(hq.stock(store, chain.tea).await.expect("the stock").quantity, Qty::pieces(-5));
    }
}

async fn sent(shop: &Shop, name: &str, seconds: i64) -> i64 {
    let tx = shop.begin().await;
    let data = json!({"id": id(name), "firstName": name});
    let entry = Entry {
        entity_type: "customers",
        entity_id: id(name),
        action: "create",
        data: &data,
        created_at: at(0),
        depends_on: None,
    };
    let seq = entries::enqueue(&tx, &entry, at(seconds)).await.expect("an entry");
    let entry = entries::find(&tx, seq).await.expect("a read").expect("the entry");
    entries::confirm(&tx, &[&entry], at(seconds)).await.expect("a confirmation");
    tx.commit().await.expect("a commit");
    seq
}

#[tokio::test]
async fn what_was_forgotten_comes_back_with_its_number_and_the_content_of_its_document() {
    let shop = Shop::open(id("S01")).await;
    shop.insert::<customer::Entity>(customer::Model {
        id: id("Ada"),
        first_name: Some("Ada now".to_owned()),
        ..Default::default()
    })
    .await;
    for (name, seconds) in [("Ada", 10), ("gone", 20), ("later", 300), ("last", 30)] {
        sent(&shop, name, seconds).await;
    }
    let tx = shop.begin().await;
    let node_epoch = entries::node_epoch(&tx).await.expect("an epoch");
    let up_to = [Number { seq: 4, node_epoch }, Number { seq: 4, node_epoch: "another".to_owned() }];
    assert_eq!(entries::forget_content(&tx, &up_to, at(100)).await.expect("a change"), 2, "up to the first young one");
    tx.commit().await.expect("a commit");
    let rows = outbox_sent::Entity::find().order_by_asc(outbox_sent::Column::Seq).all(shop.db.reader()).await;
    let whole: Vec<bool> = rows.expect("the rows").iter().map(|row| !row.payload.is_empty()).collect();
    assert_eq!(whole, [false, false, true, true]);
    let range = entries::sent(shop.db.reader()).await.expect("a range").remove(0);
    assert_eq!((range.first, range.last, range.recent, range.whole_from), (1, 4, 4, Some(3)));

    let tx = shop.begin().await;
    assert_eq!(entries::resend(&tx, 1).await.expect("entries"), 4);
    let mut back = entries::batch(&tx, 100, at(400), 0).await.expect("a batch");
    entries::make_again(&tx, &mut back).await.expect("their content");
    tx.commit().await.expect("a commit");
    let contents: Vec<(i64, Json)> = back
        .iter()
        .map(|row| {
            let data: Json = serde_json::from_str(&row.payload).unwrap_or_default();
            (row.seq, data["firstName"].clone())
        })
        .collect();
    assert_eq!(contents, [(1, json!("Ada now")), (2, Json::Null), (3, json!("later")), (4, json!("last"))]);
    let changed: Vec<Option<&str>> = back.iter().map(|row| row.changed.as_deref()).collect();
    assert_eq!(changed, [Some("[]"), None, None, None], "what was made again is for who lacks it");
    let kept = outbox::Entity::find_by_id(1).one(shop.db.reader()).await.expect("a read").expect("the entry");
    assert_eq!((&kept.payload, kept.timestamp), (&back[0].payload, at(10)), "it is the same when it is sent once more");
    assert_ne!(back[0].entity_id, Uuid::nil());
}
