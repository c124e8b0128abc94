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
    // What products and customers are found by, in the order in which they are shown, with what else they are narrowed to; the few
    // rows without such a text are found by themselves. Stores have none. The lists with deleted rows have an index of their own.
    Change::AddColumns("products", "search_text text?"),
    Change::DropIndex("products", Key::Lists("name, id, deleted_at WHERE deleted_at IS NULL")),
    Change::AddIndex("products", Key::Lists("name, id, deleted_at, is_active, search_text WHERE deleted_at IS NULL")),
    Change::AddIndex("products", Key::Lists("id WHERE search_text IS NULL")),
    Change::AddIndex("products", Key::Lists("name, id")),
    Change::AddIndex("products", Key::Lists("sku, id, deleted_at")),
    Change::AddIndex("products", Key::Lists("price, id, deleted_at")),
    Change::AddIndex("products", Key::Lists("created_at, id, deleted_at")),
    Change::AddIndex("products", Key::Lists("updated_at, id, deleted_at")),
    Change::DropIndex("products", Key::Plain("department_id")),
    Change::AddIndex("products", Key::AtStores("department_id")),
    Change::AddIndex("products", Key::Lists("department_id, name, id, deleted_at")),
    Change::DropIndex("products", Key::Lists("tax_group_id")),
    Change::AddIndex("products", Key::Lists("tax_group_id, name, id, deleted_at")),
    Change::AddIndex(
        "products",
        Key::Lists("default_supplier_id, name, id, deleted_at WHERE default_supplier_id IS NOT NULL"),
    ),
    Change::AddColumns("customers", "search_text text?"),
    Change::AddIndex(
        "customers",
        Key::Lists("customer_number, id, deleted_at, is_active, tax_exempt, search_text WHERE deleted_at IS NULL"),
    ),
    Change::AddIndex("customers", Key::Lists("id WHERE search_text IS NULL")),
    Change::AddIndex("customers", Key::Lists("customer_number, id")),
    Change::AddIndex("customers", Key::Lists("last_name?, id, deleted_at")),
    Change::AddIndex("customers", Key::Lists("first_name?, id, deleted_at")),
    Change::AddIndex("customers", Key::Lists("company_name?, id, deleted_at")),
    Change::AddIndex("customers", Key::Lists("created_at, id, deleted_at")),
    Change::AddIndex("customers", Key::Lists("updated_at, id, deleted_at")),
    Change::DropIndex("customers", Key::Plain("origin_store_id")),
    Change::AddIndex("customers", Key::Lists("origin_store_id, customer_number, id, deleted_at")),
    // Those who are the same customer, for what one bought.
    Change::AddIndex("customers", Key::Plain("merged_into_id WHERE merged_into_id IS NOT NULL")),
    // Changes of stock by hand and drawers are few beside sales, so that a push hardly pays for these.
    Change::DropIndex("inventory_adjustments", Key::Lists("store_id")),
    Change::AddIndex("inventory_adjustments", Key::Lists("store_id, business_date, occurred_at, id, reason, user_id")),
    Change::AddIndex("inventory_adjustments", Key::Lists("business_date, occurred_at, id, reason, user_id")),
    Change::AddIndex("inventory_adjustments", Key::Lists("occurred_at, id")),
    Change::AddIndex("inventory_adjustments", Key::Lists("created_at, id")),
    Change::AddIndex("inventory_adjustments", Key::Lists("quantity_change, id")),
    // With what the sums of a list of drawers add up.
    Change::DropIndex("register_sessions", Key::Plain("store_id, business_date")),
    Change::AddIndex("register_sessions", Key::AtStores("store_id, business_date")),
    Change::AddIndex(
        "register_sessions",
        Key::Lists(
            "store_id, business_date, opened_at, id, status, register_id, register_code, forced, counted_cash, \
             cash_variance",
        ),
    ),
    Change::AddIndex(
        "register_sessions",
        Key::Lists("business_date, opened_at, id, status, register_id, register_code"),
    ),
    Change::AddIndex("register_sessions", Key::Lists("opened_at, id")),
    Change::AddIndex("register_sessions", Key::Lists("created_at, id")),
    Change::AddIndex("register_sessions", Key::Lists("session_number, id")),
    // No push writes there. At a store each sale does, and a list of its log goes through it.
    Change::AddIndex("audit_log", Key::Lists("action, seq")),
    Change::AddIndex("audit_log", Key::Lists("entity_type, seq")),
    Change::AddIndex("audit_log", Key::Lists("entity_id, seq")),
    Change::AddIndex("audit_log", Key::Lists("approver_id, seq WHERE approver_id IS NOT NULL")),
    Change::AddIndex("audit_log", Key::Lists("terminal_id, seq WHERE terminal_id IS NOT NULL")),
    // A store has few sales beside a chain, and each index costs its tills: one that holds all that its list asks about.
    Change::AddIndex(
        "sales",
        Key::AtStores(
            "created_at, id, receipt_number, customer_name, status, sale_type, cashier_user_id, business_date, \
             register_session_id, total_amount",
        ),
    ),
    Change::AddIndex(
        "inventory_adjustments",
        Key::AtStores("created_at, id, store_id, reason, product_id, user_id, business_date, quantity_change"),
    ),
    // The few entries that were refused, among all that wait for a line.
    Change::AddIndex("sync_outbox", Key::Plain("attempts, seq WHERE attempts > 0")),
    Change::AddIndex("sync_outbox", Key::Plain("waits_alone_since WHERE waits_alone_since IS NOT NULL")),
];
