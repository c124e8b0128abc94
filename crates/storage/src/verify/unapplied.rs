//! What a user decided not to apply at headquarters, and which drawers that concerns.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use sea_orm::DbErr;
use serde_json::Value as Json;
use uuid::Uuid;

use super::pages::Pages;
use super::source::Source;
use crate::Side;
use crate::entity::register_session::Model;
use crate::many::find_in;
use crate::sync_log::RESOLVED;

/// At headquarters: the drawers of sales that a user decided not to apply. Their reports count what is not there.
pub(super) async fn sales(source: &Source) -> Result<HashSet<Uuid>, DbErr> {
    let mut drawers: HashSet<Uuid> = HashSet::new();
    if source.side != Side::Hq {
        return Ok(drawers);
    }
    // What a later envelope settled is here, and has no resolver.
    let sql = "SELECT id, entity_id, envelope FROM sync_log WHERE entity_type = 'sales' AND status = $1 \
               AND resolved_by IS NOT NULL AND $behind";
    let mut pages = Pages::by_id(source, sql, [RESOLVED.into()]);
    while let Some(rows) = pages.page().await? {
        let mut sales: Vec<Uuid> = Vec::new();
        for row in rows {
            sales.extend(row.try_get::<String>("", "entity_id")?.parse::<Uuid>().ok());
            drawers.extend(row.try_get::<Option<String>>("", "envelope")?.as_deref().and_then(drawer_of));
        }
        // The sale itself may be here, and a change of it was refused.
        let sql = "SELECT register_session_id FROM sales WHERE id IN ($list)";
        for row in find_in(&source.conn, sql, &[], sales).await? {
            drawers.insert(row.try_get("", "register_session_id")?);
        }
    }
    Ok(drawers)
}

/// The drawer that the sale in an envelope names, in either spelling.
fn drawer_of(envelope: &str) -> Option<Uuid> {
    let envelope: Json = serde_json::from_str(envelope).ok()?;
    let named = |key: &str| -> Option<Uuid> { envelope["data"][key].as_str()?.parse().ok() };
    named("registerSessionId").or_else(|| named("register_session_id"))
}

/// At headquarters: the drawers of which a user decided not to apply what their store said. The grand total of the next
/// drawer counts them.
#[derive(Default)]
pub(super) struct Resolved {
    numbers: BTreeMap<(Uuid, String), BTreeSet<i32>>,
    /// Stores with one of which not even the number can be read.
    unknown: HashSet<Uuid>,
}

impl Resolved {
    /// Whether one of them lies between `session` and the drawer with the number `last` before it.
    pub(super) fn between(&self, session: &Model, last: i32) -> bool {
        let gap = last + 1..session.session_number;
        if gap.is_empty() {
            return false;
        }
        let numbers = self.numbers.get(&(session.store_id, session.register_code.clone()));
        self.unknown.contains(&session.store_id) || numbers.is_some_and(|numbers| numbers.range(gap).next().is_some())
    }
}

pub(super) async fn drawers(source: &Source) -> Result<Resolved, DbErr> {
    let mut out = Resolved::default();
    if source.side != Side::Hq {
        return Ok(out);
    }
    let sql = "SELECT id, store_id, entity_id, envelope FROM sync_log WHERE entity_type = 'register_sessions' \
               AND status = $1 AND resolved_by IS NOT NULL AND $behind";
    let mut pages = Pages::by_id(source, sql, [RESOLVED.into()]);
    while let Some(rows) = pages.page().await? {
        let mut here: Vec<Uuid> = Vec::new();
        for row in rows {
            let store: Uuid = row.try_get("", "store_id")?;
            match row.try_get::<Option<String>>("", "envelope")?.as_deref().and_then(number_of) {
                Some((register, number)) => {
                    out.numbers.entry((store, register)).or_default().insert(number);
                }
                None => {
                    out.unknown.insert(store);
                }
            }
            here.extend(row.try_get::<String>("", "entity_id")?.parse::<Uuid>().ok());
        }
        // The drawer itself may be here, and its close was refused.
        let sql = "SELECT store_id, register_code, session_number FROM register_sessions WHERE id IN ($list)";
        for row in find_in(&source.conn, sql, &[], here).await? {
            let register = (row.try_get("", "store_id")?, row.try_get("", "register_code")?);
            out.numbers.entry(register).or_default().insert(row.try_get("", "session_number")?);
        }
    }
    Ok(out)
}

/// Register and number of the drawer in an envelope, in either spelling.
fn number_of(envelope: &str) -> Option<(String, i32)> {
    let envelope: Json = serde_json::from_str(envelope).ok()?;
    let named = |keys: [&str; 2]| keys.map(|key| &envelope["data"][key]).into_iter().find(|value| !value.is_null());
    let number = named(["sessionNumber", "session_number"])?.as_i64()?;
    Some((named(["registerCode", "register_code"])?.as_str()?.to_owned(), i32::try_from(number).ok()?))
}
