//! How a request gets to HQ: over HTTP, or through whatever a simulation puts in its place.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, redirect};
use rustls::ClientConfig;
use tillkeep_http::Secret;
use tillkeep_model::wire::PROTOCOL;
use tokio_tungstenite::Connector;

use super::tls;

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// The longest that HQ may be silent within a request. A line that is dead without saying so must not hold the outbox for
/// longer than the 35 seconds that are promised.
const SILENT_FOR: Duration = Duration::from_secs(20);
/// The longest a request may take; a page of a pull or a batch is far below.
const ANSWER_WITHIN: Duration = Duration::from_mins(1);

/// A request of the machine protocol: a GET, or a POST of JSON.
#[derive(Clone, Debug)]
pub struct Request {
    /// Below `/api/v1/sync`, with its query.
    pub path: String,
    pub json: Option<Bytes>,
}

/// An answer that arrived whole.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub retry_after: Option<Duration>,
    pub body: Bytes,
}

/// Carries requests to HQ. An error means that no whole answer came, whatever HQ did.
#[async_trait::async_trait]
pub trait Transport: Send + Sync {
    async fn send(&self, request: Request) -> Result<Reply, String>;
}

/// HTTP, with the store's token.
#[derive(Clone)]
pub struct Http {
    client: Client,
    base: String,
    token: HeaderValue,
    tls: Option<Arc<ClientConfig>>,
}

impl Http {
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
        let client = builder
            .default_headers(headers)
            .connect_timeout(CONNECT_WITHIN)
            .read_timeout(SILENT_FOR)
            .timeout(ANSWER_WITHIN)
            .redirect(redirect::Policy::none())
            .pool_idle_timeout(Duration::from_mins(1))
            .no_proxy()
            .build()
            .map_err(std::io::Error::other)?;
        Ok(Self { client, base: format!("{}/api/v1/sync", base.trim_end_matches('/')), token, tls })
    }

    /// What the socket trusts: the same roots as the requests.
    pub fn connector(&self) -> Option<Connector> {
        self.tls.clone().map(Connector::Rustls)
    }
}

#[async_trait::async_trait]
impl Transport for Http {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let url = format!("{}{}", self.base, request.path);
        let builder = match request.json {
            Some(json) => self.client.post(url).header(CONTENT_TYPE, "application/json").body(json),
            None => self.client.get(url),
        };
        let response = builder.header(AUTHORIZATION, self.token.clone()).send().await.map_err(plain)?;
        let retry_after = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok()?.parse().ok())
            .map(Duration::from_secs);
        let status = response.status().as_u16();
        // An answer cut off half-way is no answer.
        let body = response.bytes().await.map_err(plain)?;
        Ok(Reply { status, retry_after, body })
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
