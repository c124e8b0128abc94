//! What synchronisation keeps since 0.2.0, beyond the first release. `docs/sync.md` has the rules by their numbers.

use super::step::Change;
use super::table::{NewTable, On};

pub(super) const CHANGES: &[Change] = &[
    // Rows that headquarters cannot read and stores were not sent.
    Change::CreateTable(NewTable {
        name: "unreadable_rows",
        on: On::Hq,
        columns: "entity_type text!, row_id uuid!, field text?, noticed_at ts",
        ..NewTable::EMPTY
    }),
];
