//! What keeps accounts their owners': second factors, PINs that are worth nothing to a finder. `docs/security.md`.

use super::step::Change;
use super::table::{NewTable, On};

pub(super) const CHANGES: &[Change] = &[
    // When the second factor was shown last, or the PIN of whoever has none.
    Change::AddColumns("refresh_token_families", "factor_at ts?"),
    // Opened by a PIN without a name.
    Change::AddColumns("refresh_token_families", "by_pin_alone bool=false"),
    Change::CreateTable(NewTable {
        name: "second_factors",
        on: On::Hq,
        columns: "id uuid!, user_id uuid >users, kind text, name text, secret text, last_step big?, created_at ts, \
            last_used_at ts?",
        indexes: &["user_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "recovery_codes",
        on: On::Hq,
        columns: "id uuid!, user_id uuid >users, code_hash text, created_at ts, used_at ts?",
        indexes: &["user_id"],
        ..NewTable::EMPTY
    }),
    // What somebody is asked for to show a second factor, or to set one up.
    Change::CreateTable(NewTable {
        name: "factor_challenges",
        on: On::Hq,
        columns: "id uuid!, user_id uuid >users, purpose text, session_id uuid?, state text, attempt text?, created_at ts, \
            expires_at ts",
        indexes: &["user_id", "expires_at"],
        ..NewTable::EMPTY
    }),
    // How many codes were used: a server that knows of more than its database is on one that was restored.
    Change::CreateTable(NewTable { name: "factor_uses", on: On::Hq, columns: "id text!, uses big", ..NewTable::EMPTY }),
    // Browsers and addresses from which somebody signed in before: what strangers try does not make them wait.
    Change::CreateTable(NewTable {
        name: "known_places",
        on: On::Hq,
        columns: "id uuid!, user_id uuid, mark text, created_at ts, last_at ts",
        conflict_keys: &["user_id, mark"],
        indexes: &["mark"],
        ..NewTable::EMPTY
    }),
];
