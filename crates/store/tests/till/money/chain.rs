//! The chain of each register, as a till fills it, and the device that signs it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value as Json, json};
use tillkeep_storage::entity::{chain_entry, sale_chain};
use tillkeep_storage::fiscal::{self, signatures};
use tillkeep_storage::sea_orm::{EntityTrait, QueryOrder};
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tillkeep_store::signer::{Signer, TestSigner};
use tillkeep_store::sync::Cycle;
use uuid::Uuid;

use super::refunds::{give_back, item};
use super::undo;
use crate::kit::{Person, Shop, cart, id, line};

/// A device that signs as long as it is switched on.
#[derive(Debug)]
struct Device {
    signer: TestSigner,
    is_on: AtomicBool,
}

#[async_trait]
impl Signer for Device {
    fn name(&self) -> String {
        "device 1".to_owned()
    }

    async fn sign(&self, hash: &str) -> Result<String, String> {
        if self.is_on.load(Ordering::SeqCst) {
            self.signer.sign(hash).await
        } else {
            Err("it is switched off".to_owned())
        }
    }
}

fn device() -> Arc<Device> {
    Arc::new(Device { signer: TestSigner::new("a key"), is_on: AtomicBool::new(true) })
}

async fn sell(person: &Person) -> Json {
    let sale = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]));
    person.post("/pos/sales", sale).await.ok(201)
}

async fn read(person: &Person, sale: &Json) -> Json {
    person.get(&format!("/pos/sales/{}", sale["id"].as_str().expect("an id"))).await.ok(200)
}

async fn entries(shop: &Shop) -> Vec<chain_entry::Model> {
    let rows = chain_entry::Entity::find().order_by_asc(chain_entry::Column::Number);
    rows.all(shop.store.test_db().reader()).await.expect("the entries")
}

#[tokio::test]
async fn each_document_has_its_place_in_the_chain_of_its_register_and_a_void_another_one() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let first = sell(&person).await;
    let second = sell(&person).await;
    let voided = undo(&person, &first, "the wrong item").await.ok(200);
    let chain = entries(&shop).await;
    let kinds: Vec<&str> = chain.iter().map(|entry| entry.kind.as_str()).collect();
    assert_eq!(kinds, ["sale", "sale", "void"]);
    for (number, entry) in (1..).zip(&chain) {
        assert_eq!((entry.number, entry.register_code.as_str(), entry.version), (number, "01", 1));
    }
    for pair in chain.windows(2) {
        assert_eq!(pair[1].previous_hash, pair[0].hash);
    }
    assert_eq!(json!(chain[2].running_total), second["totalAmount"], "the voided one counts no more");
    // As it is answered and as it travels.
    assert_eq!(voided["chainEntries"], json!([chain[0], chain[2]]));
    let sent: Vec<Json> = shop
        .outbox()
        .await
        .iter()
        .filter(|entry| entry.entity_type == "sales")
        .map(|entry| serde_json::from_str::<Json>(&entry.payload).expect("JSON")["chainEntries"].clone())
        .collect();
    assert_eq!(sent, [json!([chain[0]]), json!([chain[1]]), json!([chain[0], chain[2]])]);
    let head = sale_chain::Entity::find().all(shop.store.test_db().reader()).await.expect("the newest entry");
    assert_eq!(head.iter().map(|head| (head.number, &head.hash)).collect::<Vec<_>>(), [(3, &chain[2].hash)]);
    let snapshot = shop.store.test_db().snapshot().await.expect("a snapshot");
    let checked = fiscal::check(&snapshot).await.expect("a verdict");
    assert_eq!((checked.chains, checked.entries, checked.without_entry, checked.breaks), (1, 3, 0, Vec::new()));
}

#[tokio::test]
async fn what_comes_back_both_halves_of_an_exchange_and_what_is_paid_of_an_account_have_places_of_their_kind() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sold = person.sell(json!([line("BREAD", 3)])).await.ok(201);
    let back = give_back(&person, &sold, json!([item(&sold, 0, 1)])).await.ok(201);
    let mut loaf = item(&sold, 0, 1);
    loaf["reason"] = json!("too hard");
    let exchange = json!({
        "terminalId": "T1",
        "refund": {"id": Uuid::now_v7(), "saleId": sold["id"], "items": [loaf]},
        "sale": {"id": Uuid::now_v7(), "lines": [line("BREAD", 1)]},
    });
    let done = person.post("/pos/exchanges", exchange).await.ok(201);
    let ahead = json!({
        "id": Uuid::now_v7(), "terminalId": "T1", "customerId": id("HQ-000001"),
        "settlement": {"amount": 100, "prepay": true}, "payments": [{"tenderId": id("CASH")}],
    });
    let paid = person.post("/pos/sales", ahead).await.ok(201);
    let chain = entries(&shop).await;
    let places: Vec<(&str, i64)> = chain.iter().map(|entry| (entry.kind.as_str(), entry.running_total.0)).collect();
    assert_eq!(places, [("sale", 750), ("refund", 500), ("refund", 250), ("sale", 500), ("settlement", 500)]);
    for (entry, document) in chain.iter().zip([&sold, &back, &done["refund"], &done["sale"], &paid]) {
        assert_eq!(document["chainEntries"], json!([entry]));
    }
    let snapshot = shop.store.test_db().snapshot().await.expect("a snapshot");
    let checked = fiscal::check(&snapshot).await.expect("a verdict");
    assert_eq!((checked.chains, checked.entries, checked.without_entry, checked.breaks), (1, 5, 0, Vec::new()));
}

