//! Roles: what they hold, who may say so, and which stay as they are.

use serde_json::{Value as Json, json};
use tillkeep_model::{ids, permission};
use uuid::Uuid;

use super::kit::{Kit, column, id_of};

#[tokio::test]
async fn a_role_is_made_changed_and_deleted() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let body =
        json!({"code": "buyer", "name": "Buyer", "permissions": ["products.view", "suppliers.view", "products.view"]});
    let role = kit.post(&admin, "/roles", body).await.data();
    assert_eq!(role["permissions"], json!(["products.view", "suppliers.view"]));
    assert_eq!(role["isSystem"], false);
    let path = format!("/roles/{}", id_of(&role));
    kit.patch(&admin, &path, json!({"name": "Purchaser", "description": "Buys"})).await.is(200);
    kit.patch(&admin, &path, json!({"code": "other"})).await.names("code");
    kit.patch(&admin, &path, json!({"isSystem": true})).await.names("isSystem");
    let put = kit.put(&admin, &format!("{path}/permissions"), json!({"permissions": ["suppliers.edit"]})).await.data();
    assert_eq!(put["permissions"], json!(["suppliers.edit"]));
    let listed = kit.get(&admin, "/roles?search=buyer").await.data();
    assert_eq!(listed[0]["permissions"], json!(["suppliers.edit"]));
    assert_eq!(listed[0]["name"], "Purchaser");
    let ann = kit.person("ann", &[]).await;
    let given = kit.post(&admin, &format!("/users/{}/roles", ann.id), json!({"roleId": role["id"]})).await.data();
    kit.delete(&admin, &path).await.refused(409, "in_use");
    kit.delete(&admin, &format!("/users/{}/roles/{}", ann.id, id_of(&given))).await.is(204);
    kit.delete(&admin, &path).await.is(204);
    kit.get(&admin, &path).await.is(404);
}

#[tokio::test]
async fn what_a_role_holds_is_replaced_from_the_version_that_was_read() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = kit.role(&admin, "buyer", &["products.view"]).await;
    let (one, path) = (format!("/roles/{id}"), format!("/roles/{id}/permissions"));
    let version = kit.get(&admin, &one).await.data()["syncVersion"].clone();
    let put = async |codes: &[&str], version: &Json| {
        kit.put(&admin, &path, json!({"permissions": codes, "expectedVersion": version})).await
    };
    let changed = put(&["tenders.view"], &version).await.data();
    assert!(changed["syncVersion"].as_i64() > version.as_i64(), "what a role holds is part of its version");
    assert_eq!(changed["syncVersion"], kit.get(&admin, &one).await.data()["syncVersion"]);
    let late = put(&["stores.view"], &version).await;
    late.refused(409, "version_conflict");
    assert_eq!(late.body["current"]["permissions"], json!(["tenders.view"]), "what it holds now is shown");
    assert_eq!(late.body["current"]["syncVersion"], changed["syncVersion"]);
    assert_eq!(late.body["changedBy"]["name"], "admin");
    kit.patch(&admin, &one, json!({"name": "B", "expectedVersion": version})).await.refused(409, "version_conflict");
    let same = put(&["tenders.view"], &changed["syncVersion"]).await.data();
    assert_eq!(same["syncVersion"], changed["syncVersion"], "nothing new, no version");
    put(&[], &json!("1")).await.names("expectedVersion");
    kit.put(&admin, &path, json!({"permissions": []})).await.is(200);
}

#[tokio::test]
async fn of_two_who_replace_what_a_role_holds_at_once_one_learns_of_the_other() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = kit.role(&admin, "buyer", &[]).await;
    let version = kit.get(&admin, &format!("/roles/{id}")).await.data()["syncVersion"].clone();
    let put = async |code: &str| {
        let body = json!({"permissions": [code], "expectedVersion": version});
        kit.put(&admin, &format!("/roles/{id}/permissions"), body).await
    };
    let (one, other) = tokio::join!(put("products.view"), put("tenders.view"));
    let (won, lost) = if one.status == 200 { (one, other) } else { (other, one) };
    lost.refused(409, "version_conflict");
    assert_eq!(lost.body["current"]["permissions"], won.data()["permissions"]);
}

