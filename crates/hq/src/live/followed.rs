//! Up to when the replica has everything, and whether it may be asked.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use metrics::gauge;
use serde::Serialize;
use tillkeep_model::Instant;
use tillkeep_storage::replica::Replica;
use tillkeep_storage::{Connection, DbErr, db};
use tokio::time::{Instant as Moment, timeout};
use utoipa::ToSchema;

use super::databases::Databases;

/// A replica that does not answer within this time is not waited for.
const ANSWERS_WITHIN: Duration = Duration::from_secs(3);
const WARN_EVERY: Duration = Duration::from_mins(1);

/// A replica that is looked at once a second.
pub struct Followed {
    replica: Replica,
    longest: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    observed: Option<Observation>,
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
struct Observation {
    up_to: Instant,
    lag: Duration,
    at: Moment,
}

impl Observation {
    /// How far behind it may be by now.
    fn lag(&self) -> Duration {
        self.lag + self.at.elapsed()
    }
}

impl Followed {
    pub(crate) fn new(replica: Replica, longest: Duration) -> Self {
        Self { replica, longest, state: Mutex::default() }
    }

    pub(crate) const fn reader(&self) -> &Connection {
        self.replica.reader()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Up to when the replica has everything, while it may be asked.
    pub fn up_to(&self) -> Option<Instant> {
        let observed = self.state().observed.filter(|observed| observed.lag() <= self.longest)?;
        Some(observed.up_to)
    }

    pub fn standing(&self) -> ReplicaStanding {
        let up_to = self.up_to();
        ReplicaStanding { used: up_to.is_some(), figures_up_to: up_to }
    }

    /// Seconds that it is behind, as far as that is known.
    fn lag(&self) -> Option<f64> {
        self.state().observed.map(|observed| observed.lag().as_secs_f64())
    }

    pub(crate) async fn look(&self, primary: &Databases) {
        // A primary that is away says nothing of its replica, which grows old by the clock of this server then.
        let Ok(Ok(now)) = timeout(ANSWERS_WITHIN, primary.beat(&self.replica)).await else { return };
        let at = Moment::now();
        match timeout(ANSWERS_WITHIN, self.replica.has_until()).await {
            Ok(Ok(Some(up_to))) => {
                let lag = Duration::from_millis(u64::try_from(now.millis_since(up_to)).unwrap_or_default());
                let before = self.state().observed.replace(Observation { up_to, lag, at });
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

    pub(crate) fn lose(&self, why: &str) {
        self.state().observed = None;
        self.warn(&db::in_words(why));
    }

    pub(crate) fn warn(&self, why: &str) {
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
