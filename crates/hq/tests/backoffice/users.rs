//! Users and their roles.

use serde_json::json;
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::{Instant, ids};
use tillkeep_storage::entity::{sale, user, user_store_role};
use tillkeep_storage::sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter};
use uuid::Uuid;

use super::kit::{Kit, column, id_of};

#[tokio::test]
async fn a_user_is_made_with_roles_and_shown_with_them() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let body = json!({
        "username": "Émile", "displayName": "Émile Z.", "employeeCode": "E7",
        "assignments": [{"roleId": ids::role("cashier"), "storeId": store}, {"roleId": ids::role("store_manager"), "storeId": null}],
    });
    let made = kit.post(&admin, "/users", body).await;
    made.is(201);
    let made = made.data();
    assert!(made["mustChangePin"] == true && made.get("pin").is_none());
    let shown = kit.get(&admin, &format!("/users/{}", id_of(&made))).await.data();
    assert_eq!(column(&shown["assignments"], "roleCode"), ["cashier", "store_manager"]);
    assert_eq!(shown["assignments"][0]["storeId"], json!(store));
    assert_eq!(shown["assignments"][1]["storeId"], json!(null));
    for (field, body) in [
        ("username", json!({"username": "ÉMILE", "displayName": "X"})),
        ("username", json!({"username": " x", "displayName": "X"})),
        ("employeeCode", json!({"username": "x", "displayName": "X", "employeeCode": "E7"})),
        ("usernameFolded", json!({"username": "x", "displayName": "X", "usernameFolded": "y"})),
        ("pinHash", json!({"username": "x", "displayName": "X", "pinHash": "y"})),
    ] {
        kit.post(&admin, "/users", body).await.names(field);
    }
    kit.post(&admin, "/users", json!({"username": "émile", "displayName": "X"})).await.refused(409, "username_taken");
    let assigned = |grant: serde_json::Value| json!({"username": "y", "displayName": "Y", "assignments": [grant]});
    kit.post(&admin, "/users", assigned(json!({"roleId": Uuid::now_v7()}))).await.names("assignments[0].roleId");
    kit.post(&admin, "/users", assigned(json!({"role": "cashier"}))).await.is(422);
    let nowhere = json!({"roleId": ids::role("cashier"), "storeId": Uuid::now_v7()});
    kit.post(&admin, "/users", assigned(nowhere)).await.names("assignments[0].storeId");
    let found = kit.get(&admin, "/users?search=y").await.data();
    assert_eq!(found, json!([]), "nothing is left of a refused user");
}

#[tokio::test]
async fn giving_roles_to_a_new_user_needs_its_own_permission() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.role(&admin, "clerk", &["users.view", "users.create"]).await;
    let clerk = kit.person("cleo", &[("clerk", None)]).await;
    let body = |roles: serde_json::Value| json!({"username": "new", "displayName": "New", "assignments": roles});
    let grant = json!([{"roleId": ids::role("cashier")}]);
    let refused = kit.post(&clerk, "/users", body(grant)).await;
    refused.refused(403, "forbidden");
    assert_eq!(refused.body["required"], json!(["users.manage_roles"]));
    kit.post(&clerk, "/users", body(json!([]))).await.is(201);
}

#[tokio::test]
async fn a_role_given_or_taken_gives_the_user_a_new_version() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let ann = kit.person("ann", &[]).await;
    let path = format!("/users/{}/roles", ann.id);
    let version = async || kit.row::<user::Entity>(ann.id).await.sync_version;
    let at_first = version().await;
    let given = kit.post(&admin, &path, json!({"roleId": ids::role("cashier"), "storeId": null})).await;
    given.is(201);
    let given = given.data();
    let then = version().await;
    assert!(then > at_first);
    kit.get(&ann, "/departments").await.is(200);
    kit.post(&admin, &path, json!({"roleId": ids::role("cashier")})).await.refused(409, "duplicate");
    assert_eq!(column(&kit.get(&admin, &path).await.data(), "roleCode"), ["cashier"]);
    let one = format!("{path}/{}", id_of(&given));
    kit.delete(&admin, &one).await.is(204);
    assert!(version().await > then);
    let gone = kit.row::<user_store_role::Entity>(id_of(&given)).await;
    assert!(gone.deleted_at.is_some() && gone.sync_version > 1, "it travels as a tombstone");
    kit.get(&ann, "/departments").await.refused(403, "forbidden");
    kit.delete(&admin, &one).await.is(404);
    kit.post(&admin, &path, json!({"roleId": ids::role("cashier")})).await.is(201);
    kit.post(&admin, &path, json!({"roleId": Uuid::now_v7()})).await.names("roleId");
    kit.post(&admin, &path, json!({"roleId": ids::role("cashier"), "storeId": Uuid::now_v7()})).await.names("storeId");
    kit.post(&admin, &format!("/users/{}/roles", Uuid::now_v7()), json!({"roleId": ids::role("cashier")}))
        .await
        .is(404);
}

