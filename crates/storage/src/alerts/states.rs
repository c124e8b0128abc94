//! Which alerts fire. They are kept, so that a server that starts tells nothing twice and forgets nothing that is over.

use std::collections::HashSet;

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect};
use tillkeep_model::Instant;
use uuid::Uuid;

use super::deliveries;
use crate::Tx;
use crate::db::{Turn, execute, take_turn};
use crate::entity::{alert, alert_hook};
use crate::many::execute_in;
use crate::sql::bulk;

/// The states of an alert.
pub const FIRING: &str = "firing";
pub const ENDED: &str = "ended";

/// Something that is wrong now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub kind: &'static str,
    /// The code of a store, or the name of a server of headquarters.
    pub subject: String,
    pub store_id: Option<Uuid>,
    pub severity: &'static str,
    /// For people.
    pub text: String,
    /// Since when, as far as that is known.
    pub since: Instant,
}

/// What came of a look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noted {
    pub begun: usize,
    pub ended: usize,
    /// Posts that are on their way now.
    pub posts: u64,
}

fn open_key(kind: &str, subject: &str) -> String {
    format!("{kind}:{subject}")
}

/// What begins and what is over, of those that fire and what was found.
fn compare(
    firing: Vec<alert::Model>,
    found: &[Found],
    is_judged: &impl Fn(&str, &str) -> bool,
    now: Instant,
) -> (Vec<alert::Model>, Vec<alert::Model>) {
    let mut known: HashSet<String> = firing.iter().filter_map(|row| row.open_key.clone()).collect();
    let here: HashSet<String> = found.iter().map(|one| open_key(one.kind, &one.subject)).collect();
    let is_over =
        |row: &alert::Model| is_judged(&row.kind, &row.subject) && !here.contains(&open_key(&row.kind, &row.subject));
    let over = firing.into_iter().filter(is_over);
    let over =
        over.map(|row| alert::Model { state: ENDED.to_owned(), at: now, ended_at: Some(now), open_key: None, ..row });
    let over = over.collect();
    let mut begun = Vec::new();
    for one in found {
        let key = open_key(one.kind, &one.subject);
        if known.insert(key.clone()) {
            begun.push(opened(one, key, now));
        }
    }
    (begun, over)
}

async fn firing(conn: &impl ConnectionTrait) -> Result<Vec<alert::Model>, DbErr> {
    alert::Entity::find().filter(alert::Column::State.eq(FIRING)).all(conn).await
}

/// Whether an alert of this kind and subject fires.
pub async fn is_firing(conn: &impl ConnectionTrait, kind: &str, subject: &str) -> Result<bool, DbErr> {
    let of_this = alert::Entity::find().filter(alert::Column::OpenKey.eq(open_key(kind, subject)));
    Ok(of_this.count(conn).await? > 0)
}

/// Whether [`note`] would change anything; what mostly is not so need not make the writer wait.
pub async fn is_news(
    conn: &impl ConnectionTrait,
    found: &[Found],
    is_judged: &impl Fn(&str, &str) -> bool,
    now: Instant,
) -> Result<bool, DbErr> {
    let (begun, over) = compare(firing(conn).await?, found, is_judged, now);
    Ok(!begun.is_empty() || !over.is_empty())
}

/// Opens an alert for what is `found` and has none, and ends those that fire, were looked for (`is_judged`, by kind and subject) and
/// are not found. Each of these events is on its way to every hook that hears of its kind, with the `body` that is made of the alert
/// and the id of the event.
pub async fn note(
    tx: &Tx,
    found: &[Found],
    is_judged: &impl Fn(&str, &str) -> bool,
    body: impl Fn(&alert::Model, Uuid) -> String,
    now: Instant,
) -> Result<Noted, DbErr> {
    take_turn(tx, Turn::Alerts).await?;
    let (begun, over) = compare(firing(tx).await?, found, is_judged, now);
    if begun.is_empty() && over.is_empty() {
        return Ok(Noted::default());
    }
    end(tx, &over, now).await?;
    bulk::insert::<alert::Entity>(tx, begun.clone(), None).await?;
    let hooks = alert_hook::Entity::find().filter(alert_hook::Column::IsActive.eq(true)).lock_shared().all(tx).await?;
    let events = over.iter().chain(&begun).map(|row| {
        // The id of its beginning is that of the alert.
        let event = if row.state == FIRING { row.id } else { Uuid::now_v7() };
        (row, event, body(row, event))
    });
    let posts = deliveries::enqueue(tx, events, &hooks, now).await?;
    Ok(Noted { begun: begun.len(), ended: over.len(), posts })
}

fn opened(found: &Found, key: String, now: Instant) -> alert::Model {
    alert::Model {
        id: Uuid::now_v7(),
        kind: found.kind.to_owned(),
        subject: found.subject.clone(),
        store_id: found.store_id,
        severity: found.severity.to_owned(),
        text: found.text.clone(),
        state: FIRING.to_owned(),
        // A clock that is ahead says so of nothing that is yet to come.
        since: found.since.min(now),
        at: now,
        ended_at: None,
        open_key: Some(key),
    }
}

async fn end(tx: &Tx, over: &[alert::Model], now: Instant) -> Result<(), DbErr> {
    let sql = "UPDATE alerts SET state = $1, at = $2, ended_at = $2, open_key = NULL WHERE id IN ($list)";
    execute_in(tx, sql, &[ENDED.into(), now.into()], over.iter().map(|row| row.id)).await?;
    Ok(())
}

/// Forgets alerts that ended before `before`, and posts that ended before then.
pub async fn forget(tx: &Tx, before: Instant) -> Result<(), DbErr> {
    deliveries::forget(tx, before).await?;
    execute(tx, "DELETE FROM alerts WHERE state = $1 AND at < $2", [ENDED.into(), before.into()]).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(subject: &str) -> Found {
        Found {
            kind: "store_silent",
            subject: subject.to_owned(),
            store_id: None,
            severity: "warning",
            text: String::new(),
            since: Instant::default(),
        }
    }

    fn subjects(rows: &[alert::Model]) -> Vec<&str> {
        rows.iter().map(|row| row.subject.as_str()).collect()
    }

    #[test]
    fn what_fires_begins_once_and_ends_where_it_was_looked_for_and_is_gone() {
        let now = Instant::default().plus_millis(1000);
        let (begun, over) = compare(Vec::new(), &[found("S01"), found("S02"), found("S01")], &|_, _| true, now);
        assert_eq!((subjects(&begun), over.len()), (vec!["S01", "S02"], 0));
        let (again, over) = compare(begun.clone(), &[found("S02")], &|_, _| true, now);
        assert_eq!((again.len(), subjects(&over)), (0, vec!["S01"]));
        assert_eq!((over[0].state.as_str(), over[0].open_key.as_deref(), over[0].id), (ENDED, None, begun[0].id));
        let (_, over) = compare(begun, &[], &|_, subject| subject == "S02", now);
        assert_eq!(subjects(&over), ["S02"], "of the other one nobody knows");
    }
}
