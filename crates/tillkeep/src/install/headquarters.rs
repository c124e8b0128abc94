//! What is looked at of headquarters: the line, who answers there, its certificate, its clock, and whether it takes the token.
//!
//! No handshake: that would make this program the process that is the store. What is asked changes nothing but that headquarters
//! has seen the store.

use std::time::Duration;

use anyhow::Result;
use chrono::DateTime;
use reqwest::header::{AUTHORIZATION, DATE, HeaderValue};
use reqwest::{Client, Response, StatusCode};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tillkeep_http::error::innermost;
use tillkeep_model::alarm::is_clock_off;
use tillkeep_model::wire::PROTOCOL;
use tillkeep_store::headquarters::token::newest;

use super::settings::Settings;
use super::token::Token;
use super::{Checked, Checks, Fault};
use crate::reaching::{self, DISTRUST, Told};
use crate::run;

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// Days before its end in which a certificate is spoken of.
const SOON: i64 = 14;
const DAY: i64 = 24 * 3600;
/// What headquarters says to a token that is none of its own. Specification, section 5.
const UNAUTHORIZED: &str = "Unauthorized";
const TOLD: Told = Told { url: "--hq-url", ca: "--ca" };

/// What `GET /health` says.
#[derive(Deserialize)]
struct Health {
    data: About,
}

#[derive(Deserialize)]
struct About {
    status: String,
    version: String,
}

/// What every answer to `GET /sync/versions` has.
#[derive(Deserialize)]
struct Versions {
    #[serde(rename = "versions")]
    _versions: IgnoredAny,
}

/// What an answer that is no success has.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Refusal {
    error: String,
}

/// What the first answer showed.
struct Answered {
    /// `None` where what is in between lets nothing but the machine protocol through.
    version: Option<String>,
    /// How far its clock is ahead of this one.
    offset_ms: Option<i64>,
    /// When its certificate ends, in seconds since 1970.
    ends: Option<i64>,
}

/// All that can be asked without being the store. What follows from a line is looked at when there is one.
pub async fn check(checks: &mut Checks, store: &Settings, token: &Token) -> Result<()> {
    let client = match client(store) {
        Ok(client) => client,
        Err(fault) => return checks.note("certificate", Err(fault)),
    };
    let answered = match reach(&client, &store.hq_url).await {
        Ok(answered) => answered,
        // Somebody answered there, whom this machine does not trust.
        Err(fault) if fault.what.contains(DISTRUST) => return checks.note("certificate", Err(fault)),
        Err(fault) => return checks.note("line", Err(fault)),
    };
    checks.note("line", version(answered.version.as_deref(), &store.hq_url))?;
    checks.note("certificate", Ok(certificate(&answered, &store.hq_url)))?;
    checks.note("clock", clock(answered.offset_ms))?;
    // Last, and of a store that lacks nothing else: headquarters notes that it has seen the store.
    let answer =
        if checks.faults.is_empty() { taken(&client, store, token).await } else { Ok("not asked for now".to_owned()) };
    checks.note("token", answer)
}

fn client(store: &Settings) -> Checked<Client> {
    let remedy = "--ca names a PEM file with the certificate of the authority";
    let builder = if store.hq_url.starts_with("https:") {
        reaching::client_of_store(store.ca_file.as_deref()).map_err(|error| Fault::new(error, remedy))?.tls_info(true)
    } else {
        reaching::client()
    };
    let client = builder.connect_timeout(CONNECT_WITHIN).timeout(ANSWER_WITHIN).build();
    client.map_err(|error| Fault::new(error, "say what this machine is to whoever looks after Tillkeep"))
}