#[tokio::test]
async fn the_last_administrator_of_all_stores_stays() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let here = kit.store("S01").await;
    // Holds all that an administrator holds, and is none.
    kit.role(&admin, "clerk", tillkeep_model::permission::ALL).await;
    let clerk = kit.person("cleo", &[("clerk", None)]).await;
    // Neither an administrator of one store nor an inactive one counts.
    kit.person("local", &[("administrator", Some(here))]).await;
    let idle = kit.person("idle", &[("administrator", None)]).await;
    kit.post(&admin, &format!("/users/{}/deactivate", idle.id), json!({})).await.is(200);
    let roles = kit.get(&clerk, &format!("/users/{}/roles", admin.id)).await.data();
    let role = format!("/users/{}/roles/{}", admin.id, id_of(&roles[0]));
    kit.post(&clerk, &format!("/users/{}/deactivate", admin.id), json!({})).await.refused(409, "last_admin");
    let by_edit = kit.patch(&clerk, &format!("/users/{}", admin.id), json!({"isActive": false})).await;
    by_edit.refused(409, "last_admin");
    kit.delete(&clerk, &role).await.refused(409, "last_admin");
    kit.post(&clerk, &format!("/users/{}/activate", idle.id), json!({})).await.is(200);
    kit.delete(&clerk, &role).await.is(204);
    let idle_role = kit.get(&clerk, &format!("/users/{}/roles", idle.id)).await.data();
    let idle_role = format!("/users/{}/roles/{}", idle.id, id_of(&idle_role[0]));
    kit.delete(&clerk, &idle_role).await.refused(409, "last_admin");
}

#[tokio::test]
async fn no_user_deactivates_themselves_and_a_deactivated_user_is_out_at_once() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let other = kit.person("otto", &[("administrator", None)]).await;
    kit.post(&admin, &format!("/users/{}/deactivate", admin.id), json!({})).await.refused(409, "self");
    kit.get(&other, "/users").await.is(200);
    let path = format!("/users/{}", other.id);
    assert_eq!(kit.post(&admin, &format!("{path}/deactivate"), json!({})).await.data()["isActive"], false);
    kit.get(&other, "/users").await.is(401);
    assert_eq!(kit.call(&admin, "POST", &format!("{path}/activate"), None).await.data()["isActive"], true);
    kit.get(&other, "/users").await.is(401);
    let again = super::kit::Person { id: other.id, token: kit.sign_in(other.id, "otto", None).await };
    kit.get(&again, "/users").await.is(200);
}

#[tokio::test]
async fn a_conflict_shows_a_user_without_what_verifies_the_pin() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let made = kit.post(&admin, "/users", json!({"username": "ann", "displayName": "Ann"})).await.data();
    let path = format!("/users/{}", id_of(&made));
    let late = kit.patch(&admin, &path, json!({"displayName": "B", "expectedVersion": 1})).await;
    late.refused(409, "version_conflict");
    // The kit looks into every answer; this one must not be empty.
    assert_eq!(late.body["current"]["username"], "ann");
    let stored = kit.row::<user::Entity>(id_of(&made)).await;
    assert!(stored.pin_hash.is_some_and(|hash| !late.text.contains(&hash)));
}

#[tokio::test]
async fn a_deleted_user_is_gone_with_roles_and_sessions_and_the_name_is_free() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let cleo = kit.person("cleo", &[("cashier", Some(store))]).await;
    let path = format!("/users/{}", cleo.id);
    assert_eq!(kit.get(&cleo, "/auth/me").await.status, 200);
    kit.delete(&admin, &path).await.is(204);
    kit.get(&cleo, "/auth/me").await.is(401);
    kit.get(&admin, &path).await.refused(404, "not_found");
    kit.delete(&admin, &path).await.refused(404, "not_found");
    let row = kit.row::<user::Entity>(cleo.id).await;
    assert!(row.deleted_at.is_some() && row.sync_version > 0, "stores hear of it");
    let roles = user_store_role::Entity::find().filter(user_store_role::Column::UserId.eq(cleo.id));
    let roles = roles.all(kit.hq.db().reader()).await.expect("a read");
    assert!(roles.iter().all(|role| role.deleted_at.is_some() && role.sync_version > 0) && roles.len() == 1);
    kit.post(&admin, "/users", json!({"username": "cleo", "displayName": "Another Cleo"})).await.is(201);
    kit.delete(&admin, &format!("/users/{}", admin.id)).await.refused(409, "last_admin");
    kit.person("second", &[("administrator", None)]).await;
    kit.delete(&admin, &format!("/users/{}", admin.id)).await.refused(409, "self");
}