#[tokio::test]
async fn a_permission_given_or_taken_counts_on_the_next_request() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = kit.role(&admin, "buyer", &["products.view"]).await;
    let ann = kit.person("ann", &[("buyer", None)]).await;
    kit.get(&ann, "/products").await.is(200);
    kit.put(&admin, &format!("/roles/{id}/permissions"), json!({"permissions": ["tenders.view"]})).await.is(200);
    kit.get(&ann, "/products").await.refused(403, "forbidden");
    kit.get(&ann, "/tenders").await.is(200);
}

#[tokio::test]
async fn the_roles_of_every_installation_stay_as_they_are() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for code in ["administrator", "cashier", "store_manager"] {
        let path = format!("/roles/{}", ids::role(code));
        kit.patch(&admin, &path, json!({"name": "Boss"})).await.refused(409, "system_role");
        kit.delete(&admin, &path).await.refused(409, "system_role");
    }
    let path = format!("/roles/{}/permissions", ids::role("administrator"));
    kit.put(&admin, &path, json!({"permissions": []})).await.refused(409, "system_role");
    let path = format!("/roles/{}/permissions", ids::role("cashier"));
    let more = json!({"permissions": ["pos.sell", "pos.park_cart"]});
    assert_eq!(kit.put(&admin, &path, more).await.data()["permissions"], json!(["pos.park_cart", "pos.sell"]));
}

#[tokio::test]
async fn an_unknown_permission_is_refused_a_pattern_too() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = kit.role(&admin, "buyer", &[]).await;
    for code in ["products.fly", "products.*", "*", "", "PRODUCTS.VIEW"] {
        let body = json!({"code": "other", "name": "Other", "permissions": [code]});
        let got = kit.post(&admin, "/roles", body).await;
        got.refused(422, "unknown_permission");
        got.names("permissions");
        let put = kit.put(&admin, &format!("/roles/{id}/permissions"), json!({"permissions": [code]})).await;
        put.refused(422, "unknown_permission");
    }
    kit.put(&admin, &format!("/roles/{id}/permissions"), json!({})).await.names("permissions");
    kit.post(&admin, "/roles", json!({"code": "Other Role", "name": "Other"})).await.names("code");
    kit.put(&admin, &format!("/roles/{}/permissions", Uuid::now_v7()), json!({"permissions": []})).await.is(404);
}

#[tokio::test]
async fn no_user_puts_into_a_role_what_they_do_not_hold_everywhere() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let here = kit.store("S01").await;
    kit.role(&admin, "role_keeper", &["roles.view", "roles.manage", "products.view"]).await;
    kit.role(&admin, "seller", &["pos.sell"]).await;
    let buyer = kit.role(&admin, "buyer", &["suppliers.view", "products.view"]).await;
    let keeper = kit.person("kim", &[("role_keeper", None), ("seller", Some(here))]).await;
    let path = format!("/roles/{buyer}/permissions");
    let more = kit.put(&keeper, &path, json!({"permissions": ["suppliers.view", "suppliers.edit"]})).await;
    more.refused(403, "escalation");
    assert_eq!(more.body["missing"], json!(["suppliers.edit"]));
    kit.put(&keeper, &path, json!({"permissions": ["suppliers.view", "roles.view"]})).await.is(200);
    kit.put(&keeper, &path, json!({"permissions": ["pos.sell"]})).await.refused(403, "escalation");
    let new = json!({"code": "new", "name": "New", "permissions": ["users.view"]});
    kit.post(&keeper, "/roles", new).await.refused(403, "escalation");
    let new = json!({"code": "new", "name": "New", "permissions": ["products.view"]});
    kit.post(&keeper, "/roles", new).await.is(201);
}

#[tokio::test]
async fn the_permissions_are_listed_by_module() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let modules = kit.get(&admin, "/permissions").await.data();
    assert_eq!(column(&modules, "module")[..3], ["pos", "inventory", "transfers"]);
    let all: Vec<_> = modules
        .as_array()
        .expect("modules")
        .iter()
        .flat_map(|module| module["permissions"].as_array().expect("codes").clone())
        .collect();
    assert_eq!(all.len(), permission::ALL.len());
}
