//! What headquarters takes of memory under load goes back to the machine. `make memory` shows it over an hour.

use serde_json::{Value, json};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::kit::{Client, TestCluster, eventually, id, metric};

const STORES: usize = 3;
const PUSHES: usize = 2;
const SALES: usize = 1000;
const READERS: usize = 12;
const QUESTIONS: usize = 10;
/// MiB that may stay of it: caches that have a bound, and what the allocator keeps ready. Some 40 did when this was written.
const STAYS: u64 = 72;

fn sale(store: &str, product: &str) -> Value {
    let (sale, at) = (Uuid::now_v7(), "2026-11-20T15:04:05.123Z");
    let line = |number: i32| {
        json!({
            "id": Uuid::now_v7(), "lineNo": number, "productId": product, "sku": "A", "productName": "Product A", "quantity": 1,
            "unitPrice": 1000, "regularPrice": 1000, "listAmount": 1000, "netAmount": 1000, "taxAmount": 0, "totalAmount": 1000,
        })
    };
    json!({
        "store_id": store, "entity_type": "sales", "entity_id": sale, "action": "create", "timestamp": at,
        "data": {
            "id": sale, "receiptNumber": format!("S01-09-{sale}"), "registerCode": "09", "saleType": "sale", "status": "completed",
            "businessDate": "2026-11-20", "netAmount": 3000, "taxAmount": 0, "totalAmount": 3000, "createdAt": at, "completedAt": at,
            "currencyCode": "USD", "cashierName": "Ann", "saleItems": [line(1), line(2), line(3)],
            "salePayments": [{"id": Uuid::now_v7(), "lineNo": 1, "tenderCode": "CARD", "tenderKind": "card", "amount": 3000}],
        },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stores_that_push_and_pull_and_people_who_read_took_of_memory_is_given_back() {
    let chain = TestCluster::new().await;
    let product = chain.product("A", 1000).await;
    let mut stores = Vec::new();
    for number in 1..=STORES {
        let body = json!({"code": format!("S{number:02}"), "name": "Store", "timezone": "America/New_York"});
        let store = id(&chain.admin.post("/stores", body).await.data());
        let token = chain.admin.post(&format!("/stores/{store}/provision"), json!({})).await.data();
        stores.push((store, Client::new(&chain.hq.url).with_token(token["syncToken"].as_str().expect("a token"))));
    }
    let resident = || chain.hq.footprint().0 / 1024;
    let before = resident();
    let mut all = JoinSet::new();
    for (store, machine) in stores.clone() {
        let product = product.clone();
        all.spawn(async move {
            for _ in 0..PUSHES {
                let envelopes: Vec<Value> = (0..SALES).map(|_| sale(&store, &product)).collect();
                let pushed = machine.post("/sync/push", json!({"envelopes": envelopes})).await;
                let results = pushed.body["results"].as_array().map_or(0, Vec::len);
                assert_eq!((pushed.status.as_u16(), results), (200, SALES), "{}", pushed.text);
            }
        });
    }
    for reader in 0..READERS {
        let (admin, machine) = (chain.admin.clone(), stores[reader % STORES].1.clone());
        all.spawn(async move {
            for question in 0..QUESTIONS {
                if (reader + question) % 2 == 0 {
                    admin.get(&format!("/sales?pageSize=200&page={}", question + 1)).await.data();
                } else {
                    // One place for each store; who comes second hears so.
                    machine.get("/sync/pull?entity_type=store_product_dynamic&since_version=0").await;
                }
            }
        });
    }
    let mut peak = before;
    while let Some(done) = all.join_next().await {
        done.expect("it is answered");
        peak = peak.max(resident());
    }
    let given_back =
        eventually("the memory is given back", async || Some(resident()).filter(|now| *now <= before + STAYS));
    let after = given_back.await;
    println!("resident {before} MiB before, {peak} at the most, {after} after");
    // The server says the same, and what of it is in use.
    let said = async |name: &str| metric(&chain.hq.url, &format!("tillkeep_memory_{name}_bytes ")).await.expect(name);
    let (held, used) = (said("resident").await, said("allocated").await);
    assert!(0.0 < used && used <= held, "{used} of {held}");
}
