//! I5: what a manager looks at in the report of a drawer, as far as its documents say it: prices that a person set, discounts that a
//! person gave, and what was taken off carts. Approvals and carts that never became a sale are told by the store alone.

use std::collections::HashMap;

use sea_orm::{DbErr, Value};
use serde_json::Value as Json;
use tillkeep_model::pricing::PriceSource;
use tillkeep_model::state::SaleStatus;
use tillkeep_model::words::SaleType;
use tillkeep_model::{JsonText, Money, Qty};
use uuid::Uuid;

use super::pages::Pages;
use super::source::Source;
use crate::db::Row;
use crate::many::find_in;

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

/// What a price that a person set, or a discount, is asked of: `$1` and `$2`.
const SOLD: [&str; 2] = [SaleStatus::Voided.word(), SaleType::Sale.word()];

impl Controls {
    pub(super) fn add_sale(&mut self, row: &Row) -> Result<(), DbErr> {
        let [voided, sale] = SOLD;
        let (status, kind): (String, String) = (row.try_get("", "status")?, row.try_get("", "sale_type")?);
        if status != voided && kind == sale {
            let (lines, cart): (i64, i64) = (row.try_get("", "line_discount")?, row.try_get("", "cart_discount")?);
            add(&mut self.discounts, (i64::from(cart != 0), lines.saturating_add(cart)));
        }
        if let Some(removed) = row.try_get::<Option<JsonText>>("", "removed")? {
            add(&mut self.removed, counted(&removed.0));
        }
        Ok(())
    }
}

/// Adds what lines say.
pub(super) async fn add_lines<T: Default + AsMut<Controls>>(
    source: &Source,
    drawers: &[Uuid],
    out: &mut HashMap<Uuid, T>,
) -> Result<(), DbErr> {
    let sql = "SELECT i.id, s.register_session_id AS session, i.regular_price, i.unit_price, i.quantity \
               FROM sale_items i JOIN sales s ON s.id = i.sale_id WHERE s.status <> $1 AND s.sale_type = $2 \
               AND i.price_source = $3 AND s.register_session_id IN ($list) AND $behind";
    let words = SOLD.into_iter().chain([PriceSource::Override.as_str()]).map(Value::from);
    let mut pages = Pages::new(source, sql, words, &[("i.id", Uuid::nil().into())]).of(drawers.iter().copied());
    while let Some(rows) = pages.page().await? {
        for row in rows {
            let quantity: Qty = row.try_get("", "quantity")?;
            let worth = |price: Money| price.times(quantity).0;
            let (regular, asked) = (worth(row.try_get("", "regular_price")?), worth(row.try_get("", "unit_price")?));
            let of: &mut Controls = out.entry(row.try_get("", "session")?).or_default().as_mut();
            add(&mut of.overrides, (1, regular.saturating_sub(asked)));
        }
    }
    let sql = "SELECT s.register_session_id AS session, CAST(COUNT(*) AS BIGINT) AS lines FROM sale_items i \
               JOIN sales s ON s.id = i.sale_id WHERE s.status <> $1 AND s.sale_type = $2 AND i.line_discount <> 0 \
               AND s.register_session_id IN ($list) GROUP BY s.register_session_id";
    for row in find_in(&source.conn, sql, &SOLD.map(Value::from), drawers.iter().copied()).await? {
        let of: &mut Controls = out.entry(row.try_get("", "session")?).or_default().as_mut();
        add(&mut of.discounts, (row.try_get("", "lines")?, 0));
    }
    Ok(())
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
