//! Turns, and the size of statements. What the two databases do differently lies here and below, and nowhere else.

use sea_orm::{ConnectionTrait, DbBackend, DbErr};
use uuid::Uuid;

pub use crate::sql::errors::{
    in_short, in_words, is_data_fault, is_passing, retry_serialization, retry_where, strikes_everything,
    unique_violation, was_broken_off,
};
pub(crate) use crate::sql::raw::{Row, execute, models, query};

/// Work that only one transaction does at a time.
#[derive(Clone, Copy, Debug)]
pub enum Turn {
    Migration = 1,
    Seed = 2,
    Audit = 3,
    Pin = 4,
    /// Balances of customers who are on their way to headquarters.
    Account = 5,
    /// Products that are sold before headquarters knows them, and those that it gets to know.
    Product = 6,
    /// What comes from one store.
    Push = 7,
    /// Successes that leave the log.
    Prune = 8,
    /// What stores did and said, which several servers write for the same ones.
    Heard = 9,
    /// Specials that count their units together.
    MixGroup = 10,
    /// Sales that come, which many do at a time, and what is given back of a sale that is not here.
    Refund = 11,
    /// What is wrong at headquarters, and who hears of it.
    Alerts = 12,
    /// Sales that come, which many do at a time, and a receiver of sales that is made.
    Sales = 13,
}

/// Waits until no other transaction has this `turn` and keeps it until the end of this one. On `SQLite` there is only
/// one writer anyway.
pub async fn take_turn(tx: &impl ConnectionTrait, turn: Turn) -> Result<(), DbErr> {
    if tx.get_database_backend() == DbBackend::Postgres {
        execute(tx, "SELECT pg_advisory_xact_lock($1)", [(0x7461_6c6c_i64 + turn as i64).into()]).await?;
    }
    Ok(())
}

/// As [`take_turn`], beside others who take it by this: only who takes it by that waits for them, and they for that one.
pub async fn share_turn(tx: &impl ConnectionTrait, turn: Turn) -> Result<(), DbErr> {
    if tx.get_database_backend() == DbBackend::Postgres {
        execute(tx, "SELECT pg_advisory_xact_lock_shared($1)", [(0x7461_6c6c_i64 + turn as i64).into()]).await?;
    }
    Ok(())
}

/// As [`take_turn`], for one store: work of other stores goes on.
pub async fn take_turn_of(tx: &impl ConnectionTrait, turn: Turn, store_id: Uuid) -> Result<(), DbErr> {
    if tx.get_database_backend() == DbBackend::Postgres {
        // The last part of an id is drawn at random. Two stores with the same one would wait for each other, and no more.
        let [.., a, b, c, d] = store_id.into_bytes();
        let store = i32::from_be_bytes([a, b, c, d]);
        execute(tx, "SELECT pg_advisory_xact_lock($1, $2)", [(turn as i32).into(), store.into()]).await?;
    }
    Ok(())
}

/// `$from, $from+1, …` for `count` parameters.
pub fn placeholders(from: usize, count: usize) -> String {
    (from..from + count).map(|index| format!("${index}")).collect::<Vec<_>>().join(", ")
}

/// Rows of one statement when each has `columns` values: under the parameter limit of both databases.
pub const fn rows_per_statement(columns: usize) -> usize {
    let fit = 30_000 / if columns == 0 { 1 } else { columns };
    if fit > 500 { 500 } else { fit }
}
