//! Configuration: built-in < file < environment < flags. The built-in file is the defaults and their documentation.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use config::{Config, File, FileFormat};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use tillkeep_hq::sync::{Broker, BrokerUrl};
use tillkeep_http::auth::{PinLogin, SignInSettings};
use tillkeep_http::server::{Limits, Tls};
use tillkeep_http::tokens::keys::{self, GivenKeys};
use tillkeep_http::{DatabaseUrl, Secret, pins};
use tillkeep_storage::staff::GlobalPeople;
use tillkeep_storage::{Opening, address};

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
    pub node: String,
    pub leave_seconds: Option<u64>,
    pub nats_url: BrokerUrl,
    pub nats_credentials_file: PathBuf,
    pub nats_ca_file: PathBuf,
    pub sync_log_days: u32,
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
    pub tills: Tills,
}

/// How people sign in to headquarters.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HqAuth {
    pub pin_min_length: usize,
    pub global_people_at_stores: GlobalPeople,
    pub pin_login_at_hq: PinLogin,
}

/// What a store asks of its tills.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tills {
    pub enrolled_only: bool,
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

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl TryFrom<OneOrMany> for Networks {
    type Error = String;

    fn try_from(text: OneOrMany) -> std::result::Result<Self, String> {
        let words: Vec<String> = match text {
            OneOrMany::One(text) => text.split(',').map(|word| word.trim().to_owned()).collect(),
            OneOrMany::Many(words) => words,
        };
        let network = |word: &String| {
            let address = || word.parse::<IpAddr>().map(IpNet::from);
            word.parse::<IpNet>()
                .or_else(|_| address())
                .map_err(|_| format!("{word:?} is no network; write 10.0.0.0/8, 192.0.2.7 or 2001:db8::/32"))
        };
        words.iter().filter(|word| !word.is_empty()).map(network).collect::<std::result::Result<_, _>>().map(Self)
    }
}

/// Seconds that headquarters on `PostgreSQL` goes on unless it is told otherwise, and may at the most.
const LEAVE: u64 = 10;
const LONGEST_LEAVE: u64 = 300;
/// Days for which a success stays in the log of entries: what the dashboard shows and a person looks into is there.
const LEAST_LOG_DAYS: u32 = 30;
const MOST_LOG_DAYS: u32 = 36_500;
/// Seconds that a read replica may be told to be behind: it is measured once a second.
const MIN_LAG: u64 = 2;
const MAX_LAG: u64 = 3600;

/// Which variable of the environment sets which key.
const VARIABLES: &[(&str, &[&str])] = &[
    ("TILLKEEP_LISTEN", &["hq.listen", "store.listen"]),
    ("DATA_DIR", &["hq.data_dir", "store.data_dir"]),
    ("DATABASE_READ_URL", &["hq.database_read_url"]),
    ("DATABASE_URL", &["hq.database_url"]),
    ("DATABASE_CONNECTIONS", &["hq.database_connections"]),
    ("LEAVE_SECONDS", &["hq.leave_seconds"]),
    ("METRICS_LISTEN", &["hq.metrics_listen", "store.metrics_listen"]),
    ("HQ_NODE", &["hq.node"]),
    ("NATS_CA_FILE", &["hq.nats_ca_file"]),
    ("NATS_CREDENTIALS_FILE", &["hq.nats_credentials_file"]),
    ("NATS_URL", &["hq.nats_url"]),
    ("NUMBERS_FILE", &["store.numbers_file"]),
    ("PIN_LOGIN_AT_HQ", &["hq.auth.pin_login_at_hq"]),
    ("PUBLIC_URL", &["hq.public_url"]),
    ("GLOBAL_PEOPLE_AT_STORES", &["hq.auth.global_people_at_stores"]),
    ("HQ_URL", &["store.hq_url"]),
    ("HQ_CA_FILE", &["store.hq_ca_file"]),
    ("TILLS_ENROLLED_ONLY", &["store.tills.enrolled_only"]),
    ("TLS_CERT", &["hq.tls_cert", "store.tls_cert"]),
    ("TLS_KEY", &["hq.tls_key", "store.tls_key"]),
    ("READ_REPLICA_MAX_LAG_SECONDS", &["hq.read_replica_max_lag_seconds"]),
    ("SYNC_INTERVAL_MS", &["store.sync_interval_ms"]),
    ("SYNC_LOG_DAYS", &["hq.sync_log_days"]),
    ("TRUSTED_PROXIES", &["hq.trusted_proxies", "store.trusted_proxies"]),
];

