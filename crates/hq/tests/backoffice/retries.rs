//! Failed entries: tried again, settled, each once and by those who may.

use serde_json::{Value as Json, json};
use tillkeep_hq::live::Next;
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::wire::close::REPLACED;
use tillkeep_storage::entity::{audit_log, purchase_order_item, sync_log, sync_status};
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use uuid::Uuid;

use super::dashboard::orphan;
use super::kit::{Kit, Person, column, id_of};

struct Site {
    kit: Kit,
    admin: Person,
    store: Uuid,
    token: String,
}

async fn site() -> Site {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let token = kit.sync_token(store);
    Site { kit, admin, store, token }
}

impl Site {
    /// An order of this store, so that its lines can be taken.
    async fn order(&self, id: &Json) {
        let data = json!({"id": id, "storeId": self.store, "poNumber": "PO-1", "supplierId": Uuid::now_v7(), "status": "draft", "currencyCode": "USD"});
        let envelope = json!({
            "store_id": self.store, "entity_type": "purchase_orders", "entity_id": id, "action": "create",
            "data": data, "timestamp": "2026-11-20T11:00:00Z",
        });
        let results = self.kit.push(&self.token, &[envelope]).await;
        assert_eq!(results[0]["status"], "ok", "{results}");
    }

    async fn errors(&self, query: &str) -> Json {
        self.kit.get(&self.admin, &format!("/sync/errors{query}")).await.data()
    }

    async fn audited(&self, action: &str) -> u64 {
        let select = audit_log::Entity::find().filter(audit_log::Column::Action.eq(action));
        select.count(self.kit.hq.db().reader()).await.expect("a count")
    }

    async fn quantity(&self, id: &Json) -> String {
        let id = id.as_str().and_then(|id| id.parse().ok()).expect("an id");
        json!(self.kit.row::<purchase_order_item::Entity>(id).await.ordered_quantity).to_string()
    }
}

#[tokio::test]
async fn a_store_named_in_the_query_is_the_only_one_that_is_tried_again() {
    let site = site().await;
    let (other, here) = (site.kit.store("S02").await, site.store);
    let other_token = site.kit.sync_token(other);
    let first = orphan(here, 1);
    site.kit.push(&site.token, &[first.clone(), orphan(here, 2)]).await;
    site.kit.push(&other_token, &[orphan(other, 3)]).await;
    let all =
        async |query: &str, body: Json| site.kit.post(&site.admin, &format!("/sync/retry-all{query}"), body).await;
    let attempted = async |query: &str, body: Json| all(query, body).await.data()["attempted"].clone();
    assert_eq!(attempted(&format!("?storeId={other}"), json!({})).await, 1);
    assert_eq!(attempted(&format!("?storeId={here}"), json!({})).await, 2);
    assert_eq!(attempted(&format!("?storeId={here}"), json!({"storeId": here, "limit": 1})).await, 1);
    assert_eq!(attempted("", json!({"storeId": other})).await, 1);
    assert_eq!(attempted("", json!({})).await, 3);
    all(&format!("?storeId={here}"), json!({"storeId": other})).await.names("storeId");
    all("?storeID=x", json!({})).await.refused(422, "unknown_parameter");
    all("?storeId=S01", json!({})).await.names("storeId");
    all(&format!("?storeId={here}&storeId={other}"), json!({})).await.names("storeId");
    let listed = site.errors("").await;
    let tried = listed.as_array().expect("a list").iter().map(|row| row["retryCount"].as_i64().expect("a number"));
    // Three entries that their stores have sent once: what an operator tries here is no try of theirs.
    assert_eq!(tried.sum::<i64>(), 3);
    site.kit.push(&site.token, &[first]).await;
    let listed = site.errors(&format!("?storeId={here}")).await;
    let tried = listed.as_array().expect("a list").iter().map(|row| row["retryCount"].as_i64().expect("a number"));
    assert_eq!(tried.sum::<i64>(), 2 + 1);
}

