//! `GET /pos/events`: server-sent events for a till. How everything is, then what changes, until its sign-in ends; a till that lost the
//! line names the last event that it has, and goes on after it.

mod snapshot;
mod stream;

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use tillkeep_http::Caller;
use tillkeep_http::auth::bearer;
use tillkeep_http::describe::{Operation, Reply};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::operation::string;
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::PosSell;
use tokio::sync::mpsc;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};

use self::stream::{Last, Listener, run};
use crate::Store;

/// The event that a till has, when it comes again.
static LAST: HeaderName = HeaderName::from_static("last-event-id");
static BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// Seconds after which a till that found no place may try again.
const NO_PLACE: u64 = 10;

type Sender = mpsc::Sender<std::result::Result<Bytes, Infallible>>;

/// Events, as they happen.
pub(crate) struct Stream(mpsc::Receiver<std::result::Result<Bytes, Infallible>>);

impl IntoResponse for Stream {
    fn into_response(mut self) -> Response {
        let body = Body::from_stream(futures_util::stream::poll_fn(move |context| self.0.poll_recv(context)));
        let kind = (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
        let unkept = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // A proxy that gathers answers would hold the events back.
        ([kind, unkept, (BUFFERING.clone(), HeaderValue::from_static("no"))], body).into_response()
    }
}

impl Reply for Stream {
    fn describe(operation: &mut Operation) {
        let names = ["snapshot", "prices", "drawer", "parked", "line", "printer", "reset", "end"];
        // Of one event: the description of a stream is that of what comes in it.
        let of = |kind| ObjectBuilder::new().schema_type(SchemaType::Type(kind));
        let event = of(Type::Object)
            .property("event", of(Type::String).enum_values(Some(names)))
            .property("data", of(Type::String).description(Some("JSON in one line.")))
            .property("id", of(Type::String).description(Some("For `Last-Event-ID`.")))
            .property("retry", of(Type::Integer).description(Some("Milliseconds, with the first event.")))
            .required("event")
            .required("data")
            .build();
        let text = "Events; `docs/api.md` has their data.";
        operation.answer_as(200, text, "text/event-stream", Schema::Object(event));
        let text = "The id of the last event that this till has: what came since is sent, or `reset` when that is not kept any more.";
        operation.asks_header("Last-Event-ID", string(), text);
        operation.fails(&[ErrorCode::Unavailable]);
    }
}

pub(crate) async fn events(
    caller: Caller<PosSell>,
    State(store): State<Arc<Store>>,
    headers: HeaderMap,
) -> Result<Stream> {
    let token = bearer(&headers).unwrap_or_default().to_owned();
    let last = match headers.get(&LAST).map(|id| id.to_str().ok().and_then(|id| store.events.number(id))) {
        None => Last::None,
        Some(None) => Last::Unknown,
        Some(Some(number)) => Last::Event(number),
    };
    let place = store.events.enter(caller.user_id).ok_or_else(|| {
        let text = "too many streams are open now, of all people or of you; close those that nobody reads";
        Error::new(ErrorCode::Unavailable, text).retry_after(NO_PLACE)
    })?;
    let (send, receive) = mpsc::channel(1);
    tokio::spawn(run(store, place, Listener { caller, token, last }, send));
    Ok(Stream(receive))
}
