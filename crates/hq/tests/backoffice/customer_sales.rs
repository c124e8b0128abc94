//! What a customer bought and brought back, in all stores.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::{Cost, Money};
use tillkeep_storage::entity::{customer, register_session, sale, store};
use tillkeep_storage::raw::sea_orm::{ActiveModelTrait, IntoActiveModel, Set};
use uuid::Uuid;

use super::kit::{Kit, Person, column, id_of};

/// A document of a customer, a second after the one before.
async fn booked(kit: &Kit, customer_id: Uuid, store_id: Uuid, change: impl FnOnce(&mut sale::Model)) -> Uuid {
    kit.clock.advance(1000);
    let mut row = sale::Model {
        id: Uuid::now_v7(),
        store_id,
        customer_id: Some(customer_id),
        sale_type: "sale".to_owned(),
        status: "completed".to_owned(),
        currency_code: "USD".to_owned(),
        business_date: "2026-11-20".to_owned(),
        completed_at: kit.clock.now(),
        total_amount: Money(2000),
        cost_amount: Cost(Money(900)),
        ..sale::Model::default()
    };
    change(&mut row);
    let id = row.id;
    let tx = kit.hq.db().begin().await.expect("begin");
    row.into_active_model().insert(&tx).await.expect("sale");
    tx.commit().await.expect("commit");
    id
}

async fn customer_of(kit: &Kit, admin: &Person, name: &str) -> Uuid {
    id_of(&kit.post(admin, "/customers", json!({"lastName": name})).await.data())
}

/// What all of it comes to: `USD refund 1 -500`.
fn sums(body: &Json) -> Vec<String> {
    let rows = body["sums"].as_array().expect("sums").iter();
    let said =
        |row: &Json| ["currencyCode", "saleType", "count", "totalAmount"].map(|key| row[key].to_string()).join(" ");
    let mut sums: Vec<String> = rows.map(|row| said(row).replace('"', "")).collect();
    sums.sort();
    sums
}

#[tokio::test]
async fn what_a_customer_bought_in_any_store_is_listed_newest_first_with_what_it_comes_to() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let (ann, other) = (customer_of(&kit, &admin, "Ann").await, customer_of(&kit, &admin, "Lee").await);
    booked(&kit, ann, one, |row| row.receipt_number = "S01-01-000001".into()).await;
    booked(&kit, other, one, |row| row.receipt_number = "S01-01-000002".into()).await;
    booked(&kit, ann, two, |row| {
        (row.receipt_number, row.sale_type) = ("S02-01-000001".into(), "refund".into());
        (row.total_amount, row.business_date) = (Money(-500), "2026-11-21".into());
    })
    .await;
    booked(&kit, ann, two, |row| (row.receipt_number, row.status) = ("S02-01-000002".into(), "voided".into())).await;
    booked(&kit, ann, two, |row| {
        (row.receipt_number, row.sale_type) = ("S02-01-000003".into(), "settlement".into());
        row.total_amount = Money(0);
    })
    .await;
    let path = format!("/customers/{ann}/sales");
    let got = kit.get(&admin, &path).await;
    let rows = &got.body["data"];
    assert_eq!(
        column(rows, "receiptNumber"),
        ["S02-01-000003", "S02-01-000002", "S02-01-000001", "S01-01-000001"],
        "of nobody else"
    );
    assert_eq!(column(rows, "storeCode"), ["S02", "S02", "S02", "S01"]);
    // What was voided counts for nothing.
    let all = ["USD refund 1 -500", "USD sale 1 2000", "USD settlement 1 0"];
    assert_eq!(sums(&got.body), all);
    for (query, expected) in [
        ("saleType=refund", vec!["S02-01-000001"]),
        ("status=voided", vec!["S02-01-000002"]),
        ("businessDateFrom=2026-11-21&businessDateTo=2026-11-21", vec!["S02-01-000001"]),
        ("sort=receiptNumber&pageSize=1&page=2", vec!["S02-01-000001"]),
    ] {
        let got = kit.get(&admin, &format!("{path}?{query}")).await;
        assert_eq!(column(&got.body["data"], "receiptNumber"), expected, "{query}");
        assert_eq!(sums(&got.body), all, "{query}: the sums are of all");
    }
    assert_eq!(kit.get(&admin, &format!("{path}?pageSize=3")).await.body["pagination"]["total"], 4);
    kit.get(&admin, &format!("{path}?businessDateTo=soon")).await.names("businessDateTo");
    kit.get(&admin, &format!("/customers/{}/sales", Uuid::now_v7())).await.refused(404, "not_found");
}

