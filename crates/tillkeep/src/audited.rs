//! The server whose records somebody audits.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use tillkeep_http::DatabaseUrl;
use tillkeep_storage::{Connection, Db, DbErr, Side, upgrade};

use crate::configuration;

// The database of a server. No help text: it would stand in place of that of the command.
#[derive(Args)]
pub struct Audited {
    /// The data directory of the server, headquarters or store. The database of a headquarters is the file there or the one of
    /// `DATABASE_URL` or the configuration; with both it is refused.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The database of headquarters on `PostgreSQL`. With a password it stands in the list of processes: `DATABASE_URL` in the
    /// environment or the configuration, without it, does the same.
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
}

impl Audited {
    /// Opens it to be read.
    pub async fn open(self, file: Option<&Path>) -> Result<Connection> {
        let url = match (self.database_url, self.data_dir) {
            (Some(url), _) => named(url),
            (None, Some(dir)) => {
                let path = dir.join("tillkeep.db");
                // A store has no other database than that file, whatever is set for headquarters on the same machine.
                if is_of_store(&path).await { Db::url_of_file(&path) } else { database_in(&dir, file, "--data-dir")? }
            }
            (None, None) => configured(file)?.context(
                "name the data directory of the server with --data-dir, or its PostgreSQL with DATABASE_URL in the environment",
            )?,
        };
        Db::open_to_read(&url).await.context("the database cannot be opened")
    }
}

/// Whether a store has its database at `path`.
async fn is_of_store(path: &Path) -> bool {
    if !path.exists() {
        return false;
    }
    match Db::open_to_read(&Db::url_of_file(path)).await {
        Ok(conn) => upgrade::refuse_other(&conn, Side::Hq).await.is_err_and(|error| matches!(error, DbErr::Custom(_))),
        Err(_) => false,
    }
}

/// The file in the data directory of headquarters that `flag` names, or the configured database of one that keeps only its keys there.
pub fn database_in(dir: &Path, file: Option<&Path>, flag: &str) -> Result<String> {
    let path = dir.join("tillkeep.db");
    let configured = configured(file)?;
    if !path.exists() {
        return configured
            .with_context(|| format!("{} is not there; name the data directory of the server", path.display()));
    }
    // A server would use what is configured: whoever looks must not take the one for the other.
    if let Some(url) = configured.filter(|url| !is_file(url, &path)) {
        bail!(
            "{path} is there, and DATABASE_URL or the configuration names another database, {url}: which one is meant? For the file leave \
             that setting out (`env -u DATABASE_URL`, another --config); for the other one leave {flag} out, or move the file away when no \
             server uses it any more",
            path = path.display(),
            url = DatabaseUrl::from(url)
        );
    }
    Ok(Db::url_of_file(&path))
}

/// Whether the address is that of the file at `path`, which is there, however the two are written.
fn is_file(url: &str, path: &Path) -> bool {
    Db::file_of_url(url)
        .and_then(|file| file.canonicalize().ok())
        .is_some_and(|file| path.canonicalize().is_ok_and(|path| path == file))
}

/// The database of headquarters that environment or configuration name.
pub fn configured(file: Option<&Path>) -> Result<Option<String>> {
    let url = configuration::load(file)?.hq.database_url;
    Ok((!url.is_empty()).then(|| url.expose().to_owned()))
}

/// The database that a flag names. A password among it is seen by every user of this machine, and stays in the history of the shell.
pub fn named(url: String) -> String {
    if has_password(&url) {
        tracing::warn!(
            "the password in --database-url is seen in the list of processes: set DATABASE_URL in the environment and leave the flag out"
        );
    }
    url
}

fn has_password(url: &str) -> bool {
    // The file of SQLite has none, and an @ among parameters is none before a host.
    let address = url.split_once('?').map_or(url, |(address, _)| address);
    let mut passwords = configuration::before_hosts(address).into_iter().chain(configuration::among_parameters(url));
    url.starts_with("postgres") && passwords.any(|password| !password.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_file_is_no_other_database_however_it_is_named() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("tillkeep.db");
        std::fs::write(&path, "").expect("a file");
        let around = dir.path().join("../").join(dir.path().file_name().expect("a name")).join("tillkeep.db");
        assert!(is_file(&Db::url_of_file(&path), &path) && is_file(&Db::url_of_file(&around), &path));
        for other in ["postgres://db/chain".to_owned(), Db::url_of_file(&dir.path().join("other.db"))] {
            assert!(!is_file(&other, &path), "{other}");
        }
    }

    #[test]
    fn a_password_is_seen_where_it_may_stand_in_an_address() {
        for url in [
            "postgres://till:hunter2@db/chain",
            "postgres://till:hun@ter2@db/chain?sslmode=require",
            "postgres://till@db/chain?sslmode=require&password=hunter2",
        ] {
            assert!(has_password(url), "{url}");
        }
        for url in [
            "postgres://till@db:5432/chain",
            "postgres://till:@db/chain",
            "postgres://db:5432/chain?user=till@chain",
            "sqlite:///srv/a:b/tillkeep.db",
            "sqlite:///srv/a:b@c/tillkeep.db",
            "postgres://db",
        ] {
            assert!(!has_password(url), "{url}");
        }
    }
}
