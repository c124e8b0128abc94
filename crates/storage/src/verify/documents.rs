//! I1 to I3 between a store and headquarters: every document is there once, equal, and nothing else is.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::slice;

use sea_orm::{DbErr, EntityName, Value};
use tillkeep_model::wire::camel;
use tillkeep_model::{Instant, Money};
use uuid::Uuid;

use super::finding::{Found, Options};
use super::logged::{log, own_epochs};
use super::pages::{Pages, Which, Whole};
use super::source::{Rows, Source, by_key, by_sent_key, differing, existing, having};
use crate::db::Row as ReadRow;
use crate::document::Form;
use crate::entity::sale;
use crate::envelope::limits::Limits;
use crate::kept_ids::{self, KeptIds};
use crate::many::find_in;
use crate::registry::{self, SyncType};
use crate::rows::{Of, Row};

/// What headquarters adds to a document on its own; and its time of change, which does not go back there when the clock of a
/// store does.
const OF_HQ: &[&str] = &["received_at", "flags", "updated_at"];

pub(super) async fn acknowledged(store: &Source, options: &Options, found: &mut Found) -> Result<(), DbErr> {
    let promised = options.acknowledged.iter().filter(|sale| sale.store == store.store);
    let ids: Vec<Uuid> = promised.clone().map(|sale| sale.sale).collect();
    let rows = having(store, &Of::<sale::Entity>::NEW, "id", &ids).await?;
    let rows: HashMap<Uuid, &dyn Row> = rows.iter().filter_map(|row| Some((row.uuid("id")?, &**row))).collect();
    for sale in promised {
        let Some(row) = rows.get(&sale.sale) else {
            found.add(
                sale.store,
                sale::Entity.table_name(),
                sale.sale,
                format!("receipt {} was given and is gone", sale.receipt),
            );
            continue;
        };
        let kept = (row.text("receipt_number"), row.integer("total_amount").map(Money));
        if kept != (Some(sale.receipt.clone()), Some(sale.total)) {
            let text = format!("is not what was answered: receipt {}, total {}", sale.receipt, sale.total.0);
            found.add(sale.store, sale::Entity.table_name(), sale.sale, text);
        }
    }
    Ok(())
}

/// Those of `documents` of which something is under way.
async fn open(
    store: &Source,
    entity: &SyncType,
    options: &Options,
    documents: &[Uuid],
) -> Result<HashSet<Uuid>, DbErr> {
    let name: Value = entity.name.into();
    let sql = "SELECT entity_id FROM sync_outbox WHERE entity_type = $1 AND entity_id IN ($list)";
    let mut rows = find_in(&store.conn, sql, slice::from_ref(&name), documents.iter().copied()).await?;
    if let Some(since) = options.moving_since {
        let sql = "SELECT entity_id FROM sync_outbox_sent WHERE entity_type = $1 AND sent_at >= $2 \
                   AND entity_id IN ($list)";
        rows.extend(find_in(&store.conn, sql, &[name, since.into()], documents.iter().copied()).await?);
    }
    rows.iter().map(|row| row.try_get("", "entity_id")).collect()
}

/// A store and headquarters, and what is known of the two.
struct Sides<'a> {
    store: &'a Source,
    hq: &'a Source,
    options: &'a Options,
    kept: KeptIds,
    epochs: HashSet<String>,
}

pub(super) async fn arrived(
    store: &Source,
    hq: Option<&Source>,
    options: &Options,
    found: &mut Found,
) -> Result<(), DbErr> {
    let Some(hq) = hq else { return Ok(()) };
    let kept = KeptIds::of_store(&hq.conn, store.store).await?;
    let sides = Sides { store, hq, options, kept, epochs: own_epochs(store).await? };
    for entity in registry::ALL.iter().filter(|entity| !entity.is_pulled()) {
        found.invariant = "I2";
        let which = Which { table: entity.table, key: entity.key, filter: &[], store: store.store };
        let mut pages = Whole::new(store, which);
        while let Some(here) = pages.page().await? {
            sides.sent(entity, &here, found).await?;
        }
        found.invariant = "I3";
        let mut pages = at_hq(hq, entity, store.store);
        while let Some(there) = pages.page().await? {
            sides.not_from_here(entity, &there, found).await?;
        }
    }
    Ok(())
}

/// The documents of `store` at headquarters: by their numbers, of which there is an index by store, else among those of all stores.
fn at_hq<'a>(hq: &'a Source, entity: &SyncType, store: Uuid) -> Pages<'a> {
    let columns = "id, store_id, received_at";
    let Some(number) = entity.push.and_then(|pushed| pushed.number) else {
        return Pages::by_id(hq, &format!("SELECT {columns} FROM {} WHERE $behind", entity.name), []);
    };
    let first = match number.form {
        Form::Text { .. } => Value::from(""),
        Form::Whole => Value::from(i32::MIN),
    };
    let mut key: Vec<(&'static str, Value)> = number.register.map(|column| (column, "".into())).into_iter().collect();
    key.push((number.column, first));
    let numbers = key.iter().map(|(column, _)| *column).collect::<Vec<_>>().join(", ");
    key.push(("id", Uuid::nil().into()));
    let sql = format!("SELECT {numbers}, {columns} FROM {} WHERE store_id = $1 AND $behind", entity.name);
    Pages::new(hq, &sql, [store.into()], &key)
}

