//! Stock of every store, as what they pushed adds up to.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::{Cost, Money, Qty, ids};
use tillkeep_storage::entity::{inventory_adjustment, store_product};
use tillkeep_storage::sea_orm::{ActiveModelTrait, IntoActiveModel};
use uuid::Uuid;

use super::kit::{Kit, Person, column, id_of};

async fn level(kit: &Kit, store_id: Uuid, product_id: Uuid, quantity: i64, reorder_point: i64) {
    let row = store_product::Model {
        id: ids::store_product(store_id, product_id),
        store_id,
        product_id,
        quantity: Qty::pieces(quantity),
        reorder_point: Qty::pieces(reorder_point),
        average_cost: Some(Cost(Money(70))),
        ..store_product::Model::default()
    };
    let tx = kit.hq.db().begin().await.expect("begin");
    row.into_active_model().insert(&tx).await.expect("level");
    tx.commit().await.expect("commit");
}

async fn adjusted(kit: &Kit, store_id: Uuid, product_id: Uuid, reason: &str, day: &str) {
    let row = inventory_adjustment::Model {
        id: Uuid::now_v7(),
        store_id,
        product_id,
        reason: reason.to_owned(),
        quantity_change: Qty::pieces(3),
        unit_cost: Some(Cost(Money(60))),
        business_date: day.to_owned(),
        ..inventory_adjustment::Model::default()
    };
    let tx = kit.hq.db().begin().await.expect("begin");
    row.into_active_model().insert(&tx).await.expect("adjustment");
    tx.commit().await.expect("commit");
}

/// Two stores, and tea and cocoa in them.
struct Shelves {
    kit: Kit,
    admin: Person,
    stores: [Uuid; 2],
    tea: Uuid,
    cocoa: Uuid,
}

async fn shelves() -> Shelves {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let stores = [kit.store("S01").await, kit.store("S02").await];
    let tea = id_of(&kit.product(&admin, "TEA", json!({})).await);
    let cocoa = id_of(&kit.product(&admin, "COCOA", json!({"cost": 55, "shortName": "КАКАО"})).await);
    level(&kit, stores[0], tea, 2, 5).await;
    level(&kit, stores[1], tea, -1, 0).await;
    level(&kit, stores[0], cocoa, 40, 5).await;
    Shelves { kit, admin, stores, tea, cocoa }
}

/// Stores and products of a list of levels.
fn levels(rows: &Json) -> String {
    let rows = rows.as_array().into_iter().flatten();
    let each = rows.map(|row| format!("{}:{}", row["storeCode"], row["product"]["sku"]).replace('"', ""));
    each.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn stock_of_every_store_is_listed_by_product_and_can_be_narrowed() {
    let Shelves { kit, admin, stores, tea, .. } = shelves().await;
    let of = async |query: &str| levels(&kit.get(&admin, &format!("/inventory?{query}")).await.data());
    let all = of("").await;
    assert!(all == "S01:COCOA S01:TEA S02:TEA" || all == "S01:COCOA S02:TEA S01:TEA", "{all}");
    assert_eq!(of(&format!("storeId={}", stores[0])).await, "S01:COCOA S01:TEA");
    assert_eq!(of("lowStock=true").await, "S01:TEA");
    assert_eq!(of("negative=true").await, "S02:TEA");
    assert_eq!(of("search=coc").await, "S01:COCOA");
    assert_eq!(of("search=%D0%BA%D0%B0%D0%BA%D0%B0%D0%BE").await, "S01:COCOA", "in any case of any script");
    assert_eq!(of(&format!("productId={tea}&sort=-quantity")).await, "S01:TEA S02:TEA");
    assert_eq!(of(&format!("departmentId={}", Uuid::now_v7())).await, "");
    kit.get(&admin, "/inventory?lowStock=perhaps").await.names("lowStock");
}

#[tokio::test]
async fn a_product_has_a_row_of_each_store_also_where_nothing_was_done_with_it() {
    let Shelves { kit, admin, stores, cocoa, .. } = shelves().await;
    let rows = kit.get(&admin, &format!("/inventory/{cocoa}")).await.data();
    assert_eq!(levels(&rows), "S01:COCOA S02:COCOA");
    assert_eq!((&rows[0]["quantity"], &rows[1]["quantity"]), (&json!(40), &json!(0)));
    assert_eq!(
        (&rows[1]["storeId"], &rows[1]["price"], &rows[1]["cost"]),
        (&json!(stores[1]), &json!(1000), &json!(55))
    );
    kit.get(&admin, &format!("/inventory/{}", Uuid::now_v7())).await.refused(404, "product_not_found");
}

#[tokio::test]
async fn adjustments_of_every_store_are_listed_with_what_they_are_of() {
    let Shelves { kit, admin, stores, tea, cocoa } = shelves().await;
    adjusted(&kit, stores[0], tea, "received", "2026-11-18").await;
    adjusted(&kit, stores[1], tea, "damaged", "2026-11-19").await;
    adjusted(&kit, stores[0], cocoa, "received", "2026-11-20").await;
    let of = async |query: &str| levels(&kit.get(&admin, &format!("/inventory/adjustments?{query}")).await.data());
    assert_eq!(of("").await, "S01:COCOA S02:TEA S01:TEA");
    assert_eq!(of("reason=damaged").await, "S02:TEA");
    assert_eq!(of(&format!("productId={tea}&storeId={}", stores[0])).await, "S01:TEA");
    assert_eq!(of("from=2026-11-19&to=2026-11-19").await, "S02:TEA");
    kit.get(&admin, "/inventory/adjustments?from=yesterday").await.names("businessDateFrom");
}

#[tokio::test]
async fn stock_is_cut_to_the_stores_of_whoever_asks_and_tells_no_costs_to_who_may_see_none() {
    let Shelves { kit, admin, stores, tea, .. } = shelves().await;
    adjusted(&kit, stores[0], tea, "received", "2026-11-18").await;
    adjusted(&kit, stores[1], tea, "received", "2026-11-18").await;
    kit.role(&admin, "looker", &["inventory.view"]).await;
    let looker = kit.person("ada", &[("looker", Some(stores[1]))]).await;
    for path in ["/inventory".to_owned(), format!("/inventory/{tea}"), "/inventory/adjustments".to_owned()] {
        let got = kit.get(&looker, &path).await;
        assert!(!got.text.contains("Cost") && !got.text.contains("\"cost\""), "{}", got.text);
        assert_eq!(column(&got.data(), "storeCode"), ["S02"], "{path}");
        let got = kit.get(&admin, &path).await;
        assert!(got.text.contains("Cost"), "{}", got.text);
    }
    for path in ["/inventory", "/inventory/adjustments"] {
        kit.get(&looker, &format!("{path}?storeId={}", stores[0])).await.refused(403, "scope");
    }
}
