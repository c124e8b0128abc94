//! What keeps the edges right since 0.2.0: money, numbers, verdicts and copies. `docs/sync.md` has the rules by their numbers.

use super::step::Change;
use super::table::Key;

pub(super) const CHANGES: &[Change] = &[
    // What a store says that is wrong with it.
    Change::AddColumns("store_nodes", "alarms text="),
    // U12: the few types that stores could not keep, beside any number of entries.
    Change::AddIndex("sync_log", Key::Plain("store_id, entity_type WHERE direction = 'pull' AND status = 'failed'")),
];