/// Settings that are in no file: secrets, and what is said once.
const IN_ENVIRONMENT: &[(&str, &str, &str)] = &[
    ("hq", "ADMIN_USERNAME", "name of the administrator that the first start makes (admin)"),
    ("hq", "ADMIN_PIN", "its PIN; or ADMIN_PIN_FILE"),
    ("hq", "APP_ENV", "production refuses demo data"),
    ("hq", "TILLKEEP_SYNC_KEY", "keys that sign sync tokens; or TILLKEEP_SYNC_KEY_FILE"),
    ("hq", "TILLKEEP_PIN_KEY_FILE", "the key of the PINs"),
    ("store", "SYNC_TOKEN", "the token of this store, from headquarters; or SYNC_TOKEN_FILE"),
    ("", "ALLOW_INSECURE_HQ", "1: plain HTTP between store and headquarters, which is not this machine"),
    ("", "TILLKEEP_JWT_KEY", "keys that sign access tokens; or TILLKEEP_JWT_KEY_FILE"),
    ("", "RUST_LOG", "error, warn, info, debug, trace or off; part=level for one part of the program (info)"),
];

/// Every setting of a server for its `--help`, with its default and its variable.
pub fn help(section: &str) -> String {
    let mut lines = vec![format!("Settings: key in the section [{section}] of a file, default, variable")];
    let mut table = String::new();
    for line in DEFAULT.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            name.clone_into(&mut table);
        } else if let Some((key, default)) = line.trim_start_matches("# ").split_once(" = ")
            && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        {
            let key = format!("{table}.{key}");
            let Some(name) = key.strip_prefix(section).and_then(|name| name.strip_prefix('.')) else { continue };
            let variable =
                VARIABLES.iter().find(|(_, keys)| keys.contains(&key.as_str())).map_or("", |(name, _)| *name);
            lines.push(format!("  {name:<30} {default:<20} {variable}").trim_end().to_owned());
        }
    }
    lines.push("\nIn the environment alone".to_owned());
    let beside = IN_ENVIRONMENT.iter().filter(|(of, ..)| of.is_empty() || *of == section);
    lines.extend(beside.map(|(_, name, about)| format!("  {name:<30} {about}")));
    lines.push(
        "\n`tillkeep config default` tells what each is for; a flag wins over a variable, and that over the file."
            .to_owned(),
    );
    lines.join("\n")
}

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
    let shortest = configuration.hq.auth.pin_min_length;
    if !(pins::SHORTEST..=pins::LONGEST).contains(&shortest) {
        bail!("hq.auth.pin_min_length must be between {} and {}", pins::SHORTEST, pins::LONGEST);
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

/// Refuses what no server can listen on.
pub fn address_to_listen_on(text: &str) -> Result<()> {
    let port = |port: &str| port.parse::<u16>().is_ok();
    let is_address = match text.rsplit_once(':') {
        // An address of version 6 has colons of its own.
        Some((host, number)) if host.contains(':') => host.starts_with('[') && host.ends_with(']') && port(number),
        Some((host, number)) => !host.is_empty() && port(number),
        None => false,
    };
    if !is_address {
        bail!("{text:?} is no address to listen on; write host:port, such as 127.0.0.1:8080, with a port up to 65535");
    }
    Ok(())
}

/// An address of the web: `http` or `https`, a host, and nothing that a client would drop.
pub fn web_address(text: &str) -> Result<reqwest::Url> {
    let example = "write it as https://hq.example.com";
    let url = reqwest::Url::parse(text).with_context(|| format!("{text:?} is no address; {example}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        bail!("{text}: {} is not http or https; {example}", url.scheme());
    }
    if url.host_str().is_none_or(str::is_empty) {
        bail!("{text} names no host; {example}");
    }
    if url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
        bail!("{text} has more than an address; {example}");
    }
    Ok(url)
}

/// What holds now, as the file that would say the same; without passwords.
pub fn shown(configuration: &Configuration) -> Result<String> {
    Ok(toml::to_string(configuration)?)
}

/// How long headquarters goes on after the signal to stop. One on a file is alone, and nobody takes its work over.
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
    let HqAuth { pin_min_length, pin_login_at_hq, .. } = hq.auth;
    Ok(SignInSettings { pin_min_length, pin_login_at_hq, ..sign_in(&hq.trusted_proxies)? })
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
        address::check(url).map_err(anyhow::Error::msg).context("database_url (DATABASE_URL)")?;
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

/// The message broker, when there is one. That nobody answers there is no reason not to start.
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

/// A variable that is set to something.
pub fn variable_of(name: &str) -> Result<Option<String>> {
    match std::env::var(name) {
        Ok(value) if value.trim().is_empty() => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => bail!("the environment variable {name} is not text"),
    }
}

/// A secret from `NAME`, or from the file that `NAME_FILE` names, so that it need not stand in a process list.
pub fn secret_of(name: &str) -> Result<Option<Secret>> {
    if let Some(value) = variable_of(name)? {
        return Ok(Some(value.trim().to_owned().into()));
    }
    let Some(path) = variable_of(&format!("{name}_FILE"))? else { return Ok(None) };
    let text = std::fs::read_to_string(&path).with_context(|| format!("{name}_FILE: {path}"))?;
    Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()).map(Secret::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_file_is_complete() {
        let built = Config::builder().add_source(File::from_str(DEFAULT, FileFormat::Toml)).build().expect("built");
        let configuration: Configuration = built.try_deserialize().expect("complete");
        assert_eq!(configuration.store.sync_interval_ms, 30_000);
    }

    #[test]
    fn trusted_proxies_are_networks_and_what_is_none_is_named() {
        let read = |text: &str| {
            let dir = tempfile::tempdir().expect("dir");
            let path = dir.path().join("tillkeep.toml");
            std::fs::write(&path, text).expect("write");
            load(Some(&path)).map_err(|error| format!("{error:#}"))
        };
        let listed = read("[hq]\ntrusted_proxies = [\"10.0.0.0/8\", \"::1\"]\n").expect("sound");
        assert_eq!(listed.hq.trusted_proxies.0.len(), 2);
        let text = read("[store]\ntrusted_proxies = \"10.0.0.0/8, 192.0.2.7\"\n").expect("sound");
        assert_eq!(text.store.trusted_proxies.0[1].to_string(), "192.0.2.7/32");
        assert!(read("[hq]\ntrusted_proxies = [\"proxy\"]\n").expect_err("refused").contains("\"proxy\""));
    }

    #[test]
    fn too_few_connections_for_every_purpose_are_refused() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("tillkeep.toml");
        for (connections, sound) in [(11, false), (12, true)] {
            std::fs::write(&path, format!("[hq]\ndatabase_connections = {connections}\n")).expect("write");
            assert_eq!(load(Some(&path)).is_ok(), sound, "{connections}");
        }
    }

    #[test]
    fn a_server_on_postgresql_leaves_within_ten_seconds_and_one_on_a_file_at_once_unless_it_is_said() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("tillkeep.toml");
        for (text, seconds) in [
            ("", Some(0)),
            ("database_url = 'postgres://db/chain'", Some(10)),
            ("database_url = 'postgres://db/chain'\nleave_seconds = 0", Some(0)),
            ("leave_seconds = 300", Some(300)),
            ("leave_seconds = 301", None),
        ] {
            std::fs::write(&path, format!("[hq]\n{text}\n")).expect("write");
            let left = load(Some(&path)).ok().map(|configuration| leave(&configuration.hq).as_secs());
            assert_eq!(left, seconds, "{text}");
        }
    }

    #[test]
    fn successes_stay_in_the_log_for_a_month_at_the_least_or_for_good() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("tillkeep.toml");
        for (days, sound) in [(0, true), (1, false), (29, false), (30, true), (36_500, true), (36_501, false)] {
            std::fs::write(&path, format!("[hq]\nsync_log_days = {days}\n")).expect("write");
            let read = load(Some(&path)).map_err(|error| format!("{error:#}"));
            assert_eq!(read.as_ref().map(|set| set.hq.sync_log_days).ok(), sound.then_some(days), "{read:?}");
            assert!(sound || read.is_err_and(|error| error.contains("hq.sync_log_days (SYNC_LOG_DAYS)")));
        }
    }

    #[test]
    fn a_read_replica_is_one_of_a_postgresql_and_its_password_is_not_printed() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("tillkeep.toml");
        let read = |text: &str| {
            std::fs::write(&path, format!("[hq]\n{text}\n")).expect("write");
            load(Some(&path)).expect("sound as a file").hq
        };
        let replica = "database_read_url = 'postgres://till:hunter2@replica/chain'";
        let primary = "database_url = 'postgres://till:hunter2@db/chain'";
        for (text, told) in [
            (replica.to_owned(), "the read replica of a PostgreSQL"),
            (format!("{primary}\ndatabase_read_url = 'hunter2'"), "database_read_url (DATABASE_READ_URL): the address"),
            (format!("{primary}\n{replica}\nread_replica_max_lag_seconds = 1"), "between 2 and 3600"),
        ] {
            let error = format!("{:#}", database(&read(&text)).expect_err("refused"));
            assert!(error.contains(told) && !error.contains("hunter2"), "{error}");
        }
        let hq = read(&format!("{primary}\n{replica}"));
        assert!(database(&hq).is_ok() && !format!("{hq:#?}").contains("hunter2"));
    }

    #[test]
    fn a_least_length_of_pins_that_nobody_could_have_is_refused() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("tillkeep.toml");
        for (length, sound) in [(3, false), (4, true), (12, true), (13, false)] {
            std::fs::write(&path, format!("[hq.auth]\npin_min_length = {length}\n")).expect("write");
            assert_eq!(load(Some(&path)).is_ok(), sound, "{length}");
        }
    }

    #[test]
    fn who_signs_in_with_a_pin_alone_is_one_of_three_words_and_everybody_unless_said() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("tillkeep.toml");
        let read = |text: &str| {
            std::fs::write(&path, text).expect("write");
            load(Some(&path)).map_err(|error| format!("{error:#}"))
        };
        let built = read("").expect("sound");
        assert_eq!((built.hq.auth.pin_login_at_hq, built.store.tills.enrolled_only), (PinLogin::All, false));
        for (word, meant) in [("all", PinLogin::All), ("scoped", PinLogin::Scoped), ("off", PinLogin::Off)] {
            let text = format!("[hq.auth]\npin_login_at_hq = '{word}'\n[store.tills]\nenrolled_only = true\n");
            let set = read(&text).expect("sound");
            assert_eq!(
                (sign_in_at_hq(&set.hq).expect("sound").pin_login_at_hq, set.store.tills.enrolled_only),
                (meant, true)
            );
            assert!(sign_in_at_store(&set.store).expect("sound").enrolled_only);
        }
        let error = read("[hq.auth]\npin_login_at_hq = 'some'\n").expect_err("refused");
        assert!(error.contains("some") && error.contains("scoped"), "{error}");
    }

    #[test]
    fn a_printed_configuration_has_no_password() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("tillkeep.toml");
        std::fs::write(&path, "[hq]\ndatabase_url = 'postgres://till:hunter2@db/chain'\n").expect("write");
        let shown = format!("{:#?}", load(Some(&path)).expect("sound"));
        assert!(shown.contains("till:***@db/chain") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn a_broker_that_cannot_be_one_is_refused_and_its_password_is_not_printed() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("tillkeep.toml");
        let read = |text: &str| {
            std::fs::write(&path, format!("[hq]\n{text}\n")).expect("write");
            load(Some(&path)).expect("sound as a file").hq
        };
        for (text, what) in [
            ("nats_url = 'https://till:hunter2@mq'", "nats_url (NATS_URL): address 1: "),
            ("nats_ca_file = 'ca.pem'", "nats_ca_file (NATS_CA_FILE) is set, nats_url (NATS_URL) is not"),
            (
                "nats_url = 'tls://mq'\nnats_ca_file = '/nowhere/ca.pem'",
                "nats_ca_file (NATS_CA_FILE) /nowhere/ca.pem: ",
            ),
            ("nats_credentials_file = 'hq.creds'", "nats_credentials_file (NATS_CREDENTIALS_FILE) is set"),
        ] {
            let error = format!("{:#}", broker(&read(text)).expect_err("refused"));
            assert!(error.contains(what) && !error.contains("hunter2"), "{error}");
        }
        assert!(broker(&read("")).expect("none").is_none());
        let hq = read("nats_url = 'nats://till:hunter2@127.0.0.1:9'");
        let shown = format!("{hq:#?} {:?}", broker(&hq).expect("one that nobody answers at"));
        assert!(shown.contains("***@127.0.0.1:9") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn half_of_a_certificate_is_refused_by_the_name_of_the_other_half() {
        let error = |cert: &str, key: &str| match tls(Path::new(cert), Path::new(key)) {
            Ok(_) => panic!("accepted"),
            Err(error) => format!("{error:#}"),
        };
        assert!(error("cert.pem", "").contains("TLS_KEY"));
        assert!(error("", "key.pem").contains("TLS_CERT"));
        assert!(error("/nowhere/cert.pem", "/nowhere/key.pem").contains("tls_cert /nowhere/cert.pem"));
        assert!(tls(Path::new(""), Path::new("")).expect("none").is_none());
    }

    #[test]
    fn an_address_that_is_none_is_refused_by_its_key_before_anything_is_made() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("tillkeep.toml");
        let read = |text: &str| {
            std::fs::write(&path, text).expect("write");
            load(Some(&path)).map_err(|error| format!("{error:#}"))
        };
        for (text, key) in [
            ("[hq]\nlisten = 5", "hq.listen (TILLKEEP_LISTEN)"),
            ("[hq]\nlisten = ''", "hq.listen"),
            ("[store]\nlisten = '127.0.0.1:99999'", "store.listen (TILLKEEP_LISTEN)"),
            ("[store]\nlisten = ':8081'", "store.listen"),
            ("[hq]\nmetrics_listen = 'localhost'", "hq.metrics_listen (METRICS_LISTEN)"),
            ("[hq]\npublic_url = 'hq.example.com'", "hq.public_url (PUBLIC_URL)"),
            ("[hq]\npublic_url = 'https://hq.example.com/?a=b'", "hq.public_url"),
            ("[store]\nhq_url = 'htps://hq.example.com'", "store.hq_url (HQ_URL)"),
            ("[store]\nhq_url = 'https://'", "store.hq_url"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(key), "{text}: {error}");
        }
        for text in [
            "[hq]\nlisten = '[::1]:0'",
            "[hq]\nlisten = 'localhost:80'",
            "[hq]\npublic_url = 'https://hq.example.com/'",
        ] {
            assert!(read(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_is_shown_is_a_file_that_says_the_same_without_passwords() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("tillkeep.toml");
        std::fs::write(&path, "[hq]\ndatabase_url = 'postgres://till:hunter2@db/chain'\ntrusted_proxies = '::1'\n")
            .expect("write");
        let text = shown(&load(Some(&path)).expect("sound")).expect("shown");
        assert!(text.contains("till:***@db/chain") && !text.contains("hunter2"), "{text}");
        std::fs::write(&path, &text).expect("write");
        let again = load(Some(&path)).expect("sound as a file");
        assert_eq!(shown(&again).expect("shown"), text);
    }

    #[test]
    fn the_help_of_a_server_has_every_key_and_variable() {
        let helps = [("hq", help("hq")), ("store", help("store"))];
        for (variable, keys) in VARIABLES {
            for key in *keys {
                let (section, name) = key.split_once('.').expect("a section");
                let help = &helps.iter().find(|(known, _)| *known == section).expect("a server").1;
                let line = help.lines().find(|line| line.split_whitespace().next() == Some(name));
                assert!(line.is_some_and(|line| line.ends_with(variable)), "{key}: {help}");
            }
        }
        assert!(helps[0].1.contains("ADMIN_PIN") && helps[1].1.contains("SYNC_TOKEN"));
        assert!(helps[1].1.contains("tills.enrolled_only"));
    }

    #[test]
    fn a_misspelt_key_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("tillkeep.toml");
        std::fs::write(&path, "[store]\nsync_intervall_ms = 5\n").expect("write");
        let error = format!("{:#}", load(Some(&path)).expect_err("refused"));
        assert!(error.contains("sync_intervall_ms"), "{error}");
    }
}
