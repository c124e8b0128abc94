//! What a notification queue does, whichever backend it has.

use std::sync::Arc;

use tillkeep_storage::Change;
use tillkeep_storage::registry::{self, Scope};
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::jobs::Jobs;
use super::line::Standing;

/// Takes what was committed, and has it delivered.
pub trait NotificationQueue: Send + Sync {
    /// Takes note of committed changes and returns at once, in whatever state the backend is.
    fn enqueue(&self, changes: &[Change]);

    /// Notifies the sockets of this server alone: another one has notified the rest.
    fn tell_sockets(&self, changes: &[Change]);

    /// Sessions have ended: the other servers are to read them again.
    fn sessions_ended(&self);

    /// Whether other servers run on the same database.
    fn beside(&self, others: bool);

    /// Whether it has a broker, which may be away.
    fn has_broker(&self) -> bool;

    /// Whether the other servers hear of changes at once.
    fn reaches_others(&self) -> bool;

    /// Of what the sockets of this server are still to be notified.
    fn sockets(&self) -> &Arc<Jobs>;

    /// Begins to speak with the other servers of headquarters until `stop`: what they say comes out here. Nothing where there
    /// is no way to them.
    fn listen(&self, stop: &CancellationToken) -> Option<Heard>;

    /// Whether it is degraded, and when that changes.
    fn standing(&self) -> watch::Receiver<Standing>;

    /// Sets the gauges, for a client that asks for `/metrics`.
    fn measure(&self);
}

/// What other servers of headquarters say. Only hints ask the database and may have to wait for it; nothing else waits behind
/// them.
pub struct Heard {
    /// Types have new versions, as far as the database bears that out.
    pub hints: mpsc::Receiver<Vec<Change>>,
    pub signals: Arc<Signals>,
}

#[derive(Default)]
pub struct Signals {
    /// What they changed before this moment was not heard.
    pub nothing_before: Notify,
    /// Sessions of people have ended.
    pub sessions_ended: Notify,
}

/// Whether a job stands for all stores of a type with versions of each store: what did not fit one by one.
pub(crate) fn is_for_every_store(job: &Change) -> bool {
    job.store.is_none() && registry::find(job.entity_type).is_some_and(|entity| entity.scope == Scope::Store)
}
