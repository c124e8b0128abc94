//! Running one server: from settings to the first request, and back down on a signal.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use axum::Router;
use tillkeep_hq::sync::{leave, rounds};
use tillkeep_hq::{Account, Hq, replica};
use tillkeep_http::auth::housekeeping;
use tillkeep_http::error::Error;
use tillkeep_http::routes::Shown;
use tillkeep_http::server::Ending;
use tillkeep_http::{Auth, Clock, layers, pins, server};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::{ADMINISTRATOR, DEFAULT_ROLES};
use tillkeep_model::wire::close;
use tillkeep_storage::registry::fold;

use tillkeep_storage::{Db, backup, fault, staff};
use tillkeep_store::Store;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::arguments::{HqServer, StoreServer};
use crate::backup::schedule::Schedule;
use crate::configuration::{self, secret_of, variable_of};
use crate::lock::Lock;
use crate::machine::Machine;
use crate::modes;
use crate::output::{line, say};
use crate::signals::{end_on_signal, stop_on_signal};

/// Who makes the first accounts.
const FIRST_START: &str = "first start";
/// For the last notes of a server that stops.
const LEAVES_WITHIN: Duration = Duration::from_secs(10);
/// For a `PostgreSQL` that starts, and may have a long log to go through first.
const DATABASE_STARTS_WITHIN: Duration = Duration::from_mins(2);

/// The settings of a headquarters server, and what is said of its listener.
pub fn hq_settings(args: &HqServer, file: Option<&Path>) -> Result<(tillkeep_hq::Settings, configuration::Hq)> {
    let configuration = configuration::load(file)?.hq;
    configuration::database(&configuration)?;
    let set = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let settings = tillkeep_hq::Settings {
        data_dir: args.data_dir.clone().unwrap_or_else(|| configuration.data_dir.clone()),
        database_url: Some(configuration.database_url.clone()).filter(|url| !url.is_empty()),
        database: configuration::opening(&configuration)?,
        public_url: set(&configuration.public_url),
        allow_insecure: configuration.allow_insecure,
        sign_in: configuration::sign_in_at_hq(&configuration)?,
        global_people: configuration.auth.global_people_at_stores,
        node: configuration.node.clone(),
        broker: configuration::broker(&configuration)?,
        sync_log_days: configuration.sync_log_days,
        new_customers_per_hour: configuration.new_customers_per_hour,
    };
    Ok((settings, configuration))
}

/// As [`hq_settings`], for a command that reads or mends a headquarters: opening one that is not there would make it.
pub fn existing_hq(args: &HqServer, file: Option<&Path>) -> Result<tillkeep_hq::Settings> {
    let settings = hq_settings(args, file)?.0;
    refuse_missing(&settings)?;
    Ok(settings)
}

fn refuse_missing(settings: &tillkeep_hq::Settings) -> Result<()> {
    let dir = settings.data_dir.display();
    let file = match &settings.database_url {
        None => settings.data_dir.join("tillkeep.db"),
        Some(url) => match Db::file_of_url(url.expose()) {
            Some(file) => file,
            // `PostgreSQL` has no database that is not there.
            None => return Ok(()),
        },
    };
    if !file.exists() {
        bail!(
            "there is no headquarters in {dir}: {} is missing; name its data directory with --data-dir",
            file.display()
        );
    }
    Ok(())
}

/// Refuses a directory that is not there to a command that needs the keys of a headquarters on `PostgreSQL`: it would make others.
pub fn refuse_no_keys(settings: &tillkeep_hq::Settings) -> Result<()> {
    if settings.data_dir.is_dir() || settings.sign_in.pin_key_file.is_some() {
        return Ok(());
    }
    bail!("there are no keys in {}, which is no directory; name it with --data-dir", settings.data_dir.display())
}

