//! What keeps the edges right since 0.2.0: money, numbers, verdicts and copies. `docs/sync.md` has the rules by their numbers.

use super::step::Change;
use super::table::{NewTable, On};

pub(super) const CHANGES: &[Change] = &[
    // What a store says that is wrong with it.
    Change::AddColumns("store_nodes", "alarms text="),
    // Which of a person's sessions goes when there are too many.
    Change::AddColumns("refresh_token_families", "last_used_at ts?"),
    // Attempts whose PIN is being looked at: those that nobody judged because the server died count for nothing.
    Change::CreateTable(NewTable {
        name: "pin_attempts_under_way",
        on: On::Both,
        columns: "attempt_id uuid!, counter_id uuid!, judge_id uuid, begun_at ts, day ts, minute_at ts, in_a_row int",
        indexes: &["counter_id"],
        ..NewTable::EMPTY
    }),
];
