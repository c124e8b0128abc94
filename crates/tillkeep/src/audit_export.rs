//! `tillkeep audit export`: the documents of a period as they were hashed, with what a stranger checks them by. `docs/chain.md`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use chrono::NaiveDate;
use clap::Args;
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use tillkeep_model::chain::VERSION;
use tillkeep_storage::Transaction;
use tillkeep_storage::fiscal::period::{self, Chain, Entries, Hashed};
use uuid::Uuid;

use crate::audited::Audited;
use crate::export;
use crate::output::say;

const DOCUMENTS: &str = "documents.jsonl";
const MANIFEST: &str = "manifest.json";
const SUMS: &str = "SHA256SUMS";
/// What this form of files is called. One that is read otherwise gets another number.
const FORMAT: u32 = 1;

#[derive(Args)]
pub struct AuditExport {
    #[command(flatten)]
    server: Audited,
    /// The first business date.
    #[arg(long, value_name = "YYYY-MM-DD")]
    from: NaiveDate,
    /// The last business date.
    #[arg(long, value_name = "YYYY-MM-DD")]
    to: NaiveDate,
    /// Where a directory with the name of the period is made. None may be there.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub async fn run(AuditExport { server, from, to, out }: AuditExport, file: Option<&Path>) -> Result<()> {
    if from > to {
        bail!("--from {from} is after --to {to}; name the earlier date first");
    }
    let conn = server.open(file).await?;
    let snapshot = conn.begin().await.context("the database cannot be read")?;
    let (target, documents) = write(&snapshot, (from, to), &out).await?;
    snapshot.rollback().await.context("the database cannot be read")?;
    conn.close().await.context("closing the database")?;
    say!("{} holds {documents} hashed documents.", target.display());
    Ok(())
}

/// What was hashed one after the other: the hash of each line is what the next one begins with.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Run {
    first: i64,
    last: i64,
    /// The hash before the first line; empty at number 1.
    previous: String,
    /// That of the last line.
    hash: String,
}

/// A chain as the manifest says it.
#[derive(Serialize)]
struct Part {
    chain: Uuid,
    store: Uuid,
    register: String,
    documents: u64,
    /// One, unless numbers are missing or there twice.
    runs: Vec<Run>,
    /// The numbers of entries of a newer release, which are not written.
    unknown: Vec<i64>,
}

/// Writes all files to a directory beside the one that is wanted, which gets its name when everything is on disk; that directory,
/// and how many documents there are.
async fn write(conn: &Transaction, (from, to): (NaiveDate, NaiveDate), out: &Path) -> Result<(PathBuf, u64)> {
    let (target, draft) = export::begin(out, &format!("{from}_to_{to}"))?;
    let mut file = std::io::BufWriter::new(fs::File::create(draft.path().join(DOCUMENTS))?);
    let mut digest = Sha256::new();
    let (mut parts, mut documents) = (Vec::new(), 0);
    for chain in period::chains(conn, &from.to_string(), &to.to_string()).await.context("the chains cannot be read")? {
        let part = lines(conn, chain, |line| {
            digest.update(line);
            file.write_all(line)
        });
        let part = part.await?;
        documents += part.documents;
        parts.push(part);
    }
    file.flush()?;
    let sum = hex::encode(digest.finalize());
    let manifest = json!({
        "format": FORMAT,
        "version": VERSION,
        "program": concat!("tillkeep ", env!("CARGO_PKG_VERSION")),
        "from": from.to_string(),
        "to": to.to_string(),
        "documents": documents,
        "sha256": sum,
        "chains": parts,
    });
    let manifest = format!("{manifest:#}\n");
    let sums = format!("{sum}  {DOCUMENTS}\n{}  {MANIFEST}\n", hex::encode(Sha256::digest(manifest.as_bytes())));
    fs::write(draft.path().join(MANIFEST), manifest)?;
    fs::write(draft.path().join(SUMS), sums)?;
    export::keep(draft, &target).with_context(|| target.display().to_string())?;
    Ok((target, documents))
}

