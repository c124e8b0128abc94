//! What synchronisation keeps since 0.2.0, beyond the first release. `docs/sync.md` has the rules by their numbers.

use super::step::Change;

pub(super) const CHANGES: &[Change] = &[
    // U2: an entry on which nobody gives a verdict waits alone.
    Change::AddColumns("sync_outbox", "waits_alone_since ts?"),
    // U11: the columns that an envelope is about.
    Change::AddColumns("sync_outbox", "changed text?"),
    Change::AddColumns("sync_outbox_sent", "changed text?"),
];
