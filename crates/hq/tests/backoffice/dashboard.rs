//! `GET /sync/dashboard`: what it says of a store, and to whom.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::entity::{store_node, sync_status};
use tillkeep_storage::sea_orm::{EntityTrait, IntoActiveModel};
use uuid::Uuid;

use super::kit::{Kit, column};

/// An envelope of a sale that does not add up: it is taken, and an operator should look at it.
pub fn odd_sale(store_id: Uuid, seq: i64) -> Json {
    let id = Uuid::now_v7();
    let data = json!({
        "id": id, "storeId": store_id, "receiptNumber": format!("S01-01-{seq:06}"), "saleType": "sale",
        "status": "completed", "businessDate": "2026-11-20", "netAmount": 100, "taxAmount": 0, "totalAmount": 999,
        "saleItems": [], "salePayments": [],
    });
    json!({
        "store_id": store_id, "entity_type": "sales", "entity_id": id, "action": "create", "data": data,
        "timestamp": "2026-11-20T12:00:00Z", "seq": seq, "node_epoch": "n1",
    })
}

/// An envelope that headquarters cannot take: its order is not there.
pub fn orphan(store_id: Uuid, seq: i64) -> Json {
    let id = Uuid::now_v7();
    json!({
        "store_id": store_id, "entity_type": "purchase_order_items", "entity_id": id, "action": "create",
        "data": {"id": id, "purchaseOrderId": Uuid::now_v7(), "orderedQuantity": 1},
        "timestamp": "2026-11-20T12:00:00Z", "seq": seq, "node_epoch": "n1",
    })
}

#[tokio::test]
async fn warnings_failures_and_clocks_are_shown_of_each_store() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let token = kit.sync_token(one);
    let results = kit.push(&token, &[odd_sale(one, 1), odd_sale(one, 2), orphan(one, 3)]).await;
    assert_eq!(column(&results, "status"), ["ok", "ok", "error"]);
    let off = json!({"nodeEpoch": "n1", "clock": kit.clock.now().plus_millis(-150_000)});
    let who = super::kit::Person { id: Uuid::nil(), token: token.clone() };
    kit.post(&who, "/sync/handshake", off).await.is(200);

    let dashboard = kit.get(&admin, "/sync/dashboard").await.data();
    let summary = &dashboard["summary"];
    assert_eq!(
        (&summary["stores"], &summary["failed"], &summary["warnings"], &summary["connected"]),
        (&json!(2), &json!(1), &json!(2), &json!(0))
    );
    let (first, second) = (&dashboard["stores"][0], &dashboard["stores"][1]);
    assert_eq!((&first["storeCode"], &first["warnings"], &first["errorCount"]), (&json!("S01"), &json!(2), &json!(1)));
    assert!(first["lastWarning"].as_str().is_some_and(|text| text.contains("mismatch") || text.contains("no_lines")));
    assert!(first["lastWarningAt"].is_string());
    assert_eq!((&first["clockWarning"], &second["clockWarning"]), (&json!(true), &json!(false)));
    let codes = column(&first["alarms"], "code");
    assert!(codes.contains(&"clock_off"), "it does not say so itself: {first}");
    assert_eq!((&second["state"], &second["severity"], &second["alarms"]), (&json!("never"), &json!(1), &json!([])));
    assert!(first["severity"].as_u64() > second["severity"].as_u64(), "{first}");
    assert_eq!((&first["node"], &second["warnings"], &second["lastWarning"]), (&Json::Null, &json!(0), &Json::Null));

    let worst_first = kit.get(&admin, "/sync/dashboard?sort=-severity").await.data();
    assert_eq!(column(&worst_first["stores"], "storeCode"), ["S01", "S02"]);
    let sorted = kit.get(&admin, "/sync/dashboard?sort=lastSuccessAt").await.data();
    assert_eq!(column(&sorted["stores"], "storeCode"), ["S02", "S01"]);
    let since = kit.get(&admin, "/sync/dashboard?since=2026-01-01T00:00:00Z").await.data();
    assert_eq!(column(&since["stores"], "storeCode"), ["S01"]);
    assert_eq!(since["summary"]["stores"], 2);
    let alone = kit.get(&admin, &format!("/sync/dashboard?storeId={two}")).await.data();
    assert_eq!((column(&alone["stores"], "storeCode"), &alone["summary"]["stores"]), (vec!["S02"], &json!(1)));
    kit.get(&admin, "/sync/dashboard?sort=color").await.names("sort");
    kit.get(&admin, "/sync/dashboard?since=yesterday").await.names("since");

    let listed = kit.get(&admin, "/sync/errors?warning=true").await.data();
    assert_eq!(column(&listed, "status"), ["success", "success"]);
    assert!(listed[0]["warning"].is_string());
    assert_eq!(kit.get(&admin, "/sync/errors").await.data().as_array().map(Vec::len), Some(1));
    let later = kit.clock.now().plus_millis(60_000);
    assert_eq!(kit.get(&admin, &format!("/sync/errors?since={later}")).await.data(), json!([]));
    kit.get(&admin, "/sync/errors?warning=maybe").await.names("warning");

    kit.role(&admin, "lead", &["stores.view"]).await;
    let lead = kit.person("lea", &[("lead", Some(two))]).await;
    let own = kit.get(&lead, "/sync/dashboard").await.data();
    assert_eq!(column(&own["stores"], "storeCode"), ["S02"]);
    assert_eq!((&own["summary"]["stores"], &own["summary"]["warnings"]), (&json!(1), &json!(0)));
    kit.get(&lead, &format!("/sync/dashboard?storeId={one}")).await.is(403);
    assert_eq!(kit.get(&lead, "/sync/errors?warning=true").await.data(), json!([]));
}

