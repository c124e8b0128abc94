//! I1 to I4 between a store and headquarters: every document is there once, equal, and nothing else is.

use std::collections::{BTreeMap, HashMap, HashSet};

use sea_orm::{DbErr, EntityName};
use tillkeep_model::wire::camel;
use tillkeep_model::{Instant, Money};
use uuid::Uuid;

use super::finding::{Found, Options};
use super::source::{Rows, Source, by_key, by_sent_key, differing, having, waiting};
use crate::db::query;
use crate::entity::{sale, store_product};
use crate::envelope::limits::Limits;
use crate::kept_ids::{self, KeptIds};
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

/// What the log of headquarters says of one document of this store.
#[derive(Default)]
struct Logged {
    /// It came from the very database that is looked at.
    from_here: bool,
    /// A user decided that it is not to be applied.
    resolved: bool,
    /// It came without a number, or from another installation.
    from_elsewhere: bool,
}

impl Logged {
    fn come_from(&mut self, epoch: Option<String>, is_numbered: bool, mine: &HashSet<String>) {
        match epoch.filter(|_| is_numbered) {
            Some(epoch) if mine.contains(&epoch) => self.from_here = true,
            _ => self.from_elsewhere = true,
        }
    }
}

async fn log(hq: &Source, store: &Source) -> Result<HashMap<String, Logged>, DbErr> {
    let mut out: HashMap<String, Logged> = HashMap::new();
    let sql = "SELECT entity_id, status, node_epoch, seq FROM sync_log WHERE store_id = $1 AND direction = 'push'";
    let mine = own_epochs(store).await?;
    for row in query(&hq.conn, sql, [store.store.into()]).await? {
        let noted = out.entry(row.try_get("", "entity_id")?).or_default();
        let is_numbered = row.try_get::<Option<i64>>("", "seq")?.is_some();
        noted.come_from(row.try_get("", "node_epoch")?, is_numbered, &mine);
        noted.resolved |= row.try_get::<String>("", "status")? == crate::sync_log::RESOLVED;
    }
    let sql = "SELECT k.entity_id, n.node_epoch, k.seq FROM sync_log_nodes n JOIN sync_log_kept k ON k.node = n.id \
               WHERE n.store_id = $1";
    for row in query(&hq.conn, sql, [store.store.into()]).await? {
        let noted = out.entry(row.try_get::<Uuid>("", "entity_id")?.to_string()).or_default();
        noted.come_from(row.try_get("", "node_epoch")?, row.try_get::<i64>("", "seq")? > 0, &mine);
    }
    Ok(out)
}

/// The node epochs under which this database has made entries.
async fn own_epochs(store: &Source) -> Result<HashSet<String>, DbErr> {
    let mut epochs = HashSet::from([store.epoch.clone()]);
    let sql = "SELECT node_epoch FROM sync_outbox UNION SELECT node_epoch FROM sync_outbox_sent";
    for row in query(&store.conn, sql, []).await? {
        epochs.insert(row.try_get("", "node_epoch")?);
    }
    Ok(epochs)
}

