//! I11: the audit log is what was written, and each act that needs a permission is in it once.

use std::collections::HashMap;

use sea_orm::{DbErr, Value};
use uuid::Uuid;

use super::{Found, Source};
use crate::db::query;
use crate::{Side, audit};

/// Rows that somebody made here, and the word with which the audit log names the act. A document that came back from
/// headquarters has no entry in the outbox of this database, and its act is in the audit log of the one before.
const ACTS: &[(&str, &str, &str)] = &[
    ("register_sessions", MADE_HERE, "session.open"),
    ("register_sessions", CLOSED_HERE, "session.close"),
    ("inventory_adjustments", MADE_HERE, "inventory.adjust"),
    ("approvals", "created_at IS NOT NULL", "approval.granted"),
];

const MADE_HERE: &str = "id IN (SELECT entity_id FROM sync_outbox WHERE action = 'create' \
     UNION SELECT entity_id FROM sync_outbox_sent WHERE action = 'create')";
const CLOSED_HERE: &str = "status = 'closed' AND id IN (SELECT entity_id FROM sync_outbox WHERE action = 'update' \
     UNION SELECT entity_id FROM sync_outbox_sent WHERE action = 'update')";

pub(super) async fn chain(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    if let Err(broken) = audit::verify(&source.conn, None).await? {
        found.add(source.store, "audit_log", "", broken.to_string());
    }
    Ok(())
}

pub(super) async fn rows(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    if source.side != Side::Store {
        return Ok(());
    }
    for (table, which, action) in ACTS {
        let sql = "SELECT entity_id, COUNT(*) AS times FROM audit_log WHERE action = $1 AND entity_id IS NOT NULL \
                   GROUP BY entity_id";
        let mut noted: HashMap<String, i64> = HashMap::new();
        for row in query(&source.conn, sql, [Value::from(*action)]).await? {
            noted.insert(row.try_get("", "entity_id")?, row.try_get("", "times")?);
        }
        for row in query(&source.conn, &format!("SELECT id FROM {table} WHERE {which}"), []).await? {
            let id: Uuid = row.try_get("", "id")?;
            let times = noted.get(&id.to_string()).copied().unwrap_or_default();
            if times != 1 {
                found.add(source.store, table, id, format!("{action} is {times} times in the audit log, not once"));
            }
        }
    }
    Ok(())
}
