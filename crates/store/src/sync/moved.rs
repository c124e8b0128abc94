//! Pulling all that moved, in dependency order. `docs/sync.md`, rules D2, D5.

use std::collections::{BTreeMap, HashMap};

use tillkeep_storage::apply::{self, Cursor};
use tillkeep_storage::registry::{self, SyncType};

use super::pull::{Moved, NO_HEAD, PullError, attempt};
use super::together;
use crate::Store;

/// Pulls every type whose head is not where this store is, or every one where the heads are unknown. A type that cannot
/// be read or stored does not hold up the others.
pub(super) async fn pull(
    store: &Store,
    epoch: &str,
    heads: Option<&BTreeMap<String, i64>>,
) -> Result<Moved, PullError> {
    let cursors = apply::cursors(store.reader()).await?;
    let mut moved = Moved::default();
    for unit in in_order(store, &cursors, heads) {
        let entity = match unit[..] {
            [entity] if !entity.is_staged() => entity,
            _ => {
                together::pull(store, epoch, &unit, &cursors, heads, &mut moved).await?;
                continue;
            }
        };
        // A type that HQ does not know is skipped: it is older than this store.
        let Some(head) = heads.map_or(Some(&NO_HEAD), |heads| heads.get(entity.name)) else { continue };
        let cursor = cursors.get(entity.name).copied().unwrap_or_default();
        // Not only a higher head: a lower one means that HQ was restored, which the pull itself finds out.
        let behind = cursor.version != *head || cursor.reloading;
        let is_due = behind
            || match entity.arrival.awaited {
                Some(is_awaited) => is_awaited(store.reader()).await?,
                None => false,
            };
        if !is_due || attempt(store, epoch, entity, cursor, *head, &mut moved).await? {
            store.sync.stored(entity.name, None);
        }
    }
    Ok(moved)
}

/// The pulled types in dependency order, those that become visible together as one; in a first pull, what signing in needs before
/// all the goods (rule D5 leaves the order free). Those at which a cycle ended come last, so that one that headquarters cannot answer
/// holds up the others for one cycle at the most.
fn in_order(
    store: &Store,
    cursors: &HashMap<String, Cursor>,
    heads: Option<&BTreeMap<String, i64>>,
) -> Vec<Vec<&'static SyncType>> {
    let last = store.sync.last();
    let has_rows = |entity: &SyncType| heads.is_none_or(|heads| heads.get(entity.name) > Some(&0));
    let is_new = |entity: &SyncType| !cursors.contains_key(entity.name) && has_rows(entity);
    let first_pull = registry::pulled().any(is_new);
    let mut units: Vec<_> = registry::units().collect();
    units.sort_by_key(|unit| {
        let any_of = |names: &dyn Fn(&str) -> bool| unit.iter().any(|entity| names(entity.name));
        (any_of(&|name| last.contains(name)), first_pull && !any_of(&|name| registry::FIRST.contains(&name)))
    });
    units
}
