//! Documents that came before a row that they name have a flag until it comes. `docs/sync.md`, rule U9.

use sea_orm::{ConnectionTrait, DbErr, Value};
use uuid::Uuid;

use super::{Child, Scope, SyncType};
use crate::db::{Turn, take_turn};
use crate::document::{Awaited, Reference};
use crate::many::execute_in;

/// Rows with these ids came to headquarters: documents that have all of what they name now lose the flag.
pub(crate) async fn came(conn: &impl ConnectionTrait, table: &str, ids: &[Uuid]) -> Result<(), DbErr> {
    if ids.is_empty() {
        return Ok(());
    }
    for (entity, pushed) in super::pushed() {
        for awaited in pushed.awaited.iter().filter(|awaited| awaited.names.table() == table) {
            let Some(lacks) = lacks(entity, awaited) else { continue };
            if let Some(turn) = turn(awaited.names) {
                // A document that is judged in this moment and not committed is seen only once it is.
                take_turn(conn, turn).await?;
            }
            let Lacks { flag, condition, values } = lacks;
            let sql = format!(
                "UPDATE {of} SET flags = {without} WHERE flags LIKE '%\"{flag}\"%' AND {names} AND NOT ({condition})",
                of = entity.name,
                without = without(flag),
                names = names(entity, awaited),
            );
            execute_in(conn, &sql, &values, ids.iter().copied()).await?;
        }
    }
    Ok(())
}

/// What keeps those apart who look for such a row and who make it. Of drawers a push of their store does.
pub(crate) const fn turn(names: Reference) -> Option<Turn> {
    match names {
        Reference::Product => Some(Turn::Product),
        Reference::Customer => Some(Turn::Account),
        Reference::Session | Reference::Sale | Reference::SaleItem => None,
    }
}

/// What a document has a flag for.
pub(crate) struct Lacks {
    pub flag: &'static str,
    /// Of a document, by the name of its table: it names what headquarters does not have.
    pub condition: String,
    /// `$1` of it, if it has one.
    pub values: Vec<Value>,
}

/// Of documents of `entity` that name what they await; `None` of what has no flag.
pub(crate) fn lacks(entity: &SyncType, awaited: &Awaited) -> Option<Lacks> {
    let flag = awaited.names.unknown()?;
    let (named, of) = (awaited.names.table(), entity.name);
    // Another store's row of the same id is not meant.
    let own = super::find(named).is_some_and(|entity| entity.scope == Scope::Store);
    let own = if own { format!(" AND o.store_id = {of}.store_id") } else { String::new() };
    let nil = awaited.names.may_be_nil().then(Uuid::nil);
    let is_missing = |column: String| {
        let some = if nil.is_some() { "<> $1" } else { "IS NOT NULL" };
        format!("{column} {some} AND NOT EXISTS (SELECT 1 FROM {named} o WHERE o.id = {column}{own})")
    };
    let condition = match line(entity, awaited) {
        None => is_missing(format!("{of}.{}", awaited.column)),
        Some(Child { table, parent, .. }) => format!(
            "EXISTS (SELECT 1 FROM {} l WHERE l.{parent} = {of}.id AND {})",
            table.name(),
            is_missing(format!("l.{}", awaited.column))
        ),
    };
    Some(Lacks { flag, condition, values: nil.into_iter().map(Value::from).collect() })
}

/// Of documents: they name one of `$list`.
fn names(entity: &SyncType, awaited: &Awaited) -> String {
    let column = awaited.column;
    match line(entity, awaited) {
        None => format!("{column} IN ($list)"),
        Some(Child { table, parent, .. }) => {
            format!("id IN (SELECT {parent} FROM {} WHERE {column} IN ($list))", table.name())
        }
    }
}

fn line(entity: &SyncType, awaited: &Awaited) -> Option<&'static Child> {
    entity.children.get(awaited.lines?)
}

/// The list of flags without one that is in it.
fn without(flag: &str) -> String {
    format!("REPLACE(REPLACE(REPLACE(flags, ',\"{flag}\"', ''), '\"{flag}\",', ''), '\"{flag}\"', '')")
}
