//! What there should be in the drawer: the float, the payments in cash and what was put in and taken out.

use serde::Deserialize;
use tillkeep_model::Money;
use tillkeep_model::words::{CashMovementKind, Reported};
use tillkeep_model::z::{Cash, ZReport};
use tillkeep_storage::document::session::is_late;
use tillkeep_storage::entity::register_session;

/// A movement as its drawer carries it. The drawer comes back when a database is lost, and its movements with it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Movement {
    r#type: String,
    #[serde(default)]
    amount: Money,
}

pub(super) fn add(report: &mut ZReport, session: &register_session::Model) {
    let mut cash = Cash { opening_float: session.opening_float, payments: report.paid_in_cash(), ..Cash::default() };
    for movement in movements(session) {
        match Reported::<CashMovementKind>::read(&movement.r#type) {
            Reported::Known(CashMovementKind::PaidIn) => cash.paid_in += movement.amount,
            Reported::Known(CashMovementKind::FloatAdd) => cash.float_add += movement.amount,
            Reported::Known(CashMovementKind::PaidOut) => cash.paid_out += movement.amount,
            Reported::Known(CashMovementKind::Drop) => cash.drop += movement.amount,
            Reported::Known(CashMovementKind::NoSale) | Reported::Other(_) => {}
        }
    }
    cash.expected = cash.opening_float + cash.payments + cash.paid_in + cash.float_add - cash.paid_out - cash.drop;
    report.controls.paid_out_beyond_cash = cash.expected < Money(0);
    report.expected_cash = cash.expected;
    report.cash = cash;
}

fn movements(session: &register_session::Model) -> Vec<Movement> {
    let all = session.cash_movements.0.as_array().into_iter().flatten();
    // What came back after the close was in no figure of it.
    all.filter(|movement| !is_late(movement)).filter_map(|movement| Movement::deserialize(movement).ok()).collect()
}
