//! Configuration: built-in < file < environment < flags. The built-in file is the defaults and their documentation.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use config::{Config, File, FileFormat};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use tillkeep_hq::notify::{Broker, BrokerUrl};
use tillkeep_http::auth::{PinLogin, SecondFactor, SignInSettings};
use tillkeep_http::server::{Limits, Tls};
use tillkeep_http::tokens::keys::{self, GivenKeys};
use tillkeep_http::{DatabaseUrl, pins};
use tillkeep_storage::staff::GlobalPeople;
use tillkeep_storage::{Opening, address};

mod addresses;
mod backups;
mod environment;
mod help;
#[cfg(test)]
mod tests;

use addresses::origin;
pub use addresses::{address_to_listen_on, among_parameters, before_hosts, web_address};
use backups::Backups;
pub use backups::Plan;
pub use environment::{as_of_server, secret_of, variable_of};
pub use help::help;

/// The commented defaults.
pub const DEFAULT: &str = include_str!("default.toml");

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    pub hq: Hq,
    pub store: Store,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Hq {
    pub listen: String,
    pub data_dir: PathBuf,
    pub database_url: DatabaseUrl,
    pub database_connections: u32,
    pub database_read_url: DatabaseUrl,
    pub read_replica_max_lag_seconds: u64,
    pub public_url: String,
    pub allow_insecure: bool,
    pub trusted_proxies: Networks,
    pub auth: HqAuth,
    pub tls_cert: PathBuf,
    pub tls_key: PathBuf,
    pub max_connections: usize,
    pub max_connections_per_address: usize,
    pub metrics_listen: String,
    pub docs: bool,
    pub node: String,
    pub leave_seconds: Option<u64>,
    pub nats_url: BrokerUrl,
    pub nats_credentials_file: PathBuf,
    pub nats_ca_file: PathBuf,
    pub sync_log_days: u32,
    pub new_customers_per_hour: u32,
    pub backup: Backups,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    pub listen: String,
    pub data_dir: PathBuf,
    pub hq_url: String,
    pub sync_interval_ms: u64,
    pub numbers_file: PathBuf,
    pub allow_insecure: bool,
    pub trusted_proxies: Networks,
    pub hq_ca_file: PathBuf,
    pub tls_cert: PathBuf,
    pub tls_key: PathBuf,
    pub max_connections: usize,
    pub max_connections_per_address: usize,
    pub metrics_listen: String,
    pub docs: bool,
    pub tills: Tills,
    pub backup: Backups,
}

/// How people sign in to headquarters.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HqAuth {
    pub pin_min_length: usize,
    pub pin_min_length_beyond_a_till: usize,
    pub first_pin_days: u32,
    pub global_people_at_stores: GlobalPeople,
    pub keep_verifier_days: i64,
    pub pin_login_at_hq: PinLogin,
    pub second_factor: SecondFactor,
}

/// What a store asks of its tills.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tills {
    pub enrolled_only: bool,
    pub allowed_origins: Origins,
}

/// Networks, as a list or as one text with commas.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(try_from = "OneOrMany", into = "Vec<String>")]
pub struct Networks(Vec<IpNet>);

impl From<Networks> for Vec<String> {
    fn from(networks: Networks) -> Self {
        networks.0.iter().map(ToString::to_string).collect()
    }
}

/// Where pages come from that may call a server, as browsers name it, as a list or as one text with commas.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(try_from = "OneOrMany", into = "Vec<String>")]
pub struct Origins(Vec<String>);

impl Origins {
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl From<Origins> for Vec<String> {
    fn from(origins: Origins) -> Self {
        origins.0
    }
}

impl TryFrom<OneOrMany> for Origins {
    type Error = String;

    fn try_from(text: OneOrMany) -> std::result::Result<Self, String> {
        let words = text.words();
        let origins = words.iter().filter(|word| !word.is_empty()).map(|word| origin(word));
        origins.collect::<std::result::Result<_, _>>().map(Self)
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn words(self) -> Vec<String> {
        match self {
            Self::One(text) => text.split(',').map(|word| word.trim().to_owned()).collect(),
            Self::Many(words) => words,
        }
    }
}

impl TryFrom<OneOrMany> for Networks {
    type Error = String;

