//! I4: each movement of stock is of a line and says what that says, and each line of which stock was kept has its own.
//!
//! A level is the sum of its movements (the other half of I4), so that goods that move with no line, or a line that moves
//! none, would be missing in both and be seen nowhere else.

use tillkeep_model::fields;
use tillkeep_model::state::SaleStatus;
use tillkeep_model::words::SaleType;

use super::rule::{ANY, Rule};
use crate::document::movement::Kind;

const MOVEMENTS: &str = "stock_movements";

const SALE: &str = Kind::Sale.as_str();
const REFUND: &str = Kind::Refund.as_str();
const SALE_VOID: &str = Kind::SaleVoid.as_str();
const ADJUSTMENT: &str = Kind::Adjustment.as_str();
/// What a refund is among sales.
const OF_REFUND: &str = SaleType::Refund.word();

/// What a movement of a line is to be, with `m` the movement, `i` the line and `s` its sale. Its words are [`SALE`], [`REFUND`]
/// and [`SALE_VOID`].
macro_rules! of_its_line {
    () => {
        "FROM stock_movements m JOIN sale_items i ON i.id = m.source_line_id AND i.sale_id = m.source_id \
         JOIN sales s ON s.id = i.sale_id WHERE m.movement_type IN ($1, $2, $3)"
    };
}

/// Lines `i` of sales `s` that moved stock at their store, of products that are known. What is not said, as by release 0.1.0,
/// is not judged, and what was returned for the bin moved nothing. Its word is [`OF_REFUND`].
macro_rules! that_moved {
    () => {
        "FROM sale_items i JOIN sales s ON s.id = i.sale_id WHERE i.tracked = TRUE \
         AND (s.sale_type <> $1 OR i.restock IS NULL OR i.restock = TRUE) \
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
              WHERE i.id IS NULL AND m.movement_type NOT IN ($1, $2) \
              UNION ALL SELECT m.store_id, m.id FROM stock_movements m \
              LEFT JOIN inventory_adjustments a ON a.id = m.source_line_id AND a.id = m.source_id \
              WHERE a.id IS NULL AND m.movement_type = $1",
        words: &[ADJUSTMENT, Kind::Restored.as_str()],
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
             ON a.id = m.source_line_id WHERE m.movement_type = $4 AND (m.product_id <> a.product_id \
             OR m.store_id <> a.store_id OR m.business_date <> a.business_date)"
        ),
        words: &[SALE, REFUND, SALE_VOID, ADJUSTMENT],
        ..ANY
    },
    Rule {
        invariant: "I4",
        entity: MOVEMENTS,
        text: "moves another quantity than its line",
        sql: concat!(
            "SELECT m.store_id AS store, m.id, m.quantity_change AS found, \
             CASE m.movement_type WHEN $3 THEN i.quantity ELSE -i.quantity END AS wanted ",
            of_its_line!(),
            " AND m.quantity_change <> CASE m.movement_type WHEN $3 THEN i.quantity ELSE -i.quantity END \
             UNION ALL SELECT m.store_id, m.id, m.quantity_change, a.quantity_change FROM stock_movements m \
             JOIN inventory_adjustments a ON a.id = m.source_line_id WHERE m.movement_type = $4 \
             AND m.quantity_change <> a.quantity_change"
        ),
        words: &[SALE, REFUND, SALE_VOID, ADJUSTMENT],
        ..ANY
    },
    Rule {
        invariant: "I4",
        entity: MOVEMENTS,
        text: "is of another kind than its sale",
        sql: concat!(
            "SELECT m.store_id AS store, m.id ",
            of_its_line!(),
            " AND ((m.movement_type = $1 AND s.sale_type = $4) OR (m.movement_type = $2 AND s.sale_type <> $4))"
        ),
        words: &[SALE, REFUND, SALE_VOID, OF_REFUND],
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
             AND m.movement_type = CASE s.sale_type WHEN $1 THEN $2 ELSE $3 END)"
        ),
        words: &[OF_REFUND, REFUND, SALE],
        ..ANY
    },
    Rule {
        invariant: "I4",
        entity: fields::sale::ITEM.table,
        text: "was voided, and the movement that takes it back is not there",
        sql: concat!(
            "SELECT s.store_id AS store, i.id ",
            that_moved!(),
            " AND s.status = $2 AND NOT EXISTS (SELECT 1 FROM stock_movements m WHERE m.source_line_id = i.id \
             AND m.movement_type = $3)"
        ),
        words: &[OF_REFUND, SaleStatus::Voided.word(), SALE_VOID],
        ..ANY
    },
    Rule {
        invariant: "I4",
        entity: fields::adjustment::BOOK.table,
        text: "moved stock, and its movement is not there",
        sql: "SELECT a.store_id AS store, a.id FROM inventory_adjustments a \
              WHERE a.product_id IN (SELECT id FROM products) AND NOT EXISTS (SELECT 1 FROM stock_movements m \
              WHERE m.source_line_id = a.id AND m.movement_type = $1)",
        words: &[ADJUSTMENT],
        ..ANY
    },
];
