//! Tenders: there is always exactly one active cash tender.

use serde_json::json;
use tillkeep_model::ids;

use super::kit::{Kit, id_of};

#[tokio::test]
async fn there_is_exactly_one_active_cash_tender() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let cash = format!("/tenders/{}", ids::named("tender:CASH"));
    let second = json!({"code": "CASH2", "name": "Cash 2", "kind": "cash"});
    kit.post(&admin, "/tenders", second).await.refused(409, "second_cash_tender");
    let idle = json!({"code": "CASH2", "name": "Cash 2", "kind": "cash", "isActive": false});
    let idle = kit.post(&admin, "/tenders", idle).await.data();
    let idle = format!("/tenders/{}", id_of(&idle));
    kit.patch(&admin, &idle, json!({"isActive": true})).await.refused(409, "second_cash_tender");
    kit.patch(&admin, &cash, json!({"isActive": false})).await.refused(409, "last_cash_tender");
    kit.delete(&admin, &cash).await.refused(409, "last_cash_tender");
    kit.delete(&admin, &idle).await.is(204);
    assert_eq!(kit.patch(&admin, &cash, json!({"name": "Bar"})).await.data()["name"], "Bar");
}

#[tokio::test]
async fn the_kind_of_a_tender_is_fixed() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let card = kit.post(&admin, "/tenders", json!({"code": "CARD", "name": "Card", "kind": "card"})).await.data();
    assert_eq!((&card["opensDrawer"], &card["allowsChange"]), (&json!(false), &json!(false)));
    assert_eq!((&card["countsInClose"], &card["isRefundable"]), (&json!(true), &json!(true)));
    let path = format!("/tenders/{}", id_of(&card));
    for kind in ["cash", "check"] {
        kit.patch(&admin, &path, json!({"kind": kind})).await.refused(409, "kind_locked");
    }
    kit.patch(&admin, &path, json!({"kind": "coins"})).await.names("kind");
    kit.patch(&admin, &path, json!({"minAmount": -1})).await.names("minAmount");
    kit.patch(&admin, &path, json!({"minAmount": 500, "maxAmount": 400})).await.names("maxAmount");
    kit.patch(&admin, &path, json!({"minAmount": 500, "maxAmount": 500, "kind": "card"})).await.is(200);
    assert_eq!(kit.get(&admin, &path).await.data()["maxAmount"], 500);
    kit.delete(&admin, &path).await.is(204);
    kit.get(&admin, &path).await.is(404);
}

#[tokio::test]
async fn a_tender_without_a_ledger_for_its_values_cannot_be_active() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for (code, kind) in [("GIFT", "gift_card"), ("CREDIT", "store_credit")] {
        let new = |active: serde_json::Value| json!({"code": code, "name": code, "kind": kind, "isActive": active});
        let mut unsaid = new(json!(true));
        unsaid.as_object_mut().expect("an object").remove("isActive");
        for refused in [new(json!(true)), unsaid] {
            kit.post(&admin, "/tenders", refused).await.refused(422, "needs_value_ledger");
        }
        let idle = kit.post(&admin, "/tenders", new(json!(false))).await.data();
        let path = format!("/tenders/{}", id_of(&idle));
        kit.patch(&admin, &path, json!({"isActive": true})).await.refused(422, "needs_value_ledger");
        assert_eq!(kit.patch(&admin, &path, json!({"name": "Later"})).await.data()["isActive"], false);
    }
    let listed = kit.get(&admin, "/tenders?active=true").await.data();
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "cash, and what settles exchanges: {listed}");
}
