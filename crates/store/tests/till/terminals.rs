//! After a sign-in the till is that of the sign-in: no cashier sells into, opens or closes another's drawer.

use serde_json::{Value as Json, json};
use tillkeep_model::ids;
use tillkeep_storage::entity::{register, sale, user_store_role};
use uuid::Uuid;

use crate::kit::devices::Device;
use crate::kit::{Person, Shop, cart, id, line, nothing_counted, people, rows};

const TILL: &str = "192.0.2.1";

fn open_path(code: &str) -> String {
    format!("/registers/{}/open", id(&format!("register {code}")))
}

fn bread_at(terminal: Option<&str>) -> Json {
    let mut cart = cart(json!([line("BREAD", 1)]), json!([{"tenderId": id("CASH")}]));
    cart["terminalId"] = json!(terminal);
    cart
}

/// A drawer open at T1, with a till T2 beside it.
async fn with_two_tills() -> (Shop, Json) {
    let shop = Shop::open().await;
    shop.insert::<register::Entity>([rows::register("02", "T2")]).await;
    let opener = shop.sign_in("cashier").await;
    let session = opener.post(&open_path("01"), json!({})).await.ok(201);
    (shop, session)
}

/// A user with a default role who signed in with a name, so at no till.
async fn without_a_till(shop: &Shop, role: &str) -> Person {
    let (user, pin) = people::person(shop, role).await;
    let device = Device::at(shop, TILL);
    device.person(&device.login(&format!("{role}-{user}"), &pin).await)
}

#[tokio::test]
async fn a_cashier_of_one_till_neither_sells_into_the_drawer_of_another_nor_opens_it() {
    let (shop, _) = with_two_tills().await;
    let beside = shop.sign_in_at("cashier", "T2").await;
    for path in ["/pos/sales", "/pos/quote"] {
        beside.post(path, bread_at(Some("T1"))).await.refused_at(403, "wrong_terminal", "terminalId");
    }
    assert_eq!(shop.count::<sale::Entity>().await, 0);
    beside.post("/pos/quote", bread_at(Some("T2"))).await.ok(200);
    beside.post("/pos/sales", bread_at(Some("T2"))).await.refused(409, "session_closed");

    shop.insert::<register::Entity>([rows::register("03", "T3")]).await;
    for body in [json!({}), json!({"openingFloat": 20_000}), json!({"openingFloat": 1})] {
        let refused = beside.post(&open_path("03"), body).await.refused(403, "wrong_terminal");
        assert_eq!(refused["required"], json!(["registers.open"]));
    }
    beside.post(&open_path("02"), json!({})).await.ok(201);
    beside.post("/pos/sales", bread_at(None)).await.ok(201);
    // Not even who may do everything: a drawer's sales are of the till where they were made.
    let administrator = shop.sign_in_at("administrator", "T2").await;
    administrator.post("/pos/sales", bread_at(Some("T1"))).await.refused_at(403, "wrong_terminal", "terminalId");
    administrator.post(&open_path("03"), json!({})).await.ok(201);
}

#[tokio::test]
async fn an_approval_closes_the_drawer_of_the_own_till_alone_and_a_manager_closes_any() {
    let (shop, session) = with_two_tills().await;
    let session = session["id"].as_str().expect("an id");
    let (beside, manager) = (shop.sign_in_at("cashier", "T2").await, people::person(&shop, "store_manager").await);
    let asked = json!({
        "permission": "registers.close", "pin": manager.1, "reason": "the end of the day", "context": {"sessionId": session},
    });
    let token = beside.post("/pos/approvals", asked.clone()).await.ok(201)["token"].clone();
    let close = format!("/register-sessions/{session}/close");
    let counted = |token: &Json| json!({"counts": [{"tenderId": id("CASH"), "amount": 20_000}], "approvals": [token]});
    beside.post(&close, counted(&token)).await.refused_at(403, "wrong_terminal", "terminalId");
    beside.post(&close, json!({})).await.refused(403, "forbidden");

    let here = shop.sign_in("cashier").await;
    let token = here.post("/pos/approvals", asked).await.ok(201)["token"].clone();
    here.post(&close, counted(&token)).await.ok(200);
    let again = here.post(&open_path("01"), json!({})).await.ok(201);
    let close = format!("/register-sessions/{}/close", again["id"].as_str().expect("an id"));
    shop.sign_in_with(&manager, "T2").await.post(&close, nothing_counted()).await.ok(200);
}

#[tokio::test]
async fn a_sign_in_without_a_till_names_one_only_with_registers_open() {
    let (shop, _) = with_two_tills().await;
    for role in ["cashier", "store_manager"] {
        let person = without_a_till(&shop, role).await;
        for path in ["/pos/sales", "/pos/quote"] {
            let refused = person.post(path, bread_at(Some("T1"))).await.refused(403, "wrong_terminal");
            assert_eq!(refused["required"], json!(["registers.open"]), "{role}");
        }
        person.post(&open_path("02"), json!({})).await.refused(403, "wrong_terminal");
        person.post("/pos/sales", bread_at(None)).await.refused_at(422, "validation", "terminalId");
        person.post("/pos/quote", bread_at(None)).await.ok(200);
    }
    let administrator = without_a_till(&shop, "administrator").await;
    administrator.post("/pos/sales", bread_at(Some("T1"))).await.ok(201);
    administrator.post(&open_path("02"), json!({})).await.ok(201);
    administrator.post("/pos/sales", bread_at(Some("T2"))).await.ok(201);
}

#[tokio::test]
async fn a_right_in_another_store_opens_no_drawer_here() {
    let (shop, _) = with_two_tills().await;
    let known = people::person(&shop, "cashier").await;
    shop.insert::<user_store_role::Entity>([user_store_role::Model {
        id: Uuid::now_v7(),
        user_id: known.0,
        role_id: ids::role("administrator"),
        store_id: Some(id("another store")),
        ..user_store_role::Model::default()
    }])
    .await;
    shop.store.auth.invalidate();
    let person = shop.sign_in_with(&known, "T1").await;
    person.post(&open_path("02"), json!({})).await.refused(403, "wrong_terminal");
}
