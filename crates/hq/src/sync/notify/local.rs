//! The backend within this process: what waits is in memory and bounded, and the one worker tells the sockets.

use std::sync::Arc;

use metrics::gauge;
use tillkeep_http::Clock;
use tillkeep_storage::Change;
use tokio::sync::watch;

use super::jobs::Jobs;
use super::line::{Line, Queue, Standing};
use super::{NotificationQueue, deliver};
use crate::Hq;

pub struct Local {
    sockets: Arc<Jobs>,
    line: Line,
}

impl Local {
    pub fn new(clock: &Clock) -> Self {
        Self { sockets: Arc::new(Jobs::new("sockets")), line: Line::sound(Queue::InProcess, clock) }
    }
}

impl NotificationQueue for Local {
    fn enqueue(&self, changes: &[Change]) {
        self.sockets.add(changes.iter().copied());
    }

    fn tell_sockets(&self, changes: &[Change]) {
        self.enqueue(changes);
    }

    /// They find it out, as there is no way to tell them.
    fn sessions_ended(&self) {}

    fn beside(&self, others: bool) {
        if others { self.line.lacks_broker() } else { self.line.up() }
    }

    fn has_broker(&self) -> bool {
        false
    }

    fn reaches_others(&self) -> bool {
        false
    }

    fn start(&self, hq: &Arc<Hq>) {
        deliver(hq, self.sockets.clone());
    }

    fn standing(&self) -> watch::Receiver<Standing> {
        self.line.watch()
    }

    fn measure(&self) {
        waiting("sockets", &self.sockets);
    }
}

/// Sets the gauge of what waits.
pub fn waiting(to: &'static str, jobs: &Jobs) {
    gauge!("tillkeep_notifications_waiting", "to" => to).set(u32::try_from(jobs.len()).unwrap_or(u32::MAX));
}
