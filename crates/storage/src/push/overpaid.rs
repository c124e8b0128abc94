//! Payments of what was owed that took more than was owed. Two tills or two stores may both have taken it, and none of them
//! could know: both are kept, and people look at it. `docs/sync.md`, rule U15.

use sea_orm::DbErr;
use tillkeep_model::state::SaleStatus;
use tillkeep_model::words::SaleType;
use uuid::Uuid;

use super::group::{Answers, Group};
use super::merged::Merged;
use crate::document::sale::OVERPAID;
use crate::entity::sale::Model;
use crate::registry::flags;
use crate::rows::Row;
use crate::{Tx, accounts};

/// A payment on an account, by the place of its envelope.
pub(super) struct Paid {
    sale: Uuid,
    customer: Uuid,
    place: usize,
}

/// The payments on accounts among documents, but those that are voided or were meant as more.
pub(super) fn settlements(merged: &[Merged]) -> Vec<Paid> {
    let of = |document: &Merged| {
        let sale = document.row.typed::<Model>()?;
        let counts = sale.sale_type == SaleType::Settlement && sale.status != SaleStatus::Voided && !sale.prepaid;
        let customer = sale.customer_id.filter(|_| counts)?;
        Some(Paid { sale: sale.id, customer, place: document.place })
    };
    merged.iter().filter_map(of).collect()
}

/// The flag of one that headquarters has, and that took too much when it came: how the account stood then is kept nowhere else.
pub(super) fn kept(row: &dyn Row) -> Option<String> {
    let sale = row.typed::<Model>().filter(|sale| sale.status != SaleStatus::Voided)?;
    let had = sale.flags.0.as_array()?.iter().any(|flag| flag == OVERPAID);
    had.then(|| OVERPAID.to_owned())
}

/// Flags those after which the account is below zero, as the balances stand now.
pub(super) async fn flag(tx: &Tx, group: &Group<'_>, paid: &[Paid], answers: &mut Answers) -> Result<(), DbErr> {
    if paid.is_empty() {
        return Ok(());
    }
    let below = accounts::overpaid(tx, paid.iter().map(|paid| paid.customer).collect()).await?;
    let over: Vec<&Paid> = paid.iter().filter(|paid| below.contains(&paid.customer)).collect();
    let ids: Vec<Uuid> = over.iter().map(|paid| paid.sale).collect();
    flags::add(tx, group.entity, &ids, OVERPAID).await?;
    for paid in over {
        answers.warn(paid.place, OVERPAID);
    }
    Ok(())
}
