//! Reports of drawers of every release at headquarters: what an old one says is never called wrong, what a new one says is found by
//! an old headquarters, and one that does not add up is taken and flagged.

use serde::Deserialize;
use serde_json::{Value as Json, json};
use tillkeep_model::z::{Cash, Receipts, RunningTotal, Stored, TaxTotal, TenderTotal, ZReport, identities};
use tillkeep_model::{Instant, JsonText, Money};
use tillkeep_storage::entity::register_session;
use tillkeep_storage::own_documents;
use tillkeep_storage::sea_orm::EntityTrait;
use uuid::Uuid;

use crate::kit::chain::{Chain, id};
use crate::kit::envelopes::{envelope, push};
use crate::kit::{self, Hq, at, entity};

/// What release 0.1.0 read and wrote of a report: these fields and no others.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Old {
    sale_count: i32,
    refund_count: i32,
    void_count: i32,
    net_amount: i64,
    tax_amount: i64,
    total_amount: i64,
    cash_rounding: i64,
    opening_float: i64,
    expected_cash: i64,
    tenders: Vec<OldTender>,
    taxes: Vec<OldTax>,
    first_receipt_number: Option<String>,
    last_receipt_number: Option<String>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OldTender {
    tender_id: Option<Uuid>,
    tender_code: String,
    tender_kind: String,
    count: i64,
    amount: i64,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OldTax {
    tax_rate_id: Uuid,
    code: String,
    rate_ppm: i64,
    base_amount: i64,
    tax_amount: i64,
}

/// As 0.1.0 wrote it: a sale of 11.90 in cash. A drawer of it may be wrong in itself; nobody checked that then.
fn of_0_1_0() -> Json {
    json!({
        "saleCount": 1, "refundCount": 0, "voidCount": 0, "netAmount": 1000, "taxAmount": 190, "totalAmount": 1190,
        "cashRounding": 0, "openingFloat": 10_000, "expectedCash": 11_190,
        "tenders": [{
            "tenderId": id("CASH"), "tenderCode": "CASH", "tenderKind": "cash", "count": 1, "amount": 1190,
        }],
        "taxes": [{
            "taxRateId": id("T1"), "code": "T1", "name": "19 %", "ratePpm": 190_000, "baseAmount": 1000,
            "taxAmount": 190,
        }],
        "firstReceiptNumber": "S01-01-000001", "lastReceiptNumber": "S01-01-000001",
    })
}

/// The reports that a store of 0.1.0 sent on the day that was recorded of it.
fn recorded() -> Vec<Json> {
    fn collect(json: &Json, out: &mut Vec<Json>) {
        match json {
            Json::Object(object) => {
                out.extend(object.get("totals").filter(|totals| totals.get("saleCount").is_some()).cloned());
                object.values().for_each(|value| collect(value, out));
            }
            Json::Array(list) => list.iter().for_each(|value| collect(value, out)),
            _ => {}
        }
    }
    let wire = include_str!("../../../../tests/releases/0.1.0/wire.jsonl");
    let mut out = Vec::new();
    wire.lines().for_each(|line| collect(&kit::parse(line), &mut out));
    assert!(!out.is_empty(), "a drawer was closed that day");
    out
}

/// The same day by this release, with 5.00 paid out.
fn of_now() -> ZReport {
    let cash = TenderTotal {
        tender_id: Some(id("CASH")),
        tender_code: "CASH".into(),
        tender_kind: "cash".into(),
        count: 1,
        amount: Money(1190),
        sales_amount: Money(1190),
        ..TenderTotal::default()
    };
    let tax = TaxTotal {
        tax_rate_id: id("T1"),
        code: "T1".into(),
        name: "19 %".into(),
        rate_ppm: serde_json::from_value(json!(190_000)).expect("a rate"),
        base_amount: Money(1000),
        tax_amount: Money(190),
    };
    let mut report = ZReport {
        version: ZReport::VERSION,
        sale_count: 1,
        net_amount: Money(1000),
        tax_amount: Money(190),
        total_amount: Money(1190),
        opening_float: Money(10_000),
        expected_cash: Money(10_690),
        tenders: vec![cash],
        taxes: vec![tax],
        first_receipt_number: Some("S01-01-000001".into()),
        last_receipt_number: Some("S01-01-000001".into()),
        cash: Cash {
            opening_float: Money(10_000),
            payments: Money(1190),
            paid_out: Money(500),
            expected: Money(10_690),
            counted: Some(Money(10_690)),
            variance: Some(Money(0)),
            ..Cash::default()
        },
        receipts: vec![Receipts { series: "01".into(), first: 1, last: 1, count: 1, lost: Vec::new() }],
        running_total: RunningTotal { before: Money(0), after: Money(1190) },
        ..ZReport::default()
    };
    report.amounts.list_sales = Money(1190);
    report.amounts.net_sales = Money(1000);
    report.departments =
        serde_json::from_value(json!([{"name": "Tea", "quantity": 1, "netAmount": 1000}])).expect("rows");
    report.item_count.0 = 1000;
    report
}

/// A closed drawer with this report.
fn drawer(chain: &Chain, number: i32, totals: &Json) -> Json {
    let row = id(&format!("session {number}"));
    let expected = totals["expectedCash"].as_i64().expect("an amount");
    let is_counted = totals["version"].is_null() || totals["cash"]["counted"].is_i64();
    let counted = is_counted.then_some(expected);
    let moved = json!([{"id": id("out"), "type": "paid_out", "amount": 500, "reason": "Milk", "userId": id("ann"), "at": at(5)}]);
    let data = json!({
        "id": row, "registerCode": "01", "sessionNumber": number, "status": "closed", "businessDate": "2026-11-20",
        "createdAt": at(0), "openedAt": at(0), "closedAt": at(50), "openingFloat": 10_000, "expectedCash": expected,
        "countedCash": counted, "cashVariance": counted.map(|_| 0), "runningTotal": 1190, "saleCount": 1,
        "firstReceiptNumber": totals["firstReceiptNumber"], "lastReceiptNumber": totals["lastReceiptNumber"],
        "cashMovements": if totals["version"].is_null() { json!([]) } else { moved }, "totals": totals,
    });
    envelope(&chain.first, "register_sessions", row, "update", &data, at(50))
}

/// The flags of a drawer with this report, once headquarters has it.
async fn flags(hq: &Hq, chain: &Chain, number: i32, totals: &Json) -> Json {
    assert_eq!(push(hq, &chain.first, &[drawer(chain, number, totals)]).await.refused, 0);
    let row = id(&format!("session {number}"));
    let row = register_session::Entity::find_by_id(row).one(hq.db.reader()).await.expect("a query").expect("a drawer");
    row.flags.0
}

#[tokio::test]
async fn a_report_of_an_earlier_release_is_never_called_wrong() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        assert_eq!(flags(&hq, &chain, 1, &of_0_1_0()).await, json!([]));
        for (place, totals) in recorded().iter().enumerate() {
            let number = i32::try_from(place).expect("few") + 3;
            assert_eq!(flags(&hq, &chain, number, totals).await, json!([]), "{totals}");
        }
        let mut odd = of_0_1_0();
        (odd["totalAmount"], odd["flags"]) = (json!(1), json!(["does_not_add_up"]));
        assert_eq!(flags(&hq, &chain, 2, &odd).await, json!([]), "nobody checked it when it was made");
    }
}

