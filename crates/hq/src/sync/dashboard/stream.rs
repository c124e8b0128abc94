//! `GET /sync/dashboard/stream`: server-sent events. A snapshot, then what changes; a comment when nothing does.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::value::RawValue;
use tillkeep_http::Caller;
use tillkeep_http::auth::bearer;
use tillkeep_http::describe::{Operation, Reply};
use tillkeep_http::error::{Error, Result};
use tillkeep_model::permission::code::StoresView;
use tillkeep_model::{ErrorCode, Instant};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use uuid::Uuid;

use super::updates::{StreamSlot, watch};
use crate::Hq;
use crate::live::board::{Scope, Update, sees};
use crate::live::unreadable::UnreadableRow;
use crate::notify::Standing;

/// A comment goes out so often, which keeps what stands in between from cutting the line.
const COMMENT_EVERY: Duration = Duration::from_secs(15);
/// Session and permissions are looked at so often.
const JUDGE_EVERY: Duration = Duration::from_secs(2);
/// Milliseconds after which a browser that lost the line comes again.
const COME_AGAIN_MS: u32 = 2000;
/// Seconds after which a viewer who found no place may try again.
const NO_PLACE: u64 = 10;

static BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Events, as they happen.
pub(super) struct Events(mpsc::Receiver<Result<Bytes, Infallible>>);

