//! `tillkeep doctor`: whether one installation is as it should be, and what to do where it is not. Reads only, beside a running
//! server or without it, and by the same configuration.

mod ages;
mod asking;
mod backlog;
mod backups;
mod broker;
mod certificate;
mod clock;
mod codes;
mod configured;
mod database;
mod disk;
mod files;
mod finding;
mod headquarters;
mod installation;
mod numbers;
mod ports;
mod replica;
mod report;
mod stores;
mod token;
mod unit;
mod versions;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Error, Result};
use clap::{Args, Subcommand};
use futures_util::future::BoxFuture;
use tillkeep_storage::Side;
use tokio::time::timeout;

use crate::install::{CONFIG_DIR, settings_of};
use finding::{Checked, Finding, Level, Secrets};
use installation::Installation;
use report::Place;

#[derive(Subcommand)]
pub enum DoctorCommand {
    /// Looks at headquarters, by the settings of its unit where a package has installed it.
    Hq(DoctorArgs),
    /// Looks at a store, by the settings of its unit (`--name`, `--settings`), else by the environment here.
    Store(StoreArgs),
}

#[derive(Args)]
pub struct StoreArgs {
    /// What the store is called on this machine: `--settings /etc/tillkeep/store-NAME.env`.
    #[arg(long, value_name = "NAME", conflicts_with = "settings")]
    name: Option<String>,
    #[command(flatten)]
    of: DoctorArgs,
}

#[derive(Args)]
pub struct DoctorArgs {
    /// The file of variables that the unit of the server reads, in place of the environment here. `tillkeep.toml` beside it is the
    /// configuration, unless `--config` names another one.
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Where database and keys live.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The address that the server listens on.
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Where backups are kept, unless the server makes them by itself: the newest file there must be of the last two days.
    #[arg(long, value_name = "DIR")]
    backups: Option<PathBuf>,
    /// MiB that must be free where data is kept; a quarter of it is the end.
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    least_free_mib: u64,
    /// Seconds for each check. One that takes longer is given up, which is a warning.
    #[arg(long, value_name = "SECONDS", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=600))]
    patience: u64,
    /// One JSON object in place of lines.
    #[arg(long)]
    json: bool,
}

/// A check of one installation.
struct Check {
    name: &'static str,
    of: Of,
    run: fn(Arc<Installation>) -> BoxFuture<'static, Checked>,
}

#[derive(Clone, Copy)]
enum Of {
    Both,
    Hq,
    Store,
}

impl Of {
    fn is(self, side: Side) -> bool {
        match self {
            Self::Both => true,
            Self::Hq => side == Side::Hq,
            Self::Store => side == Side::Store,
        }
    }
}

const CHECKS: &[Check] = &[
    Check { name: "configuration", of: Of::Both, run: |at| simply(at, configured::sound) },
    Check { name: "server", of: Of::Both, run: |at| Box::pin(ports::served(at)) },
    Check { name: "alarms", of: Of::Store, run: |at| Box::pin(ports::alarms(at)) },
    Check { name: "database", of: Of::Both, run: |at| Box::pin(database::set(at)) },
    Check { name: "schema", of: Of::Both, run: |at| apart(at, database::schema) },
    Check { name: "integrity", of: Of::Both, run: |at| Box::pin(database::whole(at)) },
    Check { name: "disk", of: Of::Both, run: |at| apart(at, disk::room) },
    Check { name: "modes", of: Of::Both, run: |at| apart(at, files::modes) },
    Check { name: "keys", of: Of::Both, run: |at| apart(at, files::keys) },
    Check { name: "certificate", of: Of::Both, run: |at| apart(at, certificate::own) },
    Check { name: "headquarters", of: Of::Store, run: |at| Box::pin(headquarters::answers(at)) },
    Check { name: "clock", of: Of::Both, run: |at| Box::pin(clock::right(at)) },
    Check { name: "versions", of: Of::Both, run: |at| Box::pin(versions::together(at)) },
    Check { name: "token", of: Of::Store, run: |at| Box::pin(token::good(at)) },
    Check { name: "numbers", of: Of::Store, run: |at| Box::pin(numbers::kept(at)) },
    Check { name: "outbox", of: Of::Store, run: |at| Box::pin(backlog::outbox(at)) },
    Check { name: "stores", of: Of::Hq, run: |at| Box::pin(stores::heard(at)) },
    Check { name: "codes", of: Of::Both, run: |at| Box::pin(codes::once(at)) },
    Check { name: "replica", of: Of::Hq, run: |at| Box::pin(replica::follows(at)) },
    Check { name: "broker", of: Of::Hq, run: |at| Box::pin(broker::answers(at)) },
    Check { name: "backups", of: Of::Both, run: |at| simply(at, backups::recent) },
];

