//! What surrounds every request: its id, one log line, one form for what the router refuses itself, a limit on time, a
//! wall against panics, and the headers of every answer.

mod body;
mod headers;
mod origins;

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Instant as Stopwatch;

use axum::Router;
use axum::extract::{DefaultBodyLimit, MatchedPath, Request};
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, StatusCode, Version, header};
use axum::middleware::{Next, from_fn, map_response};
use axum::response::{IntoResponse, Response};
use tillkeep_model::ErrorCode;
use tokio::time::timeout;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};

use crate::costs;
use crate::error::Error;
use crate::extract::{MAX_BODY, too_slow};
use crate::files;
use crate::metrics;
use crate::refusals;
use crate::representation::AsItIs;
use crate::request::{self, Patience, Transport};
use crate::table;
pub use origins::for_origins;

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Routes of the sync protocol that may take longer than others: a pull of everything waits for its turn, and a push is
/// as long as its line is slow. What limits them is that bytes move.
const UNHURRIED: [&str; 2] = ["/api/v1/sync/pull", "/api/v1/sync/push"];

/// Bytes of an answer that travel in one packet, with its headers: smaller ones do not arrive sooner.
const ONE_PACKET: u16 = 1024;

/// Wraps a finished router.
pub fn wrap<S: Clone + Send + Sync + 'static>(router: Router<S>) -> Router<S> {
    let is_open = |_: StatusCode, _: Version, _: &HeaderMap, about: &Extensions| about.get::<AsItIs>().is_none();
    let compress = SizeAbove::new(ONE_PACKET).and(NotForContentType::new("text/event-stream")).and(is_open);
    router
        .fallback(|| async { Error::new(ErrorCode::NotFound, "there is no such route") })
        .method_not_allowed_fallback(|| async {
            Error::new(ErrorCode::MethodNotAllowed, "this path does not take this method")
        })
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(CompressionLayer::new().compress_when(compress))
        .layer(from_fn(observe))
}

/// Says with every answer of a server behind a proxy that ends TLS what it would say where it ends TLS itself: browsers come
/// over TLS alone from then on. What came over an open line all the same does not count for them (RFC 6797, section 8.1).
pub fn behind_tls(router: Router) -> Router {
    router.layer(map_response(async |mut response: Response| {
        headers::only_tls(response.headers_mut());
        response
    }))
}

async fn observe(request: Request, next: Next) -> Response {
    let begun = Stopwatch::now();
    let given = request.headers().get(&REQUEST_ID).and_then(|value| value.to_str().ok());
    let id = given
        .filter(|id| (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic()))
        .map_or_else(new_id, str::to_owned);
    let method = request.method().clone();
    let path = request.extensions().get::<MatchedPath>().cloned();
    let path = path.as_ref().map_or("(unknown)", MatchedPath::as_str);
    let transport = request.extensions().get::<Transport>().copied().unwrap_or_default();
    let mut response = if has_one_host(&request) {
        answer(request, next, path, &id).await
    } else {
        let refused = || Error::new(ErrorCode::BadRequest, "send one Host header").into_response();
        request::sync_within(id.clone(), refused)
    };
    let status = response.status();
    metrics::request(&method, path, status, begun.elapsed());
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
    headers::add(headers, path, transport);
    response
}

/// Whether a request that came over a connection names the host once, as HTTP/1.1 asks for: what lies in between may take
/// another one of two. RFC 9112, section 3.2.
fn has_one_host(request: &Request) -> bool {
    let hosts = request.headers().get_all(header::HOST).iter().count();
    request.extensions().get::<Patience>().is_none()
        || hosts == 1
        || (hosts == 0 && request.version() != Version::HTTP_11)
}

/// Of random bytes that cost no call of the operating system.
fn new_id() -> String {
    uuid::Builder::from_random_bytes(files::random()).into_uuid().to_string()
}

/// Lets the request be answered, in a task of its own as soon as it has to wait: whoever hangs up or runs out of time, what
/// was begun still ends, and what follows a commit (caches, heads, sockets) follows it.
async fn answer(request: Request, next: Next, path: &str, id: &str) -> Response {
    let Patience { request: total, stall, rate } = request.extensions().get::<Patience>().copied().unwrap_or_default();
    // A file is on its way for longer than other bodies, and so is what comes of it.
    let is_table = path.strip_prefix("/api/v1").is_some_and(|path| table::ROUTES.contains(&path));
    let total = if is_table { table::limit(total) } else { total };
    let hurried = !UNHURRIED.contains(&path);
    let waiting = Arc::new(AtomicBool::new(false));
    let pace = if hurried { body::Pace::Total(total) } else { body::Pace::AtLeast(request::least(rate, stall), stall) };
    let request = body::limit(request, pace, &waiting);
    let mut work = Box::pin(request::within(id.to_owned(), costs::within(refusals::within(next.run(request)))));
    // What need not wait is not worth a task: to start one wakes another thread.
    let at_once = poll_fn(|context| Poll::Ready(catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))))).await;
    let failure = match at_once {
        Ok(Poll::Ready(response)) => return response,
        Err(panic) => broken(panic.as_ref()),
        Ok(Poll::Pending) => {
            let work = tokio::spawn(work);
            match if hurried { timeout(total, work).await } else { Ok(work.await) } {
                Ok(Ok(response)) => return response,
                Ok(Err(error)) => match error.try_into_panic() {
                    Ok(panic) => broken(panic.as_ref()),
                    Err(_) => Error::internal("the task of a request was cancelled"),
                },
                // A handler that never reads its body waits for something else.
                Err(_) if !waiting.load(Ordering::Acquire) => {
                    let text = "this takes too long and goes on without you; look whether it was done before you send it again";
                    let seconds = total.as_secs();
                    let cause = format!("{path} took longer than {seconds} s; it goes on without anybody listening");
                    Error::new(ErrorCode::Unavailable, text).because(cause).retry_after(5)
                }
                Err(_) => too_slow(),
            }
        }
    };
    request::sync_within(id.to_owned(), || failure.into_response())
}

fn broken(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without text");
    Error::internal(format!("panic: {text}"))
}
