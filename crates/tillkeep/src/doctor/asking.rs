//! Asking a server what it answers to everybody.

use std::path::Path;
use std::time::Duration;

use chrono::DateTime;
use reqwest::tls::TlsInfo;
use reqwest::{Client, ClientBuilder};
use serde_json::Value as Json;
use tillkeep_http::Clock;
use tillkeep_http::error::innermost;
use tillkeep_model::Instant;

use crate::reaching;

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
const ANSWER_WITHIN: Duration = Duration::from_secs(8);
/// Bytes of an answer at the most: `/metrics` of a large chain is shorter.
const LONGEST: usize = 4 << 20;

/// An answer.
pub struct Heard {
    pub status: u16,
    pub text: String,
    /// How far the clock here is ahead of the one that dated it; a date has no part of a second.
    pub ahead_ms: Option<i64>,
    /// What was shown, as DER.
    pub certificate: Option<Vec<u8>>,
}

impl Heard {
    /// `data` of the answer.
    pub fn data(&self) -> Json {
        let body: Json = serde_json::from_str(&self.text).unwrap_or_default();
        body.get("data").cloned().unwrap_or_default()
    }

    /// The version that answers `GET /health`.
    pub fn version(&self) -> Option<String> {
        let said = self.data();
        if self.status == 200 { said["version"].as_str().map(str::to_owned) } else { None }
    }
}

fn built(client: ClientBuilder) -> Result<Client, String> {
    client.connect_timeout(CONNECT_WITHIN).timeout(ANSWER_WITHIN).tls_info(true).build().map_err(plain)
}

/// Who trusts at headquarters what the server of a store trusts.
pub fn client_of_store(ca_file: Option<&Path>) -> Result<Client, String> {
    built(reaching::client_of_store(ca_file).map_err(|error| error.to_string())?)
}

/// Who asks the server on this machine, by an address that its certificate need not name. Nothing is told to it.
pub fn client_of_this_machine() -> Result<Client, String> {
    built(reaching::client().tls_danger_accept_invalid_certs(true))
}

/// What is answered to `GET path`.
pub async fn ask(client: &Client, base: &str, path: &str, clock: &Clock) -> Result<Heard, String> {
    let url = format!("{}{path}", base.trim_end_matches('/'));
    let (asked, begun) = (clock.now(), clock.uptime());
    let mut response = client.get(url).send().await.map_err(plain)?;
    let took = i64::try_from(clock.uptime().saturating_sub(begun).as_millis()).unwrap_or(i64::MAX);
    let date = response.headers().get("date").and_then(|date| date.to_str().ok()).and_then(moment);
    let ahead_ms = date.map(|date| asked.plus_millis(took / 2).millis_since(date) - 500);
    let certificate =
        response.extensions().get::<TlsInfo>().and_then(|info| info.peer_certificate().map(<[u8]>::to_vec));
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(plain)? {
        body.extend_from_slice(&chunk);
        if body.len() > LONGEST {
            return Err("the answer has no end".to_owned());
        }
    }
    let text = String::from_utf8_lossy(&body).into_owned();
    Ok(Heard { status: response.status().as_u16(), text, ahead_ms, certificate })
}

/// A date as HTTP has it.
fn moment(text: &str) -> Option<Instant> {
    Some(Instant::from_millis(DateTime::parse_from_rfc2822(text).ok()?.timestamp_millis()))
}

fn plain(error: reqwest::Error) -> String {
    innermost(&error.without_url())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_of_http_is_read_and_another_text_is_none() {
        assert_eq!(moment("Fri, 20 Nov 2026 12:34:56 GMT"), Instant::parse("2026-11-20T12:34:56.000Z"));
        assert_eq!(moment("yesterday"), None);
    }

    #[test]
    fn a_page_of_somebody_else_names_no_version() {
        let heard = |status, text: &str| Heard { status, text: text.to_owned(), ahead_ms: None, certificate: None };
        let health = r#"{"success":true,"data":{"status":"ok","version":"0.2.0"}}"#;
        assert_eq!(heard(200, health).version().as_deref(), Some("0.2.0"));
        assert_eq!(heard(503, health).version(), None);
        for text in ["<html>sign in</html>", "[]", "7", "{}", r#"{"data":[]}"#] {
            assert_eq!(heard(200, text).version(), None, "{text}");
        }
    }
}
