//! `GET /metrics`: what the server counts, in the text format of Prometheus. Names begin with `tillkeep_`; times are in
//! seconds. No label holds what a client chose: a path is the one of the route table.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use metrics::{Counter, Histogram, KeyName, Recorder, SharedString, Unit, counter, gauge, histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use tillkeep_model::ErrorCode;

use crate::error::Error;
use crate::request::{is_forwarded, is_loopback};

/// Upper bounds of the classes of request times.
const BUCKETS: &[f64] = &[0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0];
/// Measured times are folded into their classes this often, whether or not they are asked for.
const UPKEEP: Duration = Duration::from_secs(10);

static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Asks the allocator how many bytes are in use.
pub type Allocated = fn() -> Option<u64>;
static ALLOCATED: OnceLock<Allocated> = OnceLock::new();

/// The allocator is the program's choice, and so is how it is asked. Without this nothing is said of it.
pub fn ask_allocator(allocated: Allocated) {
    // The second one to say so in a process says the same.
    let _ = ALLOCATED.set(allocated);
}

/// Begins to count; once for the process, however often it is called.
pub fn start() -> Option<&'static PrometheusHandle> {
    HANDLE.get_or_init(install).as_ref()
}

type Describe = fn(&PrometheusRecorder, KeyName, Option<Unit>, SharedString);
const COUNTER: Describe = PrometheusRecorder::describe_counter;
const GAUGE: Describe = PrometheusRecorder::describe_gauge;
const HISTOGRAM: Describe = PrometheusRecorder::describe_histogram;

/// Everything that is measured, in words, but for what headquarters says of each store.
const METRICS: &[(Describe, &str, Option<Unit>, &str)] = &[
    (COUNTER, "tillkeep_http_requests_total", None, "Answered requests by route and status"),
    (HISTOGRAM, "tillkeep_http_request_seconds", Some(Unit::Seconds), "Time from a request's headers to its answer's"),
    (GAUGE, "tillkeep_stores_connected", None, "Stores with an open socket"),
    (
        GAUGE,
        "tillkeep_stores_outbox_stuck",
        None,
        "Connected stores with an oldest entry that waits for over five minutes",
    ),
    (
        GAUGE,
        "tillkeep_oldest_pending_seconds",
        Some(Unit::Seconds),
        "The longest wait in an outbox of a connected store",
    ),
    (GAUGE, "tillkeep_push_queue_envelopes", None, "Envelopes in front of the writer of headquarters"),
    (COUNTER, "tillkeep_push_turned_away_total", None, "Pushes answered 503 because the queue was too long"),
    (
        COUNTER,
        "tillkeep_push_ignored_columns_total",
        None,
        "Values in pushed data that their store does not own, and unknown keys",
    ),
    (
        COUNTER,
        "tillkeep_pull_pages_total",
        None,
        "Pages equal for all stores, by whether they cost a query (miss) or not",
    ),
    (GAUGE, "tillkeep_pull_pages_bytes", Some(Unit::Bytes), "What the kept pages take at the most"),
    (GAUGE, "tillkeep_dashboard_streams", None, "Open streams of the dashboard"),
    (GAUGE, "tillkeep_broker_up", None, "1 while the message broker carries notifications to other servers"),
    (GAUGE, "tillkeep_notifications_waiting", None, "Notifications for the sockets of this server, or for the broker"),
    (
        COUNTER,
        "tillkeep_notifications_queued_total",
        None,
        "Notifications taken after commits: as a job, into one that waited, or into one for every store for want of room",
    ),
    (COUNTER, "tillkeep_notifications_delivered_total", None, "Notifications given to the sockets of this server"),
    (COUNTER, "tillkeep_notifications_published_total", None, "Notifications that the broker has taken"),
    (
        COUNTER,
        "tillkeep_notifications_received_total",
        None,
        "Notifications from the broker: of other servers, that sessions ended there, of this one, and what is not known",
    ),
    (COUNTER, "tillkeep_sync_ignored_total", None, "What stores said that this server does not know, by kind"),
    (
        COUNTER,
        "tillkeep_sync_log_pruned_total",
        None,
        "Entries of long ago that this server moved from sync_log to where a short row of each stays",
    ),
    (
        COUNTER,
        "tillkeep_alert_posts_total",
        None,
        "Tries to post alerts to webhooks: sent, failed and to be tried again, or given up",
    ),
    (
        COUNTER,
        "tillkeep_sale_posts_total",
        None,
        "Tries to post sales to webhooks, up to a hundred each: sent, or failed and to be tried again",
    ),
    (GAUGE, "tillkeep_outbox_pending", None, "Entries that headquarters has not taken yet"),
    (GAUGE, "tillkeep_outbox_dead_letters", None, "Entries that were refused ten times"),
    (GAUGE, "tillkeep_alarms", None, "1 for each alarm that this store has"),
    (GAUGE, "tillkeep_unsigned_documents", None, "Entries of chains that wait for a signature, or did not get one"),
    (GAUGE, "tillkeep_unstored_types", None, "Types of which this store could not store what it pulled"),
    (GAUGE, "tillkeep_hq_connected", None, "1 while the socket to headquarters is open"),
    (GAUGE, "tillkeep_build_info", None, "The version that runs"),
    (
        GAUGE,
        "tillkeep_backup_last_success_timestamp_seconds",
        Some(Unit::Seconds),
        "When the last backup was made; absent while there is none",
    ),
    (COUNTER, "tillkeep_backup_failures_total", None, "Backups that were due and not made, by reason"),
    (
        COUNTER,
        "tillkeep_pins_exposed_total",
        None,
        "PINs that ended because another user proposed them or had them where their owner came",
    ),
    (GAUGE, "tillkeep_read_replica_up", None, "1 while the read replica answers and is not too old"),
    (GAUGE, "tillkeep_read_replica_lag_seconds", Some(Unit::Seconds), "How far the read replica is behind"),
    (GAUGE, "tillkeep_stores_running_twice", None, "Stores of which two copies run"),
    (
        GAUGE,
        "tillkeep_hq_clock_offset_seconds",
        Some(Unit::Seconds),
        "How far the clock of this server is ahead of that of the database",
    ),
    (GAUGE, "tillkeep_people_locked", None, "People who have to wait after wrong PINs of their name"),
    (
        GAUGE,
        "tillkeep_disk_free_bytes",
        Some(Unit::Bytes),
        "Room for this server on the disk of its data directory; NaN while that cannot be read",
    ),
    (GAUGE, "tillkeep_disk_size_bytes", Some(Unit::Bytes), "Size of the disk of its data directory"),
    (
        GAUGE,
        "tillkeep_certificate_ends_in_seconds",
        Some(Unit::Seconds),
        "Until the certificate that this server shows ends; absent where it has none",
    ),
    (GAUGE, "tillkeep_unreadable_rows", None, "Rows that headquarters cannot read, which stores go without"),
];

