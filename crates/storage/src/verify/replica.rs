//! I7 and I8: what a store has pulled is what headquarters has for it, tombstones included, and its cursors say so.
//!
//! Written from the tables and not with the code that answers a pull: what that forgets to send must be seen here.

use std::collections::{BTreeSet, HashMap, HashSet};

use sea_orm::DbErr;
use serde_json::{Map, Value as Json};
use uuid::Uuid;

use super::finding::{Found, Options};
use super::pages::{Merged, Which};
use super::people::People;
use super::source::{Rows, Sides, Source, by_key, differing, having};
use crate::apply::{self, Cursor};
use crate::many::find_in;
use crate::registry::{self, Scope, SyncType};
use crate::rows::Row;
use crate::{settings, versions};

/// A store's row of a product is its own but for these.
const PRICED: &[&str] = &[
    "price",
    "hasPriceOverride",
    "reorderPoint",
    "reorderQuantity",
    "maxQuantity",
    "isStocked",
    "binLocation",
    "deletedAt",
];

pub(super) async fn equal(
    store: &Source,
    hq: Option<&Source>,
    options: &Options,
    found: &mut Found,
) -> Result<(), DbErr> {
    let Some(hq) = hq else { return Ok(()) };
    let known = settings::get(&store.conn, "hq_epoch").await?;
    if known.as_deref() != Some(hq.epoch.as_str()) {
        if options.settled {
            found.add(store.store, "sync_state", "hq_epoch", "the store has not seen this database of headquarters");
        }
        return Ok(());
    }
    let cursors = apply::cursors(&store.conn).await?;
    let heads = versions::heads(&hq.conn).await?;
    for entity in registry::pulled() {
        let scope = registry::counter_scope(entity, store.store);
        let head = heads.get(&(entity.name.to_owned(), scope)).copied().unwrap_or_default();
        let cursor = cursors.get(entity.name).copied().unwrap_or_default();
        found.invariant = "I8";
        // The store is read last: with running servers it may have seen what is newer than the head.
        let beyond = cursor.version > head && options.moving_since.is_none();
        if beyond || (options.settled && (cursor.version != head || cursor.reloading)) {
            let text = format!("the cursor is {} and the head {head}", cursor.version);
            found.add(store.store, entity.name, "cursor", text);
        }
        found.invariant = "I7";
        if !cursor.reloading || options.settled {
            one(store, hq, entity, (cursor, head), options, found).await?;
        }
    }
    Ok(())
}

async fn one(
    store: &Source,
    hq: &Source,
    entity: &SyncType,
    (cursor, head): (Cursor, i64),
    options: &Options,
    found: &mut Found,
) -> Result<(), DbErr> {
    if entity.replace_all && cursor.version != head {
        return Ok(());
    }
    let filter: &[&str] = match entity.scope {
        Scope::Everyone => &[],
        Scope::Store => &["store_id"],
        Scope::Parties => &["from_store_id", "to_store_id"],
    };
    let of = |filter| Which { table: entity.table, key: entity.key, filter, store: store.store };
    let people = if entity.withheld.is_empty() { None } else { Some(People::of_store(hq, store.store).await?) };
    let mut pages = Merged::new((store, of(&[])), (hq, of(filter)));
    while let Some([mut here, mut there]) = pages.page().await? {
        if let Some(people) = &people {
            people.compare_by_what_is_there(hq, entity, options, (&mut here, &mut there)).await?;
        }
        if entity.replace_all {
            whole(store, entity, &here, &there, found)?;
        } else {
            page(store, hq, entity, (cursor, head), options, (&here, &there), found).await?;
        }
    }
    Ok(())
}

/// The rows of both sides with keys of one page.
async fn page(
    store: &Source,
    hq: &Source,
    entity: &SyncType,
    (cursor, head): (Cursor, i64),
    options: &Options,
    (here, there): Sides<'_>,
    found: &mut Found,
) -> Result<(), DbErr> {
    let without = without(entity);
    let (mut mine, mut theirs) = (by_key(here, entity.key, &without)?, by_key(there, entity.key, &without)?);
    if entity.store_may_create {
        for row in mine.values_mut().chain(theirs.values_mut()) {
            row.retain(|name, _| PRICED.contains(&name.as_str()));
        }
    }
    let unsent =
        here.iter().filter(|row| row.get("synced") == Some(false.into())).filter_map(|row| row.uuid("id")).collect();
    let replica = Replica { store: store.store, entity, here, there, mine, theirs, unsent };
    let same = replica.compare(cursor, options, found);
    if !entity.store_may_create {
        let withdrawn = replica.withdrawn(|version| options.settled || version <= head);
        // An entry that a user resolved at headquarters was never applied; its row stays at the store alone.
        let resolved = resolved(store, hq, entity, &withdrawn).await?;
        for key in withdrawn.iter().filter(|key| !resolved.contains(*key)) {
            found.add(store.store, entity.name, key, "the store has it, and headquarters does not");
        }
    }
    lines(store, hq, entity, &same, found).await
}

