//! The first load of a store: rows are written as new ones, and what is there already is found all the same. `docs/sync.md`, "One
//! page ahead".

use serde_json::{Value as Json, json};
use tillkeep_model::{Money, wire::PullAnswer};
use tillkeep_storage::entity::product;
use tillkeep_storage::{apply, barcodes, count};
use uuid::Uuid;

use crate::kit::chain::{id, product as new_product};
use crate::kit::{Shop, entity, page_of};

const LOADED: i64 = 5;

fn id_of(number: i64) -> Uuid {
    new_product(&format!("P{number}"), 0).id
}

/// A product as headquarters sends it: with one code, and another price and code in each version.
fn sent(number: i64, version: i64) -> Json {
    let row = product::Model {
        barcode: Some(format!("{number}-{version}")),
        sync_version: version,
        ..new_product(&format!("P{number}"), version)
    };
    json!(row)
}

fn page(since: i64, rows: &[Json]) -> PullAnswer {
    PullAnswer { since_version: since, ..page_of("products", rows) }
}

/// A store after the first page.
async fn loaded() -> Shop {
    let shop = Shop::open(id("S01")).await;
    shop.apply(&page(0, &(1..=LOADED).map(|number| sent(number, number)).collect::<Vec<_>>())).await;
    shop
}

/// Statements of a page.
async fn cost(shop: &Shop, page: &PullAnswer) -> u64 {
    let before = count::statements();
    shop.apply(page).await;
    count::statements() - before
}

/// The price of a product, in the shop too, and which of these codes find it.
async fn stands(shop: &Shop, number: i64, versions: &[i64]) -> (Money, Money, Vec<i64>) {
    let product = shop.row::<product::Entity>(id_of(number)).await.expect("a product");
    let mut found = Vec::new();
    for version in versions {
        let hit = barcodes::find(shop.db.reader(), &format!("{number}-{version}")).await.expect("an answer");
        found.extend(hit.filter(|hit| *hit == id_of(number)).map(|_| *version));
    }
    (product.price, shop.stock(id_of(number)).await.price, found)
}

#[tokio::test]
async fn a_page_of_new_products_costs_a_statement_for_each_row_and_nothing_to_make_room_for_them() {
    let shop = Shop::open(id("S01")).await;
    let new: Vec<_> = (1..=LOADED).map(|number| sent(number, number)).collect();
    let rows = u64::try_from(3 * LOADED).expect("few");
    // The product, its code and its row of this store; the cursor is read and moved.
    assert_eq!(cost(&shop, &page(0, &new)).await, rows + 2);
    // The first row finds itself there; then the codes of all are taken away and every row is written as one that may be.
    let changed: Vec<_> = (1..=LOADED).map(|number| sent(number, LOADED + number)).collect();
    assert_eq!(cost(&shop, &page(LOADED, &changed)).await, rows + 2 + 2);
}

#[tokio::test]
async fn a_product_that_changes_while_it_is_loaded_ends_as_it_was_sent_last_with_its_last_code_alone() {
    let shop = loaded().await;
    // Between new ones comes one that the first page had.
    let second = [sent(6, 6), sent(7, 7), sent(3, 8), sent(8, 9)];
    shop.apply(&page(LOADED, &second)).await;
    for (number, version) in [(1, 1), (2, 2), (6, 6), (7, 7), (3, 8), (8, 9)] {
        let (price, here, found) = stands(&shop, number, &[3, version]).await;
        assert_eq!((price, here), (Money(version), Money(version)), "product {number}");
        assert_eq!(found, [version], "product {number}");
    }
    assert_eq!(shop.rows("products").await.len(), 8);
    assert_eq!(shop.rows("store_product_dynamic").await.len(), 8);
}

#[tokio::test]
async fn a_new_product_with_the_code_of_another_one_takes_it_over() {
    let shop = loaded().await;
    let mut heir = sent(6, 6);
    heir["barcode"] = json!("2-2");
    shop.apply(&page(LOADED, &[sent(7, 7), heir, sent(8, 8)])).await;
    assert_eq!(barcodes::find(shop.db.reader(), "2-2").await.expect("an answer"), Some(id_of(6)));
    for number in [7, 8] {
        assert_eq!(stands(&shop, number, &[number]).await.2, [number], "product {number}");
    }
}

#[tokio::test]
async fn the_codes_of_a_product_that_headquarters_does_not_have_any_more_go_with_it() {
    let shop = loaded().await;
    let tx = shop.begin().await;
    apply::begin_reload(&tx, entity("products")).await.expect("a reload");
    tx.commit().await.expect("a commit");
    shop.apply(&page(0, &[sent(1, 1), sent(2, 2)])).await;
    assert_eq!(barcodes::find(shop.db.reader(), "3-3").await.expect("an answer"), None);
    assert_eq!(stands(&shop, 2, &[2]).await.2, [2]);
}
