//! The reports of drawers of every store, as their stores made them, and those of several drawers: `GET /reports/z` and
//! `GET /reports/zz`.

use axum::http::header;
use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::{Instant, JsonText, Money};
use tillkeep_storage::entity::{register_session, store};
use tillkeep_storage::raw::sea_orm::{ActiveModelTrait, IntoActiveModel, Set};
use uuid::Uuid;

use super::kit::{Kit, column};

/// A report of 0.1.0: so much was sold in cash.
fn first_version(total: i64) -> Json {
    json!({
        "saleCount": 1, "refundCount": 0, "voidCount": 0, "netAmount": total, "taxAmount": 0, "totalAmount": total,
        "cashRounding": 0, "openingFloat": 5000, "expectedCash": 5000 + total, "taxes": [],
        "tenders": [{"tenderCode": "CASH", "tenderKind": "cash", "count": 1, "amount": total}],
        "firstReceiptNumber": "S01-01-000001", "lastReceiptNumber": "S01-01-000001",
    })
}

/// One of this release, with 3.00 put in.
fn second_version(total: i64) -> Json {
    let mut report = first_version(total);
    report["version"] = json!(2);
    report["expectedCash"] = json!(5300 + total);
    report["cash"] = json!({
        "openingFloat": 5000, "payments": total, "paidIn": 300, "expected": 5300 + total, "counted": 5200 + total,
        "variance": -100,
    });
    report["header"] = json!({"openedByName": "Mia, then", "openedAt": "2026-11-20T08:00:00Z"});
    report["receipts"] = json!([{"series": "01", "first": 1, "last": 1, "count": 1}]);
    report
}

struct Drawer<'a> {
    store: Uuid,
    register: &'a str,
    number: i32,
    opened_by: Uuid,
    totals: Option<Json>,
    zz: (Option<i32>, Option<i32>),
}

async fn drawer(kit: &Kit, drawer: Drawer<'_>) -> Uuid {
    let id = Uuid::now_v7();
    let number = drawer.number;
    let is_closed = drawer.totals.is_some();
    let expected = drawer.totals.as_ref().and_then(|totals| totals["expectedCash"].as_i64());
    let row = register_session::Model {
        id,
        store_id: drawer.store,
        register_code: drawer.register.into(),
        session_number: number,
        status: if is_closed { "closed" } else { "open" }.into(),
        business_date: format!("2026-11-{:02}", 18 + number),
        opened_by: drawer.opened_by,
        opened_at: Instant::parse("2026-11-20T08:00:00Z").expect("an instant"),
        closed_at: Instant::parse(&format!("2026-11-20T20:{number:02}:00Z")).filter(|_| is_closed),
        expected_cash: expected.map(Money),
        counted_cash: expected.map(|expected| Money(expected - 100)),
        cash_variance: expected.map(|_| Money(-100)),
        totals: drawer.totals.map(JsonText),
        zz_number: drawer.zz.0,
        store_zz_number: drawer.zz.1,
        ..register_session::Model::default()
    };
    let tx = kit.hq.db().begin().await.expect("begin");
    row.into_active_model().insert(&tx).await.expect("drawer");
    tx.commit().await.expect("commit");
    id
}

/// A drawer of register 01 without a report of several.
fn of(store: Uuid, number: i32, opened_by: Uuid, totals: Option<Json>) -> Drawer<'static> {
    Drawer { store, register: "01", number, opened_by, totals, zz: (None, None) }
}

