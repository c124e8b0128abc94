//! How many new customers of one store headquarters takes in an hour. `docs/sync.md`, rule U16.

use sea_orm::DbErr;
use tillkeep_model::wire::Applied;

use super::group::{Answers, Group};
use super::merged::Merged;
use crate::document::customer;
use crate::envelope::Verdict;
use crate::{Tx, new_customers, nodes};

/// Leaves the customers for later that are more than their store may make in this hour, the newest ones, if it knows what that
/// means: one of release 0.1.0 counts it as a refusal, and gives the customer up.
pub(super) async fn limit(
    tx: &Tx,
    group: &Group<'_>,
    merged: &mut Vec<Merged>,
    answers: &mut Answers,
) -> Result<(), DbErr> {
    let Some(most) = group.sender.new_customers.filter(|_| group.entity.name == customer::TYPE) else { return Ok(()) };
    let is_new = |document: &Merged| document.applied == Applied::Inserted;
    let new = merged.iter().filter(|document| is_new(document)).count();
    if new == 0 {
        return Ok(());
    }
    let (store, number) = (group.sender.store_id, i64::try_from(new).unwrap_or(i64::MAX));
    let over = new_customers::count(tx, store, number, group.now).await? - i64::from(most);
    if over <= 0 {
        return Ok(());
    }
    let waits = nodes::knows_to_wait(tx, store).await?;
    let left = if waits { over.min(number) } else { 0 };
    new_customers::beyond(tx, store, left, group.now).await?;
    let mut taken = number - left;
    merged.retain(|document| {
        if !is_new(document) || taken > 0 {
            taken -= i64::from(is_new(document));
            return true;
        }
        let text = format!("a store makes {most} new customers an hour at the most; the rest has to wait");
        answers.give(document.place, Verdict::Later(text));
        false
    });
    tracing::warn!(store = group.sender.store_code, most, left, "more new customers than a store makes in an hour");
    Ok(())
}
