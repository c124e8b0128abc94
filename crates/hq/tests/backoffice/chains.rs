//! What a handshake says of the chains of documents of a store. `docs/chain.md`.

use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::kit::{Kit, Person};

const AT: &str = "2026-11-20T12:00:00.000Z";

/// A sale with this place in a chain.
fn sale(store: Uuid, chain: Uuid, number: i64) -> Json {
    let sale = Uuid::now_v7();
    let data = json!({
        "id": sale, "storeId": store, "receiptNumber": format!("S01-01-{number:06}"), "registerCode": "01",
        "saleType": "sale", "status": "completed", "businessDate": "2026-11-20", "createdAt": AT, "completedAt": AT,
        "chainEntries": [{
            "id": Uuid::now_v7(), "lineNo": 1, "chainId": chain, "registerCode": "01", "number": number, "kind": "sale",
            "version": 1, "at": AT, "previousHash": "before", "hash": format!("hash {number}"), "runningTotal": 0,
        }],
    });
    json!({
        "store_id": store, "entity_type": "sales", "entity_id": sale, "action": "create", "data": data, "timestamp": AT,
    })
}

#[tokio::test]
async fn a_handshake_says_the_newest_entries_of_the_chains_of_its_own_store() {
    let kit = Kit::new().await;
    let (store, other) = (kit.store("S01").await, kit.store("S02").await);
    let (one, lettered) = (Uuid::now_v7(), Uuid::now_v7());
    let heads = async |store: Uuid| {
        let who = Person { id: store, token: kit.sync_token(store) };
        let got = kit.post(&who, "/sync/handshake", json!({"nodeEpoch": "n1", "storeVersion": "0.2.0"})).await;
        got.is(200);
        let mut heads = got.body["chainHeads"].as_array().cloned().unwrap_or_default();
        heads.sort_by_key(|head| head["number"].as_i64());
        heads
    };
    assert_eq!(heads(store).await, Vec::<Json>::new());
    // The last one first.
    let sales = [sale(store, one, 8), sale(store, one, 7), sale(store, lettered, 1)];
    kit.push(&kit.sync_token(store), &sales).await;
    let head = |chain: Uuid, number: i64| {
        json!({"chainId": chain, "registerCode": "01", "number": number, "hash": format!("hash {number}"),
               "runningTotal": 0, "at": AT})
    };
    assert_eq!(heads(store).await, [head(lettered, 1), head(one, 8)]);
    assert_eq!(heads(other).await, Vec::<Json>::new());
}
