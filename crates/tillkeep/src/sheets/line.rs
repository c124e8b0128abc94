//! Asking headquarters over HTTP, and what it answers.

use std::error::Error;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tillkeep_http::Secret;
use tillkeep_http::error::innermost;
use tillkeep_model::ErrorCode;

use crate::reaching::{self, Told};

/// One thing that is asked for behind the `?`.
pub type Asked = (&'static str, String);

const TOLD: Told = Told { url: "--url", ca: "--ca" };
/// What says that the same may be asked again where the answer has no code of headquarters: a gateway that waits, or has enough.
const OF_GATEWAYS: [StatusCode; 5] = [
    StatusCode::REQUEST_TIMEOUT,
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::BAD_GATEWAY,
    StatusCode::SERVICE_UNAVAILABLE,
    StatusCode::GATEWAY_TIMEOUT,
];
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// For what is no file; headquarters gives such a request 30 seconds.
const ANSWER_WITHIN: Duration = Duration::from_secs(45);
/// Bytes of an answer that is no file, at the most.
const LONGEST: usize = 4 << 20;

/// A headquarters, and who asks it.
pub struct Headquarters {
    http: Client,
    pub url: String,
    bearer: Option<HeaderValue>,
}

/// Why nothing was heard.
#[derive(Debug)]
pub struct Lost {
    pub text: String,
    /// Nobody was there: whatever was to be sent did not leave.
    pub is_unsent: bool,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for Lost {}

/// An answer that is no file.
pub struct Heard {
    pub status: StatusCode,
    /// Seconds after which it may be asked again, where it says so.
    pub retry_after: Option<u64>,
    body: Vec<u8>,
}

/// A success.
#[derive(Deserialize)]
struct Success<T> {
    data: T,
}

/// An answer that is no success.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Refusal {
    pub error: String,
    pub code: String,
    pub details: Vec<Detail>,
    #[serde(rename = "errorCount")]
    pub error_count: u64,
}

#[derive(Deserialize)]
pub struct Detail {
    pub field: String,
    pub message: String,
}

impl Headquarters {
    /// One that answers at `url`; `ca` is trusted besides what the operating system trusts.
    pub fn at(url: String, ca: Option<&Path>) -> Result<Self> {
        let builder = if url.starts_with("https:") {
            reaching::client_of_store(ca).context("--ca names a PEM file with the certificate of an authority")?
        } else {
            reaching::client()
        };
        let http = builder.connect_timeout(CONNECT_WITHIN).build().context("no client for HTTP")?;
        Ok(Self { http, url, bearer: None })
    }

    /// Shows this access token from now on.
    pub fn with_token(self, token: &Secret) -> Result<Self> {
        let bearer = HeaderValue::from_str(&format!("Bearer {}", token.expose()));
        let mut bearer = bearer.ok().context("this is no access token; copy it whole")?;
        bearer.set_sensitive(true);
        Ok(Self { bearer: Some(bearer), ..self })
    }

    pub fn request(&self, method: Method, path: &str, query: &[Asked]) -> Result<RequestBuilder> {
        let mut url = Url::parse(&format!("{}/api/v1{path}", self.url)).context("--url")?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let request = self.http.request(method, url);
        Ok(match &self.bearer {
            Some(bearer) => request.header(AUTHORIZATION, bearer.clone()),
            None => request,
        })
    }

    /// Sends a request; its answer has begun.
    pub async fn send(&self, request: RequestBuilder) -> Result<Response, Lost> {
        request.send().await.map_err(|error| self.lost(&error))
    }

    /// All of an answer that is no file.
    pub async fn hear(&self, mut response: Response) -> Result<Heard, Lost> {
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| self.lost(&error))? {
            body.extend_from_slice(&part);
            if body.len() > LONGEST {
                return Err(Lost { text: format!("what {} answers has no end", self.url), is_unsent: false });
            }
        }
        Ok(Heard { status: response.status(), retry_after: retry_after(response.headers()), body })
    }

    /// What is answered to a request that is no file, within a time.
    pub async fn ask(&self, request: RequestBuilder) -> Result<Heard, Lost> {
        self.hear(self.send(request.timeout(ANSWER_WITHIN)).await?).await
    }

    /// The `data` of `GET path`.
    pub async fn get<T: DeserializeOwned>(&self, path: &str, query: &[Asked]) -> Result<T> {
        let heard = self.ask(self.request(Method::GET, path, query)?).await?;
        self.data(&heard)
    }

    /// The `data` of an answer; of one that is no success what it says.
    pub fn data<T: DeserializeOwned>(&self, heard: &Heard) -> Result<T> {
        if !heard.status.is_success() {
            return Err(self.refused(heard));
        }
        serde_json::from_slice::<Success<T>>(&heard.body)
            .map(|success| success.data)
            .map_err(|_| self.is_another(heard.status))
    }

    /// What an answer says that is no success.
    pub fn refused(&self, heard: &Heard) -> anyhow::Error {
        let refusal = heard.refusal();
        if refusal.error.is_empty() {
            return self.is_another(heard.status);
        }
        let place = |Detail { field, message }: &Detail| format!("\n  {}: {}", shown(field), shown(message));
        let places: Vec<String> = refusal.details.iter().map(place).collect();
        // To a token that is no good it says the one word of the specification.
        let is_token = heard.status == StatusCode::UNAUTHORIZED && refusal.code.is_empty();
        let more = if is_token { " (the access token is none of its own, or has ended)" } else { "" };
        anyhow!("headquarters says: {}{more}{}", shown(&refusal.error), places.concat())
    }

    /// Something else answers there.
    pub fn is_another(&self, status: StatusCode) -> anyhow::Error {
        let (url, status) = (&self.url, status.as_u16());
        anyhow!(
            "what answers at {url} ({status}) is no headquarters of Tillkeep; look at --url, and whether a sign-in page of this \
             network answers in its place"
        )
    }

    /// Why nothing came.
    pub fn lost(&self, error: &reqwest::Error) -> Lost {
        let words = if error.is_timeout() { "it takes too long".to_owned() } else { innermost(error) };
        let url = &self.url;
        if !error.is_connect() {
            return Lost { text: format!("the line to {url} broke: {words}"), is_unsent: false };
        }
        let remedy = reaching::remedy(&words, &TOLD);
        let remedy = remedy.unwrap_or_else(|| "look at --url, and whether headquarters runs".to_owned());
        Lost { text: format!("{url} cannot be reached: {words}; {remedy}"), is_unsent: true }
    }
}

