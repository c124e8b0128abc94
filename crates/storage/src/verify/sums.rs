//! I5: a sale adds up.
//!
//! At headquarters one that does not is flagged (rule U9), and what is flagged is judged again in `flags`. Flags of a store say
//! nothing of sums: there each sale adds up.

use tillkeep_model::state::{PaymentStatus, SaleStatus};

use super::rule::{HQ, Rule, STORE};
use crate::document::sale;

macro_rules! adds_up {
    ($which:literal, $of:expr) => {
        &[
            Rule {
                invariant: "I5",
                entity: sale::TYPE,
                text: "net and tax are not the total",
                sql: concat!(
                    "SELECT s.store_id AS store, s.id, s.total_amount AS wanted, s.net_amount + s.tax_amount AS found \
                     FROM sales s WHERE ",
                    $which,
                    " AND s.net_amount + s.tax_amount <> s.total_amount"
                ),
                ..$of
            },
            Rule {
                invariant: "I5",
                entity: sale::TYPE,
                text: "the lines do not add up to the sale",
                sql: concat!(
                    "SELECT s.store_id AS store, s.id, s.total_amount AS wanted, \
                     CAST(COALESCE(SUM(i.total_amount), 0) AS BIGINT) AS found \
                     FROM sales s LEFT JOIN sale_items i ON i.sale_id = s.id WHERE ",
                    $which,
                    " GROUP BY s.id, s.store_id, s.total_amount, s.net_amount, s.tax_amount \
                     HAVING COUNT(i.id) = 0 OR SUM(i.total_amount) <> s.total_amount OR SUM(i.net_amount) <> s.net_amount \
                     OR SUM(i.tax_amount) <> s.tax_amount"
                ),
                ..$of
            },
            Rule {
                invariant: "I5",
                entity: sale::TYPE,
                text: "the payments are not the total and its rounding",
                sql: concat!(
                    "SELECT s.store_id AS store, s.id, s.total_amount + s.cash_rounding AS wanted, \
                     CAST(COALESCE(SUM(p.amount), 0) AS BIGINT) AS found FROM sales s LEFT JOIN sale_payments p \
                     ON p.sale_id = s.id AND (p.status <> $1 OR s.status = $2) WHERE ",
                    $which,
                    " GROUP BY s.id, s.store_id, s.total_amount, s.cash_rounding \
                     HAVING COALESCE(SUM(p.amount), 0) <> s.total_amount + s.cash_rounding"
                ),
                words: &[PaymentStatus::Voided.word(), SaleStatus::Voided.word()],
                ..$of
            },
        ]
    };
}

pub(super) static AT_HQ: &[Rule] = adds_up!("s.flags = '[]'", HQ);
pub(super) static AT_STORE: &[Rule] = adds_up!("TRUE", STORE);
