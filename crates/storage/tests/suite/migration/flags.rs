//! Documents stored before what they name lose their flags in a step, when it has come. `docs/sync.md`, rule U9.

use serde_json::{Value as Json, json};
use tillkeep_storage::migration::STEPS;
use tillkeep_storage::sea_orm::Value;
use tillkeep_storage::{Side, raw};
use uuid::Uuid;

use super::TestDatabase;
use crate::kit::fill::id_of;

async fn update(place: &TestDatabase, sql: &str, values: Vec<Value>) {
    let tx = place.conn.begin_to_write().await.expect("a transaction");
    assert!(raw::execute(&tx, &format!("UPDATE {sql}"), values).await.expect("an update") > 0, "{sql}");
    tx.commit().await.expect("a commit");
}

async fn flags(place: &TestDatabase, table: &str, id: Uuid) -> Json {
    let rows = raw::query(&place.conn, &format!("SELECT flags FROM {table} WHERE id = $1"), [id.into()]).await;
    let text: String = rows.expect("the rows")[0].try_get("", "flags").expect("flags");
    serde_json::from_str(&text).expect("a list")
}

#[tokio::test]
async fn flags_of_what_has_come_since_are_gone_after_the_upgrade() {
    let all = json!(["unknown_session", "payments_mismatch", "unknown_customer", "unknown_product"]);
    for place in TestDatabase::each().await {
        let before = STEPS.iter().position(|step| step.name == "0004_people").expect("the step");
        place.run(&STEPS[..before]).await.expect("the steps of the release before");
        place.fill(&STEPS[..before]).await;
        update(&place, "sales SET flags = $1", vec![all.to_string().into()]).await;
        update(&place, "inventory_adjustments SET flags = $1", vec![json!(["unknown_product"]).to_string().into()])
            .await;
        let sale = |n| id_of("sales", n);
        // Of the first sale everything has come, of the second one its customer, of the third one another store's drawer.
        for n in [1, 2] {
            let sql = "sales SET customer_id = $1 WHERE id = $2";
            update(&place, sql, vec![id_of("customers", n).into(), sale(n).into()]).await;
        }
        let sql = "sales SET register_session_id = $1, store_id = (SELECT store_id FROM register_sessions WHERE id = $1) \
                   WHERE id = $2";
        update(&place, sql, vec![id_of("register_sessions", 1).into(), sale(1).into()]).await;
        let sql = "sales SET register_session_id = $1 WHERE id = $2";
        update(&place, sql, vec![id_of("register_sessions", 3).into(), sale(3).into()]).await;
        let sql = "sale_items SET product_id = $1 WHERE sale_id = $2";
        update(&place, sql, vec![id_of("products", 1).into(), sale(1).into()]).await;
        let sql = "inventory_adjustments SET product_id = $1 WHERE id = $2";
        let adjustment = |n| id_of("inventory_adjustments", n);
        update(&place, sql, vec![id_of("products", 1).into(), adjustment(1).into()]).await;
        place.run(STEPS).await.expect("the step");
        if place.side == Side::Store {
            assert_eq!(flags(&place, "sales", sale(1)).await, all, "a store judges nothing");
            continue;
        }
        assert_eq!(flags(&place, "sales", sale(1)).await, json!(["payments_mismatch"]));
        let second = json!(["unknown_session", "payments_mismatch", "unknown_product"]);
        assert_eq!(flags(&place, "sales", sale(2)).await, second);
        assert_eq!(flags(&place, "sales", sale(3)).await, all);
        assert_eq!(flags(&place, "inventory_adjustments", adjustment(1)).await, json!([]));
        assert_eq!(flags(&place, "inventory_adjustments", adjustment(2)).await, json!(["unknown_product"]));
    }
}
