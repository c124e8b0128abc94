//! What surrounds every request: its id, one log line, one form for what the router refuses itself, and a wall against
//! panics.

use std::panic::AssertUnwindSafe;
use std::time::Instant as Stopwatch;

use axum::Router;
use axum::extract::{DefaultBodyLimit, MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use tillkeep_model::ErrorCode;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use uuid::Uuid;

use crate::error::Error;
use crate::extract::MAX_BODY;

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

tokio::task_local! {
    static CURRENT: String;
}

/// The id of the request being answered.
pub fn current_request_id() -> String {
    CURRENT.try_with(Clone::clone).unwrap_or_default()
}

/// Wraps a finished router.
pub fn wrap<S: Clone + Send + Sync + 'static>(router: Router<S>) -> Router<S> {
    let compress = SizeAbove::new(512).and(NotForContentType::new("text/event-stream"));
    router
        .fallback(|| async { Error::new(ErrorCode::NotFound, "there is no such route") })
        .method_not_allowed_fallback(|| async {
            Error::new(ErrorCode::MethodNotAllowed, "this path does not take this method")
        })
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(CompressionLayer::new().compress_when(compress))
        .layer(from_fn(observe))
}

async fn observe(request: Request, next: Next) -> Response {
    let begun = Stopwatch::now();
    let given = request.headers().get(&REQUEST_ID).and_then(|value| value.to_str().ok());
    let id = given
        .filter(|id| (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic()))
        .map_or_else(|| Uuid::now_v7().to_string(), str::to_owned);
    let method = request.method().clone();
    let path = request.extensions().get::<MatchedPath>().map_or("(unknown)", MatchedPath::as_str).to_owned();
    let answer = CURRENT.scope(id.clone(), async move {
        match AssertUnwindSafe(next.run(request)).catch_unwind().await {
            Ok(response) => response,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without text");
                Error::internal(format!("panic: {text}")).into_response()
            }
        }
    });
    let mut response = answer.await;
    let status = response.status();
    let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    // The query is never logged: it may hold a token.
    if status.is_server_error() && status != StatusCode::SERVICE_UNAVAILABLE {
        tracing::error!(%method, path, status = status.as_u16(), micros, request_id = id, "request");
    } else {
        tracing::debug!(%method, path, status = status.as_u16(), micros, request_id = id, "request");
    }
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID.clone(), id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}