fn install() -> Option<PrometheusHandle> {
    let recorder = PrometheusBuilder::new().set_buckets(BUCKETS).ok()?.build_recorder();
    let handle = recorder.handle();
    for (describe, name, unit, text) in METRICS {
        describe(&recorder, (*name).into(), *unit, (*text).into());
    }
    metrics::set_global_recorder(recorder).ok()?;
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
/// sets the gauges that are read when they are asked for, and gives lines of its own, of what comes and goes.
pub fn router<S, F>(state: S, look: impl Fn(S) -> F + Clone + Send + Sync + 'static) -> Router
where
    S: Clone + Send + Sync + 'static,
    F: Future<Output = String> + Send + 'static,
{
    // From here on it counts, not from the first request.
    start();
    let page = move || {
        let looked = look(state.clone());
        async move { page(&looked.await) }
    };
    Router::new().route("/metrics", get(page))
}

/// The same beside other routes, for whoever asks from this very machine: figures of a chain are for its operators
/// alone. What a proxy passes on comes from somewhere else.
pub fn of_this_machine(router: Router) -> Router {
    router.layer(from_fn(async |request: Request, next: Next| {
        if is_loopback(request.extensions()) && !is_forwarded(request.headers()) {
            return next.run(request).await;
        }
        let text =
            "metrics are served to this machine alone; set metrics_listen (METRICS_LISTEN) to serve them elsewhere";
        Error::new(ErrorCode::NotFound, text).into_response()
    }))
}

/// Bytes of the process in memory; nothing where the kernel does not tell (`proc(5)`).
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// What is read of the process when it is asked for: name, what it is, and how it is found out.
type Meter = (&'static str, &'static str, fn() -> Option<u64>);
const MEMORY: [Meter; 2] = [
    ("tillkeep_memory_resident_bytes", "Memory that the process holds, by the kernel's count", resident),
    ("tillkeep_memory_allocated_bytes", "What of it is in use, by the allocator's count", || ALLOCATED.get()?()),
];

fn memory() -> String {
    let line = |(name, about, bytes): Meter| {
        Some(format!("# HELP {name} {about}\n# TYPE {name} gauge\n{name} {}\n", bytes()?))
    };
    MEMORY.into_iter().filter_map(line).collect()
}

fn page(more: &str) -> Response {
    let Some(handle) = start() else { return StatusCode::SERVICE_UNAVAILABLE.into_response() };
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], handle.render() + &memory() + more).into_response()
}