#[tokio::test]
async fn two_people_who_retry_at_once_apply_an_entry_once() {
    let site = site().await;
    let line = orphan(site.store, 1);
    site.kit.push(&site.token, std::slice::from_ref(&line)).await;
    let failed = site.errors("").await;
    let id = id_of(&failed[0]);
    site.order(&line["data"]["purchaseOrderId"]).await;
    let path = format!("/sync/retry/{id}");
    let press = async || site.kit.post(&site.admin, &path, json!({})).await;
    let (one, other, third) = tokio::join!(press(), press(), press());
    let mut statuses = [one.status, other.status, third.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409], "{} {} {}", one.text, other.text, third.text);
    assert_eq!(site.audited("sync.retry").await, 1);
    let log = site.errors("?status=success").await;
    assert_eq!(column(&log, "entityType").iter().filter(|name| **name == "purchase_order_items").count(), 1);
    assert_eq!(column(&site.errors("?status=retried").await, "entityType"), ["purchase_order_items"]);
    let versions = site.kit.ask(&site.token, "/versions").await;
    assert_eq!(versions["handshake"], true, "the store is to learn of it");
}

#[tokio::test]
async fn a_retry_undoes_nothing_newer_and_closes_nothing_newer() {
    let site = site().await;
    let older = orphan(site.store, 1);
    let mut newer = older.clone();
    newer["seq"] = json!(2);
    newer["timestamp"] = json!("2026-11-20T12:30:00Z");
    newer["data"]["orderedQuantity"] = json!(5);
    site.kit.push(&site.token, std::slice::from_ref(&older)).await;
    site.kit.push(&site.token, &[newer.clone()]).await;
    let failed = site.errors("?sort=first_seen_at").await;
    let (first, second) = (id_of(&failed[0]), id_of(&failed[1]));
    site.order(&older["data"]["purchaseOrderId"]).await;
    // The older one alone goes through: what came after it is still to be done.
    site.kit.post(&site.admin, &format!("/sync/retry/{first}"), json!({})).await.is(200);
    assert_eq!(column(&site.errors("").await, "id"), [second.to_string()]);
    site.kit.post(&site.admin, &format!("/sync/retry/{second}"), json!({})).await.is(200);
    assert_eq!(site.quantity(&older["entity_id"]).await, "5");

    // The first one once more, as if it had never been tried: it is too old by now.
    let tx = site.kit.hq.db().begin().await.expect("begin");
    let mut stale = older.clone();
    stale["data"]["orderedQuantity"] = json!(3);
    sync_log::Entity::update_many()
        .col_expr(sync_log::Column::Status, Expr::value("failed"))
        .col_expr(sync_log::Column::ResolvedBy, Expr::value(None::<Uuid>))
        .col_expr(sync_log::Column::Envelope, Expr::value(stale.to_string()))
        .filter(sync_log::Column::Id.eq(first))
        .exec(&tx)
        .await
        .expect("update");
    tx.commit().await.expect("commit");
    site.kit.post(&site.admin, &format!("/sync/retry/{first}"), json!({})).await.is(200);
    assert_eq!(site.quantity(&older["entity_id"]).await, "5", "the newer state holds");
}

#[tokio::test]
async fn a_newer_success_closes_older_failures_and_their_store_learns_of_it() {
    let site = site().await;
    let older = orphan(site.store, 1);
    site.kit.push(&site.token, std::slice::from_ref(&older)).await;
    let id = id_of(&site.errors("").await[0]);
    site.order(&older["data"]["purchaseOrderId"]).await;
    let mut newer = older.clone();
    newer["seq"] = json!(2);
    newer["timestamp"] = json!("2026-11-20T12:30:00Z");
    site.kit.push(&site.token, &[newer]).await;
    site.kit.post(&site.admin, &format!("/sync/retry/{id}"), json!({})).await.refused(409, "not_failed");
    let row = site.kit.row::<sync_log::Entity>(id).await;
    assert_eq!((row.status.as_str(), row.to_acknowledge), ("resolved", true));
    assert_eq!(site.kit.ask(&site.token, "/versions").await["handshake"], true, "without a restart");
}

