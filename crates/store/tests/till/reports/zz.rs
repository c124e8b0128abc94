//! A ZZ adds up the Z reports since the last one, of a register or of the store.

use serde_json::{Value as Json, json};
use tillkeep_storage::entity::{register, zz_report};
use uuid::Uuid;

use super::{close, day, of_register, open, row, zz};
use crate::kit::{Person, Shop, rows};

async fn two_tills() -> (Shop, Person, Person) {
    let shop = Shop::open().await;
    shop.insert::<register::Entity>([rows::register("02", "T2")]).await;
    let (first, second) = (shop.sign_in("administrator").await, shop.sign_in_at("administrator", "T2").await);
    (shop, first, second)
}

fn numbers(zz: &Json) -> Vec<&Json> {
    zz["totals"]["rows"].as_array().expect("rows").iter().map(|row| &row["sessionNumber"]).collect()
}

#[tokio::test]
async fn a_zz_takes_the_drawers_of_its_register_since_the_last_one_and_each_once() {
    let (shop, person, other) = two_tills().await;
    zz(&person, of_register("01")).await.refused(409, "nothing_to_report");
    let sessions = [day(&person, "01", "T1", 700).await, day(&person, "01", "T1", 1100).await];
    day(&other, "02", "T2", 500).await;
    let made = zz(&person, of_register("01")).await.ok(201);
    assert_eq!((&made["zzNumber"], &made["registerCode"]), (&json!(1), &json!("01")));
    assert_eq!((&made["fromSessionNumber"], &made["toSessionNumber"]), (&json!(1), &json!(2)));
    assert_eq!(numbers(&made), ["1", "2"]);
    let sums = &made["totals"]["sums"];
    assert_eq!((&sums["totalAmount"], &sums["saleCount"]), (&json!(1800), &json!(2)));
    assert_eq!(made["totals"]["runningTotal"], json!({"before": 0, "after": 1800}));
    for session in &sessions {
        assert_eq!(row(&shop, session).await.zz_number, Some(1));
    }
    let said = shop.outbox().await.into_iter().filter(|entry| sessions.contains(&entry.entity_id.to_string()));
    let last: Vec<String> = said.map(|entry| entry.payload).filter(|text| text.contains(r#""zzNumber":1"#)).collect();
    assert_eq!(last.len(), 2, "headquarters hears it with each drawer");
    zz(&person, of_register("01")).await.refused(409, "nothing_to_report");
    day(&person, "01", "T1", 1300).await;
    let next = zz(&person, of_register("01")).await.ok(201);
    assert_eq!((&next["zzNumber"], numbers(&next)), (&json!(2), vec![&json!("3")]));
    assert_eq!(next["totals"]["runningTotal"], json!({"before": 1800, "after": 3100}));
    let listed = person.get("/reports/zz?registerCode=01").await.ok(200);
    assert_eq!(listed, json!([next, made]), "as they were made");
    assert_eq!(person.get(&format!("/reports/zz/{}", made["id"].as_str().expect("an id"))).await.ok(200), made);
    person.get(&format!("/reports/zz/{}", Uuid::now_v7())).await.refused(404, "not_found");
}

#[tokio::test]
async fn a_zz_of_the_store_has_numbers_of_its_own() {
    let (shop, person, other) = two_tills().await;
    let first = day(&person, "01", "T1", 700).await;
    let second = day(&other, "02", "T2", 500).await;
    zz(&person, of_register("01")).await.ok(201);
    let made = zz(&person, json!({"scope": "store"})).await.ok(201);
    assert_eq!((&made["registerId"], &made["zzNumber"]), (&Json::Null, &json!(1)));
    assert_eq!(made["totals"]["sums"]["totalAmount"], json!(1200));
    assert_eq!(made["totals"]["runningTotal"], json!({"before": 0, "after": 1200}), "of both registers");
    let of = async |session: &str| {
        let row = row(&shop, session).await;
        (row.zz_number, row.store_zz_number)
    };
    assert_eq!((of(&first).await, of(&second).await), ((Some(1), Some(1)), (None, Some(1))));
    zz(&person, json!({"scope": "store"})).await.refused(409, "nothing_to_report");
    zz(&person, of_register("02")).await.ok(201);
}

#[tokio::test]
async fn a_zz_waits_for_the_drawers_that_belong_into_it() {
    let (_shop, person, other) = two_tills().await;
    day(&person, "01", "T1", 700).await;
    let open = open(&other, "02").await;
    let refused = zz(&person, json!({"scope": "store"})).await.refused(409, "session_open");
    assert_eq!(refused["sessionIds"], json!([open]));
    zz(&person, of_register("02")).await.refused(409, "session_open");
    zz(&person, of_register("01")).await.ok(201);
    close(&other, &open, 20_000).await;
    zz(&person, json!({"scope": "store"})).await.ok(201);
}

#[tokio::test]
async fn the_same_zz_is_made_once_however_often_it_is_asked_for() {
    let (shop, person, _) = two_tills().await;
    day(&person, "01", "T1", 700).await;
    let mut body = of_register("01");
    body["id"] = json!(Uuid::now_v7());
    let made = person.post("/reports/zz", body.clone()).await.ok(201);
    assert_eq!(person.post("/reports/zz", body.clone()).await.ok(200), made);
    let store = json!({"id": body["id"], "scope": "store"});
    person.post("/reports/zz", store).await.refused_at(409, "id_reused", "id");
    assert_eq!(shop.count::<zz_report::Entity>().await, 1);
    for (wrong, field) in [
        (json!({"id": Uuid::now_v7()}), "registerId"),
        (json!({"id": Uuid::now_v7(), "registerId": body["registerId"], "scope": "store"}), "scope"),
        (json!({"id": Uuid::now_v7(), "scope": "chain"}), "scope"),
        (of_register("01"), "id"),
    ] {
        person.post("/reports/zz", wrong).await.refused_at(422, "validation", field);
    }
    person
        .post("/reports/zz", json!({"id": Uuid::now_v7(), "registerId": Uuid::now_v7()}))
        .await
        .refused(404, "not_found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_that_make_one_at_once_one_gets_the_drawers() {
    let (shop, person, _) = two_tills().await;
    day(&person, "01", "T1", 700).await;
    let mut sent = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let person = person.clone();
        sent.spawn(async move { zz(&person, of_register("01")).await.status });
    }
    let mut statuses = sent.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses, [[201].as_slice(), &[409; 7]].concat());
    assert_eq!(shop.count::<zz_report::Entity>().await, 1);
}

#[tokio::test]
async fn numbers_of_drawers_that_are_missing_are_named() {
    let (shop, person, _) = two_tills().await;
    day(&person, "01", "T1", 700).await;
    zz(&person, of_register("01")).await.ok(201);
    for amount in [100, 200, 300, 400] {
        day(&person, "01", "T1", amount).await;
    }
    shop.run("DELETE FROM register_sessions WHERE session_number IN (2, 4)").await;
    let made = zz(&person, of_register("01")).await.ok(201);
    assert_eq!(numbers(&made), ["3", "5"]);
    let gap = |number: i64| json!({"registerCode": "01", "letter": "", "from": number, "to": number});
    assert_eq!(made["totals"]["gaps"], json!([gap(2), gap(4)]), "after the last one that was taken, and between");
}

#[tokio::test]
async fn a_zz_that_was_lost_is_put_together_again_from_its_drawers_and_no_number_is_given_twice() {
    let (shop, person, other) = two_tills().await;
    day(&person, "01", "T1", 700).await;
    day(&other, "02", "T2", 500).await;
    let lost = zz(&person, of_register("01")).await.ok(201);
    let of_store = zz(&person, json!({"scope": "store"})).await.ok(201);
    // The drawers came back from headquarters, which does not have these.
    shop.run("DELETE FROM zz_reports").await;
    let listed = person.get("/reports/zz?sort=zzNumber").await.ok(200);
    let found = |register: &Json| listed.as_array().expect("a list").iter().find(|zz| zz["registerId"] == *register);
    for known in [&lost, &of_store] {
        let again = found(&known["registerId"]).expect("the same one");
        assert_eq!((&again["totals"], &again["zzNumber"]), (&known["totals"], &known["zzNumber"]));
        assert_eq!(again["createdBy"], Json::Null, "nobody knows who made it");
    }
    assert_eq!(person.get("/reports/zz?sort=zzNumber").await.ok(200), listed);
    shop.run("DELETE FROM zz_reports").await;
    day(&person, "01", "T1", 900).await;
    assert_eq!(zz(&person, of_register("01")).await.ok(201)["zzNumber"], json!(2));
}

#[tokio::test]
async fn a_zz_waits_for_the_drawers_that_come_back_from_headquarters() {
    let (shop, person, _) = two_tills().await;
    day(&person, "01", "T1", 700).await;
    zz(&person, of_register("01")).await.ok(201);
    day(&person, "01", "T1", 900).await;
    shop.run("DELETE FROM zz_reports").await;
    shop.run("INSERT INTO sync_state (key, value) VALUES ('own_documents_due', 'yes')").await;
    zz(&person, of_register("01")).await.refused(503, "store_not_ready");
    assert_eq!(person.get("/reports/zz").await.ok(200), json!([]), "of half its drawers it would stay so");
    shop.run("UPDATE sync_state SET value = 'no' WHERE key = 'own_documents_due'").await;
    assert_eq!(zz(&person, of_register("01")).await.ok(201)["zzNumber"], json!(2));
}

#[tokio::test]
async fn a_year_of_drawers_is_one_zz() {
    let (shop, person, _) = two_tills().await;
    let model = day(&person, "01", "T1", 700).await;
    let one = row(&shop, &model).await;
    let more = (2..=400).map(|number| tillkeep_storage::entity::register_session::Model {
        id: Uuid::now_v7(),
        session_number: number,
        ..one.clone()
    });
    for chunk in more.collect::<Vec<_>>().chunks(50) {
        shop.insert::<tillkeep_storage::entity::register_session::Entity>(chunk.to_vec()).await;
    }
    let made = zz(&person, of_register("01")).await.ok(201);
    assert_eq!(made["totals"]["rows"].as_array().map(Vec::len), Some(400));
    assert_eq!(made["totals"]["sums"]["saleCount"], json!(400));
    zz(&person, of_register("01")).await.refused(409, "nothing_to_report");
}
