use std::collections::BTreeSet;

use serde_json::{Value, json};
use tillkeep_model::Money;
use tillkeep_model::ids;
use tillkeep_model::z::{BlindDepartment, Own, OwnMovement, ZReport, blind};

use crate::day::{Day, Kind, MIXED};

/// Every whole number of an answer, those in texts too.
fn figures(value: &Value, found: &mut BTreeSet<i128>) {
    match value {
        Value::Number(number) => found.extend(number.as_i64().map(i128::from)),
        Value::String(text) => {
            let digits = text.split(|letter: char| !letter.is_ascii_digit());
            found.extend(digits.filter_map(|digits| digits.parse::<i128>().ok()));
        }
        Value::Array(rows) => rows.iter().for_each(|row| figures(row, found)),
        Value::Object(fields) => fields.values().for_each(|field| figures(field, found)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Whether `secret` is one of them, or the sum or difference of two.
fn is_said(figures: &BTreeSet<i128>, secret: i128) -> bool {
    figures.iter().any(|one| {
        *one == secret
            || figures.contains(&(secret - one))
            || figures.contains(&(one - secret))
            || figures.contains(&(secret + one))
    })
}

/// What is not to be known: what there should be, sums of cash, and totals.
fn secrets(report: &ZReport) -> Vec<(&'static str, Money)> {
    let cash = report.tenders.iter().find(|tender| tender.tender_kind == "cash").expect("cash");
    let moved = report.expected_cash - report.opening_float;
    vec![
        ("expected cash", report.expected_cash),
        ("expected cash without the float", moved),
        ("cash", cash.amount),
        ("cash of sales", cash.sales_amount),
        ("cash and float", cash.amount + report.opening_float),
        ("total", report.total_amount),
        ("total in money", report.total_amount + report.cash_rounding),
        ("net", report.net_amount),
        ("running total", report.running_total.after),
        ("counted", report.cash.counted.unwrap_or(report.expected_cash)),
    ]
}

/// A cashier who sold everything and entered half of what was moved.
fn own(report: &ZReport) -> Own {
    let departments = report.departments.iter().map(|department| BlindDepartment {
        department_id: department.department_id,
        name: department.name.clone(),
        quantity: department.quantity,
    });
    let movement = |name: &str, amount| OwnMovement {
        id: ids::named(name),
        r#type: name.into(),
        amount,
        reason: "change".into(),
        at: report.header.opened_at,
    };
    let movements = vec![movement("paid_in", report.cash.paid_in), movement("drop", report.cash.drop)];
    Own { departments: departments.collect(), movements }
}

#[test]
fn no_two_figures_of_a_blind_x_come_to_cash_on_days_of_any_kind() {
    let all = [false, true].into_iter().flat_map(|cash_only| [false, true].map(|untaxed| Kind { cash_only, untaxed }));
    let kinds: Vec<Kind> = all.collect();
    for seed in 1..=1000 {
        let kind = kinds[usize::try_from(seed).expect("small") % kinds.len()];
        // Days of one sale too: then its total is the sum of cash.
        let documents = if seed % 5 == 0 { 1 } else { 25 };
        let report = Day::drawn(seed, documents, kind);
        let answer = json!(blind(&report, own(&report)));
        let mut found = BTreeSet::new();
        figures(&answer, &mut found);
        assert!(found.contains(&i128::from(report.opening_float.0)), "the search sees what is there");
        for (name, secret) in secrets(&report) {
            assert!(!is_said(&found, i128::from(secret.0)), "{seed}: {name} {secret:?} in {answer:#}");
        }
    }
}

#[test]
fn the_search_finds_what_a_whole_x_says() {
    let report = Day::drawn(3, 25, MIXED);
    let mut found = BTreeSet::new();
    figures(&json!(report), &mut found);
    for (name, secret) in secrets(&report) {
        assert!(is_said(&found, i128::from(secret.0)), "{name}");
    }
}

#[test]
fn a_blind_x_says_how_many_of_everything_and_what_whoever_asks_has_moved() {
    let report = Day::drawn(5, 25, MIXED);
    let answer = blind(&report, own(&report));
    assert!(answer.blind);
    assert_eq!(
        (answer.sale_count, answer.refund_count, answer.void_count),
        (report.sale_count, report.refund_count, report.void_count)
    );
    assert_eq!(answer.opening_float, report.opening_float);
    let said: Vec<i64> = answer.tenders.iter().map(|tender| tender.count).collect();
    assert_eq!(said, report.tenders.iter().map(|tender| tender.count).collect::<Vec<_>>());
    assert_eq!(answer.receipts, report.receipts);
    assert_eq!(
        answer.movements.iter().map(|movement| movement.amount).collect::<Vec<_>>(),
        [report.cash.paid_in, report.cash.drop]
    );
    assert_eq!(answer.chain.map(|chain| chain.hash), report.chain.map(|chain| chain.hash));
    assert_eq!(answer.controls.removed, 8);
}
