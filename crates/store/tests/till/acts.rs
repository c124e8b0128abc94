//! What people do at a store goes through one door: number, document, outbox, audit log, all of it or nothing.

use serde_json::{Value as Json, json};
use tillkeep_storage::entity::{
    audit_log, customer, device, inventory_adjustment, number_series, register_session, sale,
};
use tillkeep_storage::raw::sea_orm::{ConnectionTrait, EntityTrait, QueryOrder};
use uuid::Uuid;

use crate::kit::{Person, Shop, cart, id, line, people};

/// A request, the document type that headquarters gets, and what the audit log calls it.
struct AuditedRequest {
    method: &'static str,
    path: String,
    body: Json,
    queues: Option<(&'static str, &'static str)>,
    audited: Option<&'static str>,
}

fn post(
    path: &str,
    body: Json,
    queues: Option<(&'static str, &'static str)>,
    audited: impl Into<Option<&'static str>>,
) -> AuditedRequest {
    AuditedRequest { method: "POST", path: path.to_owned(), body, queues, audited: audited.into() }
}

fn sale() -> Json {
    cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]))
}

fn cheaper() -> Json {
    let mut cart = sale();
    cart["lines"][0]["unitPriceOverride"] = json!(1500);
    cart["lines"][0]["overrideReason"] = json!("a scratched tin");
    cart
}

fn customer(name: &str) -> Json {
    json!({"id": Uuid::now_v7(), "firstName": name})
}

fn adjustment() -> Json {
    json!({"id": Uuid::now_v7(), "productId": id("TEA"), "quantityChange": 1, "reason": "found"})
}

/// Every kind of act in an order in which all of them go, for `person` behind the drawer of register 01.
async fn every_kind(shop: &Shop, person: &Person) -> Vec<AuditedRequest> {
    let drawer = person.get("/register-sessions/current?terminalId=T1").await.ok(200);
    let close = format!("/register-sessions/{}/close", drawer["id"].as_str().expect("an id"));
    let tablet = device::Model { id: Uuid::now_v7(), register_id: id("register 01"), ..device::Model::default() };
    let revoke = format!("/devices/{}", tablet.id);
    shop.insert::<device::Entity>([tablet]).await;
    let (register, manager) = (Uuid::now_v7(), people::person(shop, "store_manager").await);
    let approval = json!({
        "permission": "pos.price.override", "pin": manager.1, "reason": "a scratched tin",
        "context": {"cartHash": "a".repeat(64)},
    });
    let new = json!({"id": register, "code": "07", "name": "Side door", "terminalId": "T1-side"});
    let session = ("register_sessions", "create");
    vec![
        post("/pos/sales", sale(), Some(("sales", "create")), None),
        post("/pos/sales", cheaper(), Some(("sales", "create")), "sale.price_override"),
        post("/customers", customer("Bo"), Some(("customers", "create")), "customer.create"),
        post("/inventory/adjustments", adjustment(), Some(("inventory_adjustments", "create")), "inventory.adjust"),
        post("/registers", new, None, "register.create"),
        AuditedRequest {
            method: "PATCH",
            ..post(&format!("/registers/{register}"), json!({"name": "Door"}), None, "register.edit")
        },
        post(&format!("/registers/{register}/open"), json!({}), Some(session), "session.open"),
        post("/devices", json!({"registerId": register, "name": "A tablet"}), None, "device.enrol"),
        post("/pos/approvals", approval, None, "approval.granted"),
        AuditedRequest { method: "DELETE", ..post(&revoke, json!({}), None, "device.revoke") },
        post(&close, json!({}), Some(("register_sessions", "update")), "session.close"),
        post("/sync/outbox/requeue-all", json!({}), None, "outbox.requeue"),
    ]
}

/// Routes that write and are no acts, each with the reason. Those below `/auth` are the same at headquarters.
const APART: [(&str, &str, &str); 6] = [
    ("POST", "/pos/quote", "it computes, and writes nothing"),
    ("POST", "/pos/discounts/validate", "it computes, and writes nothing"),
    ("POST", "/taxes/preview", "it computes, and writes nothing"),
    ("DELETE", "/users/{id}/sessions/{sessionId}", "a session, as at headquarters: DELETE /auth/sessions/{id}"),
    ("POST", "/sync/now", "it begins a cycle, and writes nothing of a person"),
    ("POST", "/sync/outbox/{id}/requeue", "as requeue-all, for one entry"),
];

/// Whether `path` is one of a route: every name of it is the same, and in the place of `{id}` stands something.
fn is_of(path: &str, route: &str) -> bool {
    let (path, route): (Vec<&str>, Vec<&str>) = (path.split('/').collect(), route.split('/').collect());
    path.len() == route.len() && path.iter().zip(&route).all(|(name, part)| part.starts_with('{') || name == part)
}

#[tokio::test]
async fn every_route_of_a_store_that_writes_is_among_the_acts_or_apart_with_a_reason() {
    let shop = Shop::that_rests().await;
    let person = shop.selling().await;
    let acts = every_kind(&shop, &person).await;
    let (_, table) = tillkeep_store::routes::table(&[]);
    let own = table.iter().filter(|route| route.owner.is_none() && !["GET", "HEAD"].contains(&route.method));
    let own: Vec<(&str, &str)> = own.map(|route| (route.method, route.path)).collect();
    assert!(own.len() > 15, "{own:?}");
    let missing = own.iter().filter(|(method, path)| {
        let among = acts.iter().any(|act| act.method == *method && is_of(&act.path, path));
        let apart = APART.iter().any(|(other, route, reason)| (other, route) == (method, path) && !reason.is_empty());
        !among && !apart && !path.starts_with("/auth/")
    });
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&(&str, &str)>::new(), "add these to every_kind, or to APART");
}

