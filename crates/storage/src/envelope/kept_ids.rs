//! The ids that rows have at their store, where headquarters keeps them under others. `docs/sync.md`, rule U9.

use std::collections::{HashMap, HashSet};

use sea_orm::{ConnectionTrait, DbErr};
use uuid::Uuid;

use crate::Tx;
use crate::db::query;
use crate::many::{execute_rows, find_in};

/// The flag of a document with an id, its own or of one of its lines, that another store or document had before.
pub const ID_USED_ELSEWHERE: &str = "id_used_elsewhere";

/// A row, or a line, that is kept under another id than was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Renamed {
    pub table: &'static str,
    pub sent: Uuid,
    pub kept: Uuid,
}

/// Notes the ids of `renamed`.
pub(crate) async fn note(tx: &Tx, store: Uuid, renamed: &[Renamed]) -> Result<(), DbErr> {
    let sql = "INSERT INTO kept_ids (kept_id, store_id, entity_type, sent_id) VALUES $rows \
               ON CONFLICT (kept_id) DO NOTHING";
    let rows = renamed.iter().map(|row| [row.kept.into(), row.table.into(), row.sent.into()]);
    execute_rows(tx, sql, &[store.into()], "(?, $1, ?, ?)", rows).await?;
    Ok(())
}

/// Under which ids rows of `table` are kept that `store` calls `sent`; those alone that have another one.
pub(crate) async fn kept(
    conn: &impl ConnectionTrait,
    store: Uuid,
    table: &str,
    sent: impl IntoIterator<Item = Uuid>,
) -> Result<HashMap<Uuid, Uuid>, DbErr> {
    let sql = "SELECT sent_id, kept_id FROM kept_ids WHERE store_id = $1 AND entity_type = $2 AND sent_id IN ($list)";
    let rows = find_in(conn, sql, &[store.into(), table.into()], sent).await?;
    rows.iter().map(|row| Ok((row.try_get("", "sent_id")?, row.try_get("", "kept_id")?))).collect()
}

/// Those of `ids` that headquarters gave a row or a line of whatever store.
pub(crate) async fn among(
    conn: &impl ConnectionTrait,
    ids: impl IntoIterator<Item = Uuid>,
) -> Result<HashSet<Uuid>, DbErr> {
    let rows = find_in(conn, "SELECT kept_id FROM kept_ids WHERE kept_id IN ($list)", &[], ids).await?;
    rows.iter().map(|row| row.try_get("", "kept_id")).collect()
}

/// All of one store: they are few.
#[derive(Debug, Default)]
pub(crate) struct KeptIds(HashMap<Uuid, Uuid>);

impl KeptIds {
    pub(crate) async fn of_store(conn: &impl ConnectionTrait, store: Uuid) -> Result<Self, DbErr> {
        let rows = query(conn, "SELECT kept_id, sent_id FROM kept_ids WHERE store_id = $1", [store.into()]).await?;
        let pairs = rows.iter().map(|row| Ok((row.try_get("", "kept_id")?, row.try_get("", "sent_id")?)));
        Ok(Self(pairs.collect::<Result<_, DbErr>>()?))
    }

    /// These, and those of rows that are about to be noted.
    pub(crate) fn with<'a>(mut self, renamed: impl Iterator<Item = &'a Renamed>) -> Self {
        self.0.extend(renamed.map(|row| (row.kept, row.sent)));
        self
    }

    /// The id at its store of a row that headquarters keeps as `kept`.
    pub(crate) fn sent(&self, kept: Uuid) -> Uuid {
        self.0.get(&kept).copied().unwrap_or(kept)
    }

    /// `json` with the ids of its store, wherever a row, a line or what names one has another one here. An id that is kept is the
    /// hash of a name, and stands for nothing else.
    pub(crate) fn as_sent(&self, mut json: String) -> String {
        for (kept, sent) in &self.0 {
            let kept = kept.to_string();
            if json.contains(&kept) {
                json = json.replace(&kept, &sent.to_string());
            }
        }
        json
    }
}