async fn reach(client: &Client, url: &str) -> Checked<Answered> {
    let (answered, status, body) = ask(client, url, "/health").await?;
    let about = serde_json::from_slice::<Health>(&body).ok().map(|health| health.data);
    if let Some(about) = about.filter(|about| status.is_success() && about.status == "ok") {
        return Ok(Answered { version: Some(about.version), ..answered });
    }
    // A gateway may let through what stores need alone. To nobody headquarters says the one word of the specification.
    let (answered, status_of_sync, body) = ask(client, url, "/api/v1/sync/versions").await?;
    let refusal: Refusal = serde_json::from_slice(&body).unwrap_or_default();
    if status_of_sync == StatusCode::UNAUTHORIZED && refusal.error == UNAUTHORIZED {
        return Ok(answered);
    }
    Err(no_headquarters(url, status))
}

/// Asks without a token; what the answer shows besides its body.
async fn ask(client: &Client, url: &str, path: &str) -> Checked<(Answered, StatusCode, Vec<u8>)> {
    let clock = run::clock();
    let asked = clock.now();
    let response = client.get(format!("{url}{path}")).send().await.map_err(|error| unreachable(&error, url))?;
    let answered = clock.now();
    // A date has whole seconds: half of one is the middle of those that it may be.
    let theirs = date(&response).map(|millis| millis + 500);
    let middle = asked.millis() + answered.millis_since(asked) / 2;
    let ends = response.extensions().get::<reqwest::tls::TlsInfo>().and_then(|tls| ends(tls.peer_certificate()?));
    let status = response.status();
    let body = response.bytes().await.map_err(|error| unreachable(&error, url))?;
    Ok((Answered { version: None, offset_ms: theirs.map(|theirs| theirs - middle), ends }, status, body.to_vec()))
}

fn no_headquarters(url: &str, status: StatusCode) -> Fault {
    Fault::new(
        format!("what answers at {url} ({}) is no headquarters of Tillkeep", status.as_u16()),
        "look at --hq-url, and whether a sign-in page or filter of this network answers in its place",
    )
}

fn date(response: &Response) -> Option<i64> {
    let text = response.headers().get(DATE)?.to_str().ok()?;
    Some(DateTime::parse_from_rfc2822(text).ok()?.timestamp_millis())
}

fn ends(der: &[u8]) -> Option<i64> {
    let (_, certificate) = x509_parser::parse_x509_certificate(der).ok()?;
    Some(certificate.validity().not_after.timestamp())
}

/// Why nothing came.
fn unreachable(error: &reqwest::Error, url: &str) -> Fault {
    let words = innermost(error);
    Fault::new(format!("{url} cannot be reached: {words}"), remedy(&words))
}

fn remedy(words: &str) -> String {
    let otherwise = "look at --hq-url, at the network of this machine, and whether headquarters runs";
    reaching::remedy(words, &TOLD).unwrap_or_else(|| otherwise.to_owned())
}