/// Runs headquarters until a signal.
pub async fn hq(args: HqServer, file: Option<&Path>) -> Result<()> {
    let (settings, configuration) = hq_settings(&args, file)?;
    let listen = listen_of(args.listen.as_ref(), &configuration.listen)?;
    let tls = configuration::tls(&configuration.tls_cert, &configuration.tls_key)?;
    let limits = configuration::limits(configuration.max_connections, configuration.max_connections_per_address);
    let backups = configuration::backups_of_hq(&configuration, &settings.data_dir)?;
    let mut lock = Lock::take(&settings.data_dir, "headquarters")?;
    settings.sign_in.pin_key_file.iter().for_each(|path| modes::close(path));
    let leave = configuration::leave(&configuration);
    let Ending { leaving, stop } = end_on_signal(leave)?;
    if !database_is_there(&settings, &leaving).await? {
        return Ok(());
    }
    let hq = Hq::open(&settings, clock(), stop.clone()).await.context("headquarters cannot start")?;
    leave::when(hq.clone(), leaving, leave);
    if !configuration.database_read_url.is_empty() {
        let longest = Duration::from_secs(configuration.read_replica_max_lag_seconds);
        replica::follow(&hq, &configuration.database_read_url, settings.database.in_each(), longest)
            .await
            .context("database_read_url (DATABASE_READ_URL)")?;
    }
    reload_on_hangup(&hq.auth, &stop)?;
    let machine = Machine::new(&settings.data_dir, tls.clone(), hq.clock.clone());
    let listener = server::bind(listen, &settings.data_dir, tls).await?;
    let stores = tillkeep_store::routes::writes();
    let shown = Shown { docs: configuration.docs, metrics: configuration.metrics_listen.is_empty() };
    if !shown.metrics {
        serve_metrics(tillkeep_hq::routes::metrics(hq.clone()), &configuration.metrics_listen, &stop).await?;
    }
    if let Some(url) = listener.on_this_machine() {
        hq.listens_here(url);
    }
    let router = tillkeep_hq::routes::router_with(hq.clone(), &stores, shown);
    machine.measure_until(stop.clone());
    let database = settings.database_url.as_ref().map_or("SQLite".to_owned(), ToString::to_string);
    greet("headquarters", &settings.data_dir, &format!("database {database}"))?;
    // Now that nothing can go wrong any more: a PIN that is shown once must not be one that was never good.
    first_accounts(&hq, args.dev).await?;
    announce(&listener.url, &mut lock)?;
    if let Some(plan) = backups {
        hq.makes_backups(&plan.directory, plan.every);
        Schedule::of_hq(plan, &settings, &hq).start(stop.clone());
    }
    let ending = Ending { leaving: hq.auth.leaving.clone(), stop };
    server::serve(listener, router, limits, ending).await;
    hq.hub.close_all(close::GOING_AWAY);
    // The database may be away; then the others find out by themselves.
    if timeout(LEAVES_WITHIN, hq.left.cancelled()).await.is_err() {
        tracing::warn!("that this server stops could not be noted in the database");
    }
    if let Err(error) = rounds::flush(&hq).await {
        // Counters for the dashboard: no reason to call a stop a failure.
        tracing::warn!(%error, "what stores said could not be written; they say it again");
    }
    if let Err(error) = hq.leases.give_back().await {
        tracing::warn!(%error, "what this server does in place of others could not be given back; it ends within a minute");
    }
    if let Some(followed) = hq.replica.get() {
        followed.close().await.context("closing the read replica")?;
    }
    hq.auth.note_refusals(true).await;
    hq.close().await.context("closing the database")?;
    Ok(())
}

/// Waits for a `PostgreSQL` that starts, as both do after a power cut; false when the server is to stop meanwhile.
async fn database_is_there(settings: &tillkeep_hq::Settings, leaving: &CancellationToken) -> Result<bool> {
    let Some(url) = &settings.database_url else { return Ok(true) };
    tokio::select! {
        there = Db::wait_for(url.expose(), DATABASE_STARTS_WITHIN) => {
            there.context("headquarters cannot start")?;
            Ok(true)
        }
        () = leaving.cancelled() => Ok(false),
    }
}

/// The clock of the machine. In a test build `CLOCK_OFFSET_MS` sets it on or back.
pub fn clock() -> Clock {
    let clock = Clock::default();
    if fault::POSSIBLE
        && let Some(offset) = std::env::var("CLOCK_OFFSET_MS").ok().and_then(|text| text.parse().ok())
    {
        clock.advance(offset);
    }
    clock
}

/// Gives the database of headquarters a new identity.
pub async fn new_epoch(args: &HqServer, file: Option<&Path>) -> Result<()> {
    let settings = existing_hq(args, file)?;
    let _lock = Lock::take(&settings.data_dir, "tillkeep hq new-epoch")?;
    let db = Hq::database(&settings).await.context("the database cannot be opened")?;
    backup::take_new_identity(&db, Clock::default().now()).await?;
    db.close().await?;
    line("The database has a new epoch: stores will send again what it lacks, and reload.")
}