    fn try_from(text: OneOrMany) -> std::result::Result<Self, String> {
        let words = text.words();
        let network = |word: &String| {
            let address = || word.parse::<IpAddr>().map(IpNet::from);
            word.parse::<IpNet>()
                .or_else(|_| address())
                .map_err(|_| format!("{word:?} is no network; write 10.0.0.0/8, 192.0.2.7 or 2001:db8::/32"))
        };
        words.iter().filter(|word| !word.is_empty()).map(network).collect::<std::result::Result<_, _>>().map(Self)
    }
}

/// Seconds that headquarters on `PostgreSQL` goes on unless it is set otherwise, and may at the most.
const LEAVE: u64 = 10;
const LONGEST_LEAVE: u64 = 300;
/// Days for which a success stays in the log of entries: what the dashboard shows and a person looks into is there.
const LEAST_LOG_DAYS: u32 = 30;
const MOST_LOG_DAYS: u32 = 36_500;
/// Days for which a store may keep what verifies a user of whom it asked.
const KEPT_DAYS: RangeInclusive<i64> = 1..=30;
/// Seconds that a read replica may be set to be behind: it is measured once a second.
const MIN_LAG: u64 = 2;
const MAX_LAG: u64 = 3600;

/// Days for which a first PIN may last.
const LONGEST_FIRST_PIN: u32 = 365;

/// Which variable of the environment sets which key.
const VARIABLES: &[(&str, &[&str])] = &[
    ("BACKUP_DIRECTORY", &["hq.backup.directory", "store.backup.directory"]),
    ("BACKUP_ELSEWHERE", &["hq.backup.elsewhere", "store.backup.elsewhere"]),
    ("BACKUP_EVERY", &["hq.backup.every", "store.backup.every"]),
    ("BACKUP_KEEP", &["hq.backup.keep", "store.backup.keep"]),
    ("BACKUP_RECIPIENT", &["hq.backup.recipient", "store.backup.recipient"]),
    ("TILLKEEP_LISTEN", &["hq.listen", "store.listen"]),
    ("FIRST_PIN_DAYS", &["hq.auth.first_pin_days"]),
    ("DATA_DIR", &["hq.data_dir", "store.data_dir"]),
    ("DOCS", &["hq.docs", "store.docs"]),
    ("DATABASE_READ_URL", &["hq.database_read_url"]),
    ("DATABASE_URL", &["hq.database_url"]),
    ("DATABASE_CONNECTIONS", &["hq.database_connections"]),
    ("LEAVE_SECONDS", &["hq.leave_seconds"]),
    ("METRICS_LISTEN", &["hq.metrics_listen", "store.metrics_listen"]),
    ("HQ_NODE", &["hq.node"]),
    ("NATS_CA_FILE", &["hq.nats_ca_file"]),
    ("NATS_CREDENTIALS_FILE", &["hq.nats_credentials_file"]),
    ("NATS_URL", &["hq.nats_url"]),
    ("NEW_CUSTOMERS_PER_HOUR", &["hq.new_customers_per_hour"]),
    ("NUMBERS_FILE", &["store.numbers_file"]),
    ("PIN_LOGIN_AT_HQ", &["hq.auth.pin_login_at_hq"]),
    ("PUBLIC_URL", &["hq.public_url"]),
    ("SECOND_FACTOR", &["hq.auth.second_factor"]),
    ("GLOBAL_PEOPLE_AT_STORES", &["hq.auth.global_people_at_stores"]),
    ("KEEP_VERIFIER_DAYS", &["hq.auth.keep_verifier_days"]),
    ("HQ_URL", &["store.hq_url"]),
    ("HQ_CA_FILE", &["store.hq_ca_file"]),
    ("TILLS_ALLOWED_ORIGINS", &["store.tills.allowed_origins"]),
    ("TILLS_ENROLLED_ONLY", &["store.tills.enrolled_only"]),
    ("TLS_CERT", &["hq.tls_cert", "store.tls_cert"]),
    ("TLS_KEY", &["hq.tls_key", "store.tls_key"]),
    ("READ_REPLICA_MAX_LAG_SECONDS", &["hq.read_replica_max_lag_seconds"]),
    ("SYNC_INTERVAL_MS", &["store.sync_interval_ms"]),
    ("SYNC_LOG_DAYS", &["hq.sync_log_days"]),
    ("TRUSTED_PROXIES", &["hq.trusted_proxies", "store.trusted_proxies"]),
];

/// Reads the configuration; an error names the file, the key and what is wrong with it.
pub fn load(file: Option<&Path>) -> Result<Configuration> {
    let mut builder = Config::builder().add_source(File::from_str(DEFAULT, FileFormat::Toml));
    if let Some(path) = file {
        builder = builder.add_source(File::from(path).format(FileFormat::Toml));
    }
    for (variable, keys) in VARIABLES {
        if let Some(value) = variable_of(variable)? {
            for key in *keys {
                builder = builder.set_override(*key, value.as_str())?;
            }
        }
    }
    if variable_of("ALLOW_INSECURE_HQ")?.is_some_and(|value| value == "1" || value == "true") {
        builder = builder.set_override("hq.allow_insecure", true)?.set_override("store.allow_insecure", true)?;
    }
    let configuration: Configuration = builder.build()?.try_deserialize().context("the configuration")?;
    if !(50..=3_600_000).contains(&configuration.store.sync_interval_ms) {
        bail!("store.sync_interval_ms (SYNC_INTERVAL_MS) must be between 50 and 3600000");
    }
    let auth = &configuration.hq.auth;
    for (key, digits) in [
        ("hq.auth.pin_min_length", auth.pin_min_length),
        ("hq.auth.pin_min_length_beyond_a_till", auth.pin_min_length_beyond_a_till),
    ] {
        if !(pins::SHORTEST..=pins::LONGEST).contains(&digits) {
            bail!("{key} must be between {} and {}", pins::SHORTEST, pins::LONGEST);
        }
    }
    if auth.first_pin_days > LONGEST_FIRST_PIN {
        bail!("hq.auth.first_pin_days (FIRST_PIN_DAYS) must be {LONGEST_FIRST_PIN} or less, 0 for no end");
    }
    if !KEPT_DAYS.contains(&configuration.hq.auth.keep_verifier_days) {
        bail!(
            "hq.auth.keep_verifier_days (KEEP_VERIFIER_DAYS) must be between {} and {}",
            KEPT_DAYS.start(),
            KEPT_DAYS.end()
        );
    }
    if configuration.hq.database_connections < Opening::LEAST_CONNECTIONS {
        bail!("hq.database_connections (DATABASE_CONNECTIONS) must be at least {}", Opening::LEAST_CONNECTIONS);
    }
    if configuration.hq.leave_seconds.is_some_and(|seconds| seconds > LONGEST_LEAVE) {
        bail!("hq.leave_seconds (LEAVE_SECONDS) must be {LONGEST_LEAVE} or less");
    }
    if !matches!(configuration.hq.sync_log_days, 0 | LEAST_LOG_DAYS..=MOST_LOG_DAYS) {
        bail!(
            "hq.sync_log_days (SYNC_LOG_DAYS) must be 0 (nothing is pruned) or between {LEAST_LOG_DAYS} and {MOST_LOG_DAYS}"
        );
    }
    for (section, most) in [("hq", configuration.hq.max_connections), ("store", configuration.store.max_connections)] {
        if most == 0 {
            bail!("{section}.max_connections must be at least 1");
        }
    }
    let Configuration { hq, store } = &configuration;
    backups_of_hq(hq, &hq.data_dir)?;
    backups_of_store(store, &store.data_dir)?;
    for (key, text) in [
        ("hq.listen (TILLKEEP_LISTEN)", &hq.listen),
        ("store.listen (TILLKEEP_LISTEN)", &store.listen),
        ("hq.metrics_listen (METRICS_LISTEN)", &hq.metrics_listen),
        ("store.metrics_listen (METRICS_LISTEN)", &store.metrics_listen),
    ] {
        if !text.is_empty() || key.contains(".listen") {
            address_to_listen_on(text).context(key)?;
        }
    }
    for (key, text) in [("hq.public_url (PUBLIC_URL)", &hq.public_url), ("store.hq_url (HQ_URL)", &store.hq_url)] {
        if !text.is_empty() {
            web_address(text).context(key)?;
        }
    }
    Ok(configuration)
}

/// What holds now, as the file that would say the same; without passwords.
pub fn shown(configuration: &Configuration) -> Result<String> {
    Ok(toml::to_string(configuration)?)
}

/// What headquarters does about backups of its data.
pub fn backups_of_hq(hq: &Hq, data_dir: &Path) -> Result<Option<Plan>> {
    hq.backup.plan("hq", data_dir, !is_postgres(hq.database_url.expose()))
}

/// What a store does about backups of its data.
pub fn backups_of_store(store: &Store, data_dir: &Path) -> Result<Option<Plan>> {
    store.backup.plan("store", data_dir, true)
}

/// How long headquarters goes on after the signal to stop. One on a file is alone, and no server takes its work over.
pub fn leave(hq: &Hq) -> Duration {
    Duration::from_secs(hq.leave_seconds.unwrap_or(if is_postgres(hq.database_url.expose()) { LEAVE } else { 0 }))
}

/// Certificate and key of a server; both or neither.
pub fn tls(cert: &Path, key: &Path) -> Result<Option<Tls>> {
    let set = |path: &Path| !path.as_os_str().is_empty();
    match (set(cert), set(key)) {
        (false, false) => Ok(None),
        (true, true) => Tls::open(cert, key).map(Some).context("TLS"),
        (true, false) => bail!("tls_cert (TLS_CERT) is set, tls_key (TLS_KEY) is not"),
        (false, true) => bail!("tls_key (TLS_KEY) is set, tls_cert (TLS_CERT) is not"),
    }
}

/// How people sign in to headquarters.
pub fn sign_in_at_hq(hq: &Hq) -> Result<SignInSettings> {
    let HqAuth {
        pin_min_length,
        pin_min_length_beyond_a_till,
        first_pin_days,
        pin_login_at_hq,
        second_factor,
        keep_verifier_days,
        ..
    } = hq.auth;
    Ok(SignInSettings {
        pin_min_length,
        pin_min_length_beyond_a_till,
        first_pin_days,
        pin_login_at_hq,
        second_factor,
        keep_verifier_days,
        ..sign_in(&hq.trusted_proxies)?
    })
}

/// How people sign in to a store. New PINs are made at headquarters alone, which says how long they are.
pub fn sign_in_at_store(store: &Store) -> Result<SignInSettings> {
    Ok(SignInSettings { enrolled_only: store.tills.enrolled_only, ..sign_in(&store.trusted_proxies)? })
}

/// What both have: the proxies, and the keys that the environment names.
fn sign_in(trusted_proxies: &Networks) -> Result<SignInSettings> {
    let keys = |name: &str| match secret_of(name)? {
        Some(text) => keys::parse(text.expose()).map_err(|error| anyhow::anyhow!("{name}: {error}")),
        None => Ok(Vec::new()),
    };
    Ok(SignInSettings {
        trusted_proxies: trusted_proxies.0.clone(),
        keys: GivenKeys { people: keys("TILLKEEP_JWT_KEY")?, sync: keys("TILLKEEP_SYNC_KEY")? },
        pin_key_file: variable_of("TILLKEEP_PIN_KEY_FILE")?.map(PathBuf::from),
        ..SignInSettings::default()
    })
}

/// How headquarters opens its database. That a database may be unsafe is said in the environment of a test alone, where
/// it does not outlive it.
pub fn opening(hq: &Hq) -> Result<Opening> {
    let accept_unsafe = variable_of("TILLKEEP_ACCEPT_UNSAFE_DATABASE")?.is_some_and(|value| value == "1");
    Ok(Opening { connections: hq.database_connections, accept_unsafe, ..Opening::USUAL })
}

/// What can be said of the addresses of the database and its replica before anything connects.
pub fn database(hq: &Hq) -> Result<()> {
    let (url, read_url) = (hq.database_url.expose(), hq.database_read_url.expose());
    if !url.is_empty() {
        address::check_writable(url).map_err(anyhow::Error::msg).context("database_url (DATABASE_URL)")?;
    }
    if read_url.is_empty() {
        return Ok(());
    }
    address::check(read_url).map_err(anyhow::Error::msg).context("database_read_url (DATABASE_READ_URL)")?;
    if !is_postgres(url) || !is_postgres(read_url) {
        bail!(
            "database_read_url (DATABASE_READ_URL) is the read replica of a PostgreSQL, which database_url has to be too"
        );
    }
    if !(MIN_LAG..=MAX_LAG).contains(&hq.read_replica_max_lag_seconds) {
        bail!("hq.read_replica_max_lag_seconds (READ_REPLICA_MAX_LAG_SECONDS) must be between {MIN_LAG} and {MAX_LAG}");
    }
    Ok(())
}

/// Whether several servers may share it.
pub fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres")
}

/// The message broker, when there is one. That none answers there is no reason not to start.
pub fn broker(hq: &Hq) -> Result<Option<Broker>> {
    let set = |path: &PathBuf| Some(path.clone()).filter(|path| !path.as_os_str().is_empty());
    let (credentials_file, ca_file) = (set(&hq.nats_credentials_file), set(&hq.nats_ca_file));
    if hq.nats_url.is_empty() {
        for (key, file) in [
            ("nats_credentials_file (NATS_CREDENTIALS_FILE)", credentials_file),
            ("nats_ca_file (NATS_CA_FILE)", ca_file),
        ] {
            if file.is_some() {
                bail!("{key} is set, nats_url (NATS_URL) is not");
            }
        }
        return Ok(None);
    }
    let broker = Broker { url: hq.nats_url.clone(), credentials_file, ca_file };
    broker.check()?;
    Ok(Some(broker))
}

/// How many connections a server takes.
pub fn limits(connections: usize, per_address: usize) -> Limits {
    Limits { connections, per_address, ..Limits::default() }.within_file_limit()
}
