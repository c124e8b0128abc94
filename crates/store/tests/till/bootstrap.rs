//! What a till gets when it starts.

use serde_json::{Value as Json, json};

use crate::kit::{Shop, id};

#[tokio::test]
async fn a_till_learns_everything_it_needs_in_one_answer() {
    let shop = Shop::open().await;
    let cashier = shop.sign_in("cashier").await;
    let answer = cashier.get("/pos/bootstrap?terminalId=T1").await.ok(200);
    let unnamed = cashier.get("/pos/bootstrap").await.ok(200);
    assert_eq!(unnamed["register"], answer["register"], "of the terminal signed in at");
    assert_eq!((&answer["store"]["code"], &answer["register"]["code"]), (&json!("S01"), &json!("01")));
    assert_eq!(answer["session"], Json::Null);
    let tenders = answer["tenders"].as_array().expect("tenders");
    assert_eq!(tenders.len(), 4);
    assert!(tenders.iter().all(|tender| tender["kind"] != "exchange"), "no customer pays with that: {tenders:?}");
    assert_eq!(answer["departments"][0]["code"], "GROC");
    assert_eq!(answer["salesReps"][0]["name"], "Rita");
    assert!(answer["serverTime"].as_str().is_some_and(|time| time.starts_with("2026-11-20T14:00:")));
    let groups = answer["taxGroups"].as_array().expect("tax groups");
    let rates = |code: &str| -> Vec<&str> {
        let group = groups.iter().find(|group| group["code"] == code).expect("a group");
        group["rates"].as_array().expect("rates").iter().map(|rate| rate["code"].as_str().expect("a code")).collect()
    };
    assert_eq!((rates("QUEBEC"), rates("LOCAL"), rates("EXCLUSIVE")), (vec!["GST", "QST"], vec!["GST"], vec!["NY"]));
    cashier.get("/pos/bootstrap?terminalId=T9").await.refused_at(404, "register_unknown", "terminalId");
    cashier.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
    assert_eq!(cashier.get("/pos/bootstrap").await.ok(200)["session"]["sessionNumber"], 1);
}

#[tokio::test]
async fn a_store_that_never_reached_headquarters_says_so() {
    let shop = Shop::open().await;
    let person = shop.sign_in("administrator").await;
    // No user could sign in at an empty store, so its own row alone is taken away.
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    tillkeep_storage::raw::execute(&tx, "DELETE FROM stores", []).await.expect("a delete");
    tx.commit().await.expect("a commit");
    for path in ["/pos/bootstrap", "/pos/lookup/TEA"] {
        person.get(path).await.refused(503, "store_not_ready");
    }
    person.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.refused(503, "store_not_ready");
    assert!(shop.outbox().await.is_empty());
}
