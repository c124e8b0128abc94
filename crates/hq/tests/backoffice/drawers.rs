//! Drawers of every store, as they were pushed.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::{Instant, JsonText, Money};
use tillkeep_storage::entity::{register_session, sale, sale_payment, store};
use tillkeep_storage::raw::sea_orm::{ActiveModelTrait, IntoActiveModel, Set};
use uuid::Uuid;

use super::kit::{Kit, Person, column};

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
    let manager = kit.person("max", &[("store_manager", Some(one)), ("cashier", Some(two))]).await;
    assert_eq!(column(&kit.get(&manager, "/register-sessions").await.data(), "registerCode"), ["01"]);
    assert_eq!(kit.get(&manager, &format!("/register-sessions/{here}")).await.data()["expectedCash"], 5000);
    kit.get(&manager, &format!("/register-sessions/{there}")).await.is(404);
    kit.get(&manager, &format!("/register-sessions?storeId={two}")).await.refused(403, "scope");
    let cashier = kit.person("cash", &[("cashier", Some(one))]).await;
    kit.get(&cashier, "/register-sessions").await.refused(403, "forbidden");
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

/// A document of a drawer, paid with these tenders.
async fn paid(kit: &Kit, drawer: Uuid, change: impl FnOnce(&mut sale::Model), tenders: &[(&str, i64)]) {
    let mut row = sale::Model {
        id: Uuid::now_v7(),
        register_session_id: drawer,
        sale_type: "sale".into(),
        status: "completed".into(),
        ..sale::Model::default()
    };
    change(&mut row);
    let sale_id = row.id;
    let tx = kit.hq.db().begin().await.expect("begin");
    row.into_active_model().insert(&tx).await.expect("sale");
    for (line_no, (code, amount)) in (1..).zip(tenders) {
        let payment = sale_payment::Model {
            id: Uuid::now_v7(),
            sale_id,
            line_no,
            tender_code: (*code).to_owned(),
            tender_kind: code.to_lowercase(),
            amount: Money(*amount),
            status: "captured".into(),
            ..sale_payment::Model::default()
        };
        payment.into_active_model().insert(&tx).await.expect("payment");
    }
    tx.commit().await.expect("commit");
}

#[tokio::test]
async fn an_open_drawer_says_what_has_come_of_it_and_a_closed_one_what_its_report_says() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let one = kit.store("S01").await;
    let open = drawer(&kit, one, 1, "2026-11-20", admin.id, "open").await;
    let empty = drawer(&kit, one, 2, "2026-11-20", admin.id, "open").await;
    let closed = drawer(&kit, one, 3, "2026-11-20", admin.id, "closed").await;
    let total = |total: i64, rounding: i64| {
        move |row: &mut sale::Model| {
            (row.total_amount, row.cash_rounding) = (Money(total), Money(rounding));
        }
    };
    paid(&kit, open, total(1998, 2), &[("CASH", 2000)]).await;
    paid(&kit, open, total(3000, 0), &[("CASH", 1000), ("CARD", 2000)]).await;
    let refund = |row: &mut sale::Model| (row.sale_type, row.total_amount) = ("refund".into(), Money(-500));
    paid(&kit, open, refund, &[("CASH", -500)]).await;
    let voided = |row: &mut sale::Model| (row.status, row.total_amount) = ("voided".into(), Money(70_000));
    paid(&kit, open, voided, &[("CASH", 70_000)]).await;
    paid(&kit, closed, total(5, 0), &[("CASH", 5)]).await;
    let taken = async |id: Uuid| kit.get(&admin, &format!("/register-sessions/{id}")).await.data()["taken"].clone();
    assert_eq!(
        taken(open).await,
        json!({
            "isFinal": false, "saleCount": 2, "refundCount": 1, "total": 4498, "cashRounding": 2, "taken": 4500,
            "tenders": [
                {"tenderCode": "CARD", "tenderKind": "card", "count": 1, "amount": 2000},
                {"tenderCode": "CASH", "tenderKind": "cash", "count": 3, "amount": 2500},
            ],
        })
    );
    let nothing = taken(empty).await;
    assert_eq!((&nothing["taken"], &nothing["tenders"]), (&json!(0), &json!([])));
    let report = taken(closed).await;
    assert_eq!((&report["isFinal"], &report["total"]), (&json!(true), &json!(9000)), "what the store said");
    let listed = kit.get(&admin, "/register-sessions?registerCode=01").await.data();
    assert_eq!((&listed[0]["taken"]["taken"], &listed[0]["currencyCode"]), (&json!(4500), &json!("USD")));
    let file = kit.get(&admin, "/register-sessions?format=csv&sort=sessionNumber").await;
    assert_eq!(file.headers["content-disposition"], "attachment; filename=\"drawers.csv\"");
    let lines: Vec<&str> = file.text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[1].contains(",USD,0.00,2,44.98,0.02,45.00,50.00,49.00,-1.00,"), "{}", lines[1]);
}

