use serde_json::{Value, json};
use tillkeep_model::z::{Broken, Stored, ZReport, ZRow, ZzReport, identities, zz};
use tillkeep_model::{JsonText, Money, ids};

use crate::day::{Day, Draw, MIXED};

/// Days of some registers, each of which goes on where the day before ended.
fn rows(seed: u64, registers: u64, days: u64) -> Vec<ZRow> {
    let mut draw = Draw::of(seed);
    let mut rows = Vec::new();
    for register in 1..=registers {
        let mut running = Money(draw.below(1_000_000));
        for day in 1..=days {
            let mut report = Day::drawn(seed * 1000 + register * 50 + day, 6, MIXED);
            report.running_total.before = running;
            running += report.total_amount;
            report.running_total.after = running;
            // A letter begins on the third day.
            let letter = if day > 2 { "A" } else { "" };
            let number = i64::try_from(if day > 2 { day - 2 } else { day + 6 }).expect("small");
            rows.push(ZRow {
                session_id: ids::named(&format!("{seed} {register} {day}")),
                register_code: format!("{register:02}"),
                letter: letter.into(),
                number,
                business_date: format!("2026-11-{day:02}"),
                cashier: "Anna".into(),
                report,
            });
        }
    }
    rows
}

/// The figures that are plain sums, by their place.
const SUMMED: &[&str] = &[
    "/saleCount",
    "/refundCount",
    "/voidCount",
    "/settlements/count",
    "/settlements/amount",
    "/netAmount",
    "/taxAmount",
    "/totalAmount",
    "/cashRounding",
    "/openingFloat",
    "/expectedCash",
    "/voidAmount",
    "/amounts/listSales",
    "/amounts/specialDiscount",
    "/amounts/lineDiscount",
    "/amounts/cartDiscount",
    "/amounts/netSales",
    "/amounts/netRefunds",
    "/cash/openingFloat",
    "/cash/payments",
    "/cash/paidIn",
    "/cash/floatAdd",
    "/cash/paidOut",
    "/cash/drop",
    "/cash/expected",
    "/controls/priceOverrides/count",
    "/controls/priceOverrides/amount",
    "/controls/manualDiscounts/count",
    "/controls/manualDiscounts/amount",
    "/controls/noSaleCount",
    "/controls/parkedAbandoned",
    "/controls/parkedOpen",
    "/controls/approvals",
    "/controls/removed/count",
    "/controls/removed/amount",
    "/tenders/0/count",
    "/tenders/0/amount",
    "/tenders/1/salesAmount",
    "/tenders/2/refundsAmount",
    "/tenders/3/amount",
    "/taxes/0/baseAmount",
    "/taxes/1/taxAmount",
    "/departments/0/netAmount",
    "/departments/2/netAmount",
    "/controls/removed/byCashier/1/amount",
];

/// What does not hold of the sums. Where a drawer is missing its total is missing too, so that the running totals at both ends are
/// further apart than the sums say.
fn broken(zz: &ZzReport) -> Vec<Broken> {
    let is_due = |broken: &Broken| zz.gaps.is_empty() || broken.name != "runningTotal.after";
    identities(&zz.sums, true).into_iter().filter(is_due).collect()
}

fn at(value: &Value, place: &str) -> i64 {
    value.pointer(place).and_then(Value::as_i64).unwrap_or_else(|| panic!("{place}"))
}