/// Prints how long it takes; what it asserts is only that it does not fall off a cliff.
#[tokio::test]
async fn a_thousand_stores_are_shown_in_a_moment() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let now = kit.clock.now();
    let types: Vec<&str> = tillkeep_storage::registry::ALL.iter().map(|entity| entity.name).collect();
    let template = kit.row::<tillkeep_storage::entity::store::Entity>(kit.store("S").await).await;
    let mut tx = kit.hq.db().begin().await.expect("begin");
    let (mut stores, mut statuses, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..1000 {
        let row = tillkeep_storage::entity::store::Model {
            id: Uuid::now_v7(),
            code: format!("S{number:04}"),
            ..template.clone()
        };
        for name in &types {
            let status = sync_status::Model {
                store_id: row.id,
                entity_type: (*name).to_owned(),
                direction: "pull".to_owned(),
                last_success_at: Some(now),
                last_error_at: (number == 7 && *name == "products").then_some(now),
                last_error: (number == 7 && *name == "products").then(|| "the disk is full".to_owned()),
                pending_count: i32::from(number == 7 && *name == "products"),
                ..sync_status::Model::default()
            };
            statuses.push(status.into_active_model());
        }
        nodes.push(store_node::Model { store_id: row.id, ..store_node::Model::default() }.into_active_model());
        stores.push(row);
    }
    tx.insert_all::<tillkeep_storage::entity::store::Entity>(stores).await.expect("insert");
    for chunk in statuses.chunks(500) {
        sync_status::Entity::insert_many(chunk.to_vec()).exec_without_returning(&tx).await.expect("insert");
    }
    for chunk in nodes.chunks(500) {
        store_node::Entity::insert_many(chunk.to_vec()).exec_without_returning(&tx).await.expect("insert");
    }
    kit.hq.commit(tx).await.expect("commit");
    let begun = std::time::Instant::now();
    let got = kit.get(&admin, "/sync/dashboard").await;
    let took = begun.elapsed();
    eprintln!("{} bytes of 1001 stores in {took:?}", got.text.len());
    let dashboard = got.data();
    assert_eq!((&dashboard["summary"]["stores"], &dashboard["summary"]["unstored"]), (&json!(1001), &json!(1)));
    // Of so many the types are shown alone that somebody should look at; all else is the same as of one.
    for (code, to_look_at) in [("S0007", true), ("S0008", false)] {
        let all = dashboard["stores"].as_array().expect("stores");
        let mut brief = all.iter().find(|store| store["storeCode"] == code).expect("the store").clone();
        let path = format!("/sync/dashboard?storeId={}", brief["storeId"].as_str().expect("an id"));
        let mut alone = kit.get(&admin, &path).await.data()["stores"][0].clone();
        let [shown, whole] = [&mut brief, &mut alone].map(|store| store["sync"].take());
        assert_eq!(brief, alone);
        assert_eq!(whole.as_array().map(Vec::len), Some(types.len()));
        let is_behind =
            |row: &Json| row["direction"] == "pull" && row["version"].as_i64() < row["headVersion"].as_i64();
        let expected = |row: &&Json| is_behind(row) || row["entityType"] == "products" && to_look_at;
        let expected: Vec<&Json> = whole.as_array().expect("types").iter().filter(expected).collect();
        assert!(expected.len() < types.len(), "{expected:?}");
        assert_eq!(shown.as_array().expect("types").iter().collect::<Vec<_>>(), expected, "{code}");
    }
}
