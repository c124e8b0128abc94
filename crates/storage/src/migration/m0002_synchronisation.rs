//! What synchronisation keeps since 0.2.0, beyond the first release. `docs/sync.md` has the rules by their numbers.

use super::step::Change;
use super::table::{NewTable, On};

pub(super) const CHANGES: &[Change] = &[
    // Numbers whose documents went with a store's database (D13).
    Change::CreateTable(NewTable {
        name: "lost_numbers",
        on: On::Both,
        columns: "store_id uuid!, series text!, first big!, last big, noticed_at ts",
        ..NewTable::EMPTY
    }),
    // Processes that run beside their store (D8).
    Change::AddColumns("store_nodes", "refused_copies text=[]"),
];
