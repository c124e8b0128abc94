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
    // Sales of a tender that few were paid with, and how many there are of any other.
    Change::AddIndex("sale_payments", Key::Lists("tender_code, sale_id")),
    // The newest error of each store, among all types of all stores.
    Change::AddIndex("sync_status", Key::Plain("store_id, last_error_at WHERE last_error_at IS NOT NULL")),
    // The checker goes along the movements of a product without sorting all of them for each page.
    Change::DropIndex("stock_movements", Key::Plain("store_id, product_id")),
    Change::AddIndex("stock_movements", Key::Plain("store_id, product_id, id")),
    // What products and customers are found by, in the order in which they are shown; the few rows without such a text are found by
    // themselves. Stores have none.
    Change::AddColumns("products", "search_text text?"),
    Change::DropIndex("products", Key::Lists("name, id, deleted_at WHERE deleted_at IS NULL")),
    Change::AddIndex("products", Key::Lists("name, id, deleted_at, search_text WHERE deleted_at IS NULL")),
    Change::AddIndex("products", Key::Lists("id WHERE search_text IS NULL")),
    Change::AddColumns("customers", "search_text text?"),
    Change::AddIndex("customers", Key::Lists("customer_number, id, deleted_at, search_text WHERE deleted_at IS NULL")),
    Change::AddIndex("customers", Key::Lists("id WHERE search_text IS NULL")),
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
