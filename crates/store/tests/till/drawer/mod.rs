//! A drawer between its opening and its close: cash in and out, counts, the end with and without one, and whose it is.

mod closing;
mod counts;
mod days;
mod force;
mod limits;
mod movements;
mod owners;
mod papers;
mod together;

use serde_json::{Value as Json, json};
use tillkeep_storage::entity::{cash_movement, register_session, store};
use tillkeep_storage::sea_orm::EntityTrait;
use uuid::Uuid;

use crate::kit::{Person, Reply, Shop, id, people};

const HOUR: i64 = 3_600_000;
/// What a drawer of these tests is opened with.
const FLOAT: i64 = 20_000;

/// The drawer of register 01, opened by a cashier, and a manager who may close it.
struct Drawer {
    shop: Shop,
    cashier: Person,
    manager: (Uuid, String),
    /// Of the session.
    path: String,
    id: Uuid,
}

impl Drawer {
    async fn open() -> Self {
        Self::open_with(|_| ()).await
    }

    async fn open_with(change: impl FnOnce(&mut store::Model)) -> Self {
        let shop = Shop::open_with(change).await;
        let cashier = shop.sign_in("cashier").await;
        let session = cashier.post(&register("open"), json!({})).await.ok(201);
        let manager = people::person(&shop, "store_manager").await;
        let id: Uuid = session["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
        Self { shop, cashier, manager, path: format!("/register-sessions/{id}"), id }
    }

    /// Of an act on it.
    fn act(&self, act: &str) -> String {
        format!("{}/{act}", self.path)
    }

    /// What the cashier does with it.
    async fn does(&self, act: &str, body: Json) -> Reply {
        self.cashier.post(&self.act(act), body).await
    }

    async fn manager(&self) -> Person {
        self.shop.sign_in_with(&self.manager, "T1").await
    }

    /// As the administrator has it closed with this much cash.
    async fn closed_with(&self, cash: i64) -> Json {
        let administrator = self.shop.sign_in("administrator").await;
        administrator.post(&self.act("close"), json!({"counts": counted(cash)})).await.ok(200)
    }

    /// An approval of `registers.close` by the manager.
    async fn token(&self, context: Json) -> Json {
        let body = json!({
            "permission": "registers.close", "pin": self.manager.1, "reason": "seen by me", "context": context,
        });
        self.cashier.post("/pos/approvals", body).await.ok(201)["token"].clone()
    }

    /// As it is stored.
    async fn row(&self) -> register_session::Model {
        let found = register_session::Entity::find_by_id(self.id).one(self.shop.store.test_db().reader()).await;
        found.expect("a read").expect("a drawer")
    }

    async fn movements(&self) -> Vec<cash_movement::Model> {
        cash_movement::Entity::find().all(self.shop.store.test_db().reader()).await.expect("the movements")
    }
}

/// Of an act on register 01.
fn register(act: &str) -> String {
    format!("/registers/{}/{act}", id("register 01"))
}

/// So much cash was counted.
fn counted(cash: i64) -> Json {
    json!([{"tenderId": id("CASH"), "amount": cash}])
}

fn movement(kind: &str, amount: i64) -> Json {
    json!({"id": Uuid::now_v7(), "type": kind, "amount": amount, "reason": "as it says"})
}
