//! `tillkeep verify`: whether what must always hold does, in one database or between headquarters and its stores.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use tillkeep_http::pins::Pins;
use tillkeep_http::{Clock, DatabaseUrl};
use tillkeep_storage::verify::{self, Finding, Options, Source, Verifiers};
use tillkeep_storage::{Db, Side};

use crate::audited;
use crate::output::say;

/// Beside running servers, documents of the last two minutes are not judged: their databases are read one after the other.
const MOVING_MS: i64 = 120_000;

#[derive(Args)]
pub struct VerifyArgs {
    /// The data directory of headquarters. One of a headquarters on `PostgreSQL` has its database's address in `DATABASE_URL` or
    /// the configuration; with a file of `SQLite` there too it is refused.
    #[arg(long, value_name = "DIR")]
    hq: Option<PathBuf>,
    /// The `PostgreSQL` database of headquarters. With a password it stands in the list of processes: `DATABASE_URL` in the
    /// environment, and `--hq` alone or nothing, do the same.
    #[arg(long, value_name = "URL", conflicts_with = "hq")]
    database_url: Option<String>,
    /// The data directory of a store; may be given many times.
    #[arg(long, value_name = "DIR")]
    store: Vec<PathBuf>,
    /// Everything was sent and pulled: whatever is still under way is a finding.
    #[arg(long)]
    settled: bool,
    /// The file with the secrets that PINs are kept with at headquarters; without it, the one in the directory of --hq.
    #[arg(long, value_name = "FILE")]
    pin_key: Option<PathBuf>,
}

/// Prints what it finds, and fails when that is anything.
pub async fn run(args: VerifyArgs, file: Option<&Path>) -> Result<()> {
    let url = match (args.database_url, &args.hq) {
        (Some(url), _) => Some(audited::named(url)),
        (None, Some(dir)) => Some(audited::database_in(dir, file, "--hq")?),
        // Stores alone are verified alone, whatever the environment has.
        (None, None) if args.store.is_empty() => audited::configured(file)?,
        (None, None) => None,
    };
    if url.is_none() && args.store.is_empty() {
        bail!(
            "name the data directory of headquarters with --hq, those of stores with --store, or both; or the PostgreSQL of \
             headquarters with DATABASE_URL in the environment"
        );
    }
    let now = Clock::default().now();
    let moving_since = (!args.settled).then(|| now.plus_millis(-MOVING_MS));
    let verifiers = verifiers(args.pin_key, args.hq.as_deref())?;
    let mut read = Vec::with_capacity(args.store.len() + 1);
    let hq = match url {
        Some(url) => {
            read.push(format!("Headquarters: {}", shown(&url)));
            Some(Source::open(&url, Side::Hq).await.context("the database of headquarters cannot be read")?)
        }
        None => None,
    };
    let mut stores = Vec::with_capacity(args.store.len());
    for dir in &args.store {
        let path = dir.join("tillkeep.db");
        if !path.exists() {
            bail!("{} is not there; name the data directory of the store", path.display());
        }
        read.push(format!("Store: {}", path.display()));
        let source = Source::open(&Db::url_of_file(&path), Side::Store).await;
        stores.push(source.with_context(|| format!("{} cannot be read", path.display()))?);
    }
    if verifiers.is_none() && hq.is_some() && !stores.is_empty() {
        say!("What verifies PINs at stores is not compared: that takes the file pin.key of headquarters (--pin-key).");
    }
    let options = Options { settled: args.settled, moving_since, now: Some(now), verifiers, ..Options::default() };
    let findings = verify::run(hq.as_ref(), &stores, &options).await.context("the databases cannot be read")?;
    for database in &read {
        say!("{database}");
    }
    for finding in &findings {
        say!("{finding}");
    }
    if let (Some(hq), Some(since)) = (&hq, moving_since) {
        for store in &stores {
            let left_out = verify::left_out(hq, store, since).await.context("the databases cannot be read")?;
            if !left_out.is_nothing() {
                say!("{left_out}");
            }
        }
    }
    let mut lost = BTreeSet::new();
    for source in hq.iter().chain(&stores) {
        for range in source.lost_numbers().await.context("the lost numbers cannot be read")? {
            lost.insert(format!(
                "lost with the database of store {}: {} from {} to {}, but for what came back from headquarters",
                range.store_id, range.series, range.first, range.last
            ));
        }
    }
    for range in lost {
        say!("{range}");
    }
    let mut alone = BTreeSet::new();
    for source in hq.iter().chain(&stores) {
        alone.extend(source.not_at_headquarters().await.context("the resolved documents cannot be read")?);
    }
    for document in &alone {
        say!("{document}");
    }
    if !findings.is_empty() {
        bail!("{} findings", findings.len());
    }
    if alone.is_empty() {
        say!("Everything holds.");
    } else {
        say!("Everything else holds.");
    }
    Ok(())
}

/// Which database it is, without its password.
fn shown(url: &str) -> String {
    match Db::file_of_url(url) {
        Some(path) => path.display().to_string(),
        None => DatabaseUrl::from(url.to_owned()).to_string(),
    }
}

/// What does not hold in the database at `path`, which no server uses.
pub async fn alone(path: &Path, side: Side) -> Result<Vec<Finding>> {
    let source = Source::open(&Db::url_of_file(path), side).await?;
    let options = Options { now: Some(Clock::default().now()), ..Options::default() };
    let findings = match side {
        Side::Hq => verify::run(Some(&source), &[], &options).await,
        Side::Store => verify::run(None, &[source], &options).await,
    };
    findings.context("the database cannot be read")
}

/// What the secrets of headquarters make of its PINs; a file that is named must be there.
fn verifiers(named: Option<PathBuf>, hq: Option<&Path>) -> Result<Option<Verifiers>> {
    let is_named = named.is_some();
    let Some(path) = named.or_else(|| hq.map(|dir| dir.join("pin.key"))) else { return Ok(None) };
    if !path.exists() {
        if is_named {
            bail!("{} is not there; name the file pin.key of headquarters", path.display());
        }
        return Ok(None);
    }
    let pins = Pins::open(&path, 1).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(Some(Verifiers::new(move |store, hash| pins.derived(store, hash))))
}
