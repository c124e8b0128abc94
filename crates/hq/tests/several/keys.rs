//! One `Idempotency-Key` at two servers of one headquarters at the same moment.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Request, header};
use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::raw;
use tokio::time::timeout;

use super::{another, answered, waiting_for_a_lock};
use crate::backoffice::kit::{Kit, Person, general, untaxed};

fn product(sku: &str) -> Json {
    json!({"sku": sku, "name": sku, "price": 100, "departmentId": general(), "taxGroupId": untaxed()})
}

fn keyed(who: &Person, body: &Json, key: &str) -> Request<Body> {
    let request = Request::post("/api/v1/products")
        .header(header::HOST, "hq.example:8080")
        .header(header::AUTHORIZATION, format!("Bearer {}", who.token))
        .header(header::CONTENT_TYPE, "application/json")
        .header("idempotency-key", key);
    request.body(Body::from(body.to_string())).expect("a request")
}

async fn change(kit: &Kit, sql: &str) {
    let tx = kit.hq.db().begin().await.expect("begin");
    raw::execute(&tx, sql, []).await.expect("a statement");
    tx.commit().await.expect("commit");
}

fn file(who: &Person, table: &str, key: &str) -> Request<Body> {
    let mut request = keyed(who, &Json::Null, key);
    *request.uri_mut() = "/api/v1/products/import".parse().expect("an address");
    request.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv"));
    *request.body_mut() = Body::from(table.to_owned());
    request
}

/// How many seconds the one claim still lasts.
async fn claimed(kit: &Kit) -> i64 {
    let sql =
        "SELECT CAST(EXTRACT(EPOCH FROM expires_at - CURRENT_TIMESTAMP) AS BIGINT) AS left_s FROM idempotency_claims";
    let rows = raw::query(kit.hq.db().reader(), sql, []).await.expect("the claims");
    assert_eq!(rows.len(), 1);
    rows[0].try_get("", "left_s").expect("a number")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_claimed_for_as_long_as_its_request_may_take() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let table = "sku,name,departmentCode,taxGroupCode,price\nTEA,Tea,GENERAL,NONE,1.00\n";
    let requests = [(keyed(&admin, &product("MILK"), "one"), 201, 60), (file(&admin, table, "two"), 200, 120)];
    for (request, done, lasts) in requests {
        let held = kit.hq.db().begin().await.expect("begin");
        raw::execute(&held, "LOCK TABLE products IN SHARE MODE", []).await.expect("a lock");
        let look = async {
            waiting_for_a_lock(&kit, 1).await;
            let left = claimed(&kit).await;
            drop(held);
            left
        };
        let (got, left) = tokio::join!(kit.send(request), look);
        got.is(done);
        assert!(left <= lasts && left > lasts - 30, "{left} of {lasts} seconds");
        assert_eq!(claims(&kit).await, 0, "it is given back with the answer");
    }
}

async fn claims(kit: &Kit) -> i64 {
    let rows = raw::query(kit.hq.db().reader(), "SELECT COUNT(*) AS n FROM idempotency_claims", []).await;
    rows.expect("the claims")[0].try_get("", "n").expect("a number")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_of_a_request_that_one_server_is_answering_is_in_progress_at_the_other() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (_, elsewhere) = another(&kit).await;
    let body = product("TEA");
    let held = kit.hq.db().begin().await.expect("begin");
    raw::execute(&held, "LOCK TABLE products IN SHARE MODE", []).await.expect("a lock");
    let second = async {
        waiting_for_a_lock(&kit, 1).await;
        let second = timeout(Duration::from_secs(8), answered(&elsewhere, keyed(&admin, &body, "one"))).await;
        drop(held);
        second.expect("it does not wait for the first")
    };
    let (first, (status, said)) = tokio::join!(kit.send(keyed(&admin, &body, "one")), second);
    assert_eq!((status, &said["code"]), (409, &json!("in_progress")), "{said}");
    first.is(201);
    let (status, said) = answered(&elsewhere, keyed(&admin, &body, "one")).await;
    assert_eq!((status, &said), (201, &first.body), "the answer of the first, again");
    assert_eq!(claims(&kit).await, 0, "nothing is left behind");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_requests_with_one_key_at_two_servers_neither_hears_that_the_other_has_done_it() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (_, elsewhere) = another(&kit).await;
    for round in 0..30 {
        let (body, key) = (product(&format!("SKU{round}")), format!("round {round}"));
        let (here, there) =
            tokio::join!(kit.send(keyed(&admin, &body, &key)), answered(&elsewhere, keyed(&admin, &body, &key)));
        for (status, said) in [(here.status, &here.body), (there.0, &there.1)] {
            assert!(status == 201 || said["code"] == "in_progress", "round {round}: {said}");
        }
        assert!([here.status, there.0].contains(&201), "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_of_a_server_that_died_is_in_progress_for_a_minute_and_then_free() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let body = product("TEA");
    kit.send(keyed(&admin, &body, "one")).await.is(201);
    // As a server leaves it that dies before it has done anything: the claim alone.
    let claim = "INSERT INTO idempotency_claims (id, holder, expires_at) SELECT id, gen_random_uuid(), \
                 CURRENT_TIMESTAMP + INTERVAL '1 minute' FROM idempotency_keys";
    change(&kit, claim).await;
    change(&kit, "DELETE FROM idempotency_keys").await;
    let waits = kit.send(keyed(&admin, &body, "one")).await;
    waits.refused(409, "in_progress");
    assert_eq!(waits.retry_after(), 1);
    change(&kit, "UPDATE idempotency_claims SET expires_at = CURRENT_TIMESTAMP").await;
    // It is done now: this refusal is that of the deed.
    kit.send(keyed(&admin, &body, "one")).await.refused(409, "duplicate_sku");
    assert_eq!(claims(&kit).await, 0);
}
