//! Whether the queue works as it should: for the dashboard, the metrics and, once a minute at the most, the log.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tillkeep_http::Clock;
use tillkeep_model::Instant;
use tokio::sync::watch;
use utoipa::ToSchema;

/// Between two warnings.
const WARN_EVERY: Duration = Duration::from_mins(1);

/// Where notifications wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = NotificationQueue)]
pub enum Queue {
    /// Within this server.
    #[default]
    InProcess,
    /// In a message broker, between the servers of headquarters.
    Nats,
}

/// How the notification queue stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NotificationStanding)]
pub struct Standing {
    pub queue: Queue,
    /// Stores may learn of what other servers changed some seconds later.
    pub degraded: bool,
    /// Since when it is degraded.
    pub since: Option<Instant>,
    /// Why it is degraded.
    pub reason: Option<String>,
}

pub(super) struct Line {
    standing: watch::Sender<Standing>,
    clock: Clock,
    warned: Mutex<Warned>,
}

#[derive(Default)]
struct Warned {
    last: Option<Duration>,
    /// The log says that it is degraded, and not yet that it is not.
    open: bool,
}

impl Line {
    /// One that works, as one within the process always does.
    pub(super) fn sound(queue: Queue, clock: &Clock) -> Self {
        let standing = Standing { queue, ..Standing::default() };
        Self { standing: watch::Sender::new(standing), clock: clock.clone(), warned: Mutex::default() }
    }

    /// One that has still to be set up; that alone is nothing to warn of.
    pub(super) fn pending(queue: Queue, clock: &Clock) -> Self {
        let line = Self::sound(queue, clock);
        line.degrade("the message broker was not reached yet");
        line
    }

    pub(super) fn watch(&self) -> watch::Receiver<Standing> {
        self.standing.subscribe()
    }

    pub(super) fn is_degraded(&self) -> bool {
        self.standing.borrow().degraded
    }

    /// It does not work, for this reason; to be said again with each further try.
    pub(super) fn down(&self, reason: &str) {
        self.degrade(reason);
        let now = self.clock.uptime();
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.last.is_none_or(|last| now.saturating_sub(last) >= WARN_EVERY) {
            *warned = Warned { last: Some(now), open: true };
            drop(warned);
            tracing::warn!(
                reason,
                "notifications between servers are delayed: stores of other servers learn of changes some seconds later"
            );
        }
    }

    /// Other servers run on the database, and there is no broker between them. Said in the log once.
    pub(super) fn lacks_broker(&self) {
        if !self.is_degraded() {
            tracing::warn!(
                "other servers of headquarters run on this database, and no message broker is set (NATS_URL): what one of \
                 them changes the others find out within seconds, not at once"
            );
        }
        self.degrade("several servers run without a message broker: set NATS_URL at each of them");
    }

    /// It works.
    pub(super) fn up(&self) {
        self.standing.send_if_modified(|standing| {
            let was = standing.degraded;
            *standing = Standing { queue: standing.queue, ..Standing::default() };
            was
        });
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        // As often as the warning, and no more.
        if std::mem::take(&mut warned.open) {
            drop(warned);
            tracing::info!("the message broker works: notifications between servers are not delayed any more");
        }
    }

    fn degrade(&self, reason: &str) {
        let now = self.clock.now();
        self.standing.send_if_modified(|standing| {
            let news = !standing.degraded || standing.reason.as_deref() != Some(reason);
            let since = standing.since.filter(|_| standing.degraded).or(Some(now));
            if news {
                *standing = Standing { queue: standing.queue, degraded: true, since, reason: Some(reason.to_owned()) };
            }
            news
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_wrong_again_and_again_is_warned_of_once_a_minute() {
        let clock = Clock::standing_at(Instant::default());
        let line = Line::pending(Queue::Nats, &clock);
        let warned = |line: &Line| line.warned.lock().expect("a lock").last;
        assert_eq!(warned(&line), None, "nothing is wrong yet");
        let mut times = Vec::new();
        for _ in 0..130 {
            // It comes and goes.
            line.down("it is away");
            line.up();
            line.down("it is away again");
            times.extend(warned(&line).filter(|at| times.last() != Some(at)));
            clock.pass(1000);
        }
        assert_eq!(times, [0, 60, 120].map(Duration::from_secs));
    }

    #[test]
    fn the_first_moment_of_a_trouble_is_kept_until_it_is_over() {
        let clock = Clock::standing_at(Instant::default());
        let line = Line::sound(Queue::Nats, &clock);
        let standing = line.watch();
        let since = || standing.borrow().since.map(Instant::millis);
        clock.pass(1000);
        line.down("it is away");
        clock.pass(1000);
        line.down("it does not answer in time");
        assert_eq!((since(), standing.borrow().reason.as_deref()), (Some(1000), Some("it does not answer in time")));
        line.up();
        assert_eq!((since(), standing.borrow().degraded), (None, false));
        clock.pass(1000);
        line.down("it is away");
        assert_eq!(since(), Some(3000));
    }
}
