//! Sales by webhook: each that was stored, until it was taken, in one order. `docs/integrate.md`.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value as Json, json};
use tillkeep_hq::alerts::{look, tell};
use tillkeep_model::ids;
use uuid::Uuid;

use super::kit::{Kit, Person, column, id_of};
use super::receiver::{Does, Receiver};

const MINUTE_MS: i64 = 60_000;

/// Makes a receiver of the sales of these stores, or of all: its id and its secret.
pub async fn receiver_of_sales(kit: &Kit, admin: &Person, url: &str, stores: &[Uuid]) -> (Uuid, String) {
    let made = kit.post(admin, "/alert-hooks", json!({"url": url, "what": "sales", "stores": stores})).await;
    made.is(201);
    let made = made.data();
    (id_of(&made), made["secret"].as_str().expect("a secret").to_owned())
}

fn document(store: Uuid, receipt: &str, action: &str, change: impl FnOnce(&mut Json)) -> Json {
    let (id, line) = (ids::named(receipt), ids::named(&format!("line of {receipt}")));
    let mut data = json!({
        "id": id, "receiptNumber": receipt, "registerCode": "01", "saleType": "sale", "status": "completed",
        "businessDate": "2026-11-20", "startedAt": "2026-11-20T12:00:00Z", "completedAt": "2026-11-20T12:00:00Z",
        "createdAt": "2026-11-20T12:00:00Z", "netAmount": 3000, "totalAmount": 3000, "costAmount": 1500,
        "saleItems": [{"id": line, "lineNo": 1, "productId": ids::named("tea"), "quantity": 3, "unitPrice": 1000,
                       "listAmount": 3000, "netAmount": 3000, "totalAmount": 3000, "costAmount": 1500}],
        "salePayments": [{"id": ids::named(&format!("payment of {receipt}")), "lineNo": 1, "tenderCode": "CASH",
                          "tenderKind": "cash", "amount": 3000, "status": "captured"}],
    });
    change(&mut data);
    let time = if action == "create" { "2026-11-20T12:00:00Z" } else { "2026-11-20T13:00:00Z" };
    json!({"store_id": store, "entity_type": "sales", "entity_id": id, "action": action, "data": data, "timestamp": time})
}

/// A sale of three pieces as its store sends it.
pub fn sold(store: Uuid, receipt: &str) -> Json {
    document(store, receipt, "create", |_| {})
}

fn voided(store: Uuid, receipt: &str) -> Json {
    document(store, receipt, "void", |data| {
        data["status"] = json!("voided");
        data["voidedAt"] = json!("2026-11-20T13:00:00Z");
        data["voidReason"] = json!("mistake");
        data["salePayments"][0]["status"] = json!("voided");
    })
}

fn given_back(store: Uuid, receipt: &str, original: &str) -> Json {
    document(store, receipt, "create", |data| {
        data["saleType"] = json!("refund");
        data["originalSaleId"] = json!(ids::named(original));
        data["originalReceiptNumber"] = json!(original);
        data["saleItems"][0]["originalSaleItemId"] = json!(ids::named(&format!("line of {original}")));
        data["saleItems"][0]["restock"] = json!(true);
        data["saleItems"][0]["quantity"] = json!(-3);
        for amount in ["netAmount", "totalAmount"] {
            data[amount] = json!(-3000);
            data["saleItems"][0][amount] = json!(-3000);
        }
        data["saleItems"][0]["listAmount"] = json!(-3000);
        data["salePayments"][0]["amount"] = json!(-3000);
    })
}

async fn pushed(kit: &Kit, store: Uuid, envelopes: &[Json]) {
    let results = kit.push(&kit.sync_token(store), envelopes).await;
    assert!(results.as_array().expect("results").iter().all(|result| result["status"] == "ok"), "{results}");
}

