//! What synchronisation keeps since 0.2.0, beyond the first release. `docs/sync.md` has the rules by their numbers.

use sea_orm::sea_query::{Alias, Expr, ExprTrait, Query};

use super::step::Change;
use super::table::{Key, NewTable, On};

pub(super) const CHANGES: &[Change] = &[
    // The tags of versions, before anything here gives rows new ones.
    Change::CreateTable(NewTable {
        name: "sync_tags",
        on: On::Hq,
        columns: "entity_type text!, scope uuid!, version big!, tag uuid",
        indexes: &["tag"],
        ..NewTable::EMPTY
    }),
    Change::AddColumns("sequences", "tag uuid?"),
    // Copies of the default price that the first release left behind when the price changed beside a first sale.
    Change::Fill("store_product_dynamic", || {
        let row = "FROM products p WHERE p.id = store_product_dynamic.product_id";
        let mut update = Query::update();
        update.table(Alias::new("store_product_dynamic")).value(Alias::new("sync_version"), 0);
        update.value(Alias::new("price"), Expr::cust(format!("(SELECT p.price {row})")));
        update.and_where(Expr::cust(format!(
            "has_price_override = FALSE AND EXISTS (SELECT 1 {row} AND p.price <> store_product_dynamic.price)"
        )));
        update
    }),
    // U2: an entry on which no verdict is given waits alone.
    Change::AddColumns("sync_outbox", "waits_alone_since ts?"),
    // Rows that headquarters cannot read and stores were not sent.
    Change::CreateTable(NewTable {
        name: "unreadable_rows",
        on: On::Hq,
        columns: "entity_type text!, row_id uuid!, field text?, noticed_at ts",
        ..NewTable::EMPTY
    }),
    // The store decides what a line did to the stock and to its average cost.
    Change::AddColumns("sale_items", "tracked bool?, average_cost_after money?"),
    Change::AddColumns("inventory_adjustments", "average_cost_after money?"),
    Change::CreateTable(NewTable {
        name: "node_places",
        on: On::Hq,
        columns: "store_id uuid!, node_epoch text!, place big",
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "average_sources",
        on: On::Hq,
        columns: "store_id uuid!, product_id uuid!, place big, seq big",
        ..NewTable::EMPTY
    }),
    // U11: the columns that an envelope is about.
    Change::AddColumns("sync_outbox", "changed text?"),
    Change::AddColumns("sync_outbox_sent", "changed text?"),
    // Numbers stay there for good: what is asked of them must not read all of them.
    Change::AddIndex("sync_outbox_sent", Key::Plain("entity_type, entity_id")),
    Change::AddIndex("sync_outbox_sent", Key::Plain("node_epoch, seq, entity_type WHERE payload <> ''")),
    // Numbers of documents that went with a store's database (D14).
    Change::CreateTable(NewTable {
        name: "lost_numbers",
        on: On::Both,
        columns: "store_id uuid!, series text!, first big!, last big, noticed_at ts",
        ..NewTable::EMPTY
    }),
    // The processes of a store, and those that run beside it (D8).
    Change::AddColumns("store_nodes", "processes text="),
    // Only headquarters asks for rows by their versions, and for those of one store among many.
    Change::DropIndexAtStores("stores", "sync_version"),
    Change::DropIndexAtStores("departments", "sync_version"),
    Change::DropIndexAtStores("tax_rates", "sync_version"),
    Change::DropIndexAtStores("tax_groups", "sync_version"),
    Change::DropIndexAtStores("tax_group_rates", "sync_version"),
    Change::DropIndexAtStores("suppliers", "sync_version"),
    Change::DropIndexAtStores("tenders", "sync_version"),
    Change::DropIndexAtStores("products", "sync_version"),
    Change::DropIndexAtStores("users", "sync_version"),
    Change::DropIndexAtStores("roles", "sync_version"),
    Change::DropIndexAtStores("user_store_roles", "sync_version"),
    Change::DropIndexAtStores("customers", "sync_version"),
    Change::DropIndexAtStores("product_suppliers", "sync_version"),
    Change::DropIndexAtStores("product_specials", "sync_version"),
    Change::DropIndexAtStores("sales_reps", "sync_version"),
    Change::DropIndexAtStores("store_product_dynamic", "sync_version"),
    Change::DropIndexAtStores("purchase_orders", "sync_version"),
    Change::DropIndexAtStores("purchase_order_items", "sync_version"),
    Change::DropIndexAtStores("transfers", "sync_version"),
    Change::DropIndexAtStores("store_product_dynamic", "store_id, sync_version"),
    Change::DropIndexAtStores("purchase_orders", "store_id, sync_version"),
    Change::DropIndexAtStores("purchase_order_items", "store_id, sync_version"),
    Change::DropIndexAtStores("transfers", "store_id, sync_version"),
    Change::DropIndexAtStores("store_product_dynamic", "product_id"),
    Change::DropIndexAtStores("sales", "store_id, register_code, receipt_number"),
    Change::DropIndexAtStores("sale_items", "product_id"),
    Change::DropIndexAtStores("inventory_adjustments", "store_id"),
    Change::DropIndexAtStores("register_sessions", "store_id, register_code, session_number"),
    Change::DropIndexAtStores("purchase_orders", "store_id"),
    Change::DropIndexAtStores("purchase_order_items", "store_id"),
    // No store asks which products have a tax group.
    Change::DropIndexAtStores("products", "tax_group_id"),
    // The lists of headquarters, in the order in which they are shown; of products with what tells how many there are.
    Change::AddIndex("products", Key::Lists("name, id, deleted_at WHERE deleted_at IS NULL")),
    Change::AddIndex("sales", Key::Lists("completed_at, id")),
    Change::AddIndex("sales", Key::Lists("store_id, completed_at, id")),
    Change::AddIndex("sales", Key::Lists("completed_at, id, flags WHERE flags <> '[]'")),
    // Tills that a manager enrolled, and the sessions that began at them.
    Change::CreateTable(NewTable {
        name: "devices",
        on: On::Store,
        columns: "id uuid!, created_at ts, updated_at ts, register_id uuid, name text, key_hash text, enrolled_by uuid, \
            last_seen_at ts?, revoked_at ts?",
        conflict_keys: &["key_hash"],
        ..NewTable::EMPTY
    }),
    Change::AddColumns("refresh_token_families", "device_id uuid?"),
    // Wrong PINs are counted by other origins than before: what is blocked by the former ones is nothing to anybody.
    Change::Fill("pin_attempts", || {
        let former = ["terminal", "unknown_terminals", "store", "pin_address", "account"];
        let mut update = Query::update();
        update.table(Alias::new("pin_attempts")).value(Alias::new("blocked_until"), Expr::cust("NULL"));
        update.and_where(Expr::col(Alias::new("kind")).is_in(former));
        update
    }),
    // Headquarters ends the sessions of a user at every server.
    Change::AddColumns("users", "sessions_valid_from ts?"),
    Change::AddColumns("refresh_token_families", "sessions_valid_from ts?"),
    // What is kept of an envelope that can never be taken, and how much each store keeps at headquarters.
    Change::AddColumns("sync_log", "beginning text?, length big?"),
    Change::AddColumns("sync_status", "pending_bytes big=0"),
    // U3, U7: what an envelope is judged by is found by its entity, however many came before.
    Change::AddIndex("sync_log", Key::Plain("store_id, entity_id, hash")),
    Change::DropIndex("sync_log", Key::Plain("store_id, entity_id")),
    Change::AddIndex("sync_log", Key::Plain("store_id, entity_id, hash, resolved_by WHERE resolved_by IS NOT NULL")),
    Change::AddIndex("sync_log", Key::Plain("store_id, entity_id, status WHERE status = 'failed'")),
    Change::AddIndex(
        "sync_log",
        Key::Plain(
            "store_id, entity_id, entity_type, envelope_at WHERE status = 'success' OR note = 'nothing of it was taken: \
             headquarters has the same, or it is not the store''s to say'",
        ),
    ),
    // The last number of a series, where what the documents say is not to be believed (D8).
    Change::CreateTable(NewTable {
        name: "known_numbers",
        on: On::Hq,
        columns: "store_id uuid!, series text!, last big",
        ..NewTable::EMPTY
    }),
    // Several servers of one headquarters: which of them run, and which of them holds the socket of a store.
    Change::CreateTable(NewTable {
        name: "hq_nodes",
        on: On::Hq,
        columns: "id uuid!, name text, release text, started_at ts, heard_at ts, has_broker bool, sockets big, \
            people_key text, sync_key text",
        ..NewTable::EMPTY
    }),
    Change::AddColumns("store_nodes", "connected_node uuid?, heartbeat_at ts?, uptime_ms big=0"),
    // What one server of headquarters does at a time.
    Change::CreateTable(NewTable {
        name: "leases",
        on: On::Hq,
        columns: "name text!, holder uuid, expires_at ts",
        ..NewTable::EMPTY
    }),
    // What stays of successes that are pruned from the log. Columns of one width stand together: PostgreSQL fills up between others.
    Change::CreateTable(NewTable {
        name: "sync_log_nodes",
        on: On::Hq,
        columns: "id int!, store int, store_id uuid, node_epoch text, kept_until ts, envelope_until ts",
        conflict_keys: &["store_id, node_epoch"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "sync_log_kept",
        on: On::Hq,
        columns: "node int!, store int, seq big!, envelope_at ts, first_seen_at ts, hash uuid!, entity_id uuid, \
            applied small, warned small, entity_type text",
        indexes: &["entity_id, store, envelope_at"],
        ..NewTable::EMPTY
    }),
    // The documents of a month are exported in this order, as sales have it already.
    Change::AddIndex("register_sessions", Key::Lists("business_date, store_id")),
    Change::AddIndex("inventory_adjustments", Key::Lists("business_date, store_id")),
    // The newest sale of a user, as the last sign of a person who only works at a till.
    Change::AddIndex("sales", Key::Lists("cashier_user_id, completed_at, id")),
    // A user has looked at an entry that was taken with a warning.
    Change::AddColumns("sync_log", "warning_settled_at ts?"),
    // The few drawers that are open now.
    Change::AddIndex("register_sessions", Key::Lists("store_id WHERE status <> 'closed'")),
];
