//! What HQ answers to a pull. Specification, section 4.3.

use tillkeep_model::Money;
use tillkeep_storage::entity::{permission, product, role, store_product, user, user_store_role};
use tillkeep_storage::staff::GlobalPeople;
use tillkeep_storage::{registry, seed};
use uuid::Uuid;

use crate::kit::chain::{Chain, id, product as new_product};
use crate::kit::{self, Hq, at, fill};

#[tokio::test]
async fn the_latest_version_is_the_highest_among_the_rows() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let page = hq.answer("products", chain.first.store_id, 0, 1).await;
        assert_eq!((page.rows.len(), page.latest_version, page.has_more), (1, 1, true));
        let page = hq.answer("products", chain.first.store_id, 1, 1).await;
        assert_eq!((page.rows.len(), page.latest_version, page.has_more), (1, 2, false));
        let page = hq.answer("products", chain.first.store_id, 2, 1).await;
        assert_eq!((page.rows.len(), page.latest_version, page.has_more), (0, 2, false));
    }
}

#[tokio::test]
async fn a_cursor_ahead_of_headquarters_is_answered_with_itself() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let page = hq.answer("products", chain.first.store_id, 77, 10).await;
        assert_eq!((page.rows.len(), page.latest_version, page.has_more), (0, 77, false));
    }
}

#[tokio::test]
async fn rows_come_by_rising_version() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.insert::<product::Entity>((0..40).map(|n| new_product(&format!("P{n}"), 1))).await;
        hq.edit::<product::Entity>(chain.tea, |row| row.price = Money(1)).await;
        let rows = hq.rows("products", chain.first.store_id).await;
        let versions: Vec<_> = rows.iter().map(|row| row["syncVersion"].as_i64().expect("a version")).collect();
        assert_eq!(versions, (2..=43).collect::<Vec<_>>());
        assert_eq!(rows.last().expect("a row")["sku"], "TEA");
    }
}

#[tokio::test]
async fn a_deleted_row_is_pulled_like_any_other() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.edit::<product::Entity>(chain.tea, |row| row.deleted_at = Some(at(0))).await;
        let page = hq.answer("products", chain.first.store_id, 2, 10).await;
        assert_eq!(page.rows.len(), 1);
        assert_eq!(kit::parse(page.rows[0].get())["deletedAt"], at(0).to_string());
    }
}

#[tokio::test]
async fn a_store_never_sees_the_rows_of_another_one() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (mine, other, third) = (chain.first.store_id, chain.second.store_id, id("S03"));
        for name in ["suppliers", "store_product_dynamic", "purchase_orders", "purchase_order_items", "transfers"] {
            fill::at_hq(&hq, name, 10..14, mine, other).await;
            fill::at_hq(&hq, name, 20..23, third, other).await;
        }
        for entity in registry::pulled().filter(|entity| entity.scope != registry::Scope::Everyone) {
            let rows = hq.rows(entity.name, mine).await;
            assert_eq!(rows.len(), 4, "{}", entity.name);
            for row in rows {
                let parties =
                    ["storeId", "fromStoreId", "toStoreId"].map(|key| row[key].as_str().unwrap_or_default().to_owned());
                assert!(parties.contains(&mine.to_string()), "{}: {row}", entity.name);
            }
            assert_eq!(hq.rows(entity.name, id("S99")).await.len(), 0, "{}", entity.name);
        }
        hq.verify().await;
    }
}

fn person(name: &str) -> user::Model {
    user::Model {
        id: id(name),
        username: name.to_owned(),
        username_folded: name.to_lowercase(),
        pin_hash: Some(format!("hash of {name}")),
        pin_lookup: Some(format!("lookup of {name}")),
        is_active: true,
        ..user::Model::default()
    }
}

fn works(name: &str, store: Option<Uuid>, ended: bool) -> user_store_role::Model {
    user_store_role::Model {
        id: id(&format!("role of {name}")),
        user_id: id(name),
        role_id: id("role"),
        store_id: store,
        deleted_at: ended.then(|| at(0)),
        ..user_store_role::Model::default()
    }
}

#[tokio::test]
async fn the_verifiers_of_a_user_go_only_to_stores_where_the_user_has_a_role() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (first, second) = (chain.first.store_id, chain.second.store_id);
        hq.insert::<role::Entity>([role::Model { id: id("role"), code: "r".into(), ..role::Model::default() }]).await;
        hq.insert::<user::Entity>(["here", "there", "everywhere", "nowhere", "formerly"].map(person)).await;
        hq.insert::<user_store_role::Entity>([
            works("here", Some(first), false),
            works("there", Some(second), false),
            works("everywhere", None, false),
            works("formerly", Some(first), true),
        ])
        .await;
        let decide = async |people: GlobalPeople| {
            let mut tx = hq.db.begin().await.expect("begin");
            people.decide(&mut tx).await.expect("decided");
            tx.commit().await.expect("commit");
        };
        for people in [GlobalPeople::Online, GlobalPeople::Named] {
            decide(people).await;
            assert_eq!(verifiers(&hq, first).await, ["here"]);
            assert_eq!(verifiers(&hq, second).await, ["there"]);
        }
        decide(GlobalPeople::All).await;
        assert_eq!(verifiers(&hq, first).await, ["everywhere", "here"]);
        assert_eq!(verifiers(&hq, second).await, ["everywhere", "there"]);
    }
}