/// Says how many PINs are still kept under the key that every store of release 0.1.0 has.
pub async fn former_pins(args: &HqServer, file: Option<&Path>) -> Result<()> {
    let settings = existing_hq(args, file)?;
    let db = Hq::database(&settings).await.context("the database cannot be opened")?;
    let (pins, stores) = (staff::former_pins(db.reader()).await?, staff::former_stores(db.reader()).await?);
    db.close().await?;
    line(format_args!("PINs kept as in release 0.1.0: {pins}"))?;
    if stores > 0 {
        return line(format_args!("They stay so while a store has that release: {stores} active ones"));
    }
    line("Each is kept in the present way once its owner signs in; with the last one the old key leaves the stores.")
}

/// A user must be able to sign in: on an empty database an administrator is made.
async fn first_accounts(hq: &Hq, dev: bool) -> Result<()> {
    let username = variable_of("ADMIN_USERNAME")?;
    let pin = secret_of("ADMIN_PIN")?;
    if !hq.has_no_users().await? {
        let ignored = [("ADMIN_USERNAME", username.is_some()), ("ADMIN_PIN", pin.is_some()), ("--dev", dev)];
        let ignored: Vec<&str> = ignored.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name).collect();
        if !ignored.is_empty() {
            let names = ignored.join(", ");
            say!("{names}: ignored, as there are people already; `tillkeep hq reset-pin NAME` gives a user a new PIN");
        }
        return Ok(());
    }
    let mut taken = None;
    if username.is_some() || pin.is_some() {
        let pin = pin.context("ADMIN_USERNAME is set, ADMIN_PIN (or ADMIN_PIN_FILE) is not")?;
        let username = username.unwrap_or_else(|| "admin".to_owned());
        let account = Account { username, pin, role: ADMINISTRATOR };
        if let Err(error) = hq.make_account(&account, false, FIRST_START).await {
            return others_were_first(hq, error).await.context("ADMIN_PIN");
        }
        if !dev {
            return Ok(());
        }
        taken = Some(account.username);
    }
    let title = if dev {
        "Accounts for development, without a second factor; never run a real chain with them:"
    } else {
        "First start. Sign in with this PIN once and change it; it is not shown again:"
    };
    line(title)?;
    for role in DEFAULT_ROLES.iter().filter(|role| dev || role.code == ADMINISTRATOR) {
        if role.code == ADMINISTRATOR && taken.is_some() {
            continue;
        }
        let pin = pins::generate(hq.auth.pin_min_length).into();
        let account = Account { username: free_name(role.code, taken.as_deref()), pin, role: role.code };
        if let Err(error) = hq.make_account(&account, !dev, FIRST_START).await {
            return others_were_first(hq, error).await.context(account.username);
        }
        // At once: a PIN that is kept until all are made is lost when a later one cannot be.
        line(format_args!("  {:<16} PIN {}  ({})", account.username, account.pin.expose(), role.name))?;
    }
    Ok(())
}

/// Several servers may start at once on one empty database, and one of them makes the accounts: that is no failure of the
/// others.
async fn others_were_first(hq: &Hq, error: Error) -> Result<()> {
    if error.code() != ErrorCode::Duplicate || hq.has_no_users().await? {
        return Err(error.into());
    }
    tracing::warn!("another server on this database has made the first accounts");
    Ok(())
}

/// The name of a made account: its role's, unless the operator has given that to the administrator.
fn free_name(role: &str, taken: Option<&str>) -> String {
    let name = if role == ADMINISTRATOR { "admin" } else { role };
    if taken.is_some_and(|taken| fold(taken) == fold(name)) { format!("{name}-2") } else { name.to_owned() }
}

