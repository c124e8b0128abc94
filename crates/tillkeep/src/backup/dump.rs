//! Dumps of a headquarters on `PostgreSQL`, by that database's own programs.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use anyhow::{Context, Result, bail};
use tillkeep_storage::address;
use tokio::fs::OpenOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use crate::sealed::{self, Recipient};

const DUMPS: &str = "pg_dump";
const READS: &str = "pg_restore";
/// What a dump begins with.
const MAGIC: &[u8] = b"PGDMP";
/// Bytes that are taken from the program at once.
const PIECE: usize = 64 << 10;
/// What is read of a program's complaints.
const COMPLAINTS: u64 = 16 << 10;

/// Whether a file is a dump.
pub fn is_dump(path: &Path) -> io::Result<bool> {
    let mut begin = Vec::new();
    File::open(path)?.take(MAGIC.len() as u64).read_to_end(&mut begin)?;
    Ok(begin == MAGIC)
}

/// A program of `PostgreSQL`, with what the environment says of connections and nothing else of it: no secret of this server.
fn program(name: &str) -> Command {
    let is_passed = |name: &OsString| {
        let name = name.to_str().unwrap_or_default();
        ["PATH", "HOME", "LANG"].contains(&name) || name.starts_with("PG")
    };
    let mut command = Command::new(name);
    command.env_clear().envs(std::env::vars_os().filter(|(name, _)| is_passed(name)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// An error with the remedy, unless there is a program here that dumps a server of this version.
pub async fn usable(server: i32) -> Result<()> {
    let remedy = format!("install the programs of PostgreSQL {server}, such as the package postgresql-client-{server}");
    let said = match program(DUMPS).arg("--version").output().await {
        Ok(said) => said,
        Err(error) if error.kind() == io::ErrorKind::NotFound => bail!("{DUMPS} is not in the PATH; {remedy}"),
        Err(error) => return Err(error).with_context(|| format!("{DUMPS} cannot be started; {remedy}")),
    };
    let text = String::from_utf8_lossy(&said.stdout);
    match version_in(&text) {
        Some(version) if version >= server => Ok(()),
        Some(version) => bail!("{DUMPS} in the PATH is of PostgreSQL {version}, the server is {server}; {remedy}"),
        None => bail!("{DUMPS} in the PATH does not say its version; {remedy}"),
    }
}

/// 15 in `pg_dump (PostgreSQL) 15.18 (Debian …)`.
fn version_in(text: &str) -> Option<i32> {
    let (_, version) = text.split_once("(PostgreSQL) ")?;
    let end = version.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(version.len());
    version[..end].parse().ok()
}

/// Writes a dump of the database at `url` to the file `to`, which is there.
pub async fn write(url: &str, to: &Path, recipient: Option<&Recipient>) -> Result<()> {
    let (address, password) = address::for_programs(url).map_err(anyhow::Error::msg)?;
    let mut command = program(DUMPS);
    command.args(["--format=custom", "--no-password"]).arg(format!("--dbname={address}"));
    if let Some(password) = password {
        command.env("PGPASSWORD", password);
    }
    let mut child = command.spawn().with_context(|| DUMPS.to_owned())?;
    let (mut source, complaints) =
        (child.stdout.take().context("no output")?, child.stderr.take().context("no output")?);
    let mut file = OpenOptions::new().write(true).open(to).await.with_context(|| to.display().to_string())?;
    let mut written = Vec::new();
    let mut sealer = recipient.map(|recipient| sealed::begin(recipient, &mut written)).transpose()?;
    // It has the pipe for itself: a program with nobody to read what it writes ends.
    let copied = async move {
        let mut piece = vec![0; PIECE];
        loop {
            let read = source.read(&mut piece).await?;
            if read == 0 {
                break;
            }
            match &mut sealer {
                None => file.write_all(&piece[..read]).await?,
                Some(sealer) => {
                    sealer.push(&piece[..read], &mut written)?;
                    file.write_all(&written).await?;
                    written.clear();
                }
            }
        }
        if let Some(sealer) = sealer.take() {
            sealer.finish(&mut written)?;
            file.write_all(&written).await?;
        }
        file.flush().await?;
        anyhow::Ok(())
    };
    // What is not read of either would stop the program.
    let (copied, said) = tokio::join!(copied, complaints_of(complaints));
    copied.with_context(|| to.display().to_string())?;
    succeeded(DUMPS, child.wait().await?, &said)
}

async fn complaints_of(mut source: impl tokio::io::AsyncRead + Unpin) -> String {
    let mut said = Vec::new();
    // What cannot be read was not said.
    let _ = (&mut source).take(COMPLAINTS).read_to_end(&mut said).await;
    let _ = tokio::io::copy(&mut source, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&said).into_owned()
}

fn succeeded(program: &str, status: ExitStatus, said: &str) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
    bail!("{program} ended with {status}: {last}")
}

/// Reads a dump from one end to the other, as `pg_restore` does to write it out; how many tables with data it has.
pub async fn read(path: &Path) -> Result<usize> {
    let missing = || format!("{READS}, which reads dumps, cannot be started; install the programs of PostgreSQL");
    let listed = program(READS).arg("--list").arg(path).output().await.with_context(missing)?;
    succeeded(READS, listed.status, &String::from_utf8_lossy(&listed.stderr))?;
    let tables = String::from_utf8_lossy(&listed.stdout).lines().filter(|line| line.contains(" TABLE DATA ")).count();
    // The list stands at the beginning: only this looks at what comes after it.
    let whole = program(READS).arg("--file=/dev/null").arg(path).output().await.with_context(missing)?;
    succeeded(READS, whole.status, &String::from_utf8_lossy(&whole.stderr))?;
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_a_program_is_read_from_what_it_says() {
        assert_eq!(version_in("pg_dump (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n"), Some(15));
        assert_eq!(version_in("pg_dump (PostgreSQL) 18beta1\n"), Some(18));
        assert_eq!(version_in("pg_dump (Other) 18\n"), None);
    }

    #[tokio::test]
    async fn a_program_that_is_older_than_the_server_is_refused_with_what_to_install() {
        // No server is that new, whatever is installed here, and nothing at all may be.
        let said = format!("{:#}", usable(1000).await.expect_err("refused"));
        assert!(said.contains("pg_dump") && said.contains("postgresql-client-1000"), "{said}");
    }
}
