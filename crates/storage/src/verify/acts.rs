//! I11: the audit log is what was written, and each act that needs a permission is in it once.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::mem;

use sea_orm::{DbErr, EntityName, Value};
use serde_json::Value as Json;
use tillkeep_model::state::SessionStatus;
use tillkeep_model::words::CashMovementKind;
use tillkeep_model::{Instant, JsonText};
use uuid::Uuid;

use super::finding::Found;
use super::pages::Pages;
use super::source::Source;
use crate::db::{Row, query};
use crate::document::{AuditedAct, When};
use crate::entity::store;
use crate::many::find_in;
use crate::registry;
use crate::sync_log::RETRIED;
use crate::{Side, audit, settings};

/// Rows of which the acts are counted at once, in pages: each count reads the whole audit log, which has no index by them.
const PAGES_AT_ONCE: usize = 10;

/// What is looked for: rows of a table, and the word with which the audit log names the act.
struct Sought {
    table: &'static str,
    which: String,
    /// The words in `which`, `$1` and on.
    words: &'static [&'static str],
    /// The column that says when, of what may have happened in a database that was lost.
    at: Option<&'static str>,
    action: &'static str,
}

/// What a user did at a store beside documents, and what was moved at a drawer: to open it without a sale is an act of its own.
fn beside_documents() -> [Sought; 3] {
    let of = |table, which: &str, words, at, action| Sought { table, which: which.to_owned(), words, at, action };
    [
        of("approvals", "created_at IS NOT NULL", NONE, None, "approval.granted"),
        of("cash_movements", "kind <> $1", NO_SALE, Some("at"), "session.cash_movement"),
        of("cash_movements", "kind = $1", NO_SALE, Some("at"), "session.no_sale"),
    ]
}

/// The rows of a type of documents that an act was done to. A document that came back from headquarters has no entry in the
/// outbox of this database, and its act is in the audit log of the one before.
fn of_documents(table: &'static str, act: &AuditedAct) -> Sought {
    let has_entry = |action: &str| {
        let in_table = |entries: &str| {
            format!(
                "EXISTS (SELECT 1 FROM {entries} e WHERE e.entity_type = '{table}' AND e.entity_id = {table}.id \
                 AND e.action = '{action}')"
            )
        };
        format!("({} OR {})", in_table("sync_outbox"), in_table("sync_outbox_sent"))
    };
    let closed = |how: &str| format!("status = $1 AND {how} AND {}", has_entry("update"));
    let (which, words, at) = match act.when {
        When::Created => (has_entry("create"), NONE, None),
        When::Closed => (closed("forced = FALSE"), CLOSED, Some("closed_at")),
        When::ForceClosed => (closed("forced = TRUE"), CLOSED, Some("closed_at")),
    };
    Sought { table, which, words, at, action: act.action }
}

const NONE: &[&str] = &[];
const NO_SALE: &[&str] = &[CashMovementKind::NoSale.word()];
const CLOSED: &[&str] = &[SessionStatus::Closed.word()];

pub(super) async fn chain(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    if let Err(broken) = audit::verify(&source.conn, None).await? {
        found.add(source.store, "audit_log", "", broken.to_string());
    }
    Ok(())
}

pub(super) async fn rows(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    if source.side == Side::Hq {
        settled(source, found).await?;
        return tokens(source, found).await;
    }
    // While documents of this store are fetched from headquarters it is not known when they were here.
    let back = settings::get(&source.conn, "own_documents_due").await?.unwrap_or_default();
    let since = Instant::parse(&back).unwrap_or_default();
    let mut acts = Vec::from(beside_documents());
    for (entity, pushed) in registry::pushed() {
        acts.extend(pushed.acts.iter().map(|act| of_documents(entity.name, act)));
    }
    for sought in acts {
        if sought.at.is_none() || back != "yes" {
            once(source, &sought, since, found).await?;
        }
    }
    Ok(())
}

/// Each of these rows has its act once.
async fn once(source: &Source, sought: &Sought, since: Instant, found: &mut Found) -> Result<(), DbErr> {
    let Sought { table, which, words, at, action } = sought;
    let after = at.map(|at| format!("AND {at} >= ${}", words.len() + 1)).unwrap_or_default();
    let sql = format!("SELECT id FROM {table} WHERE {which} {after} AND $behind");
    let words = words.iter().map(|word| Value::from(*word)).chain(at.map(|_| since.into()));
    let mut pages = Pages::by_id(source, &sql, words);
    let mut times: BTreeMap<Uuid, i64> = BTreeMap::new();
    loop {
        let page = pages.page().await?;
        let is_last = page.is_none();
        for row in page.into_iter().flatten() {
            times.insert(row.try_get("", "id")?, 0);
        }
        if is_last || times.len() >= PAGES_AT_ONCE * source.rows {
            count(source, action, &mut times).await?;
            for (id, times) in mem::take(&mut times).into_iter().filter(|(_, times)| *times != 1) {
                found.add(source.store, table, id, format!("{action} is {times} times in the audit log, not once"));
            }
        }
        if is_last {
            return Ok(());
        }
    }
}

/// Counts the acts of this word on these rows.
async fn count(source: &Source, action: &str, times: &mut BTreeMap<Uuid, i64>) -> Result<(), DbErr> {
    if times.is_empty() {
        return Ok(());
    }
    let sql = "SELECT seq, entity_id FROM audit_log WHERE action = $1 AND entity_id IS NOT NULL AND $behind";
    let mut pages = Pages::by_seq(source, sql, [action.into()]);
    while let Some(rows) = pages.page().await? {
        for row in rows {
            let id = row.try_get::<String>("", "entity_id")?.parse::<Uuid>();
            if let Some(times) = id.ok().and_then(|id| times.get_mut(&id)) {
                *times += 1;
            }
        }
    }
    Ok(())
}

