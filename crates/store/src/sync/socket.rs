//! The socket to HQ: hears what to pull, says that the store lives. A hint, never needed. Specification, section 6.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tillkeep_model::wire::{Heartbeat, HqMessage, StoreMessage};
use tillkeep_storage::outbox;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_tls_with_config};

use crate::Store;

/// Specification, section 8.
const HEARTBEAT_EVERY: Duration = Duration::from_secs(30);
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// HQ pings every 15 seconds; a line that is silent for so long is dead, whatever the operating system thinks.
const SILENCE: Duration = Duration::from_secs(45);
const DELAY_BASE_MS: u64 = 1000;
const DELAY_CAP_MS: u64 = 60_000;

type Socket = WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>;

/// Keeps the socket until the store stops.
pub async fn run(store: Arc<Store>) {
    let begun = Instant::now();
    let mut attempts = 0;
    loop {
        let connected = tokio::select! {
            connected = timeout(CONNECT_WITHIN, connect(&store)) => connected,
            () = store.stop.cancelled() => return,
        };
        if let Ok(Ok(mut socket)) = connected {
            attempts = 0;
            store.sync.update(|line| line.connected = true);
            // What was told while there was no line is asked for now.
            store.sync.cycle_bell.notify_one();
            let end = listen(&store, &mut socket, begun).await;
            store.sync.update(|line| line.connected = false);
            if store.stop.is_cancelled() {
                drop(socket.close(None).await);
                return;
            }
            store.sync.handshake_due.store(true, Ordering::Release);
            tracing::info!(reason = end.err().map(|error| error.to_string()), "the socket to headquarters closed");
        } else if attempts == 0 {
            tracing::debug!("the socket to headquarters does not open yet");
        }
        tokio::select! {
            () = tokio::time::sleep(delay(attempts, store.chance.up_to(1000))) => attempts += 1,
            () = store.stop.cancelled() => return,
        }
    }
}

/// `min(1000 × 2^attempts + jitter, 60000)` milliseconds. Specification, section 6, rule 3.
fn delay(attempts: u32, jitter_ms: u64) -> Duration {
    let doubled = DELAY_BASE_MS.saturating_mul(1_u64.checked_shl(attempts.min(20)).unwrap_or(u64::MAX));
    Duration::from_millis(doubled.saturating_add(jitter_ms).min(DELAY_CAP_MS))
}

async fn connect(store: &Store) -> Result<Socket, tungstenite::Error> {
    // http becomes ws, https becomes wss.
    let url = store.settings.hq_url.trim_end_matches('/').replacen("http", "ws", 1);
    let mut request = format!("{url}/api/v1/sync/ws").into_client_request()?;
    // In the header, not in the URL: proxies write URLs into their logs.
    let mut token = HeaderValue::from_str(&format!("Bearer {}", store.settings.sync_token.expose()))?;
    token.set_sensitive(true);
    request.headers_mut().insert("authorization", token);
    let config = WebSocketConfig::default().read_buffer_size(4096).write_buffer_size(4096);
    let (socket, _) = connect_async_tls_with_config(request, Some(config), true, store.line.connector()).await?;
    Ok(socket)
}

async fn listen(store: &Store, socket: &mut Socket, begun: Instant) -> Result<(), tungstenite::Error> {
    let mut heartbeat = interval(HEARTBEAT_EVERY);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut heard = Instant::now();
    loop {
        tokio::select! {
            _ = heartbeat.tick() => {
                let text = beat(store, begun).await;
                socket.send(Message::Text(text.into())).await?;
            }
            message = socket.next() => {
                let Some(message) = message else { return Ok(()) };
                heard = Instant::now();
                match message? {
                    Message::Text(text) => {
                        // A newer HQ may say what this store does not understand.
                        if let Ok(HqMessage::Notify { entity_type, .. }) = serde_json::from_str(&text) {
                            // What this type depends on may have moved too: a cycle asks and pulls in order.
                            tracing::debug!(entity_type, "told of a change");
                            store.sync.told.notify_one();
                        }
                    }
                    Message::Close(_) => return Ok(()),
                    _ => {}
                }
            }
            () = tokio::time::sleep_until(heard + SILENCE) => return Ok(()),
            () = store.stop.cancelled() => return Ok(()),
        }
    }
}

async fn beat(store: &Store, begun: Instant) -> String {
    let outbox = outbox::state(store.db().reader()).await.unwrap_or_default();
    let now = store.clock.now();
    let beat = Heartbeat {
        store_code: store.code.clone(),
        uptime: begun.elapsed().as_secs_f64(),
        timestamp: now.to_string(),
        outbox_pending: Some(outbox.pending),
        dead_lettered: Some(outbox.dead_lettered),
        oldest_pending_at: outbox.oldest,
        clock: Some(now),
    };
    serde_json::to_string(&StoreMessage::Heartbeat(beat)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reconnect_delay_is_the_specification_s() {
        let millis = |attempts, jitter| delay(attempts, jitter).as_millis();
        assert_eq!(millis(0, 0), 1000);
        assert_eq!(millis(1, 500), 2500);
        assert_eq!(millis(5, 1000), 33_000);
        assert_eq!(millis(6, 0), 60_000);
        assert_eq!(millis(63, 1000), 60_000);
    }
}
