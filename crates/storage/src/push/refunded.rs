//! What was given back of sales: it follows from the refunds that name them, in whatever order all of them came and from
//! whichever store. What the seller says of it decides nothing. `docs/sync.md`, rule U17.

use std::collections::{BTreeSet, HashMap, HashSet};

use sea_orm::{DbErr, EntityTrait, QueryOrder, QuerySelect};
use tillkeep_model::state::SaleStatus;
use tillkeep_model::wire::Applied;
use tillkeep_model::{JsonText, Money, Qty};
use uuid::Uuid;

use super::group::{Answers, Group};
use super::merged::Merged;
use crate::Tx;
use crate::db::{Turn, share_turn, take_turn};
use crate::entity::sale::OVER_REFUNDED;
use crate::entity::{sale, sale_item};
use crate::kept_ids::Renamed;
use crate::many::tuples_in;
use crate::refunds::{Given, claims, given, original};
use crate::rows::{Of, Row, SyncTable};

/// What a document of the group tells of what was given back.
pub(super) struct Told {
    /// The place of its envelope in the group.
    place: usize,
    id: Uuid,
    /// It is new here.
    arrived: bool,
    /// The sale of which it gives something back.
    original: Option<Uuid>,
    /// What was claimed under its id is done: it is a refund, or was voided.
    settles: bool,
}

/// Of sales alone.
pub(super) fn told(merged: &[Merged]) -> Vec<Told> {
    let told = |document: &Merged| {
        let sale = document.row.typed::<sale::Model>()?;
        let original = original(sale);
        Some(Told {
            place: document.place,
            id: sale.id,
            arrived: document.applied == Applied::Inserted,
            original,
            settles: original.is_some() || sale.status == SaleStatus::Voided,
        })
    };
    merged.iter().filter_map(told).collect()
}

/// Reckons what was given back of the sales of the group, and of those that its refunds name. They are stored, with their lines. The
/// sales of which something is another one now.
pub(super) async fn reckon(
    tx: &Tx,
    group: &Group<'_>,
    told: &[Told],
    renamed: &[Renamed],
    answers: &mut Answers,
) -> Result<BTreeSet<Uuid>, DbErr> {
    if told.is_empty() {
        return Ok(BTreeSet::new());
    }
    let mut named: BTreeSet<Uuid> = told.iter().filter_map(|told| told.original).collect();
    // What came before a sale that is kept under another id named another store's sale, and does not any more.
    let left = renamed.iter().filter(|renamed| renamed.table == group.entity.name).map(|renamed| renamed.sent);
    named.extend(left);
    lock(tx, &named, told.iter().any(|told| told.arrived)).await?;
    // Behind the locks: a claim that comes late, beside its document, is kept before this or finds the document.
    let settled = told.iter().filter(|told| told.settles).map(|told| group.envelopes[told.place].id);
    claims::settled(tx, group.sender.store_id, settled.collect()).await?;
    claims::follow(tx, group.sender.store_id, renamed).await?;
    let concerned: BTreeSet<Uuid> = told.iter().map(|told| told.id).chain(named.iter().copied()).collect();
    let given = given(&**tx, concerned).await?;
    let ids: BTreeSet<Uuid> = given.keys().copied().chain(named).collect();
    let ids: Vec<Uuid> = ids.into_iter().collect();
    if ids.is_empty() {
        return Ok(BTreeSet::new());
    }
    let Written { over, changed } = write(tx, &ids, &given).await?;
    for told in told {
        if over.contains(&told.id) || told.original.is_some_and(|original| over.contains(&original)) {
            answers.warn(told.place, OVER_REFUNDED);
        }
    }
    Ok(changed)
}

/// The documents themselves.
pub(super) fn documents(told: &[Told]) -> impl Iterator<Item = Uuid> {
    told.iter().map(|told| told.id)
}

/// Locks the sales that refunds name, in one order, so that each of two refunds at once is seen by one of them; and if one is not here,
/// keeps those apart who store it just now.
async fn lock(tx: &Tx, named: &BTreeSet<Uuid>, arrived: bool) -> Result<(), DbErr> {
    if locked(tx, named).await?.len() < named.len() {
        // Whoever brings it has his turn before this, or reads the refund after it.
        take_turn(tx, Turn::Refund).await?;
        locked(tx, named).await?;
    } else if arrived {
        share_turn(tx, Turn::Refund).await?;
    }
    Ok(())
}

