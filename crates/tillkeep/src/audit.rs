//! `tillkeep audit verify`: whether the audit log of a server is what was written.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use tillkeep_storage::Db;
use tillkeep_storage::audit::{self, Head};

use crate::configuration;
use crate::output::say;

#[derive(Subcommand)]
pub enum AuditCommand {
    /// Checks every row of the audit log against its hash and the row before it.
    ///
    /// Reads only, beside the running server or without it. Note the head that it prints, outside of this machine: given
    /// back with --head it shows that nothing was cut off.
    Verify(Verify),
}

#[derive(Args)]
pub struct Verify {
    /// The data directory of the server, headquarters or store.
    #[arg(long, value_name = "DIR", required_unless_present = "database_url")]
    data_dir: Option<PathBuf>,
    /// The database of headquarters on `PostgreSQL`; without this and `DATABASE_URL`, the file in the data directory.
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
    /// A head that was noted earlier, as it was printed.
    #[arg(long, value_name = "ROW:HASH", value_parser = head)]
    head: Option<Head>,
}

fn head(text: &str) -> Result<Head, String> {
    let (seq, hash) = text.split_once(':').ok_or("write it as it was printed, ROW:HASH")?;
    let seq = seq.parse().map_err(|_| "the row is a number")?;
    Ok(Head { seq, hash: hash.to_owned() })
}

/// Fails, with the row, when something is wrong.
pub async fn run(command: AuditCommand, file: Option<&Path>) -> Result<()> {
    let AuditCommand::Verify(args) = command;
    let url = match (args.database_url, args.data_dir) {
        (Some(url), _) => url,
        (None, Some(dir)) => database_in(&dir, file)?,
        (None, None) => bail!("name the data directory of the server with --data-dir"),
    };
    let conn = Db::open_to_read(&url).await.context("the database cannot be opened")?;
    let verdict = audit::verify(&conn, args.head.as_ref()).await.context("the audit log cannot be read")?;
    let Head { seq, hash } = verdict.context("the audit log is not what was written")?;
    say!("The audit log is whole: {seq} rows, each as it was written.\nhead {seq}:{hash}");
    Ok(())
}

/// The file in the data directory, or the configured database of a headquarters that keeps only its keys there.
pub fn database_in(dir: &Path, file: Option<&Path>) -> Result<String> {
    let path = dir.join("tillkeep.db");
    if path.exists() {
        return Ok(Db::url_of_file(&path));
    }
    let url = configuration::load(file)?.hq.database_url;
    if url.is_empty() {
        bail!("{} is not there; name the data directory of the server", path.display());
    }
    Ok(url.expose().to_owned())
}

#[cfg(test)]
mod tests {
    use super::head;

    #[test]
    fn a_head_is_read_as_it_was_printed() {
        assert_eq!(head("12:ab").map(|head| (head.seq, head.hash)), Ok((12, "ab".to_owned())));
        for wrong in ["", "12", "x:ab"] {
            assert!(head(wrong).is_err(), "{wrong}");
        }
    }
}
