//! What keeps accounts their owners': second factors, PINs that are worth nothing to a finder. `docs/security.md`.

use super::step::Change;
use super::table::{NewTable, On};

pub(super) const CHANGES: &[Change] = &[
    // Browsers and addresses from which somebody signed in before: what strangers try does not make them wait.
    Change::CreateTable(NewTable {
        name: "known_places",
        on: On::Hq,
        columns: "id uuid!, user_id uuid, mark text, created_at ts, last_at ts",
        conflict_keys: &["user_id, mark"],
        indexes: &["mark"],
        ..NewTable::EMPTY
    }),
    // PINs that were made for somebody, by whom, and how long PINs are.
    Change::CreateTable(NewTable {
        name: "user_pins",
        on: On::Hq,
        columns: "user_id uuid!, made_at ts?, counts_for uuid?, digits small?",
        ..NewTable::EMPTY
    }),
];
