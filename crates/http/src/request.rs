//! What everything on the way of a request may know of it: its id, how it came in, how long it may take.

use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

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

/// How long a request may take; the accept loop says it with each request.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Until the answer begins, the body included.
    pub request: Duration,
    /// Between two pieces of a body that has no other limit.
    pub stall: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { request: Duration::from_secs(30), stall: Duration::from_secs(30) }
    }
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
