//! Sync tokens: shown once, replaced with or without grace, taken away.

use serde_json::{Value as Json, json};
use tillkeep_hq::sync::standing::token_version_ok;
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::wire::close;
use tillkeep_storage::entity::{audit_log, store};
use tillkeep_storage::sea_orm::EntityTrait;
use uuid::Uuid;

use super::kit::{Kit, Person, id_of};

/// The socket heard that the token is not good any more.
pub async fn closed(connection: &tillkeep_hq::live::Connection) {
    loop {
        match connection.next().await {
            tillkeep_hq::live::Next::Close(code) => return assert_eq!(code, close::REVOKED),
            tillkeep_hq::live::Next::Tell(_) => {}
        }
    }
}

async fn new_store(kit: &Kit, admin: &Person) -> Uuid {
    id_of(&kit.post(admin, "/stores", json!({"code": "S01", "name": "Harbor Street"})).await.data())
}

async fn accepted(kit: &Kit, id: Uuid, tv: i32) -> bool {
    let row: store::Model = kit.row::<store::Entity>(id).await;
    token_version_ok(kit.hq.db(), &row, tv, kit.clock.now()).await.expect("known")
}

#[tokio::test]
async fn provisioning_takes_a_store_into_use_and_shows_its_token_once() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = new_store(&kit, &admin).await;
    let path = format!("/stores/{id}/provision");
    let given = kit.call(&admin, "POST", &path, None).await.data();
    let token = given["syncToken"].as_str().expect("token");
    let env = format!("SYNC_TOKEN={token}\nHQ_URL=http://hq.example:8080\nALLOW_INSECURE_HQ=1\n");
    assert_eq!(given["env"], env, "nobody said an address, and the browser has one");
    assert_eq!(given["publicUrlMissing"], false);
    assert_eq!((&given["storeId"], &given["storeCode"]), (&json!(id), &json!("S01")));
    let claims = kit.hq.auth.tokens.sync(token, kit.clock.now()).expect("a token of this server");
    assert_eq!((claims.store_id, claims.store_code.as_str(), claims.tv), (Some(id), "S01", 1));
    assert_eq!(claims.kind, "store_sync");
    assert!(kit.hq.auth.tokens.access(token, kit.clock.now()).is_none(), "it signs no user in");
    let row = kit.get(&admin, &format!("/stores/{id}")).await.data();
    assert_eq!(row["isActive"], true);
    assert!(row["provisionedAt"].is_string());
    kit.post(&admin, &path, json!({})).await.refused(409, "already_provisioned");
    for row in audit_log::Entity::find().all(kit.hq.db().reader()).await.expect("log") {
        assert!(!row.details.0.to_string().contains(token), "no token in the log");
    }
}

#[tokio::test]
async fn a_replaced_token_ends_at_once_or_after_its_grace() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = new_store(&kit, &admin).await;
    let path = format!("/stores/{id}/provision");
    kit.post(&admin, &path, json!({})).await.is(200);
    kit.post(&admin, &path, json!({"rotate": true, "graceMinutes": 30})).await.is(200);
    assert!(accepted(&kit, id, 1).await && accepted(&kit, id, 2).await);
    assert!(!accepted(&kit, id, 3).await);
    kit.clock.advance(29 * 60_000);
    assert!(accepted(&kit, id, 1).await);
    kit.clock.advance(60_000);
    assert!(!accepted(&kit, id, 1).await && accepted(&kit, id, 2).await);
    // By now it is to be shown again who asks.
    let admin = Person { token: kit.sign_in(admin.id, "admin", None).await, ..admin };
    kit.post(&admin, &path, json!({"rotate": true})).await.is(200);
    assert!(!accepted(&kit, id, 2).await && accepted(&kit, id, 3).await);
    for minutes in [json!(-1), json!(1441), json!("5")] {
        kit.post(&admin, &path, json!({"rotate": true, "graceMinutes": minutes})).await.names("graceMinutes");
    }
    kit.post(&admin, &path, json!({"rotat": true})).await.names("rotat");
}