#[tokio::test]
async fn a_report_that_does_not_add_up_is_taken_and_flagged_and_one_that_does_is_not() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let sound = serde_json::to_value(of_now()).expect("JSON");
        let mut forced = of_now();
        (forced.cash.counted, forced.cash.variance) = (None, None);
        let forced = serde_json::to_value(forced).expect("JSON");
        for (number, totals) in [(1, &sound), (2, &forced)] {
            assert_eq!(flags(&hq, &chain, number, totals).await, json!([]), "{totals}");
        }
        for (number, pointer, value) in [
            (3, "/totalAmount", json!(1191)),
            (4, "/tenders/0/amount", json!(1189)),
            (5, "/cash/paidOut", json!(0)),
            (6, "/cash/expected", json!(10_691)),
            (7, "/runningTotal/after", json!(1)),
            (8, "/receipts/0/last", json!(2)),
            (9, "/departments", json!([])),
            (10, "/flags", json!(["does_not_add_up"])),
            (11, "/cash", json!("a text")),
        ] {
            let mut wrong = sound.clone();
            *wrong.pointer_mut(pointer).expect("a figure") = value;
            assert_eq!(flags(&hq, &chain, number, &wrong).await, json!(["does_not_add_up"]), "{pointer}");
        }
        let mut to_come = sound.clone();
        (to_come["version"], to_come["totalAmount"]) = (json!(3), json!(1));
        assert_eq!(flags(&hq, &chain, 12, &to_come).await, json!([]), "nobody here knows what it says");
    }
}

