//! Rights over people, used to take what one does not hold.

use serde_json::{Value, json};
use tillkeep_http::pins;
use tillkeep_model::ids;

use crate::kit::{Client, TestCluster, id};

/// A user with this role everywhere, signed in at headquarters by the PIN that was made for them.
async fn signed_in(chain: &TestCluster, name: &str, role: &Value) -> (String, Client) {
    let own = pins::generate(pins::SHORTEST);
    let body = json!({"username": name, "displayName": name, "assignments": [{"roleId": role}]});
    let made = chain.admin.post("/users", body).await.data();
    let first = made["generatedPin"].as_str().expect("a PIN");
    let anybody = Client::new(&chain.hq.url);
    let client = anybody.sign_in(name, first).await.expect("a sign-in");
    let body = json!({"currentPin": first, "newPin": own});
    let changed = client.post("/auth/change-pin", body).await;
    assert!(changed.status.is_success(), "{}", changed.text);
    (id(&made), anybody.sign_in(name, &own).await.expect("a sign-in"))
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_manages_roles_alone_removes_no_administrator_and_empties_no_role() {
    let chain = TestCluster::new().await;
    let codes = ["users.view", "users.edit", "users.manage_roles", "roles.view", "roles.manage"];
    let keeper =
        chain.admin.post("/roles", json!({"code": "keeper", "name": "Keeper", "permissions": codes})).await.data();
    let (_, keeper) = signed_in(&chain, "kim", &keeper["id"]).await;
    // Not the last one, whom another rule keeps.
    let (ada, _) = signed_in(&chain, "ada", &json!(ids::role("administrator"))).await;
    let assignments = chain.admin.get(&format!("/users/{ada}/roles")).await.data();
    let assignment = id(&assignments[0]);
    let cashier = ids::role("cashier");
    for (method, path, body) in [
        ("DELETE", format!("/users/{ada}/roles/{assignment}"), None),
        ("DELETE", format!("/users/{ada}"), None),
        ("POST", format!("/users/{ada}/deactivate"), Some(json!({}))),
        ("PUT", format!("/roles/{cashier}/permissions"), Some(json!({"permissions": []}))),
    ] {
        let method = method.parse().expect("a method");
        assert_eq!(keeper.call(method, &path, body).await.refused(403), "escalation", "{path}");
    }
    assert_eq!(chain.admin.get(&format!("/users/{ada}/roles")).await.data(), assignments);
    let held = chain.admin.get(&format!("/roles/{cashier}")).await.data()["permissions"].clone();
    assert_eq!(held.as_array().map(Vec::len), Some(4));
}