/// A check that waits for nothing but files: on a thread of its own, as a disk may not answer.
fn apart(at: Arc<Installation>, check: fn(&Installation) -> Checked) -> BoxFuture<'static, Checked> {
    async fn ended(at: Arc<Installation>, check: fn(&Installation) -> Checked) -> Checked {
        tokio::task::spawn_blocking(move || check(&at)).await?
    }
    Box::pin(ended(at, check))
}

/// As [`apart`], of a check that cannot fail.
fn simply(at: Arc<Installation>, check: fn(&Installation) -> Vec<Finding>) -> BoxFuture<'static, Checked> {
    async fn ended(at: Arc<Installation>, check: fn(&Installation) -> Vec<Finding>) -> Checked {
        Ok(tokio::task::spawn_blocking(move || check(&at)).await?)
    }
    Box::pin(ended(at, check))
}

/// Says what it finds; what the program ends with.
pub async fn run(what: DoctorCommand, file: Option<&Path>) -> Result<u8> {
    let (side, args) = match what {
        DoctorCommand::Hq(args) => (Side::Hq, args),
        DoctorCommand::Store(StoreArgs { name, of }) => {
            let named = name.map(|name| settings_of(Path::new(CONFIG_DIR), &name));
            (Side::Store, DoctorArgs { settings: of.settings.or(named), ..of })
        }
    };
    let (patience, json) = (Duration::from_secs(args.patience), args.json);
    let (mut findings, place, secrets) = match opened(side, args, file, patience).await {
        Ok(installation) => {
            let at = Arc::new(installation);
            let found = examined(&at, patience).await;
            let of = Place { data_dir: Some(at.data_dir.clone()), settings: at.settings.clone() };
            (found, of, at.secrets.clone())
        }
        // Without it there is nothing that could be looked at.
        Err(Unopened { error, remedy, settings }) => {
            let found = finding::fault(unquoted(&format!("{error:#}")), remedy);
            let found = vec![Finding { check: "configuration", ..found }];
            (found, Place { data_dir: None, settings }, Secrets::of_environment())
        }
    };
    for finding in &mut findings {
        finding.hide(&secrets);
    }
    report::print(side, &place, &findings, json)?;
    Ok(findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Ok).exit_code())
}

/// Why an installation cannot be looked at, what helps, and by which file of settings.
struct Unopened {
    error: Error,
    remedy: String,
    settings: Option<PathBuf>,
}

async fn opened(
    side: Side,
    args: DoctorArgs,
    file: Option<&Path>,
    patience: Duration,
) -> Result<Installation, Unopened> {
    let unit = unit::taken(side, &args, file).map_err(|error| Unopened {
        error,
        remedy: unit::READERS.to_owned(),
        settings: args.settings.clone(),
    })?;
    let settings = unit.settings.clone();
    Installation::open(side, args, unit, file, patience).await.map_err(|error| Unopened {
        error,
        remedy: configured::remedy(settings.as_deref()),
        settings,
    })
}

/// An error without the lines of the file that it shows: a password may be in one that cannot be read.
fn unquoted(error: &str) -> String {
    let is_shown = |line: &&str| {
        let rest = line.trim_start().trim_start_matches(|letter: char| letter.is_ascii_digit());
        rest.trim_start().starts_with('|')
    };
    error.lines().filter(|line| !is_shown(line)).collect::<Vec<_>>().join(" ")
}

/// One after the other: what they say stands in the order of the table.
async fn examined(at: &Arc<Installation>, patience: Duration) -> Vec<Finding> {
    let mut all = Vec::new();
    for check in CHECKS.iter().filter(|check| check.of.is(at.side)) {
        all.extend(one(check.name, (check.run)(at.clone()), patience).await);
    }
    all
}

