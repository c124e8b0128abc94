//! Reasons: the list that tills offer to choose from.

use serde_json::{Value as Json, json};
use tillkeep_model::reason::{FIRST, ReasonKind};
use tillkeep_model::words::Word;

use super::kit::{Kit, id_of};

async fn list(kit: &Kit, who: &super::kit::Person, query: &str) -> Vec<Json> {
    let got = kit.get(who, &format!("/reasons?pageSize=200{query}")).await.data();
    got.as_array().expect("a list").clone()
}

#[tokio::test]
async fn a_chain_begins_with_reasons_of_each_kind_and_what_is_deleted_of_them_stays_away() {
    let mut kit = Kit::new().await;
    let admin = kit.admin().await;
    let all = list(&kit, &admin, "").await;
    assert_eq!(all.len(), FIRST.len());
    for kind in ReasonKind::ALL {
        let of_kind = list(&kit, &admin, &format!("&kind={}", kind.word())).await;
        assert!(!of_kind.is_empty() && of_kind.iter().all(|row| row["kind"] == kind.word()), "{of_kind:?}");
    }
    kit.delete(&admin, &format!("/reasons/{}", id_of(&all[0]))).await.is(204);
    kit.patch(&admin, &format!("/reasons/{}", id_of(&all[1])), json!({"name": "Past its day"})).await.is(200);
    kit.restart().await;
    let after = list(&kit, &admin, "").await;
    assert_eq!(after.len(), FIRST.len() - 1);
    assert!(after.iter().any(|row| row["name"] == "Past its day"));
}

#[tokio::test]
async fn a_code_is_there_once_for_each_kind() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let new = |kind: &str| json!({"code": "fair", "name": "Fair", "kind": kind});
    let made = kit.post(&admin, "/reasons", new("discount")).await.data();
    assert_eq!((&made["needsNote"], &made["isActive"], &made["sortOrder"]), (&json!(false), &json!(true), &json!(0)));
    let got = kit.post(&admin, "/reasons", new("discount")).await;
    got.refused(409, "code_taken");
    got.names("code");
    let other = kit.post(&admin, "/reasons", new("refund")).await.data();
    let path = format!("/reasons/{}", id_of(&other));
    kit.patch(&admin, &path, json!({"kind": "discount"})).await.refused(409, "code_taken");
    kit.delete(&admin, &format!("/reasons/{}", id_of(&made))).await.is(204);
    kit.patch(&admin, &path, json!({"kind": "discount", "needsNote": true})).await.is(200);
    for (body, field) in [
        (json!({"code": "x", "name": "X"}), "kind"),
        (json!({"code": "x", "name": "X", "kind": "rebate"}), "kind"),
        (json!({"code": " ", "name": "X", "kind": "void"}), "code"),
        (json!({"code": "x", "name": "X", "kind": "void", "sortOrder": 1.5}), "sortOrder"),
    ] {
        let got = kit.post(&admin, "/reasons", body).await;
        got.is(422);
        got.names(field);
    }
    let version = kit.get(&admin, "/reasons?search=fair").await.data()[0]["syncVersion"].clone();
    kit.patch(&admin, &path, json!({"name": "Fairs"})).await.is(200);
    let late = json!({"name": "Late", "expectedVersion": version});
    kit.patch(&admin, &path, late).await.refused(409, "version_conflict");
}

#[tokio::test]
async fn who_sells_or_counts_sees_reasons_and_who_edits_stores_changes_them() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for (name, code, may) in
        [("seller", "pos.sell", true), ("counter", "inventory.adjust", true), ("buyer", "suppliers.view", false)]
    {
        kit.role(&admin, name, &[code]).await;
        let person = kit.person(name, &[(name, None)]).await;
        kit.get(&person, "/reasons").await.is(if may { 200 } else { 403 });
        let body = json!({"code": "x", "name": "X", "kind": "void"});
        kit.post(&person, "/reasons", body).await.refused(403, "forbidden");
    }
}
