//! What new stores of a chain begin with.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::entity::audit_log;
use tillkeep_storage::raw::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::kit::{Kit, Person};

async fn new_store(kit: &Kit, admin: &Person, code: &str, more: Json) -> Json {
    let mut body = json!({"code": code, "name": format!("Store {code}")});
    for (key, value) in more.as_object().expect("an object") {
        body[key] = value.clone();
    }
    kit.post(admin, "/stores", body).await.data()
}

#[tokio::test]
async fn a_chain_says_its_country_currency_zone_and_language_once_and_new_stores_begin_with_them() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let unsaid = kit.get(&admin, "/chain").await.data();
    let wanted = json!({
        "isSet": false, "version": 0, "countryCode": "US", "currencyCode": "USD", "currencyExponent": 2, "timezone": "UTC",
        "locale": "en-US", "decimalsLocked": false,
        "address": {"source": "browser", "url": "http://hq.example:8080", "warning": null},
    });
    assert_eq!(unsaid, wanted);
    let before = new_store(&kit, &admin, "S01", json!({})).await;
    let german = json!({"countryCode": "DE", "currencyCode": "EUR", "timezone": "Europe/Berlin", "locale": "de-DE"});
    let said = kit.patch(&admin, "/chain", german.clone()).await.data();
    assert_eq!((&said["isSet"], &said["version"], &said["currencyCode"]), (&json!(true), &json!(1), &json!("EUR")));
    assert_eq!(kit.get(&admin, "/chain").await.data(), said);

    let new = new_store(&kit, &admin, "S02", json!({})).await;
    for (key, value) in german.as_object().expect("an object") {
        assert_eq!(&new[key], value, "{key}");
    }
    // Each keeps its own: what it says itself, and what it had.
    let own = json!({"currencyCode": "JPY", "timezone": "Asia/Tokyo", "countryCode": "JP", "locale": "ja"});
    let own = new_store(&kit, &admin, "S03", own).await;
    assert_eq!(
        (&own["currencyCode"], &own["currencyExponent"], &own["locale"]),
        (&json!("JPY"), &json!(0), &json!("ja"))
    );
    let id = before["id"].as_str().expect("an id");
    assert_eq!(kit.get(&admin, &format!("/stores/{id}")).await.data()["currencyCode"], "USD");
    // Sent again with another default in between, it is the same store.
    let again = json!({"id": new["id"], "code": "S02", "name": "Store S02"});
    kit.patch(&admin, "/chain", json!({"locale": "en-GB"})).await.is(200);
    assert_eq!(kit.post(&admin, "/stores", again).await.data()["locale"], "de-DE");

    let rows = audit_log::Entity::find().filter(audit_log::Column::Action.eq("chain.edit"));
    let rows = rows.all(kit.hq.db().reader()).await.expect("a log");
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row.details.0["to"]["currencyCode"] == "EUR"), "{rows:?}");
}

#[tokio::test]
async fn what_was_guessed_right_is_a_decision_and_the_same_again_is_no_change() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for _ in 0..2 {
        let said = kit.patch(&admin, "/chain", json!({"currencyCode": "USD"})).await.data();
        assert_eq!((&said["isSet"], &said["version"]), (&json!(true), &json!(1)));
    }
}

#[tokio::test]
async fn prices_that_are_there_fix_the_decimals_of_the_currency() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let yen = json!({"currencyCode": "JPY"});
    assert_eq!(kit.patch(&admin, "/chain", yen.clone()).await.data()["currencyExponent"], 0);
    kit.patch(&admin, "/chain", json!({"currencyCode": "USD"})).await.is(200);
    kit.product(&admin, "TEA", json!({"price": 1999})).await;
    assert_eq!(kit.get(&admin, "/chain").await.data()["decimalsLocked"], true);
    let got = kit.patch(&admin, "/chain", yen).await;
    got.refused(409, "currency_locked");
    got.names("currencyCode");
    kit.patch(&admin, "/chain", json!({"currencyCode": "EUR"})).await.is(200);
}

#[tokio::test]
async fn everybody_reads_the_chain_and_who_edits_all_stores_changes_it() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let cashier = kit.person("cash", &[("cashier", Some(store))]).await;
    assert_eq!(kit.get(&cashier, "/chain").await.data()["currencyExponent"], 2);
    kit.patch(&cashier, "/chain", json!({"locale": "de"})).await.refused(403, "forbidden");
    kit.role(&admin, "keeper", &["stores.edit"]).await;
    let keeper = kit.person("kim", &[("keeper", Some(store))]).await;
    kit.patch(&keeper, "/chain", json!({"locale": "de"})).await.refused(403, "scope");
    for (field, value) in [("countryCode", "ZZ"), ("currencyCode", "eur"), ("timezone", "Berlin"), ("locale", "!!")] {
        kit.patch(&admin, "/chain", json!({field: value})).await.names(field);
    }
    kit.patch(&admin, "/chain", json!({"currencyExponent": 3})).await.is(422);
    kit.patch(&admin, "/chain", json!({"locale": "de", "expectedVersion": 7})).await.refused(409, "version_conflict");
    assert_eq!(kit.get(&admin, "/chain").await.data()["version"], 0);
}

#[tokio::test]
async fn two_who_change_the_chain_at_once_undo_nothing_of_each_other() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, other) = tokio::join!(
        kit.patch(&admin, "/chain", json!({"timezone": "Europe/Berlin"})),
        kit.patch(&admin, "/chain", json!({"locale": "de-DE"})),
    );
    one.is(200);
    other.is(200);
    let said = kit.get(&admin, "/chain").await.data();
    assert_eq!(
        (&said["timezone"], &said["locale"], &said["version"]),
        (&json!("Europe/Berlin"), &json!("de-DE"), &json!(2))
    );
}