/// The columns that are not compared.
fn without(entity: &SyncType) -> Vec<&'static str> {
    let mut without = entity.store_owned.to_vec();
    without.extend(entity.unannounced);
    if entity.is_pulled() && entity.is_pushed() {
        // The push that HQ takes gives the row a version that its store need not pull.
        without.push("sync_version");
    }
    without
}

/// The rows of one type on both sides.
struct Replica<'a> {
    store: Uuid,
    entity: &'a SyncType,
    here: &'a [Box<dyn Row>],
    there: &'a [Box<dyn Row>],
    /// What is compared of those of the store, by key.
    mine: Rows,
    /// The same of those of headquarters.
    theirs: Rows,
    /// The rows of which something waits in the outbox.
    unsent: HashSet<Uuid>,
}

impl Replica<'_> {
    /// Finds what headquarters has otherwise; the ids of the rows that are the same.
    fn compare(&self, cursor: Cursor, options: &Options, found: &mut Found) -> Vec<Uuid> {
        let own: HashMap<String, &dyn Row> =
            keys(self.here, self.entity).zip(self.here.iter().map(|row| &**row)).collect();
        let mut same = Vec::new();
        for (row, key) in self.there.iter().zip(keys(self.there, self.entity)) {
            let version = row.integer("sync_version").unwrap_or_default();
            let own = own.get(&key);
            let newer = own.and_then(|own| own.integer("sync_version")).is_some_and(|own| own > version);
            let under_way = !options.settled && (version > cursor.version || newer);
            if under_way || own.and_then(|own| own.uuid("id")).is_some_and(|id| self.unsent.contains(&id)) {
                continue;
            }
            let text = match (self.mine.get(&key), self.theirs.get(&key)) {
                (None, _) => "headquarters has it, and it is not in the store".to_owned(),
                (Some(mine), Some(theirs)) if mine != theirs => {
                    format!("differs from headquarters in {}", differing(mine, theirs).join(", "))
                }
                _ => {
                    same.extend(row.uuid("id"));
                    continue;
                }
            };
            found.add(self.store, self.entity.name, &key, text);
        }
        same
    }

    /// The keys of what headquarters does not have, of versions that are `judged`.
    fn withdrawn(&self, judged: impl Fn(i64) -> bool) -> Vec<String> {
        let rows = self.here.iter().zip(keys(self.here, self.entity));
        let withdrawn = rows.filter(|(row, key)| {
            let version = row.integer("sync_version").unwrap_or_default();
            let unsent = row.uuid("id").is_some_and(|id| self.unsent.contains(&id));
            !self.theirs.contains_key(key) && !unsent && judged(version)
        });
        withdrawn.map(|(_, key)| key).collect()
    }
}

/// Those of `keys` that a user resolved.
async fn resolved(store: &Source, hq: &Source, entity: &SyncType, keys: &[String]) -> Result<HashSet<String>, DbErr> {
    let sql = "SELECT entity_id FROM sync_log WHERE store_id = $1 AND entity_type = $2 AND status = 'resolved' \
               AND entity_id IN ($list)";
    let of = [store.store.into(), entity.name.into()];
    let rows = find_in(&hq.conn, sql, &of, keys.iter().map(String::as_str)).await?;
    rows.iter().map(|row| row.try_get("", "entity_id")).collect()
}

fn keys<'a>(rows: &'a [Box<dyn Row>], entity: &'a SyncType) -> impl Iterator<Item = String> + 'a {
    rows.iter().map(|row| {
        let ids = entity.key.iter().filter_map(|column| Some(row.uuid(column)?.to_string()));
        ids.collect::<Vec<_>>().join(" ")
    })
}

fn whole(
    store: &Source,
    entity: &SyncType,
    here: &[Box<dyn Row>],
    there: &[Box<dyn Row>],
    found: &mut Found,
) -> Result<(), DbErr> {
    let (mine, theirs): (Rows, Rows) = (by_key(here, entity.key, &[])?, by_key(there, entity.key, &[])?);
    for key in mine.keys().chain(theirs.keys()).collect::<BTreeSet<_>>() {
        let text = match (mine.get(key), theirs.get(key)) {
            (Some(_), None) => "was withdrawn at headquarters, and the store still has it",
            (None, Some(_)) => "headquarters has it, and it is not in the store",
            (mine, theirs) if mine != theirs => "differs from headquarters",
            _ => continue,
        };
        found.add(store.store, entity.name, key, text);
    }
    Ok(())
}

async fn lines(
    store: &Source,
    hq: &Source,
    entity: &SyncType,
    parents: &[Uuid],
    found: &mut Found,
) -> Result<(), DbErr> {
    for child in entity.children {
        let here = by_key(&having(store, child.table, child.parent, parents).await?, &["id"], &[])?;
        let there = by_key(&having(hq, child.table, child.parent, parents).await?, &["id"], &[])?;
        for key in here.keys().chain(there.keys()).collect::<BTreeSet<_>>() {
            let nothing = Map::<String, Json>::new();
            let names = differing(here.get(key).unwrap_or(&nothing), there.get(key).unwrap_or(&nothing));
            if !names.is_empty() {
                found.add(store.store, child.table.name(), key, format!("differs in {}", names.join(", ")));
            }
        }
    }
    Ok(())
}
