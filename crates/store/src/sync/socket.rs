//! The socket to HQ: hears what to pull, says that the store lives. A hint, never needed. Specification, section 6.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tillkeep_model::Alarm;
use tillkeep_model::wire::{Heartbeat, HqMessage, StoreMessage};
use tillkeep_storage::outbox;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_tls_with_config};

use super::back_off;
use crate::Store;

const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// What a store says and hears of an open socket, and how often.
#[derive(Clone, Copy)]
struct Pace {
    heartbeat_every: Duration,
    /// HQ pings every 15 seconds; a line that is silent for so long is dead, whatever the operating system thinks.
    silence: Duration,
}

/// Specification, section 8.
const PACE: Pace = Pace { heartbeat_every: Duration::from_secs(30), silence: Duration::from_secs(45) };

type Socket = WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>;

/// Keeps the socket until the store stops.
pub(super) async fn run(store: Arc<Store>) {
    keep(store, PACE).await;
}

async fn keep(store: Arc<Store>, pace: Pace) {
    let begun = Instant::now();
    let mut attempts = 0_u32;
    loop {
        let connected = tokio::select! {
            connected = timeout(CONNECT_WITHIN, connect(&store)) => connected,
            () = store.stop.cancelled() => return,
        };
        if let Ok(Ok(mut socket)) = connected {
            attempts = 0;
            store.sync.update(|line| line.connected = true);
            store.tell_line().await;
            // What changed while there was no line is asked for now.
            store.sync.cycle_bell.notify_one();
            let end = listen(&store, &mut socket, begun, pace).await;
            store.sync.update(|line| line.connected = false);
            store.tell_line().await;
            if store.stop.is_cancelled() {
                drop(socket.close(None).await);
                return;
            }
            store.sync.handshake_due.store(true, Ordering::Release);
            tracing::info!(reason = end.err().map(|error| error.to_string()), "the socket to headquarters closed");
        } else if attempts == 0 {
            tracing::debug!("the socket to headquarters does not open yet");
        }
        let wait = back_off::of_socket(attempts, |most| store.chance.up_to(most));
        attempts = attempts.saturating_add(1);
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = store.stop.cancelled() => return,
        }
    }
}

async fn connect(store: &Store) -> Result<Socket, tungstenite::Error> {
    // http becomes ws, https becomes wss.
    let url = store.settings.hq_url.trim_end_matches('/').replacen("http", "ws", 1);
    let mut request = format!("{url}/api/v1/sync/ws").into_client_request()?;
    // In the header, not in the URL: proxies write URLs into their logs.
    let bearer = store.line.bearer();
    request.headers_mut().insert("authorization", bearer.header);
    let config = WebSocketConfig::default().read_buffer_size(4096).write_buffer_size(4096);
    let (mut socket, _) = connect_async_tls_with_config(request, Some(config), true, store.line.connector()).await?;
    // The specification knows no token in the header of the upgrade, and a gateway may drop it.
    let auth = StoreMessage::Auth { sync_token: bearer.token.expose().to_owned() };
    socket.send(Message::Text(serde_json::to_string(&auth).unwrap_or_default().into())).await?;
    Ok(socket)
}

async fn listen(store: &Store, socket: &mut Socket, begun: Instant, pace: Pace) -> Result<(), tungstenite::Error> {
    let mut heartbeat = interval(pace.heartbeat_every);
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
                        if let Ok(HqMessage::Notify { entity_type, latest_version }) = serde_json::from_str(&text) {
                            // What this type depends on may have moved too: a cycle asks and pulls in order.
                            tracing::debug!(entity_type, "notified of a change");
                            if let Some(version) = latest_version {
                                store.hq.announced.heard(entity_type, version);
                            }
                            store.sync.announced.notify_one();
                        }
                    }
                    Message::Close(_) => return Ok(()),
                    _ => {}
                }
            }
            () = tokio::time::sleep_until(heard + pace.silence) => return Ok(()),
            // That of the token before ends with it.
            () = store.sync.token_changed.notified() => return Ok(()),
            () = store.stop.cancelled() => return Ok(()),
        }
    }
}

