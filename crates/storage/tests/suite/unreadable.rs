//! Rows that headquarters cannot read hold up nothing, are named, and travel once they are mended. `docs/sync.md`, rule D13.

use sea_orm::Value;
use tillkeep_model::{Instant, ids};
use tillkeep_storage::entity::product;
use tillkeep_storage::rows::Unread;
use tillkeep_storage::{own_documents, pull, raw, unreadable};
use uuid::Uuid;

use crate::kit::chain::{Chain, id, product as new_product};
use crate::kit::{self, Hq, Shop, at, entity, fill};

/// A person with SQL of their own.
async fn tamper(hq: &Hq, sql: &str, values: impl IntoIterator<Item = Value>) {
    let tx = hq.db.begin().await.expect("a transaction");
    assert_ne!(raw::execute(&tx, sql, values).await.expect("a statement"), 0, "{sql}");
    tx.commit().await.expect("a commit");
}

async fn page(hq: &Hq, name: &str, store: Uuid, since: i64, limit: u64) -> pull::Page {
    let snapshot = hq.db.snapshot().await.expect("a snapshot");
    pull::page(&snapshot, entity(name), store, since, limit, &|_| {}).await.expect("a page")
}

fn named(left_out: &[Unread]) -> Vec<(Option<Uuid>, Option<&str>)> {
    left_out.iter().map(|row| (row.id, row.column.as_deref())).collect()
}

/// A value that no column of its kind has, by column.
fn damages(hq: &Hq) -> Vec<(&'static str, &'static str)> {
    let of_both = [("tags", "'{broken'"), ("barcodes", "''"), ("deleted_at", "'123456-01-01 00:00:00+00'")];
    let of_one: &[_] = match hq.name {
        // What the driver panics at.
        "PostgreSQL" => &[("updated_at", "'infinity'"), ("created_at", "'-infinity'")],
        _ => &[("price", "'a price'"), ("updated_at", "'noon'"), ("name", "x'ff'")],
    };
    [&of_both, of_one].concat()
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_left_out_and_named_and_all_others_come() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.insert::<product::Entity>((0..20).map(|n| new_product(&format!("P{n:02}"), 1))).await;
        let mut damaged = Vec::new();
        for (number, (column, value)) in damages(&hq).into_iter().enumerate() {
            // The last of all is among them.
            let row = id(&format!("product:P{:02}", 19 - number));
            tamper(&hq, &format!("UPDATE products SET {column} = {value} WHERE id = $1"), [row.into()]).await;
            damaged.push((Some(row), Some(column)));
        }
        let whole = page(&hq, "products", chain.first.store_id, 0, 1000).await;
        assert_eq!((whole.rows.len(), whole.latest, whole.has_more), (22 - damaged.len(), 22, false), "{}", hq.name);
        let mut names = named(&whole.left_out);
        names.sort_unstable();
        damaged.sort_unstable();
        assert_eq!(names, damaged, "{}", hq.name);
        assert!(whole.flaw(entity("products")).is_none());

        // Page by page it is the same, also where a page holds nothing else.
        let (mut rows, mut left_out, mut since) = (Vec::new(), 0, 0);
        loop {
            let page = page(&hq, "products", chain.first.store_id, since, 1).await;
            assert_eq!((page.latest, page.rows.len() + page.left_out.len()), (since + 1, 1));
            left_out += page.left_out.len();
            since = page.latest;
            rows.extend(page.rows);
            if !page.has_more {
                break;
            }
        }
        assert_eq!((rows, left_out), (whole.rows, damaged.len()));
    }
}

#[tokio::test]
async fn a_document_of_which_a_line_cannot_be_read_is_left_out_with_its_lines() {
    // PostgreSQL holds nothing in these columns but what they are for.
    let hq = Hq::sqlite().await;
    let chain = Chain::found(&hq).await;
    let (mine, other) = (chain.first.store_id, chain.second.store_id);
    fill::at_hq(&hq, "transfers", 1..4, mine, other).await;
    let broken = fill::id_of("transfers", 2);
    let sql = "UPDATE transfer_items SET requested_quantity = 'many' WHERE transfer_id = $1";
    tamper(&hq, sql, [broken.into()]).await;
    let page = page(&hq, "transfers", mine, 0, 10).await;
    assert_eq!((page.rows.len(), page.latest), (2, 3));
    assert_eq!(named(&page.left_out), [(Some(broken), Some("requested_quantity"))]);
    let noted = unreadable::row(entity("transfers"), &page.left_out[0], at(0)).expect("a row with an id");
    assert_eq!((noted.row_id, noted.field.as_deref()), (broken, Some("transfer_items.requested_quantity")));
}

