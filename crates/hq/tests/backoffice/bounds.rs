//! What one store, or one person, can make headquarters keep, show or believe.

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::entity::{audit_log, customer, user};
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use uuid::Uuid;

use super::kit::{Got, Kit, Person};

fn customer_of(store: Uuid, number: usize) -> Json {
    let customer = Uuid::now_v7();
    let data = json!({"id": customer, "customerNumber": format!("S01-{number}"), "firstName": "Ada", "createdAt": "2026-11-20T12:00:00.000Z"});
    json!({
        "store_id": store, "entity_type": "customers", "entity_id": customer, "action": "create", "data": data,
        "timestamp": "2026-11-20T12:00:00.000Z",
    })
}

fn codes(results: &Json) -> Vec<Json> {
    results.as_array().expect("results").iter().map(|result| result["code"].clone()).collect()
}

#[tokio::test]
async fn a_token_makes_so_many_customers_an_hour_and_the_dashboard_says_of_which_store() {
    let mut kit = Kit::new().await;
    kit.settings.new_customers_per_hour = 3;
    kit.restart().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let token = kit.sync_token(store);
    let machine = Person { id: store, token: token.clone() };
    let hello = json!({"nodeEpoch": "n1", "storeVersion": "0.2.0"});
    kit.post(&machine, "/sync/handshake", hello).await.is(200);
    let all: Vec<Json> = (1..=5).map(|number| customer_of(store, number)).collect();
    // Whatever else is wrong with it.
    let is_alarmed = async || {
        let alarms = kit.get(&admin, "/sync/dashboard").await.data()["stores"][0]["alarms"].clone();
        alarms.as_array().expect("alarms").iter().any(|alarm| alarm["code"] == "too_many_new_customers")
    };
    let first = kit.push(&token, &all[..3]).await;
    assert_eq!((codes(&first), is_alarmed().await), (vec![Json::Null; 3], false));
    let rest = kit.push(&token, &all[3..]).await;
    assert_eq!(codes(&rest), ["try_later"; 2]);
    assert!(rest[0]["error"].as_str().is_some_and(|text| text.contains("3 new customers an hour")), "{rest}");
    assert!(is_alarmed().await);
    assert_eq!(kit.get(&admin, "/sync/errors").await.data(), json!([]), "nothing was refused");
    kit.clock.advance(3_600_000);
    let later = kit.push(&token, &all[3..]).await;
    assert_eq!(codes(&later), vec![Json::Null; 2]);
    assert_eq!(customer::Entity::find().count(kit.hq.db().reader()).await.expect("a count"), 5);
}

#[tokio::test]
async fn a_store_that_asked_once_who_signs_in_makes_no_more_customers_by_naming_an_older_release() {
    let mut kit = Kit::new().await;
    kit.settings.new_customers_per_hour = 3;
    kit.restart().await;
    let store = kit.store("S01").await;
    let token = kit.sync_token(store);
    let machine = Person { id: store, token: token.clone() };
    for said in [json!({"storeVersion": "0.2.0", "signIn": true}), json!({"storeVersion": "0.1.0"})] {
        let mut hello = json!({"nodeEpoch": "n1"});
        hello.as_object_mut().expect("an object").extend(said.as_object().expect("an object").clone());
        kit.post(&machine, "/sync/handshake", hello).await.is(200);
    }
    let all: Vec<Json> = (1..=5).map(|number| customer_of(store, number)).collect();
    assert_eq!(codes(&kit.push(&token, &all[..3]).await), vec![Json::Null; 3]);
    assert_eq!(codes(&kit.push(&token, &all[3..]).await), ["try_later"; 2]);
}

#[tokio::test]
async fn a_handshake_says_no_more_than_a_store_does_and_the_refusal_names_the_field() {
    let kit = Kit::new().await;
    let store = kit.store("S01").await;
    let machine = Person { id: store, token: kit.sync_token(store) };
    for (key, value, field) in [
        ("nodeEpoch", json!("x".repeat(129)), "nodeEpoch"),
        ("storeVersion", json!("x".repeat(900_000)), "storeVersion"),
        ("alarms", json!("x".repeat(4_001)), "alarms"),
        ("fingerprints", json!({"products": "x".repeat(129)}), "fingerprints"),
        ("dead", json!(vec![json!({"seq": 1, "nodeEpoch": "n"}); 501]), "dead"),
    ] {
        let mut body = json!({"nodeEpoch": "n1", "storeVersion": "0.2.0"});
        body[key] = value;
        let got = kit.post(&machine, "/sync/handshake", body).await;
        got.refused(422, "validation");
        got.names(field);
    }
    kit.post(&machine, "/sync/handshake", json!({"nodeEpoch": "n1", "storeVersion": "0.2.0"})).await.is(200);
}

