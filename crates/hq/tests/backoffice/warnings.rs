//! Entries that were taken and that an operator should look at: listed with what was sent, until they are settled.

use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::dashboard::odd_sale;
use super::kit::{Kit, Person, column, id_of};

async fn warned() -> (Kit, Person, Uuid, Vec<Json>) {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let sales = vec![odd_sale(store, 1), odd_sale(store, 2)];
    kit.push(&kit.sync_token(store), &sales).await;
    (kit, admin, store, sales)
}

#[tokio::test]
async fn a_warning_is_listed_with_what_was_sent_and_leaves_list_and_counts_when_it_is_settled() {
    let (kit, admin, _, sales) = warned().await;
    let list = async |query: &str| kit.get(&admin, &format!("/sync/errors?warning=true{query}")).await.data();
    let open = list("&sort=first_seen_at").await;
    assert_eq!(open.as_array().map(Vec::len), Some(2));
    assert!(sales.contains(&open[0]["envelope"]) && sales.contains(&open[1]["envelope"]), "{open}");
    assert_eq!((&open[0]["retryCount"], &open[0]["warningSettledAt"]), (&json!(1), &Json::Null));
    let id = id_of(&open[0]);
    let settle = async || kit.post(&admin, &format!("/sync/resolve/{id}"), json!({"note": "rounded by hand"})).await;
    let (one, other) = tokio::join!(settle(), settle());
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{} {}", one.text, other.text);
    let done = if one.status == 200 { one } else { other };
    assert_eq!(done.data(), json!({"id": id, "status": "success"}), "it stays as it was taken");
    assert_eq!(list("").await.as_array().map(Vec::len), Some(1));
    let settled = list("&settled=true").await;
    assert_eq!(column(&settled, "id"), [id.to_string()]);
    assert!(settled[0]["warningSettledAt"].is_string());
    let dashboard = kit.get(&admin, "/sync/dashboard").await.data();
    assert_eq!((&dashboard["summary"]["warnings"], &dashboard["stores"][0]["warnings"]), (&json!(1), &json!(1)));
    let audited = kit.get(&admin, "/audit-log?action=sync.resolve").await.data();
    assert_eq!(audited.as_array().map(Vec::len), Some(1));
    assert_eq!(audited[0]["details"]["note"], "rounded by hand");
    kit.get(&admin, "/sync/errors?settled=true").await.names("settled");
}

#[tokio::test]
async fn a_settled_warning_is_no_word_on_the_envelope_that_comes_again() {
    let (kit, admin, store, sales) = warned().await;
    let open = kit.get(&admin, "/sync/errors?warning=true").await.data();
    for entry in open.as_array().expect("entries") {
        kit.post(&admin, &format!("/sync/resolve/{}", id_of(entry)), json!({})).await.is(200);
    }
    let results = kit.push(&kit.sync_token(store), &sales).await;
    assert_eq!(column(&results, "applied"), ["duplicate", "duplicate"], "{results}");
    assert_eq!(kit.get(&admin, "/sync/errors?warning=true").await.data(), json!([]));
}

#[tokio::test]
async fn of_a_long_entry_with_a_warning_the_beginning_is_kept() {
    let (kit, admin, store, _) = warned().await;
    let mut long = odd_sale(store, 3);
    long["data"]["remark"] = json!("x".repeat(40_000));
    kit.push(&kit.sync_token(store), &[long.clone()]).await;
    let open = kit.get(&admin, "/sync/errors?warning=true&sort=-last_seen_at").await.data();
    let entry = open.as_array().and_then(|rows| rows.iter().find(|row| row["entityId"] == long["entity_id"]));
    let entry = entry.expect("the entry");
    assert_eq!((&entry["envelope"], &entry["length"]), (&Json::Null, &json!(long.to_string().len())));
    assert_eq!(entry["beginning"].as_str().map(str::len), Some(16 << 10));
}
