//! Whether a store and headquarters continue where they were, or one of them was reinstalled, restored from a backup or cloned.
//! `docs/sync.md`, rule D8.

use std::collections::BTreeMap;

use tillkeep_http::error::Result;
use tillkeep_model::wire::HandshakeRequest;
use tillkeep_storage::entity::store_node;
use tillkeep_storage::nodes;
use uuid::Uuid;

use crate::Hq;

/// Numbers of a store among which a handshake looks for one that was given twice: more than it gives from one handshake to
/// the next.
const NEWEST: i64 = 5000;

/// What speaks for one of the two having been restored, besides the ticket.
#[derive(Clone, Copy)]
pub(super) struct RestoreEvidence {
    /// HQ's database is another one, or lacks what the store has sent lately.
    pub hq: bool,
    /// The store has given a number twice.
    pub store: bool,
}

impl RestoreEvidence {
    pub(super) async fn find(hq: &Hq, store: Uuid, request: &HandshakeRequest) -> Result<Self> {
        let conn = hq.sync_db().reader();
        let same_epoch = request.epoch.as_ref().is_none_or(|epoch| *epoch == hq.epoch);
        let lacks = nodes::lacks_recent(conn, store, &request.sent).await?;
        let from = request.last_seq.saturating_sub(NEWEST);
        let twice = nodes::numbers_twice(conn, store, &request.node_epoch, from, i64::MAX).await?;
        Ok(Self { hq: !same_epoch || lacks, store: twice })
    }

    /// Whether something has to be looked for: there is evidence, or the ticket is not good.
    pub(super) fn is_doubtful(self, node: &store_node::Model, presented: &str) -> bool {
        self.hq || self.store || given(node, presented).is_none()
    }
}

/// How a store that presents a ticket stands with headquarters.
pub(super) struct Continuity {
    /// The ticket is the newest one.
    pub newest: bool,
    /// Which tickets are good besides the newest one from now on, when the one that came is good.
    good: Option<String>,
    /// Which tickets stay good when the one that came is not.
    kept: String,
    restored: RestoreEvidence,
    /// Neither the store's first handshake nor one that comes late and says what was so before.
    is_news: bool,
}

impl Continuity {
    /// By what is known of the store and the `heads` of headquarters, `late` being the word on a request that was overtaken.
    pub(super) fn judge(
        node: &store_node::Model,
        request: &HandshakeRequest,
        evidence: RestoreEvidence,
        heads: &BTreeMap<String, i64>,
        late: bool,
    ) -> Self {
        let presented = request.ticket.as_deref().unwrap_or_default();
        let ahead = |(name, cursor): (&String, &i64)| heads.get(name).is_some_and(|head| cursor > head);
        // The answer to the last handshakes may have been lost: a ticket that was good then is good still.
        let good = given(node, presented);
        // A store that comes for the first time continues nothing.
        let is_first = request.ticket.is_none() && node.ticket.is_empty();
        Self {
            newest: presented == node.ticket,
            good,
            kept: still_good(node),
            restored: RestoreEvidence { hq: evidence.hq || request.cursors.iter().any(ahead), ..evidence },
            is_news: !late && !is_first,
        }
    }

    /// The two go on from where they were.
    pub(super) const fn is_given(&self) -> bool {
        self.ticket_known() && !self.restored.hq
    }

    /// The store presents the newest ticket, and nothing speaks for one of the two having been restored.
    pub(super) const fn goes_on(&self) -> bool {
        self.newest && self.is_given()
    }

    /// The ticket is good, and the store was not restored.
    const fn ticket_known(&self) -> bool {
        self.ticket_was_given() && !self.restored.store
    }

    /// The store is another one than it was, and headquarters is not.
    pub(super) const fn store_restored(&self) -> bool {
        !self.ticket_known() && !self.restored.hq
    }

    /// The ticket that came was given out, whatever else is wrong.
    pub(super) const fn ticket_was_given(&self) -> bool {
        self.good.is_some()
    }

    /// Another installation than before answers to the name of the store.
    pub(super) const fn is_other_installation(&self) -> bool {
        self.is_news && !self.ticket_known()
    }

    /// Which tickets are good besides the one that is given out now.
    pub(super) fn last_tickets(&self) -> String {
        match &self.good {
            Some(good) if self.is_given() => good.clone(),
            // One that is not known takes nothing from the process that has the good ones: it may come late.
            None if !self.restored.hq => self.kept.clone(),
            _ => String::new(),
        }
    }

    /// Tells the operator when the two do not go on from where they were.
    pub(super) fn report(&self, store: &str) {
        if self.is_news && !self.is_given() {
            tracing::warn!(
                store,
                ticket_known = self.ticket_known(),
                hq_restored = self.restored.hq,
                "this store and headquarters do not continue where they were: one of them was reinstalled, restored from a \
                 backup or cloned"
            );
        }
    }
}

/// Tickets that were given out and never came back; of a line that loses more answers, the oldest are forgotten.
const GIVEN: usize = 16;

/// Which tickets are good besides the newest one when `presented` came back: itself and those that were given out after
/// it, with answers that may still be under way. `None` when it is not good any more.
fn given(node: &store_node::Model, presented: &str) -> Option<String> {
    let good = nodes::tickets(node);
    let at = good.iter().position(|ticket| !presented.is_empty() && *ticket == presented)?;
    let from = at.max(good.len().saturating_sub(GIVEN));
    Some(good.get(from..)?.join(" "))
}

/// All that are good now.
fn still_good(node: &store_node::Model) -> String {
    let good = nodes::tickets(node);
    good[good.len().saturating_sub(GIVEN)..].join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ticket_given_out_since_the_last_one_that_came_back_is_good() {
        let mut node = store_node::Model { ticket: "a".to_owned(), ..store_node::Model::default() };
        assert_eq!(given(&node, ""), None, "a new store has none");
        for next in ["b", "c"] {
            // Both answers are lost, or the request arrives twice.
            node.last_ticket = given(&node, "a").expect("good");
            node.ticket = next.to_owned();
        }
        assert_eq!(node.last_ticket, "a b");
        node.last_ticket = given(&node, "b").expect("the store took the first of the two answers");
        node.ticket = "d".to_owned();
        assert_eq!(given(&node, "a"), None, "an older copy of the store");
        assert_eq!(given(&node, "c").as_deref(), Some("c d"));
    }
}