/// Hands the lines of a chain to `line`, each with its end; what the manifest says of them.
async fn lines(conn: &Transaction, chain: Chain, mut line: impl FnMut(&[u8]) -> std::io::Result<()>) -> Result<Part> {
    let mut entries = Entries::begin(conn, &chain).await.context("the chains cannot be read")?;
    let Chain { chain, store, register_code: register, .. } = chain;
    let mut part = Part { chain, store, register, documents: 0, runs: Vec::new(), unknown: Vec::new() };
    loop {
        let page = entries.page().await.context("the chains cannot be read")?;
        if page.is_empty() {
            return Ok(part);
        }
        for Hashed { number, previous, hash, line: hashed } in page {
            let Some(mut hashed) = hashed else {
                part.unknown.push(number);
                continue;
            };
            hashed.push('\n');
            line(hashed.as_bytes())?;
            part.documents += 1;
            match part.runs.last_mut().filter(|run| run.last + 1 == number) {
                // Whether the two fit together is for whoever reads them.
                Some(run) => (run.last, run.hash) = (number, hash),
                None => part.runs.push(Run { first: number, last: number, previous, hash }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use tempfile::TempDir;
    use tillkeep_model::words::ChainKind;
    use tillkeep_model::{Instant, Money, ids};
    use tillkeep_storage::entity::{chain_entry, sale, sale_item};
    use tillkeep_storage::fiscal::{self, Register, Rows};
    use tillkeep_storage::{Db, Lines, Side, settings};

    use super::*;

    const STORE: &str = "store";

    /// A store that has sold so often on this day, and voided the last of that.
    async fn sell(db: &Db, day: &str, sales: i64) {
        let of = Register {
            store_id: ids::named(STORE),
            register_id: ids::named("register"),
            register_code: "01",
            letter: "",
        };
        for number in 1..=sales {
            let id = ids::named(&format!("{day} {number}"));
            let sale = sale::Model {
                id,
                store_id: of.store_id,
                receipt_number: format!("S01-01-{number:06} \"é\""),
                business_date: day.to_owned(),
                total_amount: Money(1999 * number),
                ..sale::Model::default()
            };
            let item = sale_item::Model {
                id: ids::named(&id.to_string()),
                sale_id: id,
                line_no: 1,
                ..sale_item::Model::default()
            };
            let rows = Rows { sale: &sale, items: vec![&item], payments: Vec::new() };
            let tx = db.begin().await.expect("a transaction");
            let mut entries =
                vec![fiscal::next(&tx, &of, ChainKind::Sale, Instant::default(), &rows).await.expect("an entry")];
            if number == sales {
                entries
                    .push(fiscal::next(&tx, &of, ChainKind::Void, Instant::default(), &rows).await.expect("an entry"));
            }
            for lines in [
                Lines::new::<sale::Entity>(std::slice::from_ref(&sale), &tx),
                Lines::new::<sale_item::Entity>(std::slice::from_ref(&item), &tx),
                Lines::new::<chain_entry::Entity>(&entries, &tx),
            ] {
                tx.insert_lines(lines).await.expect("rows");
            }
            tx.commit().await.expect("a commit");
        }
    }

    /// The program that the page has for whoever gets an export.
    fn script() -> &'static str {
        let page = include_str!("../../../docs/chain.md");
        page.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a program in the page")
    }

    /// Whether it and `sha256sum` find the export whole, and what it says.
    fn look(dir: &Path, export: &Path) -> (bool, bool, String) {
        let program = dir.join("check.py");
        fs::write(&program, script()).expect("a file");
        let said = Command::new("python3").arg(&program).arg(export).output().expect("python3 runs");
        let sums =
            Command::new("sha256sum").args(["--check", SUMS]).current_dir(export).output().expect("sha256sum runs");
        let text = [said.stdout, said.stderr].concat();
        (said.status.success(), sums.status.success(), String::from_utf8_lossy(&text).into_owned())
    }

    #[tokio::test]
    async fn a_stranger_checks_an_exported_period_with_sha256sum_and_the_program_of_the_docs() {
        let dir = TempDir::new().expect("a directory");
        let db = Db::open_file(&dir.path().join("tillkeep.db"), Side::Store).await.expect("a database");
        let tx = db.begin().await.expect("a transaction");
        settings::set(&tx, "store_id", &ids::named(STORE).to_string()).await.expect("a setting");
        tx.commit().await.expect("a commit");
        for day in ["2026-10-31", "2026-11-01", "2026-11-02"] {
            sell(&db, day, 3).await;
        }
        let day = |text: &str| text.parse::<NaiveDate>().expect("a date");
        let snapshot = db.snapshot().await.expect("a snapshot");
        let period = (day("2026-11-01"), day("2026-11-30"));
        let (target, documents) = write(&snapshot, period, dir.path()).await.expect("an export");
        assert_eq!(documents, 8, "each day has three sales and a void");
        let (is_whole, has_sums, text) = look(dir.path(), &target);
        assert!(is_whole && has_sums, "{text}");
        assert_eq!(text, "8 documents, each as it was hashed\n");
        let again = write(&snapshot, period, dir.path()).await.expect_err("it is there");
        assert!(again.to_string().contains("is there already"), "{again}");

        let file = target.join(DOCUMENTS);
        let whole = fs::read(&file).expect("the documents");
        let text = String::from_utf8(whole.clone()).expect("a text");
        let last = text.rfind("\"total\":").expect("an amount");
        for place in [10, text.find("1999").expect("an amount"), whole.len() / 2, last + 9, whole.len() - 2] {
            let mut changed = whole.clone();
            changed[place] = if changed[place] == b'7' { b'8' } else { b'7' };
            fs::write(&file, changed).expect("a file");
            let (is_whole, has_sums, text) = look(dir.path(), &target);
            assert!(!is_whole && !has_sums, "byte {place}: {text}");
        }
        // A document left out, and one too many.
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for other in [[&lines[..3], &lines[4..]].concat(), [&lines[..], &lines[7..]].concat(), lines[..7].to_vec()] {
            fs::write(&file, other.concat()).expect("a file");
            let (is_whole, has_sums, text) = look(dir.path(), &target);
            assert!(!is_whole && !has_sums, "{text}");
        }
    }
}