#[tokio::test]
async fn the_address_in_a_snippet_is_that_of_the_browser_and_never_what_a_stranger_passes_on() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let provision = async |headers: &[(&str, &str)]| -> Json {
        let mut request = Request::post(format!("/api/v1/stores/{store}/provision"))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::AUTHORIZATION, format!("Bearer {}", admin.token));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = Body::from(json!({"rotate": true}).to_string());
        kit.send(request.body(body).expect("a request")).await.data()
    };
    let env = |given: &Json, more: &str| {
        let token = given["syncToken"].as_str().expect("a token");
        assert_eq!(given["env"], format!("SYNC_TOKEN={token}\n{more}"));
        assert_eq!(given["publicUrlMissing"], more.is_empty());
    };
    env(&provision(&[]).await, "");
    let given = provision(&[("Host", "hq.example.com:8080")]).await;
    env(&given, "HQ_URL=http://hq.example.com:8080\nALLOW_INSECURE_HQ=1\n");
    let wanted = json!({"url": "http://hq.example.com:8080", "source": "browser", "warning": null});
    assert_eq!(given["address"], wanted);
    // On loopback a server knows its address, and that of whoever asks through a proxy is another one.
    kit.hq.listens_here("http://127.0.0.1:8080");
    let given = provision(&[]).await;
    env(&given, "HQ_URL=http://127.0.0.1:8080\n");
    assert_eq!(given["address"]["source"], "listener");
    assert!(given["address"]["warning"].as_str().is_some_and(|text| text.contains("public_url")), "{given}");
    let given = provision(&[("Host", "localhost:8080")]).await;
    env(&given, "HQ_URL=http://localhost:8080\n");
    assert!(given["address"]["warning"].is_string(), "never without a word: {given}");
    for forwarded in
        [("X-Forwarded-For", "198.51.100.7"), ("X-Forwarded-Host", "evil.example"), ("Forwarded", "host=evil.example")]
    {
        let given = provision(&[forwarded, ("Host", "evil.example")]).await;
        assert!(!given.to_string().contains("evil"), "{given}");
        env(&given, "");
    }
}

#[tokio::test]
async fn a_name_from_before_the_rule_stays_readable_and_another_one_keeps_it() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let old = kit.person("ann", &[]).await;
    let tx = kit.hq.db().begin().await.expect("begin");
    user::Entity::update_many()
        .col_expr(user::Column::DisplayName, Expr::value("Ann\u{202e}nnA"))
        .filter(user::Column::Id.eq(old.id))
        .exec(&tx)
        .await
        .expect("an update");
    tx.commit().await.expect("commit");
    let path = format!("/users/{}", old.id);
    assert_eq!(kit.get(&admin, &path).await.data()["displayName"], "Ann\u{202e}nnA");
    kit.call(&admin, "PATCH", &path, Some(json!({"phone": "555"}))).await.is(200);
    let refused: Vec<Got> = vec![
        kit.call(&admin, "PATCH", &path, Some(json!({"displayName": "Ann\u{200b}a"}))).await,
        kit.post(&admin, "/users", json!({"username": "bob", "displayName": "B\u{2066}ob"})).await,
    ];
    for got in refused {
        got.refused(422, "validation");
        got.names("displayName");
    }
    kit.call(&admin, "PATCH", &path, Some(json!({"displayName": "Ann A."}))).await.is(200);
}

#[tokio::test]
async fn whoever_asks_for_more_than_they_have_is_in_the_log_once_a_minute_with_the_number() {
    let kit = Kit::new().await;
    let store = kit.store("S01").await;
    let cashier = kit.person("cas", &[("cashier", Some(store))]).await;
    let ask = async || kit.post(&cashier, "/products", json!({})).await.refused(403, "forbidden");
    let lines = async || {
        let select = audit_log::Entity::find().filter(audit_log::Column::Action.eq("refused"));
        let rows = select.all(kit.hq.db().reader()).await.expect("the log");
        let counts = rows.into_iter().map(|row| {
            assert_eq!((row.user_id, &row.details.0["code"]), (Some(cashier.id), &json!("forbidden")));
            row.details.0["count"].as_u64().expect("a number")
        });
        counts.collect::<Vec<_>>()
    };
    // The server keeps house by itself too, whenever it comes by.
    let noted = async |number: u64| loop {
        let lines = lines().await;
        if lines.iter().sum::<u64>() == number {
            return lines.len();
        }
        tokio::task::yield_now().await;
    };
    for _ in 0..25 {
        ask().await;
    }
    assert_eq!(noted(1).await, 1, "the first at once");
    kit.hq.auth.note_refusals(false).await;
    assert_eq!(lines().await, [1], "the minute is not over");
    kit.clock.advance(60_000);
    kit.hq.auth.note_refusals(false).await;
    assert_eq!(noted(25).await, 2);
    ask().await;
    kit.hq.auth.note_refusals(true).await;
    assert_eq!(noted(26).await, 3, "a server that stops leaves nothing behind");
}

#[tokio::test]
async fn the_dashboard_says_which_stores_have_registers_without_a_till() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let machine = Person { id: store, token: kit.sync_token(store) };
    let shown = async |said: Json| {
        let mut hello = json!({"nodeEpoch": "n1", "storeVersion": "0.2.0"});
        hello.as_object_mut().expect("an object").extend(said.as_object().expect("an object").clone());
        kit.post(&machine, "/sync/handshake", hello).await.is(200);
        kit.get(&admin, "/sync/dashboard").await.data()["stores"][0]["registersWithoutTill"].clone()
    };
    assert_eq!(shown(json!({})).await, Json::Null, "a store that says nothing of it");
    let noticed = async |who: &Person| {
        let all = kit.get(who, "/security/notices").await.data();
        all.as_array().expect("notices").iter().find(|notice| notice["kind"] == "registers_without_till").cloned()
    };
    kit.role(&admin, "lookout", &["users.view"]).await;
    let elsewhere = kit.person("elsewhere", &[("lookout", Some(kit.store("S02").await))]).await;
    assert_eq!(noticed(&admin).await, None);
    assert_eq!(shown(json!({"unenrolled": 2})).await, 2);
    let notice = noticed(&admin).await.expect("a notice");
    assert_eq!((&notice["count"], &notice["stores"]), (&json!(1), &json!([{"id": store, "code": "S01"}])));
    assert!(notice["text"].as_str().is_some_and(|text| text.starts_with("2 registers")), "{notice}");
    assert_eq!(noticed(&elsewhere).await, None, "of their own stores alone");
    assert_eq!(shown(json!({"unenrolled": 0})).await, 0);
    assert_eq!(noticed(&admin).await, None);
    assert_eq!(shown(json!({})).await, Json::Null, "of an older release again");
}
