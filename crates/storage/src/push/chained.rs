//! The entries of chains that came with documents, in whatever order: each against its document, and against those beside it.
//! A neighbour that is not here is a gap, which closes when it comes. `docs/chain.md`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use sea_orm::DbErr;
use uuid::Uuid;

use super::group::Group;
use super::merged::Merged;
use crate::Tx;
use crate::entity::{chain_entry, sale, sale_chain};
use crate::envelope::limits::CUT;
use crate::fiscal::{self, CHAIN_BROKEN, Rows, heads};
use crate::kept_ids::KeptIds;
use crate::many::find_by_rows;
use crate::registry::flags::add;

/// Of each document whether its chain is broken at it. Those that are here already are flagged on the spot, and the newest entries
/// noted.
pub(super) async fn broken(tx: &mut Tx, group: &Group<'_>, merged: &mut [Merged]) -> Result<Vec<bool>, DbErr> {
    let place = |table: &str| group.entity.children.iter().position(|child| child.table.name() == table);
    let (Some(entries), Some(items), Some(payments)) =
        (place("chain_entries"), place("sale_items"), place("sale_payments"))
    else {
        return Ok(vec![false; merged.len()]);
    };
    let store = group.sender.store_id;
    if !of_this_store(merged, entries, store) {
        return Ok(vec![false; merged.len()]);
    }
    let renamed = merged.iter().flat_map(|document| &document.renamed);
    let kept = KeptIds::of_store(&**tx, store).await?.with(renamed);
    let mut links = Links::default();
    for document in merged.iter() {
        let Some(sale) = document.row.typed::<sale::Model>() else { continue };
        let rows = Rows { sale, items: typed(document, items), payments: typed(document, payments) };
        // What was cut off was hashed whole.
        let is_cut = document.kept_flags.iter().any(|flag| flag.starts_with(CUT));
        for entry in typed::<chain_entry::Model>(document, entries) {
            let is_known = fiscal::is_known(entry.version);
            if is_known && !is_cut && !fiscal::fits(entry, &rows, &|id| kept.sent(id)) {
                links.broken.insert(sale.id);
            }
            links.add(entry, true);
        }
    }
    links.load(tx, store).await?;
    links.judge();
    raise_heads(tx, store, merged, entries).await?;
    let here: HashSet<Uuid> = merged.iter().filter_map(|document| document.row.uuid("id")).collect();
    let earlier: Vec<Uuid> = links.broken.iter().filter(|sale| !here.contains(*sale)).copied().collect();
    add(tx, group.entity, &earlier, CHAIN_BROKEN).await?;
    let is_broken = |document: &Merged| document.row.uuid("id").is_some_and(|id| links.broken.contains(&id));
    Ok(merged.iter().map(is_broken).collect())
}

/// Nobody has a place in the chains of another store. Whether there are entries at all.
fn of_this_store(merged: &mut [Merged], entries: usize, store: Uuid) -> bool {
    let mut is_chained = false;
    for entry in merged.iter_mut().filter_map(|document| document.children.get_mut(entries)).flatten() {
        entry.set("store_id", store.into());
        is_chained = true;
    }
    is_chained
}

fn typed<M: 'static>(document: &Merged, place: usize) -> Vec<&M> {
    document.children.get(place).into_iter().flatten().filter_map(|row| row.typed::<M>()).collect()
}

/// What of an entry its neighbours are compared with.
struct Link {
    sale: Uuid,
    is_known: bool,
    /// It came just now.
    is_new: bool,
    previous: String,
    hash: String,
}

/// Entries by chain and number.
#[derive(Default)]
struct Links {
    all: BTreeMap<(Uuid, i64), Vec<Link>>,
    /// The documents that came now, whose entries are here as they will be.
    sales: HashSet<Uuid>,
    broken: BTreeSet<Uuid>,
}