#[tokio::test]
async fn a_revoked_token_takes_its_grace_and_the_socket_with_it() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = new_store(&kit, &admin).await;
    kit.post(&admin, &format!("/stores/{id}/provision"), json!({})).await.is(200);
    kit.post(&admin, &format!("/stores/{id}/provision"), json!({"rotate": true, "graceMinutes": 60})).await.is(200);
    let connection = kit.hq.hub.connect(id, "S01", kit.clock.now(), close::REPLACED);
    let revoked = kit.call(&admin, "POST", &format!("/stores/{id}/revoke-token"), None).await;
    revoked.is(204);
    assert_eq!(revoked.text, "");
    closed(&connection).await;
    assert!(!accepted(&kit, id, 1).await && !accepted(&kit, id, 2).await);
    let log = audit_log::Entity::find().all(kit.hq.db().reader()).await.expect("log");
    let entries: Vec<(&str, &Json)> = log.iter().map(|row| (row.action.as_str(), &row.details.0)).collect();
    assert!(entries.iter().any(|(action, details)| *action == "store.provision" && details["graceMinutes"] == 60));
    assert!(entries.iter().any(|(action, details)| *action == "store.revoke_token" && details["tokenVersion"] == 3));
}

#[tokio::test]
async fn rotating_without_grace_closes_the_socket() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = new_store(&kit, &admin).await;
    kit.post(&admin, &format!("/stores/{id}/provision"), json!({})).await.is(200);
    let connection = kit.hq.hub.connect(id, "S01", kit.clock.now(), close::REPLACED);
    kit.post(&admin, &format!("/stores/{id}/provision"), json!({"rotate": true})).await.is(200);
    closed(&connection).await;
}

#[tokio::test]
async fn a_socket_of_a_replaced_token_closes_when_its_grace_ends() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = new_store(&kit, &admin).await;
    kit.post(&admin, &format!("/stores/{id}/provision"), json!({})).await.is(200);
    let connection = kit.hq.hub.connect(id, "S01", kit.clock.now(), close::REPLACED);
    kit.post(&admin, &format!("/stores/{id}/provision"), json!({"rotate": true, "graceMinutes": 30})).await.is(200);
    let is_closed = async || {
        let next = tokio::time::timeout(std::time::Duration::ZERO, connection.next()).await;
        matches!(next, Ok(tillkeep_hq::live::Next::Close(_)))
    };
    kit.clock.advance(29 * 60_000);
    kit.hq.hub.close_over(kit.clock.now(), close::REVOKED);
    assert!(!is_closed().await, "the grace lasts");
    kit.clock.advance(60_000);
    closed(&connection).await;
    // The one that comes with the new token has no end.
    let newer = kit.hq.hub.connect(id, "S01", kit.clock.now(), close::REPLACED);
    kit.clock.advance(24 * 3600 * 1000);
    kit.hq.hub.close_over(kit.clock.now(), close::REVOKED);
    let next = tokio::time::timeout(std::time::Duration::ZERO, newer.next()).await;
    assert!(!matches!(next, Ok(tillkeep_hq::live::Next::Close(_))));
}

#[tokio::test]
async fn a_second_rotation_lengthens_the_grace_of_no_open_socket() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = new_store(&kit, &admin).await;
    let path = format!("/stores/{id}/provision");
    kit.post(&admin, &path, json!({})).await.is(200);
    let connection = kit.hq.hub.connect(id, "S01", kit.clock.now(), close::REPLACED);
    for minutes in [10, 600] {
        kit.post(&admin, &path, json!({"rotate": true, "graceMinutes": minutes})).await.is(200);
    }
    kit.clock.advance(11 * 60_000);
    kit.hq.hub.close_over(kit.clock.now(), close::REVOKED);
    tokio::time::timeout(std::time::Duration::from_mins(1), closed(&connection))
        .await
        .expect("closed by the first end");
}

#[tokio::test]
async fn another_token_does_not_bring_back_a_store_that_was_taken_out_of_use() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = new_store(&kit, &admin).await;
    let path = format!("/stores/{id}/provision");
    kit.post(&admin, &path, json!({})).await.is(200);
    kit.post(&admin, &format!("/stores/{id}/deactivate"), json!({"force": true})).await.is(200);
    kit.post(&admin, &path, json!({"rotate": true})).await.is(200);
    assert!(!kit.row::<store::Entity>(id).await.is_active);
}
