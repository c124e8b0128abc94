//! Sales representatives: who they are and where they sell.

use serde_json::json;
use uuid::Uuid;

use super::kit::{Kit, id_of};

#[tokio::test]
async fn a_representative_names_a_user_and_a_store_that_are_there() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let rita = json!({"code": "R1", "name": "Rita", "userId": admin.id, "storeId": one, "commissionBps": 250});
    let made = kit.post(&admin, "/sales-reps", rita.clone()).await.data();
    assert_eq!((&made["commissionBasis"], &made["isActive"]), (&json!("net_sales"), &json!(true)));
    kit.post(&admin, "/sales-reps", rita).await.refused(409, "duplicate_code");
    for (field, value) in [
        ("userId", json!(Uuid::now_v7())),
        ("storeId", json!(Uuid::now_v7())),
        ("commissionBps", json!(10_001)),
        ("commissionBasis", json!("turnover")),
        ("email", json!("rita")),
        ("colour", json!("red")),
    ] {
        let mut body = json!({"code": "R2", "name": "Ron"});
        body[field] = value.clone();
        let got = kit.post(&admin, "/sales-reps", body).await;
        got.is(422);
        got.names(field);
        let path = format!("/sales-reps/{}", id_of(&made));
        kit.patch(&admin, &path, json!({field: value})).await.names(field);
    }
    kit.post(&admin, "/sales-reps", json!({"code": "R3", "name": "Rosa"})).await.is(201);
    kit.post(&admin, "/sales-reps", json!({"code": "R4", "name": "Sam", "storeId": two})).await.is(201);
    let names = async |query: &str| {
        let got = kit.get(&admin, &format!("/sales-reps{query}")).await.data();
        got.as_array().expect("a list").iter().map(|row| row["name"].as_str().expect("a name").to_owned()).collect()
    };
    let of_one: Vec<String> = names(&format!("?storeId={one}")).await;
    assert_eq!(of_one, ["Rita", "Rosa"], "also those who sell everywhere");
    let all: Vec<String> = names("?sort=-name").await;
    assert_eq!(all, ["Sam", "Rosa", "Rita"]);
    let path = format!("/sales-reps/{}", id_of(&made));
    kit.patch(&admin, &path, json!({"isActive": false, "storeId": null})).await.is(200);
    let active: Vec<String> = names("?active=true").await;
    assert_eq!(active, ["Rosa", "Sam"]);
    kit.delete(&admin, &path).await.is(204);
    kit.get(&admin, &path).await.is(404);
    kit.post(&admin, "/sales-reps", json!({"code": "R1", "name": "Again"})).await.is(201);
}
