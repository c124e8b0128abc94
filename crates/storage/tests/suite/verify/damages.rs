//! What may be wrong in a database, one after the other, and that the checker finds each of it.

use tillkeep_storage::Side;

use super::scene::{after, scene};
use crate::kit::both;

/// What is done to a database, and the invariant and the table under which it must be found.
const DAMAGES: &[(Side, &[&str], &str, &str)] = &[
    (Side::Store, &["DELETE FROM sale_payments", "DELETE FROM sale_items", "DELETE FROM sales"], "I1", "sales"),
    (Side::Store, &["UPDATE sales SET receipt_number = 'S01-01-000009' WHERE total_amount > 2000"], "I1", "sales"),
    (Side::Hq, &["DELETE FROM sale_payments", "DELETE FROM sale_items", "DELETE FROM sales"], "I2", "sales"),
    (Side::Hq, &["UPDATE sales SET note = 'changed'"], "I2", "sales"),
    (Side::Hq, &["UPDATE sale_items SET unit_price = unit_price + 1"], "I2", "sale_items"),
    (Side::Hq, &["DELETE FROM sale_payments"], "I2", "sale_payments"),
    (Side::Hq, &["UPDATE register_sessions SET status = 'open'"], "I2", "register_sessions"),
    (Side::Store, &["DELETE FROM sale_items", "DELETE FROM sale_payments", "DELETE FROM sales"], "I3", "sales"),
    (Side::Store, &["UPDATE store_product_dynamic SET quantity = quantity + 1"], "I4", "store_product_dynamic"),
    (Side::Hq, &["UPDATE store_product_dynamic SET quantity = quantity + 1"], "I4", "store_product_dynamic"),
    (Side::Hq, &["DELETE FROM stock_movements"], "I4", "store_product_dynamic"),
    // The store has said what its goods cost it.
    (
        Side::Store,
        &["UPDATE sale_items SET average_cost_after = 480", "UPDATE store_product_dynamic SET average_cost = 480"],
        "I4",
        "store_product_dynamic",
    ),
    // Both of one side: a second sale of the same goods, with its movement.
    (
        Side::Hq,
        &[
            "UPDATE stock_movements SET quantity_change = quantity_change * 2",
            "UPDATE store_product_dynamic SET quantity = quantity * 2",
        ],
        "I4",
        "store_product_dynamic",
    ),
    (Side::Store, &["UPDATE sales SET tax_amount = tax_amount + 1"], "I5", "sales"),
    (Side::Store, &["UPDATE sale_items SET net_amount = net_amount - 1"], "I5", "sales"),
    // What was charged is left as it is: only how it came about is another story.
    (Side::Store, &["UPDATE sale_items SET list_amount = list_amount + 1"], "I5", "sales"),
    (Side::Store, &["UPDATE sale_items SET price_includes_tax = TRUE, cart_discount = 1"], "I5", "sales"),
    (Side::Store, &["UPDATE sales SET list_amount = total_amount + 1"], "I5", "sales"),
    (Side::Store, &["UPDATE sales SET list_amount = total_amount, line_discount = 1"], "I5", "sales"),
    (Side::Store, &["UPDATE sale_payments SET amount = amount - 1"], "I5", "sales"),
    (Side::Store, &["UPDATE register_sessions SET expected_cash = expected_cash + 1"], "I5", "register_sessions"),
    (Side::Store, &["UPDATE register_sessions SET running_total = 1"], "I5", "register_sessions"),
    (
        Side::Store,
        &["UPDATE register_sessions SET totals = REPLACE(totals, '\"saleCount\":2', '\"saleCount\":3')"],
        "I5",
        "register_sessions",
    ),
    (
        Side::Store,
        &["UPDATE register_sessions SET totals = REPLACE(totals, '\"count\":2', '\"count\":1')"],
        "I5",
        "register_sessions",
    ),
    (Side::Hq, &["UPDATE customers SET account_balance = account_balance + 1"], "I5", "customers"),
    (
        Side::Hq,
        &[
            "UPDATE sale_payments SET tender_kind = 'on_account'",
            "UPDATE sales SET customer_id = (SELECT id FROM customers)",
        ],
        "I5",
        "customers",
    ),
    (
        Side::Store,
        &[
            "UPDATE sale_payments SET tender_kind = 'on_account'",
            "UPDATE sales SET customer_id = (SELECT id FROM customers)",
            "INSERT INTO sync_outbox (seq, node_epoch, entity_type, entity_id, depends_on, action, payload, timestamp, \
             attempts, created_at) SELECT seq + 100, node_epoch, entity_type, entity_id, depends_on, action, payload, \
             '2027-01-01T00:00:00+00:00', 0, created_at FROM sync_outbox_sent WHERE entity_type = 'sales'",
        ],
        "I5",
        "account_charges",
    ),
    (Side::Hq, &["UPDATE tenders SET kind = 'gift_card'"], "I5", "tenders"),
    (Side::Hq, &["UPDATE sales SET receipt_number = 'S01-01-000001'"], "I6", "sales"),
    (Side::Store, &["UPDATE register_sessions SET session_number = 3"], "I6", "register_sessions"),
    (Side::Store, &["UPDATE products SET name = 'other'"], "I7", "products"),
    (Side::Store, &["UPDATE products SET deleted_at = NULL"], "I7", "products"),
    (Side::Store, &["DELETE FROM products WHERE deleted_at IS NOT NULL"], "I7", "products"),
    (Side::Hq, &["DELETE FROM customers"], "I7", "customers"),
    (Side::Store, &["UPDATE customers SET first_name = 'Eve'"], "I7", "customers"),
    (Side::Store, &["UPDATE store_product_dynamic SET price = price + 1"], "I7", "store_product_dynamic"),
    (Side::Store, &["UPDATE users SET pin_hash = 'hash'"], "I7", "users"),
    (Side::Hq, &["DELETE FROM role_permissions"], "I7", "role_permissions"),
    (Side::Store, &["DELETE FROM role_permissions"], "I7", "role_permissions"),
    (Side::Store, &["UPDATE sequences SET last_version = last_version + 1 WHERE entity_type = 'users'"], "I8", "users"),
    (Side::Store, &["UPDATE sequences SET last_version = 1 WHERE entity_type = 'products'"], "I8", "products"),
    (Side::Hq, &["UPDATE products SET sync_version = 99"], "I8", "products"),
    (
        Side::Store,
        &["UPDATE products SET deleted_at = NULL, sku = CASE sku WHEN 'TEA' THEN 'One' ELSE ' oNE' END"],
        "I14",
        "products",
    ),
    (
        Side::Store,
        &["UPDATE products SET deleted_at = NULL, barcodes = '[]', \
           barcode = CASE sku WHEN 'TEA' THEN '012345678905' ELSE '0012345678905' END"],
        "I14",
        "products",
    ),
    (Side::Hq, &["UPDATE users SET sync_version = 1"], "I8", "users"),
    (Side::Store, &["DELETE FROM sync_outbox_sent WHERE seq = 2"], "I9", "sales"),
    (
        Side::Store,
        &["DELETE FROM sync_outbox_sent WHERE seq = 2", "UPDATE sync_outbox_sent SET seq = 17 WHERE seq = 5"],
        "I9",
        "sync_outbox",
    ),
    (Side::Hq, &["DELETE FROM sync_log WHERE seq = 2"], "I9", "sync_outbox_sent"),
    (Side::Store, &["UPDATE customers SET synced = FALSE"], "I9", "customers"),
    (
        Side::Store,
        &["INSERT INTO sync_outbox (seq, node_epoch, entity_type, entity_id, depends_on, action, payload, timestamp, \
           attempts, created_at) SELECT seq + 1, node_epoch, entity_type, entity_id, depends_on, action, payload, \
           '2027-01-01T00:00:00+00:00', 0, created_at FROM sync_outbox_sent WHERE seq = 5"],
        "I10",
        "sync_outbox",
    ),
    (Side::Hq, &["UPDATE sync_log SET status = 'failed'"], "I10", "sync_log"),
    (Side::Hq, &["UPDATE sync_log SET seq = 2"], "I2", "sync_log"),
    (
        Side::Store,
        &["DROP TRIGGER audit_log_refuses_UPDATE", "UPDATE audit_log SET action = 'nothing' WHERE seq = 1"],
        "I11",
        "audit_log",
    ),
    (
        Side::Store,
        &["DROP TRIGGER audit_log_refuses_DELETE", "DELETE FROM audit_log WHERE seq = 2"],
        "I11",
        "register_sessions",
    ),
    (Side::Hq, &["UPDATE sync_log SET status = 'retried', resolved_by = store_id WHERE seq = 1"], "I11", "sync_log"),
    (Side::Hq, &["UPDATE sync_log SET resolved_by = NULL"], "I11", "sync_log"),
    (Side::Hq, &["UPDATE sync_log SET resolved_by = store_id WHERE resolved_by IS NOT NULL"], "I11", "sync_log"),
    (Side::Hq, &["UPDATE stores SET sync_token_version = sync_token_version + 1"], "I11", "stores"),
];

#[tokio::test]
async fn the_checker_finds_each_planted_damage() {
    for hq in both().await {
        let scene = scene(hq).await;
        for (side, damage, invariant, table) in DAMAGES {
            let findings = after(&scene, *side, damage).await;
            let found = findings.iter().any(|finding| finding.invariant == *invariant && finding.entity == *table);
            assert!(found, "{damage:?} is no finding of {invariant} in {table}: {findings:#?}");
        }
        // Nothing stayed.
        assert_eq!(after(&scene, Side::Hq, &[]).await, []);
    }
}
