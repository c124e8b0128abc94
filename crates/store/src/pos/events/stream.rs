//! One till that listens: what it is sent, and when that ends.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tillkeep_http::Caller;
use tillkeep_http::error::{Error, Result};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::PosSell;
use tokio::time::{MissedTickBehavior, interval};

use super::Sender;
use super::snapshot::Snapshot;
use crate::Store;
use crate::state::Place;

/// A comment goes out so often, which keeps what stands in between from cutting the line.
const COMMENT_EVERY: Duration = Duration::from_secs(15);
/// Session and permissions are looked at so often.
const JUDGE_EVERY: Duration = Duration::from_secs(2);
/// Milliseconds after which a till that lost the line comes again.
const COME_AGAIN_MS: u32 = 2000;

/// Who listens, to be judged again and again.
pub(super) struct Listener {
    pub caller: Caller<PosSell>,
    pub token: String,
    pub last: Last,
}

/// The last event that the till has.
pub(super) enum Last {
    /// It names none.
    None,
    /// It names one of another start of this server, or none that there was.
    Unknown,
    Event(u64),
}

impl Listener {
    /// Whether they may still listen.
    async fn judge(&mut self) -> Result<()> {
        let auth = self.caller.auth().clone();
        self.caller = Caller::from_token(auth, &self.token, self.caller.address).await?;
        Ok(())
    }
}

/// Why a stream ends, for the till.
#[derive(Serialize)]
struct End {
    code: &'static str,
}

#[derive(Serialize)]
struct Nothing {}

pub(super) async fn run(store: Arc<Store>, place: Place, mut listener: Listener, send: Sender) {
    let ended = tokio::select! {
        ended = tell(&store, &mut listener, &send) => ended,
        () = store.stop.cancelled() => Err(Error::new(ErrorCode::Unavailable, "the server stops")),
        () = send.closed() => Ok(()),
    };
    drop(place);
    if let Err(error) = ended {
        // Whoever does not read has lost nothing: the end of the stream says as much.
        drop(send.try_send(Ok(written("end", None, &End { code: error.code().as_str() }).into())));
    }
}

async fn tell(store: &Store, listener: &mut Listener, send: &Sender) -> Result<()> {
    let mut newest = store.events.listen();
    // Nothing is told of the line while nobody listens.
    store.tell_line().await;
    let (begun, mut at) = match listener.last {
        Last::None => everything(store, listener, "").await?,
        Last::Unknown => everything(store, listener, &reset()).await?,
        Last::Event(number) => further(store, listener, number).await?,
    };
    // A till that missed nothing is let know that it is heard.
    let begun = if begun.is_empty() { ":\n\n".to_owned() } else { begun };
    let mut text = format!("retry: {COME_AGAIN_MS}\n{begun}");
    let mut judge = interval(JUDGE_EVERY);
    let mut comment = interval(COMMENT_EVERY);
    for ticks in [&mut judge, &mut comment] {
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.reset();
    }
    loop {
        tokio::select! {
            biased;
            _ = judge.tick() => listener.judge().await?,
            permit = send.reserve(), if !text.is_empty() => {
                let Ok(permit) = permit else { return Ok(()) };
                permit.send(Ok(std::mem::take(&mut text).into()));
                comment.reset();
            }
            changed = newest.changed(), if text.is_empty() => {
                if changed.is_err() {
                    return Ok(());
                }
                (text, at) = further(store, listener, at).await?;
            }
            _ = comment.tick(), if text.is_empty() => ":\n\n".clone_into(&mut text),
        }
    }
}

/// What came after the event `at`, and the number of the last one of it. A till that is too far behind reads everything again.
async fn further(store: &Store, listener: &Listener, at: u64) -> Result<(String, u64)> {
    let Some(events) = store.events.since(at) else {
        return everything(store, listener, &reset()).await;
    };
    let line =
        |number, name: &str, data: &str| format!("id: {}\nevent: {name}\ndata: {data}\n\n", store.events.id(number));
    let text = events.iter().map(|event| line(event.number, event.name, &event.data)).collect();
    Ok((text, events.last().map_or(at, |event| event.number)))
}

/// How everything is, after `before`, and the number of the event from which on it is told what changes.
async fn everything(store: &Store, listener: &Listener, before: &str) -> Result<(String, u64)> {
    // First: what happens meanwhile is told once more.
    let at = store.events.newest();
    let conn = listener.caller.snapshot().await?;
    let snapshot = Snapshot::load(store, &conn).await?;
    drop(conn);
    Ok((format!("{before}{}", written("snapshot", Some(&store.events.id(at)), &snapshot)), at))
}

fn reset() -> String {
    written("reset", None, &Nothing {})
}

fn written(name: &str, id: Option<&str>, data: &impl Serialize) -> String {
    let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
    // JSON of this library has no line break in it.
    format!("{id}event: {name}\ndata: {}\n\n", serde_json::to_string(data).unwrap_or_default())
}