#[tokio::test]
async fn a_flag_goes_when_the_store_says_what_adds_up() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let sound = serde_json::to_value(of_now()).expect("JSON");
        let mut wrong = sound.clone();
        wrong["netAmount"] = json!(0);
        assert_eq!(flags(&hq, &chain, 1, &wrong).await, json!(["does_not_add_up"]));
        let mut again = drawer(&chain, 1, &sound);
        again["timestamp"] = json!(at(60));
        again["data"]["updatedAt"] = json!(at(60));
        assert_eq!(push(&hq, &chain.first, &[again]).await.refused, 0);
        let row = register_session::Entity::find_by_id(id("session 1")).one(hq.db.reader()).await.expect("a query");
        assert_eq!(row.expect("a drawer").flags.0, json!([]));
    }
}

/// What headquarters has of the first drawer.
async fn row(hq: &Hq) -> register_session::Model {
    let row = register_session::Entity::find_by_id(id("session 1")).one(hq.db.reader()).await.expect("a query");
    row.expect("a drawer")
}

/// The first drawer, before its close: with these movements, and those of the safe.
fn open_drawer(chain: &Chain, second: i64, cash: &[(&str, &str)], safe: &[&str]) -> Json {
    let mut sent = drawer(chain, 1, &serde_json::to_value(of_now()).expect("JSON"));
    (sent["data"]["status"], sent["data"]["totals"]) = (json!("open"), Json::Null);
    (sent["timestamp"], sent["data"]["updatedAt"]) = (json!(at(second)), json!(at(second)));
    let entry = |(name, kind): &(&str, &str)| json!({"id": id(name), "type": kind, "amount": 500, "at": at(5)});
    sent["data"]["cashMovements"] = cash.iter().map(entry).collect();
    let deposit = |name: &&str| json!({"id": id(name), "type": "deposit", "amount": 500, "at": at(5)});
    sent["data"]["safeMovements"] = safe.iter().map(deposit).collect();
    sent["data"]["noSaleCount"] = json!(cash.iter().filter(|(_, kind)| *kind == "no_sale").count());
    sent
}

fn names(list: &Json) -> Vec<Uuid> {
    list.as_array()
        .expect("a list")
        .iter()
        .map(|entry| entry["id"].as_str().expect("an id").parse().expect("an id"))
        .collect()
}

#[tokio::test]
async fn a_movement_that_headquarters_has_stays_when_a_store_that_was_restored_knows_it_no_more() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (one, two, three) = (("one", "paid_out"), ("two", "no_sale"), ("three", "paid_in"));
        let count = |second: i64| json!({"countedBy": id("bob"), "countedAt": at(second), "counts": []});
        let given = |second: i64| json!({"userId": id("ann"), "byUserId": id("bob"), "at": at(second)});
        for (second, cash, safe) in [(50, [one, two], ["deposit", "more"]), (60, [one, three], ["deposit", "last"])] {
            let mut sent = open_drawer(&chain, second, &cash, &safe);
            sent["data"]["earlierCounts"] = json!([count(1), count(second)]);
            sent["data"]["owners"] = json!([given(second)]);
            assert_eq!(push(&hq, &chain.first, &[sent]).await.refused, 0);
        }
        let row = row(&hq).await;
        assert_eq!(names(&row.cash_movements.0), [id("one"), id("two"), id("three")]);
        assert_eq!(names(&row.safe_movements.0), [id("deposit"), id("more"), id("last")]);
        assert_eq!(row.earlier_counts.0, json!([count(1), count(50), count(60)]));
        assert_eq!(row.owners.0, json!([given(50), given(60)]));
        assert_eq!((row.no_sale_count, row.flags.0), (1, json!([])));
    }
}

#[tokio::test]
async fn what_is_moved_in_a_drawer_that_headquarters_knows_to_be_closed_is_kept_as_late() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let totals = serde_json::to_value(of_now()).expect("JSON");
        assert_eq!(push(&hq, &chain.first, &[drawer(&chain, 1, &totals)]).await.refused, 0);
        let before = row(&hq).await;
        // Its store goes on from a copy in which the drawer is open.
        let moved = [("out", "paid_out"), ("after", "drop"), ("opening", "no_sale")];
        assert_eq!(push(&hq, &chain.first, &[open_drawer(&chain, 60, &moved, &["deposit"])]).await.refused, 0);
        let row = row(&hq).await;
        assert_eq!((row.status.as_str(), row.flags.0), ("closed", json!(["late_movement"])));
        assert_eq!((&row.totals, row.expected_cash), (&before.totals, before.expected_cash));
        assert_eq!(names(&row.cash_movements.0), [id("out"), id("after"), id("opening")]);
        let late: Vec<bool> = (0..3).map(|place| row.cash_movements.0[place]["late"] == true).collect();
        assert_eq!((late, row.no_sale_count), (vec![false, true, true], 1));
        assert_eq!(names(&row.safe_movements.0), [id("deposit")]);
    }
}

