//! Why a user may, and the log of what was done.

use serde_json::{Value as Json, json};
use tillkeep_model::ids;
use uuid::Uuid;

use super::kit::{Kit, column};

#[tokio::test]
async fn an_explanation_names_the_roles_that_decide() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (here, there) = (kit.store("S01").await, kit.store("S02").await);
    let mia = kit.person("mia", &[("store_manager", Some(here)), ("cashier", None)]).await;
    let ask = async |code: &str, store: Option<Uuid>| {
        let store = store.map_or(String::new(), |id| format!("&storeId={id}"));
        kit.get(&admin, &format!("/permissions/explain?userId={}&code={code}{store}", mia.id)).await.data()
    };
    let voids = ask("pos.void", Some(here)).await;
    assert_eq!((&voids["allowed"], &voids["reason"]), (&json!(true), &json!("it comes with: Store Manager")));
    let elsewhere = ask("pos.void", Some(there)).await;
    assert_eq!(elsewhere["allowed"], false);
    assert!(elsewhere["reason"].as_str().is_some_and(|text| text.contains("another store")), "{elsewhere}");
    let sells = ask("pos.sell", Some(there)).await;
    assert_eq!((&sells["allowed"], &sells["reason"]), (&json!(true), &json!("it comes with: Cashier")));
    let pattern = ask("transfers.*", None).await;
    let counting: Vec<_> = pattern["assignments"].as_array().expect("grounds").iter().collect();
    assert_eq!(pattern["allowed"], true);
    assert_eq!(counting.iter().map(|ground| ground["matching"].as_array().map_or(0, Vec::len)).sum::<usize>(), 5);
    assert_eq!(ask("users.edit", None).await["reason"], "no role of this user holds it");
    kit.post(&admin, &format!("/users/{}/deactivate", mia.id), json!({})).await.is(200);
    let gone = ask("pos.sell", None).await;
    assert_eq!((&gone["allowed"], &gone["reason"]), (&json!(false), &json!("the user is not active")));
}

#[tokio::test]
async fn what_was_never_given_is_explained_with_the_roles_that_would_give_it() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let here = kit.store("S01").await;
    let cleo = kit.person("cleo", &[("cashier", Some(here))]).await;
    kit.role(&admin, "undoer", &["pos.void"]).await;
    let gone = kit.role(&admin, "former", &["pos.void"]).await;
    kit.delete(&admin, &format!("/roles/{gone}")).await.is(204);
    let would_give = async |code: &str| -> Vec<Json> {
        let path = format!("/permissions/explain?userId={}&code={code}", cleo.id);
        let data = kit.get(&admin, &path).await.data();
        data["wouldGive"].as_array().expect("roles").iter().map(|role| role["code"].clone()).collect()
    };
    assert_eq!(would_give("pos.void").await, ["administrator", "store_manager", "undoer"]);
    assert_eq!(would_give("roles.*").await, ["administrator"]);
    assert!(would_give("pos.sell").await.is_empty(), "what is held has not to be given");
}

#[tokio::test]
async fn an_explanation_is_what_the_server_then_does() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let people = [
        kit.person("cleo", &[("cashier", Some(store))]).await,
        kit.person("mia", &[("store_manager", Some(store))]).await,
        kit.person("nobody", &[]).await,
        admin.clone(),
    ];
    for (code, path) in
        [("products.view", "/products"), ("transfers.create", "/stores"), ("roles.view", "/permissions")]
    {
        for person in &people {
            let path_of_question = format!("/permissions/explain?userId={}&code={code}", person.id);
            let allowed = kit.get(&admin, &path_of_question).await.data()["allowed"] == true;
            let done = kit.get(person, path).await.status == 200;
            assert_eq!(allowed, done, "{code} of {}", person.id);
        }
    }
}

#[tokio::test]
async fn an_explanation_is_refused_for_what_does_not_exist_or_is_out_of_reach() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (here, there) = (kit.store("S01").await, kit.store("S02").await);
    kit.role(&admin, "auditor", &["roles.view"]).await;
    let auditor = kit.person("ada", &[("auditor", Some(here))]).await;
    let stranger = kit.person("sam", &[("cashier", Some(there))]).await;
    let ask = |user: Uuid, rest: &str| format!("/permissions/explain?userId={user}&{rest}");
    kit.get(&admin, &ask(auditor.id, "code=pos.fly")).await.names("code");
    kit.get(&admin, &ask(auditor.id, "code=*")).await.names("code");
    kit.get(&admin, &ask(Uuid::now_v7(), "code=pos.sell")).await.refused(404, "not_found");
    kit.get(&auditor, &ask(auditor.id, "code=pos.sell")).await.is(200);
    kit.get(&auditor, &ask(stranger.id, "code=pos.sell")).await.refused(404, "not_found");
    kit.get(&auditor, &ask(auditor.id, &format!("code=pos.sell&storeId={there}"))).await.refused(403, "scope");
    kit.get(&stranger, &ask(stranger.id, "code=pos.sell")).await.refused(403, "forbidden");
}

#[tokio::test]
async fn the_audit_log_says_who_did_what_newest_first() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let role = kit.role(&admin, "clerk", &["products.view"]).await;
    let begin = kit.clock.now();
    kit.put(&admin, &format!("/roles/{role}/permissions"), json!({"permissions": []})).await.is(200);
    kit.post(&admin, &format!("/stores/{store}/provision"), json!({})).await.is(200);
    let log = kit.get(&admin, &format!("/audit-log?userId={}&from={begin}", admin.id)).await.data();
    assert_eq!(column(&log, "action"), ["store.provision", "role.permissions"]);
    assert_eq!((&log[0]["username"], &log[0]["entityId"]), (&json!("admin"), &json!(store)));
    assert_eq!(log[1]["details"], json!({"from": ["products.view"], "to": [], "address": "0.0.0.0"}));
    assert_eq!(log[0]["previousHash"], log[1]["hash"]);
    let none = kit.get(&admin, &format!("/audit-log?to={begin}&action=store.provision")).await.data();
    assert_eq!(none, json!([]));
    kit.get(&admin, "/audit-log?from=yesterday").await.names("from");
    kit.get(&admin, "/audit-log?colour=red").await.refused(422, "unknown_parameter");
}

#[tokio::test]
async fn the_audit_log_of_all_stores_is_not_for_the_people_of_one() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let local = kit.person("lea", &[("administrator", Some(store))]).await;
    kit.get(&local, "/audit-log").await.refused(403, "scope");
    kit.get(&admin, &format!("/audit-log?entityId={}", ids::role("cashier"))).await.is(200);
}