#[test]
fn a_zz_has_the_sum_of_each_figure_and_its_identities_hold() {
    for seed in 1..=100 {
        let rows = rows(seed, seed % 3 + 1, 5);
        let mut turned = rows.clone();
        turned.reverse();
        let report = zz(&rows);
        assert_eq!(report, zz(&turned), "{seed}: whatever the order");
        assert_eq!(broken(&report), [], "{seed}");
        assert_eq!(report.gaps, []);
        assert_eq!(report.rows.len(), rows.len());
        let parts: Vec<Value> = rows.iter().map(|row| json!(row.report)).collect();
        let sums = json!(report.sums);
        for place in SUMMED {
            assert_eq!(at(&sums, place), parts.iter().map(|part| at(part, place)).sum::<i64>(), "{seed}: {place}");
        }
        let items: i64 = rows.iter().map(|row| row.report.item_count.0).sum();
        assert_eq!(report.sums.item_count.0, items);
        let totals: Money = rows.iter().map(|row| row.report.total_amount).sum();
        assert_eq!(report.running_total.after - report.running_total.before, totals);
        let receipts = |report: &ZReport| report.receipts.iter().map(|receipts| receipts.count).sum::<i64>();
        assert_eq!(receipts(&report.sums), rows.iter().map(|row| receipts(&row.report)).sum::<i64>());
        let is_known = rows.iter().all(|row| row.report.cash.counted.is_some());
        assert_eq!(report.sums.cash.counted.is_some(), is_known, "what nobody counted is not nothing");
        let read = serde_json::from_value(json!(report)).expect("a report");
        assert_eq!(report, read, "{seed}");
    }
}

#[test]
fn numbers_that_no_z_has_are_named_by_register_and_letter() {
    let mut rows = rows(7, 2, 9);
    rows.retain(|row| !(row.register_code == "02" && row.letter == "A" && (3..=5).contains(&row.number)));
    let report = zz(&rows);
    let gaps: Vec<_> = report.gaps.iter().map(|gap| (&*gap.register_code, &*gap.letter, gap.from, gap.to)).collect();
    assert_eq!(gaps, [("02", "A", 3, 5)], "that a letter begins at 1 is no gap");
    assert_eq!(broken(&report), [], "what is missing between drawers is not wrong in them");
    assert!(!identities(&report.sums, true).is_empty(), "the running totals are further apart than the sums");
    assert_eq!(report.rows[0].session_number, "7");
    assert_eq!(report.rows[2].session_number, "A1");
}

#[test]
fn a_zz_over_drawers_of_an_earlier_release_is_of_the_first_version_and_adds_up() {
    let mut rows = rows(9, 1, 4);
    let day = &rows[0].report;
    // As the release before would have stored it: no movements.
    let moved = day.cash.paid_in + day.cash.float_add - day.cash.paid_out - day.cash.drop;
    let mut old = json!(day);
    old["expectedCash"] = json!(day.expected_cash - moved);
    let thirteen = [
        "saleCount",
        "refundCount",
        "voidCount",
        "settlements",
        "netAmount",
        "taxAmount",
        "totalAmount",
        "cashRounding",
        "openingFloat",
        "expectedCash",
        "tenders",
        "taxes",
        "firstReceiptNumber",
        "lastReceiptNumber",
    ];
    old.as_object_mut().expect("an object").retain(|field, _| thirteen.contains(&field.as_str()));
    let stored = Stored { running_total: Some(day.running_total.after), counted_cash: None, cash_variance: None };
    rows[0].report = ZReport::read(&JsonText(old), stored).expect("a report");
    let report = zz(&rows);
    assert_eq!(report.sums.version, 1);
    assert_eq!(broken(&report), []);
    let (first, last) = (&rows[0].report.running_total, &rows[3].report.running_total);
    assert_eq!((report.running_total.before, report.running_total.after), (first.before, last.after));
    assert_eq!((report.rows[0].variance, report.sums.cash.counted), (None, None));
}

#[test]
fn a_zz_of_nothing_is_nothing_and_figures_beyond_all_measure_stop_at_the_largest() {
    assert_eq!(zz(&[]).rows, []);
    assert_eq!(broken(&zz(&[])), []);
    let mut rows = rows(1, 1, 2);
    for row in &mut rows {
        row.report.net_amount = Money(i64::MAX);
    }
    assert_eq!(zz(&rows).sums.net_amount, Money(i64::MAX));
}