/// Tells until the hook is as `is_so` says. The background does the same, and may have begun.
async fn until(kit: &Kit, admin: &Person, id: Uuid, is_so: impl Fn(&Json) -> bool) -> Json {
    let mut hook = Json::Null;
    for _ in 0..600 {
        tell(&kit.hq).await.expect("a round");
        hook = kit.get(admin, &format!("/alert-hooks/{id}")).await.data();
        if is_so(&hook) {
            return hook;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it never is so: {hook}");
}

/// Tells until the receiver has taken everything.
pub async fn told(kit: &Kit, admin: &Person, id: Uuid) -> Json {
    until(kit, admin, id, |hook| hook["waiting"] == 0).await
}

/// Sales with their positions, as they were posted.
pub fn sales(receiver: &Receiver) -> Vec<(i64, Json)> {
    let posted = receiver.posted();
    let told = posted.iter().flat_map(|post| post.json()["sales"].as_array().cloned().expect("sales"));
    told.map(|told| (told["position"].as_i64().expect("a position"), told["sale"].clone())).collect()
}

/// Their receipts.
pub fn receipts(receiver: &Receiver) -> Vec<String> {
    let text = |(_, sale): (i64, Json)| sale["receiptNumber"].as_str().expect("a number").to_owned();
    sales(receiver).into_iter().map(text).collect()
}

#[tokio::test]
async fn a_sale_is_told_signed_as_its_document_is_read_and_again_when_it_was_given_back_or_voided() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let receiver = Receiver::start().await;
    let (id, secret) = receiver_of_sales(&kit, &admin, &receiver.url(), &[]).await;
    pushed(&kit, one, &[sold(one, "S01-01-000001")]).await;
    let hook = told(&kit, &admin, id).await;
    assert_eq!(
        (&hook["what"], &hook["last"]["status"], &hook["waitingSince"]),
        (&json!("sales"), &json!(200), &Json::Null)
    );

    let post = receiver.posted().remove(0);
    let body = post.json();
    assert!(post.is_signed_with(&secret) && !post.is_signed_with("another"), "{post:?}");
    assert_eq!(
        (&body["kind"], &body["event"], &body["epoch"]),
        (&json!("sales"), &json!(post.event()), &json!(kit.hq.epoch))
    );
    assert_eq!(body["upTo"], body["sales"][0]["position"]);
    // Who sees every sale and no cost reads the same.
    kit.role(&admin, "auditor", &["reports.view_global"]).await;
    let auditor = kit.person("ada", &[("auditor", None)]).await;
    let read = async |receipt: &str| kit.get(&auditor, &format!("/sales/{}", ids::named(receipt))).await.data();
    assert_eq!(body["sales"][0]["sale"], read("S01-01-000001").await);
    assert!(!post.body.contains("cost"), "{}", post.body);

    pushed(&kit, two, &[given_back(two, "S02-01-000001", "S01-01-000001")]).await;
    pushed(&kit, two, &[sold(two, "S02-01-000002")]).await;
    pushed(&kit, two, &[voided(two, "S02-01-000002")]).await;
    told(&kit, &admin, id).await;
    let told = sales(&receiver);
    assert!(told.is_sorted_by(|one, next| one.0 < next.0), "{told:?}");
    let last = |receipt: &str| told.iter().rfind(|(_, sale)| sale["receiptNumber"] == receipt).expect("told").1.clone();
    for (receipt, status) in
        [("S01-01-000001", "refunded"), ("S02-01-000001", "completed"), ("S02-01-000002", "voided")]
    {
        assert_eq!(last(receipt)["status"], status, "{receipt}");
        assert_eq!(last(receipt), read(receipt).await, "{receipt}");
    }
    assert_eq!(last("S01-01-000001")["refunds"][0]["storeCode"], "S02");
}

#[tokio::test]
async fn a_message_that_was_not_taken_comes_again_as_the_same_and_what_came_meanwhile_follows_it() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let receiver = Receiver::start().await;
    receiver.will([Does::Says(500), Does::Cuts, Does::LeadsOn]);
    let (id, _) = receiver_of_sales(&kit, &admin, &receiver.url(), &[]).await;
    pushed(&kit, store, &[sold(store, "S01-01-000001")]).await;
    for (tries, status) in [(1, json!(500)), (2, Json::Null), (3, json!(302))] {
        let hook = until(&kit, &admin, id, |hook| hook["last"]["attempts"] == tries).await;
        assert_eq!((&hook["last"]["status"], &hook["last"]["taken"]), (&status, &json!(false)), "{hook}");
        assert_eq!((&hook["waiting"], &hook["givenUp"]), (&json!(tries), &json!(0)), "{hook}");
        assert!(hook["waitingSince"].is_string(), "{hook}");
        pushed(&kit, store, &[sold(store, &format!("S01-01-00000{}", tries + 1))]).await;
        kit.clock.advance(6 * MINUTE_MS);
    }
    told(&kit, &admin, id).await;
    let posted = receiver.posted();
    let (first, rest) = posted.split_at(4);
    for post in first {
        assert_eq!((post.path.as_str(), post.event(), &post.body), ("/hook", posted[0].event(), &posted[0].body));
    }
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_ne!(rest[0].event(), posted[0].event());
    let (before, after) = (posted[0].json(), rest[0].json());
    assert_eq!(before["upTo"], after["after"], "the next one begins where the last one ends");
    let numbers: Vec<String> = (1..=4).map(|n| format!("S01-01-00000{n}")).collect();
    assert_eq!(receipts(&receiver)[3..], numbers, "each once, in their order");
}

