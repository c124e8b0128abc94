//! What keeps the edges right since 0.2.0: money, numbers, verdicts and copies. `docs/sync.md` has the rules by their numbers.

use super::step::Change;
use super::table::{NewTable, On};

pub(super) const CHANGES: &[Change] = &[
    // What a store says that is wrong with it.
    Change::AddColumns("store_nodes", "alarms text="),
    // D15: the ends of the audit logs of stores, as headquarters heard them.
    Change::CreateTable(NewTable {
        name: "audit_heads",
        on: On::Hq,
        columns: "store_id uuid!, node_epoch text!, day text!, seq big, hash text",
        ..NewTable::EMPTY
    }),
    // D2: what a store has pulled of types whose rows make sense only together, until all of it is here.
    Change::CreateTable(NewTable {
        name: "staged_rows",
        on: On::Store,
        columns: "entity_type text!, row_id uuid!, content text?",
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "staged_cursors",
        on: On::Store,
        columns: "entity_type text!, version big, reloading bool, tag uuid?",
        ..NewTable::EMPTY
    }),
    // Requests with a key that are being answered, at whichever server of headquarters. Gone with the answer.
    Change::CreateTable(NewTable {
        name: "idempotency_claims",
        on: On::Hq,
        columns: "id text!, holder uuid, expires_at ts",
        ..NewTable::EMPTY
    }),
    Change::AddColumns("hq_nodes", "leaving bool=false"),
];
