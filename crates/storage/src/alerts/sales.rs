//! Sales that receivers are to be told of, in an order that each of them can rely on. `docs/integrate.md`, "Sales by webhook".
//!
//! What a push stores is noted in its own transaction, and without a place. Places are given afterwards, to what is committed, by one
//! server at a time: a push that commits late gets a later place, and none ever appears below one that was told. So it is with versions
//! (`docs/sync.md`, rule D1), but that no push waits for another one.

use std::collections::{BTreeSet, HashMap};

use sea_orm::{ConnectionTrait, DbErr};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::db::{Row, Turn, execute, query, share_turn, take_turn};
use crate::entity::alert_hook;
use crate::many::execute_in;
use crate::{Tx, series};

/// The series of places.
const PLACES: &str = "sale_news";
/// Rows that get a place, or go, in one transaction.
const AT_ONCE: u64 = 5000;
/// Rows that are looked at to count what a receiver has not been told: whoever asks does not wait for millions of them.
const COUNTED: i64 = 10_000;

/// Whether the hook `h` is told of the sale of `n`.
const WANTED: &str = "(h.all_stores = TRUE OR EXISTS (SELECT 1 FROM alert_hook_stores f WHERE f.hook_id = h.id AND f.store_id = n.store_id))";

/// Up to which place all receivers have been told; without a receiver nothing is to be told.
const SPENT: &str = "COALESCE((SELECT MIN(told_to) FROM alert_hooks WHERE what = 'sales'), $1)";

/// A sale that a receiver is to be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct News {
    pub place: i64,
    pub sale_id: Uuid,
}

/// What a receiver has not been told yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lag {
    /// Among the next 10 000 that were stored, and as many that have no place yet; 10 000 is that or more.
    pub sales: i64,
    /// When headquarters stored the first of them.
    pub since: Option<Instant>,
}

/// Notes that these sales were stored or changed, if there is a receiver of sales.
pub(crate) async fn note(tx: &Tx, sales: BTreeSet<Uuid>, now: Instant) -> Result<(), DbErr> {
    if sales.is_empty() {
        return Ok(());
    }
    // A receiver that is made just now waits for this one, or is seen by it: it is told of all that is stored after it.
    share_turn(tx, Turn::Sales).await?;
    // Most chains have none, and a thousand ids take a push longer than this.
    if query(tx, "SELECT 1 AS one FROM alert_hooks WHERE what = 'sales' LIMIT 1", []).await?.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO sale_news (batch, sale_id, store_id, at) SELECT $1, id, store_id, $2 FROM sales WHERE id IN ($list)";
    execute_in(tx, sql, &[Uuid::now_v7().into(), now.into()], sales).await?;
    Ok(())
}

/// The place behind which a receiver begins that this transaction makes.
pub async fn beginning(tx: &Tx) -> Result<i64, DbErr> {
    take_turn(tx, Turn::Sales).await?;
    while number(tx).await? > 0 {}
    head(tx).await
}

/// Gives the next places to what is committed and has none; how many.
pub async fn number(tx: &Tx) -> Result<u64, DbErr> {
    // Of several servers the next one waits here, and then sees what this one has done.
    let last = series::take(tx, PLACES, 0).await?;
    let sql = format!(
        "UPDATE sale_news SET place = $1 + r.i FROM (SELECT w.batch, w.sale_id, ROW_NUMBER() OVER (ORDER BY w.batch, w.sale_id) AS i \
         FROM (SELECT batch, sale_id FROM sale_news WHERE place IS NULL ORDER BY batch, sale_id LIMIT {AT_ONCE}) w) r \
         WHERE sale_news.batch = r.batch AND sale_news.sale_id = r.sale_id"
    );
    let numbered = execute(tx, &sql, [last.into()]).await?;
    if numbered > 0 {
        series::take(tx, PLACES, i64::try_from(numbered).unwrap_or(i64::MAX)).await?;
    }
    Ok(numbered)
}

/// The last place that was given.
pub async fn head(conn: &impl ConnectionTrait) -> Result<i64, DbErr> {
    series::last(conn, PLACES).await
}

/// Whether there is anything that somebody is to be told, or that all have been told.
pub async fn is_anything(conn: &impl ConnectionTrait) -> Result<bool, DbErr> {
    Ok(!query(conn, "SELECT 1 AS one FROM sale_news LIMIT 1", []).await?.is_empty())
}

