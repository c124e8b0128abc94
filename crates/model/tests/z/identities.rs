use serde_json::{Value, json};
use tillkeep_model::z::{Broken, Cash, Department, Stored, TenderTotal, ZReport, identities};
use tillkeep_model::{JsonText, Money, Qty};

use crate::day::{Day, MIXED};

#[test]
fn vector_z01_what_should_be_in_the_drawer_is_the_float_the_payments_and_the_movements() {
    let vectors: Value = serde_json::from_str(include_str!("../data/vectors.json")).expect("the vectors");
    let vector = vectors.as_array().expect("a list").iter().find(|vector| vector["id"] == "Z01").expect("Z01");
    let expected = Money(vector["expected"].as_i64().expect("an amount"));
    let payments = Money(2175 + 4850 + 675 - 1850);
    let cash = Cash {
        opening_float: Money(20000),
        payments,
        paid_in: Money(5000),
        paid_out: Money(1200),
        drop: Money(15000),
        expected,
        ..Cash::default()
    };
    let tender = TenderTotal {
        tender_kind: "cash".into(),
        count: 4,
        amount: payments,
        sales_amount: Money(7700),
        refunds_amount: Money(-1850),
        ..TenderTotal::default()
    };
    let mut report =
        ZReport { version: 2, opening_float: Money(20000), expected_cash: expected, cash, ..ZReport::default() };
    (report.net_amount, report.total_amount) = (payments, payments);
    (report.amounts.net_sales, report.amounts.net_refunds) = (Money(7700), Money(-1850));
    report.amounts.list_sales = Money(7700);
    report.running_total.after = payments;
    report.departments = vec![Department { net_amount: payments, ..Department::default() }];
    report.tenders = vec![tender];
    assert_eq!(identities(&report, true), []);
    report.cash.drop = Money(14999);
    let broken = identities(&report, true);
    assert_eq!(broken, [Broken { name: "expectedCash".into(), is: 14650, should_be: 14651 }]);
}

#[test]
fn a_thousand_days_of_all_documents_add_up() {
    for seed in 1..=1000 {
        let report = Day::drawn(seed, 30, MIXED);
        assert_eq!(identities(&report, true), [], "{seed}: {report:#?}");
        let read: ZReport = serde_json::from_value(json!(report)).expect("a report");
        assert_eq!(read, report, "{seed}");
    }
}

/// Figures that no other figure of the report says, and what holds them instead.
const ALONE: &[(&str, &str)] = &[
    ("/version", "is no figure"),
    ("/header", "is no figure"),
    ("/count of a tender", "says nothing of amounts: a document may have several payments"),
    ("/base of a tax", "of several rates of one product is the same net amount twice"),
    ("/rate of a tax", "a tax is rounded by line or document"),
    ("/settlements/amount", "accounts are charged by sales too, so that the tender is a sum of both"),
    ("/voidAmount", "a voided document counts in nothing else"),
    ("/cash/denominations", "of several tenders of cash only one may have them; a count checks those of each"),
    ("/controls/priceOverrides", "beside the list prices there are no others"),
    ("/controls/manualDiscounts", "a till may have given the discounts by other rules"),
    ("/controls/noSaleCount", "no document says it"),
    ("/controls/parkedAbandoned", "no document says it"),
    ("/controls/parkedOpen", "no document says it"),
    ("/controls/approvals", "no document says it"),
    ("/chain", "is checked by its own entries: it began on another day than the running total"),
];

/// The row of [`ALONE`] that a place in the JSON belongs to.
fn alone(place: &str) -> bool {
    let in_list = |list: &str, field: &str| place.starts_with(list) && place.ends_with(field);
    let name = if in_list("/tenders/", "/count") {
        "/count of a tender"
    } else if in_list("/taxes/", "/baseAmount") {
        "/base of a tax"
    } else if in_list("/taxes/", "/ratePpm") {
        "/rate of a tax"
    } else {
        place
    };
    ALONE.iter().any(|(known, _)| name.starts_with(known))
}

