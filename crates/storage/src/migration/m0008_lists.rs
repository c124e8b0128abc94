//! What long lists are read along: `docs/performance.md`, P10.

use super::step::Change;
use super::table::Key;

pub(super) const CHANGES: &[Change] = &[
    // Headquarters: whatever a list of sales can be narrowed to is counted from an index, and read in the order of one.
    Change::DropIndex("sales", Key::Lists("store_id, completed_at, id")),
    Change::AddIndex(
        "sales",
        Key::Lists("store_id, completed_at, id, business_date, status, sale_type, register_code, cashier_user_id"),
    ),
    Change::DropIndex("sales", Key::Plain("business_date, store_id")),
    Change::AddIndex("sales", Key::Plain("business_date, store_id, completed_at, id")),
    Change::DropIndex("sales", Key::Lists("completed_at, id")),
    Change::AddIndex("sales", Key::Lists("completed_at, id, business_date, status, sale_type, register_code")),
    // The few that are not as most are. An index of all of them would be taken for a choice of few: SQLite has no figures of how
    // many share a value, and would leave an index of one sale or one day for it.
    Change::AddIndex("sales", Key::Lists("status, completed_at, id WHERE status <> 'completed'")),
    Change::AddIndex("sales", Key::Lists("sale_type, completed_at, id WHERE sale_type <> 'sale'")),
    Change::AddIndex("sales", Key::Lists("receipt_number, id")),
    Change::AddIndex("sales", Key::Lists("total_amount, id")),
    Change::DropIndex("sale_payments", Key::Plain("sale_id")),
    Change::AddIndex("sale_payments", Key::Plain("sale_id, tender_code")),
    // A store has few sales beside a chain, and each index costs its tills: one that holds all that its list asks about.
    Change::AddIndex(
        "sales",
        Key::AtStores(
            "created_at, id, receipt_number, customer_name, status, sale_type, cashier_user_id, business_date, \
             register_session_id, total_amount",
        ),
    ),
    // The few entries that were refused, among all that wait for a line.
    Change::AddIndex("sync_outbox", Key::Plain("attempts, seq WHERE attempts > 0")),
    Change::AddIndex("sync_outbox", Key::Plain("waits_alone_since WHERE waits_alone_since IS NOT NULL")),
];
