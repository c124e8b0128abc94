//! A chain at work on one machine: headquarters and stores as processes, tills that sell over HTTP. Nobody sells in the last store:
//! it is the reader's.

mod chain;
mod plant;
mod summary;
mod till;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tillkeep_hq::Settings;
use tillkeep_http::auth::SignInSettings;
use tokio_util::task::TaskTracker;

use crate::arguments::DemoArgs;
use crate::child::Child;
use crate::configuration::variable_of;
use crate::output::say;
use crate::signals::stop_on_signal;
use plant::{Account, Planted, PlantedStore};

/// Headquarters of the demo is here when it can be, as a server without another address; its stores follow.
const FIRST_PORT: u16 = 8080;
/// Ports that are looked at when that one is taken.
const PORTS: u16 = 200;

pub use chain::SEED;

/// `tillkeep hq seed-demo`: fills an empty database and prints who can sign in.
pub async fn seed(settings: &Settings, seed: u64, stores: usize) -> Result<()> {
    if variable_of("APP_ENV")?.as_deref() == Some("production") {
        bail!("APP_ENV is production: demo data is refused");
    }
    let planted = plant::plant(settings, seed, stores).await?;
    print_accounts(&planted)
}

/// `tillkeep demo`: until a signal.
pub async fn run(args: DemoArgs) -> Result<()> {
    if variable_of("APP_ENV")?.as_deref() == Some("production") {
        bail!("APP_ENV is production: the demo is refused");
    }
    let stop = stop_on_signal()?;
    let (data_dir, keep) = match args.data_dir {
        Some(dir) => (dir, true),
        None => (std::env::temp_dir().join(format!("tillkeep-demo-{}", std::process::id())), false),
    };
    let settings = Settings {
        data_dir: made(&data_dir.join("hq"))?,
        database_url: None,
        database: tillkeep_storage::Opening::default(),
        public_url: None,
        allow_insecure: false,
        sign_in: SignInSettings::default(),
        global_people: tillkeep_storage::staff::GlobalPeople::default(),
        node: String::new(),
        broker: None,
        sync_log_days: 90,
        new_customers_per_hour: 1000,
    };
    tracing::info!(directory = %data_dir.display(), "making the demo chain");
    let planted = plant::plant(&settings, SEED, usize::from(args.stores)).await?;

    let program = std::env::current_exe()?;
    let mut port = free_port(FIRST_PORT)?;
    let hq = Child::start(&program, ("hq", port), &settings.data_dir, &[], "hq").await?;
    let mut stores = Vec::new();
    for store in planted.stores.iter().take(usize::from(args.stores)) {
        let dir = made(&data_dir.join(store.code.to_lowercase()))?;
        let environment =
            [("SYNC_TOKEN", store.sync_token.as_str()), ("HQ_URL", &hq.url), ("SYNC_INTERVAL_MS", "5000")];
        port = free_port(port + 1)?;
        let child = Child::start(&program, ("store", port), &dir, &environment, &store.code).await?;
        stores.push((store, child));
    }
    let (own, selling) = stores.split_last().context("a demo has a store")?;
    let own_till = till::Till::new(&planted, own.0, &own.1.url, args.pace)?;
    let is_ready = tokio::select! {
        ready = own_till.made_ready() => ready.map(|()| true)?,
        gone = any_gone(&hq, &stores) => bail!("{gone} ended by itself; its log is in {}", data_dir.display()),
        () = stop.cancelled() => false,
    };
    if is_ready {
        print_places(&planted, &hq.url, own, selling)?;
        print_accounts(&planted)?;
    }

    let tasks = TaskTracker::new();
    let board = summary::Board::new(&hq.url, planted.account("admin")?);
    for (store, child) in selling {
        let till = till::Till::new(&planted, store, &child.url, args.pace)?;
        tasks.spawn(till.run(board.counter(&store.code), stop.clone()));
    }
    tasks.spawn(board.run(stop.clone()));
    tasks.close();
    tokio::select! {
        () = stop.cancelled() => {}
        gone = any_gone(&hq, &stores) => {
            stop.cancel();
            say!("\n{gone} ended by itself; its log is in {}", data_dir.display());
        }
    }
    tasks.wait().await;
    for (_, child) in stores {
        child.stop().await;
    }
    hq.stop().await;
    if keep {
        say!("\nThe chain is kept in {}.", data_dir.display());
    } else {
        std::fs::remove_dir_all(&data_dir).with_context(|| format!("{} could not be removed", data_dir.display()))?;
    }
    Ok(())
}

fn made(path: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(path).with_context(|| format!("{} cannot be made", path.display()))?;
    Ok(path.to_owned())
}

/// Waits until one of the servers ends.
async fn any_gone(hq: &Child, stores: &[Running<'_>]) -> String {
    let mut tick = tokio::time::interval(std::time::Duration::from_secs(1));
    loop {
        tick.tick().await;
        let children = stores.iter().map(|(_, child)| child);
        if let Some(gone) = std::iter::once(hq).chain(children).find(|child| !child.lives()) {
            return gone.name.clone();
        }
    }
}

/// The first free port from here: the same at every start, as long as it stays free.
fn free_port(from: u16) -> Result<u16> {
    let is_free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let last = from.saturating_add(PORTS);
    (from..=last).find(is_free).with_context(|| format!("every port from {from} to {last} is taken"))
}

/// A store at work.
type Running<'a> = (&'a PlantedStore, Child);

/// What to open, and who signs in there.
fn print_places(planted: &Planted, hq: &str, (store, child): &Running<'_>, selling: &[Running<'_>]) -> Result<()> {
    let (admin, code, url) = (planted.account("admin")?, &store.code, &child.url);
    let (manager, cashier) = (planted.of_store("store_manager", code)?, planted.of_store("cashier", code)?);
    let who = |account: &Account| format!("{} with the PIN {}", account.username, account.pin);
    say!("\n  Headquarters  Open {hq} and sign in as {}", who(&admin));
    say!("  Store {code}     Open {url}/store and sign in as {}", who(&manager));
    say!("  Till of {code}   Open {url}/till and make it ready as {}", who(&manager));
    say!("                Then sell as {}", who(&cashier));
    say!("\n  Nobody sells in {code} but you.");
    for (store, child) in selling {
        say!("  {} sells by itself, at {}/store", store.code, child.url);
    }
    Ok(())
}

fn print_accounts(planted: &Planted) -> Result<()> {
    say!("\n  Account      PIN      Role (none has a second factor)");
    for account in &planted.accounts {
        let place = account.store_code.as_deref().unwrap_or("all stores");
        say!("  {:<12} {:<8} {} ({place})", account.username, account.pin, account.role);
    }
    say!("");
    Ok(())
}
