//! The backend within this process: what waits is in memory and bounded, and the one worker tells the sockets.

use std::sync::Arc;

use tillkeep_http::Clock;
use tillkeep_storage::Change;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::jobs::Jobs;
use super::line::{Line, Queue, Standing};
use super::queue::{Heard, NotificationQueue};

pub(super) struct Local {
    sockets: Arc<Jobs>,
    line: Line,
}

impl Local {
    pub(super) fn new(clock: &Clock) -> Self {
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

    fn sockets(&self) -> &Arc<Jobs> {
        &self.sockets
    }

    fn listen(&self, _: &CancellationToken) -> Option<Heard> {
        None
    }

    fn standing(&self) -> watch::Receiver<Standing> {
        self.line.watch()
    }

    fn measure(&self) {
        self.sockets.measure();
    }
}
