//! The fourth step: documents are written with what follows from them.

use std::collections::BTreeMap;

use sea_orm::DbErr;
use sea_orm::sea_query::{Alias, Expr, ExprTrait};
use tillkeep_model::wire::Applied;
use uuid::Uuid;

use super::effects::Effects;
use super::group::{Answers, Group};
use super::merged::Merged;
use super::{elsewhere, overpaid, refunded};
use crate::alerts::sales;
use crate::many::execute_in;
use crate::registry::{Scope, SyncType, awaited};
use crate::rows::{Row, SyncTable};
use crate::sql::errors;
use crate::stock::Product;
use crate::sync_log::unapplied;
use crate::{Tx, accounts, fault, stock};

/// Writes rows, lines and effects of a group; the rows of what was left aside travel back.
pub(super) async fn store(
    tx: &mut Tx,
    group: &Group<'_>,
    merged: Vec<Merged>,
    (effects, products): (Effects, &mut BTreeMap<Uuid, Product>),
    answers: &mut Answers,
) -> Result<(), DbErr> {
    let entity = group.entity;
    let told = refunded::told(&merged);
    let mut rows = Vec::with_capacity(merged.len());
    let mut lines: Vec<Vec<Box<dyn Row>>> = entity.children.iter().map(|_| Vec::new()).collect();
    // Of those alone that are stored: a document that is refused keeps the lines it has.
    let mut gone: Vec<Vec<Uuid>> = entity.children.iter().map(|_| Vec::new()).collect();
    let mut renamed_here = Vec::new();
    let are_new = merged.iter().all(|merged| merged.applied == Applied::Inserted);
    let settlements = overpaid::settlements(&merged);
    for Merged { row, children, removed, renamed, .. } in merged {
        rows.push(row);
        renamed_here.extend(renamed);
        add_each(&mut lines, children);
        add_each(&mut gone, removed);
    }
    write(tx, group, rows, lines, are_new).await?;
    remove_lines(tx, entity, &gone).await?;
    elsewhere::note(tx, group, &renamed_here).await?;
    let Effects { movements, mut charges, arrived, arrived_as } = effects;
    if !movements.is_empty() {
        stock::apply_knowing(tx, group.sender.store_id, movements, products, group.now).await?;
    }
    if group.pushed.has_account {
        charges.extend(accounts::of_stored_sales(tx, &arrived).await?);
    }
    awaited::came(tx, entity.name, &arrived).await?;
    charges.extend(unapplied::arrived(tx, entity, group.sender.store_id, &arrived_as).await?);
    accounts::raise(tx, charges, group.now).await?;
    let mut news = refunded::reckon(tx, group, &told, &renamed_here, answers).await?;
    overpaid::flag(tx, group, &settlements, answers).await?;
    news.extend(refunded::documents(&told));
    sales::note(tx, news, group.now).await?;
    raise_left(tx, entity, &answers.left).await
}

fn add_each<T>(into: &mut [Vec<T>], from: Vec<Vec<T>>) {
    for (into, from) in into.iter_mut().zip(from) {
        into.extend(from);
    }
}

async fn write(
    tx: &mut Tx,
    group: &Group<'_>,
    rows: Vec<Box<dyn Row>>,
    lines: Vec<Vec<Box<dyn Row>>>,
    are_new: bool,
) -> Result<(), DbErr> {
    if rows.is_empty() {
        return Ok(());
    }
    let entity = group.entity;
    let column = |table: &str, name: &str| Expr::col((Alias::new(table), Alias::new(name)));
    // A second wall behind the decision: whatever is asked for, no row of another store changes.
    let guard = (entity.scope == Scope::Store).then(|| column(entity.name, "store_id").eq(group.sender.store_id));
    let update = but(entity.table.columns(), &["id", "created_at"]);
    let guarded = guard.is_some();
    let count = rows.len();
    let stored = put(tx, entity.table, rows, (&update, guard), are_new).await?;
    all_of(count, stored, guarded)?;
    for (child, rows) in entity.children.iter().zip(lines) {
        let table = child.table.name();
        let update = but(child.table.columns(), &["id"]);
        let guard = column(table, child.parent).eq(column("excluded", child.parent));
        let count = rows.len();
        let stored = put(tx, child.table, rows, (&update, Some(guard)), are_new).await?;
        all_of(count, stored, true)?;
    }
    if entity.is_pulled() {
        tx.touch(entity);
    }
    fault::point("push.rows")
}

/// Writes rows; how many of them are there by it. Those that are new by what was read in this transaction are not expected to meet any.
async fn put(
    tx: &Tx,
    table: &dyn SyncTable,
    rows: Vec<Box<dyn Row>>,
    (update, guard): (&[&str], Option<Expr>),
    are_new: bool,
) -> Result<u64, DbErr> {
    if are_new {
        return Ok(table.add(tx, rows, &["id"], update, guard).await?.changed);
    }
    table.upsert(tx, rows, &["id"], update, guard).await
}

/// Another store has taken one of these ids since the rows were looked for: all of it is judged once more, and finds that row.
fn all_of(rows: usize, stored: u64, guarded: bool) -> Result<(), DbErr> {
    if guarded && u64::try_from(rows).is_ok_and(|rows| stored < rows) { Err(errors::overtaken()) } else { Ok(()) }
}

fn but(columns: Vec<&'static str>, left_out: &[&str]) -> Vec<&'static str> {
    columns.into_iter().filter(|column| !left_out.contains(column)).collect()
}

async fn remove_lines(tx: &Tx, entity: &SyncType, removed: &[Vec<Uuid>]) -> Result<(), DbErr> {
    for (child, gone) in entity.children.iter().zip(removed) {
        let sql = format!("DELETE FROM {} WHERE id IN ($list)", child.table.name());
        execute_in(tx, &sql, &[], gone.iter().copied()).await?;
    }
    Ok(())
}

/// Rule D7: a row of an envelope that was left aside travels back to its store, which would else keep its own state.
async fn raise_left(tx: &mut Tx, entity: &'static SyncType, left: &[Uuid]) -> Result<(), DbErr> {
    if left.is_empty() || !entity.is_pulled() {
        return Ok(());
    }
    tx.restamp(entity, left).await
}
