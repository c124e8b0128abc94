//! What keeps the edges right since 0.2.0: money, numbers, verdicts and copies. `docs/sync.md` has the rules by their numbers.

use std::time::UNIX_EPOCH;

use sea_orm::sea_query::{Alias, Expr, ExprTrait, Query, UpdateStatement};
use tillkeep_model::Instant;

use super::step::Change;
use super::table::{Key, NewTable, On};

/// How far ahead of headquarters a time was believed when this step was made. It does not follow what is believed later.
const BELIEVED_AHEAD_MS: i64 = 2 * 24 * 3600 * 1000;

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
    // D2: what a store has pulled of types with rows that make sense only together, until all of it is here.
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
    // U9: what came in with an id that another store had used is kept under another one.
    Change::CreateTable(NewTable {
        name: "kept_ids",
        on: On::Hq,
        columns: "kept_id uuid!, store_id uuid, entity_type text, sent_id uuid",
        indexes: &["store_id, entity_type, sent_id"],
        ..NewTable::EMPTY
    }),
    // Who names such a row, or a line of it, is looked for.
    Change::AddIndex("sale_items", Key::Lists("original_sale_item_id WHERE original_sale_item_id IS NOT NULL")),
    Change::AddIndex("sales", Key::Lists("original_sale_id WHERE original_sale_id IS NOT NULL")),
    // U12: documents that a user resolved are at their store alone, and what they put on an account is owed.
    Change::CreateTable(NewTable {
        name: "unapplied_documents",
        on: On::Hq,
        columns: "store_id uuid!, entity_type text!, entity_id uuid!, session_id uuid?, number text?, customer_id uuid?, \
            on_account money, noted_at ts",
        indexes: &["session_id", "customer_id"],
        ..NewTable::EMPTY
    }),
    Change::AddColumns("account_charges", "stays bool=false"),
    // U7: what is dated in the future is compared by the clock of headquarters, as if it had come so.
    Change::AddColumns("sync_log", "said_at ts?"),
    Change::AddColumns("sync_log_kept", "said_at ts?"),
    Change::Fill("sync_log", || heard("sync_log")),
    Change::Fill("sync_log_kept", || heard("sync_log_kept")),
    Change::Fill("sync_log_nodes", || {
        let mut update = future("sync_log_nodes", "envelope_until");
        update.value(Alias::new("envelope_until"), Expr::col(Alias::new("kept_until"))).to_owned()
    }),
    Change::AddIndex("sync_log", Key::Lists("store_id, entity_id, said_at WHERE said_at IS NOT NULL")),
    Change::AddIndex("sync_log_kept", Key::Lists("entity_id, store, said_at WHERE said_at IS NOT NULL")),
    Change::FillAtHq("customers", || made_now("customers", "created_at")),
    Change::FillAtHq("customers", || made_now("customers", "updated_at")),
    Change::FillAtHq("purchase_orders", || made_now("purchase_orders", "created_at")),
    Change::FillAtHq("purchase_orders", || made_now("purchase_orders", "updated_at")),
    Change::FillAtHq("purchase_order_items", || made_now("purchase_order_items", "created_at")),
    Change::FillAtHq("purchase_order_items", || made_now("purchase_order_items", "updated_at")),
    Change::FillAtHq("transfers", || made_now("transfers", "created_at")),
    Change::FillAtHq("transfers", || made_now("transfers", "updated_at")),
    Change::FillAtHq("store_product_dynamic", || now_in("store_product_dynamic", "last_sold_at")),
    Change::FillAtHq("store_product_dynamic", || now_in("store_product_dynamic", "last_received_at")),
    // U12: the few types that stores could not keep, beside any number of entries.
    Change::AddIndex("sync_log", Key::Plain("store_id, entity_type WHERE direction = 'pull' AND status = 'failed'")),
    // Which of a person's sessions goes when there are too many.
    Change::AddColumns("refresh_token_families", "last_used_at ts?"),
    // Attempts while their PINs are looked at: those that were not judged because the server died count for nothing.
    Change::CreateTable(NewTable {
        name: "pin_attempts_under_way",
        on: On::Both,
        columns: "attempt_id uuid!, counter_id uuid!, judge_id uuid, begun_at ts, day ts, minute_at ts, in_a_row int",
        indexes: &["counter_id"],
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
    // How far the clock of a server of headquarters is ahead of that of the database.
    Change::AddColumns("hq_nodes", "clock_offset_ms big?"),
];

/// The clock of this machine: a step is made once, when a server starts that has no other clock yet.
#[expect(clippy::disallowed_methods, reason = "a step is handed no time")]
fn now() -> Instant {
    let since_epoch = std::time::SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Instant::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or_default())
}

/// A change of the rows with a `column` later than can be.
fn future(table: &str, column: &str) -> UpdateStatement {
    let mut update = Query::update();
    update.table(Alias::new(table)).and_where(Expr::col(Alias::new(column)).gt(now().plus_millis(BELIEVED_AHEAD_MS)));
    update
}

/// Envelopes are as old as headquarters has known them; what they said stays beside that.
fn heard(table: &str) -> UpdateStatement {
    let column = |name: &str| Expr::col(Alias::new(name));
    let mut update = future(table, "envelope_at");
    update.value(Alias::new("said_at"), column("envelope_at"));
    update.value(Alias::new("envelope_at"), column("first_seen_at")).to_owned()
}

fn now_in(table: &str, column: &str) -> UpdateStatement {
    future(table, column).value(Alias::new(column), now()).to_owned()
}

/// As [`now_in`], of rows that stores pull.
fn made_now(table: &str, column: &str) -> UpdateStatement {
    now_in(table, column).value(Alias::new("sync_version"), 0).to_owned()
}
