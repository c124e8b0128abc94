//! `GET /sync/ws`: the channel that tells a store when to pull. Specification, sections 5 and 6.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;

use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tillkeep_http::Params;
use tillkeep_http::auth::bearer;
use tillkeep_http::describe::{Operation, Reply};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::request::Guest;
use tillkeep_model::ErrorCode;
use tillkeep_model::wire::{Ended, HqMessage, OutboxState, StoreMessage, close};
use tillkeep_storage::nodes::Said;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::ending::End;
use super::protocol::ignored;
use super::standing::Standing;
use super::store_caller::{REFUSALS, StoreCaller, standing_now, store_of};
use super::versions;
use crate::Hq;
use crate::live::{Connection, Next};

const SEND_WITHIN: Duration = Duration::from_secs(10);
/// A larger text is ignored.
const LARGEST_TEXT: usize = 64 << 10;
/// Messages of one store in a minute at the most.
const MESSAGES_A_MINUTE: u32 = 100;
/// Close code of RFC 6455 for a breach of the rules.
const POLICY: u16 = 1008;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SocketQuery)]
pub(super) struct Query {
    sync_token: Option<String>,
}

pub(super) async fn socket(
    State(hq): State<Arc<Hq>>,
    headers: HeaderMap,
    Params(query): Params<Query>,
    guest: Guest,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Upgraded> {
    refuse_other_origins(&hq, &headers)?;
    if hq.auth.leaving.is_cancelled() {
        return Err(Error::new(ErrorCode::Unavailable, "this server leaves; connect again").retry_after(1));
    }
    // A token in the URL or the header is judged before the upgrade, and before whether it is one.
    let caller = match query.sync_token.as_deref().or_else(|| bearer(&headers)) {
        Some(token) => Some(store_of(&hq, Some(token)).await?),
        // Without an upgrade there is no first message that could still bring one.
        None if upgrade.is_err() => return Err(Error::unauthorized()),
        None => None,
    };
    let upgrade = upgrade.map_err(|_| {
        let text = "this route is a WebSocket: send Connection: Upgrade, Upgrade: websocket and its version and key";
        Error::new(ErrorCode::UpgradeRequired, text)
    })?;
    let upgrade = upgrade.read_buffer_size(4096).write_buffer_size(4096).max_write_buffer_size(1 << 20);
    let response = upgrade.max_message_size(1 << 20).max_frame_size(1 << 20).on_upgrade(move |mut socket| async move {
        let stop = hq.stop.clone();
        let caller = if let Some(caller) = caller {
            Ok(caller)
        } else {
            tokio::select! {
                caller = authenticate(&hq, &mut socket) => caller,
                () = stop.cancelled() => Err(close::GOING_AWAY),
            }
        };
        let code = match caller {
            Ok(caller) => {
                guest.now_known();
                run(&hq, &caller, &mut socket).await
            }
            Err(code) => Some(code),
        };
        if let Some(code) = code {
            let frame = CloseFrame { code, reason: Utf8Bytes::from_static("") };
            // The other side may be gone already, or read nothing: it gets a moment, and no place for ever.
            drop(timeout(SEND_WITHIN, socket.send(Message::Close(Some(frame)))).await);
        }
    });
    Ok(Upgraded(response))
}

/// A page of another site that a browser shows opens no socket here: browsers say where they come from, and stores
/// are none. RFC 6455, section 10.2.
fn refuse_other_origins(hq: &Hq, headers: &HeaderMap) -> Result<()> {
    let said = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let Some(origin) = said(header::ORIGIN) else { return Ok(()) };
    let host = origin.split_once("://").map(|(_, host)| host);
    let ours = hq.public_url.as_deref().is_some_and(|url| url.trim_end_matches('/') == origin);
    if ours || (host.is_some() && host == said(header::HOST)) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::Scope, "this socket is for stores, and not for pages of other sites"))
}

/// From here on the socket speaks.
pub(super) struct Upgraded(Response);

impl IntoResponse for Upgraded {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Reply for Upgraded {
    fn describe(operation: &mut Operation) {
        operation.token("syncToken", Vec::new(), REFUSALS);
        // Else it is asked for by the first message.
        operation.token_is_optional();
        operation.empty(101, "A WebSocket: `docs/sync.md` has its messages.");
        operation.fails(&[ErrorCode::UpgradeRequired, ErrorCode::Unavailable]);
    }
}

/// Waits for the `auth` message.
async fn authenticate(hq: &Hq, socket: &mut WebSocket) -> Result<StoreCaller, u16> {
    let first = timeout(hq.times.auth_within, async {
        loop {
            match socket.recv().await {
                Some(Ok(Message::Text(text))) => return Ok(text),
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_))) => {}
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Err(close::GOING_AWAY),
            }
        }
    });
    let text = first.await.map_err(|_| close::AUTH_TIMEOUT)??;
    match StoreMessage::read(&text) {
        Ok(StoreMessage::Auth { sync_token }) => store_of(hq, Some(&sync_token)).await.map_err(|_| close::BAD_TOKEN),
        Ok(StoreMessage::Heartbeat(_)) => Err(close::BAD_TOKEN),
        Err(error) if error.is_data() => Err(close::BAD_TOKEN),
        Err(_) => Err(close::UNREADABLE),
    }
}