async fn locked(tx: &Tx, ids: &BTreeSet<Uuid>) -> Result<Vec<Uuid>, DbErr> {
    let rows = sale::Entity::find().select_only().column(sale::Column::Id);
    let rows = rows.order_by_asc(sale::Column::Id).lock_exclusive();
    tuples_in(&**tx, rows, sale::Column::Id, ids.iter().copied()).await
}

/// Sales of which too much was given back, and those that are otherwise now.
struct Written {
    over: HashSet<Uuid>,
    changed: BTreeSet<Uuid>,
}

/// Writes the figures of sales.
async fn write(tx: &Tx, ids: &[Uuid], given: &HashMap<Uuid, Given>) -> Result<Written, DbErr> {
    let (sales, items) = (Of::<sale::Entity>::NEW, Of::<sale_item::Entity>::NEW);
    let mut lines: HashMap<Uuid, Vec<Box<dyn Row>>> = HashMap::new();
    for line in items.having(tx, "sale_id", ids, false).await? {
        lines.entry(line.uuid("sale_id").unwrap_or_default()).or_default().push(line);
    }
    let (mut over, mut changed, mut changed_lines) = (HashSet::new(), Vec::new(), Vec::new());
    let mut otherwise = BTreeSet::new();
    let nothing = Given::default();
    for mut row in sales.having(tx, "id", ids, true).await? {
        let id = row.uuid("id").unwrap_or_default();
        let (lines, given) = (lines.remove(&id).unwrap_or_default(), given.get(&id).unwrap_or(&nothing));
        let mut of_sale = OfSale { all: true, above: false };
        let lines_before = changed_lines.len();
        for mut line in lines {
            if of_sale.line(&mut *line, given) {
                changed_lines.push(line);
            }
        }
        let (is_over, is_changed) = of_sale.write(&mut *row, given);
        over.extend(is_over.then_some(id));
        otherwise.extend((is_changed || changed_lines.len() > lines_before).then_some(id));
        if is_changed {
            changed.push(row);
        }
    }
    items.upsert(tx, changed_lines, &["id"], &["refunded_quantity"], None).await?;
    sales.upsert(tx, changed, &["id"], &["status", "refunded_amount", "flags"], None).await?;
    Ok(Written { over, changed: otherwise })
}

/// What the lines of a sale come to.
struct OfSale {
    /// All of it was given back.
    all: bool,
    /// More than all of a line was.
    above: bool,
}

impl OfSale {
    /// Sets what was given back of a line; whether that is news.
    fn line(&mut self, line: &mut dyn Row, given: &Given) -> bool {
        let sold = line.integer("quantity").unwrap_or_default();
        let back = line.uuid("id").map_or(0, |id| given.of_line(id));
        self.all &= back >= sold;
        self.above |= back > 0 && back > sold;
        set(line, "refunded_quantity", Qty(back))
    }

    /// Sets what was given back of the sale; whether that is too much, and whether anything of it is news.
    fn write(&self, row: &mut dyn Row, given: &Given) -> (bool, bool) {
        let status = row.text("status").unwrap_or_default();
        let is_voided = status == SaleStatus::Voided;
        let over = self.above || (is_voided && given.count() > 0);
        let mut changed = set(row, "refunded_amount", Money(given.amount()));
        let reckoned = match (given.count(), self.all) {
            (0, _) => SaleStatus::Completed,
            (_, true) => SaleStatus::Refunded,
            (_, false) => SaleStatus::PartiallyRefunded,
        };
        // The words of newer programs stay.
        let is_reckoned = [SaleStatus::Completed, SaleStatus::PartiallyRefunded, SaleStatus::Refunded]
            .iter()
            .any(|known| status == *known);
        changed |= is_reckoned && set(row, "status", reckoned.word().to_owned());
        let mut flags: Vec<String> =
            row.text("flags").and_then(|flags| serde_json::from_str(&flags).ok()).unwrap_or_default();
        let had = flags.iter().any(|flag| flag == OVER_REFUNDED);
        if had != over {
            flags.retain(|flag| flag != OVER_REFUNDED);
            flags.extend(over.then(|| OVER_REFUNDED.to_owned()));
            changed |= set(row, "flags", JsonText::new(&flags));
        }
        (over, changed)
    }
}

/// Sets a column; whether it was otherwise.
fn set(row: &mut dyn Row, column: &str, value: impl Into<sea_orm::Value>) -> bool {
    let value = value.into();
    row.get(column).as_ref() != Some(&value) && row.set(column, value)
}