#[tokio::test]
async fn a_refused_sale_leaves_no_place_in_the_chain() {
    let shop = Shop::open_with(|row| row.allow_negative_stock = false).await;
    let person = shop.selling().await;
    let much = cart(json!([line("TEA", 1000)]), json!([{"tenderId": id("CASH")}]));
    person.post("/pos/sales", much).await.refused(409, "insufficient_stock");
    assert_eq!(entries(&shop).await, []);
    sell(&person).await;
    assert_eq!(entries(&shop).await[0].number, 1);
}

#[tokio::test]
async fn no_sale_waits_for_the_device_and_what_it_did_not_sign_is_signed_later() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let device = device();
    sell(&person).await;
    assert!(shop.store.sign_with(device.clone()), "there was none");
    assert_eq!(shop.store.sign_what_waits().await.expect("an answer"), 0, "it signs what is made from here on");
    let sold = sell(&person).await;
    assert_eq!(shop.store.sign_what_waits().await.expect("an answer"), 1);
    let shown = read(&person, &sold).await;
    let signature = &shown["signatures"][0];
    let hash = shown["chainEntries"][0]["hash"].as_str().expect("a hash");
    assert_eq!((&signature["state"], &signature["signer"]), (&json!("signed"), &json!("device 1")));
    assert_eq!(signature["signature"], json!(device.signer.signature(hash)));

    device.is_on.store(false, Ordering::SeqCst);
    let (one, other) = (sell(&person).await, sell(&person).await);
    assert_eq!(shop.store.sign_what_waits().await.expect("an answer"), 0);
    let unsigned = &read(&person, &one).await["signatures"][0];
    assert_eq!((&unsigned["state"], &unsigned["error"]), (&json!("could_not_sign"), &json!("it is switched off")));
    assert_eq!(read(&person, &other).await["signatures"][0]["state"], "waiting");
    let open = signatures::open(shop.store.test_db().reader()).await.expect("a count");
    assert_eq!((open.waiting, open.could_not_sign), (1, 1));

    // The server ends, and comes back with what was made meanwhile.
    sell(&person).await;
    let shop = shop.again(None, |_| {}).await;
    let person = shop.person(&person);
    device.is_on.store(true, Ordering::SeqCst);
    assert!(shop.store.sign_with(device.clone()));
    assert_eq!(shop.store.sign_what_waits().await.expect("an answer"), 3);
    for sale in [&one, &other] {
        assert_eq!(read(&person, sale).await["signatures"][0]["state"], "signed");
    }
    assert_eq!(signatures::open(shop.store.test_db().reader()).await.expect("a count"), signatures::Open::default());
}

/// A headquarters that says these newest entries of the chains of the store.
#[derive(Default)]
struct Heads(Mutex<Vec<Json>>);

#[async_trait]
impl Transport for Heads {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let (path, _) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let body = match path {
            "/handshake" => json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                "clock": "2026-11-20T14:00:00.000Z", "chainHeads": *self.0.lock().expect("not poisoned"),
            }),
            "/versions" => json!({"epoch": "e", "versions": {}}),
            _ => return Err("the line breaks".to_owned()),
        };
        Ok(Reply { status: 200, from_hq: true, retry_after: None, body: body.to_string().into() })
    }
}

impl Heads {
    /// Says that of an entry in its next handshake with the store.
    async fn say(&self, shop: &Shop, entry: &chain_entry::Model) {
        *self.0.lock().expect("not poisoned") = vec![json!(entry)];
        Cycle::default().step(&shop.store).await;
    }
}

#[tokio::test]
async fn a_chain_that_headquarters_has_otherwise_is_an_alarm_and_one_of_a_lost_database_is_named() {
    let hq = Arc::new(Heads::default());
    let shop = Shop::with_line(hq.clone()).await;
    let person = shop.selling().await;
    sell(&person).await;
    sell(&person).await;
    let entry = entries(&shop).await.pop().expect("an entry");
    hq.say(&shop, &entry).await;
    assert!(!shop.alarms().contains(&"chain_rewritten"));
    hq.say(&shop, &chain_entry::Model { hash: "0".repeat(64), ..entry.clone() }).await;
    assert!(shop.alarms().contains(&"chain_rewritten"));
    hq.say(&shop, &entry).await;
    assert!(!shop.alarms().contains(&"chain_rewritten"));

    let lost = chain_entry::Model { chain_id: id("a lost chain"), number: 70, hash: "f".repeat(64), ..entry };
    hq.say(&shop, &lost).await;
    assert!(!shop.alarms().contains(&"chain_rewritten"), "it is of a database that is no more");
    sell(&person).await;
    sell(&person).await;
    let follows: Vec<Option<String>> = entries(&shop).await.into_iter().map(|entry| entry.follows).collect();
    assert_eq!(follows, [None, None, Some(lost.hash), None]);
}