async fn beat(store: &Store, begun: Instant) -> String {
    let outbox = outbox::state(store.reader()).await.unwrap_or_default();
    let now = store.clock.now();
    let beat = Heartbeat {
        store_code: store.code.clone(),
        uptime: begun.elapsed().as_secs_f64(),
        timestamp: now.to_string(),
        outbox_pending: Some(outbox.pending),
        dead_lettered: Some(outbox.dead_lettered),
        oldest_pending_at: outbox.oldest,
        clock: Some(now),
        alarms: Alarm::write(&store.alarms.all()),
    };
    serde_json::to_string(&StoreMessage::Heartbeat(beat)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tillkeep_http::Clock;
    use tillkeep_http::auth::SignInSettings;
    use tokio::net::TcpListener;
    use tokio_tungstenite::accept_async;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::Settings;

    async fn store_of(address: &str, dir: &std::path::Path) -> Arc<Store> {
        use base64::Engine;
        use base64::engine::general_purpose::URL_SAFE_NO_PAD;
        let claims = r#"{"storeId":"0190a1b2-0000-7000-8000-000000000001","storeCode":"S01","type":"store_sync"}"#;
        let settings = Settings {
            data_dir: dir.to_owned(),
            sync_token: format!("e30.{}.x", URL_SAFE_NO_PAD.encode(claims)).into(),
            hq_url: format!("http://{address}"),
            hq_ca_file: None,
            sync_interval: Duration::from_secs(30),
            sign_in: SignInSettings::default(),
            numbers_file: None,
        };
        Store::open(settings, Clock::default(), CancellationToken::new()).await.expect("a store")
    }

    #[tokio::test]
    async fn a_connected_store_says_every_thirty_seconds_that_it_lives() {
        assert_eq!(PACE.heartbeat_every, Duration::from_secs(30));
        assert!(PACE.silence > Duration::from_secs(30), "two pings of headquarters may be lost");
        // The same with a shorter pace, as no test is to wait for it.
        let pace = Pace { heartbeat_every: Duration::from_millis(200), ..PACE };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let dir = tempfile::tempdir().expect("a directory");
        let store = store_of(&listener.local_addr().expect("an address").to_string(), dir.path()).await;
        let task = tokio::spawn(keep(store.clone(), pace));
        let (line, _) = listener.accept().await.expect("a connection");
        let mut socket = accept_async(line).await.expect("a socket");
        let mut heard = Vec::new();
        while heard.len() < 5 {
            let next = timeout(Duration::from_mins(1), socket.next()).await.expect("in time");
            if let Message::Text(text) = next.expect("open").expect("a message") {
                heard.push((Instant::now(), serde_json::from_str::<serde_json::Value>(&text).expect("JSON")));
            }
        }
        // First of all it says who it is.
        assert_eq!(heard.remove(0).1["type"], "auth");
        let begun = heard[0].0;
        assert!(heard[3].0 - begun > pace.heartbeat_every * 2, "three waits lie between four of them");
        for (_, beat) in &heard {
            assert_eq!((&beat["type"], &beat["storeCode"]), (&"heartbeat".into(), &"S01".into()));
            assert!(beat["uptime"].is_number() && beat["timestamp"].is_string(), "{beat}");
        }
        store.stop.cancel();
        timeout(Duration::from_mins(1), task).await.expect("it ends").expect("well");
    }

    #[tokio::test]
    async fn the_waits_to_connect_begin_again_with_a_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let dir = tempfile::tempdir().expect("a directory");
        let store = store_of(&listener.local_addr().expect("an address").to_string(), dir.path()).await;
        let task = tokio::spawn(keep(store.clone(), PACE));
        let next =
            async || timeout(Duration::from_mins(1), listener.accept()).await.expect("in time").expect("a line").0;
        for _ in 0..3 {
            drop(next().await);
        }
        let socket = accept_async(next().await).await.expect("a socket");
        drop(socket);
        let closed = Instant::now();
        drop(next().await);
        // One second and chance: had it gone on where it was, it would be eight seconds and chance.
        let waited = closed.elapsed();
        println!("it came back after {waited:?}");
        assert!((Duration::from_millis(900)..Duration::from_secs(8)).contains(&waited), "{waited:?}");
        store.stop.cancel();
        timeout(Duration::from_mins(1), task).await.expect("it ends").expect("well");
    }
}