/// All that an act may leave behind: rows of documents, entries, lines of the log, numbers that were given.
async fn left(shop: &Shop) -> (Vec<(String, String)>, Vec<String>, [usize; 4], Vec<number_series::Model>) {
    let reader = shop.store.test_db().reader();
    let entries = shop.outbox().await.into_iter().map(|entry| (entry.entity_type, entry.action)).collect();
    let lines = audit_log::Entity::find().order_by_asc(audit_log::Column::Seq).all(reader).await.expect("the log");
    let rows = [
        shop.count::<sale::Entity>().await,
        shop.count::<customer::Entity>().await,
        shop.count::<inventory_adjustment::Entity>().await,
        shop.count::<register_session::Entity>().await,
    ];
    let numbers = number_series::Entity::find().order_by_asc(number_series::Column::Name).all(reader).await;
    (entries, lines.into_iter().map(|line| line.action).collect(), rows, numbers.expect("the series"))
}

async fn run(shop: &Shop, sql: &str) {
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    tx.execute_unprepared(sql).await.expect(sql);
    tx.commit().await.expect("a commit");
}

#[tokio::test]
async fn every_act_has_its_line_in_the_audit_log_and_every_document_its_entry_in_the_outbox() {
    let shop = Shop::that_rests().await;
    let person = shop.selling().await;
    for AuditedRequest { method, path, body, queues, audited } in every_kind(&shop, &person).await {
        let (entries, lines, ..) = left(&shop).await;
        let status = person.attempt(method, &path, body).await;
        assert!((200..300).contains(&status), "{path}: {status}");
        let (entries_now, lines_now, ..) = left(&shop).await;
        let queued: Vec<(&str, &str)> =
            entries_now[entries.len()..].iter().map(|(name, action)| (name.as_str(), action.as_str())).collect();
        assert_eq!(queued, queues.into_iter().collect::<Vec<_>>(), "{path}");
        assert_eq!(lines_now[lines.len()..], audited.into_iter().collect::<Vec<_>>(), "{path}");
    }
}

#[tokio::test]
async fn the_act_of_a_document_takes_number_outbox_and_audit_or_nothing() {
    let shop = Shop::that_rests().await;
    let person = shop.selling().await;
    for AuditedRequest { method, path, body, queues, audited } in every_kind(&shop, &person).await {
        let tables = [queues.map(|_| "sync_outbox"), audited.map(|_| "audit_log")];
        for table in tables.into_iter().flatten() {
            let before = left(&shop).await;
            let fails = "SELECT RAISE(ABORT, 'the disk is full')";
            run(&shop, &format!("CREATE TRIGGER fails BEFORE INSERT ON {table} BEGIN {fails}; END")).await;
            let status = person.attempt(method, &path, body.clone()).await;
            run(&shop, "DROP TRIGGER fails").await;
            assert!(status >= 400, "{path} without {table}: {status}");
            assert_eq!(left(&shop).await, before, "{path} without {table}");
        }
        let status = person.attempt(method, &path, body).await;
        assert!((200..300).contains(&status), "{path}: {status}");
    }
}

#[tokio::test]
async fn what_is_made_under_an_id_is_answered_again_and_not_made_again() {
    let shop = Shop::that_rests().await;
    let person = shop.selling().await;
    for (path, key, body) in made_under_an_id() {
        let made = person.post(path, body.clone()).await.ok(201);
        let before = left(&shop).await;
        assert_eq!(person.post(path, body.clone()).await.ok(200), made, "{path}");
        let mut other = body;
        other[key] = json!("other");
        if path == "/pos/sales" {
            other = cart(json!([line("TEA", 2)]), json!([{"tenderId": id("CASH")}]));
            other["id"] = made["id"].clone();
        }
        person.post(path, other).await.refused_at(409, "id_reused", "id");
        assert_eq!(left(&shop).await, before, "{path}");
    }
}

/// Requests with an id of their client's, with a key that makes another request of each.
fn made_under_an_id() -> [(&'static str, &'static str, Json); 4] {
    let register = json!({"id": Uuid::now_v7(), "code": "08", "name": "Back door", "terminalId": "T8"});
    [
        ("/pos/sales", "lines", sale()),
        ("/customers", "firstName", json!({"id": Uuid::now_v7(), "firstName": "Bo", "phone": "555 0199"})),
        ("/inventory/adjustments", "note", counted()),
        ("/registers", "name", register),
    ]
}

/// What is on the shelf: after the first of two such requests there is nothing to adjust.
fn counted() -> Json {
    json!({"id": Uuid::now_v7(), "productId": id("BREAD"), "newQuantity": 7, "reason": "correction"})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_sends_the_same_at_once_gets_what_the_first_one_made() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    for (path, _, body) in made_under_an_id() {
        let statuses = at_once(&person, path, &body).await;
        assert_eq!(statuses, [[200; 9].as_slice(), &[201]].concat(), "{path}");
    }
}

async fn at_once(person: &Person, path: &'static str, body: &Json) -> Vec<u16> {
    let mut sent = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let (person, body) = (person.clone(), body.clone());
        sent.spawn(async move { person.post(path, body).await.status });
    }
    let mut statuses = sent.join_all().await;
    statuses.sort_unstable();
    statuses
}