#[tokio::test]
async fn reports_of_every_release_are_listed_newest_first_and_none_of_an_open_drawer() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let mia = kit.person("mia", &[]).await.id;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let old = drawer(&kit, of(one, 1, mia, Some(first_version(1000)))).await;
    drawer(&kit, of(two, 2, mia, Some(second_version(2000)))).await;
    let open = drawer(&kit, of(one, 3, mia, None)).await;
    let rows = kit.get(&admin, "/reports/z").await.data();
    assert_eq!(column(&rows, "storeCode"), ["S02", "S01"]);
    let shown = |row: &Json| json!([row["version"], row["totalAmount"], row["cashVariance"], row["ownerName"]]);
    assert_eq!(shown(&rows[0]), json!([2, 2000, -100, "mia"]));
    assert_eq!(shown(&rows[1]), json!([1, 1000, -100, "mia"]));
    let of_one = kit.get(&admin, &format!("/reports/z?storeId={one}&businessDateTo=2026-11-19")).await.data();
    assert_eq!(column(&of_one, "sessionId"), [old.to_string()]);
    kit.get(&admin, "/reports/z?businessDateFrom=soon").await.names("businessDateFrom");
    kit.get(&admin, &format!("/reports/z/{open}")).await.refused(409, "session_open");
    kit.get(&admin, &format!("/reports/z/{}", Uuid::now_v7())).await.refused(404, "not_found");
}

#[tokio::test]
async fn a_report_is_shown_as_its_store_made_it_and_marked_as_a_copy() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let mia = kit.person("mia", &[]).await.id;
    let one = kit.store("S01").await;
    let old = drawer(&kit, of(one, 1, mia, Some(first_version(1000)))).await;
    let new = drawer(&kit, of(one, 2, mia, Some(second_version(2000)))).await;
    let shown = kit.get(&admin, &format!("/reports/z/{old}")).await.data();
    assert_eq!((&shown["copy"], &shown["report"]["version"]), (&json!(true), &json!(1)));
    assert_eq!(shown["report"]["header"]["openedByName"], "mia", "an old report does not say it");
    assert_eq!(shown["report"]["cash"]["expected"], 6000, "the float and the payments: it knew of no movements");
    let shown = kit.get(&admin, &format!("/reports/z/{new}")).await.data();
    assert_eq!(shown["report"]["header"]["openedByName"], "Mia, then");
    assert_eq!((&shown["report"]["cash"]["paidIn"], &shown["expectedCash"]), (&json!(300), &json!(7300)));

    for (query, kind) in [("format=text&width=32", "text/plain"), ("format=html&width=58", "text/html")] {
        let answer = kit.get(&admin, &format!("/reports/z/{new}?{query}")).await;
        let of = answer.headers[header::CONTENT_TYPE].to_str().expect("text");
        assert!(answer.status == 200 && of.starts_with(kind), "{query}: {of} {}", answer.text);
        let text = answer.text;
        assert!(text.contains("Mia, then") && text.contains("73.00"), "{text}");
    }
    kit.get(&admin, &format!("/reports/z/{new}?width=32")).await.names("width");
    kit.get(&admin, &format!("/reports/z/{new}?format=escpos")).await.names("format");
}

#[tokio::test]
async fn reports_are_cut_to_the_stores_of_whoever_asks() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    drawer(&kit, of(one, 1, admin.id, Some(first_version(1000)))).await;
    let there = drawer(&kit, of(two, 2, admin.id, Some(first_version(1000)))).await;
    kit.role(&admin, "reporter", &["reports.z_report", "reports.view_local"]).await;
    let ada = kit.person("ada", &[("reporter", Some(one))]).await;
    assert_eq!(column(&kit.get(&ada, "/reports/z").await.data(), "storeCode"), ["S01"]);
    kit.get(&ada, &format!("/reports/z?storeId={two}")).await.refused(403, "scope");
    kit.get(&ada, &format!("/reports/z/{there}")).await.is(404);
    kit.role(&admin, "blinkered", &["reports.z_report"]).await;
    let bob = kit.person("bob", &[("blinkered", None)]).await;
    assert_eq!(kit.get(&bob, "/reports/z").await.data(), json!([]), "no right says how far reports go");
}