/// Whether something was stored that has no place yet.
pub async fn is_unnumbered(conn: &impl ConnectionTrait) -> Result<bool, DbErr> {
    let sql = "SELECT 1 AS one FROM sale_news WHERE place IS NULL LIMIT 1";
    Ok(!query(conn, sql, []).await?.is_empty())
}

/// Whether something is kept that all receivers have been told.
pub async fn is_spent(conn: &impl ConnectionTrait) -> Result<bool, DbErr> {
    let sql = format!("SELECT 1 AS one FROM sale_news WHERE place <= {SPENT} LIMIT 1");
    Ok(!query(conn, &sql, [i64::MAX.into()]).await?.is_empty())
}

/// Forgets some of what all receivers have been told; how many rows.
pub async fn forget(tx: &Tx) -> Result<u64, DbErr> {
    let sql = format!(
        "DELETE FROM sale_news WHERE place IN (SELECT place FROM sale_news WHERE place <= {SPENT} ORDER BY place LIMIT {AT_ONCE})"
    );
    execute(tx, &sql, [i64::MAX.into()]).await
}

/// What `hook` is told next: at most `most` of what it has not been told up to the place `until`.
pub async fn page(
    conn: &impl ConnectionTrait,
    hook: &alert_hook::Model,
    until: i64,
    most: usize,
) -> Result<Vec<News>, DbErr> {
    let sql = format!(
        "SELECT n.place, n.sale_id FROM sale_news n JOIN alert_hooks h ON h.id = $1 \
         WHERE n.place > $2 AND n.place <= $3 AND {WANTED} ORDER BY n.place LIMIT {most}"
    );
    let news = |row: &Row| Ok(News { place: row.try_get("", "place")?, sale_id: row.try_get("", "sale_id")? });
    query(conn, &sql, [hook.id.into(), hook.told_to.into(), until.into()]).await?.iter().map(news).collect()
}

/// What each receiver has not been told yet, as far as that is counted.
pub async fn lags(conn: &impl ConnectionTrait) -> Result<HashMap<Uuid, Lag>, DbErr> {
    // Cut before it is asked what is wanted: one that wants little would have all of it read.
    let ahead = format!(
        "SELECT * FROM (SELECT sale_id, store_id, at FROM sale_news WHERE place > h.told_to ORDER BY place LIMIT {COUNTED}) p \
         UNION ALL SELECT * FROM (SELECT sale_id, store_id, at FROM sale_news WHERE place IS NULL LIMIT {COUNTED}) q"
    );
    let sql = format!(
        "SELECT h.id AS hook_id, (SELECT COUNT(DISTINCT n.sale_id) FROM ({ahead}) n WHERE {WANTED}) AS sales, \
         (SELECT MIN(n.at) FROM ({ahead}) n WHERE {WANTED}) AS since FROM alert_hooks h WHERE h.what = 'sales'"
    );
    let lag = |row: &Row| {
        let sales: i64 = row.try_get("", "sales")?;
        let lag = Lag { sales: sales.min(COUNTED), since: row.try_get("", "since")? };
        Ok((row.try_get("", "hook_id")?, lag))
    };
    query(conn, &sql, []).await?.iter().map(lag).collect()
}

/// How many receivers have not been told of a sale that was stored before `before`, and when the first of these sales was. Of those that
/// are switched off it is `kept_before`, of whichever sale: all that came since is kept for them.
pub async fn behind(
    conn: &impl ConnectionTrait,
    before: Instant,
    kept_before: Instant,
) -> Result<Option<(i64, Instant)>, DbErr> {
    let sql = format!(
        "SELECT COUNT(*) AS hooks, MIN(w.since) AS since FROM (SELECT h.is_active, (SELECT n.at FROM sale_news n \
         WHERE n.place > h.told_to AND {WANTED} ORDER BY n.place LIMIT 1) AS since \
         FROM alert_hooks h WHERE h.what = 'sales' AND h.is_active = TRUE \
         UNION ALL SELECT h.is_active, (SELECT n.at FROM sale_news n WHERE n.place > h.told_to ORDER BY n.place LIMIT 1) AS since \
         FROM alert_hooks h WHERE h.what = 'sales' AND h.is_active = FALSE) w \
         WHERE (w.is_active = TRUE AND w.since < $1) OR (w.is_active = FALSE AND w.since < $2)"
    );
    let rows = query(conn, &sql, [before.into(), kept_before.into()]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let since: Option<Instant> = row.try_get("", "since")?;
    let hooks = row.try_get("", "hooks")?;
    Ok(since.map(|since| (hooks, since)))
}
