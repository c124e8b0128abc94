//! Many rows into one table. `PostgreSQL` takes many in a statement, since each statement is a way there and back: an array for
//! each column. On `SQLite` a long text costs more than its rows do: there one prepared statement takes one row after the other.

use sea_orm::sea_query::{Alias, Expr, OnConflict, Query, Values};
use sea_orm::{
    ConnectionTrait, DbBackend, DbErr, EntityTrait, IdenStatic, IntoActiveModel, Iterable, ModelTrait, QueryTrait,
    Statement, StatementBuilder, Value,
};

use super::arrays::Array;
use super::connection::Transaction;
use crate::db::{execute, placeholders, rows_per_statement, unique_violation};

/// Rows of one statement on `PostgreSQL`.
const ROWS: usize = 2000;

/// An entity of which rows are written many at a time.
pub(crate) trait Many: EntityTrait<Model: Send + Sync> {}

impl<E: EntityTrait<Model: Send + Sync>> Many for E {}

/// Inserts `models`, and does what `conflict` says with rows that are there already; how many rows that changed.
pub(crate) async fn insert<E: Many>(
    conn: &Transaction,
    models: Vec<E::Model>,
    conflict: Option<OnConflict>,
) -> Result<u64, DbErr> {
    if conn.get_database_backend() == DbBackend::Sqlite {
        return one_by_one::<E>(conn, &models, conflict).await;
    }
    as_arrays::<E>(conn, &models, conflict).await
}

/// As [`insert`], with many rows in a statement on `SQLite` too: for what a sale writes, in statements that are counted
/// (`crates/store/tests/till/statements.rs`).
pub(crate) async fn together<E>(
    conn: &Transaction,
    models: Vec<E::Model>,
    conflict: Option<OnConflict>,
) -> Result<u64, DbErr>
where
    E: Many,
    E::Model: IntoActiveModel<E::ActiveModel>,
    E::ActiveModel: Send,
{
    if conn.get_database_backend() == DbBackend::Postgres {
        return as_arrays::<E>(conn, &models, conflict).await;
    }
    let mut changed = 0;
    let mut rows = models.into_iter().map(IntoActiveModel::into_active_model);
    loop {
        let chunk: Vec<_> = rows.by_ref().take(rows_per_statement(E::Column::iter().count())).collect();
        if chunk.is_empty() {
            return Ok(changed);
        }
        let mut insert = E::insert_many(chunk);
        if let Some(conflict) = &conflict {
            insert = insert.on_conflict(conflict.clone());
        }
        changed += insert.exec_without_returning(conn).await?;
    }
}

/// Rows of one table that are ready to be inserted, made before anybody waits for it: the texts are long, and a store has one
/// writer.
pub struct Lines(Vec<Statement>);

impl Lines {
    /// Lines of a document, as many in a statement as [`together`] has.
    pub fn new<E>(models: &[E::Model], conn: &impl ConnectionTrait) -> Self
    where
        E: EntityTrait,
        E::Model: IntoActiveModel<E::ActiveModel> + Clone,
    {
        let insert = |models: &[E::Model]| {
            let models = models.iter().cloned().map(IntoActiveModel::into_active_model);
            E::insert_many(models).build(conn.get_database_backend())
        };
        Self(models.chunks(rows_per_statement(E::Column::iter().count())).map(insert).collect())
    }

    /// Lines that are there already, as they are now.
    pub fn changed<E>(models: &[E::Model], conn: &impl ConnectionTrait) -> Self
    where
        E: EntityTrait,
        E::Model: IntoActiveModel<E::ActiveModel> + Clone,
    {
        let upsert = |models: &[E::Model]| {
            let models = models.iter().cloned().map(IntoActiveModel::into_active_model);
            let change = OnConflict::column(Alias::new("id"))
                .update_columns(E::Column::iter().filter(|column| column.as_str() != "id"))
                .to_owned();
            E::insert_many(models).on_conflict(change).build(conn.get_database_backend())
        };
        Self(models.chunks(rows_per_statement(E::Column::iter().count())).map(upsert).collect())
    }