#[tokio::test]
async fn a_receiver_that_is_away_for_an_hour_is_an_alert_and_gets_everything_when_it_is_back() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let receiver = Receiver::start().await;
    receiver.will([Does::Says(503); 2]);
    let (id, _) = receiver_of_sales(&kit, &admin, &receiver.url(), &[]).await;
    let states = async || {
        look(&kit.hq).await.expect("a look");
        let listed = kit.get(&admin, "/alerts?kind=receiver_behind").await.data();
        column(&listed, "state").into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    pushed(&kit, store, &[sold(store, "S01-01-000001")]).await;
    until(&kit, &admin, id, |hook| hook["last"]["attempts"] == 1).await;
    assert!(states().await.is_empty());
    kit.clock.advance(61 * MINUTE_MS);
    let hook = until(&kit, &admin, id, |hook| hook["last"]["attempts"] == 2).await;
    assert_eq!((&hook["waiting"], &hook["givenUp"]), (&json!(1), &json!(0)), "it is never given up");
    assert_eq!(states().await, ["firing"]);
    kit.clock.advance(6 * MINUTE_MS);
    told(&kit, &admin, id).await;
    assert_eq!(states().await, ["ended"]);
    assert_eq!(receipts(&receiver), ["S01-01-000001"; 3]);
}

