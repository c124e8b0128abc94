//! Requests to HQ, and what a failure means: whether HQ answered at all, and whether it was about us.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, StatusCode, redirect};
use rustls::ClientConfig;
use serde::de::DeserializeOwned;
use tillkeep_http::Secret;
use tillkeep_model::wire::{HandshakeAnswer, HandshakeRequest, PROTOCOL, PullAnswer, PushAnswer, VersionsAnswer};
use tokio_tungstenite::Connector;

use super::tls;

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// The longest a request may take; a page of a pull or a batch is far below.
const ANSWER_WITHIN: Duration = Duration::from_mins(1);

/// Why HQ gave no usable answer.
#[derive(Debug, thiserror::Error)]
pub enum HqError {
    #[error("headquarters cannot be reached: {0}")]
    Unreachable(String),
    #[error("headquarters refuses this store's token: {0}")]
    Refused(String),
    #[error("headquarters' database is another one ({code}); everything is loaded anew")]
    Reload { code: String },
    #[error("headquarters is busy")]
    Busy { retry_after: Option<Duration> },
    #[error("headquarters answered {status}: {text}")]
    Status { status: u16, text: String },
    #[error("headquarters' answer cannot be read: {0}")]
    Unreadable(String),
}

/// Speaks the machine protocol.
#[derive(Clone)]
pub struct HqClient {
    http: Client,
    base: String,
    token: HeaderValue,
    tls: Option<Arc<ClientConfig>>,
}

impl HqClient {
    /// `base` is HQ's address, such as `https://hq.example.com`; `ca_file` has certificates to trust besides those of the
    /// operating system.
    pub fn new(base: &str, token: &Secret, ca_file: Option<&Path>) -> std::io::Result<Self> {
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_static("tillkeep-protocol"), HeaderValue::from_static(PROTOCOL));
        let mut token = HeaderValue::from_str(&format!("Bearer {}", token.expose())).map_err(std::io::Error::other)?;
        token.set_sensitive(true);
        let tls = base.starts_with("https:").then(|| tls::trusting(ca_file)).transpose()?;
        let mut builder = Client::builder();
        if let Some(tls) = &tls {
            builder = builder.tls_backend_preconfigured(ClientConfig::clone(tls));
        }
        let http = builder
            .default_headers(headers)
            .connect_timeout(CONNECT_WITHIN)
            .timeout(ANSWER_WITHIN)
            .redirect(redirect::Policy::none())
            .pool_idle_timeout(Duration::from_mins(1))
            .no_proxy()
            .build()
            .map_err(std::io::Error::other)?;
        Ok(Self { http, base: format!("{}/api/v1/sync", base.trim_end_matches('/')), token, tls })
    }

    /// What the socket trusts: the same roots as the requests.
    pub fn connector(&self) -> Option<Connector> {
        self.tls.clone().map(Connector::Rustls)
    }

    pub async fn handshake(&self, request: &HandshakeRequest) -> Result<HandshakeAnswer, HqError> {
        self.send(self.http.post(format!("{}/handshake", self.base)).json(request)).await
    }

    pub async fn versions(&self) -> Result<VersionsAnswer, HqError> {
        self.send(self.http.get(format!("{}/versions", self.base))).await
    }

    pub async fn pull(&self, entity: &str, since: i64, limit: u64, epoch: &str) -> Result<PullAnswer, HqError> {
        let query = [
            ("entity_type", entity),
            ("since_version", &since.to_string()),
            ("limit", &limit.to_string()),
            ("epoch", epoch),
        ];
        let query = query.map(|(key, value)| format!("{key}={value}")).join("&");
        self.send(self.http.get(format!("{}/pull?{query}", self.base))).await
    }

    /// `envelopes` is a list of JSON objects; the body is built once and sent as it is.
    pub async fn push(&self, envelopes: &[String]) -> Result<PushAnswer, HqError> {
        let body = format!("{{\"envelopes\":[{}]}}", envelopes.join(","));
        let request = self.http.post(format!("{}/push", self.base)).header(CONTENT_TYPE, "application/json");
        self.send(request.body(body)).await
    }

    async fn send<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, HqError> {
        let request = request.header(AUTHORIZATION, self.token.clone());
        let response = request.send().await.map_err(|error| HqError::Unreachable(plain(error)))?;
        let status = response.status();
        let retry_after = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok()?.parse().ok())
            .map(Duration::from_secs);
        // An answer cut off half-way is no answer.
        let bytes = response.bytes().await.map_err(|error| HqError::Unreachable(plain(error)))?;
        if status.is_success() {
            // A captive portal answers everything with a page of its own.
            return serde_json::from_slice(&bytes).map_err(|error| HqError::Unreadable(error.to_string()));
        }
        let body: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let text = |key: &str| body.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
        Err(match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => HqError::Refused(text("error")),
            StatusCode::CONFLICT => HqError::Reload { code: text("code") },
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => HqError::Busy { retry_after },
            other => HqError::Status { status: other.as_u16(), text: text("error") },
        })
    }
}

/// The innermost cause: "error sending request" tells nobody anything. No URL, which may hold a name.
fn plain(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