pub(super) async fn arrived(
    store: &Source,
    hq: Option<&Source>,
    options: &Options,
    found: &mut Found,
) -> Result<(), DbErr> {
    let Some(hq) = hq else { return Ok(()) };
    let log = log(hq, store).await?;
    let kept = KeptIds::of_store(&hq.conn, store.store).await?;
    let mut open = waiting(store).await?;
    if let Some(since) = options.moving_since {
        let sql = "SELECT entity_type, entity_id FROM sync_outbox_sent WHERE sent_at >= $1";
        for row in query(&store.conn, sql, [since.into()]).await? {
            open.insert((row.try_get("", "entity_type")?, row.try_get("", "entity_id")?));
        }
    }
    for entity in registry::ALL.iter().filter(|entity| !entity.is_pulled()) {
        let here = entity.table.all(&store.conn).await?;
        let there = having(hq, entity.table, "store_id", &[store.store]).await?;
        let moving: HashSet<String> = there
            .iter()
            .filter(|row| late(&***row, options.moving_since))
            .filter_map(|row| Some(kept.sent(row.uuid("id")?).to_string()))
            .collect();
        let without = [OF_HQ, reckoned(entity)].concat();
        let (mut mine, mut theirs) =
            (by_key(&here, entity.key, &without)?, by_sent_key(&there, entity.key, &without, &kept)?);
        as_meant(entity, [&mut mine, &mut theirs]);
        let limits = Limits::new(entity.table, entity.book);
        let waits = |id: &str| id.parse().is_ok_and(|id| open.contains(&(entity.name.to_owned(), id)));
        found.invariant = "I2";
        let mut equal = Vec::new();
        for (id, row) in &mine {
            let resolved = log.get(id).is_some_and(|noted| noted.resolved);
            if waits(id) || resolved {
                continue;
            }
            match theirs.get(id) {
                None => found.add(store.store, entity.name, id, "is at its store, and headquarters does not have it"),
                // Headquarters cuts off what is too much (rule U9).
                Some(other) if other != row && !limits.is_kept(row, other) => {
                    let text = format!("differs at headquarters in {}", differing(row, other).join(", "));
                    found.add(store.store, entity.name, id, text);
                }
                Some(_) => equal.extend(id.parse::<Uuid>().ok()),
            }
        }
        lines(store, hq, entity, (&equal, &kept), found).await?;
        found.invariant = "I3";
        for id in theirs.keys().filter(|id| !mine.contains_key(*id) && !moving.contains(*id)) {
            let noted = log.get(id);
            if noted.is_none_or(|noted| noted.from_here || !noted.from_elsewhere) {
                found.add(store.store, entity.name, id, "is at headquarters, and its store does not have it");
            }
        }
    }
    Ok(())
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

fn late(row: &dyn Row, since: Option<Instant>) -> bool {
    since.is_some_and(|since| row.instant("received_at").is_some_and(|at| at >= since))
}

/// The lines of documents that both sides have.
async fn lines(
    store: &Source,
    hq: &Source,
    entity: &SyncType,
    (documents, kept): (&[Uuid], &KeptIds),
    found: &mut Found,
) -> Result<(), DbErr> {
    let renamed = kept_ids::kept(&hq.conn, store.store, entity.name, documents.iter().copied()).await?;
    let at_hq: Vec<Uuid> = documents.iter().map(|id| renamed.get(id).copied().unwrap_or(*id)).collect();
    for child in entity.children {
        let limits = Limits::new(child.table, Some(child.book));
        let (here, there) = (
            by_key(&having(store, child.table, child.parent, documents).await?, &["id"], reckoned(entity))?,
            by_sent_key(&having(hq, child.table, child.parent, &at_hq).await?, &["id"], reckoned(entity), kept)?,
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
            found.add(store.store, child.table.name(), id, text);
        }
    }
    Ok(())
}

/// When all is sent, a product's level is the same on both sides, but for what documents moved at their store alone that
/// a user decided not to apply. What another system pushed by hand under this store's name never came from here, and
/// neither did its effect.
pub(super) async fn levels(
    store: &Source,
    hq: Option<&Source>,
    options: &Options,
    found: &mut Found,
) -> Result<(), DbErr> {
    let Some(hq) = hq.filter(|_| options.settled) else { return Ok(()) };
    let log = log(hq, store).await?;
    let mut foreign: HashSet<Uuid> = HashSet::new();
    let mut apart: BTreeMap<Uuid, i64> = BTreeMap::new();
    let kept = KeptIds::of_store(&hq.conn, store.store).await?;
    for (document, product, change) in moved(hq, store.store, &kept).await? {
        let Some(noted) = log.get(&document) else { continue };
        if !noted.from_here && noted.from_elsewhere {
            foreign.insert(product);
        }
        // A part of it may have been applied: the sale, and not its void.
        if noted.resolved {
            *apart.entry(product).or_default() -= change;
        }
    }
    for (document, product, change) in moved(store, store.store, &KeptIds::default()).await? {
        if log.get(&document).is_some_and(|noted| noted.resolved) {
            *apart.entry(product).or_default() += change;
        }
    }
    let (here, there) = (stock(store, store.store).await?, stock(hq, store.store).await?);
    let products: HashSet<&Uuid> = here.keys().chain(there.keys()).collect();
    let costed = costed(store).await?;
    for product in products {
        let of = |levels: &BTreeMap<Uuid, Stock>| levels.get(product).copied().unwrap_or_default();
        let (here, there) = (of(&here), of(&there));
        let (more, resolved) = (here.quantity - there.quantity, apart.get(product).copied());
        // A store that was restored since took over headquarters' level (rule D8), and nothing is apart any more.
        if more != 0 && Some(more) != resolved && !foreign.contains(product) {
            let text = format!("{} are at the store, {} by headquarters' books", here.quantity, there.quantity);
            found.add(store.store, store_product::Entity.table_name(), product, text);
        }
        let said = costed.contains(product) && resolved.is_none() && !foreign.contains(product);
        if said && here.average_cost != there.average_cost {
            let text = "the average cost at headquarters is not the one that the store has reckoned";
            found.add(store.store, store_product::Entity.table_name(), product, text);
        }
    }
    Ok(())
}

/// The products of which the store has said what they cost it: programs before 0.2.0 did not.
async fn costed(store: &Source) -> Result<HashSet<Uuid>, DbErr> {
    let sql = "SELECT product_id FROM inventory_adjustments WHERE average_cost_after IS NOT NULL \
               UNION SELECT product_id FROM sale_items WHERE average_cost_after IS NOT NULL";
    query(&store.conn, sql, []).await?.iter().map(|row| row.try_get("", "product_id")).collect()
}

/// What documents of `store` moved, by document (as their store calls it) and product.
async fn moved(source: &Source, store: Uuid, kept: &KeptIds) -> Result<Vec<(String, Uuid, i64)>, DbErr> {
    let sql = "SELECT source_id, product_id, CAST(SUM(quantity_change) AS BIGINT) AS moved FROM stock_movements \
               WHERE store_id = $1 GROUP BY source_id, product_id";
    let rows = query(&source.conn, sql, [store.into()]).await?;
    rows.iter()
        .map(|row| {
            let document: Uuid = row.try_get("", "source_id")?;
            Ok((kept.sent(document).to_string(), row.try_get("", "product_id")?, row.try_get("", "moved")?))
        })
        .collect()
}

#[derive(Clone, Copy, Default)]
struct Stock {
    quantity: i64,
    average_cost: Option<i64>,
}

async fn stock(source: &Source, store: Uuid) -> Result<BTreeMap<Uuid, Stock>, DbErr> {
    let sql = "SELECT product_id, quantity, average_cost FROM store_product_dynamic WHERE store_id = $1";
    let rows = query(&source.conn, sql, [store.into()]).await?;
    rows.iter()
        .map(|row| {
            let (quantity, average_cost) = (row.try_get("", "quantity")?, row.try_get("", "average_cost")?);
            Ok((row.try_get("", "product_id")?, Stock { quantity, average_cost }))
        })
        .collect()
}
