//! Money that comes back, and what is owed: voids, refunds, exchanges and payments on accounts, over HTTP against a store.

mod chain;
mod exchange;
mod refunds;
mod refunds_approved;
mod refunds_at_once;
mod refunds_elsewhere;
mod refunds_refused;
mod refunds_unlinked;
mod settlement;
mod void;

use serde_json::{Value as Json, json};
use tillkeep_storage::entity::tender;
use tillkeep_storage::sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};

use crate::kit::{Person, Reply, Shop, id};

/// Undoes a sale at terminal T1.
async fn undo(person: &Person, sale: &Json, reason: &str) -> Reply {
    person.post(&path(sale, "void"), json!({"terminalId": "T1", "reason": reason})).await
}

/// Of an act on a sale.
fn path(sale: &Json, act: &str) -> String {
    format!("/pos/sales/{}/{act}", sale["id"].as_str().expect("an id"))
}

/// The document in an answer, without what is said of it once.
fn document(answer: &Json) -> Json {
    let mut document = answer.clone();
    document.as_object_mut().expect("a sale").retain(|key, _| !["checkedAtHq", "warnings"].contains(&key.as_str()));
    document
}

/// Closes the drawer of register 01 with this much cash in it; its figures.
async fn close(person: &Person, cash: i64) -> Json {
    let drawer = person.get("/register-sessions/current?terminalId=T1").await.ok(200);
    let counted = json!({"counts": [{"tenderId": id("CASH"), "amount": cash}]});
    let path = format!("/register-sessions/{}/close", drawer["id"].as_str().expect("an id"));
    person.post(&path, counted).await.ok(200)
}

/// Changes a tender as a pull does.
pub(crate) async fn change_tender(shop: &Shop, code: &str, change: impl FnOnce(&mut tender::Model)) {
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let row = tender::Entity::find_by_id(id(code)).one(&tx).await.expect("a read");
    let mut row = row.expect("a tender");
    change(&mut row);
    tender::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
    tx.commit().await.expect("a commit");
}

/// What waits for headquarters of `id`, oldest first.
async fn queued(shop: &Shop, id: &Json) -> Vec<String> {
    let of = |entry: &tillkeep_storage::entity::outbox::Model| json!(entry.entity_id) == *id;
    shop.outbox().await.into_iter().filter(of).map(|entry| entry.action).collect()
}