    pub(crate) async fn insert(self, conn: &Transaction) -> Result<(), DbErr> {
        for statement in self.0 {
            conn.execute_raw(statement).await?;
        }
        Ok(())
    }
}

/// What [`add`] came to.
pub struct Added {
    /// Rows that are there by it.
    pub changed: u64,
    /// Whether none was there before.
    pub all_are_new: bool,
}

/// As [`insert`], of rows of which probably none is there. To look out for conflicts costs each of them something on `SQLite`; on
/// `PostgreSQL` one that is met would end the transaction.
pub(crate) async fn add<E: Many>(
    conn: &Transaction,
    models: Vec<E::Model>,
    conflict: OnConflict,
) -> Result<Added, DbErr> {
    if conn.get_database_backend() == DbBackend::Postgres {
        let changed = as_arrays::<E>(conn, &models, Some(conflict)).await?;
        return Ok(Added { changed, all_are_new: false });
    }
    match one_by_one::<E>(conn, &models, None).await {
        Ok(changed) => Ok(Added { changed, all_are_new: true }),
        // Those before it are there now, and meet themselves.
        Err(error) if unique_violation(&error).is_some() => {
            let changed = one_by_one::<E>(conn, &models, Some(conflict)).await?;
            Ok(Added { changed, all_are_new: false })
        }
        Err(error) => Err(error),
    }
}

async fn as_arrays<E: Many>(
    conn: &Transaction,
    models: &[E::Model],
    conflict: Option<OnConflict>,
) -> Result<u64, DbErr> {
    let columns: Vec<E::Column> = E::Column::iter().collect();
    let (one_row, further) = of_one_row::<E>(&columns, conflict, DbBackend::Postgres)?;
    let mut changed = 0;
    for chunk in models.chunks(ROWS) {
        let (mut arrays, mut values) = (Vec::with_capacity(columns.len()), Vec::with_capacity(columns.len()));
        for (place, column) in columns.iter().enumerate() {
            let array = Array::new(&chunk.iter().map(|model| model.get(*column)).collect::<Vec<_>>())?;
            arrays.push(array.cast(place + 1));
            values.push(array.value());
        }
        let row = format!("VALUES ({})", placeholders(1, columns.len()));
        let rows = format!("SELECT * FROM UNNEST({})", arrays.join(", "));
        values.extend(further.iter().cloned());
        changed += execute(conn, &one_row.replacen(&row, &rows, 1), values).await?;
    }
    Ok(changed)
}

async fn one_by_one<E: Many>(
    conn: &Transaction,
    models: &[E::Model],
    conflict: Option<OnConflict>,
) -> Result<u64, DbErr> {
    let columns: Vec<E::Column> = E::Column::iter().collect();
    let (sql, further) = of_one_row::<E>(&columns, conflict, DbBackend::Sqlite)?;
    let values = |model: &E::Model| -> Vec<Value> {
        columns.iter().map(|column| model.get(*column)).chain(further.iter().cloned()).collect()
    };
    conn.execute_each(&sql, models.iter().map(values)).await
}

/// The text that inserts one row, and the values of its own that come after those of the row.
fn of_one_row<E: EntityTrait>(
    columns: &[E::Column],
    conflict: Option<OnConflict>,
    backend: DbBackend,
) -> Result<(String, Vec<Value>), DbErr> {
    let mut insert = Query::insert();
    let places = columns.iter().map(|_| Expr::value(0));
    let built = insert.into_table(E::default()).columns(columns.iter().copied()).values(places);
    built.map_err(|error| DbErr::Custom(error.to_string()))?;
    if let Some(conflict) = conflict {
        insert.on_conflict(conflict);
    }
    let statement = StatementBuilder::build(&insert, &backend);
    let Values(values) = statement.values.unwrap_or(Values(Vec::new()));
    Ok((statement.sql, values.into_iter().skip(columns.len()).collect()))
}
