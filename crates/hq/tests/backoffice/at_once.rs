//! Requests that arrive at the same moment: what one of them decides, the other one sees.

use std::time::Duration;

use serde_json::json;
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::auth::new_pin;
use tillkeep_model::{ErrorCode, ids};

use super::kit::{Kit, Person, column, id_of};

async fn both(kit: &Kit, one: (&Person, &str, &str), other: (&Person, &str, &str)) -> [u16; 2] {
    let call = async |(who, method, path): (&Person, &str, &str)| {
        kit.call(who, method, path, (method != "DELETE").then(|| json!({"isDefault": true}))).await.status
    };
    tokio::join!(call(one), call(other)).into()
}

#[tokio::test]
async fn many_writes_at_once_all_succeed() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let post = async |number: usize| {
        let body = json!({"code": format!("D{number}"), "name": "Department"});
        kit.post(&admin, "/departments", body).await
    };
    let mut versions = Vec::new();
    for got in futures_util::future::join_all((1..=6).map(post)).await {
        got.is(201);
        versions.push(got.data()["syncVersion"].as_i64().expect("version"));
    }
    versions.sort_unstable();
    versions.dedup();
    assert_eq!(versions.len(), 6, "each row has a version of its own");
}

#[tokio::test]
async fn the_same_code_at_once_is_given_to_one() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let body = json!({"code": "X", "name": "X"});
    let (one, other) =
        tokio::join!(kit.post(&admin, "/departments", body.clone()), kit.post(&admin, "/departments", body));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409], "{} {}", one.text, other.text);
}

#[tokio::test]
async fn two_administrators_do_not_remove_each_other() {
    let kit = Kit::new().await;
    let (one, other) = (kit.admin().await, kit.person("otto", &[("administrator", None)]).await);
    let mut paths = Vec::new();
    for person in [&one, &other] {
        let roles = kit.get(&one, &format!("/users/{}/roles", person.id)).await.data();
        paths.push(format!("/users/{}/roles/{}", person.id, id_of(&roles[0])));
    }
    let statuses = both(&kit, (&one, "DELETE", &paths[1]), (&other, "DELETE", &paths[0])).await;
    assert_eq!(statuses.iter().filter(|status| **status == 204).count(), 1, "{statuses:?}");
}

#[tokio::test]
async fn of_two_new_default_groups_one_remains() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let mut paths = Vec::new();
    for code in ["A", "B"] {
        let made = kit.post(&admin, "/tax-groups", json!({"code": code, "name": code})).await.data();
        paths.push(format!("/tax-groups/{}", id_of(&made)));
    }
    let statuses = both(&kit, (&admin, "PATCH", &paths[0]), (&admin, "PATCH", &paths[1])).await;
    let defaults = kit.get(&admin, "/tax-groups?isDefault=true").await.data();
    assert_eq!(column(&defaults, "code").len(), 1, "{statuses:?}");
}

#[tokio::test]
async fn changes_of_different_fields_at_once_both_stay() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let cash = format!("/tenders/{}", ids::named("tender:CASH"));
    let (one, other) = tokio::join!(
        kit.patch(&admin, &cash, json!({"name": "Bar"})),
        kit.patch(&admin, &cash, json!({"sortOrder": 7}))
    );
    one.is(200);
    other.is(200);
    let row = kit.get(&admin, &cash).await.data();
    assert_eq!((&row["name"], &row["sortOrder"]), (&json!("Bar"), &json!(7)));
}

#[tokio::test]
async fn the_same_pin_at_once_is_given_to_one() {
    let kit = Kit::new().await;
    let (ann, bea) =
        (kit.person("ann", &[("cashier", None)]).await.id, kit.person("bea", &[("cashier", None)]).await.id);
    let hashed = kit.hq.auth.pins.hash("739154").await.expect("a hash");
    let (hq, now) = (kit.hq.clone(), kit.clock.now());
    let mut first = hq.db().begin().await.expect("begin");
    new_pin::set_pin(&hq.auth, &mut first, ann, &hashed, None, now).await.expect("it is free");
    let mut second = tokio::spawn(async move {
        let mut tx = hq.db().begin().await.expect("begin");
        new_pin::set_pin(&hq.auth, &mut tx, bea, &hashed, None, now).await
    });
    // A PIN alone names one person: whoever comes second waits for what becomes of the first.
    let waits = tokio::time::timeout(Duration::from_millis(500), &mut second).await.is_err();
    assert!(waits, "it was decided while the first one was open");
    kit.hq.commit(first).await.expect("commit");
    let refusal = second.await.expect("an answer").expect_err("taken");
    assert_eq!(refusal.code(), ErrorCode::PinNotAllowed);
}
