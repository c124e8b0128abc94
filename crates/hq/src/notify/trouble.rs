//! Why the message broker cannot be used, and what its client says of the connection.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_nats::Event;
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use tokio::sync::Notify;

/// Why the broker cannot be used now.
#[derive(Debug)]
pub(super) enum Trouble {
    /// There is no connection.
    Away,
    /// The connection may be dead without saying so.
    Silent,
    /// It answers, and not as it should.
    Refused(String),
}

impl Trouble {
    pub(super) fn refused(what: &str, error: &dyn fmt::Display) -> Self {
        Self::Refused(format!("the message broker refused {what}: {error}"))
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Away => "the message broker cannot be reached",
            Self::Silent => "the message broker does not answer in time",
            Self::Refused(text) => text,
        })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub(super) fn unpublished(error: PublishError) -> Trouble {
    match error.kind() {
        PublishErrorKind::TimedOut => Trouble::Silent,
        _ => Trouble::refused("a notification", &error),
    }
}

/// What the client says of its connection.
#[derive(Default)]
pub(super) struct Events {
    pub changed: Notify,
    pub broke: AtomicBool,
    last_error: Mutex<Option<String>>,
}

impl Events {
    pub(super) fn heard(&self, event: &Event) {
        match event {
            // What went wrong on the way here is over.
            Event::Connected => drop(self.last_error().take()),
            Event::Disconnected | Event::Closed => self.broke.store(true, Ordering::Release),
            Event::ServerError(error) => self.failed(error),
            Event::ClientError(error) => self.failed(error),
            _ => {}
        }
        self.changed.notify_one();
    }

    fn failed(&self, error: &dyn fmt::Display) {
        *self.last_error() = Some(error.to_string());
    }

    fn last_error(&self) -> MutexGuard<'_, Option<String>> {
        self.last_error.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In the words of this program, with those of the client or the broker where there are any: a user who may not do
    /// something gets no answer, and is reported apart.
    pub(super) fn reason(&self, trouble: &Trouble) -> String {
        match &*self.last_error() {
            Some(error) if !matches!(trouble, Trouble::Refused(_)) => format!("{trouble} ({error})"),
            _ => trouble.to_string(),
        }
    }
}