#[tokio::test]
async fn where_a_store_closes_blind_what_a_drawer_took_is_for_who_may_close_there() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let blind = kit.store("S01").await;
    let mut row = kit.row::<store::Entity>(blind).await.into_active_model();
    row.blind_close = Set(true);
    let tx = kit.hq.db().begin().await.expect("begin");
    row.update(&tx).await.expect("blind");
    tx.commit().await.expect("commit");
    for (number, status) in [(1, "open"), (2, "closed")] {
        let id = drawer(&kit, blind, number, "2026-11-20", admin.id, status).await;
        paid(&kit, id, |row| row.total_amount = Money(4711), &[("CASH", 4711)]).await;
    }
    kit.role(&admin, "looker", &["registers.view"]).await;
    let looker = kit.person("ada", &[("looker", None)]).await;
    let rows = kit.get(&looker, "/register-sessions").await.data();
    assert_eq!((&rows[0]["taken"], &rows[1]["taken"]), (&Json::Null, &Json::Null));
    let file = kit.get(&looker, "/register-sessions?format=csv").await.text;
    assert!(!file.contains("47.11") && !file.contains("90.00") && !file.contains("50.00"), "{file}");
    kit.role(&admin, "closer", &["registers.close"]).await;
    let closer = kit.person("bob", &[("looker", None), ("closer", Some(blind))]).await;
    let rows = kit.get(&closer, "/register-sessions?status=open").await.data();
    assert_eq!(rows[0]["taken"]["taken"], 4711);
}

#[tokio::test]
async fn the_sums_of_drawers_are_of_all_that_is_listed_and_of_what_the_caller_may_know() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, blind) = (kit.store("S01").await, kit.store("S02").await);
    let mut row = kit.row::<store::Entity>(blind).await.into_active_model();
    row.blind_close = Set(true);
    let tx = kit.hq.db().begin().await.expect("begin");
    row.update(&tx).await.expect("blind");
    tx.commit().await.expect("commit");
    for (number, store, variance) in [(1, one, -100), (2, one, 30), (3, one, -5), (4, blind, 7)] {
        let id = drawer(&kit, store, number, "2026-11-20", admin.id, if number == 3 { "open" } else { "closed" }).await;
        let mut row = kit.row::<register_session::Entity>(id).await.into_active_model();
        row.cash_variance = Set(Some(Money(variance)));
        row.forced = Set(number == 2);
        let tx = kit.hq.db().begin().await.expect("begin");
        row.update(&tx).await.expect("a variance");
        tx.commit().await.expect("commit");
    }
    let sums = async |who: &Person, query: &str| {
        let got = kit.get(who, &format!("/register-sessions?pageSize=1{query}")).await;
        let keys = ["count", "openCount", "forcedCount", "hiddenCount", "countedCount", "countedCash", "variance"];
        let sum = &got.body["sums"][0];
        json!([keys.map(|key| sum[key].clone()), [&sum["over"], &sum["short"], &sum["currencyCode"]]])
    };
    assert_eq!(sums(&admin, "").await, json!([[4, 1, 1, 0, 4, 19_600, -68], [37, -105, "USD"]]));
    assert_eq!(sums(&admin, "&registerCode=04").await, json!([[1, 0, 0, 0, 1, 4900, 7], [7, 0, "USD"]]));
    kit.role(&admin, "looker", &["registers.view"]).await;
    let looker = kit.person("ada", &[("looker", None)]).await;
    assert_eq!(sums(&looker, "").await, json!([[4, 1, 1, 1, 3, 14_700, -75], [30, -105, "USD"]]));
}
