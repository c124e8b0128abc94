//! Drawers of every store, as they were pushed.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::{Instant, JsonText, Money};
use tillkeep_storage::entity::{register_session, store};
use tillkeep_storage::raw::sea_orm::{ActiveModelTrait, IntoActiveModel, Set};
use uuid::Uuid;

use super::kit::{Kit, column};

async fn drawer(kit: &Kit, store_id: Uuid, number: i32, day: &str, opened_by: Uuid, status: &str) -> Uuid {
    let id = Uuid::now_v7();
    let row = register_session::Model {
        id,
        store_id,
        register_code: format!("0{number}"),
        session_number: number,
        status: status.to_owned(),
        business_date: day.to_owned(),
        opened_by,
        opened_at: Instant::parse(&format!("{day}T08:0{number}:00Z")).expect("an instant"),
        expected_cash: Some(Money(5000)),
        counted_cash: Some(Money(4900)),
        cash_variance: Some(Money(-100)),
        counts: Some(JsonText(json!([{"tenderCode": "CASH", "amount": 4900, "expected": 5000, "variance": -100}]))),
        totals: Some(JsonText(json!({"totalAmount": 9000, "tenders": [{"tenderCode": "CASH", "amount": 3000}]}))),
        cash_movements: JsonText(json!([])),
        ..register_session::Model::default()
    };
    let tx = kit.hq.db().begin().await.expect("begin");
    row.into_active_model().insert(&tx).await.expect("drawer");
    tx.commit().await.expect("commit");
    id
}

#[tokio::test]
async fn drawers_of_every_store_are_listed_newest_first_with_the_names_of_store_and_people() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let mia = kit.person("mia", &[]).await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let first = drawer(&kit, one, 1, "2026-11-19", mia.id, "closed").await;
    drawer(&kit, two, 2, "2026-11-20", Uuid::now_v7(), "open").await;
    drawer(&kit, one, 3, "2026-11-20", mia.id, "closed").await;
    let of = async |query: &str| {
        let rows = kit.get(&admin, &format!("/register-sessions?{query}")).await.data();
        column(&rows, "registerCode").join(" ")
    };
    assert_eq!(of("").await, "03 02 01");
    assert_eq!(of(&format!("storeId={one}")).await, "03 01");
    assert_eq!(of("status=open").await, "02");
    assert_eq!(of("registerCode=01").await, "01");
    assert_eq!(of("businessDateFrom=2026-11-20&businessDateTo=2026-11-20&sort=sessionNumber").await, "02 03");
    kit.get(&admin, "/register-sessions?businessDateTo=soon").await.names("businessDateTo");
    let rows = kit.get(&admin, "/register-sessions").await.data();
    assert_eq!(column(&rows, "storeCode"), ["S01", "S02", "S01"]);
    assert_eq!(rows[1]["openedByName"], Json::Null, "no user that headquarters knows");
    let shown = kit.get(&admin, &format!("/register-sessions/{first}")).await.data();
    assert_eq!((&shown["openedByName"], &shown["storeCode"]), (&json!("mia"), &json!("S01")));
    assert_eq!((&shown["cashVariance"], &shown["totals"]["totalAmount"]), (&json!(-100), &json!(9000)));
    kit.get(&admin, &format!("/register-sessions/{}", Uuid::now_v7())).await.refused(404, "not_found");
}

#[tokio::test]
async fn drawers_are_cut_to_the_stores_of_whoever_asks() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let here = drawer(&kit, one, 1, "2026-11-20", admin.id, "closed").await;
    let there = drawer(&kit, two, 2, "2026-11-20", admin.id, "closed").await;
    kit.role(&admin, "looker", &["registers.view"]).await;
    let looker = kit.person("ada", &[("looker", Some(one))]).await;
    assert_eq!(column(&kit.get(&looker, "/register-sessions").await.data(), "registerCode"), ["01"]);
    assert_eq!(kit.get(&looker, &format!("/register-sessions/{here}")).await.data()["id"], json!(here));
    kit.get(&looker, &format!("/register-sessions/{there}")).await.is(404);
    kit.get(&looker, &format!("/register-sessions?storeId={two}")).await.refused(403, "scope");
}

#[tokio::test]
async fn where_a_store_closes_blind_only_who_may_close_there_learns_what_should_be_in_a_drawer() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (open, blind) = (kit.store("S01").await, kit.store("S02").await);
    let mut row = kit.row::<store::Entity>(blind).await.into_active_model();
    row.blind_close = Set(true);
    let tx = kit.hq.db().begin().await.expect("begin");
    row.update(&tx).await.expect("blind");
    tx.commit().await.expect("commit");
    drawer(&kit, blind, 1, "2026-11-20", admin.id, "closed").await;
    drawer(&kit, open, 2, "2026-11-20", admin.id, "closed").await;
    kit.role(&admin, "looker", &["registers.view"]).await;
    kit.role(&admin, "closer", &["registers.close"]).await;
    let looker = kit.person("ada", &[("looker", None), ("closer", Some(open))]).await;
    let rows = kit.get(&looker, "/register-sessions").await.data();
    assert_eq!((&rows[0]["registerCode"], &rows[0]["expectedCash"]), (&json!("02"), &json!(5000)));
    let hidden = &rows[1];
    for key in ["expectedCash", "cashVariance", "runningTotal", "totals"] {
        assert_eq!(hidden[key], Json::Null, "{key} in {hidden}");
    }
    assert_eq!(hidden["counts"], json!([{"tenderCode": "CASH", "amount": 4900}]));
    let closer = kit.person("bob", &[("looker", None), ("closer", Some(blind))]).await;
    assert_eq!(kit.get(&closer, "/register-sessions").await.data()[1]["expectedCash"], 5000);
}
