//! How a request gets to HQ: over HTTP, or through whatever a simulation puts in its place.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_compression::tokio::write::ZstdEncoder;
use bytes::{Bytes, BytesMut};
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, redirect};
use rustls::ClientConfig;
use tillkeep_http::Secret;
use tillkeep_http::error::innermost;
use tillkeep_model::wire::PROTOCOL;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::Connector;

use super::tls;

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// The longest that HQ may be silent, once a request is there. A line that is dead without saying so must not hold the
/// outbox for longer than the 35 seconds that are promised.
const SILENT_FOR: Duration = Duration::from_secs(20);
/// The longest that an answer may take from its first byte to its last, on a line that is not the slowest.
const ANSWER_WITHIN: Duration = Duration::from_mins(1);
/// Bytes a second of a line that is still one: 64 kbit/s. So much longer a request or an answer may be under way. On a slower one the
/// sender comes down to a batch that fits.
const SLOWEST: usize = 8 << 10;
/// The header of every request and answer of the machine protocol.
const MARK: HeaderName = HeaderName::from_static("tillkeep-protocol");
/// The header with the versions that this store heard of.
const ANNOUNCED: HeaderName = HeaderName::from_static("tillkeep-told");
/// A push of less is not worth compressing.
const COMPRESSED_FROM: usize = 1 << 10;

/// A request of the machine protocol: a GET, a POST of JSON, or a DELETE.
#[derive(Clone, Debug)]
pub struct Request {
    /// Below `/api/v1/sync`, with its query.
    pub path: String,
    pub json: Option<Bytes>,
    /// How far headquarters said that types are, for the header [`ANNOUNCED`]; empty says nothing.
    pub announced: String,
    /// In the form that the specification gives it: it is not compressed.
    pub plain: bool,
    /// A DELETE; it has no JSON.
    pub deletes: bool,
}

impl Request {
    pub fn get(path: String) -> Self {
        Self { path, json: None, announced: String::new(), plain: false, deletes: false }
    }

    pub fn post(path: &str, json: Bytes) -> Self {
        Self { json: Some(json), ..Self::get(path.to_owned()) }
    }

    pub fn delete(path: String) -> Self {
        Self { deletes: true, ..Self::get(path) }
    }
}

/// An answer that arrived whole.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    /// Whether it bears the header [`MARK`], which headquarters gives to each of its answers. What is in between may drop it.
    pub from_hq: bool,
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
    token: Arc<RwLock<Bearer>>,
    tls: Option<Arc<ClientConfig>>,
}

/// A token, and the header that carries it.
#[derive(Clone)]
pub(crate) struct Bearer {
    pub token: Secret,
    pub header: HeaderValue,
}

impl Bearer {
    fn new(token: &Secret) -> std::io::Result<Self> {
        let header = HeaderValue::from_str(&format!("Bearer {}", token.expose()));
        let mut header = header.map_err(std::io::Error::other)?;
        header.set_sensitive(true);
        Ok(Self { token: token.clone(), header })
    }
}

impl Http {
    /// `base` is HQ's address, such as `https://hq.example.com`; `ca_file` has certificates to trust besides those of the
    /// operating system.
    pub fn new(base: &str, token: &Secret, ca_file: Option<&Path>) -> std::io::Result<Self> {
        let mut headers = HeaderMap::new();
        headers.insert(MARK, HeaderValue::from_static(PROTOCOL));
        let token = Arc::new(RwLock::new(Bearer::new(token)?));
        let tls = base.starts_with("https:").then(|| tls::trusting(ca_file)).transpose()?;
        let mut builder = Client::builder();
        if let Some(tls) = &tls {
            builder = builder.tls_backend_preconfigured(ClientConfig::clone(tls));
        }
        let client = builder
            .default_headers(headers)
            .connect_timeout(CONNECT_WITHIN)
            .redirect(redirect::Policy::none())
            .pool_idle_timeout(Duration::from_mins(1))
            .no_proxy()
            .build()
            .map_err(std::io::Error::other)?;
        Ok(Self { client, base: format!("{}/api/v1/sync", base.trim_end_matches('/')), token, tls })
    }

    /// With what this store speaks now.
    pub(crate) fn bearer(&self) -> Bearer {
        self.token.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on this store speaks with another token, wherever this line is used.
    pub(crate) fn speak_with(&self, token: &Secret) -> std::io::Result<()> {
        let next = Bearer::new(token)?;
        *self.token.write().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(())
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
        let mut bytes = 0;
        let builder = match request.json {
            Some(json) => {
                let builder = self.client.post(url).header(CONTENT_TYPE, "application/json");
                let packs = request.path == "/push" && !request.plain && json.len() >= COMPRESSED_FROM;
                let packed = if packs { compressed(&json).await } else { None };
                bytes = packed.as_ref().map_or(json.len(), Vec::len);
                match packed {
                    Some(packed) => builder.header(CONTENT_ENCODING, "zstd").body(packed),
                    None => builder.body(json),
                }
            }
            None if request.deletes => self.client.delete(url),
            None => self.client.get(url),
        };
        let builder = if request.announced.is_empty() { builder } else { builder.header(ANNOUNCED, request.announced) };
        let seconds = u64::try_from(bytes / SLOWEST).unwrap_or_default();
        let patience = SILENT_FOR + Duration::from_secs(seconds);
        let answer = timeout(patience, builder.header(AUTHORIZATION, self.bearer().header).send()).await;
        let mut response = answer.map_err(|_| format!("no answer within {} s", patience.as_secs()))?.map_err(plain)?;
        let retry_after = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok()?.parse().ok())
            .map(Duration::from_secs);
        let status = response.status().as_u16();
        let from_hq = response.headers().contains_key(MARK);
        let body = whole(&mut response).await?;
        Ok(Reply { status, from_hq, retry_after, body })
    }
}

/// The whole body: an answer cut off half-way is none. What keeps coming at the pace of the slowest line may take its time.
async fn whole(response: &mut Response) -> Result<Bytes, String> {
    let (begun, mut body) = (Instant::now(), BytesMut::new());
    loop {
        match timeout(SILENT_FOR, response.chunk()).await {
            Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
            Ok(Ok(None)) => return Ok(body.freeze()),
            Ok(Err(error)) => return Err(plain(error)),
            Err(_) => return Err(format!("the answer stopped for {} s", SILENT_FOR.as_secs())),
        }
        let patience = ANSWER_WITHIN + Duration::from_secs(u64::try_from(body.len() / SLOWEST).unwrap_or_default());
        if begun.elapsed() > patience {
            return Err(format!("the answer took {} s", patience.as_secs()));
        }
    }
}

/// A body for a slow line; HQ reads zstd. `None` when it cannot be made, and the body goes as it is.
async fn compressed(json: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = ZstdEncoder::new(Vec::with_capacity(json.len() / 4));
    encoder.write_all(json).await.ok()?;
    encoder.shutdown().await.ok()?;
    Some(encoder.into_inner())
}

/// No URL, which may hold a name.
fn plain(error: reqwest::Error) -> String {
    innermost(&error.without_url())
}