#[tokio::test]
async fn what_comes_whole_is_never_less_than_whole() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        tillkeep_storage::seed::ensure(&hq.db, at(0)).await.expect("the seed");
        let whole = page(&hq, "permissions", chain.first.store_id, 0, 10).await;
        assert!(whole.flaw(entity("permissions")).is_none());
        let sql = "UPDATE permissions SET created_at = '123456-01-01 00:00:00+00' WHERE code = 'products.view'";
        tamper(&hq, sql, []).await;
        let part = page(&hq, "permissions", chain.first.store_id, 0, 10).await;
        assert_eq!(part.rows.len(), whole.rows.len() - 1);
        let flaw = part.flaw(entity("permissions")).expect("it is less than it should be");
        assert_eq!(flaw.column.as_deref(), Some("created_at"));
    }
}

#[tokio::test]
async fn a_reload_keeps_the_good_copy_of_a_row_that_headquarters_cannot_read() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let shop = Shop::open(chain.first.store_id).await;
        shop.pull_everything(&hq, 10).await;
        let before = shop.row::<product::Entity>(chain.tea).await.expect("the product");
        tamper(&hq, "UPDATE products SET tags = '{broken' WHERE id = $1", [chain.tea.into()]).await;
        tamper(&hq, "DELETE FROM products WHERE id = $1", [chain.rice.into()]).await;
        shop.reload(&hq, "products").await;
        let after = shop.row::<product::Entity>(chain.tea).await.expect("its copy is still here");
        assert_eq!((after.sku, after.tags), (before.sku, before.tags));
        assert!(shop.row::<product::Entity>(chain.rice).await.is_none(), "what is gone goes");
    }
}

#[tokio::test]
async fn a_row_that_was_mended_travels_to_stores_that_went_on_without_it() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let shop = Shop::open(chain.first.store_id).await;
        for product in [chain.tea, chain.rice] {
            tamper(&hq, "UPDATE products SET tags = '{broken' WHERE id = $1", [product.into()]).await;
        }
        shop.pull(&hq, "products", 10).await;
        assert!(shop.rows("products").await.is_empty());
        let left_out = page(&hq, "products", shop.id, 0, 10).await.left_out;
        // Noted twice, as two servers do at once.
        for now in [at(0), at(1000)] {
            let rows = left_out.iter().filter_map(|row| unreadable::row(entity("products"), row, now)).collect();
            let tx = hq.db.begin().await.expect("a transaction");
            unreadable::note(&tx, rows).await.expect("they are noted");
            tx.commit().await.expect("a commit");
        }
        assert_eq!(look_again(&hq).await, [(chain.rice, at(0)), (chain.tea, at(0))].into_iter().collect());

        tamper(&hq, "UPDATE products SET tags = '[\"hot\"]' WHERE id = $1", [chain.tea.into()]).await;
        assert_eq!(look_again(&hq).await, [(chain.rice, at(0))].into_iter().collect());
        shop.pull(&hq, "products", 10).await;
        let tea = shop.row::<product::Entity>(chain.tea).await.expect("it is here");
        assert_eq!((tea.sync_version, tea.tags.0), (3, serde_json::json!(["hot"])));
        assert!(shop.row::<product::Entity>(chain.rice).await.is_none());
        // What is gone is waited for no more.
        tamper(&hq, "DELETE FROM products WHERE id = $1", [chain.rice.into()]).await;
        assert!(look_again(&hq).await.is_empty());
    }
}

/// What is left after another look, with when it was noted.
async fn look_again(hq: &Hq) -> std::collections::BTreeSet<(Uuid, Instant)> {
    let mut tx = hq.db.begin().await.expect("a transaction");
    let left = unreadable::look_again(&mut tx).await.expect("a look");
    tx.commit().await.expect("a commit");
    left.into_iter().map(|row| (row.row_id, row.noticed_at)).collect()
}

#[tokio::test]
async fn a_store_gets_its_own_documents_but_for_the_one_that_cannot_be_read() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let store = chain.first.store_id;
        fill::at_hq(&hq, "store_product_dynamic", 1..4, store, store).await;
        let broken = ids::store_product(store, fill::id_of("products", 2));
        let sql = "UPDATE store_product_dynamic SET last_sold_at = '123456-01-01 00:00:00+00' WHERE id = $1";
        tamper(&hq, sql, [broken.into()]).await;
        let snapshot = hq.db.snapshot().await.expect("a snapshot");
        let levels = entity("store_product_dynamic");
        let since = Instant::from_millis(0);
        let page = own_documents::page(&snapshot, levels, store, Uuid::nil(), since, 10).await.expect("a page");
        assert_eq!(page.rows.len(), 2);
        assert_eq!(named(&page.left_out), [(Some(broken), Some("last_sold_at"))]);
    }
}