/// Stores and headquarters of one major version understand each other, whichever is newer.
fn version(theirs: Option<&str>, url: &str) -> Checked {
    let Some(theirs) = theirs else {
        return Ok(format!("headquarters answers at {url}, and does not show its version"));
    };
    let ours = env!("CARGO_PKG_VERSION");
    let number = |text: &str| -> Option<(u64, u64)> {
        let mut parts = text.split(['.', '-', '+']);
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    let (Some(mine), Some(other)) = (number(ours), number(theirs)) else {
        return Err(Fault::new(
            format!("headquarters at {url} says that it is of the version {theirs:?}"),
            "look at --hq-url: is that Tillkeep?",
        ));
    };
    if mine.0 != other.0 {
        let newer =
            if mine.0 > other.0 { "upgrade headquarters first" } else { "install the release of headquarters here" };
        return Err(Fault::new(format!("headquarters is of version {theirs}, this program of {ours}"), newer));
    }
    let older = if other < mine { "; it is older than this program: upgrade it before its stores" } else { "" };
    Ok(format!("headquarters {theirs} answers at {url}{older}"))
}

fn certificate(answered: &Answered, url: &str) -> String {
    if !url.starts_with("https:") {
        return "none: the line is plain HTTP".to_owned();
    }
    let Some(ends) = answered.ends else { return "good; when it ends cannot be read".to_owned() };
    let days = (ends - run::clock().now().millis() / 1000).div_euclid(DAY);
    let soon = if days <= SOON { "; have it renewed" } else { "" };
    format!("good, for {days} more days{soon}")
}

/// The bound of the handshake.
fn clock(offset_ms: Option<i64>) -> Checked {
    let Some(offset_ms) = offset_ms else {
        return Ok("headquarters does not say its time; the handshake compares it".to_owned());
    };
    let seconds = offset_ms.unsigned_abs() / 1000;
    let side = if offset_ms > 0 { "behind" } else { "ahead of" };
    if is_clock_off(offset_ms) {
        return Err(Fault::new(
            format!("the clock of this machine is {seconds} s {side} that of headquarters"),
            "set it and keep it set (timedatectl set-ntp true); two minutes are allowed",
        ));
    }
    Ok(format!("{seconds} s off that of headquarters"))
}

/// Whether headquarters takes the token, or the one that this store took over in its place.
async fn taken(client: &Client, store: &Settings, token: &Token) -> Checked {
    let url = &store.hq_url;
    let spoken = newest(&store.data_dir, &token.text);
    let bearer = HeaderValue::from_str(&format!("Bearer {}", spoken.expose()));
    let mut bearer = bearer.map_err(|error| Fault::new(error, "copy the token whole"))?;
    bearer.set_sensitive(true);
    let asked = client.get(format!("{url}/api/v1/sync/versions")).header(AUTHORIZATION, bearer);
    let response =
        asked.header("tillkeep-protocol", PROTOCOL).send().await.map_err(|error| unreachable(&error, url))?;
    let status = response.status();
    let body = response.bytes().await.map_err(|error| unreachable(&error, url))?;
    if status.is_success() && serde_json::from_slice::<Versions>(&body).is_ok() {
        return Ok(format!("headquarters takes it for store {}", token.store_code));
    }
    let refusal: Refusal = serde_json::from_slice(&body).unwrap_or_default();
    match status {
        StatusCode::UNAUTHORIZED if refusal.error == UNAUTHORIZED => Err(Fault::new(
            "headquarters has not made this token",
            "provision the store at this headquarters, and look at --hq-url",
        )),
        StatusCode::UNAUTHORIZED => Err(Fault::new(
            format!("headquarters refuses this token: {}", refusal.error),
            "it was replaced or revoked, or the store is not active: provision the store again, with rotate",
        )),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            Err(Fault::new("headquarters is busy", "run this again in a minute"))
        }
        _ => Err(no_headquarters(url, status)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headquarters_of_another_major_version_does_not_fit() {
        let own = env!("CARGO_PKG_VERSION");
        assert!(version(None, "u").is_ok(), "a gateway shows none");
        assert!(version(Some(own), "u").is_ok_and(|said| !said.contains("older")));
        let older = version(Some("0.1.0"), "u").unwrap_or_else(|fault| panic!("{}", fault.what));
        assert!(older.contains("older than this program"), "{older}");
        for other in ["9.0.0", "", "nginx"] {
            assert!(version(Some(other), "u").is_err(), "{other}");
        }
    }

    #[test]
    fn a_clock_may_be_two_minutes_off_as_in_the_handshake() {
        for (offset, is_good) in [(None, true), (Some(120_000), true), (Some(-120_000), true), (Some(120_001), false)] {
            assert_eq!(clock(offset).is_ok(), is_good, "{offset:?}");
        }
        let fault = clock(Some(-600_000)).expect_err("a fault");
        assert!(fault.what.contains("600 s ahead of"), "{}", fault.what);
    }

    #[test]
    fn the_end_of_a_certificate_is_read() {
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut params = rcgen::CertificateParams::new(vec!["hq.example.com".to_owned()]).expect("params");
        params.not_after = rcgen::date_time_ymd(2031, 2, 3);
        let certificate = params.self_signed(&key).expect("a certificate");
        let day = DateTime::parse_from_rfc3339("2031-02-03T00:00:00Z").expect("a day");
        assert_eq!(ends(certificate.der()), Some(day.timestamp()));
        assert_eq!(ends(b"no certificate"), None);
    }
}
