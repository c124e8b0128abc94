//! Makes the steps that a database does not have yet, each in a transaction of its own.

use std::collections::BTreeSet;

use sea_orm::sea_query::{Alias, Expr, Index, Query, Table, TableCreateStatement};
use sea_orm::{ConnectionTrait, DbBackend, DbErr};

use super::statements::definition;
use super::step::{Schema, Step};
use super::table::columns;
use crate::db::{Turn, query, take_turn};
use crate::{Connection, Side, Transaction, fault};

/// The table of the steps that were made, each with its time.
const MADE: &str = "schema_steps";

/// Brings the database up to the last of `steps`. Several servers may start at once: each step is made by one of them,
/// and the others wait for it.
pub async fn run(conn: &Connection, side: Side, steps: &[Step]) -> Result<(), DbErr> {
    loop {
        let tx = conn.begin_to_write().await?;
        take_turn(&tx, Turn::Migration).await?;
        tx.execute(&record(tx.get_database_backend(), side)).await?;
        let made = made(&tx).await?;
        refuse_newer(&made, steps)?;
        let Some(next) = steps.iter().position(|step| !made.contains(step.name)) else {
            return tx.commit().await;
        };
        make(&tx, side, &steps[next], Schema::after(&steps[..next])).await?;
        tx.commit().await?;
        tracing::info!(step = steps[next].name, "the schema is one step further");
    }
}

/// An error that says what to do, when the database is not at the last of `steps`. Writes nothing.
pub async fn check(conn: &impl ConnectionTrait, steps: &[Step]) -> Result<(), DbErr> {
    let made = made(conn).await?;
    refuse_newer(&made, steps)?;
    match steps.iter().find(|step| !made.contains(step.name)) {
        None => Ok(()),
        Some(step) => Err(DbErr::Migration(format!(
            "the database is of an older release, it lacks the step {}: start its server with this version first",
            step.name
        ))),
    }
}

fn refuse_newer(made: &BTreeSet<String>, steps: &[Step]) -> Result<(), DbErr> {
    match made.iter().find(|name| steps.iter().all(|step| step.name != **name)) {
        None => Ok(()),
        Some(name) => Err(DbErr::Migration(format!(
            "the database is of a newer release, it has the step {name}, which this program does not know: start the \
             newer version, or put back the backup made before the upgrade"
        ))),
    }
}

async fn make(tx: &Transaction, side: Side, step: &Step, mut schema: Schema) -> Result<(), DbErr> {
    for change in step.changes {
        change.make(tx, side, &schema).await?;
        schema.take(change);
        fault::point("migration.step")?;
    }
    let mut note = Query::insert();
    note.into_table(Alias::new(MADE)).columns([Alias::new("name"), Alias::new("made_at")]);
    note.values([Expr::value(step.name), Expr::current_timestamp()])
        .map_err(|error| DbErr::Custom(error.to_string()))?;
    tx.execute(&note).await?;
    Ok(())
}

/// Makes the table of the steps, unless it is there.
pub(super) fn record(backend: DbBackend, side: Side) -> TableCreateStatement {
    let mut table = Table::create();
    table.table(Alias::new(MADE)).if_not_exists();
    let mut key = Index::create();
    for column in columns("name text!, made_at ts") {
        table.col(definition(backend, side, column));
        if column.key {
            key.col(Alias::new(column.name));
        }
    }
    table.primary_key(&mut key).to_owned()
}

async fn made(conn: &impl ConnectionTrait) -> Result<BTreeSet<String>, DbErr> {
    let rows = query(conn, &format!("SELECT name FROM {MADE}"), []).await?;
    rows.iter().map(|row| row.try_get("", "name")).collect()
}
