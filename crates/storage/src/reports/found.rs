//! What somebody looks for who types a few letters: receipts by the end of their numbers, other rows by a part of what they are
//! called. However much there is, so much of it is looked at and no more.

use std::collections::BTreeSet;

use sea_orm::sea_query::{Alias, Query, SelectStatement};
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, Order, QueryFilter, QueryOrder, QuerySelect, Select};
use tillkeep_model::{Instant, Money};
use uuid::Uuid;

use super::closed_drawers::one_of;
use crate::db::{Row, query};
use crate::entity::sale::from_its_end;
use crate::search::contains;
use crate::sought::{self, Sought};

/// Rows of a kind that are found at the most.
pub const MOST: u64 = 5;
/// Letters of the end of a receipt number at the least: fewer are those of very many.
pub const LEAST_OF_A_NUMBER: usize = 3;
/// Receipts with the same end of which the newest are taken.
const ALIKE: u64 = 5_000;
/// The newest rows that are looked into, of kinds that grow without end.
const LOOKED_INTO: u64 = 200_000;
/// Of those with the text in them so many are put in their order.
const CANDIDATES: u64 = 1_000;

/// A receipt, with what tells it from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub id: Uuid,
    pub receipt_number: String,
    pub store: Uuid,
    pub store_code: Option<String>,
    pub sale_type: String,
    pub status: String,
    pub business_date: String,
    pub completed_at: Instant,
    pub total: Money,
    pub currency_code: String,
    pub currency_exponent: Option<i16>,
}

/// The newest receipts of these stores (`None`: of all) whose numbers end with `text`, in any case.
pub async fn receipts(
    conn: &impl ConnectionTrait,
    stores: Option<&BTreeSet<Uuid>>,
    text: &str,
) -> Result<Vec<Receipt>, DbErr> {
    let first = from_its_end(text.trim());
    if first.chars().count() < LEAST_OF_A_NUMBER {
        return Ok(Vec::new());
    }
    let beyond = format!("{first}{}", char::MAX);
    let mut values = vec![first.into(), beyond.into()];
    // Not by the column itself: of few stores SQLite would go through all sales, rather than along the index of the ends.
    let here = one_of("COALESCE(s.store_id, s.store_id)", stores, &mut values);
    // The end is looked up first: along the time all sales would be gone through for a number of long ago.
    let sql = format!(
        "SELECT s.id, s.receipt_number, s.store_id, o.code, s.sale_type, s.status, s.business_date, s.completed_at, \
         s.total_amount, s.currency_code, o.currency_exponent FROM (SELECT s.id AS found FROM sales s \
         WHERE s.receipt_end >= $1 AND s.receipt_end < $2 AND {here} ORDER BY s.receipt_end LIMIT {ALIKE}) f \
         JOIN sales s ON s.id = f.found LEFT JOIN stores o ON o.id = s.store_id \
         ORDER BY s.completed_at DESC, s.id DESC LIMIT {MOST}"
    );
    query(conn, &sql, values).await?.iter().map(receipt).collect()
}

fn receipt(row: &Row) -> Result<Receipt, DbErr> {
    Ok(Receipt {
        id: row.try_get("", "id")?,
        receipt_number: row.try_get("", "receipt_number")?,
        store: row.try_get("", "store_id")?,
        store_code: row.try_get("", "code")?,
        sale_type: row.try_get("", "sale_type")?,
        status: row.try_get("", "status")?,
        business_date: row.try_get("", "business_date")?,
        completed_at: row.try_get("", "completed_at")?,
        total: row.try_get("", "total_amount")?,
        currency_code: row.try_get("", "currency_code")?,
        currency_exponent: row.try_get("", "currency_exponent")?,
    })
}

/// What rows are called.
pub struct Called<'a, E: EntityTrait> {
    pub id: E::Column,
    /// What stands for one row and no other.
    pub code: E::Column,
    /// What they are sorted by.
    pub name: E::Column,
    /// Where the text may stand.
    pub looked_into: &'a [E::Column],
    /// When a row was deleted.
    pub deleted: E::Column,
}

/// The rows of `base` that are not deleted with `text` as their code, then those that have it in them, in any case, by name.
pub async fn rows<E>(
    conn: &impl ConnectionTrait,
    base: Select<E>,
    called: &Called<'_, E>,
    text: &str,
) -> Result<Vec<E::Model>, DbErr>
where
    E: EntityTrait,
    E::Model: PartialEq + Send + Sync,
{
    let alive = base.filter(called.deleted.is_null());
    let with_it = alive.clone().filter(contains(called.looked_into.iter().copied(), text));
    either(conn, alive, with_it, called, text).await
}

/// As [`rows`], of rows that nobody is kept from seeing and that grow without end: along what they are looked for by; while a row has
/// no such text, among the newest ones alone.
pub async fn newest_rows<E>(
    conn: &impl ConnectionTrait,
    called: &Called<'_, E>,
    text: &str,
) -> Result<Vec<E::Model>, DbErr>
where
    E: EntityTrait,
    E::Model: PartialEq + Send + Sync,
{
    let alive = E::find().filter(called.deleted.is_null());
    let found = match sought::of(E::default().table_name()) {
        Some(sought) if sought.answers(conn, text).await? => by_their_texts(called, sought, text),
        _ => among_the_newest(called, text),
    };
    let with_it = alive.clone().filter(called.id.in_subquery(found));
    either(conn, alive, with_it, called, text).await
}

async fn either<E>(
    conn: &impl ConnectionTrait,
    alive: Select<E>,
    with_it: Select<E>,
    called: &Called<'_, E>,
    text: &str,
) -> Result<Vec<E::Model>, DbErr>
where
    E: EntityTrait,
    E::Model: PartialEq + Send + Sync,
{
    let as_code = BTreeSet::from([text.to_owned(), text.to_uppercase(), text.to_lowercase()]);
    let exactly = alive.filter(called.code.is_in(as_code)).order_by_asc(called.code).order_by_asc(called.id);
    let mut found = exactly.limit(MOST).all(conn).await?;
    for row in with_it.order_by_asc(called.name).order_by_asc(called.id).limit(MOST).all(conn).await? {
        if !found.contains(&row) {
            found.push(row);
        }
    }
    found.truncate(usize::try_from(MOST).unwrap_or_default());
    Ok(found)
}

/// The ids of those with `text` in what they are looked for by, in an index that has it.
fn by_their_texts<E: EntityTrait>(called: &Called<'_, E>, sought: &Sought, text: &str) -> SelectStatement {
    let mut with_it = Query::select();
    with_it
        .column(called.id)
        .from(Alias::new(sought.table))
        .and_where(called.deleted.is_null())
        .cond_where(sought.contains(text))
        // As they are shown: else it would be for the plan to say which of more than these are.
        .order_by(called.name, Order::Asc)
        .order_by(called.id, Order::Asc)
        .limit(CANDIDATES);
    with_it
}

/// The ids of those with `text` in them.
fn among_the_newest<E: EntityTrait>(called: &Called<'_, E>, text: &str) -> SelectStatement {
    let table = Alias::new(E::default().table_name());
    let mut newest = Query::select();
    newest
        .column(called.id)
        .columns(called.looked_into.iter().copied())
        .from(table.clone())
        .and_where(called.deleted.is_null())
        .order_by(called.id, Order::Desc)
        .limit(LOOKED_INTO);
    let mut with_it = Query::select();
    with_it
        .column(called.id)
        // By the name of its table, which the condition has.
        .from_subquery(newest, table)
        .cond_where(contains(called.looked_into.iter().copied(), text))
        .limit(CANDIDATES);
    with_it
}
