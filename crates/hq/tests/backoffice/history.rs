//! How many entries of a store were taken and failed over time, and who may ask.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::Instant;
use tillkeep_storage::entity::sync_log;
use tillkeep_storage::sea_orm::{ActiveModelTrait, IntoActiveModel};
use uuid::Uuid;

use super::dashboard::{odd_sale, orphan};
use super::kit::{Kit, id_of};

/// Entries as they may be in the log: when they were first seen, status, type, warning.
async fn log(kit: &Kit, store_id: Uuid, entries: &[(&str, &str, &str, Option<&str>)]) {
    let tx = kit.hq.db().begin().await.expect("begin");
    for (at, status, entity_type, warning) in entries {
        let at = Instant::parse(at).expect("an instant");
        let row = sync_log::Model {
            id: Uuid::now_v7(),
            store_id,
            direction: "push".to_owned(),
            entity_type: (*entity_type).to_owned(),
            status: (*status).to_owned(),
            warning: warning.map(str::to_owned),
            first_seen_at: at,
            last_seen_at: at,
            ..sync_log::Model::default()
        };
        row.into_active_model().insert(&tx).await.expect("an entry");
    }
    tx.commit().await.expect("commit");
}

/// The points that are not empty: when, taken, warnings, sales, settled, failed.
fn counted(history: &Json) -> Vec<Json> {
    let points = history["points"].as_array().expect("points").iter();
    let keys = ["at", "taken", "warnings", "sales", "settled", "failed"];
    let rows = points.map(|point| keys.map(|key| point[key].clone()));
    rows.filter(|row| row[1..].iter().any(|count| *count != json!(0))).map(|row| json!(row)).collect()
}

