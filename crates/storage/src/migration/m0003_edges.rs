//! What keeps the edges right since 0.2.0: money, numbers, verdicts and copies. `docs/sync.md` has the rules by their numbers.

use super::step::Change;

pub(super) const CHANGES: &[Change] = &[
    // What a store says that is wrong with it.
    Change::AddColumns("store_nodes", "alarms text="),
];
