//! People with roles that count in some stores only.

use serde_json::json;
use tillkeep_model::ids;
use uuid::Uuid;

use super::kit::{Kit, Person, column, id_of};

struct Two {
    kit: Kit,
    here: Uuid,
    there: Uuid,
    /// Runs the people of the first store.
    lead: Person,
}

async fn two() -> Two {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (here, there) = (kit.store("S01").await, kit.store("S02").await);
    let codes = [
        "users.view",
        "users.create",
        "users.edit",
        "users.manage_roles",
        "pos.sell",
        "pos.discount",
        "inventory.view",
        "reports.x_report",
        "stores.view",
        "stores.edit",
        "stores.create",
        "stores.provision",
        "store_prices.view",
        "store_prices.manage",
    ];
    kit.role(&admin, "lead", &codes).await;
    let lead = kit.person("lea", &[("lead", Some(here))]).await;
    Two { kit, here, there, lead }
}

#[tokio::test]
async fn a_lead_sees_and_edits_the_people_of_the_own_store_only() {
    let Two { kit, here, there, lead } = two().await;
    let own = kit.person("own", &[("cashier", Some(here))]).await;
    let foreign = kit.person("foreign", &[("cashier", Some(there))]).await;
    let boss = kit.person("boss", &[("administrator", None)]).await;
    let users = kit.get(&lead, "/users?sort=username").await.data();
    assert_eq!(column(&users, "username"), ["lea", "own"]);
    kit.patch(&lead, &format!("/users/{}", own.id), json!({"displayName": "Owen"})).await.is(200);
    for other in [&foreign, &boss] {
        let path = format!("/users/{}", other.id);
        kit.get(&lead, &path).await.is(404);
        kit.get(&lead, &format!("{path}/roles")).await.is(404);
        kit.patch(&lead, &path, json!({"displayName": "Mine"})).await.is(404);
        kit.post(&lead, &format!("{path}/deactivate"), json!({})).await.is(404);
        kit.post(&lead, &format!("{path}/pin"), json!({})).await.is(404);
        let grant = json!({"roleId": ids::role("cashier"), "storeId": here});
        kit.post(&lead, &format!("{path}/roles"), grant).await.is(404);
    }
    kit.get(&lead, &format!("/users?storeId={there}")).await.refused(403, "scope");
    let here = kit.get(&lead, &format!("/users?storeId={here}&sort=username")).await.data();
    assert_eq!(column(&here, "username"), ["lea", "own"]);
}

#[tokio::test]
async fn a_lead_gives_roles_no_further_than_the_own_ones_reach() {
    let Two { kit, here, there, lead } = two().await;
    let own = kit.person("own", &[("cashier", Some(here))]).await;
    let path = format!("/users/{}/roles", own.id);
    let give = async |role: &str, store: Option<Uuid>| {
        kit.post(&lead, &path, json!({"roleId": ids::role(role), "storeId": store})).await
    };
    give("cashier", None).await.refused(403, "escalation");
    give("cashier", Some(there)).await.refused(403, "escalation");
    give("store_manager", Some(here)).await.refused(403, "escalation");
    give("administrator", Some(here)).await.refused(403, "escalation");
    give("lead", Some(here)).await.is(201);
}

#[tokio::test]
async fn a_lead_takes_only_roles_of_the_own_store_away() {
    let Two { kit, here, there, lead } = two().await;
    let both = kit.person("both", &[("cashier", Some(here)), ("cashier", Some(there)), ("store_manager", None)]).await;
    let path = format!("/users/{}/roles", both.id);
    let roles = kit.get(&lead, &path).await.data();
    let id_at = |store: Option<Uuid>| {
        let row = roles.as_array().into_iter().flatten().find(|row| row["storeId"] == json!(store));
        id_of(row.expect("an assignment there"))
    };
    kit.delete(&lead, &format!("{path}/{}", id_at(Some(there)))).await.refused(403, "scope");
    kit.delete(&lead, &format!("{path}/{}", id_at(None))).await.refused(403, "scope");
    kit.delete(&lead, &format!("{path}/{}", id_at(Some(here)))).await.is(204);
    kit.get(&lead, &path).await.is(404);
}

#[tokio::test]
async fn a_lead_makes_users_for_the_own_store() {
    let Two { kit, here, there, lead } = two().await;
    let user = |grants: serde_json::Value| json!({"username": "new", "displayName": "New", "assignments": grants});
    kit.post(&lead, "/users", user(json!([]))).await.names("assignments");
    let cashier = ids::role("cashier");
    let elsewhere = user(json!([{"roleId": cashier, "storeId": there}]));
    kit.post(&lead, "/users", elsewhere).await.refused(403, "escalation");
    let twice = user(json!([{"roleId": cashier, "storeId": here}, {"roleId": cashier, "storeId": here}]));
    kit.post(&lead, "/users", twice).await.refused(409, "duplicate");
    kit.post(&lead, "/users", user(json!([{"roleId": cashier, "storeId": here}]))).await.is(201);
}

#[tokio::test]
async fn a_lead_acts_on_the_own_store_only() {
    let Two { kit, here, there, lead } = two().await;
    let admin = kit.person("root", &[("administrator", None)]).await;
    let product = kit.product(&admin, "P1", json!({})).await;
    assert_eq!(column(&kit.get(&lead, "/stores").await.data(), "code"), ["S01"]);
    kit.get(&lead, &format!("/stores/{here}")).await.is(200);
    kit.get(&lead, &format!("/stores/{there}")).await.refused(403, "scope");
    kit.patch(&lead, &format!("/stores/{there}"), json!({"name": "Mine"})).await.refused(403, "scope");
    for action in ["activate", "deactivate", "provision", "revoke-token"] {
        kit.post(&lead, &format!("/stores/{there}/{action}"), json!({})).await.refused(403, "scope");
    }
    kit.post(&lead, "/stores", json!({"code": "S03", "name": "Third"})).await.refused(403, "scope");
    let price = |store: Uuid| format!("/store-prices/{store}/{}", id_of(&product));
    kit.put(&lead, &price(here), json!({"price": 900})).await.is(200);
    kit.put(&lead, &price(there), json!({"price": 900})).await.refused(403, "scope");
    kit.delete(&lead, &price(there)).await.refused(403, "scope");
    kit.put(&admin, &price(there), json!({"price": 800})).await.is(200);
    assert_eq!(kit.get(&lead, "/store-prices").await.data().as_array().map(Vec::len), Some(1));
    kit.get(&lead, &format!("/store-prices?storeId={there}")).await.refused(403, "scope");
}
