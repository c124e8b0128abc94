//! What a manager looks at.

use std::collections::BTreeMap;

use serde::Deserialize;
use tillkeep_model::state::SaleStatus;
use tillkeep_model::words::SaleType;
use tillkeep_model::z::{Counted, RemovedBy, ZReport};
use tillkeep_model::{JsonText, Money};
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::register_session;
use tillkeep_storage::reports::drawer;
use tillkeep_storage::sea_orm::ConnectionTrait;
use uuid::Uuid;

/// What was taken off one cart, as it is stored: of very many the lines are not kept, but counted all the same.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Removed {
    count: i64,
    amount: Money,
}

pub(super) async fn add(
    conn: &impl ConnectionTrait,
    report: &mut ZReport,
    session: &register_session::Model,
    documents: &[drawer::Document],
    departments: &[drawer::Department],
) -> Result<(), DbErr> {
    let counts = drawer::counts(conn, session.id, session.register_id).await?;
    let overrides = drawer::overrides(conn, session.id).await?;
    let abandoned = drawer::removed_from_abandoned(conn, session.id).await?;
    let controls = &mut report.controls;
    controls.approvals = counts.approvals;
    controls.parked_abandoned = counts.abandoned;
    controls.parked_open = counts.parked;
    controls.no_sale_count = i64::from(session.no_sale_count);
    controls.price_overrides = Counted {
        count: i64::try_from(overrides.len()).unwrap_or(i64::MAX),
        amount: Money::from_wide(overrides.iter().map(marked_down).sum()),
    };
    controls.manual_discounts = discounts(documents, departments);
    // Of a cart that was parked and sold its sale says it; of one that was abandoned nothing else does.
    let of_sales = documents.iter().filter_map(|document| Some((document.cashier_user_id, document.removed.as_ref()?)));
    let of_carts = abandoned.iter().map(|(cashier, removed)| (*cashier, removed));
    controls.removed.by_cashier = by_cashier(of_sales.chain(of_carts));
    let cashiers = &controls.removed.by_cashier;
    controls.removed.count = cashiers.iter().fold(0, |sum: i64, cashier| sum.saturating_add(cashier.count));
    controls.removed.amount = Money::from_wide(cashiers.iter().map(|cashier| i128::from(cashier.amount.0)).sum());
    Ok(())
}

/// In wide arithmetic: no limit holds for what a line would have cost.
fn marked_down(line: &drawer::Override) -> i128 {
    i128::from(line.regular_price.times(line.quantity).0) - i128::from(line.unit_price.times(line.quantity).0)
}

/// Discounts that a person gave: on lines, and on whole carts.
fn discounts(documents: &[drawer::Document], departments: &[drawer::Department]) -> Counted {
    let sold =
        |document: &&drawer::Document| document.status != SaleStatus::Voided && document.sale_type == SaleType::Sale;
    let on_carts = documents.iter().filter(sold).filter(|document| document.cart_discount != Money(0)).count();
    let on_lines: i64 = departments.iter().map(|department| department.discounted).sum();
    Counted {
        count: on_lines + i64::try_from(on_carts).unwrap_or(i64::MAX),
        amount: documents.iter().filter(sold).map(|document| document.line_discount + document.cart_discount).sum(),
    }
}

fn by_cashier<'a>(removed: impl Iterator<Item = (Uuid, &'a JsonText)>) -> Vec<RemovedBy> {
    let mut cashiers: BTreeMap<Uuid, RemovedBy> = BTreeMap::new();
    for (user_id, removed) in removed {
        let Ok(removed) = Removed::deserialize(&removed.0) else { continue };
        let of = cashiers.entry(user_id).or_insert_with(|| RemovedBy { user_id, ..RemovedBy::default() });
        // What tills say is no reason not to close a drawer.
        of.count = of.count.saturating_add(removed.count);
        of.amount = Money(of.amount.0.saturating_add(removed.amount.0));
    }
    cashiers.into_values().filter(|cashier| cashier.count > 0).collect()
}
