//! Sales as stores pushed them.

use serde_json::json;
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::{Money, Qty};
use tillkeep_storage::entity::{sale, sale_item, sale_payment};
use tillkeep_storage::raw::sea_orm::{ActiveModelTrait, IntoActiveModel};
use uuid::Uuid;

use super::kit::{Kit, column};

async fn sold(kit: &Kit, store_id: Uuid, receipt: &str, day: &str) -> Uuid {
    let id = Uuid::now_v7();
    let row = sale::Model {
        id,
        store_id,
        receipt_number: receipt.to_owned(),
        business_date: day.to_owned(),
        status: "completed".to_owned(),
        completed_at: kit.clock.now(),
        total_amount: Money(2176),
        ..sale::Model::default()
    };
    let tx = kit.hq.db().begin().await.expect("begin");
    row.into_active_model().insert(&tx).await.expect("sale");
    for line_no in [2, 1] {
        let item = sale_item::Model {
            id: Uuid::now_v7(),
            sale_id: id,
            line_no,
            quantity: Qty(1500),
            ..sale_item::Model::default()
        };
        item.into_active_model().insert(&tx).await.expect("item");
    }
    let payment = sale_payment::Model {
        id: Uuid::now_v7(),
        sale_id: id,
        line_no: 1,
        amount: Money(2176),
        ..sale_payment::Model::default()
    };
    payment.into_active_model().insert(&tx).await.expect("payment");
    tx.commit().await.expect("commit");
    kit.clock.advance(1000);
    id
}

#[tokio::test]
async fn sales_of_every_store_are_listed_newest_first_and_shown_with_their_lines() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let first = sold(&kit, one, "S01-01-000001", "2026-11-19").await;
    sold(&kit, one, "S01-01-000002", "2026-11-20").await;
    sold(&kit, two, "S02-01-000001", "2026-11-21").await;
    let receipts = async |query: &str| {
        let rows = kit.get(&admin, &format!("/sales?{query}")).await.data();
        column(&rows, "receiptNumber").join(" ")
    };
    assert_eq!(receipts("").await, "S02-01-000001 S01-01-000002 S01-01-000001");
    assert_eq!(receipts(&format!("storeId={two}")).await, "S02-01-000001");
    assert_eq!(receipts("receiptNumber=S01-01-000001").await, "S01-01-000001");
    assert_eq!(
        receipts("businessDateFrom=2026-11-20&businessDateTo=2026-11-20").await,
        "S01-01-000002",
        "both ends are part of the range"
    );
    assert_eq!(receipts("status=voided").await, "");
    let listed = kit.get(&admin, "/sales").await.data();
    assert!(listed[0].get("saleItems").is_none());
    let shown = kit.get(&admin, &format!("/sales/{first}")).await.data();
    assert_eq!(shown["saleItems"][0]["lineNo"], 1);
    assert_eq!(shown["saleItems"][1]["quantity"], 1.5);
    assert_eq!(shown["salePayments"][0]["amount"], 2176);
    assert_eq!(shown["totalAmount"], 2176);
    kit.get(&admin, &format!("/sales/{}", Uuid::now_v7())).await.refused(404, "sale_not_found");
}

#[tokio::test]
async fn a_manager_of_one_store_sees_the_sales_of_that_store() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    kit.role(&admin, "auditor", &["reports.view_global"]).await;
    let here = sold(&kit, one, "S01-01-000001", "2026-11-20").await;
    let there = sold(&kit, two, "S02-01-000001", "2026-11-20").await;
    let auditor = kit.person("ada", &[("auditor", Some(one))]).await;
    assert_eq!(column(&kit.get(&auditor, "/sales").await.data(), "receiptNumber"), ["S01-01-000001"]);
    assert_eq!(kit.get(&auditor, &format!("/sales/{here}")).await.data()["id"], json!(here));
    kit.get(&auditor, &format!("/sales/{there}")).await.is(404);
    kit.get(&auditor, &format!("/sales?storeId={two}")).await.refused(403, "scope");
}

#[tokio::test]
async fn sales_with_something_to_look_at_can_be_asked_for_alone() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    sold(&kit, store, "S01-01-000001", "2026-11-20").await;
    let odd = sold(&kit, store, "S01-01-000002", "2026-11-20").await;
    let row: sale::Model = kit.row::<sale::Entity>(odd).await;
    let mut row = row.into_active_model();
    row.flags = tillkeep_storage::raw::sea_orm::Set(tillkeep_model::JsonText(json!(["payments_mismatch"])));
    let tx = kit.hq.db().begin().await.expect("begin");
    row.update(&tx).await.expect("the flag");
    tx.commit().await.expect("commit");
    let receipts = async |query: &str| {
        let rows = kit.get(&admin, &format!("/sales?{query}")).await.data();
        column(&rows, "receiptNumber").join(" ")
    };
    assert_eq!(receipts("flagged=true").await, "S01-01-000002");
    assert_eq!(receipts("flagged=false").await, "S01-01-000001");
    assert_eq!(receipts(&format!("flagged=true&storeId={store}")).await, "S01-01-000002");
    kit.get(&admin, "/sales?flagged=perhaps").await.names("flagged");
}
