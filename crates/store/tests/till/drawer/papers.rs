//! What the printer of a register does when cash moves in its drawer.

use serde_json::{Value as Json, json};
use tillkeep_storage::entity::print_job;
use tillkeep_storage::sea_orm::EntityTrait;
use uuid::Uuid;

use super::{Drawer, counted, movement, register};
use crate::kit::id;

/// A drawer at a register with a printer that prints nothing here.
async fn with_printer(automatic: bool) -> Drawer {
    let drawer = Drawer::open().await;
    let printer = json!({
        "address": "127.0.0.1:9", "width": 42, "codePage": "PC437", "opensDrawer": true, "automatic": automatic,
    });
    let administrator = drawer.shop.sign_in("administrator").await;
    let path = format!("/registers/{}", id("register 01"));
    administrator.patch(&path, json!({"printer": printer})).await.ok(200);
    drawer
}

async fn jobs(drawer: &Drawer) -> Vec<print_job::Model> {
    print_job::Entity::find().all(drawer.shop.store.test_db().reader()).await.expect("the papers")
}

#[tokio::test]
async fn cash_that_moves_opens_the_drawer_once_and_has_a_slip_where_all_is_printed() {
    for automatic in [false, true] {
        let drawer = with_printer(automatic).await;
        let asked = movement("paid_in", 500);
        drawer.does("cash-movements", asked.clone()).await.ok(201);
        drawer.does("cash-movements", asked).await.ok(200);
        let no_sale = json!({"id": Uuid::now_v7(), "reason": "change"});
        assert_eq!(drawer.manager().await.post(&register("no-sale"), no_sale).await.status, 204);
        let jobs = jobs(&drawer).await;
        assert_eq!(jobs.len(), 2, "{jobs:?}");
        assert!(jobs.iter().all(|job| job.opens_drawer && job.sale_id.is_none()), "{jobs:?}");
        let slips: Vec<&Json> = jobs.iter().filter_map(|job| job.content.as_ref().map(|slip| &slip.0)).collect();
        assert_eq!(slips.len(), usize::from(automatic), "for no sale there is none");
        for slip in slips {
            let report = &slip["body"]["report"];
            assert_eq!((&report["type"], &report["amount"]), (&json!("paid_in"), &json!(500)));
            assert_eq!((&report["registerCode"], &report["userName"]), (&json!("01"), &json!("A cashier")));
        }
    }
}

#[tokio::test]
async fn a_movement_that_is_refused_opens_nothing() {
    let drawer = with_printer(true).await;
    drawer.does("cash-movements", movement("drop", 500)).await.refused(403, "approval_required");
    drawer.does("count", json!({"counts": counted(20_000)})).await.ok(200);
    drawer.does("cash-movements", movement("paid_in", 500)).await.refused(409, "session_closed");
    assert!(jobs(&drawer).await.is_empty());
}