#[tokio::test]
async fn earlier_counts_that_a_store_forgot_are_forgotten_at_headquarters() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let count = |second: i64| json!({"countedBy": id("bob"), "countedAt": at(second), "counts": []});
        let counts = |seconds: &[i64]| -> Json { seconds.iter().map(|second| count(*second)).collect() };
        let first: Vec<i64> = (1..=20).collect();
        let later: Vec<i64> = std::iter::once(1).chain(4..=22).collect();
        for (second, seconds) in [(50, &first), (60, &later)] {
            let mut sent = open_drawer(&chain, second, &[], &[]);
            sent["data"]["earlierCounts"] = counts(seconds);
            assert_eq!(push(&hq, &chain.first, &[sent]).await.refused, 0);
        }
        assert_eq!(row(&hq).await.earlier_counts.0, counts(&later));
    }
}

#[tokio::test]
async fn a_movement_that_the_report_of_its_drawer_does_not_know_is_late_and_the_report_stays() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let lost = open_drawer(&chain, 40, &[("out", "paid_out"), ("lost", "paid_out"), ("gone", "no_sale")], &[]);
        assert_eq!(push(&hq, &chain.first, &[lost]).await.refused, 0);
        let closed = drawer(&chain, 1, &serde_json::to_value(of_now()).expect("JSON"));
        for second in [50, 60] {
            let mut sent = closed.clone();
            (sent["timestamp"], sent["data"]["updatedAt"]) = (json!(at(second)), json!(at(second)));
            assert_eq!(push(&hq, &chain.first, &[sent]).await.refused, 0);
            let row = row(&hq).await;
            assert_eq!(row.flags.0, json!(["late_movement"]), "the figures that were printed add up");
            assert_eq!(names(&row.cash_movements.0), [id("out"), id("lost"), id("gone")]);
            let late: Vec<bool> = (0..3).map(|place| row.cash_movements.0[place]["late"] == true).collect();
            assert_eq!((late, row.no_sale_count), (vec![false, true, true], 1));
            assert_eq!(row.expected_cash, Some(Money(10_690)));
        }
    }
}

#[tokio::test]
async fn a_store_that_lost_its_database_gets_back_all_that_its_drawers_carry() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let mut sent = drawer(&chain, 1, &serde_json::to_value(of_now()).expect("JSON"));
        let carried = [
            ("ownerId", json!(id("ann"))),
            ("owners", json!([{"userId": id("ann"), "byUserId": id("bob"), "at": at(3)}])),
            ("earlierCounts", json!([{"countedBy": id("bob"), "countedAt": at(4), "counts": []}])),
            ("closeReasonCode", json!("left")),
            ("safeMovements", json!([{"id": id("deposit"), "type": "deposit", "amount": 900}])),
            ("zzNumber", json!(3)),
            ("storeZzNumber", json!(2)),
        ];
        for (key, value) in &carried {
            sent["data"][key] = value.clone();
        }
        assert_eq!(push(&hq, &chain.first, std::slice::from_ref(&sent)).await.refused, 0);
        let snapshot = hq.db.snapshot().await.expect("a snapshot");
        let (since, drawers) = (Instant::from_millis(0), entity("register_sessions"));
        let page = own_documents::page(&snapshot, drawers, chain.first.store_id, Uuid::nil(), since, 100).await;
        let back = kit::parse(&page.expect("a page").rows[0]);
        for key in carried.iter().map(|(key, _)| *key).chain(["cashMovements", "totals"]) {
            assert_eq!(back[key], sent["data"][key], "{key}");
        }
    }
}

#[test]
fn what_an_earlier_release_sent_is_read_as_it_was_and_holds() {
    for totals in recorded() {
        let old: Old = serde_json::from_value(totals.clone()).expect("as 0.1.0 read it");
        let report = ZReport::read(&JsonText(totals), Stored::default()).expect("as this release reads it");
        assert_eq!((report.version, report.sale_count), (1, old.sale_count.into()));
        assert_eq!((report.total_amount.0, report.expected_cash.0), (old.total_amount, old.expected_cash));
        assert_eq!((report.tenders.len(), report.taxes.len()), (old.tenders.len(), old.taxes.len()));
        assert_eq!(identities(&report, true), []);
    }
}

#[test]
fn an_earlier_headquarters_finds_its_thirteen_fields_as_they_were() {
    let old: Old = serde_json::from_value(of_0_1_0()).expect("what 0.1.0 wrote");
    let now: Old = serde_json::from_value(serde_json::to_value(of_now()).expect("JSON")).expect("what this one writes");
    assert_eq!(now, Old { expected_cash: 10_690, ..old }, "but for what was paid out, it was the same day");
}
