//! Sales as stores pushed them.

use serde_json::json;
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::{Money, Qty};
use tillkeep_storage::entity::{chain_entry, sale, sale_item, sale_payment};
use tillkeep_storage::raw::sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, Set};
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
async fn a_store_manager_sees_the_sales_of_the_own_store_and_of_no_other() {
    let kit = Kit::new().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let here = sold(&kit, one, "S01-01-000001", "2026-11-20").await;
    let there = sold(&kit, two, "S02-01-000001", "2026-11-20").await;
    let manager = kit.person("max", &[("store_manager", Some(one)), ("cashier", Some(two))]).await;
    let both = kit.person("mia", &[("store_manager", Some(one)), ("store_manager", Some(two))]).await;
    let all = kit.person("moe", &[("store_manager", None)]).await;
    assert_eq!(column(&kit.get(&manager, "/sales").await.data(), "receiptNumber"), ["S01-01-000001"]);
    assert_eq!(kit.get(&manager, &format!("/sales/{here}")).await.data()["salePayments"][0]["amount"], 2176);
    kit.get(&manager, &format!("/sales/{there}")).await.refused(404, "sale_not_found");
    kit.get(&manager, &format!("/sales?storeId={two}")).await.refused(403, "scope");
    for who in [&both, &all] {
        assert_eq!(kit.get(who, "/sales").await.data().as_array().map(Vec::len), Some(2));
    }
    // A refund in another store is there, and says nothing of that store.
    changed(&kit, there, |row, _| row.original_sale_id = Set(Some(here))).await;
    let shown = kit.get(&manager, &format!("/sales/{here}")).await.data();
    assert_eq!((&shown["refunds"], &shown["refundsElsewhere"]), (&json!([]), &json!(1)));
    assert!(!shown.to_string().contains("S02"), "{shown}");
    let shown = kit.get(&both, &format!("/sales/{here}")).await.data();
    assert_eq!((&shown["refunds"][0]["storeCode"], &shown["refundsElsewhere"]), (&json!("S02"), &json!(0)));
    let cashier = kit.person("cash", &[("cashier", Some(one))]).await;
    kit.get(&cashier, "/sales").await.refused(403, "forbidden");
    kit.get(&cashier, &format!("/sales/{here}")).await.refused(403, "forbidden");
}

#[tokio::test]
async fn who_may_not_know_what_is_in_a_drawer_sees_no_sales_of_a_store_that_closes_blind() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    kit.patch(&admin, &format!("/stores/{two}"), json!({"blindClose": true})).await.is(200);
    sold(&kit, one, "S01-01-000001", "2026-11-20").await;
    let blind = sold(&kit, two, "S02-01-000001", "2026-11-20").await;
    kit.role(&admin, "local", &["reports.view_local"]).await;
    kit.role(&admin, "closer", &["registers.close"]).await;
    let local = kit.person("leo", &[("local", None)]).await;
    assert_eq!(column(&kit.get(&local, "/sales").await.data(), "receiptNumber"), ["S01-01-000001"]);
    kit.get(&local, &format!("/sales/{blind}")).await.is(404);
    let closes = kit.person("lia", &[("local", None), ("closer", Some(two))]).await;
    assert_eq!(kit.get(&closes, "/sales").await.data().as_array().map(Vec::len), Some(2));
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
    row.flags = Set(tillkeep_model::JsonText(json!(["payments_mismatch"])));
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

/// A sale with what `change` makes of it, and its first line.
async fn changed(
    kit: &Kit,
    id: Uuid,
    change: impl FnOnce(&mut sale::ActiveModel, &mut sale_item::ActiveModel),
) -> Uuid {
    let item: sale_item::Model = {
        let lines = sale_item::Entity::find().filter(sale_item::Column::SaleId.eq(id));
        let lines = lines.filter(sale_item::Column::LineNo.eq(1));
        lines.one(kit.hq.db().reader()).await.expect("a read").expect("a line")
    };
    let (id, mut row) = (item.id, kit.row::<sale::Entity>(id).await.into_active_model());
    let mut line = item.into_active_model();
    change(&mut row, &mut line);
    let tx = kit.hq.db().begin().await.expect("begin");
    row.update(&tx).await.expect("the sale");
    line.update(&tx).await.expect("the line");
    tx.commit().await.expect("commit");
    id
}

