//! What every kind of row has in common: versions, conflicts, repeated requests, bad input, tombstones.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::Instant;
use tillkeep_storage::audit;
use uuid::Uuid;

use super::kit::{Kit, general, id_of, untaxed};

/// A kind with a small valid row.
fn kinds() -> Vec<(&'static str, Json, &'static str)> {
    vec![
        ("/departments", json!({"code": "X", "name": "X"}), "name"),
        ("/tax-rates", json!({"code": "X", "name": "X", "ratePpm": 1}), "name"),
        ("/tax-groups", json!({"code": "X", "name": "X"}), "name"),
        ("/tenders", json!({"code": "X", "name": "X", "kind": "card"}), "name"),
        (
            "/products",
            json!({"sku": "X", "name": "X", "price": 1, "departmentId": general(), "taxGroupId": untaxed()}),
            "name",
        ),
        ("/customers", json!({"lastName": "X"}), "lastName"),
        ("/roles", json!({"code": "xx", "name": "X"}), "name"),
        ("/stores", json!({"code": "XX", "name": "X"}), "name"),
        ("/users", json!({"username": "x", "displayName": "X"}), "displayName"),
    ]
}

#[tokio::test]
async fn a_change_needs_the_version_it_was_made_from_when_one_is_sent() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for (path, body, field) in kinds() {
        let made = kit.post(&admin, path, body).await.data();
        let (one, version) = (format!("{path}/{}", id_of(&made)), made["syncVersion"].as_i64().expect("version"));
        assert!(version > 0, "{path}");
        let changed = kit.patch(&admin, &one, json!({field: "Y", "expectedVersion": version})).await.data();
        assert!(changed["syncVersion"].as_i64() > Some(version), "{path}: a change has a new version");
        let late = kit.patch(&admin, &one, json!({field: "Z", "expectedVersion": version})).await;
        late.refused(409, "version_conflict");
        assert_eq!(late.body["current"][field], "Y", "{path}: the present row is shown");
        let same = kit.patch(&admin, &one, json!({field: "Y"})).await.data();
        assert_eq!(same["syncVersion"], changed["syncVersion"], "{path}: nothing new, no version");
        kit.patch(&admin, &one, json!({field: "Z", "expectedVersion": "1"})).await.names("expectedVersion");
    }
}

#[tokio::test]
async fn whoever_was_late_learns_who_changed_the_row_and_when() {
    let kit = Kit::new().await;
    let (admin, eva) = (kit.admin().await, kit.person("eva", &[("administrator", None)]).await);
    for (path, body, field) in kinds() {
        let made = kit.post(&admin, path, body).await.data();
        let one = format!("{path}/{}", id_of(&made));
        kit.patch(&eva, &one, json!({field: "Y"})).await.is(200);
        let late = kit.patch(&admin, &one, json!({field: "Z", "expectedVersion": made["syncVersion"]})).await;
        late.refused(409, "version_conflict");
        assert_eq!(late.body["changedBy"], json!({"id": eva.id, "name": "eva"}), "{path}");
        let (changed, row) = (late.body["changedAt"].as_str(), late.body["current"]["updatedAt"].as_str());
        assert!(changed.is_some() && changed >= row, "{path}: {changed:?} {row:?}");
    }
}

#[tokio::test]
async fn what_the_log_says_of_a_row_long_after_a_change_is_not_taken_for_the_change() {
    let kit = Kit::new().await;
    let (admin, eva) = (kit.admin().await, kit.person("eva", &[("administrator", None)]).await);
    let made = kit.post(&admin, "/departments", json!({"code": "X", "name": "X"})).await.data();
    let one = format!("/departments/{}", id_of(&made));
    let changed = kit.patch(&eva, &one, json!({"name": "Y"})).await.data();
    kit.clock.advance(10 * 60 * 1000);
    let line = audit::Entry {
        user_id: Some(admin.id),
        action: "look",
        entity_type: Some("departments"),
        entity_id: Some(id_of(&made).to_string()),
        ..audit::Entry::default()
    };
    let tx = kit.hq.db().begin().await.expect("begin");
    let at = Instant::parse(changed["updatedAt"].as_str().expect("a moment")).expect("an instant");
    audit::record(&tx, line, at.plus_millis(10 * 60 * 1000)).await.expect("a line");
    tx.commit().await.expect("commit");
    let late = kit.patch(&admin, &one, json!({"name": "Z", "expectedVersion": made["syncVersion"]})).await;
    late.refused(409, "version_conflict");
    assert_eq!(late.body["changedBy"]["name"], "eva", "{}", late.text);
}

#[tokio::test]
async fn a_delete_may_name_the_version_that_it_was_decided_from() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for (path, body, field) in kinds().into_iter().filter(|kind| kind.0 != "/stores") {
        let made = kit.post(&admin, path, body).await.data();
        let one = format!("{path}/{}", id_of(&made));
        let changed = kit.patch(&admin, &one, json!({field: "Y"})).await.data();
        let late = kit.delete(&admin, &format!("{one}?expectedVersion={}", made["syncVersion"])).await;
        late.refused(409, "version_conflict");
        assert_eq!(late.body["current"][field], "Y", "{path}: the present row is shown");
        kit.delete(&admin, &format!("{one}?expectedVersion=one")).await.names("expectedVersion");
        kit.delete(&admin, &format!("{one}?expectedVersion={}", changed["syncVersion"])).await.is(204);
    }
}

