//! Reports of drawers: X, Z and ZZ, as JSON and on paper.

mod broken;
mod figures;
mod papers;
mod zz;

use serde_json::{Value as Json, json};
use tillkeep_storage::entity::register_session;
use tillkeep_storage::sea_orm::EntityTrait;
use uuid::Uuid;

use crate::kit::{Person, Reply, Shop, cart, id};

/// The open drawer of register 01.
async fn drawer(person: &Person) -> String {
    let drawer = person.get("/register-sessions/current?terminalId=T1").await.ok(200);
    drawer["id"].as_str().expect("an id").to_owned()
}

/// Opens the drawer of a register.
async fn open(person: &Person, code: &str) -> String {
    let path = format!("/registers/{}/open", id(&format!("register {code}")));
    person.post(&path, json!({})).await.ok(201)["id"].as_str().expect("an id").to_owned()
}

async fn x(person: &Person, session: &str) -> Json {
    person.get(&format!("/reports/x?sessionId={session}")).await.ok(200)
}

async fn z(person: &Person, session: &str) -> Json {
    person.get(&format!("/reports/z/{session}")).await.ok(200)
}

/// Closes a drawer with this much cash in it.
async fn close(person: &Person, session: &str, cash: i64) -> Json {
    let body = json!({"counts": [{"tenderId": id("CASH"), "amount": cash}], "acceptVariance": true});
    person.post(&format!("/register-sessions/{session}/close"), body).await.ok(200)
}

/// Opens the drawer of a register, sells so much in it and closes it with what should be in it.
async fn day(person: &Person, code: &str, terminal: &str, amount: i64) -> String {
    let session = open(person, code).await;
    let mut sale = cart(json!([flowers(amount)]), json!([{"tenderId": id("CASH")}]));
    sale["terminalId"] = json!(terminal);
    person.post("/pos/sales", sale).await.ok(201);
    close(person, &session, 20_000 + amount).await;
    session
}

/// A line of a bunch that costs what is typed in, without tax.
fn flowers(amount: i64) -> Json {
    json!({"productId": id("FLOWERS"), "quantity": 1, "openPrice": amount})
}

/// Money that goes into a drawer or leaves it.
async fn moves(person: &Person, session: &str, kind: &str, amount: i64) -> Json {
    let body = json!({"id": Uuid::now_v7(), "type": kind, "amount": amount, "reason": "as every day"});
    person.post(&format!("/register-sessions/{session}/cash-movements"), body).await.ok(201)
}

async fn zz(person: &Person, of: Json) -> Reply {
    let mut body = of;
    body["id"] = json!(Uuid::now_v7());
    person.post("/reports/zz", body).await
}

/// Of the register with this code.
fn of_register(code: &str) -> Json {
    json!({"registerId": id(&format!("register {code}"))})
}

/// `report` without what a close adds to it, and what is said of its drawer beside it.
fn figures(report: &Json) -> Json {
    let mut figures = report.clone();
    let besides = ["sessionId", "registerId", "zzNumber", "storeZzNumber", "copies"];
    figures.as_object_mut().expect("a report").retain(|key, _| !besides.contains(&key.as_str()));
    for key in ["closedBy", "closedByName", "closedAt"] {
        figures["header"].as_object_mut().expect("a header").remove(key);
    }
    for key in ["counted", "variance", "denominations"] {
        figures["cash"].as_object_mut().expect("cash").remove(key);
    }
    figures
}

async fn row(shop: &Shop, session: &str) -> register_session::Model {
    let id: Uuid = session.parse().expect("a UUID");
    let row = register_session::Entity::find_by_id(id).one(shop.store.test_db().reader()).await.expect("a read");
    row.expect("a session")
}
