//! Carts that wait: kept as they were sent, resumed by one till, priced again, dropped and never lost, over HTTP against a store.

mod changed;
mod dropped;
mod kept;
mod once;
mod removed;
mod withdrawn;

use serde_json::{Value as Json, json};
use tillkeep_model::ids;
use tillkeep_storage::entity::{parked_cart, register, role, role_permission};
use tillkeep_storage::sea_orm::EntityTrait;
use uuid::Uuid;

use crate::kit::{Person, Reply, Shop, id, line, rows};

const PARKED: &str = "/pos/parked-carts";

/// What parks `lines` at terminal T1.
fn to_park(lines: &Json) -> Json {
    json!({"id": Uuid::now_v7(), "label": "Blue coat", "cart": {"terminalId": "T1", "lines": lines}})
}

/// A cart with two teas waits at terminal T1.
async fn parked(person: &Person) -> Json {
    person.post(PARKED, to_park(&json!([line("TEA", 2)]))).await.ok(201)
}

fn path(cart: &Json) -> String {
    format!("{PARKED}/{}", cart["id"].as_str().expect("an id"))
}

async fn resume(person: &Person, cart: &Json) -> Reply {
    person.post(&format!("{}/resume", path(cart)), json!({})).await
}

async fn dropped(person: &Person, cart: &Json) -> Reply {
    person.send("DELETE", &path(cart), Some(json!({"reason": "the customer left"}))).await
}

/// The sale of a cart as it was resumed, paid in cash.
fn sale_of(resumed: &Json) -> Json {
    let mut cart = resumed["cart"].clone();
    cart["payments"] = json!([{"tenderId": id("CASH")}]);
    cart
}

/// The tills T2 to T`last` beside T1, and somebody at each who may do everything.
async fn others(shop: &Shop, last: usize) -> Vec<Person> {
    let registers = (2..=last).map(|till| rows::register(&format!("{till:02}"), &format!("T{till}")));
    shop.insert::<register::Entity>(registers.collect::<Vec<_>>()).await;
    let mut people = Vec::new();
    for till in 2..=last {
        people.push(shop.sign_in_at("administrator", &format!("T{till}")).await);
    }
    people
}

/// Somebody at this terminal who sells and parks, and closes nothing.
async fn clerk(shop: &Shop, terminal: &str) -> Person {
    shop.insert::<role::Entity>([role::Model {
        id: ids::role("clerk"),
        code: "clerk".into(),
        name: "Clerk".into(),
        ..role::Model::default()
    }])
    .await;
    let grants = ["pos.sell", "pos.park_cart"]
        .map(|code| role_permission::Model { role_id: ids::role("clerk"), permission_id: ids::permission(code) });
    shop.insert::<role_permission::Entity>(grants).await;
    shop.sign_in_at("clerk", terminal).await
}

async fn row(shop: &Shop, cart: &Json) -> parked_cart::Model {
    let key: Uuid = cart["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
    let row = parked_cart::Entity::find_by_id(key).one(shop.store.test_db().reader()).await.expect("a read");
    row.expect("a parked cart")
}

/// The changes of a resumed cart that are of line `line`, or of the whole cart: the field, before and after.
fn changes_of(resumed: &Json, line: Option<u64>) -> Vec<(String, Json, Json)> {
    let all = resumed["changes"].as_array().expect("changes");
    let of_it = all.iter().filter(|change| change["lineNo"].as_u64() == line && change["gone"].is_null());
    let named = |change: &Json| {
        let field = change["field"].as_str().expect("a field").to_owned();
        (field, change["before"].clone(), change["after"].clone())
    };
    of_it.map(named).collect()
}
