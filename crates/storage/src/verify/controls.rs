//! I5: what a manager looks at in the report of a drawer, as far as its documents say it: prices that a person set, discounts that a
//! person gave, and what was taken off carts. Approvals and carts that never became a sale are told by the store alone.

use std::collections::BTreeMap;

use sea_orm::{DbErr, Value};
use serde_json::Value as Json;
use tillkeep_model::pricing::PriceSource;
use tillkeep_model::state::SaleStatus;
use tillkeep_model::words::SaleType;
use tillkeep_model::{JsonText, Money, Qty};
use uuid::Uuid;

use super::source::Source;
use crate::db::query;

/// So many, and what they come to.
type Counted = (i64, i64);

/// Of one drawer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Controls {
    overrides: Counted,
    discounts: Counted,
    /// Of carts that became a sale.
    removed: Counted,
}

fn add(sum: &mut Counted, (count, amount): Counted) {
    *sum = (sum.0.saturating_add(count), sum.1.saturating_add(amount));
}

pub(super) async fn add_up(source: &Source) -> Result<BTreeMap<Uuid, Controls>, DbErr> {
    let mut out: BTreeMap<Uuid, Controls> = BTreeMap::new();
    let sold = [SaleStatus::Voided.word(), SaleType::Sale.word()];
    let sql = "SELECT s.register_session_id AS session, i.regular_price, i.unit_price, i.quantity FROM sale_items i \
               JOIN sales s ON s.id = i.sale_id WHERE s.status <> $1 AND s.sale_type = $2 AND i.price_source = $3";
    let words = sold.into_iter().chain([PriceSource::Override.as_str()]).map(Value::from);
    for row in query(&source.conn, sql, words).await? {
        let quantity: Qty = row.try_get("", "quantity")?;
        let worth = |price: Money| price.times(quantity).0;
        let (regular, asked) = (worth(row.try_get("", "regular_price")?), worth(row.try_get("", "unit_price")?));
        let of = out.entry(row.try_get("", "session")?).or_default();
        add(&mut of.overrides, (1, regular.saturating_sub(asked)));
    }
    let sql = "SELECT s.register_session_id AS session, CAST(COUNT(*) AS BIGINT) AS lines FROM sale_items i \
               JOIN sales s ON s.id = i.sale_id WHERE s.status <> $1 AND s.sale_type = $2 AND i.line_discount <> 0 \
               GROUP BY s.register_session_id";
    for row in query(&source.conn, sql, sold.map(Value::from)).await? {
        let of = out.entry(row.try_get("", "session")?).or_default();
        add(&mut of.discounts, (row.try_get("", "lines")?, 0));
    }
    let sql = "SELECT register_session_id AS session, line_discount, cart_discount FROM sales \
               WHERE status <> $1 AND sale_type = $2 AND (line_discount <> 0 OR cart_discount <> 0)";
    for row in query(&source.conn, sql, sold.map(Value::from)).await? {
        let (lines, cart): (i64, i64) = (row.try_get("", "line_discount")?, row.try_get("", "cart_discount")?);
        let of = out.entry(row.try_get("", "session")?).or_default();
        add(&mut of.discounts, (i64::from(cart != 0), lines.saturating_add(cart)));
    }
    let sql = "SELECT register_session_id AS session, removed FROM sales WHERE removed IS NOT NULL";
    for row in query(&source.conn, sql, []).await? {
        let removed: JsonText = row.try_get("", "removed")?;
        let of = out.entry(row.try_get("", "session")?).or_default();
        add(&mut of.removed, counted(&removed.0));
    }
    Ok(out)
}

fn counted(said: &Json) -> Counted {
    (said["count"].as_i64().unwrap_or_default(), said["amount"].as_i64().unwrap_or_default())
}

/// The names of those that a report says otherwise.
pub(super) fn differences(report: &Json, rows: Controls) -> impl Iterator<Item = String> + use<> {
    let said = |key: &str| counted(&report["controls"][key]);
    let removed = said("removed");
    let wrong = [
        (said("priceOverrides") != rows.overrides, "totals.controls.priceOverrides"),
        (said("manualDiscounts") != rows.discounts, "totals.controls.manualDiscounts"),
        (removed.0 < rows.removed.0 || removed.1 < rows.removed.1, "totals.controls.removed"),
    ];
    wrong.into_iter().filter(|(wrong, _)| *wrong).map(|(_, name)| name.to_owned())
}
