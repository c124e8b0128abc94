//! Whether a run is worse than an earlier one. Times of two days or machines do not compare, so that a figure with a limit is judged
//! by its ratio, and one without by whether it still meets its goal.

use super::report::{Report, Row};

/// Of an earlier ratio at least so much must be left: runs differ by some of it anyway.
const LEAST: f64 = 0.8;

/// What two runs say together, each as a sentence.
#[derive(Debug, Default)]
pub struct Compared {
    /// What fails.
    pub worse: Vec<String>,
    /// What has nothing to be compared with.
    pub told: Vec<String>,
}

/// What became of the figures of `earlier`, and which have come since. What was not chosen is not missed.
pub fn compare(now: &Report, earlier: &Report, chosen: impl Fn(&str) -> bool) -> Compared {
    let mut compared = Compared::default();
    for before in earlier.figures.iter().filter(|row| chosen(&row.id)) {
        let same = now.figures.iter().find(|row| is_same(row, before));
        // A limit that could not be taken is a ratio that is missing.
        match same.filter(|after| after.limit.is_some() || before.limit.is_none()) {
            None => compared.worse.push(format!("{}: not measured; it was {}", name(before), said(before))),
            Some(after) => judge(before, after, &mut compared),
        }
    }
    let is_new = |row: &&Row| !earlier.figures.iter().any(|before| is_same(before, row));
    let new = now.figures.iter().filter(is_new);
    compared.told.extend(new.map(|row| format!("{}: new, at {}", name(row), said(row))));
    compared
}

fn judge(before: &Row, after: &Row, compared: &mut Compared) {
    match (&before.limit, &after.limit) {
        (Some(then), Some(limit)) if then.what != limit.what => {
            compared.told.push(format!(
                "{}: beside another limit now ({}), at {}",
                name(after),
                limit.what,
                said(after)
            ));
        }
        (Some(then), Some(limit)) if limit.ratio.median < then.ratio.median * LEAST => {
            compared.worse.push(format!("{}: {}; it was {:.3}", name(after), said(after), then.ratio.median));
        }
        (Some(_), _) => {}
        (None, limit) => {
            if limit.is_some() {
                compared.told.push(format!("{}: beside a limit for the first time, at {}", name(after), said(after)));
            }
            if let (Some(then), Some(goal)) = (&before.goal, &after.goal) {
                // A goal that was changed says nothing of the earlier run.
                if then.met && !goal.met && then.text == goal.text {
                    let (now, was) = (said(after), said(before));
                    compared.worse.push(format!("{}: {now}, which is not {}; it was {was}", name(after), goal.text));
                }
            }
        }
    }
}

fn is_same(one: &Row, other: &Row) -> bool {
    (&one.id, &one.name) == (&other.id, &other.name)
}

fn name(row: &Row) -> String {
    format!("{} {}", row.id, row.name)
}

fn said(row: &Row) -> String {
    match &row.limit {
        Some(limit) => format!("{:.3} of its limit", limit.ratio.median),
        None => format!("{:.3} {}", row.value.median, row.unit),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sizes;
    use super::super::report::{GoalRow, Limit, Machine};
    use super::super::statistics::Spread;
    use super::*;

    fn even(value: f64) -> Spread {
        Spread { min: value, median: value, max: value }
    }

    fn row(id: &str, name: &str) -> Row {
        let (id, name, unit) = (id.to_owned(), name.to_owned(), "ms".to_owned());
        Row { id, name, unit, value: even(1.0), limit: None, goal: None }
    }

    fn ratio(id: &str, name: &str, ratio: f64) -> Row {
        let limit = Limit { what: "a limit".to_owned(), value: even(1.0), ratio: even(ratio) };
        Row { limit: Some(limit), ..row(id, name) }
    }

    fn at_most(id: &str, name: &str, value: f64, most: f64) -> Row {
        let goal = GoalRow { text: format!("≤ {most} ms"), met: value <= most };
        Row { value: even(value), goal: Some(goal), ..row(id, name) }
    }

    fn report(figures: Vec<Row>) -> Report {
        Report {
            program: String::new(),
            commit: String::new(),
            command: String::new(),
            machine: Machine::default(),
            runs: 1,
            sizes: Sizes::QUICK,
            figures,
            missing: Vec::new(),
        }
    }

    fn worse(now: Vec<Row>, earlier: Vec<Row>) -> Vec<String> {
        compare(&report(now), &report(earlier), |_| true).worse
    }

    #[test]
    fn a_ratio_that_falls_by_more_than_a_fifth_fails_and_less_does_not() {
        let with = |versions| vec![ratio("P3", "versions", versions), ratio("P6", "sales", 0.3), row("P6", "median")];
        assert_eq!(worse(with(0.405), with(0.5)), Vec::<String>::new());
        assert_eq!(worse(with(0.395), with(0.5)), ["P3 versions: 0.395 of its limit; it was 0.500"]);
    }

    #[test]
    fn a_goal_that_was_met_and_is_missed_fails_and_one_that_was_missed_or_changed_does_not() {
        let with = |p99, start, most| vec![at_most("P6", "p99", p99, 15.0), at_most("P9", "start", start, most)];
        assert_eq!(worse(with(14.9, 140.0, 100.0), with(9.0, 120.0, 100.0)), Vec::<String>::new());
        assert_eq!(worse(with(14.9, 140.0, 100.0), with(9.0, 120.0, 150.0)), Vec::<String>::new());
        assert_eq!(
            worse(with(15.1, 90.0, 100.0), with(9.0, 80.0, 100.0)),
            ["P6 p99: 15.100 ms, which is not ≤ 15 ms; it was 9.000 ms"]
        );
    }

    #[test]
    fn a_figure_that_is_gone_fails_unless_it_was_not_asked_for() {
        let earlier = report(vec![ratio("P3", "versions", 0.5), ratio("P6", "sales", 0.3), row("P6", "median")]);
        let now = report(vec![ratio("P3", "versions", 0.5), row("P6", "sales")]);
        assert_eq!(
            compare(&now, &earlier, |_| true).worse,
            ["P6 sales: not measured; it was 0.300 of its limit", "P6 median: not measured; it was 1.000 ms"]
        );
        assert_eq!(compare(&now, &earlier, |id| id == "P3").worse, Vec::<String>::new());
    }

    #[test]
    fn a_new_figure_and_a_new_limit_are_told_and_fail_nothing() {
        let mut other = ratio("P3", "versions", 0.1);
        other.limit.as_mut().expect("a limit").what = "a quicker one".to_owned();
        let now = report(vec![other, ratio("P1", "second store", 0.9), row("P4", "connected")]);
        let earlier = report(vec![ratio("P3", "versions", 0.5), row("P1", "second store")]);
        let compared = compare(&now, &earlier, |_| true);
        assert_eq!(compared.worse, Vec::<String>::new());
        assert_eq!(
            compared.told,
            [
                "P3 versions: beside another limit now (a quicker one), at 0.100 of its limit",
                "P1 second store: beside a limit for the first time, at 0.900 of its limit",
                "P4 connected: new, at 1.000 ms",
            ]
        );
    }
}
