//! `GET /sync/dashboard`: what it says of a store, and to whom.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::ids;
use tillkeep_storage::entity::{store_node, store_product, sync_status};
use tillkeep_storage::sea_orm::{EntityTrait, IntoActiveModel};
use uuid::Uuid;

use super::kit::{Kit, Person, column, id_of};

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
    let tea = id_of(&kit.product(&admin, "TEA", json!({})).await);
    let mut tx = kit.hq.db().begin().await.expect("begin");
    let (mut stores, mut statuses, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
    let mut levels = Vec::new();
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
                last_error_at: (number == 7 && *name == "suppliers").then_some(now),
                last_error: (number == 7 && *name == "suppliers").then(|| "the disk is full".to_owned()),
                pending_count: i32::from(number == 7 && *name == "suppliers"),
                ..sync_status::Model::default()
            };
            // An error after the newest success, with nothing that waits.
            let status = match (number, *name) {
                (10, "customers") => sync_status::Model {
                    last_error_at: Some(now.plus_millis(1000)),
                    last_error: Some("the disk was full".to_owned()),
                    ..status
                },
                _ => status,
            };
            statuses.push(status.into_active_model());
        }
        // A type whose versions are those of the store alone, above what it has.
        if number == 9 {
            levels.push(store_product::Model {
                id: ids::store_product(row.id, tea),
                store_id: row.id,
                product_id: tea,
                ..store_product::Model::default()
            });
        }
        if number == 11 {
            let sent = sync_status::Model {
                store_id: row.id,
                entity_type: "sales".to_owned(),
                direction: "push".to_owned(),
                last_success_at: Some(now),
                pending_count: 2,
                pending_bytes: 300,
                ..sync_status::Model::default()
            };
            statuses.push(sent.into_active_model());
        }
        nodes.push(store_node::Model { store_id: row.id, ..store_node::Model::default() }.into_active_model());
        stores.push(row);
    }
    tx.insert_all::<tillkeep_storage::entity::store::Entity>(stores).await.expect("insert");
    tx.insert_all::<store_product::Entity>(levels).await.expect("insert");
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
    compare(&kit, &admin, &dashboard, types.len()).await;
}

/// Of so many the types are shown alone that somebody should look at; all else is the same as of one.
async fn compare(kit: &Kit, admin: &Person, dashboard: &Json, types: usize) {
    let cases = [
        ("S0007", Some(("suppliers", "pull"))),
        ("S0008", None),
        ("S0009", Some(("store_product_dynamic", "pull"))),
        ("S0010", Some(("customers", "pull"))),
        ("S0011", Some(("sales", "push"))),
    ];
    for (code, to_look_at) in cases {
        let all = dashboard["stores"].as_array().expect("stores");
        let mut brief = all.iter().find(|store| store["storeCode"] == code).expect("the store").clone();
        let path = format!("/sync/dashboard?storeId={}", brief["storeId"].as_str().expect("an id"));
        let mut alone = kit.get(admin, &path).await.data()["stores"][0].clone();
        let [shown, whole] = [&mut brief, &mut alone].map(|store| store["sync"].take());
        assert_eq!(brief, alone);
        let is_sent = to_look_at.is_some_and(|(_, direction)| direction == "push");
        assert_eq!(whole.as_array().map(Vec::len), Some(types + usize::from(is_sent)));
        let is_behind =
            |row: &Json| row["direction"] == "pull" && row["version"].as_i64() < row["headVersion"].as_i64();
        let is_named = |row: &Json| {
            to_look_at.is_some_and(|(name, direction)| row["entityType"] == name && row["direction"] == direction)
        };
        let expected = |row: &&Json| is_behind(row) || is_named(row);
        let expected: Vec<&Json> = whole.as_array().expect("types").iter().filter(expected).collect();
        assert!(expected.len() < types, "{expected:?}");
        assert_eq!(expected.iter().filter(|row| is_named(row)).count(), usize::from(to_look_at.is_some()), "{code}");
        let is_level = |row: &Json| row["entityType"] == "store_product_dynamic";
        assert!(
            expected.iter().all(|row| !is_named(row) || is_level(row) || !is_behind(row)),
            "{code} is named for that alone"
        );
        let of_levels = |row: &&&Json| row["entityType"] == "store_product_dynamic" && is_behind(row);
        assert_eq!(expected.iter().filter(of_levels).count(), usize::from(code == "S0009"), "{code}");
        assert_eq!(shown.as_array().expect("types").iter().collect::<Vec<_>>(), expected, "{code}");
    }
}
