//! `tillkeep hq export`: the documents of a month that is over, in files that anybody can read. `docs/operations.md`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use async_compression::tokio::write::ZstdEncoder;
use chrono::{Days, Months, NaiveDate};
use clap::Args;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use tillkeep_hq::Settings;
use tillkeep_model::wire::camel;
use tillkeep_storage::export::{Export as Documents, Exported, Totals, exported};
use tillkeep_storage::{Db, Transaction, fault, settings};
use tokio::io::{AsyncWriteExt, BufWriter};

use crate::output::say;
use crate::run;

/// A month is open until everybody's last day of it is over, wherever on earth and however late at night a shop closes.
const OPEN_DAYS: u64 = 2;
const MANIFEST: &str = "manifest.json";
/// What this form of files is called. One that is read otherwise gets another number.
const FORMAT: u32 = 1;

#[derive(Args)]
pub struct Export {
    /// The month, by the business dates of the documents. It is closed from the third day of the next one on (UTC).
    #[arg(long, value_name = "YYYY-MM")]
    month: Month,
    /// Where a directory with the name of the month is made. None may be there.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Month(NaiveDate);

impl FromStr for Month {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let first = NaiveDate::parse_from_str(&format!("{text}-01"), "%Y-%m-%d").ok();
        // Neither 2026-8 nor a sign: as the month stands in business dates.
        let month = first.map(Self).filter(|month| month.name() == text);
        month.ok_or_else(|| "must be a month like 2026-08".to_owned())
    }
}

impl Month {
    fn name(self) -> String {
        self.0.format("%Y-%m").to_string()
    }

    /// The first day (UTC) on which the month is closed.
    fn closes(self) -> Option<NaiveDate> {
        self.0.checked_add_months(Months::new(1))?.checked_add_days(Days::new(OPEN_DAYS))
    }
}

/// Writes all files to a directory beside the one that is wanted, which gets its name when everything is on disk: one that
/// broke off is never taken for a whole one.
pub async fn run(settings: &Settings, Export { month, out }: &Export) -> Result<()> {
    let today = run::clock().now().utc().date_naive();
    let closes = month.closes().with_context(|| format!("--month {} has no end", month.name()))?;
    if today < closes {
        bail!("--month {} is not closed: it is from {closes} on (UTC), and today is {today}", month.name());
    }
    let (target, draft) = begin(out, &month.name())?;
    let conn = Db::open_to_read(&address(settings)?).await.context("the database cannot be opened")?;
    let snapshot = conn.begin().await.context("the database cannot be read")?;
    let (mut files, mut counted) = (Vec::new(), Vec::new());
    for exported in exported() {
        let totals = write(&snapshot, exported, *month, draft.path()).await;
        let totals = totals.with_context(|| format!("{} of {}", exported.name, month.name()))?;
        files.push(described(exported, &totals, draft.path())?);
        counted.push(format!("{} {}", totals.documents, exported.name));
    }
    let manifest = json!({
        "format": FORMAT,
        "program": concat!("tillkeep ", env!("CARGO_PKG_VERSION")),
        "month": month.name(),
        "epoch": settings::get(&snapshot, settings::EPOCH).await.context("the database cannot be read")?,
        "files": files,
    });
    snapshot.rollback().await.context("the database cannot be read")?;
    conn.close().await.context("closing the database")?;
    fs::write(draft.path().join(MANIFEST), format!("{manifest:#}\n"))?;
    fault::point("export.written")?;
    keep(draft, &target).with_context(|| target.display().to_string())?;
    say!("{} holds {}.", target.display(), counted.join(", "));
    Ok(())
}

/// The database of these settings, which has to be there.
fn address(settings: &Settings) -> Result<String> {
    if let Some(url) = &settings.database_url {
        return Ok(url.expose().to_owned());
    }
    let path = settings.data_dir.join("tillkeep.db");
    if !path.exists() {
        bail!("{} is not there; name the data directory of headquarters with --data-dir", path.display());
    }
    Ok(Db::url_of_file(&path))
}

