//! What came of a run, as it is written to a file and read from one.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::Sizes;
use super::figure::{Goal, Measurement, Sample};
use super::process::kib;
use super::statistics::Spread;

/// All of it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// What the measured program says of itself.
    pub program: String,
    pub commit: String,
    /// The command line that took these figures.
    pub command: String,
    pub machine: Machine,
    pub runs: usize,
    pub sizes: Sizes,
    pub figures: Vec<Row>,
    /// Measurements that could not be taken, with the reason.
    pub missing: Vec<Missing>,
}

/// Where it ran. Times of two machines, or of one machine at two times, do not compare; ratios do.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Machine {
    pub cores: usize,
    pub memory_mib: u64,
    pub cpu: String,
    pub kernel: String,
}

/// One figure over all runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// The goal that it belongs to, such as `P6`.
    pub id: String,
    pub name: String,
    pub unit: String,
    pub value: Spread,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<GoalRow>,
}

/// What a figure is compared with in the same run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    pub what: String,
    pub value: Spread,
    /// Of each run its own.
    pub ratio: Spread,
}

/// What is to be reached, and whether the median does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GoalRow {
    pub text: String,
    pub met: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Missing {
    pub id: String,
    pub why: String,
}

/// The rows of one measurement, from the samples of all its runs.
pub fn rows(measurement: &Measurement, samples: &[Sample]) -> Result<Vec<Row>> {
    if let Some(sample) = samples.iter().find(|sample| !measurement.figures.iter().any(|one| one.name == sample.figure))
    {
        bail!("{:?} was measured and is no figure of {}", sample.figure, measurement.id);
    }
    let rows = measurement.figures.iter().filter_map(|figure| {
        let taken: Vec<&Sample> = samples.iter().filter(|sample| sample.figure == figure.name).collect();
        let value = Spread::new(&taken.iter().map(|sample| sample.value).collect::<Vec<_>>())?;
        let beside: Vec<(f64, f64)> = taken.iter().filter_map(|sample| Some((sample.value, sample.limit?))).collect();
        let limit = Spread::new(&beside.iter().map(|(_, limit)| *limit).collect::<Vec<_>>()).zip(Spread::new(
            &beside.iter().map(|(value, limit)| value / limit.max(f64::MIN_POSITIVE)).collect::<Vec<_>>(),
        ));
        let limit = limit.map(|(value, ratio)| Limit { what: figure.limit.to_owned(), value, ratio });
        let goal = match (figure.goal, &limit) {
            (Goal::Ratio(least), Some(limit)) => {
                Some(GoalRow { text: format!("≥ {least} of it"), met: limit.ratio.median >= least })
            }
            (Goal::Most(most), _) => {
                Some(GoalRow { text: format!("≤ {most} {}", figure.unit), met: value.median <= most })
            }
            _ => None,
        };
        let (id, name, unit) = (measurement.id.to_owned(), figure.name.to_owned(), figure.unit.to_owned());
        Some(Row { id, name, unit, value, limit, goal })
    });
    Ok(rows.collect())
}

impl Report {
    pub fn read(path: &Path) -> Result<Self> {
        let named = || format!("the figures in {}", path.display());
        let text = std::fs::read(path).with_context(named)?;
        serde_json::from_slice(&text).with_context(named)
    }

    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        std::fs::write(path, format!("{text}\n")).with_context(|| format!("{} cannot be written", path.display()))
    }
}

impl Machine {
    /// What the operating system says; what it does not say stays empty.
    pub fn here() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let cpu = read("/proc/cpuinfo");
        let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        Self {
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory_mib: kib(&read("/proc/meminfo"), "MemTotal").unwrap_or_default() / 1024,
            cpu: model.map(|(_, name)| name.trim().to_owned()).unwrap_or_default(),
            // The first two numbers: what follows them names who runs the machine.
            kernel: read("/proc/sys/kernel/osrelease").trim().splitn(3, '.').take(2).collect::<Vec<_>>().join("."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::figure::Figure;
    use super::super::measurements::MEASUREMENTS;
    use super::*;

    const FIGURES: &[Figure] = &[
        Figure::new("speed", "per s", "a limit", Goal::Ratio(0.5)),
        Figure::new("slow", "per s", "a limit", Goal::Ratio(0.5)),
        Figure::most("time", "ms", 10.0),
        Figure::shown("size", "MiB"),
        Figure::shown("never taken", "MiB"),
    ];
    const MEASUREMENT: Measurement =
        Measurement { id: "P0", title: "", figures: FIGURES, run: |_| Box::pin(async { Ok(Vec::new()) }) };

    #[test]
    fn each_run_has_its_own_ratio_and_the_median_decides_whether_a_goal_is_met() {
        let samples = [
            Sample::beside("speed", 40.0, 100.0),
            Sample::beside("speed", 90.0, 150.0),
            Sample::beside("speed", 10.0, 20.0),
            Sample::beside("slow", 49.0, 100.0),
            Sample::new("time", 11.0),
            Sample::new("time", 9.0),
            Sample::new("time", 12.0),
            Sample::new("size", 3.0),
        ];
        let rows = rows(&MEASUREMENT, &samples).expect("rows");
        assert_eq!(rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["speed", "slow", "time", "size"]);
        let limit = rows[0].limit.as_ref().expect("a limit");
        assert_eq!(limit.value, Spread { min: 20.0, median: 100.0, max: 150.0 });
        // 40 of 100, 90 of 150, 10 of 20: not the median of one over that of the other.
        assert_eq!(limit.ratio, Spread { min: 0.4, median: 0.5, max: 0.6 });
        let met: Vec<_> = rows.iter().map(|row| row.goal.as_ref().map(|goal| goal.met)).collect();
        assert_eq!(met, [Some(true), Some(false), Some(false), None]);
        assert!(
            super::rows(&MEASUREMENT, &[Sample::new("sped", 1.0)])
                .is_err_and(|error| error.to_string().contains("sped"))
        );
    }

    #[test]
    fn the_checked_in_figures_are_of_the_full_sizes_and_of_what_is_measured_now() {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/performance.json"));
        let report = Report::read(path).expect("`make bench` writes target/bench.json, which is checked in there");
        assert_eq!(report.sizes, Sizes::FULL, "with other sizes `make bench-check` compares nothing");
        assert!(report.missing.is_empty() && !report.figures.is_empty(), "{:?}", report.missing);
        for row in &report.figures {
            let measurement = MEASUREMENTS.iter().find(|measurement| measurement.id == row.id);
            let figure = measurement.and_then(|one| one.figures.iter().find(|figure| figure.name == row.name));
            assert!(
                figure.is_some(),
                "{} has no figure {:?} any more, which `make bench-check` would miss",
                row.id,
                row.name
            );
        }
    }

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let rows = rows(&MEASUREMENT, &[Sample::beside("speed", 40.0, 100.0), Sample::new("size", 3.0)]).expect("rows");
        let report = Report {
            program: "tillkeep 0".into(),
            commit: "0".into(),
            command: "tillkeep bench".into(),
            machine: Machine::here(),
            runs: 1,
            sizes: Sizes::QUICK,
            figures: rows.clone(),
            missing: vec![Missing { id: "P1".into(), why: "no server".into() }],
        };
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("figures.json");
        report.write(&path).expect("written");
        let read = Report::read(&path).expect("read");
        assert_eq!((read.figures, read.missing[0].why.as_str()), (rows, "no server"));
        assert!(read.machine.cores > 0 && read.machine.memory_mib > 0);
        std::fs::write(&path, "{}").expect("written");
        assert!(Report::read(&path).is_err_and(|error| error.to_string().contains("figures.json")));
    }
}
