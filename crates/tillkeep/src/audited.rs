//! The server whose records somebody audits.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use tillkeep_storage::{Connection, Db};

use crate::configuration;

// The database of a server. No help text: it would stand in place of that of the command.
#[derive(Args)]
pub struct Audited {
    /// The data directory of the server, headquarters or store.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The database of headquarters on `PostgreSQL`. With a password it stands in the list of processes: `DATABASE_URL` in the
    /// environment or the configuration, and `--data-dir` alone, do the same.
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
}

impl Audited {
    /// Opens it to be read.
    pub async fn open(self, file: Option<&Path>) -> Result<Connection> {
        let url = match (self.database_url, self.data_dir) {
            (Some(url), _) => named(url),
            (None, Some(dir)) => database_in(&dir, file)?,
            (None, None) => configured(file)?.context(
                "name the data directory of the server with --data-dir, or its PostgreSQL with DATABASE_URL in the environment",
            )?,
        };
        Db::open_to_read(&url).await.context("the database cannot be opened")
    }
}

/// The file in the data directory, or the configured database of a headquarters that keeps only its keys there.
pub fn database_in(dir: &Path, file: Option<&Path>) -> Result<String> {
    let path = dir.join("tillkeep.db");
    if path.exists() {
        return Ok(Db::url_of_file(&path));
    }
    configured(file)?.with_context(|| format!("{} is not there; name the data directory of the server", path.display()))
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
    let (address, parameters) = url.split_once('?').unwrap_or((url, ""));
    let before = address.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@'));
    let is_set = |password: &str| !password.is_empty();
    before.and_then(|(who, _)| who.split_once(':')).is_some_and(|(_, password)| is_set(password))
        || parameters.split('&').filter_map(|pair| pair.strip_prefix("password=")).any(is_set)
}

#[cfg(test)]
mod tests {
    use super::has_password;

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
            "sqlite:///srv/a:b/tillkeep.db",
            "postgres://db",
        ] {
            assert!(!has_password(url), "{url}");
        }
    }
}