/// Serves one connection; the close code to end it with, if the other side is still there.
async fn run(hq: &Hq, caller: &StoreCaller, socket: &mut WebSocket) -> Option<u16> {
    let connection = hq.hub.connect(caller.id(), &caller.store.code, hq.clock.now(), close::REPLACED);
    connection.opened_with(caller.token_version);
    hq.tracker.connected(&connection, hq.nodes.id);
    hq.board.mark([caller.id()]);
    tracing::info!(store = caller.store.code, "store connected");
    // Only now, when a revocation finds this connection: one that came before it is seen here.
    let end = match standing_now(hq, caller).await {
        Ok(Standing::Refused) => End::Closed(close::REVOKED),
        Ok(standing) => {
            if let Standing::Until(until) = standing {
                connection.ends_at(until);
            }
            let Err(end) = serve(hq, &connection, socket).await;
            end
        }
        Err(error) => {
            tracing::warn!(%error, "a socket's token could not be judged; the store comes again");
            End::Closed(close::GOING_AWAY)
        }
    };
    // Noted before the connection goes: whoever sees that it is gone sees why.
    hq.tracker.ended(&connection, end.because(), hq.clock.now());
    hq.hub.disconnect(&connection);
    hq.board.mark([caller.id()]);
    let because = end.because().map(Ended::as_str);
    tracing::info!(store = caller.store.code, code = end.code(), because, "store disconnected");
    end.code()
}

async fn serve(hq: &Hq, connection: &Connection, socket: &mut WebSocket) -> Result<Infallible, End> {
    let mut ping = interval(hq.times.ping_every);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut last_pong = Instant::now();
    let (mut minute, mut messages) = (Instant::now(), 0_u32);
    loop {
        let silence = tokio::time::sleep_until(last_pong + hq.times.pong_within);
        tokio::select! {
            next = connection.next() => match next {
                Next::Close(code) => return Err(End::Closed(code)),
                Next::Tell(types) => {
                    for (entity_type, version) in types {
                        let message = HqMessage::Notify { entity_type: entity_type.into(), latest_version: Some(version) };
                        let text = serde_json::to_string(&message).unwrap_or_default();
                        tell(socket, Message::Text(text.into())).await?;
                    }
                }
            },
            received = socket.recv() => {
                let message = received.and_then(Result::ok).ok_or(End::Broken)?;
                if minute.elapsed() >= Duration::from_mins(1) {
                    (minute, messages) = (Instant::now(), 0);
                }
                messages += 1;
                if messages > MESSAGES_A_MINUTE {
                    return Err(End::Closed(POLICY));
                }
                match message {
                    Message::Pong(_) => {
                        last_pong = Instant::now();
                        hq.tracker.seen(connection.store_id, hq.clock.now());
                    }
                    Message::Close(_) => {
                        hq.tracker.seen(connection.store_id, hq.clock.now());
                        return Err(End::Left);
                    }
                    Message::Text(text) if text.len() <= LARGEST_TEXT => {
                        if let Some(code) = heard(hq, connection, &text) {
                            return Err(End::Closed(code));
                        }
                    }
                    Message::Text(_) => ignored("socket_large"),
                    Message::Binary(_) => ignored("socket_binary"),
                    // The library has answered it.
                    Message::Ping(_) => {}
                }
            }
            _ = ping.tick() => {
                tell(socket, Message::Ping(bytes::Bytes::new())).await?;
            }
            () = silence => return Err(End::Silent),
            () = hq.stop.cancelled() => return Err(End::Closed(close::GOING_AWAY)),
        }
    }
}

/// Sends, unless the other side is gone or takes nothing: a dead peer must not hold this task for ever.
async fn tell(socket: &mut WebSocket, message: Message) -> Result<(), End> {
    let sent = timeout(SEND_WITHIN, socket.send(message)).await;
    sent.ok().and_then(Result::ok).ok_or(End::Broken)
}

/// Takes note of a message; unreadable JSON closes, an unknown type is ignored.
fn heard(hq: &Hq, connection: &Connection, text: &str) -> Option<u16> {
    match StoreMessage::read(text) {
        Ok(StoreMessage::Heartbeat(heartbeat)) => {
            let now = hq.clock.now();
            hq.tracker.seen(connection.store_id, now);
            let outbox = heartbeat.outbox_pending.map(|pending| OutboxState {
                pending,
                dead_lettered: heartbeat.dead_lettered.unwrap_or_default(),
                oldest: heartbeat.oldest_pending_at,
            });
            hq.tracker.beat(connection.store_id, heartbeat.uptime, now);
            let said = outbox.map(|outbox| Said { outbox, alarms: versions::alarms(&heartbeat.alarms) });
            let is_first = connection.heard(heartbeat, now);
            let is_news = said.is_some_and(|said| hq.tracker.reported(connection.store_id, said, now));
            if is_first || is_news {
                hq.board.mark([connection.store_id]);
            }
            None
        }
        Ok(StoreMessage::Auth { .. }) => None,
        Err(error) if error.is_data() => {
            ignored("socket_message");
            None
        }
        Err(_) => Some(close::UNREADABLE),
    }
}