#[tokio::test]
async fn no_user_changes_or_sends_away_who_holds_more_than_they_do() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.role(&admin, "clerk", &["users.view", "users.edit"]).await;
    let clerk = kit.person("cleo", &[("clerk", None)]).await;
    let other = kit.person("second", &[("administrator", None)]).await;
    let path = format!("/users/{}", other.id);
    kit.delete(&clerk, &path).await.refused(403, "escalation");
    kit.post(&clerk, &format!("{path}/deactivate"), json!({})).await.refused(403, "escalation");
    kit.patch(&clerk, &path, json!({"isActive": false})).await.refused(403, "escalation");
    kit.patch(&clerk, &path, json!({"username": "renamed"})).await.refused(403, "escalation");
    let peer = kit.person("peer", &[("clerk", None)]).await;
    kit.patch(&clerk, &format!("/users/{}", peer.id), json!({"displayName": "Peer"})).await.is(200);
    kit.post(&clerk, &format!("/users/{}/deactivate", peer.id), json!({})).await.is(200);
    kit.delete(&clerk, &format!("/users/{}", peer.id)).await.is(204);
}

#[tokio::test]
async fn no_name_looks_like_another_one_or_is_written_in_two_ways() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let user = |name: &str| json!({"username": name, "displayName": "X"});
    let jose = kit.post(&admin, "/users", user("Jose\u{301}")).await.data();
    assert_eq!(jose["username"], "José");
    for name in ["\u{ff2a}os\u{e9}", "JOSÉ"] {
        kit.post(&admin, "/users", user(name)).await.refused(409, "username_taken");
    }
    let path = format!("/users/{}", id_of(&jose));
    for name in ["\u{430}nn", "a\u{200b}nn", "ann\u{202e}", "a\tb"] {
        kit.post(&admin, "/users", user(name)).await.names("username");
        kit.patch(&admin, &path, json!({"username": name})).await.names("username");
    }
    // Whoever types it in another way is the same person.
    kit.chooses(id_of(&jose), "739154").await;
    for name in ["jose\u{301}", "JOSÉ", "\u{ff4a}osé"] {
        kit.login(name, "739154").await.is(200);
    }
}

#[tokio::test]
async fn the_list_of_users_has_their_roles_and_where_they_sold_last() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (here, there) = (kit.store("S01").await, kit.store("S02").await);
    let cleo = kit.person("cleo", &[("cashier", Some(here)), ("cashier", Some(there))]).await;
    for (store, receipt, at) in
        [(here, "S01-01-000001", "2026-11-20T10:00:00.000Z"), (there, "S02-01-000001", "2026-11-19T10:00:00.000Z")]
    {
        let row = sale::Model {
            id: Uuid::now_v7(),
            store_id: store,
            receipt_number: receipt.to_owned(),
            completed_at: Instant::parse(at).expect("an instant"),
            cashier_user_id: cleo.id,
            ..sale::Model::default()
        };
        let tx = kit.hq.db().begin().await.expect("begin");
        row.into_active_model().insert(&tx).await.expect("a sale");
        tx.commit().await.expect("commit");
    }
    let rows = kit.get(&admin, "/users?sort=username").await.data();
    let cleo_row = rows.as_array().expect("rows").iter().find(|row| row["username"] == "cleo").expect("cleo");
    let seen = json!({"storeId": here, "storeCode": "S01", "at": "2026-11-20T10:00:00.000Z"});
    assert_eq!(cleo_row["lastSeenAtStore"], seen);
    assert_eq!(cleo_row["assignments"].as_array().map(Vec::len), Some(2));
    assert_eq!(kit.get(&admin, &format!("/users/{}", cleo.id)).await.data()["lastSeenAtStore"], seen);
    assert_eq!(rows.as_array().expect("rows")[0]["lastSeenAtStore"], json!(null), "the administrator sells nothing");
    // What happened in a store that one does not see is not shown.
    let manager = kit.person("mia", &[("administrator", Some(there))]).await;
    assert_eq!(kit.get(&manager, &format!("/users/{}", cleo.id)).await.data()["lastSeenAtStore"], json!(null));
}
