//! What everything on the way of a request may know of it: its id, how it came in, how long it may take.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};

tokio::task_local! {
    static CURRENT: String;
}

/// Works on the request `id`: what is refused within names it.
pub async fn within<F: Future>(id: String, work: F) -> F::Output {
    CURRENT.scope(id, work).await
}

/// The same for what does not wait.
pub fn sync_within<T>(id: String, work: impl FnOnce() -> T) -> T {
    CURRENT.sync_scope(id, work)
}

/// The id of the request being answered.
pub fn current_id() -> String {
    CURRENT.try_with(Clone::clone).unwrap_or_default()
}

/// How a request came in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transport {
    /// TLS ended in this server, not in front of it.
    pub tls: bool,
}

impl<S: Send + Sync> FromRequestParts<S> for Transport {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().copied().unwrap_or_default())
    }
}

/// What proxies say of a request that they pass on: each of them says another part of it, and no client any.
const OF_PROXIES: &[&str] =
    &["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"];

/// Whether a request was passed on by a proxy that says so.
pub fn is_forwarded(headers: &HeaderMap) -> bool {
    OF_PROXIES.iter().any(|name| headers.contains_key(*name))
}

/// Whether the other end of the connection is this very machine. Of a request that [was forwarded](is_forwarded) that says
/// nothing.
pub fn is_loopback(extensions: &Extensions) -> bool {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    peer.is_some_and(|ConnectInfo(peer)| peer.ip().to_canonical().is_loopback())
}

/// Who is at the other end of the connection of a request: a stranger, until a layer says otherwise.
#[derive(Clone)]
pub struct Guest(Arc<dyn Fn() + Send + Sync>);

impl Guest {
    /// One with a connection that does `known` when it is known.
    pub fn new(known: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(known))
    }

    /// The one who asks has shown a live session, a sync token or the key of an enrolled device: when places run out, the
    /// connection keeps its own.
    pub fn is_known(extensions: &Extensions) {
        if let Some(Self(known)) = extensions.get() {
            known();
        }
    }

    /// The same where the request is gone.
    pub fn now_known(&self) {
        (self.0)();
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Guest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_else(|| Self::new(|| {})))
    }
}

/// How long a request may take; the accept loop says it with each request.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Until the answer begins, the body included.
    pub request: Duration,
    /// Between two pieces of a body that has no other limit.
    pub stall: Duration,
    /// Bytes a second of such a body, over that time.
    pub rate: u64,
}

impl Default for Patience {
    fn default() -> Self {
        Self { request: Duration::from_secs(30), stall: Duration::from_secs(30), rate: 1024 }
    }
}

/// Bytes that must go to or fro in each `stall` at this `rate`: whoever manages nothing at all is always too slow.
pub fn least(rate: u64, stall: Duration) -> u64 {
    let millis = u64::try_from(stall.as_millis()).unwrap_or(u64::MAX);
    (rate.saturating_mul(millis) / 1000).max(1)
}

/// The cause of a body that was given up.
#[derive(Debug)]
pub struct TooSlow;

impl fmt::Display for TooSlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the body came too slowly")
    }
}

impl std::error::Error for TooSlow {}