#[tokio::test]
async fn what_was_bought_under_a_number_that_was_merged_is_the_survivors() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let (ann, twice) = (customer_of(&kit, &admin, "Ann").await, customer_of(&kit, &admin, "Anne").await);
    let mut row = kit.row::<customer::Entity>(twice).await.into_active_model();
    row.merged_into_id = Set(Some(ann));
    let tx = kit.hq.db().begin().await.expect("begin");
    row.update(&tx).await.expect("merged");
    tx.commit().await.expect("commit");
    let sold = booked(&kit, twice, store, |_| ()).await;
    assert_eq!(kit.get(&admin, &format!("/customers/{ann}/sales")).await.data()[0]["id"], json!(sold));
}

#[tokio::test]
async fn amounts_whose_sum_no_number_holds_come_to_the_largest_one() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let ann = customer_of(&kit, &admin, "Ann").await;
    for _ in 0..2 {
        booked(&kit, ann, store, |row| row.total_amount = Money(i64::MAX)).await;
    }
    let got = kit.get(&admin, &format!("/customers/{ann}/sales")).await;
    assert_eq!(sums(&got.body), [format!("USD sale 2 {}", i64::MAX)]);
}

#[tokio::test]
async fn sales_of_a_customer_are_cut_to_the_stores_of_whoever_asks_and_have_no_costs_for_them() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let ann = customer_of(&kit, &admin, "Ann").await;
    let here = booked(&kit, ann, one, |_| ()).await;
    booked(&kit, ann, two, |_| ()).await;
    kit.role(&admin, "clerk", &["customers.view"]).await;
    let clerk = kit.person("ada", &[("clerk", Some(one))]).await;
    let path = format!("/customers/{ann}/sales");
    let got = kit.get(&clerk, &path).await;
    let rows = &got.body["data"];
    assert_eq!((rows.as_array().map(Vec::len), &rows[0]["id"]), (Some(1), &json!(here)));
    assert!(rows[0].get("costAmount").is_none(), "{rows}");
    assert_eq!(sums(&got.body), ["USD sale 1 2000"]);
    kit.get(&clerk, &format!("{path}?storeId={two}")).await.refused(403, "scope");
    assert_eq!(kit.get(&admin, &path).await.data()[0]["costAmount"], 900);
    kit.role(&admin, "reporter", &["reports.view_global"]).await;
    let reporter = kit.person("bob", &[("reporter", None)]).await;
    kit.get(&reporter, &path).await.refused(403, "forbidden");
}

#[tokio::test]
async fn where_a_store_closes_blind_the_sales_of_an_open_drawer_are_for_who_may_know_what_is_in_it() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (open, blind) = (kit.store("S01").await, kit.store("S02").await);
    let mut row = kit.row::<store::Entity>(blind).await.into_active_model();
    row.blind_close = Set(true);
    let tx = kit.hq.db().begin().await.expect("begin");
    row.update(&tx).await.expect("blind");
    let drawers = [("open", Uuid::now_v7()), ("closed", Uuid::now_v7())];
    for (number, (status, id)) in (1..).zip(drawers) {
        let drawer = register_session::Model {
            id,
            store_id: blind,
            session_number: number,
            status: status.to_owned(),
            ..register_session::Model::default()
        };
        drawer.into_active_model().insert(&tx).await.expect("drawer");
    }
    tx.commit().await.expect("commit");
    let ann = customer_of(&kit, &admin, "Ann").await;
    for (status, id) in drawers {
        booked(&kit, ann, blind, |row| (row.receipt_number, row.register_session_id) = (status.into(), id)).await;
    }
    booked(&kit, ann, open, |row| row.receipt_number = "elsewhere".into()).await;
    kit.role(&admin, "clerk", &["customers.view"]).await;
    kit.role(&admin, "closer", &["registers.close"]).await;
    let path = format!("/customers/{ann}/sales");
    let clerk = kit.person("ada", &[("clerk", None), ("closer", Some(open))]).await;
    let got = kit.get(&clerk, &path).await;
    assert_eq!(column(&got.body["data"], "receiptNumber"), ["elsewhere", "closed"]);
    assert_eq!(sums(&got.body), ["USD sale 2 4000"], "nor is it in the sums");
    let paid = |rows: &Json| {
        let told =
            |row: &Json| ["changeAmount", "cashRounding"].into_iter().filter(|key| row.get(*key).is_some()).count();
        rows.as_array().expect("a list").iter().map(told).collect::<Vec<_>>()
    };
    assert_eq!(paid(&got.body["data"]), [2, 0], "how a sale was paid is for who closes drawers there");
    let closer = kit.person("bob", &[("clerk", None), ("closer", Some(blind))]).await;
    let seen = kit.get(&closer, &path).await.data();
    assert_eq!(column(&seen, "receiptNumber"), ["elsewhere", "closed", "open"]);
    assert_eq!(paid(&seen), [2, 2, 2]);
}
