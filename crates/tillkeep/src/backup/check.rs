//! `tillkeep backup check`: a backup that nobody has restored is a hope.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use tillkeep_storage::backup::Content;
use tillkeep_storage::{Db, Side};

use super::dump;
use super::restore::Found;
use super::write::DATABASE;
use crate::output::say;
use crate::signals::stop_on_signal;
use crate::verify;

#[derive(Args)]
pub struct Check {
    /// The backup to check.
    file: PathBuf,
    /// The file with the identity that opens an encrypted backup, as `age-keygen` writes it.
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
    /// Where to restore it meanwhile, in the open; takes the room of its database. Without it, the directory for temporary files.
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
}

/// Says what the backup holds and what does not hold in it; fails when that is anything.
pub async fn run(args: Check) -> Result<()> {
    let place = args.scratch.clone().unwrap_or_else(std::env::temp_dir);
    // It goes with this, also when somebody has had enough.
    let scratch = tempfile::Builder::new().prefix("tillkeep-check-").tempdir_in(&place);
    let scratch = scratch.with_context(|| place.display().to_string())?;
    let stop = stop_on_signal()?;
    // On a thread of its own: it may not yield for minutes.
    let to = scratch.path().to_owned();
    let checked = tokio::spawn(async move { check(&args, &to).await });
    tokio::select! {
        checked = checked => checked?,
        () = stop.cancelled() => bail!("stopped before it was checked"),
    }
}

async fn check(args: &Check, scratch: &Path) -> Result<()> {
    let file = &args.file;
    let named = || file.display().to_string();
    if dump::is_dump(file).with_context(named)? {
        return check_dump(file, file).await;
    }
    let copy = scratch.join(DATABASE);
    let Some(content) = Found::at(file, args.identity.as_deref()).await?.copy(&copy).await? else {
        return check_dump(file, &copy).await;
    };
    describe(file, &content)?;
    // As its server does at the next start: a backup of an older release gets the tables of this one.
    Db::open_file(&copy, content.side).await.with_context(named)?.close().await.with_context(named)?;
    let findings = verify::alone(&copy, content.side).await.with_context(named)?;
    for finding in &findings {
        say!("{finding}");
    }
    if !findings.is_empty() {
        bail!("{} findings", findings.len());
    }
    say!("Everything holds.");
    Ok(())
}

fn describe(file: &Path, content: &Content) -> Result<()> {
    let about = &content.about;
    let whose = match (content.side, &about.store) {
        (Side::Hq, _) => "headquarters".to_owned(),
        (Side::Store, Some((Some(code), id))) => format!("store {code} ({id})"),
        (Side::Store, Some((None, id))) => format!("store {id}"),
        (Side::Store, None) => "a store without a name yet".to_owned(),
    };
    let keys: Vec<&str> = content.kept.iter().map(|key| key.name.as_str()).collect();
    let keys = if keys.is_empty() { "no key".to_owned() } else { keys.join(" and ") };
    let step = about.step.as_deref().unwrap_or("none");
    say!(
        "{} is a backup of {whose}, made {} by Tillkeep {}: schema {step}, with {keys}.",
        file.display(),
        content.made_at,
        content.version
    );
    let rows: Vec<String> = about.rows.iter().map(|(name, rows)| format!("{name} {rows}")).collect();
    say!("Rows: {}.", if rows.is_empty() { "none".to_owned() } else { rows.join(", ") });
    Ok(())
}

/// What can be said of a dump without a `PostgreSQL` to put it into.
async fn check_dump(file: &Path, dump: &Path) -> Result<()> {
    let tables = dump::read(dump).await.with_context(|| file.display().to_string())?;
    say!("{} is a dump of PostgreSQL with the data of {tables} tables, and can be read to its end.", file.display());
    say!("For what it holds, restore it into a database of its own and run `tillkeep verify --database-url` there.");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tillkeep_http::Clock;

    use super::super::write::{self, Server};
    use super::*;

    #[tokio::test]
    async fn a_backup_that_is_damaged_or_none_is_found_and_no_copy_of_it_is_left() {
        let dir = tempfile::tempdir().expect("a directory");
        let (file, scratch) = (dir.path().join("backup"), dir.path().join("scratch"));
        fs::create_dir(&scratch).expect("a directory");
        let server = Server { database: dir.path().join(DATABASE), data_dir: dir.path().to_owned() };
        let db = Db::open_file(&server.database, Side::Hq).await.expect("a database");
        write::write(&server, &file, None, Clock::default().now()).await.expect("a backup");
        db.close().await.expect("closed");
        let args = || Check { file: file.clone(), identity: None, scratch: Some(scratch.clone()) };
        run(args()).await.expect("a database without a row is whole");

        let bytes = fs::read(&file).expect("the backup");
        let mut torn = bytes.clone();
        // Behind the first page, so that the file still says what it is.
        for byte in &mut torn[5000..9000] {
            *byte = 0xff;
        }
        for (what, content) in [
            ("torn", torn),
            ("cut off", bytes[..bytes.len() / 2].to_vec()),
            ("text", b"no backup".to_vec()),
            ("empty", Vec::new()),
        ] {
            fs::write(&file, content).expect("a file");
            assert!(run(args()).await.is_err(), "{what}");
        }
        assert_eq!(fs::read_dir(&scratch).expect("a directory").count(), 0, "the copies are gone");
        fs::remove_file(&file).expect("removed");
        let said = format!("{:#}", run(args()).await.expect_err("refused"));
        assert!(said.contains(&file.display().to_string()), "{said}");
    }
}
