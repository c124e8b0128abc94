//! I4: each movement of stock is of a line and says what that says, and each line of which stock was kept has its own.
//!
//! A level is the sum of its movements (the other half of I4), so that goods that move with no line, or a line that moves
//! none, would be missing in both and be seen nowhere else.

use tillkeep_model::fields;

use super::rule::{ANY, Rule};

const MOVEMENTS: &str = "stock_movements";

/// What a movement of a line is to be, with `m` the movement, `i` the line and `s` its sale.
macro_rules! of_its_line {
    () => {
        "FROM stock_movements m JOIN sale_items i ON i.id = m.source_line_id AND i.sale_id = m.source_id \
         JOIN sales s ON s.id = i.sale_id WHERE m.movement_type IN ('sale', 'refund', 'sale_void')"
    };
}

/// Lines `i` of sales `s` that moved stock at their store, of products that are known. What is not said, as by release 0.1.0,
/// is not judged, and what was returned for the bin moved nothing.
macro_rules! that_moved {
    () => {
        "FROM sale_items i JOIN sales s ON s.id = i.sale_id WHERE i.tracked = TRUE \
         AND (s.sale_type <> 'refund' OR i.restock IS NULL OR i.restock = TRUE) \
         AND i.product_id IN (SELECT id FROM products)"
    };
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        invariant: "I4",
        entity: MOVEMENTS,
        text: "is of no line",
        sql: "SELECT m.store_id AS store, m.id FROM stock_movements m \
              LEFT JOIN sale_items i ON i.id = m.source_line_id AND i.sale_id = m.source_id \
              WHERE i.id IS NULL AND m.movement_type NOT IN ('adjustment', 'restored') \
              UNION ALL SELECT m.store_id, m.id FROM stock_movements m \
              LEFT JOIN inventory_adjustments a ON a.id = m.source_line_id AND a.id = m.source_id \
              WHERE a.id IS NULL AND m.movement_type = 'adjustment'",
        ..ANY
    },
    Rule {
        invariant: "I4",
        entity: MOVEMENTS,
        text: "is of another store, product or business date than its line",
        sql: concat!(
            "SELECT m.store_id AS store, m.id ",
            of_its_line!(),
            " AND (m.product_id <> i.product_id OR m.store_id <> s.store_id OR m.business_date <> s.business_date) \
             UNION ALL SELECT m.store_id, m.id FROM stock_movements m JOIN inventory_adjustments a \
             ON a.id = m.source_line_id WHERE m.movement_type = 'adjustment' AND (m.product_id <> a.product_id \
             OR m.store_id <> a.store_id OR m.business_date <> a.business_date)"
        ),
        ..ANY
    },
    Rule {
        invariant: "I4",
        entity: MOVEMENTS,
        text: "moves another quantity than its line",
        sql: concat!(
            "SELECT m.store_id AS store, m.id, m.quantity_change AS found, \
             CASE m.movement_type WHEN 'sale_void' THEN i.quantity ELSE -i.quantity END AS wanted ",
            of_its_line!(),
            " AND m.quantity_change <> CASE m.movement_type WHEN 'sale_void' THEN i.quantity ELSE -i.quantity END \
             UNION ALL SELECT m.store_id, m.id, m.quantity_change, a.quantity_change FROM stock_movements m \
             JOIN inventory_adjustments a ON a.id = m.source_line_id WHERE m.movement_type = 'adjustment' \
             AND m.quantity_change <> a.quantity_change"
        ),
        ..ANY
    },
    Rule {
        invariant: "I4",
        entity: MOVEMENTS,
        text: "is of another kind than its sale",
        sql: concat!(
            "SELECT m.store_id AS store, m.id ",
            of_its_line!(),
            " AND ((m.movement_type = 'sale' AND s.sale_type = 'refund') \
             OR (m.movement_type = 'refund' AND s.sale_type <> 'refund'))"
        ),
        ..ANY
    },
    Rule {
        invariant: "I4",
        entity: fields::sale::ITEM.table,
        text: "moved stock, and its movement is not there",
        sql: concat!(
            "SELECT s.store_id AS store, i.id ",
            that_moved!(),
            " AND NOT EXISTS (SELECT 1 FROM stock_movements m WHERE m.source_line_id = i.id \
             AND m.movement_type = CASE s.sale_type WHEN 'refund' THEN 'refund' ELSE 'sale' END)"
        ),
        ..ANY
    },
    Rule {
        invariant: "I4",
        entity: fields::sale::ITEM.table,
        text: "was voided, and the movement that takes it back is not there",
        sql: concat!(
            "SELECT s.store_id AS store, i.id ",
            that_moved!(),
            " AND s.status = 'voided' AND NOT EXISTS (SELECT 1 FROM stock_movements m WHERE m.source_line_id = i.id \
             AND m.movement_type = 'sale_void')"
        ),
        ..ANY
    },
    Rule {
        invariant: "I4",
        entity: fields::adjustment::BOOK.table,
        text: "moved stock, and its movement is not there",
        sql: "SELECT a.store_id AS store, a.id FROM inventory_adjustments a \
              WHERE a.product_id IN (SELECT id FROM products) AND NOT EXISTS (SELECT 1 FROM stock_movements m \
              WHERE m.source_line_id = a.id AND m.movement_type = 'adjustment')",
        ..ANY
    },
];
