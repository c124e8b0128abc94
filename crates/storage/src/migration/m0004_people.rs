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
    // U16: how many customers each store makes in an hour.
    Change::CreateTable(NewTable {
        name: "new_customers",
        on: On::Hq,
        columns: "store_id uuid!, hour ts, made big, beyond_since ts?, beyond_at ts?",
        ..NewTable::EMPTY
    }),
    // How many registers of a store have no enrolled till, by its own word.
    Change::AddColumns("store_nodes", "unenrolled big?"),
];
