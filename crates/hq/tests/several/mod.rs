//! Two servers of one headquarters that settle one entry at the same moment: both have read it before either writes.

mod alerts;
mod factors;
mod handover;
mod keys;
mod sales;
mod sign_ins;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, header};
use http_body_util::BodyExt;
use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_hq::{Hq, routes};
use tillkeep_storage::entity::{customer, sync_log};
use tillkeep_storage::sea_orm::{EntityTrait, QuerySelect};
use tillkeep_storage::{raw, sea_orm::ColumnTrait, sea_orm::QueryFilter};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use uuid::Uuid;

use crate::backoffice::dashboard::orphan;
use crate::backoffice::kit::{Kit, Person, id_of};
use crate::backoffice::renumbered::refused_customer;

/// Another server of the headquarters of `kit`.
pub(crate) async fn another(kit: &Kit) -> (Arc<Hq>, Router) {
    let other = Hq::open(&kit.settings, kit.clock.clone(), CancellationToken::new()).await.expect("another server");
    (other.clone(), routes::router(other, &[]))
}

/// What a server answers.
pub(crate) async fn answered(router: &Router, request: Request<Body>) -> (u16, Json) {
    let answer = router.clone().oneshot(request).await.expect("an answer");
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect().await.expect("a body").to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

/// Waits until so many statements on this database wait for a lock.
pub(crate) async fn waiting_for_a_lock(kit: &Kit, least: i64) {
    let sql =
        "SELECT COUNT(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    loop {
        let rows = raw::query(kit.hq.db().reader(), sql, []).await.expect("the locks");
        if rows[0].try_get::<i64>("", "n").expect("a number") >= least {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// The answers of two servers to these two requests about `entry`, which no request may change before both have read
/// it.
async fn at_once(kit: &Kit, admin: &Person, entry: Uuid, asked: [(&str, Json); 2]) -> [(u16, String); 2] {
    let (_, elsewhere) = another(kit).await;
    let held = kit.hq.db().begin().await.expect("begin");
    let row = sync_log::Entity::find_by_id(entry).lock_exclusive().one(&held).await.expect("a read");
    assert!(row.is_some());
    let [(path, body), (other_path, other_body)] = asked;
    let request = Request::post(format!("/api/v1{other_path}"))
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::AUTHORIZATION, format!("Bearer {}", admin.token))
        .body(Body::from(other_body.to_string()))
        .expect("a request");
    let release = async {
        waiting_for_a_lock(kit, 2).await;
        drop(held);
    };
    let (here, there, ()) = tokio::join!(kit.post(admin, path, body), answered(&elsewhere, request), release);
    [(here.status, here.text), (there.0, there.1.to_string())]
}

fn statuses(answers: &[(u16, String); 2]) -> [u16; 2] {
    let mut statuses = [answers[0].0, answers[1].0];
    statuses.sort_unstable();
    statuses
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_servers_that_resolve_one_entry_the_second_hears_that_nothing_is_left_to_do() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    kit.push(&kit.sync_token(store), &[orphan(store, 1)]).await;
    let entry = id_of(&kit.get(&admin, "/sync/errors").await.data()[0]);
    let path = format!("/sync/resolve/{entry}");
    let answers =
        at_once(&kit, &admin, entry, [(&path, json!({"note": "one"})), (&path, json!({"note": "two"}))]).await;
    assert_eq!(statuses(&answers), [200, 409], "{answers:?}");
    assert!(answers.iter().any(|(_, text)| text.contains("not_failed")), "{answers:?}");
    assert_eq!(kit.get(&admin, "/audit-log?action=sync.resolve").await.data().as_array().map(Vec::len), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_servers_that_renumber_one_customer_one_number_is_given_and_the_other_person_hears_it() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let refused = refused_customer(&kit, store).await;
    let entry = id_of(&kit.get(&admin, "/sync/errors").await.data()[0]);
    let path = format!("/sync/errors/{entry}/renumber");
    let asked = [(path.as_str(), json!({"number": "VIP-1"})), (path.as_str(), json!({"number": "VIP-2"}))];
    let answers = at_once(&kit, &admin, entry, asked).await;
    assert_eq!(statuses(&answers), [200, 409], "{answers:?}");
    let row = kit.row::<customer::Entity>(refused).await;
    let done = answers.iter().find(|(status, _)| *status == 200).expect("one");
    assert!(done.1.contains(&format!("\"number\":\"{}\"", row.customer_number)), "{done:?} {}", row.customer_number);
    let failed = sync_log::Entity::find().filter(sync_log::Column::Status.eq("failed"));
    assert_eq!(failed.all(kit.hq.db().reader()).await.expect("entries"), []);
}