#[tokio::test]
async fn a_store_is_to_learn_of_a_retried_entry_before_the_row_travels_once_more() {
    let site = site().await;
    let line = orphan(site.store, 1);
    site.kit.push(&site.token, std::slice::from_ref(&line)).await;
    let id = id_of(&site.errors("").await[0]);
    site.order(&line["data"]["purchaseOrderId"]).await;
    let hq = &site.kit.hq;
    let connection = hq.hub.connect(site.store, "S01", site.kit.clock.now(), REPLACED);
    let notified = async {
        let Next::Tell(types) = connection.next().await else { panic!("the socket was closed") };
        (types, hq.stores_to_notify.contains(site.store))
    };
    let path = format!("/sync/retry/{id}");
    let ((types, learns), retried) = tokio::join!(notified, site.kit.post(&site.admin, &path, json!({})));
    retried.is(200);
    assert!(types.iter().any(|(name, _)| *name == "purchase_order_items"), "{types:?}");
    assert!(learns, "it would pull the row while its dead letter guards its own");
    assert!(hq.stores_to_notify.contains(site.store));
    let row = line["entity_id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
    let row = site.kit.row::<purchase_order_item::Entity>(row).await;
    assert_eq!(row.sync_version, 2, "once when it was taken, and once when its entry was settled");
}

#[tokio::test]
async fn a_refusal_of_what_no_store_pushes_can_be_resolved_whatever_its_type() {
    let site = site().await;
    let types = ["permissions", "role_permissions", "products", "invented"];
    let mut envelopes: Vec<Json> = (1..=4).map(|seq| orphan(site.store, seq)).collect();
    for (envelope, name) in envelopes.iter_mut().zip(types) {
        envelope["entity_type"] = json!(name);
    }
    let results = site.kit.push(&site.token, &envelopes).await;
    assert_eq!(column(&results, "status"), ["unknown_type"; 4]);
    for entry in site.errors("").await.as_array().expect("entries") {
        let path = format!("/sync/resolve/{}", id_of(entry));
        site.kit.post(&site.admin, &path, json!({})).await.is(200);
    }
    assert_eq!(site.errors("").await, json!([]));
}

#[tokio::test]
async fn an_envelope_too_large_for_a_list_is_not_in_it_and_is_tried_again_all_the_same() {
    let site = site().await;
    let small = orphan(site.store, 1);
    let mut large = orphan(site.store, 2);
    // No column: it is kept in the envelope alone.
    large["data"]["remark"] = json!("x".repeat(70_000));
    large["data"]["purchaseOrderId"] = small["data"]["purchaseOrderId"].clone();
    large["data"]["lineNo"] = json!(2);
    site.kit.push(&site.token, &[small.clone(), large]).await;
    let listed = site.errors("?sort=first_seen_at&search=order").await;
    let envelopes: Vec<&Json> = listed.as_array().expect("entries").iter().map(|entry| &entry["envelope"]).collect();
    assert_eq!((envelopes.len(), envelopes.contains(&&small), envelopes.contains(&&Json::Null)), (2, true, true));
    site.order(&small["data"]["purchaseOrderId"]).await;
    let done = site.kit.post(&site.admin, "/sync/retry-all", json!({})).await.data();
    assert_eq!(done, json!({"attempted": 2, "retried": 2, "failed": 0, "next": null}));
}

#[tokio::test]
async fn all_are_retried_in_batches_with_an_audit_row_each_and_within_the_own_stores() {
    let site = site().await;
    let other = site.kit.store("S02").await;
    let order = json!(Uuid::now_v7());
    let mut lines: Vec<Json> = (1..=450).map(|seq| orphan(site.store, seq)).collect();
    for line in &mut lines[..300] {
        line["data"]["purchaseOrderId"] = order.clone();
    }
    site.kit.push(&site.token, &lines).await;
    site.kit.push(&site.kit.sync_token(other), &[orphan(other, 1)]).await;
    site.order(&order).await;
    site.kit.role(&site.admin, "lead", &["stores.view", "stores.edit"]).await;
    let lead = site.kit.person("lea", &[("lead", Some(site.store))]).await;
    let foreign = site.kit.get(&site.admin, &format!("/sync/errors?storeId={other}")).await.data();
    let foreign = id_of(&foreign[0]);
    for path in [format!("/sync/retry/{foreign}"), format!("/sync/resolve/{foreign}"), format!("/sync/retry/{other}")] {
        site.kit.post(&lead, &path, json!({})).await.is(404);
    }
    site.kit.post(&lead, "/sync/retry-all", json!({"storeId": other})).await.refused(403, "scope");
    let done = site.kit.post(&lead, "/sync/retry-all", json!({})).await.data();
    assert_eq!(done, json!({"attempted": 450, "retried": 300, "failed": 150, "next": null}));
    assert_eq!(site.audited("sync.retry").await, 3);
    let rows = audit_log::Entity::find().filter(audit_log::Column::Action.eq("sync.retry"));
    for row in rows.all(site.kit.hq.db().reader()).await.expect("rows") {
        let listed = |key: &str| row.details.0[key].as_array().map_or(0, Vec::len);
        assert!(listed("entries") + listed("refused") <= 200, "{:?}", row.details);
    }
    let left = site.kit.get(&site.admin, "/sync/dashboard").await.data();
    assert_eq!((&left["stores"][0]["errorCount"], &left["stores"][1]["errorCount"]), (&json!(150), &json!(1)));
}

#[tokio::test]
async fn a_batch_says_where_the_next_one_begins_and_each_entry_is_tried_once() {
    let site = site().await;
    let lines: Vec<Json> = (1..=5).map(|seq| orphan(site.store, seq)).collect();
    site.kit.push(&site.token, &lines).await;
    site.order(&lines[2]["data"]["purchaseOrderId"]).await;
    let press = async |body: Json| site.kit.post(&site.admin, "/sync/retry-all", body).await;
    let (mut after, mut batches) = (Json::Null, Vec::new());
    loop {
        let done = press(json!({"storeId": site.store, "after": after, "limit": 2})).await.data();
        batches.push(["attempted", "retried", "failed"].map(|key| done[key].as_i64().expect("a number")));
        after = done["next"].clone();
        if after.is_null() {
            break;
        }
    }
    assert_eq!(batches, [[2, 0, 2], [2, 1, 1], [1, 0, 1]], "also when the ones before failed again");
    assert_eq!(site.audited("sync.retry").await, 3);
    let all = press(json!({"limit": 4})).await.data();
    assert_eq!(all, json!({"attempted": 4, "retried": 0, "failed": 4, "next": null}), "nothing is left after them");
    for limit in [json!(0), json!(201), json!(-1), json!("many")] {
        press(json!({"limit": limit})).await.names("limit");
    }
    press(json!({"after": "the first"})).await.names("after");
}

#[tokio::test]
async fn what_was_resolved_needs_nothing_and_is_reported_to_its_store() {
    let site = site().await;
    site.kit.push(&site.token, &[orphan(site.store, 1)]).await;
    let id = id_of(&site.errors("").await[0]);
    let resolve =
        async || site.kit.post(&site.admin, &format!("/sync/resolve/{id}"), json!({"note": "by phone"})).await;
    let (one, other) = tokio::join!(resolve(), resolve());
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
    site.kit.post(&site.admin, &format!("/sync/retry/{id}"), json!({})).await.refused(409, "not_failed");
    assert_eq!(site.audited("sync.resolve").await, 1);
    assert_eq!(site.kit.ask(&site.token, "/versions").await["handshake"], true);
}

#[tokio::test]
async fn a_store_that_invents_types_makes_no_rows_of_them() {
    let site = site().await;
    let invented: Vec<Json> = (0..300)
        .map(|number| {
            let mut envelope = orphan(site.store, number);
            envelope["entity_type"] = json!(format!("invented {number}"));
            envelope
        })
        .collect();
    site.kit.push(&site.token, &invented).await;
    let rows = sync_status::Entity::find().all(site.kit.hq.db().reader()).await.expect("rows");
    let pushed: Vec<_> = rows.iter().filter(|row| row.direction == "push").collect();
    assert_eq!(pushed.len(), 1, "{pushed:?}");
    assert_eq!((pushed[0].entity_type.as_str(), pushed[0].pending_count), ("unknown", 300));
}
