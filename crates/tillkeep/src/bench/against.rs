//! Whether a run is worse than an earlier one: ratios alone, since times of two days or machines do not compare.

use super::report::{Report, Row};

/// Of an earlier ratio at least so much must be left: runs differ by some of it anyway.
const LEAST: f64 = 0.8;

/// What got worse since `earlier`, each as a sentence; nothing when all is well. What was not chosen is not missed.
pub fn worse(now: &Report, earlier: &Report, chosen: impl Fn(&str) -> bool) -> Vec<String> {
    let ratio = |row: &Row| row.limit.as_ref().map(|limit| limit.ratio.median);
    let mut found = Vec::new();
    for row in earlier.figures.iter().filter(|row| chosen(&row.id)) {
        let Some(before) = ratio(row) else { continue };
        let same = now.figures.iter().find(|other| (&other.id, &other.name) == (&row.id, &row.name));
        match same.and_then(ratio) {
            None => found.push(format!("{} {}: not measured; it was {before:.3} of its limit", row.id, row.name)),
            Some(after) if after < before * LEAST => {
                found.push(format!("{} {}: {after:.3} of its limit; it was {before:.3}", row.id, row.name));
            }
            Some(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::Sizes;
    use super::super::report::{Limit, Machine};
    use super::super::statistics::Spread;
    use super::*;

    fn report(ratios: &[(&str, &str, Option<f64>)]) -> Report {
        let even = |value| Spread { min: value, median: value, max: value };
        let row = |(id, name, ratio): &(&str, &str, Option<f64>)| Row {
            id: (*id).to_owned(),
            name: (*name).to_owned(),
            unit: String::new(),
            value: even(1.0),
            limit: ratio.map(|ratio| Limit { what: String::new(), value: even(1.0), ratio: even(ratio) }),
            goal: None,
        };
        Report {
            program: String::new(),
            commit: String::new(),
            command: String::new(),
            machine: Machine::default(),
            runs: 1,
            sizes: Sizes::QUICK,
            figures: ratios.iter().map(row).collect(),
            missing: Vec::new(),
        }
    }

    #[test]
    fn a_ratio_that_falls_by_more_than_a_fifth_fails_and_less_does_not() {
        let earlier = report(&[("P3", "versions", Some(0.5)), ("P6", "sales", Some(0.3)), ("P6", "p99", None)]);
        let all = |_: &str| true;
        let same = report(&[("P3", "versions", Some(0.405)), ("P6", "sales", Some(0.4)), ("P6", "p99", None)]);
        assert_eq!(worse(&same, &earlier, all), Vec::<String>::new());
        let slower = report(&[("P3", "versions", Some(0.395)), ("P6", "sales", Some(0.3)), ("P6", "p99", None)]);
        assert_eq!(worse(&slower, &earlier, all), ["P3 versions: 0.395 of its limit; it was 0.500"]);
    }

    #[test]
    fn a_figure_that_is_gone_fails_unless_it_was_not_asked_for() {
        let earlier = report(&[("P3", "versions", Some(0.5)), ("P6", "sales", Some(0.3))]);
        let now = report(&[("P3", "versions", Some(0.5)), ("P6", "sales", None)]);
        assert_eq!(worse(&now, &earlier, |_| true), ["P6 sales: not measured; it was 0.300 of its limit"]);
        assert_eq!(worse(&now, &earlier, |id| id == "P3"), Vec::<String>::new());
    }
}
