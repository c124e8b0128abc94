//! Whatever column a store does not own, it cannot write: walked over the registry, so that no column is forgotten.
//! `docs/sync.md`, rule U11.

use sea_orm::Value;
use serde_json::{Value as Json, json};
use tillkeep_model::{Instant, wire};
use tillkeep_storage::document::WriteContext;
use tillkeep_storage::entity::{purchase_order, supplier};
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::registry::{self, Child, SyncType};
use tillkeep_storage::rows::owners::owns;
use tillkeep_storage::rows::{Row, SyncTable};
use tillkeep_storage::sea_orm;
use uuid::Uuid;

use crate::kit::chain::{self, Chain, id};
use crate::kit::envelopes::{customer, envelope, fresh, push, sale};
use crate::kit::{self, Hq, at};

/// What each server keeps for itself, which a row takes in its own way.
const TAKEN_OTHERWISE: &[&str] = &["id", "updated_at", "receipt_end"];

/// What never moves once a row is there, whatever else its store may write, beside [`belongs`]: by hand, since the registry's
/// word on who owns it may be wrong.
const FIXED: &[(&str, &str)] = &[
    ("customers", "origin_store_id"),
    ("purchase_orders", "origin"),
    ("transfers", "from_store_id"),
    ("transfers", "to_store_id"),
];

/// Whether `column` says whose a row is, or what it is a line of: that never moves either.
fn belongs(entity: &SyncType, child: Option<&Child>, column: &str) -> bool {
    let parent = entity.push.and_then(|pushed| pushed.parent.as_ref()).map(|parent| parent.column);
    column == "store_id" || Some(column) == child.map_or(parent, |child| Some(child.parent))
}

/// A text that the rules of a column let pass.
fn text_for(column: &str) -> &'static str {
    match column {
        "country_code" => "DE",
        "currency_code" => "CHF",
        "email" => "forged@example.com",
        "birth_date" => "1990-01-31",
        "card_last4" => "7777",
        _ => "forged",
    }
}

/// Another value of the same type.
fn forged(row: &dyn Row, column: &str) -> Value {
    match row.get(column).expect("a column") {
        Value::Bool(now) => Value::Bool(Some(!now.unwrap_or_default())),
        Value::Int(_) => Value::Int(Some(7777)),
        Value::BigInt(_) => Value::BigInt(Some(7_777_000)),
        Value::Uuid(_) => id("forged").into(),
        Value::ChronoDateTimeUtc(_) => at(-5000).into(),
        _ => text_for(column).into(),
    }
}

/// `data` with a forged `column`; the value that it would have.
fn forge(table: &dyn SyncTable, data: &mut Json, column: &str) -> Value {
    let mut row = table.decode(&data.to_string()).expect("a row");
    let mut value = forged(&*row, column);
    if !row.set(column, value.clone()) {
        value = "[\"forged\"]".into();
        assert!(row.set(column, value.clone()), "{column} takes {value:?}");
    }
    let key = wire::camel(column);
    let json: Json = kit::parse(&row.to_json().expect("JSON"));
    // What is not shown at all can still be sent.
    data[&key] = json.get(&key).cloned().unwrap_or_else(|| match &value {
        Value::Bool(flag) => json!(flag),
        Value::Int(number) => json!(number),
        Value::BigInt(number) => json!(number),
        Value::Uuid(id) => json!(id),
        Value::String(text) => json!(text),
        _ => json!(at(-5000)),
    });
    value
}

async fn stored(hq: &Hq, table: &dyn SyncTable, row: Uuid) -> Box<dyn Row> {
    let snapshot = hq.db.snapshot().await.expect("a snapshot");
    table.having(&snapshot, "id", &[row], false).await.expect("a read").pop().expect("the row")
}

/// A new row never begins with a value that its store may not give it: it begins as `base`, of which none was sent.
async fn on_creation(hq: &Hq, chain: &Chain, entity: &SyncType, base: Uuid) {
    let plain = stored(hq, entity.table, base).await;
    let owned = owned(entity, WriteContext { status: None, new: true, receives: false, made_by_hq: false });
    for column in entity.table.columns() {
        // When it was made is the word of its maker.
        if owns(owned, column) || TAKEN_OTHERWISE.contains(&column) || column == "created_at" {
            continue;
        }
        let row = id(&format!("{} {column}", entity.name));
        let mut data = fresh(chain, entity, row);
        let value = forge(entity.table, &mut data, column);
        push(hq, &chain.first, &[envelope(&chain.first, entity.name, row, "create", &data, at(0))]).await;
        let stored = stored(hq, entity.table, row).await;
        // The one has its own number in it, and the other is another with each commit.
        if matches!(column, "search_text" | "sync_version") {
            assert_ne!(stored.get(column), Some(value), "{} on creation", entity.name);
        } else {
            assert_eq!(stored.get(column), plain.get(column), "{}.{column} on creation", entity.name);
        }
    }
}

fn owned(entity: &SyncType, context: WriteContext<'_>) -> &'static [&'static str] {
    (entity.push.expect("a pushed type").owned)(context)
}

/// One who writes, and the state in which HQ has the row.
struct Writer<'a> {
    sender: &'a Sender,
    context: WriteContext<'a>,
}

