//! Up to when headquarters has all that a store made.

use tillkeep_model::Instant;
use tillkeep_storage::entity::store_node;
use tillkeep_storage::nodes::Line;
use uuid::Uuid;

use crate::Hq;

/// How fresh the figures of a store are.
pub(crate) struct Freshness {
    pub connected: bool,
    pub last_heard_at: Option<Instant>,
    /// Everything from before then has come, but for what is dead; nothing when the store never said how its outbox stands.
    pub figures_up_to: Option<Instant>,
    /// What waits in its outbox, by its last word.
    pub pending: i64,
    pub dead_lettered: i64,
}

impl Freshness {
    pub(crate) fn new(hq: &Hq, store_id: Uuid, node: &store_node::Model) -> Self {
        let heard = hq.tracker.heard(store_id, node, hq.nodes.id);
        let elsewhere = heard.connection.and_then(|(_, line)| Line::node(line));
        let connected = hq.hub.get(store_id).is_some() || elsewhere.and_then(|node| hq.nodes.name_of(node)).is_some();
        let figures_up_to = heard.said.as_ref().map(|(said_at, said)| {
            // The store wrote the time of its oldest entry, by its own clock.
            let offset = node.clock_offset_ms.unwrap_or_default();
            let oldest = said.outbox.oldest.map(|oldest| oldest.plus_millis(offset.saturating_neg()));
            oldest.map_or(*said_at, |oldest| oldest.min(*said_at))
        });
        let outbox = heard.said.map(|(_, said)| said.outbox).unwrap_or_default();
        Self {
            connected,
            last_heard_at: heard.at,
            figures_up_to,
            pending: outbox.pending,
            dead_lettered: outbox.dead_lettered,
        }
    }
}
