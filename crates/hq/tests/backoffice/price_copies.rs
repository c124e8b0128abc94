//! A store's row of a product holds a copy of the default price while the store has no price of its own. Whatever is written
//! at the same moment, the copy is the price of the product. `docs/sync.md`, *Copies of the default price*.

use std::collections::HashMap;

use futures_util::future::join_all;
use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::ids;
use tillkeep_storage::raw;
use uuid::Uuid;

use super::kit::{Kit, Person, general, id_of, untaxed};

const ROUNDS: usize = 50;

/// Stores that push, with their tokens.
async fn stores(kit: &Kit, count: usize) -> Vec<(Uuid, String)> {
    let mut stores = Vec::new();
    for number in 1..=count {
        let id = kit.store(&format!("S{number:02}")).await;
        stores.push((id, kit.sync_token(id)));
    }
    stores
}

async fn sell(kit: &Kit, (store, token): &(Uuid, String), product: Uuid) {
    let id = Uuid::now_v7();
    let sale = json!({
        "store_id": store, "entity_type": "sales", "entity_id": id, "action": "create",
        "timestamp": "2026-11-20T10:00:00.000Z",
        "data": {
            "id": id, "receiptNumber": format!("R-{id}"), "saleType": "sale", "status": "completed",
            "businessDate": "2026-11-20", "completedAt": "2026-11-20T10:00:00.000Z", "netAmount": 1000, "totalAmount": 1000,
            "saleItems": [{
                "id": Uuid::now_v7(), "lineNo": 1, "productId": product, "quantity": 1, "unitPrice": 1000,
                "netAmount": 1000, "totalAmount": 1000,
            }],
            "salePayments": [{"id": Uuid::now_v7(), "lineNo": 1, "tenderCode": "CASH", "amount": 1000}],
        },
    });
    let results = kit.push(token, &[sale]).await;
    assert_eq!(results[0]["status"], "ok", "{results}");
}

/// What headquarters has, and what it sends: in no row without a price of its own is a price that is not the product's.
async fn every_copy_is_right(kit: &Kit, stores: &[(Uuid, String)], rows: usize) {
    let wrong = "SELECT d.id FROM store_product_dynamic d JOIN products p ON p.id = d.product_id \
                 WHERE d.has_price_override = FALSE AND d.price <> p.price";
    let wrong = raw::query(kit.hq.db().reader(), wrong, []).await.expect("the rows").len();
    assert_eq!(wrong, 0, "rows of {rows} hold an old price");
    for (store, token) in stores {
        let rows_of = async |name: &str| {
            let answer = kit.ask(token, &format!("/pull?entity_type={name}&since_version=0")).await;
            answer["rows"].as_array().expect("rows").clone()
        };
        let prices: HashMap<Uuid, Json> =
            rows_of("products").await.iter().map(|row| (id_of(row), row["price"].clone())).collect();
        for row in rows_of("store_product_dynamic").await {
            let product: Uuid = row["productId"].as_str().and_then(|id| id.parse().ok()).expect("a product");
            assert_eq!(Some(&row["price"]), prices.get(&product), "what {store} pulls");
        }
    }
}

async fn set_price(kit: &Kit, admin: &Person, product: Uuid, price: i64) {
    kit.patch(admin, &format!("/products/{product}"), json!({"price": price})).await.is(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_price_that_changes_beside_the_first_sales_of_a_product_is_the_price_in_every_store() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let stores = stores(&kit, 6).await;
    for round in 0..ROUNDS {
        let product = id_of(&kit.product(&admin, &format!("P{round}"), json!({"price": 1000})).await);
        let sales = join_all(stores.iter().map(|store| sell(&kit, store, product)));
        tokio::join!(sales, set_price(&kit, &admin, product, 1100));
    }
    every_copy_is_right(&kit, &stores, ROUNDS * stores.len()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_price_of_a_store_that_goes_beside_a_new_default_price_leaves_the_new_one() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let stores = stores(&kit, 2).await;
    for round in 0..ROUNDS {
        let product = id_of(&kit.product(&admin, &format!("P{round}"), json!({"price": 1000})).await);
        let own = format!("/store-prices/{}/{product}", stores[0].0);
        kit.put(&admin, &own, json!({"price": 900})).await.is(200);
        let back = async { kit.delete(&admin, &own).await.is(200) };
        tokio::join!(
            back,
            sell(&kit, &stores[0], product),
            sell(&kit, &stores[1], product),
            set_price(&kit, &admin, product, 1100)
        );
    }
    every_copy_is_right(&kit, &stores, ROUNDS * stores.len()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_product_that_is_made_beside_or_after_its_first_sale_has_its_price_in_that_store() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let stores = stores(&kit, 3).await;
    for round in 0..ROUNDS {
        let product = ids::named(&format!("a product of round {round}"));
        // Headquarters takes a sale of what it does not know (rule U9): after it was restored to a copy, for one.
        sell(&kit, &stores[0], product).await;
        let body = json!({
            "id": product, "sku": format!("P{round}"), "name": "Product", "price": 1000,
            "departmentId": general(), "taxGroupId": untaxed(),
        });
        let made = async { kit.post(&admin, "/products", body).await.is(201) };
        tokio::join!(made, sell(&kit, &stores[1], product), sell(&kit, &stores[2], product));
    }
    every_copy_is_right(&kit, &stores, ROUNDS * stores.len()).await;
}
