//! What was not judged because it was under way: databases of running servers are read one after the other.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use sea_orm::DbErr;
use tillkeep_model::Instant;
use uuid::Uuid;

use super::source::Source;
use crate::db::query;
use crate::many::find_in;
use crate::registry;

/// The documents of one store that were left out, and how much of that one of the two sides lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub store: Uuid,
    /// Entries that wait in its outbox.
    pub waiting: i64,
    /// Documents of which it heard lately that headquarters has them.
    pub sent: usize,
    /// Those that headquarters does not have.
    pub missing_at_hq: usize,
    /// Documents that lately came to headquarters.
    pub received: usize,
    /// Those that the store does not have.
    pub missing_at_store: usize,
}

impl LeftOut {
    /// Whether there is anything to say.
    pub fn is_nothing(&self) -> bool {
        *self == Self { store: self.store, ..Self::default() }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "not judged, as it is under way, of store {}: {} entries that wait; {} documents that were sent lately, of which \
             headquarters lacks {}; {} that came there lately, of which the store lacks {}",
            self.store, self.waiting, self.sent, self.missing_at_hq, self.received, self.missing_at_store
        )
    }
}

/// What [`super::run`] leaves out with [`super::Options::moving_since`], of documents that stores make alone.
pub async fn left_out(hq: &Source, store: &Source, since: Instant) -> Result<LeftOut, DbErr> {
    let mut out = LeftOut { store: store.store, ..LeftOut::default() };
    let waiting = query(&store.conn, "SELECT COUNT(*) AS n FROM sync_outbox", []).await?;
    out.waiting = waiting.first().map_or(Ok(0), |row| row.try_get("", "n"))?;
    let sql = "SELECT DISTINCT entity_type, entity_id FROM sync_outbox_sent WHERE sent_at >= $1";
    let mut sent: BTreeMap<String, Vec<Uuid>> = BTreeMap::new();
    for row in query(&store.conn, sql, [since.into()]).await? {
        sent.entry(row.try_get("", "entity_type")?).or_default().push(row.try_get("", "entity_id")?);
    }
    for entity in registry::ALL.iter().filter(|entity| entity.is_pushed() && !entity.is_pulled()) {
        let table = entity.table.name();
        let lacks = async |source: &Source, ids: &[Uuid]| -> Result<usize, DbErr> {
            let sql = format!("SELECT id FROM {table} WHERE id IN ($list)");
            let rows = find_in(&source.conn, &sql, &[], ids.iter().copied()).await?;
            let has: HashSet<Uuid> = rows.iter().map(|row| row.try_get("", "id")).collect::<Result<_, _>>()?;
            Ok(ids.iter().filter(|id| !has.contains(id)).count())
        };
        let sent = sent.remove(entity.name).unwrap_or_default();
        out.missing_at_hq += lacks(hq, &sent).await?;
        out.sent += sent.len();
        let sql = format!("SELECT id FROM {table} WHERE store_id = $1 AND received_at >= $2");
        let rows = query(&hq.conn, &sql, [store.store.into(), since.into()]).await?;
        let received: Vec<Uuid> = rows.iter().map(|row| row.try_get("", "id")).collect::<Result<_, _>>()?;
        out.missing_at_store += lacks(store, &received).await?;
        out.received += received.len();
    }
    Ok(out)
}
