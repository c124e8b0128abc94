//! Rule D1: the order of versions is the order of commits.

use tillkeep_model::Money;
use tillkeep_storage::entity::{permission, product, role, role_permission, store_product, transfer};
use tillkeep_storage::{raw, versions};
use uuid::Uuid;

use crate::kit::chain::{Chain, id, product as new_product};
use crate::kit::{self, Hq, at};

/// The versions of a table, rising.
async fn versions_of(hq: &Hq, table: &str) -> Vec<i64> {
    let sql = format!("SELECT sync_version AS v FROM {table} ORDER BY 1");
    let rows = raw::query(hq.db.reader(), &sql, []).await.expect("a read");
    rows.iter().map(|row| row.try_get("", "v").expect("a version")).collect()
}

fn stocked(store: Uuid, product: Uuid) -> store_product::Model {
    store_product::Model {
        id: tillkeep_model::ids::store_product(store, product),
        store_id: store,
        product_id: product,
        price: Money(100),
        created_at: at(0),
        updated_at: at(0),
        ..store_product::Model::default()
    }
}

#[tokio::test]
async fn each_row_of_a_transaction_gets_a_version_of_its_own_without_gaps() {
    for hq in kit::both().await {
        Chain::found(&hq).await;
        let changes = hq.insert::<product::Entity>((0..1200).map(|n| new_product(&format!("P{n}"), n))).await;
        assert_eq!(versions_of(&hq, "products").await, (1..=1202).collect::<Vec<_>>());
        assert_eq!(kit::notifications(&changes), [("products", None, 1202)]);
        hq.verify().await;
    }
}

#[tokio::test]
async fn an_edit_moves_only_the_row_that_changed() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let rice = hq.row::<product::Entity>(chain.rice).await.expect("rice").sync_version;
        let changes = hq.edit::<product::Entity>(chain.tea, |row| row.price = Money(1)).await;
        assert_eq!(kit::notifications(&changes), [("products", None, 3)]);
        assert_eq!(hq.row::<product::Entity>(chain.tea).await.expect("tea").sync_version, 3);
        assert_eq!(hq.row::<product::Entity>(chain.rice).await.expect("rice").sync_version, rice);
        hq.verify().await;
    }
}

#[tokio::test]
async fn every_store_has_a_counter_of_its_own_for_its_prices() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (first, second) = (chain.first.store_id, chain.second.store_id);
        hq.insert::<store_product::Entity>([stocked(first, chain.tea)]).await;
        let mut changes =
            hq.insert::<store_product::Entity>([stocked(first, chain.rice), stocked(second, chain.rice)]).await;
        changes.sort_by_key(|change| change.version);
        let change = |store, version| ("store_product_dynamic", Some(store), version);
        assert_eq!(kit::notifications(&changes), [change(second, 1), change(first, 2)]);
        assert_eq!(versions_of(&hq, "store_product_dynamic").await, [1, 1, 2]);
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_transfer_concerns_its_two_stores_and_has_one_counter() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (first, second) = (chain.first.store_id, chain.second.store_id);
        let row = transfer::Model {
            id: id("transfer"),
            store_id: first,
            from_store_id: first,
            to_store_id: second,
            transfer_number: "T1".into(),
            ..transfer::Model::default()
        };
        let changes = hq.insert::<transfer::Entity>([row]).await;
        let mut stores = kit::notifications(&changes);
        let mut expected = vec![("transfers", Some(first), 1), ("transfers", Some(second), 1)];
        stores.sort_unstable();
        expected.sort_unstable();
        assert_eq!(stores, expected);
        hq.verify().await;
    }
}

#[tokio::test]
async fn permissions_have_a_counter_but_their_rows_have_no_version() {
    for hq in kit::both().await {
        let code = permission::Model { id: id("code"), code: "a.b".into(), ..permission::Model::default() };
        let role_row = role::Model { id: id("role"), code: "r".into(), ..role::Model::default() };
        hq.insert::<permission::Entity>([code]).await;
        hq.insert::<role::Entity>([role_row]).await;
        let grant = role_permission::Model { role_id: id("role"), permission_id: id("code") };
        let changes = hq.insert::<role_permission::Entity>([grant]).await;
        assert_eq!(kit::notifications(&changes), [("role_permissions", None, 1)]);
        let heads = versions::heads(hq.db.reader()).await.expect("the heads");
        assert_eq!(heads[&("permissions".to_owned(), Uuid::nil())], 1);
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_transaction_that_is_dropped_leaves_neither_rows_nor_versions() {
    for hq in kit::both().await {
        Chain::found(&hq).await;
        {
            let mut tx = hq.db.begin().await.expect("a transaction");
            raw::execute(&tx, "UPDATE products SET sync_version = 0", []).await.expect("an update");
            tx.touch(kit::entity("products"));
        }
        assert_eq!(versions_of(&hq, "products").await, [1, 2]);
        let changes = hq.edit::<product::Entity>(id("product:TEA"), |row| row.price = Money(1)).await;
        assert_eq!(changes[0].version, 3);
        hq.verify().await;
    }
}
