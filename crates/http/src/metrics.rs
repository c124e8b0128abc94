//! `GET /metrics`: what the server counts, in the text format of Prometheus. Names begin with `tillkeep_`; times are in
//! seconds. No label holds what a client chose: a path is the one of the route table.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use metrics::{
    Counter, Histogram, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

/// Upper bounds of the classes of request times.
const BUCKETS: &[f64] = &[0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0];
/// Measured times are folded into their classes this often, whether or not somebody asks.
const UPKEEP: Duration = Duration::from_secs(10);

static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Begins to count; once for the process, however often it is called.
pub fn start() -> Option<&'static PrometheusHandle> {
    HANDLE.get_or_init(install).as_ref()
}

fn install() -> Option<PrometheusHandle> {
    let recorder = PrometheusBuilder::new().set_buckets(BUCKETS).ok()?.build_recorder();
    let handle = recorder.handle();
    metrics::set_global_recorder(recorder).ok()?;
    describe_counter!("tillkeep_http_requests_total", "Answered requests by route and status");
    describe_histogram!(
        "tillkeep_http_request_seconds",
        Unit::Seconds,
        "Time from a request's headers to its answer's"
    );
    describe_gauge!("tillkeep_stores_connected", "Stores with an open socket");
    describe_gauge!("tillkeep_stores_outbox_stuck", "Connected stores whose oldest entry waits for over five minutes");
    describe_gauge!(
        "tillkeep_oldest_pending_seconds",
        Unit::Seconds,
        "The longest wait in an outbox of a connected store"
    );
    describe_gauge!("tillkeep_push_queue_envelopes", "Envelopes in front of the writer of headquarters");
    describe_counter!("tillkeep_push_turned_away_total", "Pushes answered 503 because the queue was too long");
    describe_counter!(
        "tillkeep_push_ignored_columns_total",
        "Values in pushed data that their store does not own, and keys that nobody knows"
    );
    describe_counter!(
        "tillkeep_pull_pages_total",
        "Pages equal for all stores, by whether they cost a query (miss) or not"
    );
    describe_gauge!("tillkeep_pull_pages_bytes", Unit::Bytes, "What the kept pages take at the most");
    describe_gauge!("tillkeep_dashboard_streams", "Open streams of the dashboard");
    describe_gauge!("tillkeep_broker_up", "1 while the message broker carries notifications to other servers");
    describe_gauge!(
        "tillkeep_notifications_waiting",
        "Notifications for the sockets of this server, or for the broker"
    );
    describe_counter!(
        "tillkeep_notifications_queued_total",
        "Notifications taken after commits: as a job, into one that waited, or into one for every store for want of room"
    );
    describe_counter!("tillkeep_notifications_delivered_total", "Notifications given to the sockets of this server");
    describe_counter!("tillkeep_notifications_published_total", "Notifications that the broker has taken");
    describe_counter!(
        "tillkeep_notifications_received_total",
        "Notifications from the broker: of other servers, that sessions ended there, of this one, and what is not known"
    );
    describe_counter!("tillkeep_sync_ignored_total", "What stores said that this server does not know, by kind");
    describe_counter!(
        "tillkeep_sync_log_pruned_total",
        "Entries of long ago that this server moved from sync_log to where a short row of each stays"
    );
    describe_gauge!("tillkeep_outbox_pending", "Entries that headquarters has not taken yet");
    describe_gauge!("tillkeep_outbox_dead_letters", "Entries that were refused ten times");
    describe_gauge!("tillkeep_hq_connected", "1 while the socket to headquarters is open");
    describe_gauge!("tillkeep_build_info", "The version that runs");
    gauge!("tillkeep_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        let upkeep = handle.clone();
        runtime.spawn(async move {
            loop {
                tokio::time::sleep(UPKEEP).await;
                upkeep.run_upkeep();
            }
        });
    }
    Some(handle)
}

/// What is measured of the requests of one method and path that were answered with one status.
struct Measured {
    method: &'static str,
    status: StatusCode,
    seconds: Histogram,
    answered: Counter,
}

/// By path. To look up a meter by its labels costs as much as to answer a short question, so each is looked up once.
static MEASURED: LazyLock<RwLock<HashMap<String, Vec<Measured>>>> = LazyLock::new(RwLock::default);

/// Counts one answered request.
pub fn request(method: &Method, path: &str, status: StatusCode, took: Duration) {
    // What is asked for before anything counts is a meter without effect, and must not be kept.
    let Some(Some(_)) = HANDLE.get() else { return };
    let method = known(method);
    let count = |measured: &Measured| {
        measured.seconds.record(took.as_secs_f64());
        measured.answered.increment(1);
    };
    let is_this = |measured: &&Measured| (measured.method, measured.status) == (method, status);
    let all = MEASURED.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(measured) = all.get(path).and_then(|measured| measured.iter().find(is_this)) {
        count(measured);
        return;
    }
    drop(all);
    let labels = [("method", method.to_owned()), ("path", path.to_owned())];
    let seconds = histogram!("tillkeep_http_request_seconds", &labels);
    let status_label = ("status", status.as_str().to_owned());
    let [method_label, path_label] = labels;
    let answered = counter!("tillkeep_http_requests_total", &[method_label, path_label, status_label]);
    let measured = Measured { method, status, seconds, answered };
    count(&measured);
    let mut all = MEASURED.write().unwrap_or_else(PoisonError::into_inner);
    // Another request may have been as quick; both are the same meters.
    all.entry(path.to_owned()).or_default().push(measured);
}

/// A client may invent methods without end.
fn known(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "HEAD" => "HEAD",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

/// Routes with `/metrics` alone, to be served with others or, [`crate::layers::wrap`]ped, on an address of their own. `look`
/// sets the gauges that are read when somebody asks, and gives lines of its own, of what comes and goes.
pub fn router<S, F>(state: S, look: impl Fn(S) -> F + Clone + Send + Sync + 'static) -> Router
where
    S: Clone + Send + Sync + 'static,
    F: Future<Output = String> + Send + 'static,
{
    // From here on it counts, not from the first time that somebody asks.
    start();
    let page = move || {
        let looked = look(state.clone());
        async move { page(&looked.await) }
    };
    Router::new().route("/metrics", get(page))
}

fn page(more: &str) -> Response {
    let Some(handle) = start() else { return StatusCode::SERVICE_UNAVAILABLE.into_response() };
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], handle.render() + more).into_response()
}