/// An act with which a user settled entries.
struct Settling {
    action: String,
    user: Option<Uuid>,
    entries: Vec<String>,
}

/// The acts with which users settled entries.
struct Settlings<'a>(Pages<'a>);

impl<'a> Settlings<'a> {
    fn new(source: &'a Source) -> Self {
        let sql = "SELECT seq, action, user_id, details FROM audit_log WHERE action IN ('sync.retry', 'sync.resolve') \
                   AND $behind";
        Self(Pages::by_seq(source, sql, []))
    }

    /// The next ones, until there is none.
    async fn page(&mut self) -> Result<Option<Vec<Settling>>, DbErr> {
        let Some(rows) = self.0.page().await? else { return Ok(None) };
        let read = |row: &Row| {
            let (action, user) = (row.try_get("", "action")?, row.try_get("", "user_id")?);
            let details: JsonText = row.try_get("", "details")?;
            let entries = details.0["entries"].as_array().into_iter().flatten().filter_map(Json::as_str);
            Ok(Settling { action, user, entries: entries.map(str::to_owned).collect() })
        };
        rows.iter().map(read).collect::<Result<_, DbErr>>().map(Some)
    }
}

/// An entry that a user has settled, and how often an act of theirs names it.
struct Settled {
    store: Uuid,
    action: &'static str,
    by: Option<Uuid>,
    times: usize,
}

/// Failed entries that a user tried again or resolved: each has one act of theirs, which may name many.
async fn settled(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    let sql = "SELECT id, store_id, status, resolved_by FROM sync_log WHERE resolved_by IS NOT NULL AND $behind";
    let mut pages = Pages::by_id(source, sql, []);
    let mut entries: BTreeMap<Uuid, Settled> = BTreeMap::new();
    loop {
        let page = pages.page().await?;
        let is_last = page.is_none();
        for row in page.into_iter().flatten() {
            let is_retried = row.try_get::<String>("", "status")? == RETRIED;
            let action = if is_retried { "sync.retry" } else { "sync.resolve" };
            let (store, by) = (row.try_get("", "store_id")?, row.try_get("", "resolved_by")?);
            entries.insert(row.try_get("", "id")?, Settled { store, action, by, times: 0 });
        }
        if is_last || entries.len() >= PAGES_AT_ONCE * source.rows {
            count_settlings(source, &mut entries).await?;
            for (id, entry) in mem::take(&mut entries).into_iter().filter(|(_, entry)| entry.times != 1) {
                let text = format!("{} is {} times in the audit log, not once", entry.action, entry.times);
                found.add(entry.store, "sync_log", id, text);
            }
        }
        if is_last {
            break;
        }
    }
    let mut open: BTreeSet<String> = BTreeSet::new();
    let mut settlings = Settlings::new(source);
    while let Some(page) = settlings.page().await? {
        let named: BTreeSet<String> = page.into_iter().flat_map(|act| act.entries).collect();
        let ids: Vec<Uuid> = named.iter().filter_map(|id| id.parse().ok()).collect();
        let sql = "SELECT id FROM sync_log WHERE resolved_by IS NOT NULL AND id IN ($list)";
        let mut settled: HashSet<String> = HashSet::new();
        for row in find_in(&source.conn, sql, &[], ids).await? {
            settled.insert(row.try_get::<Uuid>("", "id")?.to_string());
        }
        open.extend(named.into_iter().filter(|id| !settled.contains(id)));
    }
    for id in open {
        found.add(Uuid::nil(), "sync_log", id, "was settled by a user, and the entry does not say so");
    }
    Ok(())
}

async fn count_settlings(source: &Source, entries: &mut BTreeMap<Uuid, Settled>) -> Result<(), DbErr> {
    if entries.is_empty() {
        return Ok(());
    }
    let mut settlings = Settlings::new(source);
    while let Some(page) = settlings.page().await? {
        for act in page {
            for id in act.entries.iter().filter_map(|id| id.parse::<Uuid>().ok()) {
                // Of two people who settle one entry at once, at two servers, the second changes nothing and is named as well.
                if let Some(entry) = entries.get_mut(&id).filter(|of| of.action == act.action && of.by == act.user) {
                    entry.times += 1;
                }
            }
        }
    }
    Ok(())
}

/// Tokens of stores: the version of each is what the last act on it says. Of a store that no person made, as those of
/// `tillkeep demo`, the first token is no user's act.
async fn tokens(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    let mut noted: HashMap<String, Option<i64>> = HashMap::new();
    let sql = "SELECT seq, entity_id, details FROM audit_log WHERE entity_type = 'stores' AND entity_id IS NOT NULL \
               AND action IN ('create', 'store.provision', 'store.revoke_token') AND $behind";
    let mut pages = Pages::by_seq(source, sql, []);
    while let Some(rows) = pages.page().await? {
        for row in rows {
            let details: JsonText = row.try_get("", "details")?;
            let last = noted.entry(row.try_get("", "entity_id")?).or_default();
            *last = details.0["tokenVersion"].as_i64().or(*last);
        }
    }
    for row in query(&source.conn, "SELECT id, provisioned_at, sync_token_version FROM stores", []).await? {
        let id: Uuid = row.try_get("", "id")?;
        let given = row.try_get::<Option<Instant>>("", "provisioned_at")?.is_some();
        let version: i32 = row.try_get("", "sync_token_version")?;
        let Some(last) = noted.get(&id.to_string()) else { continue };
        if last.map_or(given, |last| last != i64::from(version)) {
            found.add(
                id,
                store::Entity.table_name(),
                id,
                format!("its token has version {version}, which no act in the audit log says"),
            );
        }
    }
    Ok(())
}
