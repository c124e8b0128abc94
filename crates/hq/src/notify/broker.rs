//! Which message broker, and how to get in.

use std::fmt;
use std::io::{Error, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::response::Response;
use async_nats::rustls::pki_types::CertificateDer;
use async_nats::rustls::pki_types::pem::PemObject;
use async_nats::{ConnectOptions, ServerAddr, jetstream};
use percent_encoding::percent_decode_str;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize, Serializer};
use tokio::time::timeout;

use super::trouble::{Events, Trouble};

/// For a connection to be ready.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// A silent connection is asked for a sign of life so often; two that are missing end it.
const PING_EVERY: Duration = Duration::from_secs(5);
/// Between two tries at the most.
const LONGEST_WAIT_MS: u64 = 2000;

/// Addresses of NATS servers between commas, shown without what stands before their hosts: passwords and tokens.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct BrokerUrl(String);

impl From<String> for BrokerUrl {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for BrokerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.rsplit_once('@') {
            Some((_, host)) => write!(f, "***@{host}"),
            None => f.write_str(&self.0),
        }
    }
}

/// As it is shown.
impl Serialize for BrokerUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Debug for BrokerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

impl BrokerUrl {
    pub fn is_empty(&self) -> bool {
        self.0.trim().is_empty()
    }

    /// The servers; an error says what is wrong with which of them, and nothing that must not be seen.
    fn servers(&self) -> Result<Vec<ServerAddr>, String> {
        let all = self.0.split(',').map(str::trim).zip(1..);
        all.map(|(text, number)| server(text).map_err(|what| format!("address {number}: {what}"))).collect()
    }
}

fn server(text: &str) -> Result<ServerAddr, String> {
    const FORM: &str = "write nats://host:4222, or tls://host:4222 for TLS, and several between commas";
    if text.is_empty() {
        return Err(format!("is missing; {FORM}"));
    }
    let named = if text.contains("://") { text.to_owned() } else { format!("nats://{text}") };
    // Of the client's schemes two: no other one is compiled in.
    let scheme = named.split_once("://").map_or("", |(scheme, _)| scheme);
    if !["nats", "tls"].contains(&scheme) {
        return Err(format!("{scheme}:// is not spoken here; {FORM}"));
    }
    let server: ServerAddr = named.parse().map_err(|error| format!("{error}; {FORM}"))?;
    let url = server.as_url_str();
    let place = url.rsplit_once('@').or_else(|| url.split_once("://")).map_or(url, |(_, place)| place);
    if place.trim_end_matches('/').is_empty() {
        return Err(format!("has no host; {FORM}"));
    }
    if place.trim_end_matches('/').contains(['/', '?', '#']) {
        return Err(format!("has something after host and port; {FORM}"));
    }
    Ok(server)
}

/// The message broker between the servers of headquarters.
#[derive(Clone, Debug)]
pub struct Broker {
    pub url: BrokerUrl,
    /// What `nsc` writes for a user: a JWT and the seed of its key.
    pub credentials_file: Option<PathBuf>,
    /// Certificates to trust in place of those of the operating system.
    pub ca_file: Option<PathBuf>,
}

impl Broker {
    /// Whether a server can start with it; that it may not answer is another matter.
    pub fn check(&self) -> std::io::Result<()> {
        self.options().map(drop)
    }

    /// Whether a server answers that lets this one in and has `JetStream`; nothing is made there. Why not, if it does not.
    pub async fn reach(&self) -> Result<(), String> {
        let (servers, options) = self.options().map_err(|error| error.to_string())?;
        let events = Arc::new(Events::default());
        let heard = events.clone();
        let options = options.event_callback(move |event| {
            heard.heard(&event);
            std::future::ready(())
        });
        let client = options.connect(servers).await.map_err(|error| error.to_string())?;
        // The client tries again and again by itself: that it is connected is seen by what it gets through.
        let reached = timeout(CONNECT_WITHIN, client.flush()).await;
        if !matches!(reached, Ok(Ok(()))) {
            return Err(events.reason(&Trouble::Away));
        }
        // Not `query_account`, which wants figures that servers before 2.10 do not send.
        let context = jetstream::new(client);
        let asked = timeout(CONNECT_WITHIN, context.request::<_, _, Response<IgnoredAny>>("INFO", &())).await;
        match asked {
            Ok(Ok(Response::Ok(_))) => Ok(()),
            Ok(Ok(Response::Err { error })) => {
                Err(events.reason(&Trouble::refused("what was asked of its JetStream", &error)))
            }
            Ok(Err(error)) => Err(events.reason(&Trouble::refused("what was asked of its JetStream", &error))),
            Err(_) => Err(events.reason(&Trouble::Silent)),
        }
    }