async fn on_change(hq: &Hq, entity: &'static SyncType, base: Uuid, writer: &Writer<'_>, clock: &mut i64) {
    let (name, owned) = (entity.name, owned(entity, writer.context));
    let child = entity.children.iter().map(|child| (child.table, Some(child)));
    for (table, child) in std::iter::once((entity.table, None)).chain(child) {
        for column in table.columns() {
            let place = child.is_some_and(|child| column == child.parent || column == "line_no");
            let written = owns(owned, column) || TAKEN_OTHERWISE.contains(&column) || place;
            let fixed = belongs(entity, child, column) || FIXED.contains(&(table.name(), column));
            if written && !fixed {
                continue;
            }
            let snapshot = hq.db.snapshot().await.expect("a snapshot");
            let mut data = kit::parse(&stored(hq, entity.table, base).await.to_json().expect("JSON"));
            let mut lines = Vec::new();
            for child in entity.children {
                let rows = child.table.having(&snapshot, child.parent, &[base], false).await.expect("the lines");
                data[child.key] = rows.iter().map(|row| kit::parse(&row.to_json().expect("JSON"))).collect();
                lines.push((child.key, rows.first().and_then(|row| row.uuid("id")).expect("a line")));
            }
            drop(snapshot);
            let row = child.map_or(base, |child| lines.iter().find(|(key, _)| *key == child.key).expect("its lines").1);
            let before = stored(hq, table, row).await;
            let target = match child {
                None => &mut data,
                Some(child) => &mut data[child.key][0],
            };
            let value = forge(table, target, column);
            *clock += 1;
            push(hq, writer.sender, &[envelope(writer.sender, name, base, "update", &data, at(*clock))]).await;
            let after = stored(hq, table, row).await;
            if matches!(column, "sync_version" | "received_at" | "last_envelope_at") {
                assert_ne!(after.get(column), Some(value), "{name}: {}.{column} was written", table.name());
            } else {
                assert_eq!(after.get(column), before.get(column), "{name}: {}.{column} moved", table.name());
            }
        }
    }
}

#[tokio::test]
async fn no_store_writes_a_column_that_the_registry_does_not_give_it() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.insert::<supplier::Entity>([chain::supplier()]).await;
        let mut clock = 0;
        for (entity, _) in registry::pushed() {
            let base = id(&format!("base {}", entity.name));
            let data = fresh(&chain, entity, base);
            let made = envelope(&chain.first, entity.name, base, "create", &data, Instant::from_millis(at(0).millis()));
            assert_eq!(push(&hq, &chain.first, &[made]).await.refused, 0, "{}", entity.name);
            on_creation(&hq, &chain, entity, base).await;
            if entity.name == "purchase_orders" {
                // One that a line could be moved to.
                let data = fresh(&chain, entity, id("forged"));
                let other = envelope(&chain.first, entity.name, id("forged"), "create", &data, at(0));
                assert_eq!(push(&hq, &chain.first, &[other]).await.refused, 0);
            }
            let statuses: &[&str] = match entity.name {
                "transfers" => &["in_transit"],
                // Up to the approval a line is its maker's.
                "purchase_order_items" => &["submitted", "ordered"],
                _ => &["ordered"],
            };
            for &status in statuses {
                if matches!(entity.name, "purchase_orders" | "purchase_order_items") {
                    let order = id("base purchase_orders");
                    hq.edit::<purchase_order::Entity>(order, |row| row.status = String::from(status)).await;
                }
                let context = WriteContext { status: Some(status), new: false, receives: false, made_by_hq: false };
                on_change(&hq, entity, base, &Writer { sender: &chain.first, context }, &mut clock).await;
                if entity.name == "transfers" {
                    let context = WriteContext { receives: true, ..context };
                    on_change(&hq, entity, base, &Writer { sender: &chain.second, context }, &mut clock).await;
                }
            }
        }
        hq.verify().await;
    }
}

#[tokio::test]
async fn what_is_left_aside_is_counted_and_what_a_store_sends_by_habit_is_not() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut made = customer(&chain.first, id("eve"), "S01-1");
        // A store sends its whole row.
        for (key, value) in [
            ("creditLimit", json!(0)),
            ("isActive", json!(true)),
            ("syncVersion", json!(3)),
            ("phoneDigits", json!("")),
            ("originStoreId", json!(chain.first.store_id)),
        ] {
            made["data"][key] = value;
        }
        let pushed = push(&hq, &chain.first, &[made.clone()]).await;
        assert_eq!(pushed.ignored.get("customers"), None, "{:?}", pushed.ignored);
        made["action"] = json!("update");
        made["timestamp"] = json!(at(5));
        made["data"]["creditLimit"] = json!(99);
        made["data"]["customerNumber"] = json!("OTHER");
        made["data"]["shoeSize"] = json!(43);
        let pushed = push(&hq, &chain.first, &[made]).await;
        assert_eq!(pushed.ignored.get("customers"), Some(&3));
        let mut sold = sale(&chain.first, id("sale"), &[(chain.tea, 1)]);
        sold["saleItems"][0]["colour"] = json!("red");
        let pushed =
            push(&hq, &chain.first, &[envelope(&chain.first, "sales", id("sale"), "create", &sold, at(0))]).await;
        assert_eq!(pushed.ignored.get("sales"), Some(&1));
        // The same sale again in a later envelope is no offence.
        sold["saleItems"][0].as_object_mut().expect("a line").remove("colour");
        let again = envelope(&chain.first, "sales", id("sale"), "update", &sold, at(6));
        assert_eq!(push(&hq, &chain.first, &[again]).await.ignored.get("sales"), None);
    }
}
