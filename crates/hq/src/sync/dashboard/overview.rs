//! How all stores stand at one moment: those that the caller may see, and what they add up to.

use serde::Serialize;
use tillkeep_model::Instant;
use utoipa::ToSchema;

use crate::Hq;
use crate::live::followed::{Followed, ReplicaStanding};
use crate::live::nodes::NodeInfo;
use crate::live::overview::Reading;
use crate::live::store_state::StoreState;
use crate::live::unreadable::UnreadableRow;
use crate::notify::Standing;
use crate::sync::servers;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Dashboard {
    /// When how the stores stand was read.
    generated_at: Instant,
    summary: Summary,
    pub(super) stores: Vec<StoreState>,
    /// The servers of headquarters that run.
    nodes: Vec<NodeInfo>,
    /// Rows that cannot be read here, and that stores go without until they are mended.
    unreadable: Vec<UnreadableRow>,
}

#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DashboardSummary)]
struct Summary {
    stores: usize,
    connected: usize,
    pending: i64,
    failed: i64,
    dead_lettered: i64,
    warnings: i64,
    /// Stores that are connected and with an oldest entry that has waited for more than five minutes.
    outbox_stuck: usize,
    /// Stores of which two copies run at once.
    running_twice: usize,
    /// Stores that say that something is wrong with them.
    alarmed: usize,
    /// Stores that could not store some type.
    unstored: usize,
    /// Active stores that were never heard of.
    never_started: usize,
    notifications: Standing,
    /// Null without a read replica.
    read_replica: Option<ReplicaStanding>,
}

impl Dashboard {
    pub(super) fn new(hq: &Hq, Reading { at, states: stores }: Reading) -> Self {
        let notifications = hq.notifications.standing().borrow().clone();
        let read_replica = hq.replica.get().map(Followed::standing);
        let mut summary = Summary { stores: stores.len(), notifications, read_replica, ..Summary::default() };
        for state in &stores {
            summary.connected += usize::from(state.connection.connected);
            summary.pending += state.outbox_pending;
            summary.failed += state.error_count;
            summary.dead_lettered += state.dead_lettered;
            summary.warnings += state.warnings;
            summary.outbox_stuck += usize::from(state.outbox_stuck);
            summary.running_twice += usize::from(state.runs_twice_since.is_some());
            summary.never_started += usize::from(state.active && state.first_heard_at.is_none());
            summary.alarmed += usize::from(!state.alarms.is_empty());
            summary.unstored += usize::from(!state.unstored.is_empty());
        }
        let unreadable = hq.unreadable.rows().borrow().clone();
        let nodes = hq.nodes.list(servers::own(hq, hq.clock.now()));
        Self { generated_at: at, summary, stores, nodes, unreadable }
    }
}
