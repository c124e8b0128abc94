//! What headquarters has of a store's days, and who may ask.

use serde_json::json;
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::Instant;
use tillkeep_storage::entity::store;
use tillkeep_storage::raw::sea_orm::{ActiveModelTrait, IntoActiveModel, Set};
use uuid::Uuid;

use super::kit::{Kit, column};

#[tokio::test]
async fn completeness_is_reported_for_one_day_with_its_registers_and_for_many_with_a_line_each() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let ask = async |query: &str| kit.get(&admin, &format!("/sync/completeness?storeId={store}{query}")).await;
    let last_year = kit.clock.now().plus_millis(-400 * 24 * 3600 * 1000);
    started(&kit, store, last_year).await;
    let one = ask("&date=2099-11-20").await.data();
    assert_eq!((&one["storeCode"], &one["outbox"]["verdict"]), (&json!("S01"), &json!("complete")));
    assert_eq!((&one["days"][0]["registers"], &one["days"][0]["verdict"]), (&json!([]), &json!("open")));
    let many = ask("&from=2026-11-01&to=2026-11-30").await.data();
    let days = many["days"].as_array().expect("days");
    assert_eq!((days.len(), &days[29]["businessDate"]), (30, &json!("2026-11-30")));
    assert!(days.iter().all(|day| day["registers"].is_null()));
    assert_eq!(ask("&from=2026-01-01&to=2026-04-02").await.data()["days"].as_array().expect("days").len(), 92);
}

async fn started(kit: &Kit, store: Uuid, at: Instant) {
    let mut row = kit.row::<store::Entity>(store).await.into_active_model();
    row.first_seen_at = Set(Some(at));
    let tx = kit.hq.db().begin().await.expect("begin");
    row.update(&tx).await.expect("the start");
    tx.commit().await.expect("commit");
}

#[tokio::test]
async fn days_before_the_first_start_of_a_store_are_neither_complete_nor_open() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let verdicts = async || {
        let query = format!("/sync/completeness?storeId={store}&from=2026-11-18&to=2026-11-20");
        let answer = kit.get(&admin, &query).await.data();
        let days = column(&answer["days"], "verdict").join(" ");
        (answer["verdict"].as_str().expect("a verdict").to_owned(), days)
    };
    let before = "before_first_start";
    let (all, days) = verdicts().await;
    assert_eq!((all.as_str(), days), (before, [before; 3].join(" ")), "it never started");
    // Two in the morning: the business day before goes on until four.
    started(&kit, store, Instant::parse("2026-11-20T02:00:00Z").expect("an instant")).await;
    let (all, days) = verdicts().await;
    assert_eq!((all.as_str(), days), ("open", format!("{before} open open")), "nothing was heard of it since");
}

#[tokio::test]
async fn a_question_that_cannot_be_answered_names_what_is_wrong_with_it() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    for (query, field) in [
        ("date=2026-11-20".to_owned(), "storeId"),
        ("storeId=x&date=2026-11-20".to_owned(), "storeId"),
        (format!("storeId={store}"), "date"),
        (format!("storeId={store}&date=2026-02-30"), "date"),
        (format!("storeId={store}&date=%2B2026-1-1"), "date"),
        (format!("storeId={store}&date=2026-11-20&from=2026-11-20&to=2026-11-20"), "date"),
        (format!("storeId={store}&from=2026-11-20"), "date"),
        (format!("storeId={store}&from=2026-11-20&to=2026-11-19"), "to"),
        (format!("storeId={store}&from=2026-01-01&to=2026-04-03"), "to"),
    ] {
        kit.get(&admin, &format!("/sync/completeness?{query}")).await.names(field);
    }
    let nowhere = Uuid::now_v7();
    kit.get(&admin, &format!("/sync/completeness?storeId={nowhere}&date=2026-11-20")).await.is(404);
}

#[tokio::test]
async fn a_manager_of_one_store_sees_the_completeness_of_that_store() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    kit.role(&admin, "watcher", &["stores.view"]).await;
    let watcher = kit.person("ada", &[("watcher", Some(one))]).await;
    kit.get(&watcher, &format!("/sync/completeness?storeId={one}&date=2026-11-20")).await.is(200);
    kit.get(&watcher, &format!("/sync/completeness?storeId={two}&date=2026-11-20")).await.refused(403, "scope");
}
