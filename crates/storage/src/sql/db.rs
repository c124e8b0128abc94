//! Statements of own SQL, and turns. What the two databases do differently lies here and below, and nowhere else.

#![expect(clippy::disallowed_methods, reason = "gives their rows types")]

use sea_orm::{ConnectionTrait, DbBackend, DbErr, FromQueryResult, Statement, StatementBuilder, Value};
use uuid::Uuid;

pub use crate::sql::errors::{
    in_short, is_data_fault, is_passing, retry_serialization, strikes_everything, unique_violation,
};
pub use crate::sql::row::Row;

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
}

/// Waits until no other transaction has this `turn` and keeps it until the end of this one. On `SQLite` there is only
/// one writer anyway.
pub async fn take_turn(tx: &impl ConnectionTrait, turn: Turn) -> Result<(), DbErr> {
    if tx.get_database_backend() == DbBackend::Postgres {
        execute(tx, "SELECT pg_advisory_xact_lock($1)", [(0x7461_6c6c_i64 + turn as i64).into()]).await?;
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

/// One statement in the text both databases read: `$1`, `$2`, …
pub fn statement(conn: &impl ConnectionTrait, sql: &str, values: impl IntoIterator<Item = Value>) -> Statement {
    Statement::from_sql_and_values(conn.get_database_backend(), sql, values)
}

/// Executes `sql`; the number of rows it changed.
pub async fn execute(
    conn: &impl ConnectionTrait,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Result<u64, DbErr> {
    Ok(conn.execute_raw(statement(conn, sql, values)).await?.rows_affected())
}

/// The rows of `sql`, whatever it selects.
pub async fn query(
    conn: &impl ConnectionTrait,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Result<Vec<Row>, DbErr> {
    let rows = conn.query_all_raw(statement(conn, sql, values)).await?;
    Ok(rows.into_iter().map(Row::from).collect())
}

/// The rows of `sql`, which selects columns of tables and no expressions.
pub async fn models<M: FromQueryResult>(
    conn: &impl ConnectionTrait,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Result<Vec<M>, DbErr> {
    let rows = conn.query_all(&Text(statement(conn, sql, values))).await?;
    rows.iter().map(|row| M::from_query_result(row, "")).collect()
}

/// A statement that is written out.
struct Text(Statement);

impl StatementBuilder for Text {
    fn build(&self, _: &DbBackend) -> Statement {
        self.0.clone()
    }
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
