//! `tillkeep verify`: whether what must always hold does, in one database or between headquarters and its stores.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use tillkeep_http::Clock;
use tillkeep_storage::verify::{self, Options, Source};
use tillkeep_storage::{Db, Side};

use crate::audit;
use crate::output::say;

/// Beside running servers, documents of the last two minutes are not judged: their databases are read one after the other.
const MOVING_MS: i64 = 120_000;

#[derive(Args)]
pub struct VerifyArgs {
    /// The data directory of headquarters. One of a headquarters on `PostgreSQL` has its database's address in the
    /// configuration.
    #[arg(long, value_name = "DIR")]
    hq: Option<PathBuf>,
    /// The `PostgreSQL` database of headquarters, in place of its data directory.
    #[arg(long, value_name = "URL", conflicts_with = "hq")]
    database_url: Option<String>,
    /// The data directory of a store; may be given many times.
    #[arg(long, value_name = "DIR")]
    store: Vec<PathBuf>,
    /// Everything was sent and pulled: whatever is still under way is a finding.
    #[arg(long)]
    settled: bool,
}

/// Prints what it finds, and fails when that is anything.
pub async fn run(args: VerifyArgs, file: Option<&Path>) -> Result<()> {
    let url = match (args.database_url, &args.hq) {
        (Some(url), _) => Some(url),
        (None, Some(dir)) => Some(audit::database_in(dir, file)?),
        (None, None) => None,
    };
    if url.is_none() && args.store.is_empty() {
        bail!("name the data directory of headquarters with --hq, those of stores with --store, or both");
    }
    let moving_since = (!args.settled).then(|| Clock::default().now().plus_millis(-MOVING_MS));
    let hq = match url {
        Some(url) => Some(Source::open(&url, Side::Hq).await.context("the database of headquarters cannot be read")?),
        None => None,
    };
    let mut stores = Vec::with_capacity(args.store.len());
    for dir in &args.store {
        let path = dir.join("tillkeep.db");
        if !path.exists() {
            bail!("{} is not there; name the data directory of the store", path.display());
        }
        let source = Source::open(&Db::url_of_file(&path), Side::Store).await;
        stores.push(source.with_context(|| format!("{} cannot be read", path.display()))?);
    }
    let options = Options { settled: args.settled, moving_since, ..Options::default() };
    let findings = verify::run(hq.as_ref(), &stores, &options).await.context("the databases cannot be read")?;
    for finding in &findings {
        say!("{finding}");
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