/// Runs a store until a signal.
pub async fn store(args: StoreServer, file: Option<&Path>) -> Result<()> {
    let configuration = configuration::load(file)?.store;
    let data_dir = args.data_dir.unwrap_or_else(|| configuration.data_dir.clone());
    let backups = configuration::backups_of_store(&configuration, &data_dir)?;
    let listen = listen_of(args.listen.as_ref(), &configuration.listen)?.to_owned();
    let sign_in = configuration::sign_in_at_store(&configuration)?;
    let sync_token = secret_of("SYNC_TOKEN")?
        .context("SYNC_TOKEN (or SYNC_TOKEN_FILE) is not set: provision this store at headquarters to get one")?;
    let hq_url = configuration.hq_url;
    if hq_url.is_empty() {
        bail!("HQ_URL is not set: the address of headquarters, such as https://hq.example.com");
    }
    let hq_url = check_hq_url(&hq_url, configuration.allow_insecure)?;
    let settings = tillkeep_store::Settings {
        data_dir: data_dir.clone(),
        sync_token,
        hq_url,
        hq_ca_file: Some(configuration.hq_ca_file).filter(|path| !path.as_os_str().is_empty()),
        sync_interval: Duration::from_millis(configuration.sync_interval_ms),
        sign_in,
        numbers_file: Some(configuration.numbers_file).filter(|path| !path.as_os_str().is_empty()),
    };
    let tls = configuration::tls(&configuration.tls_cert, &configuration.tls_key)?;
    let limits = configuration::limits(configuration.max_connections, configuration.max_connections_per_address);
    let mut lock = Lock::take(&data_dir, "a store server")?;
    settings.sign_in.pin_key_file.iter().chain(&settings.numbers_file).for_each(|path| modes::close(path));
    let stop = stop_on_signal()?;
    let store = Store::open(settings, clock(), stop.clone()).await.context("the store cannot start")?;
    reload_on_hangup(&store.auth, &stop)?;
    let machine = Machine::new(&data_dir, tls.clone(), store.clock.clone());
    let listener = server::bind(&listen, &data_dir, tls).await?;
    let hq = tillkeep_hq::routes::writes();
    let shown = Shown { docs: configuration.docs, metrics: configuration.metrics_listen.is_empty() };
    if !shown.metrics {
        serve_metrics(tillkeep_store::routes::metrics(store.clone()), &configuration.metrics_listen, &stop).await?;
    }
    let router = tillkeep_store::routes::router_with(store.clone(), &hq, shown);
    machine.measure_until(stop.clone());
    let router = layers::for_origins(router, configuration.tills.allowed_origins.names());
    greet("a store", &data_dir, &format!("headquarters {}", store.settings.hq_url))?;
    announce(&listener.url, &mut lock)?;
    if let Some(plan) = backups {
        Schedule::of_store(plan, &store).start(stop.clone());
    }
    let tasks = TaskTracker::new();
    tillkeep_store::sync::start(&store, &tasks);
    tasks.close();
    server::serve(listener, router, limits, stop).await;
    tasks.wait().await;
    store.auth.note_refusals(true).await;
    store.close().await.context("closing the database")?;
    Ok(())
}

/// Serves `/metrics` on an address of its own.
async fn serve_metrics(metrics: Router, listen: &str, stop: &CancellationToken) -> Result<()> {
    let listener = server::listen(listen, None).await.context("metrics_listen")?;
    tracing::info!(url = listener.url, "metrics are served apart");
    tokio::spawn(server::serve(listener, metrics, server::Limits::few(), stop.clone()));
    Ok(())
}

/// The PIN secrets and the sync token travel over this line: plain HTTP is for this machine alone.
pub fn check_hq_url(url: &str, allow_insecure: bool) -> Result<String> {
    let parsed = configuration::web_address(url).context("HQ_URL")?;
    let loopback = parsed.host_str().is_some_and(|host| {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    });
    if parsed.scheme() == "http" && !loopback && !allow_insecure {
        bail!("HQ_URL {url} is plain HTTP: use https, or ALLOW_INSECURE_HQ=1 where the network is encrypted");
    }
    // As the parser writes it: the scheme in small letters, which others look at.
    Ok(parsed.as_str().trim_end_matches('/').to_owned())
}

/// Where to listen: what the flag says, or else the configuration, checked when it was read.
fn listen_of<'a>(flag: Option<&'a String>, configured: &'a str) -> Result<&'a str> {
    let Some(flag) = flag else { return Ok(configured) };
    configuration::address_to_listen_on(flag).context("--listen")?;
    Ok(flag)
}

/// The first line of a server: what runs, and with what.
fn greet(what: &str, data_dir: &Path, with: &str) -> Result<()> {
    let data = std::path::absolute(data_dir).unwrap_or_else(|_| data_dir.to_owned());
    line(format_args!("Tillkeep {}, {what}: data in {}, {with}", env!("CARGO_PKG_VERSION"), data.display()))
}

/// One line for people and programs: where the server is.
fn announce(url: &str, lock: &mut Lock) -> Result<()> {
    lock.listens_on(url);
    line(format_args!("listening on {url}"))
}