/// The users of whom `store` gets the verifiers, by name.
async fn verifiers(hq: &Hq, store: Uuid) -> Vec<String> {
    let rows = hq.rows("users", store).await;
    assert_eq!(rows.len(), 5, "the rows themselves go everywhere");
    let mut names = Vec::new();
    for row in rows {
        let name = row["username"].as_str().expect("a name").to_owned();
        assert_eq!(row["pinHash"].is_null(), row["pinLookup"].is_null(), "{name}");
        if !row["pinHash"].is_null() {
            assert_eq!(row["pinHash"], format!("hash of {name}"));
            names.push(name);
        }
    }
    names.sort_unstable();
    names
}

#[tokio::test]
async fn no_column_that_is_one_server_s_own_ever_travels() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let store = chain.first.store_id;
        fill::at_hq(&hq, "users", 1..2, store, store).await;
        fill::at_hq(&hq, "customers", 1..2, store, store).await;
        for (name, hidden) in [
            ("products", vec!["skuFolded"]),
            ("users", vec!["usernameFolded", "lastLoginAt"]),
            ("customers", vec!["phoneDigits", "synced"]),
        ] {
            let rows = hq.rows(name, store).await;
            assert!(!rows.is_empty());
            for key in hidden {
                assert!(rows.iter().all(|row| row.get(key).is_none()), "{name}.{key}");
            }
        }
    }
}

#[tokio::test]
async fn permissions_are_pulled_whole_whatever_the_cursor() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        seed::ensure(&hq.db, at(0)).await.expect("the seed");
        for (name, count) in [("permissions", 73), ("role_permissions", 73 + 4 + 24)] {
            let page = hq.answer(name, chain.first.store_id, 500, 10).await;
            assert_eq!((page.rows.len(), page.has_more, page.latest_version), (count, false, 1), "{name}");
        }
        hq.insert::<permission::Entity>([permission::Model { id: id("x"), code: "x.y".into(), ..Default::default() }])
            .await;
        let page = hq.answer("permissions", chain.first.store_id, 1, 10).await;
        assert_eq!((page.rows.len(), page.latest_version), (74, 2));
    }
}

#[tokio::test]
async fn a_price_travels_as_an_integer_and_a_quantity_in_units() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let row = store_product::Model {
            id: id("row"),
            store_id: chain.first.store_id,
            product_id: chain.tea,
            price: Money(1299),
            reorder_point: tillkeep_model::Qty(1237),
            ..store_product::Model::default()
        };
        hq.insert::<store_product::Entity>([row]).await;
        let page = hq.answer("store_product_dynamic", chain.first.store_id, 0, 10).await;
        let text = page.rows[0].get();
        assert!(text.contains("\"price\":1299") && text.contains("\"reorderPoint\":1.237"), "{text}");
    }
}

#[tokio::test]
async fn a_page_has_as_many_rows_as_fit_and_one_at_the_least() {
    for hq in kit::both().await {
        let store = Chain::found(&hq).await.first.store_id;
        let of = |number: usize, bytes: usize| product::Model {
            description: Some("x".repeat(bytes)),
            ..new_product(&format!("P{number}"), 1)
        };
        let sizes = [100_000, 100_000, 100_000, 300_000, 1];
        for (number, bytes) in sizes.into_iter().enumerate() {
            hq.insert::<product::Entity>([of(number, bytes)]).await;
        }
        // Two small ones are there already; 256 KiB hold two of a hundred kilobytes.
        let mut since = 0;
        for (rows, has_more) in [(4, true), (1, true), (1, true), (1, false)] {
            let page = hq.answer("products", store, since, 10_000).await;
            assert_eq!((page.rows.len(), page.has_more), (rows, has_more), "after {since}");
            since += i64::try_from(rows).expect("a number");
            assert_eq!(page.latest_version, since, "the cursor is that of the last row that came");
        }
        hq.insert::<product::Entity>((10..1010).map(|number| of(number, 1))).await;
        let page = hq.answer("products", store, since, 10_000).await;
        assert!((1..=500).contains(&page.rows.len()) && page.has_more, "{} rows", page.rows.len());
    }
}
