//! The figures as lines of a terminal.

use super::measurements::MEASUREMENTS;
use super::report::{Report, Row};
use super::statistics::Spread;

const COLUMNS: [&str; 6] = ["", "median (min … max)", "unit", "limit", "ratio (min … max)", "goal"];
/// Those with figures that stand under each other.
const RIGHT: [bool; 6] = [false, true, false, true, true, false];

/// The table, with a line for each measurement above its figures.
pub fn table(report: &Report) -> String {
    let cells: Vec<[String; 6]> = report.figures.iter().map(cells).collect();
    let mut widths = COLUMNS.map(width);
    for row in &cells {
        for (most, cell) in widths.iter_mut().zip(row) {
            *most = width(cell).max(*most);
        }
    }
    let mut text = line(&COLUMNS.map(str::to_owned), &widths);
    let (mut id, mut alone) = ("", true);
    for (row, cells) in report.figures.iter().zip(&cells) {
        if row.id != id {
            id = &row.id;
            let title = MEASUREMENTS.iter().find(|one| one.id == id).map(|one| one.title).unwrap_or_default();
            text.extend(["\n", id, "  ", title, "\n"]);
            let limits = report.figures.iter().filter(|row| row.id == id).filter_map(|row| row.limit.as_ref());
            let mut named: Vec<&str> = limits.map(|limit| limit.what.as_str()).collect();
            named.dedup();
            // Of several it is the row's own that counts.
            if let [one] = named[..] {
                text.extend(["    limit: ", one, "\n"]);
            }
            alone = named.len() < 2;
        }
        text.push_str(&line(cells, &widths));
        if let Some(limit) = row.limit.as_ref().filter(|_| !alone) {
            text.extend(["    limit: ", &limit.what, "\n"]);
        }
    }
    for missing in &report.missing {
        text.extend(["\n", &missing.id, "  not measured: ", &missing.why, "\n"]);
    }
    text
}

fn cells(row: &Row) -> [String; 6] {
    let (limit, ratio) =
        row.limit.as_ref().map(|limit| (short(limit.value.median), spread(limit.ratio))).unwrap_or_default();
    let goal = row.goal.as_ref().map(|goal| format!("{}: {}", goal.text, if goal.met { "met" } else { "MISSED" }));
    [format!("  {}", row.name), spread(row.value), row.unit.clone(), limit, ratio, goal.unwrap_or_default()]
}

fn line(cells: &[String; 6], widths: &[usize; 6]) -> String {
    let mut text = String::new();
    for ((cell, most), right) in cells.iter().zip(widths).zip(RIGHT) {
        let blanks = " ".repeat(most - width(cell));
        text.extend(if right { [&blanks, cell.as_str(), "  "] } else { [cell.as_str(), &blanks, "  "] });
    }
    format!("{}\n", text.trim_end())
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn spread(spread: Spread) -> String {
    if spread.min.total_cmp(&spread.max).is_eq() {
        return short(spread.median);
    }
    format!("{} ({} … {})", short(spread.median), short(spread.min), short(spread.max))
}

/// Three digits that say something.
fn short(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::super::Sizes;
    use super::super::report::{GoalRow, Limit, Machine, Missing};
    use super::*;

    #[test]
    fn figures_stand_under_each_other_with_their_limit_and_goal_and_what_is_missing_is_named() {
        let even = |value| Spread { min: value, median: value, max: value };
        let row = |name: &str, value: Spread, limit, goal| Row {
            id: "P6".into(),
            name: name.into(),
            unit: "per s".into(),
            value,
            limit,
            goal,
        };
        let ratio = Spread { min: 0.25, median: 0.3, max: 0.35 };
        let limit = Limit { what: "commits".into(), value: even(5300.0), ratio };
        let goal = GoalRow { text: "≥ 0.3 of it".into(), met: true };
        let wide = Spread { min: 1200.0, median: 1590.0, max: 1700.4 };
        let report = Report {
            program: String::new(),
            commit: String::new(),
            command: String::new(),
            machine: Machine::default(),
            runs: 3,
            sizes: Sizes::QUICK,
            figures: vec![row("sales", wide, Some(limit), Some(goal)), row("p99", even(4.25), None, None)],
            missing: vec![Missing { id: "P1".into(), why: "no server".into() }],
        };
        let table = table(&report);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], "         median (min … max)  unit   limit      ratio (min … max)  goal");
        assert!(lines[2].starts_with("P6  sale"), "{table}");
        assert_eq!(lines[3], "    limit: commits");
        assert_eq!(lines[4], "  sales  1590 (1200 … 1700)  per s   5300  0.300 (0.250 … 0.350)  ≥ 0.3 of it: met");
        assert_eq!(lines[5], "  p99                  4.25  per s");
        assert_eq!(lines[7], "P1  not measured: no server");
    }
}