#[tokio::test]
async fn a_receiver_hears_of_its_stores_and_of_what_is_stored_after_it_was_made_also_while_it_was_switched_off() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let receiver = Receiver::start().await;
    pushed(&kit, one, &[sold(one, "S01-01-000001")]).await;
    let (id, _) = receiver_of_sales(&kit, &admin, &receiver.url(), &[one]).await;
    pushed(&kit, two, &[sold(two, "S02-01-000001")]).await;
    pushed(&kit, one, &[sold(one, "S01-01-000002")]).await;
    told(&kit, &admin, id).await;
    assert_eq!(receipts(&receiver), ["S01-01-000002"]);

    let path = format!("/alert-hooks/{id}");
    kit.patch(&admin, &path, json!({"active": false})).await.is(200);
    pushed(&kit, one, &[sold(one, "S01-01-000003")]).await;
    tell(&kit.hq).await.expect("a round");
    let off = kit.get(&admin, &path).await.data();
    assert_eq!((receipts(&receiver).len(), &off["waiting"]), (1, &json!(1)), "{off}");
    kit.patch(&admin, &path, json!({"active": true})).await.is(200);
    told(&kit, &admin, id).await;
    assert_eq!(receipts(&receiver), ["S01-01-000002", "S01-01-000003"]);

    let changed = kit.patch(&admin, &path, json!({"stores": [two]})).await.data();
    assert_eq!(changed["stores"], json!([two]));
    pushed(&kit, one, &[sold(one, "S01-01-000004")]).await;
    pushed(&kit, two, &[sold(two, "S02-01-000002")]).await;
    told(&kit, &admin, id).await;
    assert_eq!(receipts(&receiver)[2..], ["S02-01-000002"]);
    assert_eq!(kit.patch(&admin, &path, json!({"stores": []})).await.data()["stores"], json!([]));
    pushed(&kit, one, &[sold(one, "S01-01-000005")]).await;
    told(&kit, &admin, id).await;
    assert_eq!(receipts(&receiver)[3..], ["S01-01-000005"]);
    kit.delete(&admin, &path).await.is(204);
}

#[tokio::test]
async fn a_message_has_a_hundred_sales_at_the_most() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let receiver = Receiver::start().await;
    let (id, _) = receiver_of_sales(&kit, &admin, &receiver.url(), &[]).await;
    let all: Vec<Json> = (1..=205).map(|n| sold(store, &format!("S01-01-{n:06}"))).collect();
    pushed(&kit, store, &all).await;
    told(&kit, &admin, id).await;
    let sizes: Vec<usize> =
        receiver.posted().iter().map(|post| post.json()["sales"].as_array().expect("sales").len()).collect();
    assert!(sizes.iter().all(|size| (1..=100).contains(size)), "{sizes:?}");
    let told = sales(&receiver);
    assert!(told.is_sorted_by(|one, next| one.0 < next.0));
    let numbers: BTreeSet<String> = receipts(&receiver).into_iter().collect();
    assert_eq!((told.len(), numbers.len()), (205, 205));
}

#[tokio::test]
async fn what_a_receiver_of_sales_may_not_be_is_refused_at_its_field_and_sales_go_where_who_sees_them_says() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let url = "https://example.com/sales";
    let refused = async |body: Json, field: &str| kit.post(&admin, "/alert-hooks", body).await.names(field);
    refused(json!({"url": "http://example.com/", "what": "sales"}), "url").await;
    refused(json!({"url": url, "what": "people"}), "what").await;
    refused(json!({"url": url, "what": "sales", "kinds": ["store_silent"]}), "kinds").await;
    refused(json!({"url": url, "stores": [store]}), "stores").await;
    refused(json!({"url": url, "what": "sales", "stores": [store, Uuid::now_v7()]}), "stores[1]").await;
    refused(json!({"url": url, "what": "sales", "stores": vec![store; 201]}), "stores").await;
    let (id, _) = receiver_of_sales(&kit, &admin, url, &[store]).await;
    let path = format!("/alert-hooks/{id}");
    kit.patch(&admin, &path, json!({"kinds": ["store_silent"]})).await.names("kinds");
    kit.patch(&admin, &path, json!({"what": "alerts"})).await.names("what");

    kit.role(&admin, "setter", &["stores.edit", "stores.view"]).await;
    let setter = kit.person("setter", &[("setter", None)]).await;
    kit.post(&setter, "/alert-hooks", json!({"url": url})).await.is(201);
    kit.post(&setter, "/alert-hooks", json!({"url": url, "what": "sales"})).await.refused(403, "scope");
    kit.patch(&setter, &path, json!({"url": "https://example.com/mine"})).await.refused(403, "scope");
    kit.post(&setter, &format!("{path}/rotate-secret"), json!({})).await.refused(403, "scope");
}