impl Sides<'_> {
    /// Documents of the store, each at headquarters as it is. Not merged by one key: headquarters may know them by other ids.
    async fn sent(&self, entity: &SyncType, here: &[Box<dyn Row>], found: &mut Found) -> Result<(), DbErr> {
        let ids: Vec<Uuid> = here.iter().filter_map(|row| row.uuid("id")).collect();
        let mut there = having(self.hq, entity.table, "id", &self.ids_at_hq(entity, &ids).await?).await?;
        there.retain(|row| row.uuid("store_id") == Some(self.store.store));
        let without = [OF_HQ, reckoned(entity)].concat();
        let (mut mine, mut theirs) =
            (by_key(here, entity.key, &without)?, by_sent_key(&there, entity.key, &without, &self.kept)?);
        as_meant(entity, [&mut mine, &mut theirs]);
        let limits = Limits::new(entity.table, entity.book);
        let open = open(self.store, entity, self.options, &ids).await?;
        let log = log(self.hq, self.store, &self.epochs, &ids).await?;
        let is_left_out = |id: Uuid| open.contains(&id) || log.get(&id).is_some_and(|noted| noted.resolved);
        let mut equal = Vec::new();
        for (id, row) in &mine {
            let document = id.parse::<Uuid>().ok();
            if document.is_some_and(is_left_out) {
                continue;
            }
            match theirs.get(id) {
                None => {
                    found.add(self.store.store, entity.name, id, "is at its store, and headquarters does not have it");
                }
                // Headquarters cuts off what is too much (rule U9).
                Some(other) if other != row && !limits.is_kept(row, other) => {
                    let text = format!("differs at headquarters in {}", differing(row, other).join(", "));
                    found.add(self.store.store, entity.name, id, text);
                }
                Some(_) => equal.extend(document),
            }
        }
        self.lines(entity, &equal, found).await
    }

    /// The lines of documents that both sides have.
    async fn lines(&self, entity: &SyncType, documents: &[Uuid], found: &mut Found) -> Result<(), DbErr> {
        let at_hq = self.ids_at_hq(entity, documents).await?;
        for child in entity.children {
            let limits = Limits::new(child.table, Some(child.book));
            let here = having(self.store, child.table, child.parent, documents).await?;
            let there = having(self.hq, child.table, child.parent, &at_hq).await?;
            let (here, there) = (
                by_key(&here, &["id"], reckoned(entity))?,
                by_sent_key(&there, &["id"], reckoned(entity), &self.kept)?,
            );
            for id in here.keys().chain(there.keys().filter(|id| !here.contains_key(*id))) {
                let text = match (here.get(id), there.get(id)) {
                    (Some(mine), Some(theirs)) if mine == theirs || limits.is_kept(mine, theirs) => continue,
                    (Some(mine), Some(theirs)) => {
                        format!("differs at headquarters in {}", differing(mine, theirs).join(", "))
                    }
                    (Some(_), None) => "is a line of its store that headquarters does not have".to_owned(),
                    (None, _) => "is a line at headquarters that its store does not have".to_owned(),
                };
                found.add(self.store.store, child.table.name(), id, text);
            }
        }
        Ok(())
    }

    /// The ids of documents at headquarters.
    async fn ids_at_hq(&self, entity: &SyncType, documents: &[Uuid]) -> Result<Vec<Uuid>, DbErr> {
        let ids = documents.iter().copied();
        let renamed = kept_ids::kept(&self.hq.conn, self.store.store, entity.name, ids).await?;
        Ok(documents.iter().map(|id| renamed.get(id).copied().unwrap_or(*id)).collect())
    }

    /// Documents at headquarters that the store does not have, and that came from it.
    async fn not_from_here(&self, entity: &SyncType, there: &[ReadRow], found: &mut Found) -> Result<(), DbErr> {
        let mut ids = Vec::with_capacity(there.len());
        for row in there {
            let store: Uuid = row.try_get("", "store_id")?;
            let received: Option<Instant> = row.try_get("", "received_at")?;
            let is_late = self.options.moving_since.zip(received).is_some_and(|(since, received)| received >= since);
            if store == self.store.store && !is_late {
                ids.push(self.kept.sent(row.try_get("", "id")?));
            }
        }
        let here = existing(self.store, entity.name, &ids).await?;
        ids.retain(|id| !here.contains(id));
        let log = log(self.hq, self.store, &self.epochs, &ids).await?;
        for id in ids {
            if log.get(&id).is_none_or(|noted| noted.from_here || !noted.from_elsewhere) {
                found.add(self.store.store, entity.name, id, "is at headquarters, and its store does not have it");
            }
        }
        Ok(())
    }
}

/// What headquarters reckons itself.
fn reckoned(entity: &SyncType) -> &'static [&'static str] {
    entity.push.map_or(&[] as &[&str], |pushed| pushed.reckoned)
}

/// Has rows say what is meant by their states: a store and headquarters need not know of the same refunds.
fn as_meant(entity: &SyncType, sides: [&mut Rows; 2]) {
    let Some(states) = entity.push.and_then(|pushed| pushed.states.as_ref()) else { return };
    for row in sides.into_iter().flat_map(BTreeMap::values_mut) {
        if let Some(status) = row.get_mut(&camel(states.column)) {
            *status = status.as_str().map(|said| states.meant(said)).into();
        }
    }
}