impl IntoResponse for Events {
    fn into_response(mut self) -> Response {
        let body = Body::from_stream(futures_util::stream::poll_fn(move |context| self.0.poll_recv(context)));
        let kind = (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
        // A proxy that gathers answers would hold the events back.
        ([kind, (BUFFERING.clone(), HeaderValue::from_static("no"))], body).into_response()
    }
}

impl Reply for Events {
    fn describe(operation: &mut Operation) {
        let text = "Events `snapshot`, `change` and `end`; `docs/api.md` has their data.";
        // Of one event: the description of a stream is that of what comes in it.
        let of = |kind| ObjectBuilder::new().schema_type(SchemaType::Type(kind));
        let event = of(Type::Object)
            .property("event", of(Type::String).enum_values(Some(["snapshot", "change", "end"])))
            .property("data", of(Type::String).description(Some("JSON in one line.")))
            .property("retry", of(Type::Integer).description(Some("Milliseconds, with the first event.")))
            .required("event")
            .required("data")
            .build();
        operation.answer_as(200, text, "text/event-stream", Schema::Object(event));
        operation.fails(&[ErrorCode::Unavailable]);
    }
}

/// Who looks, to be judged again and again.
struct Viewer {
    caller: Caller<StoresView>,
    token: String,
    scope: Scope,
}

impl Viewer {
    /// Whether they may still look; true when they may see other stores than before.
    async fn judge(&mut self) -> Result<bool> {
        let auth = self.caller.auth().clone();
        self.caller = Caller::from_token(auth, &self.token, self.caller.address).await?;
        let scope = self.caller.stores();
        let moved = scope != self.scope;
        self.scope = scope;
        Ok(moved)
    }
}

pub(super) async fn stream(
    caller: Caller<StoresView>,
    State(hq): State<Arc<Hq>>,
    headers: HeaderMap,
) -> Result<Events> {
    let token = bearer(&headers).unwrap_or_default().to_owned();
    let place = StreamSlot::take(&hq, caller.user_id).ok_or_else(|| {
        let text = "too many streams are open now, of all people or of you; GET /sync/dashboard answers without one";
        Error::new(ErrorCode::Unavailable, text).retry_after(NO_PLACE)
    })?;
    let scope = caller.stores();
    let (send, receive) = mpsc::channel(1);
    tokio::spawn(run(hq, place, Viewer { caller, token, scope }, send));
    Ok(Events(receive))
}

/// Why a stream ends, for the one who looks.
#[derive(Serialize)]
struct End {
    code: &'static str,
}

async fn run(hq: Arc<Hq>, place: StreamSlot, mut viewer: Viewer, send: mpsc::Sender<Result<Bytes, Infallible>>) {
    let ended = tokio::select! {
        ended = tell(&hq, &mut viewer, &send) => ended,
        () = hq.stop.cancelled() => Err(Error::new(ErrorCode::Unavailable, "the server stops")),
        () = send.closed() => Ok(()),
    };
    drop(place);
    if let Err(error) = ended {
        // Whoever does not read has lost nothing: the end of the stream says as much.
        drop(send.try_send(Ok(event("end", &End { code: error.code().as_str() }).into())));
    }
}

async fn tell(hq: &Hq, viewer: &mut Viewer, send: &mpsc::Sender<Result<Bytes, Infallible>>) -> Result<()> {
    // Before the snapshot is made, so that no change falls between.
    let mut notifications = hq.notifications.standing();
    let mut unreadable = hq.unreadable.rows();
    let (snapshot, mut updates) = watch(hq, &viewer.scope).await?;
    let mut text = format!("retry: {COME_AGAIN_MS}\n{}", event("snapshot", &snapshot));
    drop(snapshot);
    let mut judge = interval(JUDGE_EVERY);
    let mut comment = interval(COMMENT_EVERY);
    for ticks in [&mut judge, &mut comment] {
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.reset();
    }
    loop {
        let mut start_over = false;
        tokio::select! {
            biased;
            _ = judge.tick() => start_over = viewer.judge().await?,
            permit = send.reserve(), if !text.is_empty() => {
                let Ok(permit) = permit else { return Ok(()) };
                permit.send(Ok(std::mem::take(&mut text).into()));
                comment.reset();
            }
            update = updates.recv(), if text.is_empty() => match update {
                Ok(update) => text = changes(&update, &viewer.scope),
                // A viewer who reads slowly is shown everything again rather than a part.
                Err(RecvError::Lagged(_)) => start_over = true,
                Err(RecvError::Closed) => return Ok(()),
            },
            Ok(()) = notifications.changed(), if text.is_empty() => {
                let standing = notifications.borrow_and_update().clone();
                text = event("change", &Change { notifications: Some(standing), ..Change::at(hq.clock.now()) });
            }
            Ok(()) = unreadable.changed(), if text.is_empty() => {
                let rows = unreadable.borrow_and_update().clone();
                text = event("change", &Change { unreadable: Some(rows), ..Change::at(hq.clock.now()) });
            }
            _ = comment.tick(), if text.is_empty() => ":\n\n".clone_into(&mut text),
        }
        if start_over {
            let (snapshot, since) = watch(hq, &viewer.scope).await?;
            (text, updates) = (event("snapshot", &snapshot), since);
        }
    }
}

fn event(name: &str, data: &impl Serialize) -> String {
    // JSON of this library has no line break in it.
    format!("event: {name}\ndata: {}\n\n", serde_json::to_string(data).unwrap_or_default())
}

#[derive(Serialize)]
struct Change<'a> {
    at: Instant,
    stores: Vec<&'a RawValue>,
    gone: Vec<Uuid>,
    failed: Vec<&'a RawValue>,
    /// How the notification queue stands, when that is what changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    notifications: Option<Standing>,
    /// The rows that stores go without, when those changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable: Option<Vec<UnreadableRow>>,
}

impl Change<'_> {
    const fn at(at: Instant) -> Self {
        Self { at, stores: Vec::new(), gone: Vec::new(), failed: Vec::new(), notifications: None, unreadable: None }
    }
}

/// What changed, for one who may see `scope`; empty when nothing did.
fn changes(update: &Update, scope: &Scope) -> String {
    fn visible<'a>(parts: &'a [(Uuid, String)], scope: &Scope) -> Vec<&'a RawValue> {
        let seen = parts.iter().filter(|(store_id, _)| sees(scope, *store_id));
        seen.filter_map(|(_, json)| serde_json::from_str(json).ok()).collect()
    }
    let change = Change {
        stores: visible(&update.stores, scope),
        gone: update.gone.iter().copied().filter(|store_id| sees(scope, *store_id)).collect(),
        failed: visible(&update.failed, scope),
        ..Change::at(update.at)
    };
    if change.stores.is_empty() && change.gone.is_empty() && change.failed.is_empty() {
        return String::new();
    }
    event("change", &change)
}
