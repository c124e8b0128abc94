//! Makes the steps that a database does not have yet, each in a transaction of its own.

use std::collections::BTreeSet;
use std::time::Duration;

use sea_orm::sea_query::{Alias, Expr, Index, Query, Table, TableCreateStatement};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, Statement};

use crate::db::{Turn, query, take_turn};
use crate::migration::{Change, Schema, Step, columns, definition};
use crate::sql::errors::has_given_way;
use crate::{Connection, Side, Transaction, fault, registry, settings, tags, versions};

/// The table of the steps that were made, each with its time.
const MADE: &str = "schema_steps";

/// How long a step that gave way to others waits before it is tried again.
const PAUSE: Duration = Duration::from_secs(2);
/// How often it is said that it waits: with every so many tries.
const SAID: u32 = 20;

/// What `steps` tell a database.
pub fn script(steps: &[Step], side: Side, backend: DbBackend) -> Result<Vec<Statement>, DbErr> {
    let mut schema = Schema::default();
    let mut all = vec![backend.build(&record(backend, side))];
    for change in steps.iter().flat_map(|step| step.changes) {
        all.extend(change.statements(&schema, side, backend)?);
        schema.take(change);
    }
    Ok(all)
}

/// Brings the database up to the last of `steps`. Several servers may start at once: each step is made by one of them,
/// and the others wait for it. A step that would have to wait for what others do gives way, so that none waits behind
/// it, and is tried again.
pub async fn run(conn: &Connection, side: Side, steps: &[Step]) -> Result<(), DbErr> {
    let mut tries = 0_u32;
    loop {
        match next(conn, side, steps).await {
            Ok(None) => return Ok(()),
            Ok(Some(step)) => tracing::info!(step, "the schema is one step further"),
            Err(error) if has_given_way(&error) => {
                if tries.is_multiple_of(SAID) {
                    tracing::warn!(%error, tries, "the schema waits until others are done with what it changes");
                }
                tries += 1;
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Makes the next step; `None` when there is none.
async fn next(conn: &Connection, side: Side, steps: &[Step]) -> Result<Option<&'static str>, DbErr> {
    let tx = conn.begin_to_write().await?;
    take_turn(&tx, Turn::Migration).await?;
    tx.execute(&record(tx.get_database_backend(), side)).await?;
    let made = made(&tx).await?;
    refuse_other(&tx, side).await?;
    if let Some(newer) = unknown(&made, steps).next() {
        allow_newer(&tx, side, &made, steps).await?;
        tracing::warn!(
            step = newer,
            "the database is of a newer release, beside which this program works until it is replaced"
        );
        return tx.commit().await.map(|()| None);
    }
    let Some(next) = steps.iter().position(|step| !made.contains(step.name)) else {
        return tx.commit().await.map(|()| None);
    };
    make(&tx, side, &steps[next], Schema::after(&steps[..next])).await?;
    tx.commit().await?;
    Ok(Some(steps[next].name))
}

/// Which side has it; `None` for a new one. Only a file can be the wrong one: `PostgreSQL` is headquarters' alone.
pub async fn side_of(conn: &impl ConnectionTrait) -> Result<Option<Side>, DbErr> {
    if conn.get_database_backend() != DbBackend::Sqlite {
        return Ok(Some(Side::Hq));
    }
    let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('sync_outbox', 'sync_log')";
    let Some(row) = query(conn, sql, []).await?.into_iter().next() else { return Ok(None) };
    let name: String = row.try_get("", "name")?;
    Ok(Some(if name == "sync_outbox" { Side::Store } else { Side::Hq }))
}

/// An error when this is the other side's database, which nothing may be changed in.
pub async fn refuse_other(conn: &impl ConnectionTrait, wanted: Side) -> Result<(), DbErr> {
    let text = match (side_of(conn).await?, wanted) {
        (Some(Side::Hq), Side::Store) => {
            "this is the database of headquarters, and not of a store: name the data directory of a store"
        }
        (Some(Side::Store), Side::Hq) => {
            "this is the database of a store, and not of headquarters: name the data directory of headquarters"
        }
        _ => return Ok(()),
    };
    Err(DbErr::Custom(text.to_owned()))
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

/// How the schema of a database stands to `steps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Release {
    /// No server has made anything in it.
    New,
    Same,
    /// The next start makes this step, and those after it.
    Older(&'static str),
    /// It has this step, which `steps` do not; whether a server may go on beside it.
    Newer(String, bool),
}

impl Release {
    /// Whether its tables are those that this program reads.
    pub const fn is_readable(&self) -> bool {
        matches!(self, Self::Same | Self::Newer(_, true))
    }
}

/// As [`check`], for one who reports it.
pub async fn release(conn: &impl ConnectionTrait, side: Side, steps: &[Step]) -> Result<Release, DbErr> {
    let tables = match conn.get_database_backend() {
        DbBackend::Sqlite => "SELECT name FROM sqlite_master WHERE type = 'table' AND name = $1",
        _ => "SELECT tablename FROM pg_tables WHERE schemaname = ANY(current_schemas(FALSE)) AND tablename = $1",
    };
    if query(conn, tables, [MADE.into()]).await?.is_empty() {
        return Ok(Release::New);
    }
    let made = made(conn).await?;
    if let Some(newer) = unknown(&made, steps).next() {
        let may_go_on = match allow_newer(conn, side, &made, steps).await {
            Ok(()) => true,
            Err(DbErr::Migration(_)) => false,
            Err(error) => return Err(error),
        };
        return Ok(Release::Newer(newer.to_owned(), may_go_on));
    }
    let lacks = steps.iter().find(|step| !made.contains(step.name));
    Ok(lacks.map_or(Release::Same, |step| Release::Older(step.name)))
}

/// The steps that a database has and this program does not.
fn unknown<'a>(made: &'a BTreeSet<String>, steps: &[Step]) -> impl Iterator<Item = &'a str> {
    made.iter().map(String::as_str).filter(|name| steps.iter().all(|step| step.name != *name))
}

fn refuse_newer(made: &BTreeSet<String>, steps: &[Step]) -> Result<(), DbErr> {
    unknown(made, steps).next().map_or(Ok(()), |name| Err(too_new(name)))
}

fn too_new(name: &str) -> DbErr {
    DbErr::Migration(format!(
        "the database is of a newer release, it has the step {name}, which this program does not know: start the newer \
         version, or restore the backup made before the upgrade"
    ))
}

/// Only headquarters on `PostgreSQL` has servers of two releases beside each other. What is known of a newer step is what
/// it has left in the database itself.
async fn allow_newer(
    tx: &impl ConnectionTrait,
    side: Side,
    made: &BTreeSet<String>,
    steps: &[Step],
) -> Result<(), DbErr> {
    let shared = side == Side::Hq && tx.get_database_backend() == DbBackend::Postgres;
    let complete = steps.iter().all(|step| made.contains(step.name));
    for name in unknown(made, steps) {
        let beside = if shared && complete { settings::get(tx, &beside(name)).await? } else { None };
        if !beside.is_some_and(|beside| steps.iter().any(|step| step.name == beside)) {
            return Err(too_new(name));
        }
    }
    Ok(())
}

/// Under which key a step says beside which one servers may go on.
fn beside(step: &str) -> String {
    format!("schema.{step}.beside")
}

async fn make(tx: &Transaction, side: Side, step: &Step, mut schema: Schema) -> Result<(), DbErr> {
    for change in step.changes {
        for statement in change.statements(&schema, side, tx.get_database_backend())? {
            tx.execute_raw(statement).await?;
        }
        if let (Change::Fill(table, _) | Change::FillAtHq(table, _), Side::Hq) = (change, side) {
            filled(tx, table).await?;
        }
        schema.take(change);
        fault::point("migration.step")?;
    }
    let mut note = Query::insert();
    note.into_table(Alias::new(MADE)).columns([Alias::new("name"), Alias::new("made_at")]);
    note.values([Expr::value(step.name), Expr::current_timestamp()])
        .map_err(|error| DbErr::Custom(error.to_string()))?;
    tx.execute(&note).await?;
    match step.beside {
        Some(oldest) if side == Side::Hq => settings::set(tx, &beside(step.name), oldest).await,
        _ => Ok(()),
    }
}

/// Rows of `table` at headquarters have other values: those that stores have get new versions.
async fn filled(tx: &Transaction, table: &str) -> Result<(), DbErr> {
    match registry::find(table).filter(|entity| entity.is_pulled()) {
        Some(entity) => {
            let mut changes = Vec::new();
            versions::stamp(tx, entity, &mut changes).await?;
            tags::write(tx, &mut changes).await
        }
        // A line travels with its document: without a new version of that, no store would hear of it.
        None if registry::is_pulled_child(table) => Err(DbErr::Custom(format!(
            "{table} travels inside of another type: raise the versions of that one in the same step"
        ))),
        None => Ok(()),
    }
}

/// Makes the table of the steps, unless it is there.
fn record(backend: DbBackend, side: Side) -> TableCreateStatement {
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
