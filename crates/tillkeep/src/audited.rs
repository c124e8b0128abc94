//! The server whose records somebody audits.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use tillkeep_storage::{Connection, Db};

use crate::configuration;

// The database of a server. No help text: it would stand in place of that of the command.
#[derive(Args)]
pub struct Audited {
    /// The data directory of the server, headquarters or store.
    #[arg(long, value_name = "DIR", required_unless_present = "database_url")]
    data_dir: Option<PathBuf>,
    /// The database of headquarters on `PostgreSQL`; without this and `DATABASE_URL`, the file in the data directory.
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
}

impl Audited {
    /// Opens it to be read.
    pub async fn open(self, file: Option<&Path>) -> Result<Connection> {
        let url = match (self.database_url, self.data_dir) {
            (Some(url), _) => url,
            (None, Some(dir)) => database_in(&dir, file)?,
            (None, None) => bail!("name the data directory of the server with --data-dir"),
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
    let url = configuration::load(file)?.hq.database_url;
    if url.is_empty() {
        bail!("{} is not there; name the data directory of the server", path.display());
    }
    Ok(url.expose().to_owned())
}