/// Two registers, three drawers of the first one: the second of them is missing.
async fn with_zz(kit: &Kit, store: Uuid, mia: Uuid) {
    for (register, number, total, zz) in [
        ("01", 1, 1000, (Some(1), Some(1))),
        ("01", 3, 2000, (Some(2), Some(1))),
        ("01", 4, 400, (Some(2), None)),
        ("02", 1, 70, (None, Some(1))),
    ] {
        let totals = Some(second_version(total));
        drawer(kit, Drawer { store, register, number, opened_by: mia, totals, zz }).await;
    }
}

#[tokio::test]
async fn reports_of_several_drawers_are_reckoned_from_the_drawers_of_each() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let mia = kit.person("mia", &[]).await.id;
    let one = kit.store("S01").await;
    with_zz(&kit, one, mia).await;
    let rows = kit.get(&admin, "/reports/zz").await.data();
    let shown = |row: &Json| {
        json!([
            row["registerCode"],
            row["zzNumber"],
            row["sessionCount"],
            row["cashVariance"],
            row["cashVarianceAbsolute"]
        ])
    };
    let shown: Vec<Json> = rows.as_array().expect("a list").iter().map(shown).collect();
    assert_eq!(shown, [json!(["01", 2, 2, -200, 200]), json!([null, 1, 3, -300, 300]), json!(["01", 1, 1, -100, 100])]);
    let numbers = async |page: &str| {
        let rows = kit.get(&admin, &format!("/reports/zz?storeId={one}&registerCode=01{page}")).await.data();
        rows.as_array().expect("a list").iter().map(|row| row["zzNumber"].clone()).collect::<Json>()
    };
    assert_eq!(numbers("").await, json!([2, 1]), "none of another register, nor of the whole store");
    assert_eq!(numbers("&pageSize=1&page=2").await, json!([1]));

    let second = kit.get(&admin, &format!("/reports/zz/{one}/2?registerCode=01")).await.data();
    let report = &second["report"];
    assert_eq!((&report["sums"]["totalAmount"], &report["sums"]["cash"]["variance"]), (&json!(2400), &json!(-200)));
    assert_eq!(column(&report["rows"], "sessionNumber"), ["3", "4"]);
    assert_eq!(report["gaps"], json!([{"registerCode": "01", "letter": "", "from": 2, "to": 2}]));
    let store = kit.get(&admin, &format!("/reports/zz/{one}/1")).await.data();
    assert_eq!((&store["registerCode"], &store["report"]["sums"]["totalAmount"]), (&Json::Null, &json!(3070)));
    for path in ["/reports/zz/{one}/9", "/reports/zz/{one}/first", "/reports/zz/nowhere/1"] {
        kit.get(&admin, &path.replace("{one}", &one.to_string())).await.refused(404, "not_found");
    }
    kit.get(&admin, "/reports/zz?page=0").await.names("page");
}

#[tokio::test]
async fn where_a_store_closes_blind_reports_of_several_drawers_are_for_those_who_may_close() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, blind) = (kit.store("S01").await, kit.store("S02").await);
    let mut row = kit.row::<store::Entity>(blind).await.into_active_model();
    row.blind_close = Set(true);
    let tx = kit.hq.db().begin().await.expect("begin");
    row.update(&tx).await.expect("blind");
    tx.commit().await.expect("commit");
    for store in [one, blind] {
        with_zz(&kit, store, admin.id).await;
    }
    kit.role(&admin, "reporter", &["reports.zz_report", "reports.view_global"]).await;
    kit.role(&admin, "closer", &["registers.close"]).await;
    let ada = kit.person("ada", &[("reporter", None)]).await;
    let seen = kit.get(&ada, "/reports/zz").await.data();
    assert_eq!(column(&seen, "storeCode"), ["S01"; 3]);
    kit.get(&ada, &format!("/reports/zz/{blind}/1")).await.is(404);
    kit.get(&ada, &format!("/reports/zz?storeId={blind}")).await.refused(403, "scope");
    let bob = kit.person("bob", &[("reporter", None), ("closer", Some(blind))]).await;
    assert_eq!(kit.get(&bob, &format!("/reports/zz/{blind}/1")).await.data()["zzNumber"], 1);
}
