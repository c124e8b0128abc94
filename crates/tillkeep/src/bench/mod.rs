//! `tillkeep bench`: real servers at work on this machine, each beside the limit of the same machine in the same minutes.
//! `docs/performance.md` says how to read what comes of it.
#![expect(
    clippy::float_arithmetic,
    clippy::cast_precision_loss,
    reason = "figures of a benchmark are neither amounts nor quantities"
)]

mod against;
mod arrival;
mod as_sent;
mod balancer;
mod chain;
mod drive;
pub mod empty;
mod envelopes;
mod figure;
mod fill;
mod goods;
mod growth;
mod growth_at_headquarters;
mod growth_at_store;
mod growth_questions;
mod http;
mod idle;
mod load;
mod measurements;
mod mixed;
mod nodes;
mod permission;
mod postgres;
mod process;
mod push;
mod quote;
mod raw;
mod report;
mod sale;
mod sign_in;
mod sizes;
mod sockets;
mod start;
mod statistics;
mod table;
mod verify;
mod work;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail};
use clap::Args;
use tokio::process::Command;

use crate::signals::stop_on_signal;
use figure::Measurement;
use measurements::MEASUREMENTS;
use report::{Machine, Missing, Report};
pub use sizes::Sizes;
use work::Bench;

/// What this program was built from, as `make bench` says it.
const COMMIT: &str = "TILLKEEP_COMMIT";

#[derive(Args)]
pub struct BenchArgs {
    /// Smaller sizes and one run: all of it within three minutes on two cores.
    #[arg(long)]
    quick: bool,
    /// The smallest sizes, which say nothing of speed.
    #[arg(long, hide = true, conflicts_with = "quick")]
    tiny: bool,
    /// Only these goals, such as P6,P7.
    #[arg(long, value_delimiter = ',', value_name = "P1,P2,…", value_parser = known)]
    only: Vec<String>,
    /// How often each measurement is taken: the table has the smallest, the middle and the largest.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    runs: Option<u16>,
    /// Writes the figures to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Measures this program instead of the running one, such as an earlier release.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// A `PostgreSQL` server where databases may be made, as a peer for P1 and as headquarters' own for P2. Logical
    /// replication needs `wal_level = logical`.
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
    /// A message broker between two servers of headquarters (N1), such as <nats://127.0.0.1:4222>.
    #[arg(long, value_name = "URL")]
    nats: Option<String>,
    /// Compares with the figures of an earlier run, and fails when a ratio fell by more than a fifth, a goal that was met is
    /// missed, or a figure is not measured any more.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// What the measured program was built from, for the file. What `make bench` has built is known without it.
    #[arg(long, value_name = "TEXT")]
    commit: Option<String>,
}

pub async fn run(args: BenchArgs) -> Result<()> {
    let stop = stop_on_signal()?;
    // Before anything takes minutes.
    let earlier = args.against.as_deref().map(Report::read).transpose()?;
    // Nothing that is set for this program is true of another one.
    let (program, built_from) = match args.program {
        Some(path) => (path.canonicalize().with_context(|| format!("--program {}", path.display()))?, None),
        None => (std::env::current_exe()?, std::env::var(COMMIT).ok()),
    };
    let version = version(&program).await?;
    let sizes = match (args.tiny, args.quick) {
        (true, _) => Sizes::TINY,
        (false, true) => Sizes::QUICK,
        (false, false) => Sizes::FULL,
    };
    if let Some(path) = args.against.as_ref().filter(|_| earlier.as_ref().is_some_and(|earlier| earlier.sizes != sizes))
    {
        bail!(
            "--against {}: those figures are of other sizes, which do not compare; with or without --quick?",
            path.display()
        );
    }
    let runs = args.runs.map_or(sizes.runs, usize::from);
    let dir = tempfile::Builder::new().prefix("tillkeep-bench-").tempdir()?;
    let postgres = match &args.postgres {
        Some(url) => Some(postgres::Server::find(url).await?),
        None => None,
    };
    let (directories, run) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let bench = Bench { program, sizes, dir, directories, postgres, nats: args.nats, run };
    let chosen = |id: &str| args.only.is_empty() || args.only.iter().any(|only| only == id);
    let mut report = Report {
        commit: args.commit.or(built_from).unwrap_or_else(|| "unknown".to_owned()),
        program: version,
        command: std::env::args().collect::<Vec<_>>().join(" "),
        machine: Machine::here(),
        runs,
        sizes: bench.sizes,
        figures: Vec::new(),
        missing: Vec::new(),
    };
    for measurement in MEASUREMENTS.iter().filter(|measurement| chosen(measurement.id)) {
        let measured = tokio::select! {
            measured = measure(&bench, measurement, runs) => measured,
            // What was begun ends here, so that servers and files go.
            () = stop.cancelled() => bail!("stopped in the middle of {}", measurement.id),
        };
        match measured {
            Ok(rows) => report.figures.extend(rows),
            Err(error) => {
                report.missing.push(Missing { id: measurement.id.to_owned(), why: format!("{error:#}") });
            }
        }
    }
    print!("{}", table::table(&report));
    if let Some(path) = &args.json {
        report.write(path)?;
    }
    let mut wrong: Vec<String> = report.missing.iter().map(|one| format!("{}: {}", one.id, one.why)).collect();
    if let Some(earlier) = &earlier {
        let compared = against::compare(&report, earlier, chosen);
        compared.told.iter().for_each(|told| eprintln!("{told}"));
        wrong.extend(compared.worse);
    }
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    Ok(())
}

async fn measure(bench: &Bench, measurement: &Measurement, runs: usize) -> Result<Vec<report::Row>> {
    let mut samples = Vec::new();
    for run in 1..=runs {
        eprintln!("{}  {} ({run} of {runs}) …", measurement.id, measurement.title);
        bench.run.store(run, Ordering::Relaxed);
        samples.extend((measurement.run)(bench).await?);
    }
    report::rows(measurement, &samples)
}

/// What a program says of itself.
async fn version(program: &std::path::Path) -> Result<String> {
    let said = Command::new(program).arg("--version").output().await;
    let said = said.with_context(|| format!("{} cannot be started", program.display()))?;
    if !said.status.success() {
        bail!("{} --version failed", program.display());
    }
    Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

fn known(text: &str) -> Result<String, String> {
    let id = text.trim().to_uppercase();
    if MEASUREMENTS.iter().any(|measurement| measurement.id == id) {
        return Ok(id);
    }
    let ids: Vec<_> = MEASUREMENTS.iter().map(|measurement| measurement.id).collect();
    Err(format!("is no goal that is measured; one of {}", ids.join(", ")))
}
