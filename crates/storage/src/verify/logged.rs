//! What the log of headquarters says of documents of one store.

use std::collections::{HashMap, HashSet};

use sea_orm::DbErr;
use uuid::Uuid;

use super::source::Source;
use crate::db::query;
use crate::many::find_in;

/// What the log of headquarters says of one document of this store.
#[derive(Default)]
pub(super) struct Logged {
    /// It came from the very database that is looked at.
    pub from_here: bool,
    /// A user decided that it is not to be applied.
    pub resolved: bool,
    /// It came without a number, or from another installation.
    pub from_elsewhere: bool,
}

impl Logged {
    fn come_from(&mut self, epoch: Option<String>, is_numbered: bool, mine: &HashSet<String>) {
        match epoch.filter(|_| is_numbered) {
            Some(epoch) if mine.contains(&epoch) => self.from_here = true,
            _ => self.from_elsewhere = true,
        }
    }
}

/// What the log says of these documents of `store`, by the ids that it knows them by; `mine` are its node epochs.
pub(super) async fn log(
    hq: &Source,
    store: &Source,
    mine: &HashSet<String>,
    documents: &[Uuid],
) -> Result<HashMap<Uuid, Logged>, DbErr> {
    let mut out: HashMap<Uuid, Logged> = HashMap::new();
    let of_store = &[store.store.into()];
    let sql = "SELECT entity_id, status, node_epoch, seq FROM sync_log WHERE store_id = $1 AND direction = 'push' \
               AND entity_id IN ($list)";
    for row in find_in(&hq.conn, sql, of_store, documents.iter().map(Uuid::to_string)).await? {
        let Ok(id) = row.try_get::<String>("", "entity_id")?.parse::<Uuid>() else { continue };
        let noted = out.entry(id).or_default();
        let is_numbered = row.try_get::<Option<i64>>("", "seq")?.is_some();
        noted.come_from(row.try_get("", "node_epoch")?, is_numbered, mine);
        noted.resolved |= row.try_get::<String>("", "status")? == crate::sync_log::RESOLVED;
    }
    // Not joined: `SQLite` would go along all that is kept of each node.
    let mut nodes: HashMap<i32, Option<String>> = HashMap::new();
    let sql = "SELECT id, node_epoch FROM sync_log_nodes WHERE store_id = $1";
    for row in query(&hq.conn, sql, [store.store.into()]).await? {
        nodes.insert(row.try_get("", "id")?, row.try_get("", "node_epoch")?);
    }
    let sql = "SELECT node, entity_id, seq FROM sync_log_kept WHERE entity_id IN ($list)";
    for row in find_in(&hq.conn, sql, &[], documents.iter().copied()).await? {
        let Some(epoch) = nodes.get(&row.try_get::<i32>("", "node")?) else { continue };
        let noted = out.entry(row.try_get("", "entity_id")?).or_default();
        noted.come_from(epoch.clone(), row.try_get::<i64>("", "seq")? > 0, mine);
    }
    Ok(out)
}

/// The node epochs under which this database has made entries.
pub(super) async fn own_epochs(store: &Source) -> Result<HashSet<String>, DbErr> {
    let mut epochs = HashSet::from([store.epoch.clone()]);
    let sql = "SELECT node_epoch FROM sync_outbox UNION SELECT node_epoch FROM sync_outbox_sent";
    for row in query(&store.conn, sql, []).await? {
        epochs.insert(row.try_get("", "node_epoch")?);
    }
    Ok(epochs)
}
