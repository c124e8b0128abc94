//! What people do at a store goes through one door: number, document, outbox, audit log, all of it or nothing.

use serde_json::{Value as Json, json};
use tillkeep_model::ids;
use tillkeep_storage::entity::{
    audit_log, cash_movement, customer, device, inventory_adjustment, number_series, print_job, register_session,
    safe_movement, sale,
};
use tillkeep_storage::raw::sea_orm::{EntityTrait, QueryOrder};
use uuid::Uuid;

use crate::kit::{Person, Shop, cart, id, line, nothing_counted, people};

/// A request, what headquarters gets, and what the audit log calls it.
struct AuditedRequest {
    method: &'static str,
    path: String,
    body: Json,
    queues: Vec<(&'static str, &'static str)>,
    audited: Option<&'static str>,
}

fn post(
    path: &str,
    body: Json,
    queues: impl IntoIterator<Item = (&'static str, &'static str)>,
    audited: impl Into<Option<&'static str>>,
) -> AuditedRequest {
    let queues = queues.into_iter().collect();
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

/// What makes a refund of the only line of a sale.
fn refund(sale: &Json) -> (String, Json) {
    let sale: Uuid = sale["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
    let item = ids::beside(sale, ids::line(sale, "sale_item", 1));
    let items = json!([{"saleItemId": item, "quantity": 1}]);
    let body = json!({"id": Uuid::now_v7(), "terminalId": "T1", "items": items, "reason": "too small"});
    (format!("/pos/sales/{sale}/refunds"), body)
}

/// What undoes a sale.
fn undone(sale: &Json) -> (String, Json) {
    let path = format!("/pos/sales/{}/void", sale["id"].as_str().expect("an id"));
    (path, json!({"terminalId": "T1", "reason": "the wrong tin"}))
}

/// What gives the only line of a sale back against the same.
fn exchange(sold: &Json) -> Json {
    let (_, refund) = refund(sold);
    json!({
        "terminalId": "T1",
        "refund": {"id": refund["id"], "saleId": sold["id"], "items": refund["items"], "reason": refund["reason"]},
        "sale": {"id": Uuid::now_v7(), "lines": [line("TEA", 1)]},
    })
}

fn without_receipt() -> Json {
    json!({
        "id": Uuid::now_v7(), "terminalId": "T1", "items": [{"productId": id("TEA"), "quantity": 1}],
        "payments": [{"tenderId": id("CASH")}], "reason": "too small",
    })
}

/// What puts a cart aside at terminal T1.
fn parked() -> Json {
    json!({"id": Uuid::now_v7(), "label": "Blue coat", "cart": {"terminalId": "T1", "lines": [line("TEA", 1)]}})
}

fn customer(name: &str) -> Json {
    json!({"id": Uuid::now_v7(), "firstName": name})
}

fn adjustment() -> Json {
    json!({"id": Uuid::now_v7(), "productId": id("TEA"), "quantityChange": 1, "reason": "found"})
}

/// A drawer that nobody closed, of a register that is gone.
async fn left_open(shop: &Shop) -> Uuid {
    let id = Uuid::now_v7();
    let session = register_session::Model {
        id,
        store_id: shop.store.id,
        register_id: Uuid::now_v7(),
        register_code: "66".into(),
        session_number: 1,
        status: "open".into(),
        business_date: "2026-11-19".into(),
        ..register_session::Model::default()
    };
    shop.insert::<register_session::Entity>([session]).await;
    id
}

fn deposit() -> Json {
    json!({"id": Uuid::now_v7(), "type": "deposit", "amount": 100, "slipNumber": "B-17"})
}

/// Every kind of act in an order in which all of them go, for `person` behind the drawer of register 01.
async fn every_kind(shop: &Shop, person: &Person) -> Vec<AuditedRequest> {
    let drawer = person.get("/register-sessions/current?terminalId=T1").await.ok(200);
    let drawer = format!("/register-sessions/{}", drawer["id"].as_str().expect("an id"));
    let left = format!("/register-sessions/{}", left_open(shop).await);
    let drawer_changes = Some(("register_sessions", "update"));
    let movements = format!("{drawer}/cash-movements");
    let movement = json!({"id": Uuid::now_v7(), "type": "paid_in", "amount": 100, "reason": "found on the floor"});
    let no_sale = format!("/registers/{}/no-sale", id("register 01"));
    let counts = json!({"counts": nothing_counted()["counts"]});
    let tablet = device::Model { id: Uuid::now_v7(), register_id: id("register 01"), ..device::Model::default() };
    let revoke = format!("/devices/{}", tablet.id);
    shop.insert::<device::Entity>([tablet]).await;
    let (register, manager) = (Uuid::now_v7(), people::person(shop, "store_manager").await);
    let other = manager.0;
    let approval = json!({
        "permission": "pos.price.override", "pin": manager.1, "reason": "a scratched tin",
        "context": {"cartHash": "a".repeat(64)},
    });
    let new = json!({"id": register, "code": "07", "name": "Side door", "terminalId": "T1-side"});
    let session = ("register_sessions", "create");
    let invoiced = sale();
    let buyer = format!("/pos/sales/{}/buyer", invoiced["id"].as_str().expect("an id"));
    shop.run("UPDATE stores SET allow_unlinked_refunds = TRUE").await;
    let first = sale();
    let (refunds, refund) = refund(&first);
    let (second, third) = (sale(), sale());
    let ((void, undone), exchange) = (undone(&second), exchange(&third));
    let exchanged = [("sales", "create"), ("sales", "create"), ("sales", "update")];
    let parked = parked();
    let waiting = format!("/pos/parked-carts/{}", parked["id"].as_str().expect("an id"));
    let prints = format!("/pos/sales/{}/prints", invoiced["id"].as_str().expect("an id"));
    let paper = Uuid::now_v7();
    let reported = person.get("/register-sessions/current?terminalId=T1").await.ok(200)["id"].clone();
    let on_paper = json!({"id": Uuid::now_v7(), "report": "z", "sessionId": reported});
    let of_register = json!({"id": Uuid::now_v7(), "registerId": id("register 01")});
    // No paper of it waits for that printer before it is asked for again.
    let printer = r#"{"address": "127.0.0.1:9", "width": 42, "codePage": "PC437"}"#;
    shop.run(&format!("UPDATE registers SET printer = '{printer}'")).await;
    vec![
        post("/pos/sales", invoiced, Some(("sales", "create")), None),
        post(&buyer, json!({"name": "Bo Builders Ltd"}), Some(("sales", "update")), "sale.buyer"),
        post(&prints, json!({"id": paper, "to": "browser"}), None, "receipt.print"),
        post(&format!("/pos/prints/{paper}/again"), json!({}), None, "receipt.print_again"),
        post("/pos/sales", first, Some(("sales", "create")), None),
        post(&refunds, refund, [("sales", "create"), ("sales", "update")], "sale.refund"),
        post("/pos/refunds", without_receipt(), Some(("sales", "create")), "sale.refund"),
        post("/pos/sales", second, Some(("sales", "create")), None),
        post(&void, undone, Some(("sales", "void")), "sale.void"),
        post("/pos/sales", third, Some(("sales", "create")), None),
        post("/pos/exchanges", exchange, exchanged, "sale.exchange"),
        post("/pos/sales", cheaper(), Some(("sales", "create")), "sale.price_override"),
        post("/pos/parked-carts", parked, None, "cart.park"),
        post(&format!("{waiting}/resume"), json!({}), None, "cart.resume"),
        AuditedRequest {
            method: "DELETE",
            ..post(&waiting, json!({"reason": "the customer left"}), None, "cart.drop")
        },
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
        post("/safe/movements", deposit(), Some(("register_sessions", "update")), "safe.deposit"),
        post(&movements, movement, drawer_changes, "session.cash_movement"),
        post(&no_sale, json!({"id": Uuid::now_v7(), "reason": "change"}), drawer_changes, "session.no_sale"),
        post(&format!("{drawer}/reassign"), json!({"userId": other}), drawer_changes, "session.reassign"),
        post(&format!("{drawer}/count"), counts, drawer_changes, "session.count"),
        post(&format!("{drawer}/count"), json!({"reopen": true}), drawer_changes, "session.reopen"),
        post(&format!("{drawer}/close"), nothing_counted(), drawer_changes, "session.close"),
        post(
            &format!("{left}/force-close"),
            json!({"reason": "nobody counts it"}),
            drawer_changes,
            "session.force_close",
        ),
        post("/sync/outbox/requeue-all", json!({}), None, "outbox.requeue"),
        post("/pos/prints", on_paper, None, "report.print"),
        post("/reports/zz", of_register, Some(("register_sessions", "update")), "report.zz"),
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
async fn left(shop: &Shop) -> (Vec<(String, String)>, Vec<String>, [usize; 7], Vec<number_series::Model>) {
    let reader = shop.store.test_db().reader();
    let entries = shop.outbox().await.into_iter().map(|entry| (entry.entity_type, entry.action)).collect();
    let lines = audit_log::Entity::find().order_by_asc(audit_log::Column::Seq).all(reader).await.expect("the log");
    let rows = [
        shop.count::<sale::Entity>().await,
        shop.count::<customer::Entity>().await,
        shop.count::<inventory_adjustment::Entity>().await,
        shop.count::<print_job::Entity>().await,
        shop.count::<register_session::Entity>().await,
        shop.count::<cash_movement::Entity>().await,
        shop.count::<safe_movement::Entity>().await,
    ];
    let numbers = number_series::Entity::find().order_by_asc(number_series::Column::Name).all(reader).await;
    (entries, lines.into_iter().map(|line| line.action).collect(), rows, numbers.expect("the series"))
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
        assert_eq!(queued, queues, "{path}");
        assert_eq!(lines_now[lines.len()..], audited.into_iter().collect::<Vec<_>>(), "{path}");
    }
}

#[tokio::test]
async fn the_act_of_a_document_takes_number_outbox_and_audit_or_nothing() {
    let shop = Shop::that_rests().await;
    let person = shop.selling().await;
    for AuditedRequest { method, path, body, queues, audited } in every_kind(&shop, &person).await {
        let tables = [(!queues.is_empty()).then_some("sync_outbox"), audited.map(|_| "audit_log")];
        for table in tables.into_iter().flatten() {
            let before = left(&shop).await;
            let fails = "SELECT RAISE(ABORT, 'the disk is full')";
            shop.run(&format!("CREATE TRIGGER fails BEFORE INSERT ON {table} BEGIN {fails}; END")).await;
            let status = person.attempt(method, &path, body.clone()).await;
            shop.run("DROP TRIGGER fails").await;
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
fn made_under_an_id() -> [(&'static str, &'static str, Json); 5] {
    let register = json!({"id": Uuid::now_v7(), "code": "08", "name": "Back door", "terminalId": "T8"});
    [
        ("/pos/sales", "lines", sale()),
        ("/pos/parked-carts", "label", parked()),
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