#[tokio::test]
async fn the_same_post_again_is_answered_with_the_row_that_is_there() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for (path, mut body, field) in kinds() {
        let id = Uuid::now_v7();
        body["id"] = json!(id);
        kit.post(&admin, path, body.clone()).await.is(201);
        let again = kit.post(&admin, path, body.clone()).await;
        again.is(200);
        assert_eq!(id_of(&again.data()), id, "{path}");
        body[field] = json!("other");
        kit.post(&admin, path, body).await.refused(409, "id_reused");
    }
}

#[tokio::test]
async fn a_bad_body_is_refused_by_the_name_of_the_field() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for (path, body, field) in kinds() {
        let made = kit.post(&admin, path, body.clone()).await.data();
        let one = format!("{path}/{}", id_of(&made));
        let mut fresh = body.clone();
        for (key, value) in [("code", json!("YY")), ("sku", json!("YY")), ("username", json!("yy"))] {
            if fresh.get(key).is_some() {
                fresh[key] = value;
            }
        }
        let with = |key: &str, value: Json| {
            let mut body = fresh.clone();
            body[key] = value;
            body
        };
        for (key, value) in [
            ("surprise", json!(1)),
            ("syncVersion", json!(1)),
            ("createdAt", json!("2026-01-01T00:00:00Z")),
            (field, json!("nul\0")),
            (field, json!("x".repeat(5000))),
            (field, json!(7)),
            ("isActive", json!("yes")),
            ("id", json!("no id")),
        ] {
            let got = kit.post(&admin, path, with(key, value.clone())).await;
            got.names(key);
            got.is(422);
            if key != "id" {
                kit.patch(&admin, &one, json!({key: value})).await.names(key);
            }
        }
        kit.post(&admin, path, json!([])).await.is(422);
        kit.post(&admin, path, json!({})).await.is(422);
        kit.patch(&admin, &format!("{path}/{}", Uuid::now_v7()), json!({field: "Y"})).await.is(404);
        kit.patch(&admin, &format!("{path}/none"), json!({field: "Y"})).await.is(404);
    }
}

#[tokio::test]
async fn a_deleted_row_travels_as_a_row_with_a_new_version() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for (path, body, _) in kinds().into_iter().filter(|kind| !["/stores", "/users"].contains(&kind.0)) {
        let made = kit.post(&admin, path, body.clone()).await.data();
        let one = format!("{path}/{}", id_of(&made));
        kit.delete(&admin, &one).await.is(204);
        kit.delete(&admin, &one).await.is(404);
        let living = kit.get(&admin, &format!("{path}?sort=createdAt")).await.data();
        assert!(living.as_array().expect("list").iter().all(|row| row["id"] != made["id"]), "{path}");
        let all = kit.get(&admin, &format!("{path}?includeDeleted=true")).await.data();
        let row = all.as_array().expect("list").iter().find(|row| row["id"] == made["id"]).cloned().expect("row");
        assert!(row["deletedAt"].is_string(), "{path}");
        assert!(row["syncVersion"].as_i64() > made["syncVersion"].as_i64(), "{path}");
        kit.post(&admin, path, body).await.is(201);
    }
}

#[tokio::test]
async fn a_code_belongs_to_one_living_row() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for (path, body, _) in kinds().into_iter().filter(|kind| kind.1.get("code").is_some()) {
        kit.post(&admin, path, body.clone()).await.is(201);
        let again = kit.post(&admin, path, body).await;
        again.refused(409, "duplicate_code");
        again.names("code");
    }
}

#[tokio::test]
async fn a_department_is_in_a_tree_of_four_levels() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let mut above = Json::Null;
    let mut levels = Vec::new();
    for level in 1..=4 {
        let body = json!({"code": format!("L{level}"), "name": "Level", "parentId": above});
        let row = kit.post(&admin, "/departments", body).await.data();
        above = row["id"].clone();
        levels.push(row);
    }
    kit.post(&admin, "/departments", json!({"code": "L5", "name": "Level", "parentId": above})).await.names("parentId");
    let first = format!("/departments/{}", id_of(&levels[0]));
    kit.patch(&admin, &first, json!({"parentId": above})).await.names("parentId");
    let root = kit.post(&admin, "/departments", json!({"code": "ROOT", "name": "Root"})).await.data();
    kit.patch(&admin, &first, json!({"parentId": root["id"]})).await.names("parentId");
    kit.delete(&admin, &first).await.refused(409, "in_use");
    kit.post(&admin, "/departments", json!({"code": "Q", "name": "Q", "parentId": Uuid::now_v7()}))
        .await
        .names("parentId");
}
