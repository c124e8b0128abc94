//! `tillkeep import` and `tillkeep export`: products, customers, prices of stores and sales as CSV, by the routes of the headquarters
//! that runs, as a person who has signed in. `docs/integrate.md`.

mod keeping;
mod line;
mod patience;
mod progress;
mod sending;
mod sign_in;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use chrono::NaiveDate;
use clap::{Args, Subcommand};
use serde::Deserialize;
use uuid::Uuid;

use crate::configuration::{self, Hq};
use crate::run;
use crate::signals::{stop_command_on_signal, until};
use line::{Asked, Headquarters};
use sending::{Job, Sheet};
use sign_in::{By, Session};

/// In place of the name of a file.
const STANDARD: &str = "-";

/// What goes in.
#[derive(Subcommand)]
pub enum Import {
    /// Makes and changes products, which are known by `sku`.
    Products(Sent),
    /// Makes and changes customers, who are known by `customerNumber`; without one somebody is new.
    Customers {
        /// Takes somebody new who has the telephone number or mail address of another.
        #[arg(long)]
        allow_duplicate: bool,
        #[command(flatten)]
        sent: Sent,
    },
    /// Sets prices of stores, which are known by `storeCode` and `sku`.
    StorePrices(Sent),
}

/// What comes out.
#[derive(Subcommand)]
pub enum Export {
    /// All products, in the columns that an import takes.
    Products {
        #[command(flatten)]
        searched: Searched,
        #[command(flatten)]
        kept: Kept,
    },
    /// All customers, in the columns that an import takes.
    Customers {
        #[command(flatten)]
        searched: Searched,
        #[command(flatten)]
        kept: Kept,
    },
    /// What stores charge, in the columns that an import takes.
    StorePrices {
        /// The code of a store: its prices alone.
        #[arg(long, value_name = "CODE")]
        store: Option<String>,
        #[command(flatten)]
        searched: Searched,
        #[command(flatten)]
        kept: Kept,
    },
    /// Sales, the newest first.
    Sales {
        /// The code of a store: its sales alone.
        #[arg(long, value_name = "CODE")]
        store: Option<String>,
        /// The first business date.
        #[arg(long, value_name = "YYYY-MM-DD")]
        since: Option<NaiveDate>,
        /// The last business date.
        #[arg(long, value_name = "YYYY-MM-DD")]
        until: Option<NaiveDate>,
        #[command(flatten)]
        kept: Kept,
    },
}

/// A file that goes in, and how.
#[derive(Args)]
pub struct Sent {
    /// The CSV file; `-` is the standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Says what would come of the file, each fault by line and column, and writes nothing.
    #[arg(long)]
    dry_run: bool,
    /// The key that a run has said which had no answer: what came of it is told, and nothing is done twice.
    #[arg(long, value_name = "KEY", conflicts_with = "dry_run")]
    key: Option<String>,
    #[command(flatten)]
    reached: Reached,
}

/// Where a file is kept.
#[derive(Args)]
pub struct Kept {
    /// The file to write, in place of one that is there, when all of it has come; without it the standard output.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    reached: Reached,
}

/// Which rows of a list.
#[derive(Args)]
pub struct Searched {
    /// Only those that the list finds by this text.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
}

