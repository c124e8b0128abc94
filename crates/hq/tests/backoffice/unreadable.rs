//! Rows that headquarters cannot read, as stores and people meet them. `docs/sync.md`, rule D13.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::json;
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::raw;

use super::kit::{Kit, id_of};

async fn tamper(kit: &Kit, sql: &str) {
    let tx = kit.hq.db().begin().await.expect("a transaction");
    assert_eq!(raw::execute(&tx, sql, []).await.expect("a statement"), 1);
    tx.commit().await.expect("a commit");
}

#[tokio::test]
async fn a_pull_with_a_limit_and_one_without_leave_out_and_name_the_same_row() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let token = kit.sync_token(kit.store("S01").await);
    let mut ids = Vec::new();
    for sku in ["P1", "P2", "P3"] {
        ids.push(id_of(&kit.product(&admin, sku, json!({})).await));
    }
    let before = kit.ask(&token, "/pull?entity_type=products&since_version=0&limit=10").await;
    assert_eq!(before.get("left_out"), None);
    tamper(&kit, "UPDATE products SET barcodes = 'broken', sync_version = 9 WHERE sku = 'P2'").await;
    for limit in ["&limit=20", ""] {
        let page = kit.ask(&token, &format!("/pull?entity_type=products&since_version=0{limit}")).await;
        assert_eq!(page["left_out"], json!([ids[1]]), "{limit}");
        let skus: Vec<_> = page["rows"].as_array().expect("rows").iter().map(|row| row["sku"].clone()).collect();
        assert_eq!((skus, &page["latest_version"]), (vec![json!("P1"), json!("P3")], &json!(9)), "{limit}");
    }
    let dashboard = kit.get(&admin, "/sync/dashboard").await.data();
    let (row, others) = dashboard["unreadable"].as_array().expect("rows").split_first().expect("one row");
    assert!(others.is_empty());
    assert_eq!((&row["entityType"], &row["id"]), (&json!("products"), &json!(ids[1])));
    assert_eq!(row["field"], "barcodes");
}

#[tokio::test]
async fn a_type_that_comes_whole_is_refused_alone_and_its_row_is_named() {
    let kit = Kit::new().await;
    let token = kit.sync_token(kit.store("S01").await);
    let sql = "UPDATE permissions SET created_at = '123456-01-01 00:00:00+00' WHERE code = 'products.view'";
    tamper(&kit, sql).await;
    for limit in ["&limit=1000", ""] {
        let path = format!("/pull?entity_type=permissions&since_version=0{limit}");
        let request =
            Request::get(format!("/api/v1/sync{path}")).header(header::AUTHORIZATION, format!("Bearer {token}"));
        let answer = kit.answer(request.body(Body::empty()).expect("a request")).await;
        // A stream has begun when it finds it out, and breaks off: a part of one is no JSON.
        let refused = answer.status() == StatusCode::INTERNAL_SERVER_ERROR;
        assert!(refused || answer.into_body().collect().await.is_err(), "{path}");
    }
    let roles = kit.ask(&token, "/pull?entity_type=role_permissions&since_version=0&limit=1000").await;
    assert!(roles["rows"].as_array().expect("rows").len() > 70);
    let rows = json!(kit.hq.unreadable.rows().borrow().clone());
    assert_eq!((&rows[0]["entityType"], &rows[0]["field"]), (&json!("permissions"), &json!("created_at")));
}