/// SIGHUP reads the token keys again.
fn reload_on_hangup(auth: &Arc<Auth>, stop: &CancellationToken) -> Result<()> {
    let mut hangup = signal(SignalKind::hangup())?;
    let (auth, stop) = (auth.clone(), stop.clone());
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = hangup.recv() => housekeeping::reload_keys(&auth, true).await,
                () = stop.cancelled() => return,
            }
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use tillkeep_hq::notify::Broker;
    use tillkeep_http::auth::SignInSettings;

    use super::{check_hq_url, free_name, refuse_missing, refuse_no_keys};

    #[test]
    fn an_administrator_with_the_name_of_a_default_account_takes_it_from_no_user() {
        assert_eq!(free_name("cashier", Some("Cashier")), "cashier-2");
        assert_eq!(free_name("cashier", Some("root")), "cashier");
        assert_eq!(free_name("administrator", None), "admin");
    }

    fn settings(data_dir: &Path, url: Option<String>) -> tillkeep_hq::Settings {
        tillkeep_hq::Settings {
            data_dir: data_dir.to_owned(),
            database_url: url.map(Into::into),
            database: tillkeep_storage::Opening::default(),
            public_url: None,
            allow_insecure: false,
            sign_in: SignInSettings::default(),
            global_people: tillkeep_storage::staff::GlobalPeople::default(),
            node: String::new(),
            broker: Some(Broker {
                url: "nats://till:hunter2@mq".to_owned().into(),
                credentials_file: None,
                ca_file: None,
            }),
            sync_log_days: 90,
            new_customers_per_hour: 1000,
        }
    }

    #[test]
    fn a_command_that_reads_or_mends_refuses_a_directory_without_headquarters_by_its_name() {
        let dir = tempfile::tempdir().expect("a directory");
        let (there, mistyped) = (dir.path().join("hq"), dir.path().join("hw"));
        std::fs::create_dir(&there).expect("a directory");
        std::fs::write(there.join("tillkeep.db"), "").expect("a file");
        let postgres = || Some("postgres://till@db/chain".to_owned());
        let sqlite = |name: &str| Some(format!("sqlite://{}?mode=rwc", there.join(name).display()));
        for good in [settings(&there, None), settings(&there, postgres()), settings(&mistyped, sqlite("tillkeep.db"))] {
            assert!(refuse_missing(&good).is_ok(), "{good:?}");
        }
        // It needs no directory unless it needs the keys.
        assert!(refuse_missing(&settings(&mistyped, postgres())).is_ok());
        let error = refuse_no_keys(&settings(&mistyped, postgres())).expect_err("refused").to_string();
        assert!(error.contains(&mistyped.display().to_string()), "{error}");
        assert!(refuse_no_keys(&settings(&there, postgres())).is_ok());
        for wrong in [settings(&mistyped, None), settings(&mistyped, sqlite("x.db"))] {
            let error = refuse_missing(&wrong).expect_err("refused").to_string();
            assert!(error.contains(&mistyped.display().to_string()) && error.contains("--data-dir"), "{error}");
        }
        assert!(!mistyped.exists(), "nothing is made");
    }

    #[test]
    fn printed_settings_have_no_secrets() {
        let hq = settings(Path::new("data"), Some("postgres://till:hunter2@db/chain".to_owned()));
        let store = tillkeep_store::Settings {
            data_dir: "data".into(),
            sync_token: "e30.hunter2.x".to_owned().into(),
            hq_url: "https://hq.example.com".into(),
            hq_ca_file: None,
            sync_interval: Duration::from_secs(30),
            sign_in: SignInSettings::default(),
            numbers_file: None,
        };
        let account =
            tillkeep_hq::Account { username: "root".into(), pin: "hunter2".to_owned().into(), role: "administrator" };
        let shown = format!("{hq:?} {store:#?} {account:?}");
        assert!(shown.contains("till:***@db/chain") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn plain_http_is_for_loopback_alone() {
        for url in ["https://hq.example.com", "http://127.0.0.1:8080", "http://localhost:1", "http://[::1]:1"] {
            assert!(check_hq_url(url, false).is_ok(), "{url}");
        }
        for url in ["http://hq.example.com", "http://10.0.0.1", "ftp://localhost", "hq", "http://localhost.evil.com"] {
            assert!(check_hq_url(url, false).is_err(), "{url}");
        }
        assert!(check_hq_url("http://10.0.0.1", true).is_ok());
    }
}
