//! What HQ has of a store's business day, and what is missing: a lost sale is silent unless it is counted.
//! `docs/sync.md`, rule U13. Figures are compared as they came; nothing is computed again.

mod assess;
mod day;
mod facts;
mod outbox;
mod ranges;
mod zz;

use std::collections::HashSet;

use sea_orm::{ConnectionTrait, DbErr};
use uuid::Uuid;

use self::assess::{Assessed, LOOKED_FOR};
pub use self::day::{CashMoved, Day, Figures, ReceiptRange, Register, SessionState, StoreContact, Verdict};
use self::facts::Facts;
pub use self::outbox::{Outbox, Reported, outbox};
pub use self::ranges::Range;
use crate::many::find_in;

/// The days `dates` (rising) of `store`, in seven queries whatever their number, and five more where drawers are in ZZ reports.
pub async fn days(
    conn: &impl ConnectionTrait,
    store: Uuid,
    dates: &[String],
    known: StoreContact<'_>,
) -> Result<Vec<Day>, DbErr> {
    let facts = Facts::read(conn, store, dates).await?;
    let mut assessed = assess::days(&facts, dates);
    let named: Vec<String> = assessed.iter().flat_map(Assessed::candidates).take(LOOKED_FOR).collect();
    let elsewhere = existing(conn, store, &named).await?;
    for day in &mut assessed {
        day.found(&elsewhere);
    }
    Ok(assessed.into_iter().map(|day| day.judged(known)).collect())
}

/// Those of `numbers` that a sale of the store has, on whatever day.
async fn existing(conn: &impl ConnectionTrait, store: Uuid, numbers: &[String]) -> Result<HashSet<String>, DbErr> {
    let sql = "SELECT receipt_number FROM sales WHERE store_id = $1 AND receipt_number IN ($list)";
    let found = find_in(conn, sql, &[store.into()], numbers.iter().map(String::as_str)).await?;
    found.iter().map(|row| row.try_get("", "receipt_number")).collect()
}