impl Links {
    fn add(&mut self, entry: &chain_entry::Model, is_new: bool) {
        if is_new {
            self.sales.insert(entry.sale_id);
        }
        let link = Link {
            sale: entry.sale_id,
            is_known: fiscal::is_known(entry.version),
            is_new,
            previous: entry.previous_hash.clone(),
            hash: entry.hash.clone(),
        };
        self.all.entry((entry.chain_id, entry.number)).or_default().push(link);
    }

    /// The entries that are here beside those that came.
    async fn load(&mut self, tx: &Tx, store: Uuid) -> Result<(), DbErr> {
        let beside = |(chain, number): &(Uuid, i64)| {
            let chain = *chain;
            [number.saturating_sub(1), *number, number.saturating_add(1)].map(|number| (chain, number))
        };
        let wanted: BTreeSet<(Uuid, i64)> = self.all.keys().flat_map(beside).collect();
        let rows = wanted.into_iter().map(|(chain, number)| [chain.into(), number.into()]);
        let sql = "SELECT e.sale_id, e.chain_id, e.number, e.version, e.previous_hash, e.hash FROM (VALUES $rows) AS v \
                   CROSS JOIN chain_entries e WHERE e.chain_id = v.column1 AND e.number = v.column2 AND e.store_id = $1";
        for row in find_by_rows(tx, sql, &[store.into()], "(?, ?)", rows).await? {
            let entry = chain_entry::Model {
                sale_id: row.try_get("", "sale_id")?,
                chain_id: row.try_get("", "chain_id")?,
                number: row.try_get("", "number")?,
                version: row.try_get("", "version")?,
                previous_hash: row.try_get("", "previous_hash")?,
                hash: row.try_get("", "hash")?,
                ..chain_entry::Model::default()
            };
            if !self.sales.contains(&entry.sale_id) {
                self.add(&entry, false);
            }
        }
        Ok(())
    }

    /// Finds what does not fit together. Of entries of a form that is not known nothing is said.
    fn judge(&mut self) {
        let mut broken = BTreeSet::new();
        for ((chain, number), links) in &self.all {
            let before = self.all.get(&(*chain, number.saturating_sub(1)));
            // Pairs of what was here before were looked at when they came.
            let is_new = |links: &[Link]| links.iter().any(|link| link.is_new);
            if !is_new(links) && !before.is_some_and(|before| is_new(before)) {
                continue;
            }
            if links.len() > 1 {
                broken.extend(known(links));
            }
            for link in links.iter().filter(|link| link.is_known) {
                match before {
                    Some(before) if !before.iter().any(|before| before.hash == link.previous) => {
                        broken.insert(link.sale);
                        broken.extend(known(before));
                    }
                    None if *number < 1 || (*number == 1 && !link.previous.is_empty()) => {
                        broken.insert(link.sale);
                    }
                    _ => {}
                }
            }
        }
        self.broken.extend(broken);
    }
}

/// The documents of entries that can be judged.
fn known(links: &[Link]) -> impl Iterator<Item = Uuid> {
    links.iter().filter(|link| link.is_known).map(|link| link.sale)
}

/// Notes the newest entries of each chain.
async fn raise_heads(tx: &Tx, store: Uuid, merged: &[Merged], entries: usize) -> Result<(), DbErr> {
    let mut newest: HashMap<Uuid, &chain_entry::Model> = HashMap::new();
    for entry in merged.iter().flat_map(|document| typed::<chain_entry::Model>(document, entries)) {
        let known = newest.entry(entry.chain_id).or_insert(entry);
        if known.number < entry.number {
            *known = entry;
        }
    }
    // Of several batches at once each takes them in one order.
    let newest: BTreeMap<Uuid, &chain_entry::Model> = newest.into_iter().collect();
    let head = |entry: &chain_entry::Model| sale_chain::Model {
        chain_id: entry.chain_id,
        store_id: store,
        register_code: entry.register_code.clone(),
        number: entry.number,
        hash: entry.hash.clone(),
        running_total: entry.running_total,
        follows: entry.follows.clone(),
        updated_at: entry.at,
    };
    heads::raise(&**tx, newest.into_values().map(head)).await
}
