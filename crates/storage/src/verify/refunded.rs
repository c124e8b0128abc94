//! I5: what was given back of a sale (rule U17). At headquarters it is what the refunds say that name the sale; a store knows of no less
//! than it gave back itself.

use tillkeep_model::state::SaleStatus;
use tillkeep_model::words::SaleType;

use super::rule::{HQ, Rule, STORE};
use crate::document::sale;

const ITEMS: &str = "sale_items";

/// A refund counts, `$1` and `$2`.
const COUNTED: &[&str] = &[SaleType::Refund.word(), SaleStatus::Voided.word()];

/// The states that follow from refunds as well.
const WORDS: &[&str] = &[
    SaleType::Refund.word(),
    SaleStatus::Voided.word(),
    SaleStatus::Completed.word(),
    SaleStatus::PartiallyRefunded.word(),
    SaleStatus::Refunded.word(),
];

/// Of a sale `s`: a refund of it counts.
macro_rules! is_given_back {
    () => {
        "EXISTS (SELECT 1 FROM sales r WHERE r.original_sale_id = s.id AND r.sale_type = $1 AND r.status <> $2)"
    };
}

/// Of a sale `s`: headquarters has reckoned it. What a seller of a release before 0.2.0 said of refunds that never came stays as it is,
/// until the first one comes; such a sale has no entry of a chain.
macro_rules! is_reckoned {
    () => {
        "(EXISTS (SELECT 1 FROM chain_entries e WHERE e.sale_id = s.id) \
         OR EXISTS (SELECT 1 FROM sales r WHERE r.original_sale_id = s.id AND r.sale_type = $1))"
    };
}

/// How much of each line came `back`.
macro_rules! of_lines {
    () => {
        "(SELECT r.original_sale_id AS sale, l.original_sale_item_id AS item, CAST(-SUM(l.quantity) AS BIGINT) AS back \
         FROM sales r JOIN sale_items l ON l.sale_id = r.id WHERE r.sale_type = $1 AND r.status <> $2 \
         AND r.original_sale_id IS NOT NULL GROUP BY r.original_sale_id, l.original_sale_item_id)"
    };
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        invariant: "I5",
        entity: ITEMS,
        text: "what was given back of the line is not what refunds say",
        sql: concat!(
            "SELECT s.store_id AS store, i.id, COALESCE(b.back, 0) AS wanted, i.refunded_quantity AS found \
             FROM sale_items i JOIN sales s ON s.id = i.sale_id LEFT JOIN ",
            of_lines!(),
            " b ON b.sale = i.sale_id AND b.item = i.id WHERE i.refunded_quantity <> COALESCE(b.back, 0) AND ",
            is_reckoned!()
        ),
        words: COUNTED,
        ..HQ
    },
    Rule {
        invariant: "I5",
        entity: sale::TYPE,
        text: "what was given back of the sale is not what refunds say",
        sql: concat!(
            "SELECT s.store_id AS store, s.id, COALESCE(b.back, 0) AS wanted, s.refunded_amount AS found FROM sales s \
             LEFT JOIN (SELECT original_sale_id AS sale, CAST(-SUM(total_amount) AS BIGINT) AS back FROM sales \
             WHERE sale_type = $1 AND status <> $2 AND original_sale_id IS NOT NULL GROUP BY original_sale_id) b \
             ON b.sale = s.id WHERE s.refunded_amount <> COALESCE(b.back, 0) AND ",
            is_reckoned!()
        ),
        words: COUNTED,
        ..HQ
    },
    Rule {
        invariant: "I5",
        entity: sale::TYPE,
        text: "its state is not what was given back of it",
        sql: concat!(
            "SELECT s.store_id AS store, s.id FROM sales s WHERE s.status IN ($3, $4, $5) AND s.status <> CASE WHEN NOT ",
            is_given_back!(),
            " THEN $3 WHEN EXISTS (SELECT 1 FROM sale_items i WHERE i.sale_id = s.id \
             AND i.refunded_quantity < i.quantity) THEN $4 ELSE $5 END AND ",
            is_reckoned!()
        ),
        words: WORDS,
        ..HQ
    },
    Rule {
        invariant: "I5",
        entity: sale::TYPE,
        text: "it has the flag over_refunded and more was not given back than was sold, or the other way round",
        sql: concat!(
            "SELECT s.store_id AS store, s.id FROM sales s WHERE (s.flags LIKE '%\"over_refunded\"%') <> \
             (EXISTS (SELECT 1 FROM sale_items i WHERE i.sale_id = s.id AND i.refunded_quantity > 0 \
             AND i.refunded_quantity > i.quantity) OR (s.status = $2 AND ",
            is_given_back!(),
            ")) AND (s.flags LIKE '%\"over_refunded\"%' OR ",
            is_reckoned!(),
            ")"
        ),
        words: COUNTED,
        ..HQ
    },
    Rule {
        invariant: "I5",
        entity: "refund_claims",
        text: "is open, and what it was claimed for is here",
        sql: "SELECT c.store_id AS store, c.id FROM refund_claims c JOIN sales s ON s.id = c.id AND s.store_id = c.store_id \
              WHERE s.sale_type = $1 OR s.status = $2",
        words: COUNTED,
        ..HQ
    },
    Rule {
        invariant: "I5",
        entity: ITEMS,
        text: "more of the line was given back here than it says",
        sql: concat!(
            "SELECT i.id, b.back AS wanted, i.refunded_quantity AS found FROM sale_items i JOIN ",
            of_lines!(),
            " b ON b.sale = i.sale_id AND b.item = i.id WHERE i.refunded_quantity < b.back"
        ),
        words: COUNTED,
        ..STORE
    },
    // What came back from headquarters may be flagged.
    Rule {
        invariant: "I5",
        entity: ITEMS,
        text: "more of the line was given back than was sold",
        sql: "SELECT i.id, i.quantity AS wanted, i.refunded_quantity AS found FROM sale_items i JOIN sales s \
              ON s.id = i.sale_id WHERE i.refunded_quantity > 0 AND i.refunded_quantity > i.quantity \
              AND s.flags NOT LIKE '%\"over_refunded\"%'",
        ..STORE
    },
];
