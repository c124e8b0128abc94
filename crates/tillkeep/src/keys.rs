//! `tillkeep keys`: the keys that tokens are signed with, of either server. A running server takes them over by itself.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use tillkeep_http::Clock;

use crate::output::say;
use tillkeep_http::tokens::keys::{self, KeyInfo, Ring};

#[derive(Subcommand)]
pub enum KeysCommand {
    /// Lists the keys, never their secrets.
    List(DataDir),
    /// Puts a new key in front. What older ones have signed stays good.
    Rotate {
        #[command(flatten)]
        dir: DataDir,
        /// The key of stores' sync tokens instead of people's.
        #[arg(long)]
        sync: bool,
    },
    /// Forgets a key. Tokens that it signed are refused from now on.
    Retire {
        /// Its id, as `keys list` shows it.
        kid: String,
        #[command(flatten)]
        dir: DataDir,
    },
}

#[derive(Args)]
pub struct DataDir {
    /// The data directory of the server, headquarters or store.
    #[arg(long, value_name = "DIR", env = "DATA_DIR")]
    data_dir: PathBuf,
}

impl DataDir {
    fn file(&self) -> PathBuf {
        self.data_dir.join("token.key")
    }

    fn name(&self) -> String {
        format!("the keys in {}", self.data_dir.display())
    }
}

pub fn run(command: &KeysCommand) -> Result<()> {
    match command {
        KeysCommand::List(dir) => {
            for key in keys::list(&dir.file()).with_context(|| dir.name())? {
                say!("{}", line(&key));
            }
        }
        KeysCommand::Rotate { dir, sync } => {
            let ring = if *sync { Ring::Sync } else { Ring::People };
            let kid = keys::rotate(&dir.file(), ring, Clock::default().now()).with_context(|| dir.name())?;
            say!("{kid} signs new {} now; a running server takes it over within seconds.", what(ring));
        }
        KeysCommand::Retire { kid, dir } => {
            let ring = keys::retire(&dir.file(), kid).with_context(|| dir.name())?;
            say!("{kid} is forgotten; {} that it signed are refused within seconds.", what(ring));
        }
    }
    Ok(())
}

const fn what(ring: Ring) -> &'static str {
    match ring {
        Ring::People => "access and refresh tokens",
        Ring::Sync => "sync tokens",
    }
}

fn line(key: &KeyInfo) -> String {
    let ring = match key.ring {
        Ring::People => "people",
        Ring::Sync => "sync",
    };
    let made = key.made_at.map_or_else(|| "unknown".to_owned(), |at| at.to_string());
    let state = match (key.signs, key.retired_at) {
        (true, _) => "signs".to_owned(),
        (false, Some(at)) => format!("verifies, retired {at}"),
        (false, None) => "verifies".to_owned(),
    };
    format!("{ring:<7} {}  made {made}  {state}", key.kid)
}
