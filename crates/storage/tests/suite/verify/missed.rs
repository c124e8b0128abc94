//! Damages that no comparison of documents or sums sees: what is wrong in both databases alike, what does not travel, and what is
//! nowhere any more.

use tillkeep_storage::Side;

use super::scene::{after_at, scene};
use crate::kit::both;

const BOTH: &[Side] = &[Side::Hq, Side::Store];
const STORE: &[Side] = &[Side::Store];
const HQ: &[Side] = &[Side::Hq];

/// The name of a damage, where it is done, how, and the invariant and the table under which it must be found.
type Damage = (&'static str, &'static [Side], &'static [&'static str], &'static str, &'static str);

const DAMAGES: &[Damage] = &[
    (
        "a movement of a sale is deleted with its level",
        BOTH,
        &[
            "UPDATE store_product_dynamic SET quantity = quantity + 2000 WHERE quantity > 0",
            "DELETE FROM stock_movements WHERE quantity_change = -2000",
        ],
        "I4",
        "sale_items",
    ),
    (
        "a movement of a receipt is deleted with its level",
        BOTH,
        &[
            "UPDATE store_product_dynamic SET quantity = quantity - 10000 WHERE quantity > 0",
            "DELETE FROM stock_movements WHERE movement_type = 'adjustment'",
        ],
        "I4",
        "inventory_adjustments",
    ),
    (
        "a movement is there that no line makes",
        BOTH,
        &[
            "UPDATE store_product_dynamic SET quantity = quantity + 2000 WHERE quantity > 0",
            "UPDATE stock_movements SET source_line_id = source_id, quantity_change = 0 WHERE quantity_change = -2000",
        ],
        "I4",
        "stock_movements",
    ),
    (
        "a line is of another product",
        BOTH,
        &["UPDATE sale_items SET product_id = (SELECT id FROM products WHERE sku = 'RICE')"],
        "I4",
        "stock_movements",
    ),
    (
        "the quantity of a line is doubled",
        BOTH,
        &["UPDATE sale_items SET quantity = quantity * 2"],
        "I4",
        "stock_movements",
    ),
    (
        "the quantity of a receipt is doubled",
        BOTH,
        &["UPDATE inventory_adjustments SET quantity_change = quantity_change * 2"],
        "I4",
        "stock_movements",
    ),
    (
        "a movement is of another day (store)",
        STORE,
        &["UPDATE stock_movements SET business_date = '2026-11-19' WHERE movement_type = 'sale'"],
        "I4",
        "stock_movements",
    ),
    (
        "a movement is of another day (headquarters)",
        HQ,
        &["UPDATE stock_movements SET business_date = '2026-11-19' WHERE movement_type = 'adjustment'"],
        "I4",
        "stock_movements",
    ),
    ("a sale is voided and its goods stay away", BOTH, &["UPDATE sales SET status = 'voided'"], "I4", "sale_items"),
    ("the index of codes is empty (store)", STORE, &["DELETE FROM product_barcodes"], "I14", "product_barcodes"),
    ("the index of codes is empty (headquarters)", HQ, &["DELETE FROM product_barcodes"], "I14", "product_barcodes"),
    (
        "the index of codes names another product (store)",
        STORE,
        &["UPDATE product_barcodes SET product_id = (SELECT id FROM products WHERE sku = 'RICE')"],
        "I14",
        "product_barcodes",
    ),
    (
        "the index of codes names another product (headquarters)",
        HQ,
        &["UPDATE product_barcodes SET product_id = (SELECT id FROM products WHERE sku = 'RICE')"],
        "I14",
        "product_barcodes",
    ),
    (
        "the index of codes has a code in another form",
        STORE,
        &["UPDATE product_barcodes SET normal = 'other' WHERE code = '012345678905'"],
        "I14",
        "product_barcodes",
    ),
    (
        "a name to sign in with is folded otherwise (store)",
        STORE,
        &["UPDATE users SET username_folded = 'eve' WHERE username = 'ann'"],
        "I7",
        "users",
    ),
    (
        "a name to sign in with is folded otherwise (headquarters)",
        HQ,
        &["UPDATE users SET username_folded = 'eve' WHERE username = 'ann'"],
        "I7",
        "users",
    ),
    (
        "a product is looked for by another name",
        HQ,
        &["UPDATE products SET search_text = 'x' WHERE sku = 'TEA'"],
        "I7",
        "products",
    ),
    ("the SKU is folded otherwise", HQ, &["UPDATE products SET sku_folded = 'x' WHERE sku = 'TEA'"], "I7", "products"),
    (
        "the series of receipts is below what was given",
        STORE,
        &["UPDATE number_series SET last_value = 1 WHERE name = 'receipt:01'"],
        "I6",
        "number_series",
    ),
    (
        "the series of drawers is gone",
        STORE,
        &["DELETE FROM number_series WHERE name = 'session:01'"],
        "I6",
        "number_series",
    ),
    (
        "the series of customers is below what was given",
        STORE,
        &["UPDATE number_series SET last_value = 0 WHERE name = 'customer'"],
        "I6",
        "number_series",
    ),
    (
        "the series of the outbox is below what was given",
        STORE,
        &["UPDATE number_series SET last_value = 3 WHERE name = 'outbox'"],
        "I6",
        "number_series",
    ),
    (
        "the time of the outbox is ten years ahead",
        STORE,
        &["UPDATE number_series SET last_value = last_value + 315360000000 WHERE name = 'outbox_time'"],
        "I6",
        "number_series",
    ),
    (
        "the time of the outbox is before its entries",
        STORE,
        &["UPDATE number_series SET last_value = 0 WHERE name = 'outbox_time'"],
        "I6",
        "number_series",
    ),
    ("the last drawer is gone, and sales name it", BOTH, &["DELETE FROM register_sessions"], "I5", "sales"),
    ("the last drawer is gone (headquarters)", HQ, &["DELETE FROM register_sessions"], "I5", "sales"),
    (
        "a sale has a flag of sums and adds up",
        HQ,
        &["UPDATE sales SET flags = '[\"payments_mismatch\"]'"],
        "I5",
        "sales",
    ),
    (
        "a sale has the flag of a drawer that is there",
        HQ,
        &["UPDATE sales SET flags = '[\"unknown_session\"]'"],
        "I5",
        "sales",
    ),
    (
        "a sale has the flag of a product that is there",
        HQ,
        &["UPDATE sales SET flags = '[\"unknown_product\"]'"],
        "I5",
        "sales",
    ),
    (
        "a sale has the flag of a number that no other one has",
        HQ,
        &["UPDATE sales SET flags = '[\"duplicate_receipt_number\"]'"],
        "I5",
        "sales",
    ),
    (
        "a sale has the flag of a number that is its own",
        HQ,
        &["UPDATE sales SET flags = '[\"foreign_number\"]'"],
        "I5",
        "sales",
    ),
    (
        "a sale has the flag of a number that is not far",
        HQ,
        &["UPDATE sales SET flags = '[\"number_ahead\"]'"],
        "I5",
        "sales",
    ),
    ("a sale has the flag of a day to come", HQ, &["UPDATE sales SET flags = '[\"future_date\"]'"], "I5", "sales"),
    (
        "a sale has the flag of a text that is short",
        HQ,
        &["UPDATE sales SET flags = '[\"cut:cashierName\"]'"],
        "I5",
        "sales",
    ),
    ("a sale has a flag that is never given", HQ, &["UPDATE sales SET flags = '[\"looked_at\"]'"], "I5", "sales"),
    (
        "a flag hides that a sale does not add up",
        HQ,
        &["UPDATE sales SET flags = '[\"unknown_product\"]', tax_amount = tax_amount + 1"],
        "I5",
        "sales",
    ),
    (
        "the newest row of the audit log is cut off (store)",
        STORE,
        &[
            "DROP TRIGGER audit_log_refuses_DELETE",
            "DELETE FROM audit_log WHERE seq = (SELECT MAX(seq) FROM audit_log)",
        ],
        "I11",
        "audit_log",
    ),
    (
        "the newest row of the audit log is cut off (headquarters)",
        HQ,
        &[
            "DROP TRIGGER audit_log_refuses_DELETE",
            "DELETE FROM audit_log WHERE seq = (SELECT MAX(seq) FROM audit_log)",
        ],
        "I11",
        "audit_log",
    ),
    (
        "the average cost is another one (both)",
        BOTH,
        &["UPDATE store_product_dynamic SET average_cost = average_cost + 1"],
        "I4",
        "store_product_dynamic",
    ),
    (
        "the average cost is another one, and sent so (both)",
        BOTH,
        &[
            "UPDATE store_product_dynamic SET average_cost = 480 WHERE average_cost IS NOT NULL",
            "UPDATE inventory_adjustments SET average_cost_after = 480",
        ],
        "I4",
        "store_product_dynamic",
    ),
    (
        "a product has an average cost that nothing gave it",
        STORE,
        &["UPDATE store_product_dynamic SET average_cost = 1 WHERE average_cost IS NULL"],
        "I4",
        "store_product_dynamic",
    ),
    (
        "what verifies a PIN is another person's (store)",
        STORE,
        &["UPDATE users SET pin_hash = 'hash of bob' WHERE pin_hash IS NOT NULL"],
        "I7",
        "users",
    ),
    (
        "what a PIN is looked up by is another one (store)",
        STORE,
        &["UPDATE users SET pin_lookup = 'other' WHERE pin_lookup IS NOT NULL"],
        "I7",
        "users",
    ),
];

#[tokio::test]
async fn the_checker_finds_what_is_wrong_in_both_databases_alike_and_what_does_not_travel() {
    for hq in both().await {
        let scene = scene(hq).await;
        let mut missed = Vec::new();
        for (name, sides, damage, invariant, table) in DAMAGES {
            let findings = after_at(&scene, sides, damage).await;
            if !findings.iter().any(|finding| finding.invariant == *invariant && finding.entity == *table) {
                missed.push(format!("{name}: {findings:?}"));
            }
        }
        assert!(missed.is_empty(), "{} of {}:\n{}", missed.len(), DAMAGES.len(), missed.join("\n"));
        // Nothing stayed.
        assert_eq!(after_at(&scene, BOTH, &[]).await, []);
    }
}
