//! `tillkeep verify` on the database of a headquarters that holds sales with all that a store says of them: how long it takes,
//! and the most memory. Copies of rows would be findings, of which each takes memory.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};
use rusqlite::{Connection, OpenFlags};
use tokio::process::Command;

use super::Bench;
use super::figure::Sample;
use super::process::{Ended, run_to_end};
use super::statistics::{mib, per_second};

pub const RATE: &str = "verify of what was pushed";
pub const MEMORY: &str = "verify of what was pushed, most memory";

/// What one look took.
pub struct Verified {
    sales: usize,
    took: Duration,
    most: u64,
}

/// Verifies the headquarters in `data`, which may run and has nothing to do; nothing where the program has no such command.
pub async fn run(bench: &Bench, data: &Path) -> Result<Option<Verified>> {
    let conn = Connection::open_with_flags(data.join("tillkeep.db"), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let sales: i64 = conn.query_row("SELECT COUNT(*) FROM sales", [], |row| row.get(0))?;
    drop(conn);
    let mut command = Command::new(&bench.program);
    command.env_clear().args(["verify", "--settled", "--hq"]).arg(data);
    let Ended { took, most, status, said } = run_to_end(&mut command).await?;
    if said.contains("unrecognized subcommand") {
        return Ok(None);
    }
    // What it found took as long as that it found nothing would have.
    if !status.success() && !said.contains(" findings") {
        bail!("verify of {}: {said}", data.display());
    }
    Ok(Some(Verified { sales: usize::try_from(sales)?, took, most }))
}

/// Sales a second, beside those of a look at few, and the memory of the look at many.
pub fn samples(few: Option<&Verified>, many: Option<&Verified>) -> Vec<Sample> {
    let Some((few, many)) = few.zip(many) else { return Vec::new() };
    let rate = |looked: &Verified| per_second(looked.sales, looked.took);
    vec![Sample::beside(RATE, rate(many), rate(few)), Sample::new(MEMORY, mib(many.most))]
}