impl Heard {
    pub fn refusal(&self) -> Refusal {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Of headquarters, unless it is of a newer release or something else has answered.
    pub fn code(&self) -> Option<ErrorCode> {
        ErrorCode::parse(&self.refusal().code)
    }

    /// Whether the same may be asked again.
    pub fn comes_again(&self) -> bool {
        self.code().map_or_else(|| OF_GATEWAYS.contains(&self.status), ErrorCode::may_be_retried)
    }

    /// Whether what was asked for may have been done although this is no success.
    pub fn may_have_happened(&self) -> bool {
        self.status.is_server_error() || self.code().is_some_and(ErrorCode::may_have_happened)
    }
}

fn retry_after(headers: &HeaderMap) -> Option<u64> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}

/// A text of a server, without what a terminal would obey.
pub fn shown(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(status: StatusCode, body: &str) -> Heard {
        Heard { status, retry_after: None, body: body.as_bytes().to_vec() }
    }

    #[test]
    fn what_is_refused_is_told_with_its_places_and_a_strange_page_is_none_of_headquarters() {
        let hq = Headquarters::at("http://127.0.0.1:1".to_owned(), None).expect("a client");
        let body = r#"{"success":false,"error":"wrong\u001b[2J","code":"validation","details":[{"field":"sort","message":"is unknown"}]}"#;
        let said = hq.refused(&heard(StatusCode::UNPROCESSABLE_ENTITY, body)).to_string();
        assert_eq!(said, "headquarters says: wrong [2J\n  sort: is unknown");
        for (status, page) in [(StatusCode::OK, "<html>"), (StatusCode::BAD_GATEWAY, "<html>"), (StatusCode::OK, "[]")]
        {
            let error = hq.data::<Vec<u8>>(&heard(status, page)).expect_err(page).to_string();
            assert!(error.contains("is no headquarters"), "{error}");
        }
    }

    #[test]
    fn what_may_be_asked_again_and_what_may_have_happened_follow_from_code_and_status() {
        for (status, code, comes_again, may_have_happened) in [
            (200, "", false, false),
            (403, "forbidden", false, false),
            (409, "in_progress", true, true),
            (422, "validation", false, false),
            (429, "too_many_requests", true, false),
            (429, "", true, false),
            (500, "internal", false, true),
            (500, "", false, true),
            (502, "", true, true),
            (503, "unavailable", true, true),
            (503, "of_a_newer_release", true, true),
        ] {
            let heard = heard(StatusCode::from_u16(status).expect("a status"), &format!(r#"{{"code":"{code}"}}"#));
            let follows = (heard.comes_again(), heard.may_have_happened());
            assert_eq!(follows, (comes_again, may_have_happened), "{status} {code}");
        }
    }

    #[test]
    fn what_is_asked_for_is_written_as_addresses_are() {
        let hq = Headquarters::at("http://127.0.0.1:1".to_owned(), None).expect("a client");
        let query = [("search", "tea & \"milk\"".to_owned())];
        let request = hq.request(Method::GET, "/products", &query).expect("an address").build().expect("a request");
        assert_eq!(request.url().as_str(), "http://127.0.0.1:1/api/v1/products?search=tea+%26+%22milk%22");
        let plain = hq.request(Method::GET, "/stores", &[]).expect("an address").build().expect("a request");
        assert_eq!(plain.url().query(), None);
    }
}
