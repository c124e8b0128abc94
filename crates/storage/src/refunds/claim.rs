//! A store asks for what it is about to give back.

use std::collections::HashMap;

use sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter, QuerySelect};
use tillkeep_model::state::SaleStatus;
use tillkeep_model::wire::{ClaimAnswer, ClaimLine, ClaimRequest, GivenBack};
use tillkeep_model::words::SaleType;
use tillkeep_model::{Instant, JsonText, Qty, ids};
use uuid::Uuid;

use super::at_hq::{given_back, known_as, of_lines, paid_back};
use super::claims::{self, remove};
use crate::Tx;
use crate::db::{Turn, execute, take_turn};
use crate::entity::refund_claim::Entity;
use crate::entity::{sale, sale_item};
use crate::kept_ids::KeptIds;

/// What is said to a claim.
#[derive(Debug)]
pub enum Claimed {
    Kept(ClaimAnswer),
    /// More than is left, beside what was given back and is about to be.
    Over(Vec<GivenBack>),
    /// The sale was voided.
    Voided,
    /// Nothing is given back of a refund or a settlement.
    NotASale,
    /// The store has as many claims open as one may.
    TooMany,
}

/// Claims for `store` what it asks for of the sale that it calls `sale`, in place of what it claimed under the same id.
pub async fn claim(tx: &Tx, store: Uuid, sale: Uuid, asked: &ClaimRequest, now: Instant) -> Result<Claimed, DbErr> {
    let id = known_as(&**tx, store, sale).await?;
    let mut original = locked(tx, id).await?;
    if original.is_none() {
        // Another transaction may be storing it just now, and another store may claim it.
        take_turn(tx, Turn::Refund).await?;
        original = locked(tx, id).await?;
    }
    let own = own_id(tx, store, asked.id).await?;
    let is_void = asked.id == sale;
    let names = KeptIds::of_store(&**tx, store).await?;
    let given = given_back(&**tx, &names, id, Some(own)).await?;
    let is_done = if is_void {
        original.as_ref().is_some_and(|sale| sale.status == SaleStatus::Voided)
    } else {
        is_here(tx, store, asked.id).await?
    };
    let mut claimed = asked.lines.clone();
    if let Some(original) = original.as_ref().filter(|_| !is_done) {
        if original.status == SaleStatus::Voided {
            return Ok(Claimed::Voided);
        }
        if !is_void && [SaleType::Refund, SaleType::Settlement].iter().any(|other| original.sale_type == *other) {
            return Ok(Claimed::NotASale);
        }
        let lines = lines_of(tx, &names, id).await?;
        if is_over(&lines, &given, &asked.lines) {
            return Ok(Claimed::Over(given));
        }
        for line in &mut claimed {
            if let Some((id, _)) = lines.get(&line.sale_item_id) {
                line.sale_item_id = *id;
            }
        }
    }
    remove(tx, store, &[own]).await?;
    if !is_done && !claimed.is_empty() {
        if claims::is_full(tx, store).await? {
            return Ok(Claimed::TooMany);
        }
        let sql = "INSERT INTO refund_claims (id, sale_id, store_id, created_at, lines) VALUES ($1, $2, $3, $4, $5)";
        let lines = JsonText::new(&claimed);
        execute(&**tx, sql, [own.into(), id.into(), store.into(), now.into(), lines.into()]).await?;
    }
    let paid_back = paid_back(&**tx, &names, id).await?;
    Ok(Claimed::Kept(ClaimAnswer { known: original.is_some(), given_back: given, paid_back }))
}

async fn locked(tx: &Tx, id: Uuid) -> Result<Option<sale::Model>, DbErr> {
    sale::Entity::find_by_id(id).lock_exclusive().one(&**tx).await
}

/// The id under which a claim is kept: another store may have a claim under the same one.
async fn own_id(tx: &Tx, store: Uuid, id: Uuid) -> Result<Uuid, DbErr> {
    let there = Entity::find_by_id(id).one(&**tx).await?;
    let is_taken = there.is_some_and(|claim| claim.store_id != store);
    Ok(if is_taken { ids::elsewhere(store, id) } else { id })
}

/// Whether headquarters has the document that `store` calls `sent`.
async fn is_here(tx: &Tx, store: Uuid, sent: Uuid) -> Result<bool, DbErr> {
    let id = known_as(&**tx, store, sent).await?;
    let here = sale::Entity::find_by_id(id).filter(sale::Column::StoreId.eq(store)).one(&**tx).await?;
    Ok(here.is_some())
}

/// The lines of a sale by the ids that a store knows them by: that which they have here, and how much was sold.
async fn lines_of(tx: &Tx, names: &KeptIds, sale: Uuid) -> Result<HashMap<Uuid, (Uuid, Qty)>, DbErr> {
    let lines = sale_item::Entity::find().filter(sale_item::Column::SaleId.eq(sale)).all(&**tx).await?;
    Ok(lines.into_iter().map(|line| (names.sent(line.id), (line.id, line.quantity))).collect())
}

/// Whether more of a line is asked for than is left of it; of what is no line of the sale nothing is.
fn is_over(lines: &HashMap<Uuid, (Uuid, Qty)>, given: &[GivenBack], asked: &[ClaimLine]) -> bool {
    let mut back = of_lines(given);
    for ClaimLine { sale_item_id, quantity } in asked {
        *back.entry(*sale_item_id).or_default() += i128::from(quantity.0);
    }
    asked.iter().any(|ClaimLine { sale_item_id, .. }| {
        let sold = lines.get(sale_item_id).map_or(0, |(_, sold)| i128::from(sold.0));
        back.get(sale_item_id).is_some_and(|back| *back > sold)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_twice_in_one_claim_is_asked_for_together_and_of_what_was_not_sold_nothing_is_left() {
        let (line, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let lines = HashMap::from([(line, (line, Qty::pieces(3)))]);
        let given = [GivenBack {
            sale_item_id: line,
            refund_id: Uuid::nil(),
            quantity: Qty::pieces(1),
            receipt_number: None,
            store_code: String::new(),
        }];
        let ask = |line, pieces| ClaimLine { sale_item_id: line, quantity: Qty::pieces(pieces) };
        assert!(!is_over(&lines, &given, &[ask(line, 2)]));
        assert!(!is_over(&lines, &given, &[ask(line, 1), ask(line, 1)]));
        assert!(is_over(&lines, &given, &[ask(line, 2), ask(line, 1)]));
        assert!(is_over(&lines, &[], &[ask(other, 1)]));
    }
}