fn file_of(exported: Exported) -> String {
    format!("{}.jsonl.zst", exported.name)
}

/// One document a line. No more than a page of them is in memory.
async fn write(snapshot: &Transaction, exported: Exported, month: Month, dir: &Path) -> Result<Totals> {
    let file = tokio::fs::File::create(dir.join(file_of(exported))).await?;
    let mut out = ZstdEncoder::new(BufWriter::new(file));
    let mut documents = Documents::begin(snapshot, exported, &month.name()).await?;
    loop {
        let page = documents.page().await?;
        if page.is_empty() {
            break;
        }
        for mut document in page {
            document.push('\n');
            out.write_all(document.as_bytes()).await?;
        }
    }
    out.shutdown().await?;
    Ok(documents.totals)
}

/// What the manifest says of a file, with the digest of what is on disk.
fn described(exported: Exported, totals: &Totals, dir: &Path) -> Result<Json> {
    let mut file = File::open(dir.join(file_of(exported)))?;
    let (mut digest, mut bytes) = (Sha256::new(), 0);
    let mut part = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut part)?;
        if read == 0 {
            break;
        }
        digest.update(&part[..read]);
        bytes += read;
    }
    let Totals { documents, lines, amounts, quantities } = totals;
    let texts = |sums: &BTreeMap<&'static str, i128>| -> Json {
        // A sum may be more than other programs read as a number.
        sums.iter().map(|(column, sum)| (camel(column), Json::from(sum.to_string()))).collect()
    };
    let amounts: Json = amounts.iter().map(|(currency, sums)| (currency.clone(), texts(sums))).collect();
    Ok(json!({
        "name": file_of(exported),
        "type": exported.name,
        "bytes": bytes,
        "sha256": hex::encode(digest.finalize()),
        "documents": documents,
        "lines": lines,
        "amounts": amounts,
        "quantities": texts(quantities),
    }))
}

/// The directory that is wanted in `out`, which must not be there, and one beside it to write to.
pub fn begin(out: &Path, name: &str) -> Result<(PathBuf, tempfile::TempDir)> {
    let target = out.join(name);
    if target.exists() {
        bail!("--out {}: {} is there already; remove it, or name another directory", out.display(), target.display());
    }
    fs::create_dir_all(out).with_context(|| format!("--out {} cannot be made", out.display()))?;
    let draft = tempfile::Builder::new().prefix(&format!(".{name}.")).suffix(".part").tempdir_in(out);
    Ok((target, draft.with_context(|| format!("--out {} cannot be written", out.display()))?))
}

/// Gives the files their place, once they are on disk.
pub fn keep(draft: tempfile::TempDir, target: &Path) -> Result<()> {
    for entry in fs::read_dir(draft.path())? {
        File::open(entry?.path())?.sync_all()?;
    }
    File::open(draft.path())?.sync_all()?;
    // Not one that another process has made meanwhile, unless it is empty.
    fs::rename(draft.path(), target)?;
    // Nothing is left to be removed under the former name.
    drop(draft.keep());
    if let Some(parent) = target.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        File::open(parent)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_written_as_in_business_dates_and_nothing_else_is_one() {
        assert_eq!(Month::from_str("2026-08").map(Month::name), Ok("2026-08".to_owned()));
        for wrong in ["", "2026", "2026-8", "2026-13", "2026-00", "2026-08-01", "+2026-08", "august", "2026-08 "] {
            assert_eq!(Month::from_str(wrong), Err("must be a month like 2026-08".to_owned()), "{wrong}");
        }
    }

    #[test]
    fn a_month_closes_two_days_after_its_last_one() {
        let closes = |text: &str| Month::from_str(text).expect("a month").closes().map(|day| day.to_string());
        assert_eq!(closes("2026-08").as_deref(), Some("2026-09-03"));
        assert_eq!(closes("2026-12").as_deref(), Some("2027-01-03"));
        assert_eq!(closes("2028-02").as_deref(), Some("2028-03-03"));
    }
}