#[tokio::test]
async fn each_entry_is_counted_once_in_the_hour_and_the_day_it_was_first_seen_in() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (store, other) = (kit.store("S01").await, kit.store("S02").await);
    let entries = [
        ("2026-11-18T23:59:59.999Z", "success", "sales", None),
        ("2026-11-19T00:00:00.000Z", "success", "sales", Some("no_lines")),
        ("2026-11-19T00:00:00.001Z", "skipped", "customers", None),
        ("2026-11-19T00:59:59.999Z", "failed", "sales", None),
        ("2026-11-19T13:30:00Z", "retried", "sales", None),
        ("2026-11-19T13:30:00.5Z", "resolved", "customers", Some("what was refused warns of nothing")),
        ("2026-11-20T00:00:00Z", "success", "sales", None),
    ];
    log(&kit, store, &entries).await;
    log(&kit, other, &entries[..3]).await;
    let ask = async |query: &str| {
        kit.get(&admin, &format!("/sync/history?storeId={store}&from=2026-11-19T00:10:00Z{query}")).await.data()
    };

    let hours = ask("&to=2026-11-20T00:00:00Z").await;
    assert_eq!((&hours["by"], &hours["from"]), (&json!("hour"), &json!("2026-11-19T00:00:00.000Z")));
    assert_eq!((&hours["storeId"], &hours["to"]), (&json!(store), &json!("2026-11-20T00:00:00.000Z")));
    assert_eq!(
        counted(&hours),
        [json!(["2026-11-19T00:00:00.000Z", 2, 1, 1, 0, 1]), json!(["2026-11-19T13:00:00.000Z", 0, 0, 0, 2, 0]),]
    );
    let points = hours["points"].as_array().expect("points");
    assert_eq!((points.len(), &points[23]["at"]), (24, &json!("2026-11-19T23:00:00.000Z")), "without a gap");

    let days = ask("&by=day&to=2026-11-20T00:00:00.001Z").await;
    assert_eq!(
        counted(&days),
        [json!(["2026-11-19T00:00:00.000Z", 2, 1, 1, 2, 1]), json!(["2026-11-20T00:00:00.000Z", 1, 0, 1, 0, 0]),]
    );
    assert_eq!(days["points"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn the_last_two_days_by_hour_are_the_default() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let token = kit.sync_token(store);
    kit.push(&token, &[odd_sale(store, 1), odd_sale(store, 2), orphan(store, 3), orphan(store, 4)]).await;
    let listed = kit.get(&admin, "/sync/errors").await.data();
    kit.post(&admin, &format!("/sync/resolve/{}", id_of(&listed[0])), json!({})).await.is(200);
    let history = kit.get(&admin, &format!("/sync/history?storeId={store}")).await.data();
    let points = history["points"].as_array().expect("points");
    assert_eq!(points.len(), 48);
    let sum = |key: &str| points.iter().filter_map(|point| point[key].as_i64()).sum::<i64>();
    assert_eq!(["taken", "warnings", "sales", "settled", "failed"].map(sum), [2, 2, 2, 1, 1]);
    let days = kit.get(&admin, &format!("/sync/history?storeId={store}&by=day")).await.data();
    assert_eq!(days["points"].as_array().map(Vec::len), Some(30));
}

#[tokio::test]
async fn what_cannot_be_answered_is_refused_by_its_name() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    for (query, field) in [
        ("by=hour".to_owned(), "storeId"),
        ("storeId=x".to_owned(), "storeId"),
        (format!("storeId={store}&by=week"), "by"),
        (format!("storeId={store}&from=2026-11-20"), "from"),
        (format!("storeId={store}&to=tomorrow"), "to"),
        (format!("storeId={store}&from=2026-11-20T12:00:00Z&to=2026-11-20T12:00:00Z"), "to"),
        (format!("storeId={store}&from=2026-11-01T00:00:00Z&to=2026-11-15T00:00:00.001Z"), "to"),
        (format!("storeId={store}&by=day&from=2026-01-01T00:00:00Z&to=2026-04-03T00:00:00.001Z"), "to"),
        (format!("storeId={store}&by=day&from=2026-01-01T12:00:00Z&to=2026-04-03T12:00:00.001Z"), "to"),
        (format!("storeId={store}&from=2020-01-01T00:00:00Z"), "from"),
        (format!("storeId={store}&from=9999-12-31T00:00:00Z"), "from"),
    ] {
        kit.get(&admin, &format!("/sync/history?{query}")).await.names(field);
    }
    kit.get(&admin, &format!("/sync/history?storeId={store}&days=3")).await.refused(422, "unknown_parameter");
    for (query, count) in [
        ("from=2026-11-01T00:00:00Z&to=2026-11-15T00:00:00Z", 14 * 24),
        ("by=day&from=2026-01-01T00:00:00Z&to=2026-04-03T00:00:00Z", 92),
        // As long as that, but in the middle of the first and the last one.
        ("from=2026-11-01T00:30:00Z&to=2026-11-15T00:30:00Z", 14 * 24 + 1),
        ("by=day&from=2026-01-01T12:00:00Z&to=2026-04-03T12:00:00Z", 93),
        ("from=9999-12-31T00:00:00Z&to=9999-12-31T23:59:59.999Z", 24),
        ("by=day&to=0001-01-01T00:00:00Z", 30),
    ] {
        let history = kit.get(&admin, &format!("/sync/history?storeId={store}&{query}")).await.data();
        assert_eq!(history["points"].as_array().map(Vec::len), Some(count), "{query}");
    }
    kit.get(&admin, &format!("/sync/history?storeId={}", Uuid::now_v7())).await.is(404);
}

#[tokio::test]
async fn a_manager_of_one_store_sees_the_history_of_that_store() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    kit.role(&admin, "watcher", &["stores.view"]).await;
    let watcher = kit.person("ada", &[("watcher", Some(one))]).await;
    kit.get(&watcher, &format!("/sync/history?storeId={one}")).await.is(200);
    kit.get(&watcher, &format!("/sync/history?storeId={two}")).await.refused(403, "scope");
}
