//! What a store makes of the rows it pulled.

use sea_orm::{ConnectionTrait, EntityTrait};
use serde_json::{Value as Json, json};
use tillkeep_model::{Cost, Instant, Money, Qty, ids};
use tillkeep_storage::entity::{
    customer, permission, product, product_barcode, role, role_permission, store_product, transfer, transfer_item,
};
use tillkeep_storage::verify::{self, Options, Source};
use tillkeep_storage::{Side, apply, barcodes, registry, seed};

use crate::kit::chain::{Chain, id, product as new_product};
use crate::kit::{self, Hq, Shop, at, entity, fill, page_of};

/// A chain and the empty database of its first store, on each kind of server.
async fn shops() -> Vec<(Hq, Chain, Shop)> {
    let mut out = Vec::new();
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let shop = Shop::open(chain.first.store_id).await;
        out.push((hq, chain, shop));
    }
    out
}

#[tokio::test]
async fn an_empty_store_that_pulls_everything_has_what_headquarters_has() {
    for hq in kit::both().await {
        let (store, other) = (fill::id_of("stores", 0), fill::id_of("stores", 1));
        for entity in registry::pulled() {
            fill::at_hq(&hq, entity.name, 0..7, store, other).await;
        }
        let shop = Shop::open(store).await;
        for entity in registry::pulled() {
            let pages = shop.pull(&hq, entity.name, 3).await;
            assert_eq!(pages, if entity.replace_all { 1 } else { 3 }, "{}", entity.name);
        }
        for entity in registry::pulled() {
            let (mut here, mut there) = (shop.rows(entity.name).await, hq.rows(entity.name, store).await);
            assert_eq!(there.len(), 7, "{}", entity.name);
            here.sort_by_key(ToString::to_string);
            there.sort_by_key(ToString::to_string);
            assert_eq!(here, there, "{}", entity.name);
            let expected = there.iter().filter_map(|row| row["syncVersion"].as_i64()).max().unwrap_or(1);
            assert_eq!(shop.cursor(entity.name).await.version, expected, "{}", entity.name);
        }
        let secrets = shop.rows("users").await.iter().filter(|row| !row["pinHash"].is_null()).count();
        assert_eq!(secrets, 1, "only one of them has a role here");
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_page_that_fails_moves_neither_rows_nor_cursor() {
    let shop = Shop::open(id("S01")).await;
    let good = json!({"id": id("a"), "code": "A", "name": "A", "syncVersion": 1});
    let bad =
        |code: Json| page_of("suppliers", &[good.clone(), json!({"id": id("b"), "code": code, "syncVersion": 2})]);
    let error = apply::Page::read(entity("suppliers"), bad(json!(7))).err().expect("a number is no code").to_string();
    assert!(error.contains("suppliers") && error.contains("code"), "{error}");
    let tx = shop.begin().await;
    let refuses = "CREATE TRIGGER refuses BEFORE INSERT ON suppliers WHEN NEW.code = 'B' \
                   BEGIN SELECT RAISE(ABORT, 'not this one'); END";
    tx.execute_unprepared(refuses).await.expect("a trigger");
    tx.commit().await.expect("a commit");
    let tx = shop.begin().await;
    let page = apply::Page::read(entity("suppliers"), bad(json!("B"))).expect("rows");
    let error = apply::page(&tx, entity("suppliers"), shop.id, page, at(0)).await.expect_err("it is refused");
    assert!(error.to_string().contains("not this one"), "{error}");
    drop(tx);
    assert_eq!(shop.rows("suppliers").await.len(), 0);
    assert_eq!(shop.cursor("suppliers").await.version, 0);
}

#[tokio::test]
async fn a_page_of_a_transaction_that_is_dropped_moves_neither_rows_nor_cursor() {
    let shop = Shop::open(id("S01")).await;
    let page = page_of("suppliers", &[json!({"id": id("a"), "code": "A", "syncVersion": 1})]);
    let tx = shop.begin().await;
    let page = apply::Page::read(entity("suppliers"), page).expect("rows");
    apply::page(&tx, entity("suppliers"), shop.id, page, at(0)).await.expect("a page");
    drop(tx);
    assert_eq!(shop.rows("suppliers").await.len(), 0);
    assert_eq!(shop.cursor("suppliers").await.version, 0);
}

#[tokio::test]
async fn products_bring_rows_of_this_store_with_their_default_prices() {
    for (hq, chain, shop) in shops().await {
        shop.pull(&hq, "products", 10).await;
        let tea = shop.stock(chain.tea).await;
        assert_eq!(tea.id, ids::store_product(shop.id, chain.tea), "HQ would name it alike");
        assert_eq!((tea.price, tea.cost, tea.reorder_point), (Money(1999), Cost(Money(999)), Qty::pieces(5)));
        assert_eq!((tea.quantity, tea.has_price_override, tea.is_stocked), (Qty::ZERO, false, true));
    }
}

#[tokio::test]
async fn a_default_copy_follows_the_product_and_an_override_stays() {
    for (hq, chain, shop) in shops().await {
        let override_row = store_product::Model {
            id: ids::store_product(shop.id, chain.rice),
            store_id: shop.id,
            product_id: chain.rice,
            price: Money(450),
            has_price_override: true,
            is_stocked: true,
            ..store_product::Model::default()
        };
        hq.insert::<store_product::Entity>([override_row]).await;
        shop.pull_everything(&hq, 10).await;
        assert_eq!(shop.stock(chain.rice).await.price, Money(450));
        hq.edit::<product::Entity>(chain.tea, |row| row.price = Money(2099)).await;
        hq.edit::<product::Entity>(chain.rice, |row| row.price = Money(550)).await;
        shop.pull_everything(&hq, 10).await;
        assert_eq!(shop.stock(chain.tea).await.price, Money(2099));
        assert_eq!(shop.stock(chain.rice).await.price, Money(450));
    }
}

#[tokio::test]
async fn a_pull_keeps_the_quantity_and_what_else_the_store_counts_itself() {
    for (hq, chain, shop) in shops().await {
        shop.pull_everything(&hq, 10).await;
        let sql = "UPDATE store_product_dynamic SET quantity = $1, average_cost = $2, last_sold_at = $3";
        shop.execute(sql, [7000_i64.into(), 321_i64.into(), at(5).into()]).await;
        let shadow = store_product::Model {
            id: ids::store_product(shop.id, chain.tea),
            store_id: shop.id,
            product_id: chain.tea,
            price: Money(1500),
            has_price_override: true,
            reorder_point: Qty::pieces(9),
            quantity: Qty::pieces(-100),
            average_cost: Some(Cost(Money(1))),
            ..store_product::Model::default()
        };
        hq.insert::<store_product::Entity>([shadow]).await;
        shop.pull_everything(&hq, 10).await;
        let tea = shop.stock(chain.tea).await;
        assert_eq!((tea.price, tea.reorder_point), (Money(1500), Qty::pieces(9)), "what HQ owns came");
        assert_eq!(
            (tea.quantity, tea.average_cost, tea.last_sold_at),
            (Qty::pieces(7), Some(Cost(Money(321))), Some(at(5)))
        );
    }
}

#[tokio::test]
async fn a_store_starts_counting_at_nothing_whatever_headquarters_believes() {
    for (hq, chain, shop) in shops().await {
        let shadow = store_product::Model {
            id: id("shadow"),
            store_id: shop.id,
            product_id: chain.tea,
            quantity: Qty::pieces(50),
            ..store_product::Model::default()
        };
        hq.insert::<store_product::Entity>([shadow]).await;
        // Alone, without the products: a notification pulls one type.
        shop.pull(&hq, "store_product_dynamic", 10).await;
        assert_eq!(shop.stock(chain.tea).await.quantity, Qty::ZERO);
        shop.pull(&hq, "products", 10).await;
        assert_eq!(shop.rows("store_product_dynamic").await.len(), 2, "one row for each product");
    }
}

#[tokio::test]
async fn a_row_with_unsent_local_work_is_not_overwritten() {
    for (hq, _, shop) in shops().await {
        fill::at_hq(&hq, "customers", 0..2, shop.id, shop.id).await;
        shop.pull_everything(&hq, 10).await;
        let mine = fill::id_of("customers", 0);
        shop.execute("UPDATE customers SET first_name = 'Mine', synced = FALSE WHERE id = $1", [mine.into()]).await;
        for n in 0..2 {
            hq.edit::<customer::Entity>(fill::id_of("customers", n), |row| row.first_name = Some("Theirs".into()))
                .await;
        }
        shop.pull_everything(&hq, 10).await;
        let name = |row: Option<customer::Model>| row.expect("a customer").first_name;
        assert_eq!(name(shop.row::<customer::Entity>(mine).await).as_deref(), Some("Mine"));
        let other = shop.row::<customer::Entity>(fill::id_of("customers", 1)).await;
        assert_eq!(name(other).as_deref(), Some("Theirs"));
    }
}

#[tokio::test]
async fn the_lines_of_a_transfer_with_unsent_local_work_are_not_overwritten() {
    for (hq, chain, shop) in shops().await {
        fill::at_hq(&hq, "transfers", 0..2, shop.id, chain.second.store_id).await;
        shop.pull_everything(&hq, 10).await;
        let received = "UPDATE transfer_items SET received_quantity = 3000";
        shop.execute(received, []).await;
        shop.execute("UPDATE transfers SET synced = FALSE WHERE id = $1", [fill::id_of("transfers", 0).into()]).await;
        for n in 0..2 {
            hq.edit::<transfer::Entity>(fill::id_of("transfers", n), |row| row.note = Some("edited".into())).await;
        }
        shop.pull_everything(&hq, 10).await;
        for (line, kept) in [(0, true), (1, true), (2, false), (3, false)] {
            let row = shop.row::<transfer_item::Entity>(fill::id_of("transfer_items", line)).await.expect("a line");
            assert_eq!(row.received_quantity == Qty::pieces(3), kept, "line {line}");
        }
    }
}

#[tokio::test]
async fn a_permission_taken_away_at_headquarters_is_gone_at_the_store() {
    for (hq, _, shop) in shops().await {
        seed::ensure(&hq.db, at(0)).await.expect("the seed");
        shop.pull_everything(&hq, 10).await;
        let before = shop.rows("role_permissions").await;
        assert_eq!(before.len(), 73 + 4 + 24);
        let mut tx = hq.db.begin().await.expect("a transaction");
        let gone = (ids::role("cashier"), ids::permission("pos.discount"));
        role_permission::Entity::delete_by_id(gone).exec(&tx).await.expect("a delete");
        tx.touch(kit::entity("role_permissions"));
        tx.commit().await.expect("a commit");
        shop.pull(&hq, "role_permissions", 10).await;
        let after = shop.rows("role_permissions").await;
        assert_eq!(after.len(), before.len() - 1);
        let row = json!({"roleId": gone.0, "permissionId": gone.1});
        assert!(before.contains(&row) && !after.contains(&row));
        assert_eq!(shop.cursor("role_permissions").await.version, 2);
    }
}

#[tokio::test]
async fn unknown_columns_are_ignored_and_snake_case_is_read() {
    let shop = Shop::open(id("S01")).await;
    let rows = [
        json!({"id": id("a"), "code": "A", "name": "A", "isActive": true, "syncVersion": 1, "loyaltyTier": {"x": [1]}}),
        json!({"id": id("b"), "code": "B", "name": "B", "is_active": true, "sync_version": 2, "country_code": "CH",
               "created_at": at(3), "loyalty_tier": 1}),
    ];
    assert_eq!(shop.receive("suppliers", &rows).await, 2);
    let found = shop.rows("suppliers").await;
    assert_eq!(found.len(), 2);
    let b = found.iter().find(|row| row["code"] == "B").expect("B");
    assert_eq!((&b["isActive"], &b["countryCode"], &b["createdAt"]), (&json!(true), &json!("CH"), &json!(at(3))));
}

#[tokio::test]
async fn every_pulled_type_is_read_in_snake_case_too() {
    let hq = Hq::sqlite().await;
    let (store, other) = (fill::id_of("stores", 0), fill::id_of("stores", 1));
    for entity in registry::pulled() {
        fill::at_hq(&hq, entity.name, 0..2, store, other).await;
    }
    let (shop, twin) = (Shop::open(store).await, Shop::open(store).await);
    for entity in registry::pulled() {
        let rows = hq.rows(entity.name, store).await;
        let snake: Vec<_> = rows.iter().map(snake_case).collect();
        assert_ne!(rows, snake, "{}", entity.name);
        shop.receive(entity.name, &rows).await;
        twin.receive(entity.name, &snake).await;
        assert_eq!(twin.rows(entity.name).await, shop.rows(entity.name).await, "{}", entity.name);
    }
}

/// The keys of a row, and of the lines inside it, as an older sender would write them.
fn snake_case(row: &serde_json::Value) -> serde_json::Value {
    let snake = |key: &str| {
        key.chars().fold(String::new(), |mut out, letter| {
            if letter.is_ascii_uppercase() {
                out.push('_');
            }
            out.push(letter.to_ascii_lowercase());
            out
        })
    };
    let lines = |key: &str, value: &serde_json::Value| match value.as_array() {
        Some(list) if key.ends_with("Items") => list.iter().map(snake_case).collect(),
        _ => value.clone(),
    };
    let row = row.as_object().expect("an object");
    row.iter().map(|(key, value)| (snake(key), lines(key, value))).collect::<serde_json::Map<_, _>>().into()
}

#[tokio::test]
async fn a_sku_may_move_from_one_product_to_another_in_any_order() {
    for (hq, chain, shop) in shops().await {
        shop.pull_everything(&hq, 10).await;
        hq.edit::<product::Entity>(chain.tea, |row| (row.sku, row.barcode) = ("OLD".into(), Some("222".into()))).await;
        hq.edit::<product::Entity>(chain.rice, |row| (row.sku, row.barcode) = ("TEA".into(), Some("111".into()))).await;
        // A third edit puts tea behind rice: the store sees rice take the sku while its own tea still has it.
        hq.edit::<product::Entity>(chain.tea, |row| row.name = "Old tea".into()).await;
        shop.pull(&hq, "products", 1).await;
        let sku = async |id| shop.row::<product::Entity>(id).await.expect("a product").sku;
        assert_eq!((sku(chain.tea).await, sku(chain.rice).await), ("OLD".to_owned(), "TEA".to_owned()));
        assert_eq!(codes(&shop).await, [("111".to_owned(), chain.rice), ("222".to_owned(), chain.tea)]);
    }
}

#[tokio::test]
async fn a_barcode_follows_its_product_and_goes_with_a_deleted_one() {
    for (hq, chain, shop) in shops().await {
        let further = tillkeep_model::JsonText(json!(["112", "113"]));
        hq.edit::<product::Entity>(chain.tea, |row| (row.barcode, row.barcodes) = (Some("111".into()), further)).await;
        shop.pull_everything(&hq, 10).await;
        assert_eq!(codes(&shop).await, ["111", "112", "113"].map(|code| (code.to_owned(), chain.tea)));
        // One of them goes over to rice, and that row arrives in the same page before the change of tea.
        hq.edit::<product::Entity>(chain.tea, |row| row.barcodes = tillkeep_model::JsonText(json!(["113"]))).await;
        hq.edit::<product::Entity>(chain.rice, |row| row.barcode = Some("112".into())).await;
        hq.edit::<product::Entity>(chain.tea, |row| row.deleted_at = Some(at(0))).await;
        shop.pull_everything(&hq, 10).await;
        assert_eq!(codes(&shop).await, [("112".to_owned(), chain.rice)]);
    }
}

#[tokio::test]
async fn a_code_of_a_pack_finds_its_product_at_a_store() {
    for (hq, chain, shop) in shops().await {
        let packs = tillkeep_model::JsonText(json!([{"code": "CASE", "quantity": 6}]));
        hq.edit::<product::Entity>(chain.tea, |row| row.packs = packs).await;
        shop.pull_everything(&hq, 10).await;
        assert!(codes(&shop).await.contains(&("CASE".to_owned(), chain.tea)));
        hq.edit::<product::Entity>(chain.tea, |row| row.packs = tillkeep_model::JsonText(json!([]))).await;
        shop.pull_everything(&hq, 10).await;
        assert!(codes(&shop).await.iter().all(|(code, _)| code != "CASE"));
    }
}

#[tokio::test]
async fn a_pull_of_two_products_with_one_code_is_taken_and_the_checker_names_them() {
    let shop = Shop::open(id("S01")).await;
    let one = json!({"id": id("a"), "sku": "Tea", "barcode": "012345678905", "barcodes": ["7"], "syncVersion": 1});
    let other = json!({"id": id("b"), "sku": " TEA", "barcode": "0012345678905", "barcodes": ["7"], "syncVersion": 2});
    assert_eq!(shop.receive("products", &[one, other]).await, 2);
    let row = shop.row::<product::Entity>(id("b")).await.expect("a product");
    assert_eq!((row.sku.as_str(), row.sku_folded.as_str()), (" TEA", "tea"));
    // Each form finds its own product as long as both are there.
    for (code, name) in [("012345678905", "a"), ("0012345678905", "b")] {
        assert_eq!(barcodes::find(shop.db.reader(), code).await.expect("a read"), Some(id(name)), "{code}");
    }
    let source = Source::new(shop.db.reader(), Side::Store).await.expect("a source");
    let found = verify::run(None, &[source], &Options::default()).await.expect("a verdict");
    let found: Vec<_> = found.iter().filter(|finding| finding.invariant == "I14").collect();
    assert_eq!(found.len(), 3, "the SKU and two codes: {found:?}");
    let both = [id("a"), id("b")].map(|id| id.to_string());
    assert!(found.iter().all(|finding| both.iter().all(|id| finding.to_string().contains(id))), "{found:?}");
}

async fn codes(shop: &Shop) -> Vec<(String, uuid::Uuid)> {
    let rows = product_barcode::Entity::find().all(shop.db.reader()).await.expect("the codes");
    let mut out: Vec<_> = rows.into_iter().map(|row| (row.code, row.product_id)).collect();
    out.sort_unstable();
    out
}

#[tokio::test]
async fn a_pulled_row_with_a_child_type_missing_its_parent_is_stored_all_the_same() {
    for (hq, chain, shop) in shops().await {
        hq.insert::<product::Entity>([new_product("LATE", 100)]).await;
        // No department, no tax group: only products were notified.
        shop.pull(&hq, "products", 10).await;
        assert_eq!(shop.rows("products").await.len(), 3);
        assert_eq!(shop.row::<product::Entity>(chain.tea).await.expect("tea").sku, "TEA");
    }
}

#[tokio::test]
async fn each_server_folds_names_and_strips_numbers_on_its_own() {
    let shop = Shop::open(id("S01")).await;
    shop.receive("users", &[json!({"id": id("u"), "username": " STRASSE \u{130}", "syncVersion": 1})]).await;
    shop.receive("customers", &[json!({"id": id("c"), "phone": "+41 (0)79 555-01", "syncVersion": 1})]).await;
    let user = shop.row::<tillkeep_storage::entity::user::Entity>(id("u")).await.expect("a user");
    assert_eq!(user.username_folded, registry::fold("strasse \u{130}"));
    let customer = shop.row::<customer::Entity>(id("c")).await.expect("a customer");
    assert_eq!(customer.phone_digits.as_deref(), Some("4107955501"));
    assert!(customer.synced);
}

#[tokio::test]
async fn an_absent_instant_is_not_the_time_of_arrival() {
    let shop = Shop::open(id("S01")).await;
    shop.receive("roles", &[json!({"id": id("r"), "code": "x", "syncVersion": 1})]).await;
    let row = shop.row::<role::Entity>(id("r")).await.expect("a role");
    assert_eq!(row.created_at, Instant::default());
    shop.receive("permissions", &[json!({"id": id("p"), "code": "a.b"})]).await;
    assert_eq!(permission::Entity::find().all(shop.db.reader()).await.expect("a read").len(), 1);
}
