//! Statements of own SQL, for this crate and for tests. The servers' own code names nothing of this room.

#![expect(clippy::disallowed_methods, reason = "gives their rows types")]

pub use sea_orm::{self, sqlx};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, FromQueryResult, Statement, StatementBuilder, Value};

pub use crate::sql::row::Row;

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
