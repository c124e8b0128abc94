//! A customer of a store with the number of another one, until the store has them under another number.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::Instant;
use tillkeep_storage::entity::customer;
use tillkeep_storage::sea_orm::EntityTrait;
use uuid::Uuid;

use crate::kit::{World, until};

/// A customer of headquarters who has the first number of store S01.
async fn before(world: &World) {
    let row = customer::Model {
        id: Uuid::now_v7(),
        customer_number: "S01-000001".to_owned(),
        last_name: Some("First".to_owned()),
        is_active: true,
        created_at: Instant::default(),
        updated_at: Instant::default(),
        ..customer::Model::default()
    };
    let mut tx = world.hq.db().begin().await.expect("begin");
    tx.insert::<customer::Entity>(row).await.expect("a customer");
    world.hq.commit(tx).await.expect("commit");
}

#[tokio::test]
async fn a_refused_customer_is_at_their_store_under_the_number_that_headquarters_gave() {
    let world = World::new().await;
    let (hq, shop) = (world.at_hq(), world.at_store());
    let (admin, seller) = (hq.sign_in(world.admin).await, shop.sign_in(world.admin).await);
    before(&world).await;
    let body = json!({"firstName": "Eve", "lastName": "Second"});
    let made = shop.post(&seller, "/customers", body).await.data();
    let id: Uuid = made["id"].as_str().expect("an id").parse().expect("a UUID");
    assert_eq!(made["customerNumber"], "S01-000001");
    let entry = async || {
        let listed = hq.get(&admin, "/sync/errors").await.data();
        listed.as_array().and_then(|rows| rows.first().cloned())
    };
    until("headquarters refuses the customer", async || entry().await.is_some()).await;
    let refused = entry().await.expect("the entry");
    assert_eq!(refused["collidesWith"]["label"], "S01-000001 First", "{refused}");
    let path = format!("/sync/errors/{}/renumber", refused["id"].as_str().expect("an id"));
    let done = hq.post(&admin, &path, json!({})).await.data();
    assert_eq!((&done["status"], &done["number"]), (&json!("retried"), &json!("HQ-000001")), "{done}");
    let here = async || customer::Entity::find_by_id(id).one(world.store.test_db().reader()).await.expect("a read");
    let renumbered = async || here().await.is_some_and(|row| row.customer_number == "HQ-000001");
    until("the store has the other number", renumbered).await;
    assert!(here().await.is_some_and(|row| row.synced), "nothing of it waits any more");
    let outbox = async || shop.get(&seller, "/sync/outbox").await.data() == Json::Array(Vec::new());
    until("the outbox is empty", outbox).await;
    assert_eq!(entry().await, None);
}
