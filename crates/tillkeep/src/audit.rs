//! `tillkeep audit verify`: whether the audit log of a server and its chains of documents are what was written.

use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use tillkeep_storage::audit::{self, Head};
use tillkeep_storage::fiscal::{self, Checked};

use crate::audit_export::{self, AuditExport};
use crate::audited::Audited;
use crate::output::say;

#[derive(Subcommand)]
pub enum AuditCommand {
    /// Checks every row of the audit log against its hash and the row before it, and every entry of the chains of documents against
    /// its document and the entry before it.
    ///
    /// Reads only, beside the running server or without it. Note the head that it prints, outside of this machine: given
    /// back with --head it shows that nothing was cut off.
    Verify(Verify),
    /// Writes the documents of a period to a directory, as they were hashed, for whoever checks them without this program.
    ///
    /// Reads only, beside the running server or without it.
    Export(AuditExport),
}

#[derive(Args)]
pub struct Verify {
    #[command(flatten)]
    server: Audited,
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
    match command {
        AuditCommand::Verify(args) => verify(args, file).await,
        AuditCommand::Export(args) => audit_export::run(args, file).await,
    }
}

async fn verify(args: Verify, file: Option<&Path>) -> Result<()> {
    let conn = args.server.open(file).await?;
    let verdict = audit::verify(&conn, args.head.as_ref()).await.context("the audit log cannot be read")?;
    let Head { seq, hash } = verdict.context("the audit log is not what was written")?;
    say!("The audit log is whole: {seq} rows, each as it was written.\nhead {seq}:{hash}");
    let snapshot = conn.begin().await.context("the database cannot be read")?;
    let checked = fiscal::check(&snapshot).await.context("the chains of documents cannot be read")?;
    let Checked { chains, entries, unknown, without_entry, breaks } = checked;
    for broken in &breaks {
        say!("{broken}");
    }
    if without_entry > 0 {
        say!("{without_entry} documents are of before there were chains, or of a release without them.");
    }
    if unknown > 0 {
        say!("{unknown} entries are of a newer release, and are not judged.");
    }
    if !breaks.is_empty() {
        bail!("the chains of documents are not what was written: {} places", breaks.len());
    }
    say!("The chains of documents are whole: {entries} entries in {chains} chains.");
    Ok(())
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