    /// The servers, and how to speak to them.
    pub(super) fn options(&self) -> std::io::Result<(Vec<ServerAddr>, ConnectOptions)> {
        let wrong = |key: &str, what: &dyn fmt::Display| Error::new(ErrorKind::InvalidInput, format!("{key}: {what}"));
        let servers = self.url.servers().map_err(|what| wrong("nats_url (NATS_URL)", &what))?;
        let mut options = ConnectOptions::new()
            .name("tillkeep-hq")
            .retry_on_initial_connect()
            .ignore_discovered_servers()
            .connection_timeout(CONNECT_WITHIN)
            .ping_interval(PING_EVERY)
            .reconnect_delay_callback(|tries| {
                let tries = u32::try_from(tries.saturating_sub(1)).unwrap_or(u32::MAX);
                Duration::from_millis(50_u64.saturating_mul(2_u64.saturating_pow(tries)).min(LONGEST_WAIT_MS))
            });
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        // The client takes none of it from the address by itself.
        if let Some((name, password)) = servers.iter().find_map(|server| Some((server.username()?, server.password())))
        {
            options = match password {
                Some(password) => options.user_and_password(decoded(name), decoded(password)),
                None => options.token(decoded(name)),
            };
        }
        if let Some(path) = &self.credentials_file {
            let key = format!("nats_credentials_file (NATS_CREDENTIALS_FILE) {}", path.display());
            let text = std::fs::read_to_string(path).map_err(|error| wrong(&key, &error))?;
            options = options.credentials(&text).map_err(|error| wrong(&key, &error))?;
        }
        if let Some(path) = &self.ca_file {
            let key = format!("nats_ca_file (NATS_CA_FILE) {}", path.display());
            let certificates = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            let certificates = certificates.map_err(|error| wrong(&key, &error))?;
            if certificates.is_empty() {
                return Err(wrong(&key, &"has no certificate in it"));
            }
            // Who names an authority wants nothing to be said in plain.
            options = options.add_root_certificates(path.clone()).require_tls(true);
        }
        Ok((servers, options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broker(url: &str) -> Broker {
        Broker { url: url.to_owned().into(), credentials_file: None, ca_file: None }
    }

    #[test]
    fn an_address_that_cannot_be_one_is_refused_by_what_is_wrong_with_it() {
        let refused = |url: &str| broker(url).check().expect_err(url).to_string();
        for (url, what) in [
            ("http://mq:4222", "http:// is not spoken here"),
            ("ws://mq:4222", "ws:// is not spoken here"),
            ("nats://", "address 1: "),
            ("nats://mq:99999", "port"),
            ("nats://mq:4222/orders", "after host and port"),
            ("nats://mq:4222,,nats://other", "address 2: is missing"),
            ("nats://till:hunter2@mq:port", "port"),
        ] {
            let text = refused(url);
            assert!(text.starts_with("nats_url (NATS_URL): ") && text.contains(what), "{url}: {text}");
            assert!(text.contains("write nats://host:4222") && !text.contains("hunter2"), "{url}: {text}");
        }
        for url in
            ["nats://127.0.0.1:4222", "mq", "mq:4222", "tls://mq", "nats://[::1]:4222,tls://u:p%40@mq", "nats://mq/"]
        {
            broker(url).check().expect(url);
        }
    }

    #[test]
    fn files_that_are_missing_or_something_else_are_refused_by_name() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("file");
        let refused = |broker: &Broker| broker.check().expect_err("refused").to_string();
        let credentials = Broker { credentials_file: Some(file.clone()), ..broker("mq") };
        let authority = Broker { ca_file: Some(file.clone()), ..broker("mq") };
        for _ in 0..2 {
            assert!(refused(&credentials).contains("nats_credentials_file"), "{}", refused(&credentials));
            assert!(refused(&authority).contains("nats_ca_file"), "{}", refused(&authority));
            std::fs::write(&file, "hunter2").expect("a file");
        }
        assert!(!refused(&credentials).contains("hunter2"));
    }

    #[test]
    fn a_shown_address_has_no_password_and_no_token() {
        let shown = |url: &str| format!("{:?}", BrokerUrl::from(url.to_owned()));
        assert_eq!(shown("nats://mq:4222"), "\"nats://mq:4222\"");
        assert_eq!(shown("nats://token@mq:4222"), "\"***@mq:4222\"");
        assert_eq!(shown("nats://till:hunter2@a,nats://till:hunter3@b"), "\"***@b\"");
    }
}
