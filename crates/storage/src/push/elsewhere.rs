//! Documents with an id that another store has used before: what came in is kept all the same, under an id that follows from
//! the store and the one that was sent. `docs/sync.md`, rule U9.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use sea_orm::DbErr;
use uuid::Uuid;

use super::group::{Group, by_id};
use super::merged::Merged;
use crate::Tx;
use crate::db::execute;
use crate::document::{Pushed, UsedId};
use crate::kept_ids::{self, Renamed};
use crate::many::find_in;
use crate::registry::{self, SyncType};
use crate::rows::Row;
use tillkeep_model::ids;

/// A table of documents or of their lines.
struct Table {
    name: &'static str,
    /// Its rows of the store `$1`.
    of_store: String,
}

/// A column in which documents name another one of their store, which may be kept under another id than it has there.
struct Naming {
    table: Table,
    column: &'static str,
    names: Table,
}

static NAMINGS: LazyLock<Vec<Naming>> = LazyLock::new(|| {
    let of = |(entity, pushed): (&'static SyncType, &'static Pushed)| {
        pushed.awaited.iter().filter_map(move |awaited| {
            let (kept, names) = registry::pushed()
                .flat_map(|(entity, pushed)| tables(entity).map(move |table| (pushed.used_id, table)))
                .find(|(_, table)| table.name == awaited.names.table())?;
            let table = tables(entity).nth(awaited.lines.map_or(0, |place| place + 1))?;
            (kept == UsedId::Another).then_some(Naming { table, column: awaited.column, names })
        })
    };
    registry::pushed().flat_map(of).collect()
});

/// The table of documents, and those of their lines in the registry's order.
fn tables(entity: &'static SyncType) -> impl Iterator<Item = Table> {
    let own = Table { name: entity.name, of_store: "store_id = $1".to_owned() };
    let lines = entity.children.iter().map(|child| Table {
        name: child.table.name(),
        of_store: format!("{} IN (SELECT id FROM {} WHERE store_id = $1)", child.parent, entity.name),
    });
    std::iter::once(own).chain(lines)
}

/// The rows that HQ has of the envelopes of a group.
pub(super) struct ExistingRows {
    pub existing: HashMap<Uuid, Box<dyn Row>>,
    kept: HashMap<Uuid, Uuid>,
}

impl ExistingRows {
    /// The id under which headquarters has, or will have, what its store calls `sent`.
    pub(super) fn id(&self, sent: Uuid) -> Uuid {
        self.kept.get(&sent).copied().unwrap_or(sent)
    }
}

/// Finds them, and locks them. A row that is another store's is none of these, where the type says so.
pub(super) async fn known(tx: &Tx, group: &Group<'_>) -> Result<ExistingRows, DbErr> {
    let ids: Vec<Uuid> = group.envelopes.iter().map(|incoming| incoming.id).collect();
    let mut existing = by_id(group.entity.table.having(tx, "id", &ids, true).await?);
    let mut kept = HashMap::new();
    if group.pushed.used_id == UsedId::Another {
        let store = group.sender.store_id;
        for (sent, _) in existing.extract_if(|_, row| row.uuid("store_id") != Some(store)) {
            kept.insert(sent, ids::elsewhere(store, sent));
        }
        if !kept.is_empty() {
            let ids: Vec<Uuid> = kept.values().copied().collect();
            existing.extend(by_id(group.entity.table.having(tx, "id", &ids, true).await?));
        }
    }
    Ok(ExistingRows { existing, kept })
}

/// Has documents name the others of their store under the ids that these are kept under.
pub(super) async fn follow(tx: &Tx, group: &Group<'_>, merged: &mut [Merged]) -> Result<(), DbErr> {
    for naming in &*NAMINGS {
        let place = group.entity.children.iter().position(|child| child.table.name() == naming.table.name);
        if place.is_none() && group.entity.table.name() != naming.table.name {
            continue;
        }
        let mut rows: Vec<&mut Box<dyn Row>> = Vec::with_capacity(merged.len());
        for document in merged.iter_mut() {
            match place {
                None => rows.push(&mut document.row),
                Some(place) => rows.extend(document.children.get_mut(place).into_iter().flatten()),
            }
        }
        rows.retain(|row| row.uuid(naming.column).is_some_and(|id| !id.is_nil()));
        let mut named: Vec<Uuid> = rows.iter().filter_map(|row| row.uuid(naming.column)).collect();
        named.sort_unstable();
        named.dedup();
        let mut kept = kept_ids::kept(&**tx, group.sender.store_id, naming.names.name, named).await?;
        let own = own(tx, group.sender.store_id, &naming.names, kept.keys().copied().collect()).await?;
        kept.retain(|sent, _| !own.contains(sent));
        for row in rows.iter_mut().filter(|_| !kept.is_empty()) {
            if let Some(kept) = row.uuid(naming.column).and_then(|id| kept.get(&id)).copied() {
                // A column that may be null takes one value as well as the other.
                let _ = row.set(naming.column, kept.into()) || row.set(naming.column, Some(kept).into());
            }
        }
    }
    Ok(())
}

/// Those of `ids` that are rows of the store itself here: whoever names them may mean these.
async fn own(tx: &Tx, store: Uuid, table: &Table, ids: Vec<Uuid>) -> Result<HashSet<Uuid>, DbErr> {
    let sql = format!("SELECT id FROM {} WHERE {} AND id IN ($list)", table.name, table.of_store);
    let rows = find_in(&**tx, &sql, &[store.into()], ids).await?;
    rows.iter().map(|row| row.try_get("", "id")).collect()
}

/// Notes the documents and lines that were stored under other ids, and has what came before them and names them follow.
pub(super) async fn note(tx: &Tx, group: &Group<'_>, renamed: &[Renamed]) -> Result<(), DbErr> {
    if renamed.is_empty() {
        return Ok(());
    }
    let store = group.sender.store_id;
    kept_ids::note(tx, store, renamed).await?;
    for Renamed { table, sent, kept } in renamed {
        for naming in NAMINGS.iter().filter(|naming| naming.names.name == *table) {
            if own(tx, store, &naming.names, vec![*sent]).await?.contains(sent) {
                continue;
            }
            let Naming { table: Table { name: of, of_store }, column, .. } = naming;
            let sql = format!("UPDATE {of} SET {column} = $2 WHERE {column} = $3 AND {of_store}");
            execute(&**tx, &sql, [store.into(), (*kept).into(), (*sent).into()]).await?;
        }
    }
    Ok(())
}