/// Every number in `value`, by its place.
fn numbers(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(place.to_owned()),
        Value::Array(rows) => {
            for (index, row) in rows.iter().enumerate() {
                numbers(row, &format!("{place}/{index}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                numbers(field, &format!("{place}/{name}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// One more; a thousandth more of a quantity that is not whole.
fn raised(number: &Value) -> Value {
    let Some(whole) = number.as_i64() else {
        let quantity: Qty = serde_json::from_value(number.clone()).expect("a quantity");
        return json!(Qty(quantity.0 + 1));
    };
    json!(whole + 1)
}

#[test]
fn every_figure_that_is_changed_by_one_breaks_an_identity_but_those_that_stand_alone() {
    let mut alone_seen = std::collections::BTreeSet::new();
    for seed in 1..=40 {
        let report = json!(Day::drawn(seed, 30, MIXED));
        let mut places = Vec::new();
        numbers(&report, "", &mut places);
        assert!(places.len() > 80, "{}", places.len());
        for place in places {
            let mut changed = report.clone();
            let number = changed.pointer_mut(&place).expect("a number");
            *number = raised(number);
            let changed: ZReport = serde_json::from_value(changed).expect("a report");
            let broken = !identities(&changed, true).is_empty();
            assert_eq!(broken, !alone(&place), "{seed}: {place}");
            if !broken {
                alone_seen.insert(place);
            }
        }
    }
    for (known, _) in ALONE.iter().filter(|(known, _)| !known.contains(' ')) {
        assert!(alone_seen.iter().any(|place| place.starts_with(known)), "{known} is not there");
    }
}

#[test]
fn totals_of_earlier_releases_are_version_1_with_what_they_had() {
    let old = json!({
        "saleCount": 2, "refundCount": 1, "voidCount": 1, "settlements": {"count": 0, "amount": 0}, "netAmount": 5000,
        "taxAmount": 850, "totalAmount": 5850, "cashRounding": 0, "openingFloat": 20000, "expectedCash": 24850,
        "tenders": [
            {"tenderId": null, "tenderCode": "CARD", "tenderKind": "card", "count": 1, "amount": 1000},
            {"tenderId": null, "tenderCode": "CASH", "tenderKind": "cash", "count": 2, "amount": 4850},
        ],
        "taxes": [{"taxRateId": "07ce8252-5d5e-5054-b835-422419b66d76", "code": "STD", "name": "VAT", "ratePpm": 170_000,
                   "baseAmount": 5000, "taxAmount": 850}],
        "firstReceiptNumber": "S01-02-000001", "lastReceiptNumber": "S01-02-000004",
    });
    let plain: ZReport = serde_json::from_value(old.clone()).expect("a report");
    assert_eq!((plain.version, plain.item_count, plain.chain.clone()), (1, Qty::ZERO, None));
    let stored = Stored {
        running_total: Some(Money(105_850)),
        counted_cash: Some(Money(24_840)),
        cash_variance: Some(Money(-10)),
    };
    let report = ZReport::read(&JsonText(old.clone()), stored).expect("a report");
    assert_eq!((report.cash.payments, report.cash.expected), (Money(4850), Money(24850)));
    assert_eq!((report.cash.counted, report.cash.variance), (Some(Money(24_840)), Some(Money(-10))));
    assert_eq!((report.running_total.before, report.running_total.after), (Money(100_000), Money(105_850)));
    assert_eq!(identities(&report, true), []);
    // What a release before reads of the new ones stands where it stood.
    let now = json!(report);
    for (field, value) in old.as_object().expect("an object") {
        if field != "tenders" {
            assert_eq!(&now[field], value, "{field}");
        }
    }
    for (field, value) in old["tenders"][0].as_object().expect("an object") {
        assert_eq!(&now["tenders"][0][field], value, "{field}");
    }
    // Rows of the first release have no payments on accounts.
    let mut first = old;
    first.as_object_mut().expect("an object").remove("settlements");
    assert!(ZReport::read(&JsonText(first), stored).is_ok());
    assert!(ZReport::read(&JsonText(json!({"saleCount": "two"})), stored).is_err());
}

#[test]
fn figures_beyond_all_measure_break_identities_and_nothing_else() {
    let most = Money(i64::MAX);
    let mut report = Day::drawn(1, 5, MIXED);
    (report.net_amount, report.tax_amount, report.opening_float) = (most, most, most);
    for tender in &mut report.tenders {
        tender.amount = most;
    }
    report.receipts[0].first = i64::MIN;
    report.receipts[0].last = i64::MAX;
    report.cash.paid_out = Money(i64::MIN);
    let names: Vec<String> = identities(&report, true).into_iter().map(|broken| broken.name).collect();
    for name in ["totalAmount", "tenders", "taxes", "expectedCash", "receipts"] {
        assert!(names.iter().any(|known| known.starts_with(name)), "{name}: {names:?}");
    }
}
