//! What may be wrong in a database, one after the other, and that the checker finds each of it.

use tillkeep_storage::Side;

use super::scene::{after, scene};
use crate::kit::both;

const SALES_GONE: &[&str] =
    &["DELETE FROM chain_entries", "DELETE FROM sale_payments", "DELETE FROM sale_items", "DELETE FROM sales"];

/// What is done to a database, and the invariant and the table under which it must be found.
const DAMAGES: &[(Side, &[&str], &str, &str)] = &[
    (Side::Store, SALES_GONE, "I1", "sales"),
    (Side::Store, &["UPDATE sales SET receipt_number = 'S01-01-000009' WHERE total_amount > 2000"], "I1", "sales"),
    (Side::Hq, SALES_GONE, "I2", "sales"),
    (Side::Hq, &["UPDATE sales SET note = 'changed'"], "I2", "sales"),
    (Side::Hq, &["UPDATE sale_items SET unit_price = unit_price + 1"], "I2", "sale_items"),
    (Side::Hq, &["DELETE FROM sale_payments"], "I2", "sale_payments"),
    (Side::Hq, &["UPDATE register_sessions SET status = 'open'"], "I2", "register_sessions"),
    (Side::Store, SALES_GONE, "I3", "sales"),
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
    // What a report says since its second version, each by the rows that it is of.
    (
        Side::Store,
        &["UPDATE register_sessions SET totals = REPLACE(totals, '\"itemCount\":3', '\"itemCount\":4')"],
        "I5",
        "register_sessions",
    ),
    (
        Side::Store,
        &["UPDATE register_sessions SET totals = REPLACE(totals, '\"voidAmount\":0', '\"voidAmount\":1')"],
        "I5",
        "register_sessions",
    ),
    (
        Side::Store,
        &["UPDATE register_sessions SET totals = REPLACE(totals, '\"netSales\":5997', '\"netSales\":5996')"],
        "I5",
        "register_sessions",
    ),
    (
        Side::Store,
        &[
            "UPDATE register_sessions SET totals = REPLACE(totals, '\"departmentId\":null', '\"departmentId\":\"00000000-0000-0000-0000-000000000001\"')",
        ],
        "I5",
        "register_sessions",
    ),
    (
        Side::Store,
        &["UPDATE register_sessions SET totals = REPLACE(totals, '\"paidIn\":500', '\"paidIn\":0')"],
        "I5",
        "register_sessions",
    ),
    (
        Side::Store,
        &["UPDATE register_sessions SET totals = REPLACE(totals, '\"noSaleCount\":1', '\"noSaleCount\":2')"],
        "I5",
        "register_sessions",
    ),
    (
        Side::Store,
        &["UPDATE register_sessions SET totals = REPLACE(totals, '\"before\":0', '\"before\":1')"],
        "I5",
        "register_sessions",
    ),
    (
        Side::Store,
        &["UPDATE register_sessions SET totals = REPLACE(totals, '\"last\":2', '\"last\":3')"],
        "I5",
        "register_sessions",
    ),
    (
        Side::Store,
        &["UPDATE register_sessions SET totals = REPLACE(totals, '\"refundsAmount\":0', '\"refundsAmount\":-1')"],
        "I5",
        "register_sessions",
    ),
    (
        Side::Store,
        &["UPDATE sale_items SET price_source = 'override', regular_price = 2000"],
        "I5",
        "register_sessions",
    ),
    (Side::Hq, &["UPDATE sales SET removed = '{\"count\": 1, \"amount\": 100}'"], "I5", "register_sessions"),
    // At headquarters too.
    (
        Side::Hq,
        &["UPDATE register_sessions SET totals = REPLACE(totals, '\"drop\":0', '\"drop\":1')"],
        "I5",
        "register_sessions",
    ),
    (Side::Hq, &["UPDATE register_sessions SET flags = '[\"does_not_add_up\"]'"], "I5", "register_sessions"),
    // Movements, in their drawer and in their table.
    (Side::Hq, &["UPDATE register_sessions SET cash_movements = '[]'"], "I5", "register_sessions"),
    (Side::Store, &["UPDATE register_sessions SET cash_movements = '[]'"], "I5", "cash_movements"),
    (
        Side::Store,
        &["UPDATE register_sessions SET cash_movements = REPLACE(cash_movements, 'Change', 'Nothing')"],
        "I5",
        "cash_movements",
    ),
    (
        Side::Store,
        &[
            "INSERT INTO cash_movements (id, created_at, session_id, register_id, business_date, kind, amount, reason, user_id, at) \
           SELECT cart.id, m.created_at, m.session_id, m.register_id, m.business_date, m.kind, m.amount, m.reason, m.user_id, \
           m.at FROM cash_movements m, parked_carts cart WHERE m.kind = 'paid_in'",
        ],
        "I5",
        "cash_movements",
    ),
    (Side::Store, &["UPDATE register_sessions SET no_sale_count = 2"], "I5", "register_sessions"),
    (Side::Store, &["UPDATE register_sessions SET safe_movements = '[]'"], "I5", "safe_movements"),
    (
        Side::Store,
        &["UPDATE register_sessions SET safe_movements = REPLACE(safe_movements, '900', '901')"],
        "I5",
        "safe_movements",
    ),
    // Reports of several drawers.
    (Side::Store, &["UPDATE zz_reports SET totals = REPLACE(totals, '5997', '5998')"], "I5", "zz_reports"),
    (
        Side::Store,
        &["UPDATE zz_reports SET totals = REPLACE(totals, '\"sessionId\"', '\"other\"')"],
        "I5",
        "zz_reports",
    ),
    (Side::Store, &["UPDATE zz_reports SET to_date = '2026-11-21'"], "I5", "zz_reports"),
    (Side::Store, &["UPDATE zz_reports SET to_session_number = 2"], "I5", "zz_reports"),
    (Side::Store, &["UPDATE zz_reports SET register_code = NULL"], "I5", "zz_reports"),
    (Side::Store, &["DELETE FROM zz_reports WHERE register_code IS NULL"], "I5", "register_sessions"),
    (Side::Store, &["UPDATE register_sessions SET zz_number = NULL"], "I5", "zz_reports"),
    (Side::Hq, &["UPDATE register_sessions SET zz_number = 2"], "I6", "register_sessions"),
    (Side::Store, &["UPDATE register_sessions SET store_zz_number = 2"], "I6", "register_sessions"),
    (Side::Hq, &["UPDATE register_sessions SET status = 'open'"], "I6", "register_sessions"),
    // Carts that wait.
    (Side::Store, &["UPDATE parked_carts SET state = 'lost'"], "I5", "parked_carts"),
    (Side::Store, &["UPDATE parked_carts SET state = 'resumed'"], "I5", "parked_carts"),
    (Side::Store, &["UPDATE parked_carts SET state = 'abandoned'"], "I5", "parked_carts"),
    (
        Side::Store,
        &["UPDATE parked_carts SET sale_id = (SELECT id FROM sales WHERE receipt_number = 'S01-01-000001')"],
        "I5",
        "parked_carts",
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
    (Side::Hq, &["UPDATE sale_items SET refunded_quantity = 1000"], "I5", "sale_items"),
    (Side::Hq, &["UPDATE sales SET refunded_amount = 1"], "I5", "sales"),
    (Side::Hq, &["UPDATE sales SET status = 'refunded'"], "I5", "sales"),
    (Side::Hq, &["UPDATE sales SET flags = '[\"over_refunded\"]'"], "I5", "sales"),
    // A refund of all of the other sale, of which that says nothing.
    (
        Side::Hq,
        &[
            "UPDATE sales SET sale_type = 'refund', original_sale_id = (SELECT id FROM sales WHERE receipt_number = \
             'S01-01-000001') WHERE receipt_number = 'S01-01-000002'",
            "UPDATE sales SET refunded_amount = (SELECT -total_amount FROM sales WHERE sale_type = 'refund') \
             WHERE sale_type = 'sale'",
        ],
        "I5",
        "sales",
    ),
    (
        Side::Store,
        &[
            "UPDATE sales SET sale_type = 'refund', original_sale_id = (SELECT id FROM sales WHERE receipt_number = \
             'S01-01-000001') WHERE receipt_number = 'S01-01-000002'",
            "UPDATE sale_items SET quantity = -1000, original_sale_item_id = (SELECT i.id FROM sale_items i JOIN sales s \
             ON s.id = i.sale_id WHERE s.receipt_number = 'S01-01-000001') \
             WHERE sale_id IN (SELECT id FROM sales WHERE sale_type = 'refund')",
        ],
        "I5",
        "sale_items",
    ),
    (Side::Store, &["UPDATE sale_items SET refunded_quantity = quantity + 1"], "I5", "sale_items"),
    (
        Side::Hq,
        &[
            "INSERT INTO refund_claims (id, sale_id, store_id, created_at, lines) \
             SELECT id, id, store_id, created_at, '[]' FROM sales",
            "UPDATE sales SET status = 'voided'",
        ],
        "I5",
        "refund_claims",
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
    // Whatever is hashed of a document, wherever it is changed.
    (Side::Store, &["UPDATE sales SET business_date = '2026-11-19'"], "I15", "chain_entries"),
    (Side::Hq, &["UPDATE sale_items SET sku = 'OTHER'"], "I15", "chain_entries"),
    (Side::Hq, &["UPDATE sale_payments SET tender_code = 'CARD'"], "I15", "chain_entries"),
    (Side::Store, &["UPDATE chain_entries SET hash = 'another' WHERE number = 1"], "I15", "chain_entries"),
    (Side::Store, &["UPDATE chain_entries SET previous_hash = '' WHERE number = 2"], "I15", "chain_entries"),
    (Side::Store, &["UPDATE chain_entries SET running_total = running_total + 1"], "I15", "chain_entries"),
    (Side::Store, &["UPDATE chain_entries SET number = 1"], "I15", "chain_entries"),
    (Side::Store, &["DELETE FROM chain_entries WHERE number = 1"], "I15", "chain_entries"),
    (Side::Store, &["DELETE FROM chain_entries WHERE number = 2"], "I15", "chain_entries"),
    (Side::Store, &["DELETE FROM chain_entries"], "I15", "chain_entries"),
    (Side::Store, &["DELETE FROM sale_chains"], "I15", "chain_entries"),
    (Side::Store, &["UPDATE sales SET status = 'voided'"], "I15", "chain_entries"),
    (Side::Hq, &["UPDATE sale_chains SET hash = 'another'"], "I15", "chain_entries"),
    // The end of a chain cut off at its store, with all that its store says of it.
    (
        Side::Store,
        &[
            "DELETE FROM chain_entries WHERE number = 2",
            "UPDATE sale_chains SET number = 1, hash = (SELECT hash FROM chain_entries), \
             running_total = (SELECT running_total FROM chain_entries)",
        ],
        "I15",
        "sale_chains",
    ),
    (Side::Hq, &["UPDATE sales SET flags = '[\"chain_broken\"]'"], "I15", "sales"),
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
    (Side::Store, &["UPDATE register_sessions SET forced = TRUE"], "I11", "register_sessions"),
    (
        Side::Store,
        &["DROP TRIGGER audit_log_refuses_DELETE", "DELETE FROM audit_log WHERE action = 'session.cash_movement'"],
        "I11",
        "cash_movements",
    ),
    (
        Side::Store,
        &["DROP TRIGGER audit_log_refuses_DELETE", "DELETE FROM audit_log WHERE action = 'session.no_sale'"],
        "I11",
        "cash_movements",
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