/// What a check finds, or that it found nothing out.
async fn one(name: &'static str, check: BoxFuture<'static, Checked>, patience: Duration) -> Vec<Finding> {
    // A task of its own: what blocks its thread keeps nobody from giving it up.
    let mut task = tokio::spawn(check);
    let found = match timeout(patience, &mut task).await {
        Ok(Ok(Ok(found))) => found,
        Ok(Ok(Err(unchecked))) => vec![unchecked.into()],
        Ok(Err(broke)) => vec![finding::warning(
            format!("the check broke off: {broke}"),
            "report it, with what stands on the standard error",
        )],
        Err(_) => {
            task.abort();
            vec![finding::warning(
                format!("the check took more than {} s and was given up", patience.as_secs()),
                "something does not answer; give it longer with --patience, and look at what this check looks at",
            )]
        }
    };
    found.into_iter().map(|found| Finding { check: name, ..found }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_check_that_hangs_or_breaks_off_is_itself_a_finding() {
        let finds = |fails: bool| -> Checked {
            if fails { Err(std::io::Error::other("no disk").into()) } else { Ok(vec![finding::ok("room")]) }
        };
        let (short, long) = (Duration::from_millis(50), Duration::from_secs(10));
        let hangs = one("disk", Box::pin(std::future::pending::<Checked>()), short).await;
        assert_eq!(hangs.len(), 1);
        assert_eq!((hangs[0].check, hangs[0].level), ("disk", Level::Warning));
        assert!(hangs[0].text.contains("given up") && hangs[0].remedy.is_some(), "{hangs:?}");
        let breaks = one("disk", Box::pin(async { panic!("on purpose") }), long).await;
        assert!(breaks[0].level == Level::Warning && breaks[0].text.contains("broke off"), "{breaks:?}");
        let fails = one("disk", Box::pin(std::future::ready(finds(true))), long).await;
        assert!(fails[0].level == Level::Warning && fails[0].text.contains("no disk"), "{fails:?}");
        let sound = one("disk", Box::pin(std::future::ready(finds(false))), long).await;
        assert_eq!((sound[0].check, sound[0].level), ("disk", Level::Ok));
    }

    #[test]
    fn what_a_broken_file_says_is_not_shown() {
        let broken = "[hq]\ndatabase_url = \"postgres://till:hunter2@db/chain\n";
        let error = toml::from_str::<toml::Table>(broken).expect_err("it is broken").to_string();
        assert!(error.contains("hunter2"), "{error}");
        let said = unquoted(&error);
        assert!(said.contains("line 2") && !said.contains("hunter2"), "{said}");
    }

    fn section() -> String {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");
        let docs = std::fs::read_to_string(docs).expect("the page");
        let (_, section) = docs.split_once("\n## Diagnosis\n").expect("a section");
        section.split("\n## ").next().unwrap_or_default().to_owned()
    }

    /// Those tests run the program, and hold each finding that they name by check and level against what it says.
    #[test]
    fn each_check_is_planted_at_the_worst_level_that_the_docs_give_it() {
        let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cluster/doctor");
        let files = std::fs::read_dir(tests).expect("the tests").map(|file| file.expect("a file").path());
        let planted: Vec<String> = files.map(|file| std::fs::read_to_string(file).expect("a test")).collect();
        let section = section();
        for check in CHECKS {
            let row = section.lines().find(|line| line.starts_with(&format!("| `{}` |", check.name)));
            let worst = row.and_then(|row| row.split(" | ").nth(3)).expect("a row with a level");
            let level =
                if worst.contains("fault") { "fault" } else { worst.split([';', ' ']).next().unwrap_or_default() };
            assert!(["fault", "warning"].contains(&level), "{}: {worst}", check.name);
            let pair = format!("\"{}\", \"{level}\"", check.name);
            assert!(planted.iter().any(|test| test.contains(&pair)), "no test in {tests} plants {pair}");
        }
    }

    #[test]
    fn each_check_has_a_name_of_its_own_which_the_docs_have() {
        let section = section();
        for (place, check) in CHECKS.iter().enumerate() {
            assert!(CHECKS[..place].iter().all(|other| other.name != check.name), "{}", check.name);
            assert!(
                section.contains(&format!("| `{}` |", check.name)),
                "docs/operations.md has no row of {}",
                check.name
            );
        }
    }
}
