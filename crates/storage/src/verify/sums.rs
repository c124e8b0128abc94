//! I5: a sale adds up.
//!
//! At headquarters one that does not is flagged (rule U9), and what is flagged is judged again in `flags`. Flags of a store say
//! nothing of sums: there each sale adds up.

use tillkeep_model::state::{PaymentStatus, SaleStatus};
use tillkeep_model::words::SaleType;

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
                    " GROUP BY s.id, s.store_id, s.sale_type, s.total_amount, s.net_amount, s.tax_amount \
                     HAVING (COUNT(i.id) = 0 AND s.sale_type <> $1) OR COALESCE(SUM(i.total_amount), 0) <> s.total_amount \
                     OR COALESCE(SUM(i.net_amount), 0) <> s.net_amount OR COALESCE(SUM(i.tax_amount), 0) <> s.tax_amount"
                ),
                // A payment on an account has no lines.
                words: &[SaleType::Settlement.word()],
                ..$of
            },
            // Of whoever says how a price came about; the parts of a refund are rounded each by itself.
            Rule {
                invariant: "I5",
                entity: sale::TYPE,
                text: "a line was not charged its list amount less what was taken off",
                sql: concat!(
                    "SELECT DISTINCT s.store_id AS store, s.id FROM sales s JOIN (SELECT sale_id, price_includes_tax, net_amount, \
                     total_amount, list_amount - special_discount - line_discount - cart_discount AS ext FROM sale_items \
                     WHERE list_amount <> 0 OR special_discount <> 0 OR line_discount <> 0 OR cart_discount <> 0) i \
                     ON i.sale_id = s.id WHERE ",
                    $which,
                    " AND s.sale_type <> $1 AND ((i.price_includes_tax = FALSE AND i.net_amount <> i.ext) \
                     OR (i.price_includes_tax = TRUE AND s.tax_exempt = FALSE AND i.total_amount <> i.ext) \
                     OR (i.price_includes_tax = TRUE AND s.tax_exempt = TRUE \
                         AND (i.net_amount < 0 OR i.net_amount > i.ext)))"
                ),
                words: &[SaleType::Refund.word()],
                ..$of
            },
            Rule {
                invariant: "I5",
                entity: sale::TYPE,
                text: "list amounts and discounts of the lines are not those of the sale",
                sql: concat!(
                    "SELECT s.store_id AS store, s.id, s.list_amount AS wanted, \
                     CAST(COALESCE(SUM(i.list_amount), 0) AS BIGINT) AS found \
                     FROM sales s LEFT JOIN sale_items i ON i.sale_id = s.id WHERE ",
                    $which,
                    " AND (s.list_amount <> 0 OR s.special_discount <> 0 OR s.line_discount <> 0 OR s.cart_discount <> 0) \
                     GROUP BY s.id, s.store_id, s.list_amount, s.special_discount, s.line_discount, s.cart_discount \
                     HAVING COALESCE(SUM(i.list_amount), 0) <> s.list_amount \
                     OR COALESCE(SUM(i.special_discount), 0) <> s.special_discount \
                     OR COALESCE(SUM(i.line_discount), 0) <> s.line_discount \
                     OR COALESCE(SUM(i.cart_discount), 0) <> s.cart_discount"
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
