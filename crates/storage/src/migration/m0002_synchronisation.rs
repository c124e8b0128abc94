//! What synchronisation keeps since 0.2.0, beyond the first release. `docs/sync.md` has the rules by their numbers.

use super::step::Change;
use super::table::{NewTable, On};

pub(super) const CHANGES: &[Change] = &[
    // The tags of versions, before anything here gives rows new ones.
    Change::CreateTable(NewTable {
        name: "sync_tags",
        on: On::Hq,
        columns: "entity_type text!, scope uuid!, version big!, tag uuid",
        indexes: &["tag"],
        ..NewTable::EMPTY
    }),
    Change::AddColumns("sequences", "tag uuid?"),
];
