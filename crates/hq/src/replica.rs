//! Lists and figures that may be somewhat behind are read from a replica, while it is there and not too old; else from the
//! primary, as without one. `docs/operations.md`, *A read replica*.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use metrics::gauge;
use serde::Serialize;
use tillkeep_http::DatabaseUrl;
use tillkeep_http::describe::{Operation, Reply};
use tillkeep_http::error::Result;
use tillkeep_model::Instant;
use tillkeep_storage::replica::Replica;
use tillkeep_storage::{Connection, DbErr};
use tokio::time::{Instant as Moment, MissedTickBehavior, interval, timeout};
use utoipa::ToSchema;

use crate::Hq;

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A replica that does not answer within this time is not waited for.
const ANSWERS_WITHIN: Duration = Duration::from_secs(3);
/// Neither is one that takes so long for a list.
const READS_WITHIN: Duration = Duration::from_secs(10);
const WARN_EVERY: Duration = Duration::from_mins(1);

static UP_TO: HeaderName = HeaderName::from_static("tillkeep-figures-up-to");

/// A replica that is looked at once a second.
pub struct Followed {
    replica: Replica,
    longest: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    seen: Option<Seen>,
    warned: Option<Moment>,
}

/// How the read replica stands, for people.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaStanding {
    /// Whether lists are read from it; else from the primary.
    used: bool,
    /// Up to when it has everything, while it is used.
    figures_up_to: Option<Instant>,
}

/// What the replica had when it was looked at last.
#[derive(Clone, Copy)]
struct Seen {
    up_to: Instant,
    lag: Duration,
    at: Moment,
}

impl Seen {
    /// How far behind it may be by now.
    fn lag(&self) -> Duration {
        self.lag + self.at.elapsed()
    }
}

/// Follows the replica at `url` until the server stops.
pub async fn follow(hq: &Arc<Hq>, url: &DatabaseUrl, connections: u32, longest: Duration) -> Result<(), DbErr> {
    let replica = Replica::at(url.expose(), connections, &hq.epoch).await?;
    let followed = Followed { replica, longest, state: Mutex::default() };
    followed.look(hq).await;
    if hq.replica.set(followed).is_err() {
        return Err(DbErr::Custom("there is a read replica already".to_owned()));
    }
    let hq = hq.clone();
    tokio::spawn(async move {
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while let Some(followed) = hq.replica.get() {
            tokio::select! {
                _ = looks.tick() => followed.look(&hq).await,
                () = hq.stop.cancelled() => return,
            }
        }
    });
    Ok(())
}

impl Followed {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Up to when the replica has everything, while it may be asked.
    pub fn up_to(&self) -> Option<Instant> {
        let seen = self.state().seen.filter(|seen| seen.lag() <= self.longest)?;
        Some(seen.up_to)
    }

    pub fn standing(&self) -> ReplicaStanding {
        let up_to = self.up_to();
        ReplicaStanding { used: up_to.is_some(), figures_up_to: up_to }
    }

    /// Seconds that it is behind, as far as that is known.
    fn lag(&self) -> Option<f64> {
        self.state().seen.map(|seen| seen.lag().as_secs_f64())
    }

    async fn look(&self, hq: &Hq) {
        // A primary that is away says nothing of its replica, which grows old by the clock of this server then.
        let Ok(Ok(now)) = timeout(ANSWERS_WITHIN, self.replica.beat(hq.db())).await else { return };
        let at = Moment::now();
        match timeout(ANSWERS_WITHIN, self.replica.has_until()).await {
            Ok(Ok(Some(up_to))) => {
                let lag = Duration::from_millis(u64::try_from(now.millis_since(up_to)).unwrap_or_default());
                let before = self.state().seen.replace(Seen { up_to, lag, at });
                if lag > self.longest {
                    self.warn(&format!("it is {} s behind", lag.as_secs()));
                } else if before.is_none_or(|before| before.lag() > self.longest) {
                    tracing::info!(lag_ms = lag.as_millis(), "lists are read from the replica");
                }
            }
            Ok(Ok(None)) => self.lose("it is no replica of this database, or has not got its first note yet"),
            Ok(Err(error)) => self.lose(&error.to_string()),
            Err(_) => self.lose("it does not answer"),
        }
    }

    fn lose(&self, why: &str) {
        self.state().seen = None;
        self.warn(why);
    }

    fn warn(&self, why: &str) {
        let mut state = self.state();
        if state.warned.is_none_or(|warned| warned.elapsed() >= WARN_EVERY) {
            state.warned = Some(Moment::now());
            drop(state);
            tracing::warn!(why, "the read replica is not used, the primary answers");
        }
    }

    pub async fn close(&self) -> Result<(), DbErr> {
        self.replica.clone().close().await
    }

    /// For `/metrics`.
    pub fn measure(&self) {
        gauge!("tillkeep_read_replica_up").set(i32::from(self.up_to().is_some()));
        if let Some(lag) = self.lag() {
            gauge!("tillkeep_read_replica_lag_seconds").set(lag);
        }
    }
}

/// An answer, with the moment up to which its figures go when that is not now.
pub struct Figures<T> {
    answer: T,
    up_to: Option<Instant>,
}

impl<T> Figures<T> {
    /// The same with its answer made of what was read, and of the moment up to which that goes when it is not now.
    pub fn map<U>(self, answer: impl FnOnce(T, Option<Instant>) -> U) -> Figures<U> {
        Figures { answer: answer(self.answer, self.up_to), up_to: self.up_to }
    }
}

impl<T: IntoResponse> IntoResponse for Figures<T> {
    fn into_response(self) -> Response {
        let mut response = self.answer.into_response();
        if let Some(up_to) = self.up_to.and_then(|up_to| HeaderValue::from_str(&up_to.to_string()).ok()) {
            response.headers_mut().insert(UP_TO.clone(), up_to);
        }
        response
    }
}

impl<T: Reply> Reply for Figures<T> {
    fn describe(operation: &mut Operation) {
        T::describe(operation);
        let text = "When a read replica has answered: what happened later may be missing.";
        operation.header("Tillkeep-Figures-Up-To", text);
    }
}

impl Hq {
    /// Reads from the replica when there is one that may be asked. What goes wrong there is the primary's to answer.
    pub async fn figures<T, F>(&self, read: impl Fn(Connection) -> F) -> Result<Figures<T>>
    where
        F: Future<Output = Result<T>>,
    {
        if let Some((followed, up_to)) = self.replica.get().and_then(|followed| Some((followed, followed.up_to()?))) {
            match timeout(READS_WITHIN, read(followed.replica.reader().clone())).await {
                Ok(Ok(answer)) => return Ok(Figures { answer, up_to: Some(up_to) }),
                // Nobody else would be answered otherwise.
                Ok(Err(error)) if error.code().status() < 500 => return Err(error),
                Ok(Err(error)) => followed.lose(&error.to_string()),
                Err(_) => followed.warn("a list took too long"),
            }
        }
        Ok(Figures { answer: read(self.db().reader().clone()).await?, up_to: None })
    }
}
