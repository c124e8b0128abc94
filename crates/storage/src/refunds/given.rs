//! What refunds give back of the sales that they name.

use std::collections::{HashMap, HashSet};

use sea_orm::{ConnectionTrait, DbErr, Value};
use tillkeep_model::Qty;
use tillkeep_model::state::SaleStatus;
use tillkeep_model::words::SaleType;
use uuid::Uuid;

use crate::entity::sale;
use crate::many::find_in;

/// The sale of which a refund gives something back.
pub(crate) fn original(sale: &sale::Model) -> Option<Uuid> {
    let is_refund = sale.sale_type == SaleType::Refund;
    sale.original_sale_id.filter(|id| is_refund && !id.is_nil())
}

/// A line of a refund, or a refund that has none.
pub(super) struct Part {
    pub(super) original: Uuid,
    pub(super) refund: Uuid,
    pub(super) store: Uuid,
    pub(super) receipt: String,
    total: i64,
    /// The line of the original, with how much of it came back.
    pub(super) of_line: Option<(Uuid, Qty)>,
}

/// Those of the refunds that name one of `originals` and were not voided.
pub(super) async fn parts(
    conn: &impl ConnectionTrait,
    originals: impl IntoIterator<Item = Uuid>,
) -> Result<Vec<Part>, DbErr> {
    let sql = "SELECT r.original_sale_id AS original, r.id AS refund, r.store_id AS store, r.receipt_number AS receipt, \
               r.total_amount AS total, i.original_sale_item_id AS item, i.quantity AS quantity \
               FROM sales r LEFT JOIN sale_items i ON i.sale_id = r.id \
               WHERE r.sale_type = $1 AND r.status <> $2 AND r.original_sale_id IN ($list)";
    let words = [SaleType::Refund.word(), SaleStatus::Voided.word()].map(Value::from);
    let mut parts = Vec::new();
    for row in find_in(conn, sql, &words, originals).await? {
        let line = row.try_get::<Option<Uuid>>("", "item")?.filter(|id| !id.is_nil());
        // A line that is given back says how much less was sold.
        let back = row.try_get::<Option<i64>>("", "quantity")?.map(i64::saturating_neg);
        parts.push(Part {
            original: row.try_get("", "original")?,
            refund: row.try_get("", "refund")?,
            store: row.try_get("", "store")?,
            receipt: row.try_get("", "receipt")?,
            total: row.try_get("", "total")?,
            of_line: line.zip(back.map(Qty)),
        });
    }
    Ok(parts)
}

/// What was given back of one sale. What is beyond a number is as much as it holds.
#[derive(Default)]
pub(crate) struct Given {
    amount: i128,
    lines: HashMap<Uuid, i128>,
    refunds: HashSet<Uuid>,
}

impl Given {
    pub(crate) fn amount(&self) -> i64 {
        held(self.amount)
    }

    pub(crate) fn of_line(&self, line: Uuid) -> i64 {
        held(self.lines.get(&line).copied().unwrap_or_default())
    }

    /// How many refunds there are.
    pub(crate) fn count(&self) -> usize {
        self.refunds.len()
    }

    fn add(&mut self, part: &Part) {
        if self.refunds.insert(part.refund) {
            self.amount -= i128::from(part.total);
        }
        if let Some((line, Qty(back))) = part.of_line {
            *self.lines.entry(line).or_default() += i128::from(back);
        }
    }
}

fn held(sum: i128) -> i64 {
    i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
}

/// What was given back of each of `originals` of which something was.
pub(crate) async fn given(
    conn: &impl ConnectionTrait,
    originals: impl IntoIterator<Item = Uuid>,
) -> Result<HashMap<Uuid, Given>, DbErr> {
    let mut given: HashMap<Uuid, Given> = HashMap::new();
    for part in parts(conn, originals).await? {
        given.entry(part.original).or_default().add(&part);
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refund_of_many_lines_gives_its_money_back_once_and_no_sum_is_beyond_a_number() {
        let part = |refund: u128, line: u128, back: i64| Part {
            original: Uuid::nil(),
            refund: Uuid::from_u128(refund),
            store: Uuid::nil(),
            receipt: String::new(),
            total: -500,
            of_line: Some((Uuid::from_u128(line), Qty(back))),
        };
        let mut given = Given::default();
        for part in [part(1, 1, 1000), part(1, 2, 250), part(2, 1, 1000), part(3, 3, i64::MAX), part(3, 3, i64::MAX)] {
            given.add(&part);
        }
        assert_eq!((given.amount(), given.count()), (1500, 3));
        let lines = [1, 2, 3, 4].map(|line| given.of_line(Uuid::from_u128(line)));
        assert_eq!(lines, [2000, 250, i64::MAX, 0]);
    }
}
