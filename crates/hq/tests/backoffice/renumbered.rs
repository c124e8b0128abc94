//! A customer with the number of another one: refused, named with whom they collide, and mended with another number.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::entity::{audit_log, customer, sync_log};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::dashboard::orphan;
use super::kit::{Kit, Person, column, id_of};

/// A new customer of a store as it is pushed.
fn customer(store_id: Uuid, seq: i64, name: &str, number: &str) -> Json {
    let id = Uuid::now_v7();
    let data = json!({
        "id": id, "customerNumber": number, "firstName": "Ada", "lastName": name, "originStoreId": store_id,
        "isActive": true,
    });
    json!({
        "store_id": store_id, "entity_type": "customers", "entity_id": id, "action": "create", "data": data,
        "timestamp": "2026-11-20T12:00:00Z", "seq": seq, "node_epoch": "n1",
    })
}

/// Two customers with one number: the second one, who is refused.
pub async fn refused_customer(kit: &Kit, store: Uuid) -> Uuid {
    let (first, second) = (customer(store, 1, "First", "S01-000001"), customer(store, 2, "Second", "S01-000001"));
    let results = kit.push(&kit.sync_token(store), &[first, second.clone()]).await;
    assert_eq!(column(&results, "status"), ["ok", "error"], "{results}");
    second["entity_id"].as_str().and_then(|id| id.parse().ok()).expect("an id")
}

struct Site {
    kit: Kit,
    admin: Person,
    store: Uuid,
    /// The refused customer, and the entry.
    refused: Uuid,
    entry: Json,
}

async fn site() -> Site {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let refused = refused_customer(&kit, store).await;
    let entry = kit.get(&admin, "/sync/errors").await.data()[0].clone();
    Site { kit, admin, store, refused, entry }
}

impl Site {
    async fn renumber(&self, body: Json) -> super::kit::Got {
        self.kit.post(&self.admin, &format!("/sync/errors/{}/renumber", id_of(&self.entry)), body).await
    }

    async fn number(&self) -> String {
        self.kit.row::<customer::Entity>(self.refused).await.customer_number
    }
}

#[tokio::test]
async fn a_refused_entry_names_the_row_that_has_its_number() {
    let site = site().await;
    let first = site.kit.get(&site.admin, "/customers").await.data()[0].clone();
    let collides = json!({"entityType": "customers", "id": first["id"], "label": "S01-000001 Ada First"});
    assert_eq!(site.entry["collidesWith"], collides, "{}", site.entry);
    let token = site.kit.sync_token(site.store);
    site.kit.push(&token, &[orphan(site.store, 3)]).await;
    let other = site.kit.get(&site.admin, "/sync/errors?entityType=purchase_order_items").await.data();
    assert_eq!(other[0]["collidesWith"], Json::Null);
}

#[tokio::test]
async fn a_refused_customer_gets_the_next_number_of_headquarters_and_is_taken_with_it() {
    let site = site().await;
    let done = site.renumber(json!({})).await.data();
    assert_eq!(done, json!({"id": site.entry["id"], "status": "retried", "error": null, "number": "HQ-000001"}));
    assert_eq!(site.number().await, "HQ-000001");
    // It is headquarters' own number, and the next customer here has the one after it.
    let body = json!({"firstName": "Bob", "lastName": "Third"});
    assert_eq!(site.kit.post(&site.admin, "/customers", body).await.data()["customerNumber"], "HQ-000002");
    let row = site.kit.row::<customer::Entity>(site.refused).await;
    assert_eq!(row.flags.0, json!([]), "no other customer has the number");
    let audited = audit_log::Entity::find().filter(audit_log::Column::Action.eq("sync.renumber"));
    let audited = audited.all(site.kit.hq.db().reader()).await.expect("rows");
    assert_eq!(audited.len(), 1);
    let details = &audited[0].details.0;
    assert_eq!(
        (&details["from"]["customerNumber"], &details["to"]["customerNumber"]),
        (&json!("S01-000001"), &json!("HQ-000001"))
    );
    // Nothing is left to do, and the store is to learn of it and to pull the row.
    assert_eq!(site.kit.get(&site.admin, "/sync/errors").await.data(), json!([]));
    site.renumber(json!({})).await.refused(409, "not_failed");
    let token = site.kit.sync_token(site.store);
    assert_eq!(site.kit.ask(&token, "/versions").await["handshake"], true);
    let pulled = site.kit.ask(&token, "/pull?entity_type=customers&since_version=0").await;
    assert!(column(&pulled["rows"], "customerNumber").contains(&"HQ-000001"), "{pulled}");
    // What its store may send once more before it learns of that changes nothing.
    let mut again = customer(site.store, 2, "Second", "S01-000001");
    (again["entity_id"], again["data"]["id"]) = (json!(site.refused), json!(site.refused));
    let results = site.kit.push(&token, &[again]).await;
    assert_eq!((&results[0]["status"], site.number().await.as_str()), (&json!("ok"), "HQ-000001"), "{results}");
}

#[tokio::test]
async fn a_chosen_number_is_taken_unless_another_customer_has_it() {
    let site = site().await;
    site.kit.store("S02").await;
    for bad in ["", " VIP-1", "HQ-000009", "S02-000001", &"9".repeat(51)] {
        site.renumber(json!({"number": bad})).await.names("number");
    }
    site.renumber(json!({"number": "S01-000001"})).await.refused(409, "duplicate");
    site.renumber(json!({"Number": "VIP-1"})).await.is(422);
    assert_eq!(site.renumber(json!({"number": "VIP-1"})).await.data()["number"], "VIP-1");
    assert_eq!(site.number().await, "VIP-1");
}

#[tokio::test]
async fn only_a_customer_with_a_number_that_is_taken_gets_another_one() {
    let site = site().await;
    let token = site.kit.sync_token(site.store);
    site.kit.push(&token, &[orphan(site.store, 3)]).await;
    let order = site.kit.get(&site.admin, "/sync/errors?entityType=purchase_order_items").await.data();
    let path = format!("/sync/errors/{}/renumber", id_of(&order[0]));
    site.kit.post(&site.admin, &path, json!({})).await.refused(409, "not_a_number");
    // Whoever had the number is gone: trying again is enough.
    let first = site.entry["collidesWith"]["id"].as_str().expect("an id").to_owned();
    site.kit.delete(&site.admin, &format!("/customers/{first}")).await.is(204);
    site.renumber(json!({})).await.refused(409, "not_a_number");
    let unknown = format!("/sync/errors/{}/renumber", Uuid::now_v7());
    site.kit.post(&site.admin, &unknown, json!({})).await.is(404);
    let entry: sync_log::Model = site.kit.row::<sync_log::Entity>(id_of(&site.entry)).await;
    assert_eq!((entry.status.as_str(), entry.retry_count), ("failed", 0));
}

#[tokio::test]
async fn another_number_is_given_by_who_may_edit_the_store_alone() {
    let site = site().await;
    let other = site.kit.store("S02").await;
    site.kit.role(&site.admin, "lead", &["stores.view", "stores.edit"]).await;
    site.kit.role(&site.admin, "watcher", &["stores.view"]).await;
    let path = format!("/sync/errors/{}/renumber", id_of(&site.entry));
    let lead = site.kit.person("lea", &[("lead", Some(other))]).await;
    site.kit.post(&lead, &path, json!({})).await.is(404);
    let watcher = site.kit.person("ada", &[("watcher", None)]).await;
    site.kit.post(&watcher, &path, json!({})).await.refused(403, "forbidden");
}