#[tokio::test]
async fn a_sale_says_what_was_given_back_of_it_where_and_by_whom() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let original = sold(&kit, one, "S01-01-000001", "2026-11-20").await;
    let refund = sold(&kit, two, "S02-01-000007", "2026-11-21").await;
    let line = changed(&kit, original, |_, line| line.product_name = Set("Tea".into())).await;
    changed(&kit, refund, |row, item| {
        (row.sale_type, row.original_sale_id) = (Set("refund".into()), Set(Some(original)));
        (row.total_amount, row.cashier_name) = (Set(Money(-1451)), Set("Mia".into()));
        (item.original_sale_item_id, item.product_name) = (Set(Some(line)), Set("Tea".into()));
        (item.quantity, item.total_amount) = (Set(Qty(-1000)), Set(Money(-1451)));
        (item.restock, item.return_reason) = (Set(Some(false)), Set(Some("Broken".into())));
    })
    .await;
    let shown = kit.get(&admin, &format!("/sales/{original}")).await.data();
    let given = &shown["refunds"][0];
    assert_eq!((&given["id"], &given["receiptNumber"]), (&json!(refund), &json!("S02-01-000007")));
    assert_eq!((&given["storeCode"], &given["storeName"]), (&json!("S02"), &json!("Store S02")));
    assert_eq!((&given["cashierName"], &given["totalAmount"]), (&json!("Mia"), &json!(-1451)));
    let came = &given["lines"][0];
    assert_eq!((&came["originalSaleItemId"], &came["quantity"]), (&json!(line), &json!(-1)));
    assert_eq!((&came["restock"], &came["returnReason"]), (&json!(false), &json!("Broken")));
    assert_eq!(
        kit.get(&admin, &format!("/sales/{refund}")).await.data()["refunds"],
        json!([]),
        "it is none of its own"
    );
}

#[tokio::test]
async fn a_sale_names_the_other_half_of_its_exchange_who_voided_it_and_its_places_in_the_chain() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let (back, bought) = (
        sold(&kit, store, "S01-01-000001", "2026-11-20").await,
        sold(&kit, store, "S01-01-000002", "2026-11-20").await,
    );
    let group = Uuid::now_v7();
    changed(&kit, back, |row, _| {
        (row.sale_type, row.exchange_group_id) = (Set("refund".into()), Set(Some(group)));
        (row.voided_by, row.voided_at) = (Set(Some(admin.id)), Set(Some(kit.clock.now())));
    })
    .await;
    let alone = kit.get(&admin, &format!("/sales/{back}")).await.data();
    assert_eq!((&alone["exchangedWith"], &alone["voidedByName"]), (&json!(null), &json!("admin")));
    assert_eq!(alone["chainEntries"], json!([]), "a document from before");
    changed(&kit, bought, |row, _| row.exchange_group_id = Set(Some(group))).await;
    let tx = kit.hq.db().begin().await.expect("begin");
    for line_no in [2, 1] {
        let entry = chain_entry::Model {
            id: Uuid::now_v7(),
            sale_id: bought,
            line_no,
            number: i64::from(line_no) + 6,
            hash: format!("hash {line_no}"),
            ..chain_entry::Model::default()
        };
        entry.into_active_model().insert(&tx).await.expect("entry");
    }
    tx.commit().await.expect("commit");
    for (id, other, number) in [(back, bought, "S01-01-000002"), (bought, back, "S01-01-000001")] {
        let half = kit.get(&admin, &format!("/sales/{id}")).await.data()["exchangedWith"].clone();
        assert_eq!((&half["id"], &half["receiptNumber"]), (&json!(other), &json!(number)));
    }
    let entries = kit.get(&admin, &format!("/sales/{bought}")).await.data()["chainEntries"].clone();
    assert_eq!((&entries[0]["number"], &entries[1]["hash"]), (&json!(7), &json!("hash 2")));
}
