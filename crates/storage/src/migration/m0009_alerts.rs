//! What headquarters tells other programs: what is wrong, where that is told to, and how far that is (`docs/operations.md`, "Alerts by
//! webhook"); and sales, to whom and up to which place (`docs/integrate.md`, "Sales by webhook").

use super::step::Change;
use super::table::{NewTable, On};

pub(super) const CHANGES: &[Change] = &[
    Change::CreateTable(NewTable {
        name: "alert_hooks",
        on: On::Hq,
        columns: "id uuid!, created_at ts, updated_at ts, url text, secret text, what text, kinds json, all_stores bool, is_active bool, \
            version big, last_at ts?, last_status int?, last_text text?, last_attempts int?, told_to big, sending_to big?, event_id uuid?, \
            attempts int, due_at ts",
        indexes: &["created_at, id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "alert_hook_stores",
        on: On::Hq,
        columns: "hook_id uuid!, store_id uuid!",
        ..NewTable::EMPTY
    }),
    // A row for each time that a sale was stored. It has no place until after its commit, so that none appears below one that was told.
    Change::CreateTable(NewTable {
        name: "sale_news",
        on: On::Hq,
        columns: "batch uuid!, sale_id uuid!, store_id uuid, at ts, place big?",
        indexes: &["place", "batch, sale_id WHERE place IS NULL"],
        ..NewTable::EMPTY
    }),
    // `open_key` has kind and subject while an alert fires: there is one at a time, whichever server opens it.
    Change::CreateTable(NewTable {
        name: "alerts",
        on: On::Hq,
        columns: "id uuid!, kind text, subject text, store_id uuid?, severity text, text text, state text, since ts, at ts, \
            ended_at ts?, open_key text?",
        conflict_keys: &["open_key"],
        indexes: &["at, id", "state, at, id", "kind, at, id", "severity, at, id", "store_id, at, id", "since, id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "alert_deliveries",
        on: On::Hq,
        columns: "id uuid!, event_id uuid, alert_id uuid, hook_id uuid, created_at ts, state text, body text, attempts int, \
            first_at ts?, due_at ts, last_at ts?, last_status int?, last_text text?",
        indexes: &["due_at WHERE state = 'waiting'", "hook_id, alert_id", "alert_id", "created_at"],
        ..NewTable::EMPTY
    }),
];