/// Which headquarters, and who asks it. Neither PIN nor token is among it: a list of processes would show them.
#[derive(Args)]
struct Reached {
    /// The address of headquarters; without it `HQ_URL`, or else where headquarters of this machine listens.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// A file with the certificate of the authority of headquarters, where that is one of its own; without it `HQ_CA_FILE`.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Takes plain HTTP beyond this machine, where the network is encrypted otherwise.
    #[arg(long)]
    allow_insecure: bool,
    /// The name of who signs in; the PIN is read from the standard input, or from --pin-file.
    #[arg(long, value_name = "NAME", required_unless_present = "token_file", conflicts_with = "token_file")]
    user: Option<String>,
    /// The file that has the PIN; `-` is the standard input.
    #[arg(long, value_name = "FILE", requires = "user")]
    pin_file: Option<PathBuf>,
    /// A file that has an access token, in place of a name and a PIN; `-` is the standard input.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// Sends a file; what the program ends with.
pub async fn import(what: Import, configured: Option<&Path>) -> Result<u8> {
    let mut query = Vec::new();
    let (path, sent) = match what {
        Import::Products(sent) => ("/products/import", sent),
        Import::Customers { allow_duplicate, sent } => {
            if allow_duplicate {
                query.push(("allowDuplicate", "true".to_owned()));
            }
            ("/customers/import", sent)
        }
        Import::StorePrices(sent) => ("/store-prices/import", sent),
    };
    if sent.dry_run {
        query.push(("dryRun", "true".to_owned()));
    }
    let Sent { file, dry_run, key, reached } = sent;
    let by = reached.by();
    if is_standard(&file) && by.reads_standard_input() {
        bail!("both the file and who signs in would come from the standard input: name --pin-file or --token-file");
    }
    let key = key.unwrap_or_else(|| Uuid::now_v7().to_string());
    let job = Job { path, query, key, dry_run };
    let hq = reached.headquarters(configured)?;
    let stop = stop_command_on_signal()?;
    let begin = async {
        // Before anybody signs in: a file that is none, or too large, needs no headquarters.
        let sheet = tokio::task::spawn_blocking(move || Sheet::open(&file)).await??;
        anyhow::Ok((sheet, sign_in::sign_in(hq, &by).await?))
    };
    let (sheet, session) = until(&stop, "stopped; nothing was sent", begin).await?;
    let done = until(&stop, &job.stopped(), sending::send(&session.hq, &sheet, &job)).await;
    session.end().await;
    done
}

/// Keeps a list as a file.
pub async fn export(what: Export, configured: Option<&Path>) -> Result<()> {
    let (path, kept, store, query) = match what {
        Export::Products { searched, kept } => ("/products", kept, None, searched.query()),
        Export::Customers { searched, kept } => ("/customers", kept, None, searched.query()),
        Export::StorePrices { store, searched, kept } => ("/store-prices", kept, store, searched.query()),
        Export::Sales { store, since, until, kept } => ("/sales", kept, store, business_dates(since, until)?),
    };
    let Kept { out, reached } = kept;
    let out = out.filter(|path| !is_standard(path));
    let (by, hq) = (reached.by(), reached.headquarters(configured)?);
    let stop = stop_command_on_signal()?;
    let stopped = "stopped; no file was written";
    let session = until(&stop, stopped, sign_in::sign_in(hq, &by)).await?;
    let done = until(&stop, stopped, all_of(&session, path, store.as_deref(), query, out.as_deref())).await;
    session.end().await;
    done
}

async fn all_of(
    session: &Session,
    path: &str,
    store: Option<&str>,
    mut query: Vec<Asked>,
    out: Option<&Path>,
) -> Result<()> {
    let hq = &session.hq;
    if let Some(code) = store {
        query.push(("storeId", store_id(hq, path, code).await?));
    }
    query.push(("format", "csv".to_owned()));
    keeping::keep(hq, path, &query, out).await
}

fn is_standard(path: &Path) -> bool {
    path == Path::new(STANDARD)
}

fn business_dates(since: Option<NaiveDate>, until: Option<NaiveDate>) -> Result<Vec<Asked>> {
    if let (Some(first), Some(last)) = (since, until)
        && first > last
    {
        bail!("--since {first} is after --until {last}");
    }
    let named = [("businessDateFrom", since), ("businessDateTo", until)];
    Ok(named.into_iter().filter_map(|(name, date)| Some((name, date?.to_string()))).collect())
}

#[derive(Deserialize)]
struct Store {
    id: Uuid,
    code: String,
}

#[derive(Deserialize)]
struct Choices {
    stores: Vec<Store>,
}

/// The store of a code, among those that who asks may see there.
async fn store_id(hq: &Headquarters, path: &str, code: &str) -> Result<String> {
    let stores = if path == "/sales" {
        hq.get::<Choices>("/sales/choices", &[]).await?.stores
    } else {
        hq.get::<Vec<Store>>("/stores", &[("code", code.to_owned())]).await?
    };
    let found = stores.into_iter().find(|store| store.code == code);
    let found = found.with_context(|| format!("--store {code}: there is no such store, or it is not yours to see"))?;
    Ok(found.id.to_string())
}

impl Searched {
    fn query(self) -> Vec<Asked> {
        self.search.into_iter().map(|text| ("search", text)).collect()
    }
}

impl Reached {
    fn by(&self) -> By {
        match (&self.user, &self.token_file) {
            (Some(name), _) => By::Pin { name: name.clone(), file: self.pin_file.clone() },
            (None, file) => By::Token { file: file.clone() },
        }
    }

    fn headquarters(&self, configured: Option<&Path>) -> Result<Headquarters> {
        let configuration = configuration::load(configured)?;
        let of_store = &configuration.store;
        let url = match self.url.as_ref().or(Some(&of_store.hq_url)).filter(|url| !url.is_empty()) {
            Some(url) => url.clone(),
            None => of_this_machine(&configuration.hq)?,
        };
        let url = run::check_hq_url(&url, self.allow_insecure || of_store.allow_insecure)
            .map_err(|error| error.context("--url (--allow-insecure takes plain HTTP)"))?;
        let known = Some(of_store.hq_ca_file.as_path()).filter(|path| !path.as_os_str().is_empty());
        Headquarters::at(url, self.ca.as_deref().or(known))
    }
}

/// Where headquarters of this machine listens. Its certificate says by which name it is to be asked, and that is no number.
fn of_this_machine(hq: &Hq) -> Result<String> {
    if !hq.tls_cert.as_os_str().is_empty() {
        bail!("headquarters of this machine has a certificate: name with --url the address that it is good for");
    }
    let (host, port) = hq.listen.rsplit_once(':').context("hq.listen (TILLKEEP_LISTEN)")?;
    if port == "0" {
        bail!("headquarters of this machine listens on any port that is free: name its address with --url");
    }
    let host = match host {
        "0.0.0.0" => "127.0.0.1",
        "[::]" => "[::1]",
        host => host,
    };
    Ok(format!("http://{host}:{port}"))
}

#[cfg(test)]
mod tests;
