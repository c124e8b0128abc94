//! I11: the audit log is what was written, and each act that needs a permission is in it once.

use std::collections::{BTreeMap, HashMap};

use sea_orm::{DbErr, EntityName, Value};
use serde_json::Value as Json;
use tillkeep_model::state::SessionStatus;
use tillkeep_model::words::CashMovementKind;
use tillkeep_model::{Instant, JsonText};
use uuid::Uuid;

use super::finding::Found;
use super::source::Source;
use crate::db::query;
use crate::document::{AuditedAct, When};
use crate::entity::store;
use crate::registry;
use crate::sync_log::RETRIED;
use crate::{Side, audit, settings};

/// Rows that a user made at a store beside documents, and the word with which the audit log names the act.
const APPROVALS: Sought =
    Sought { table: "approvals", which: ("created_at IS NOT NULL", &[]), at: None, action: "approval.granted" };

/// What was moved at a drawer, but for opening it without a sale, which is an act of its own.
const CASH: Sought = Sought {
    table: "cash_movements",
    which: ("kind <> $1", &[CashMovementKind::NoSale.word()]),
    at: Some("at"),
    action: "session.cash_movement",
};
const NO_SALE: Sought = Sought { which: ("kind = $1", CASH.which.1), action: "session.no_sale", ..CASH };

/// Rows with a condition and the words in it, `$1` and on.
type Which = (&'static str, &'static [&'static str]);

/// What is looked for: table, rows, and the word of the act.
struct Sought {
    table: &'static str,
    which: Which,
    /// The column that says when, of what may have happened in a database that was lost.
    at: Option<&'static str>,
    action: &'static str,
}

/// Which rows of a type of documents an act was done to. A document that came back from headquarters has no entry in the
/// outbox of this database, and its act is in the audit log of the one before.
const fn done_to(when: When) -> (Which, Option<&'static str>) {
    match when {
        When::Created => ((MADE_HERE, &[]), None),
        When::Closed => ((CLOSED_HERE, CLOSED), Some("closed_at")),
        When::ForceClosed => ((FORCED_HERE, CLOSED), Some("closed_at")),
    }
}

macro_rules! changed_here {
    () => {
        "id IN (SELECT entity_id FROM sync_outbox WHERE action = 'update' \
         UNION SELECT entity_id FROM sync_outbox_sent WHERE action = 'update')"
    };
}

const MADE_HERE: &str = "id IN (SELECT entity_id FROM sync_outbox WHERE action = 'create' \
     UNION SELECT entity_id FROM sync_outbox_sent WHERE action = 'create')";
const CLOSED: &[&str] = &[SessionStatus::Closed.word()];
const CLOSED_HERE: &str = concat!("status = $1 AND forced = FALSE AND ", changed_here!());
const FORCED_HERE: &str = concat!("status = $1 AND forced = TRUE AND ", changed_here!());

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
    for Sought { table, which: (which, words), at, action } in acts() {
        if at.is_some() && back == "yes" {
            continue;
        }
        let sql = "SELECT entity_id, COUNT(*) AS times FROM audit_log WHERE action = $1 AND entity_id IS NOT NULL \
                   GROUP BY entity_id";
        let mut noted: HashMap<String, i64> = HashMap::new();
        for row in query(&source.conn, sql, [Value::from(action)]).await? {
            noted.insert(row.try_get("", "entity_id")?, row.try_get("", "times")?);
        }
        let after = at.map(|at| format!("AND {at} >= ${}", words.len() + 1)).unwrap_or_default();
        let words = words.iter().map(|word| Value::from(*word)).chain(at.map(|_| since.into()));
        for row in query(&source.conn, &format!("SELECT id FROM {table} WHERE {which} {after}"), words).await? {
            let id: Uuid = row.try_get("", "id")?;
            let times = noted.get(&id.to_string()).copied().unwrap_or_default();
            if times != 1 {
                found.add(source.store, table, id, format!("{action} is {times} times in the audit log, not once"));
            }
        }
    }
    Ok(())
}

fn acts() -> Vec<Sought> {
    let mut acts = vec![APPROVALS, CASH, NO_SALE];
    for (entity, pushed) in registry::pushed() {
        let of = |act: &AuditedAct| {
            let (which, at) = done_to(act.when);
            Sought { table: entity.name, which, at, action: act.action }
        };
        acts.extend(pushed.acts.iter().map(of));
    }
    acts
}

/// Failed entries that a user tried again or resolved: each has one act of theirs, which may name many.
async fn settled(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    let mut named: BTreeMap<String, Vec<(String, Option<Uuid>)>> = BTreeMap::new();
    let sql = "SELECT action, user_id, details FROM audit_log WHERE action IN ('sync.retry', 'sync.resolve')";
    for row in query(&source.conn, sql, []).await? {
        let act: (String, Option<Uuid>) = (row.try_get("", "action")?, row.try_get("", "user_id")?);
        let details: JsonText = row.try_get("", "details")?;
        for entry in details.0["entries"].as_array().into_iter().flatten().filter_map(Json::as_str) {
            named.entry(entry.to_owned()).or_default().push(act.clone());
        }
    }
    let sql = "SELECT id, store_id, status, resolved_by FROM sync_log WHERE resolved_by IS NOT NULL";
    for row in query(&source.conn, sql, []).await? {
        let id: Uuid = row.try_get("", "id")?;
        let by: Option<Uuid> = row.try_get("", "resolved_by")?;
        let action = if row.try_get::<String>("", "status")? == RETRIED { "sync.retry" } else { "sync.resolve" };
        // Of two people who settle one entry at once, at two servers, the second changes nothing and is named as well.
        let acts = named.remove(&id.to_string()).unwrap_or_default();
        let times = acts.iter().filter(|(act, user)| act == action && *user == by).count();
        if times != 1 {
            let text = format!("{action} is {times} times in the audit log, not once");
            found.add(row.try_get("", "store_id")?, "sync_log", id, text);
        }
    }
    for id in named.keys() {
        found.add(Uuid::nil(), "sync_log", id, "was settled by a user, and the entry does not say so");
    }
    Ok(())
}

/// Tokens of stores: the version of each is what the last act on it says. Of a store that no person made, as those of
/// `tillkeep demo`, the first token is no user's act.
async fn tokens(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    let mut noted: HashMap<String, Option<i64>> = HashMap::new();
    let sql = "SELECT entity_id, details FROM audit_log WHERE entity_type = 'stores' AND entity_id IS NOT NULL \
               AND action IN ('create', 'store.provision', 'store.revoke_token') ORDER BY seq";
    for row in query(&source.conn, sql, []).await? {
        let details: JsonText = row.try_get("", "details")?;
        let last = noted.entry(row.try_get("", "entity_id")?).or_default();
        *last = details.0["tokenVersion"].as_i64().or(*last);
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
