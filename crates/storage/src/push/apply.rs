//! Applying a batch of envelopes set-wise: rows, effects and log entries together, in the transaction of the caller.

use std::collections::{BTreeSet, HashMap};

use sea_orm::sea_query::{Alias, Expr, ExprTrait};
use sea_orm::{DbErr, Value};
use tillkeep_model::wire::{Applied, camel};
use tillkeep_model::{Instant, JsonText};
use uuid::Uuid;

use super::audited::Was;
use super::decide::{Decision, decide, receives, target_status};
use super::incoming::Decoded;
use super::lines::{Document, Lines};
use super::members::Shape;
use super::merge::{Had, Ignored, finish, merge};
use super::{Incoming, Pause, Sender, Verdict, effects, flags, foreign, limits, status};
use crate::averages::{self, Position};
use crate::db::{execute, placeholders, query};
use crate::known_numbers::{Brought, NUMBER_AHEAD};
use crate::registry::owners::{ALL_OF_IT, owns};
use crate::registry::{Claim, Row, Scope, SyncType};
use crate::sync_log::{self, Priors};
use crate::{Tx, accounts, audit, fault, high_water, known_numbers, stock, versions};

/// What a batch came to.
pub(super) struct Outcome {
    pub verdicts: Vec<Verdict>,
    /// Values by type that their sender does not own, and keys that nobody knows.
    pub ignored: Vec<(&'static str, u64)>,
    /// Older refusals were closed, of which the sender is to learn.
    pub healed: bool,
    /// What is to be written down of it as the last thing before the commit.
    pub audits: Vec<audit::Entry>,
}

/// Applies `batch`: no entity twice, parents first.
pub(super) async fn bulk(tx: &mut Tx, sender: &Sender, batch: &[Incoming<'_>], now: Instant) -> Result<Outcome, DbErr> {
    let priors = sync_log::priors(tx, sender.store_id, batch).await?;
    let mut verdicts = Vec::with_capacity(batch.len());
    let (mut ignored, mut audits) = (Vec::new(), Vec::new());
    for group in batch.chunk_by(|a, b| a.entity.name == b.entity.name) {
        let mut counted = Ignored::default();
        verdicts.extend(group_of_one_type(tx, sender, group, &priors, now, &mut counted, &mut audits).await?);
        if counted.count > 0 {
            ignored.push((group[0].entity.name, counted.count));
        }
    }
    fault::point("push.effects")?;
    let healed = sync_log::record(tx, sender, batch, &verdicts, &priors, now).await?;
    fault::point("push.log")?;
    Ok(Outcome { verdicts, ignored, healed, audits })
}

/// An envelope on its way through a group.
pub(super) struct Item<'a> {
    incoming: &'a Incoming<'a>,
    pub decoded: Decoded,
    decision: Decision,
    /// Its place in the group.
    place: usize,
}

/// A document as HQ will have it, lines in the registry's order.
pub(super) struct Prepared {
    pub row: Box<dyn Row>,
    pub children: Vec<Vec<Box<dyn Row>>>,
    /// The lines that it has no more, in the same order.
    removed: Vec<Vec<Uuid>>,
    /// The flags of what was cut off.
    cut: BTreeSet<String>,
    /// What it had put on an account before.
    charged: i128,
    applied: Applied,
    /// How its number stands with the one that its sender gave it.
    pub number: foreign::Number,
    /// It is too far ahead of those that headquarters knows of the store.
    ahead: bool,
    audit: Option<audit::Entry>,
    place: usize,
}

async fn group_of_one_type(
    tx: &mut Tx,
    sender: &Sender,
    group: &[Incoming<'_>],
    priors: &Priors,
    now: Instant,
    ignored: &mut Ignored,
    audits: &mut Vec<audit::Entry>,
) -> Result<Vec<Verdict>, DbErr> {
    let entity = group[0].entity;
    let ids: Vec<Uuid> = group.iter().map(|incoming| incoming.id).collect();
    let mut existing = by_id(entity.table.having(tx, "id", &ids, true).await?);
    let shape = Shape::of(entity);
    let (items, mut verdicts, mut left) = judge(group, &shape, &existing, priors, sender).await;
    let parents = parents(tx, entity, &items, &existing).await?;
    let present: Vec<Uuid> = existing.keys().copied().collect();
    let mut lines = Lines::load(tx, entity, &present, &items).await?;
    let others = foreign::codes_of_others(tx, sender, foreign::sent(entity, &items)).await?;

    let mut prepared = Vec::with_capacity(items.len());
    for Item { incoming, decoded, decision, place } in items {
        let applied = match decision {
            Decision::Refuse(verdict) => {
                verdicts[place] = Some(verdict);
                continue;
            }
            Decision::Leave(applied) => {
                left.push(incoming.id);
                verdicts[place] = Some(Verdict::left(applied));
                continue;
            }
            Decision::Insert => Applied::Inserted,
            Decision::Update => Applied::Updated,
        };
        let old = existing.remove(&incoming.id);
        let parent = match parent_of(entity, old.as_deref(), &*decoded.row, &parents, sender) {
            Ok(parent) => parent,
            Err(verdict) => {
                verdicts[place] = Some(verdict);
                continue;
            }
        };
        let charged = old.as_deref().map_or(0, |old| {
            effects::charged(entity, old, |child, place| lines.stored(child, place, incoming.id).collect())
        });
        let had = old.as_deref().and_then(|row| row.text("status"));
        let in_order = parent.or(old.as_deref());
        let parent_status = parent.and_then(|parent| parent.text("status"));
        let claim = Claim {
            status: parent_status.as_deref().or(had.as_deref()),
            new: old.is_none(),
            receives: receives(old.as_deref(), sender.store_id),
            made_by_hq: in_order.and_then(|row| row.text("origin")).as_deref() == Some("hq"),
        };
        let owned = (entity.owned)(claim);
        if let Some(verdict) = not_theirs(entity, incoming, claim, owned) {
            if matches!(verdict, Verdict::Taken { .. }) {
                left.push(incoming.id);
            }
            verdicts[place] = Some(verdict);
            continue;
        }
        let sent_status = target_status(incoming, &*decoded.row);
        let sent_at = decoded.row.instant("updated_at").filter(|instant| !instant.is_unset());
        let sent_at = sent_at.unwrap_or(incoming.timestamp);
        // Of two writers the later one: a row does not grow younger.
        let had_at = old.as_deref().and_then(|row| row.instant("updated_at")).filter(|had| *had > sent_at);
        let ignored_before = ignored.count;
        let before = old.as_deref().map(|old| Had::of(entity.table.columns(), old));
        let was = Was::of(entity, old.as_deref());
        let number_before = foreign::Before::of(entity, old.as_deref());
        ignored.add(decoded.keys.unknown);
        let passed_over = Ignored::sent_in_vain(entity.table.columns(), &*decoded.row, &decoded.keys, owned);
        // Whoever may write a whole line may not move it: it was judged by the parent that it has.
        let stays = entity.parent.and_then(|(_, column)| Some((column, old.as_deref()?.get(column)?)));
        let mut row = merge(entity.table, old, decoded.row, &decoded.keys, owned, entity.lists);
        if let Some((column, parent)) = stays {
            row.set(column, parent);
        }
        let problem = shape.problem(&*row, &decoded.keys, owned, before.as_ref(), now);
        row.set("updated_at", had_at.unwrap_or(sent_at).into());
        let number = number_before.judge(entity, &mut *row, &others);
        finish(&mut *row, incoming, sender, entity, applied, now);
        if let Some(document) = entity.document.filter(|_| owns(owned, "status")) {
            status::settle(document, claim, sent_status.as_deref(), &mut *row);
        }
        let derived: Vec<&str> = entity.derived.iter().map(|derived| derived.column).collect();
        ignored.compare(&passed_over, &*row, &derived);
        let document = Document { incoming, shape: &shape, keys: &decoded.keys, claim, owned, now };
        let sent = decoded.children.into_iter().enumerate();
        let (children, removed) = sent.map(|(place, sent)| lines.of(&document, place, sent, ignored)).unzip();
        let told = lines.told();
        if let Some(problem) = problem.or(told.problem) {
            verdicts[place] = Some(Verdict::refused("bad_data", format!("data.{problem}")));
            continue;
        }
        let lists = decoded.cut.into_iter().filter(|_| told.changed).map(|list| limits::flag(None, list));
        let cut = limits::flags(&*row, &decoded.keys, owned, told.cut.into_iter().chain(lists));
        let nothing_new = !told.changed && before.is_some_and(|had| had.is_all_of(&*row, entity.lists));
        let applied = if nothing_new { aside(ignored.count > ignored_before) } else { applied };
        let audit = was.and_then(|was| was.changed(entity, &*row, owned, sender));
        prepared.push(Prepared { row, children, removed, cut, charged, applied, number, ahead: false, audit, place });
    }
    foreign::renumber(tx, entity, &mut prepared).await?;
    numbers_taken(tx, entity, &mut prepared, &mut verdicts).await?;
    numbers_ahead(tx, entity, sender, &mut prepared).await?;
    audits.extend(prepared.iter_mut().filter_map(|document| document.audit.take()));
    store(tx, sender, group, prepared, now, &mut verdicts).await?;
    raise_left(tx, entity, &left).await?;
    Ok(verdicts.into_iter().map(|verdict| verdict.unwrap_or_else(lost)).collect())
}

/// What became of an envelope of which nothing was taken.
const fn aside(said_too_much: bool) -> Applied {
    if said_too_much { Applied::Skipped } else { Applied::Duplicate }
}

/// Writes the documents of a group with what follows from them: flags, stock and what customers owe.
async fn store(
    tx: &mut Tx,
    sender: &Sender,
    group: &[Incoming<'_>],
    prepared: Vec<Prepared>,
    now: Instant,
    verdicts: &mut [Option<Verdict>],
) -> Result<(), DbErr> {
    let entity = group[0].entity;
    let flags = flags::of(tx, entity, sender, &prepared, now).await?;
    let places = places(tx, sender, group, &prepared).await?;
    let (mut movements, mut on_account) = (Vec::new(), Vec::new());
    let (mut rows, mut arrived) = (Vec::with_capacity(prepared.len()), Vec::new());
    let mut child_rows: Vec<Vec<Box<dyn Row>>> = entity.children.iter().map(|_| Vec::new()).collect();
    // Of those alone that are stored: a document that is refused keeps the lines it has.
    let mut gone: Vec<Vec<Uuid>> = entity.children.iter().map(|_| Vec::new()).collect();
    for (Prepared { mut row, children, removed, cut, charged, applied, ahead, place, .. }, flags) in
        prepared.into_iter().zip(flags)
    {
        let flags = flags.into_iter().chain(ahead.then_some(NUMBER_AHEAD)).map(str::to_owned);
        let flags: Vec<String> = flags.chain(cut).collect();
        row.set("flags", JsonText::of(&flags).into());
        let position =
            group[place].entry().and_then(|(epoch, seq)| Some(Position { place: *places.get(&epoch)?, seq }));
        movements.extend(effects::movements(entity.name, &*row, &children, position));
        let now_charged =
            effects::charged(entity, &*row, |_, place| children[place].iter().map(|line| &**line).collect());
        on_account.extend(row.uuid("customer_id").map(|customer| (customer, now_charged - charged)));
        verdicts[place] = Some(Verdict::Taken { applied, warnings: flags, left: false });
        if applied == Applied::Inserted {
            arrived.extend(row.uuid("id"));
        }
        rows.push(row);
        add_each(&mut child_rows, children);
        add_each(&mut gone, removed);
    }
    write(tx, entity, sender, rows, child_rows).await?;
    remove_lines(tx, entity, &gone).await?;
    if !movements.is_empty() {
        stock::apply(tx, sender.store_id, movements, now).await?;
    }
    if entity.name == "customers" {
        on_account = accounts::of_stored_sales(tx, &arrived).await?;
    }
    accounts::raise(tx, on_account, now).await?;
    flags::heal(tx, entity, &arrived).await
}

/// The order of the databases that documents are from which say what the average cost was after them.
async fn places(
    tx: &Tx,
    sender: &Sender,
    group: &[Incoming<'_>],
    prepared: &[Prepared],
) -> Result<HashMap<String, i64>, DbErr> {
    let says = |row: &dyn Row| row.integer("average_cost_after").is_some();
    let mut told: Vec<_> = prepared
        .iter()
        .filter(|document| says(&*document.row) || document.children.iter().flatten().any(|line| says(&**line)))
        .filter_map(|document| group[document.place].entry())
        .collect();
    // A database that goes on from a copy of another one goes on with its numbers.
    told.sort_unstable_by_key(|(_, seq)| *seq);
    let epochs: Vec<&str> = told.iter().map(|(epoch, _)| epoch.as_str()).collect();
    averages::places(tx, sender.store_id, &epochs).await
}

fn add_each<T>(into: &mut [Vec<T>], from: Vec<Vec<T>>) {
    for (into, from) in into.iter_mut().zip(from) {
        into.extend(from);
    }
}

/// Reads the envelopes and decides on each; a verdict for those that cannot be read. Those that somebody settled by
/// hand are left aside unread, whatever is wrong with them; their rows travel back.
async fn judge<'a>(
    group: &'a [Incoming<'a>],
    shape: &Shape,
    existing: &HashMap<Uuid, Box<dyn Row>>,
    priors: &Priors,
    sender: &Sender,
) -> (Vec<Item<'a>>, Vec<Option<Verdict>>, Vec<Uuid>) {
    let mut verdicts: Vec<Option<Verdict>> = vec![None; group.len()];
    let (mut items, mut left) = (Vec::with_capacity(group.len()), Vec::new());
    let mut pause = Pause::default();
    for (place, incoming) in group.iter().enumerate() {
        pause.after(incoming.data.len()).await;
        if priors.is_settled(incoming) {
            left.push(incoming.id);
            verdicts[place] = Some(Verdict::left(Applied::Skipped));
            continue;
        }
        match incoming.decode(shape) {
            Ok(mut decoded) => {
                let have = existing.get(&incoming.id).map(|row| &**row);
                if have.is_some() {
                    incoming.narrow(&mut decoded);
                }
                let decision = decide(incoming, &*decoded.row, have, priors.get(incoming), sender);
                items.push(Item { incoming, decoded, decision, place });
            }
            Err(verdict) => verdicts[place] = Some(verdict),
        }
    }
    (items, verdicts, left)
}

async fn remove_lines(tx: &Tx, entity: &SyncType, removed: &[Vec<Uuid>]) -> Result<(), DbErr> {
    for (child, gone) in entity.children.iter().zip(removed) {
        for chunk in gone.chunks(1000) {
            let sql = format!("DELETE FROM {} WHERE id IN ({})", child.table.name(), placeholders(1, chunk.len()));
            execute(tx, &sql, chunk.iter().map(|id| (*id).into())).await?;
        }
    }
    Ok(())
}

/// The parent that a row must have at HQ.
fn parent_of<'a>(
    entity: &SyncType,
    old: Option<&dyn Row>,
    sent: &dyn Row,
    parents: &'a HashMap<Uuid, Box<dyn Row>>,
    sender: &Sender,
) -> Result<Option<&'a dyn Row>, Verdict> {
    let Some((name, column)) = entity.parent else { return Ok(None) };
    // A line stays where it is.
    let named = old.and_then(|old| old.uuid(column)).or_else(|| sent.uuid(column).filter(|id| !id.is_nil()));
    match named.and_then(|id| parents.get(&id)) {
        Some(parent) if parent.uuid("store_id") == Some(sender.store_id) => Ok(Some(&**parent)),
        _ => Err(Verdict::refused("missing_parent", format!("HQ does not have the {name} of this row yet"))),
    }
}

/// What HQ made is not a store's to draft, to add to or to take away.
fn not_theirs(entity: &SyncType, incoming: &Incoming<'_>, claim: Claim, owned: &[&str]) -> Option<Verdict> {
    if entity.parent.is_some() && claim.new && claim.made_by_hq {
        let text = "the lines of an order that headquarters made are headquarters'";
        return Some(Verdict::refused("not_owned", text));
    }
    if entity.parent.is_some() && incoming.action == "delete" && owned != ALL_OF_IT && !owned.is_empty() {
        let text = "the lines of an order are deleted by its maker, and only before it is approved";
        return Some(Verdict::refused("not_deletable", text));
    }
    owned.is_empty().then(|| Verdict::left(Applied::Skipped))
}

/// Refuses rows whose natural key another row has: the usual reason for which a row cannot be stored, found for a whole
/// group at once and not by halving it.
async fn numbers_taken(
    tx: &Tx,
    entity: &SyncType,
    prepared: &mut Vec<Prepared>,
    verdicts: &mut [Option<Verdict>],
) -> Result<(), DbErr> {
    let Some(column) = entity.number else { return Ok(()) };
    let mut holders: HashMap<String, Uuid> = HashMap::new();
    let numbers: Vec<Value> =
        prepared.iter().filter_map(|document| document.row.text(column)).map(Value::from).collect();
    for chunk in numbers.chunks(1000) {
        let sql = format!(
            "SELECT id, {column} AS number FROM {} WHERE deleted_at IS NULL AND {column} IN ({})",
            entity.table.name(),
            placeholders(1, chunk.len())
        );
        for row in query(tx, &sql, chunk.iter().cloned()).await? {
            holders.insert(row.try_get("", "number")?, row.try_get("", "id")?);
        }
    }
    prepared.retain(|Prepared { row, place, .. }| {
        let (Some(number), Some(id)) = (row.text(column), row.uuid("id")) else { return true };
        if row.instant("deleted_at").is_some() || *holders.entry(number).or_insert(id) == id {
            return true;
        }
        let text = format!("another row has the same key: {}", camel(column));
        verdicts[*place] = Some(Verdict::refused("not_storable", text));
        false
    });
    Ok(())
}

/// Marks the documents whose numbers count for nothing.
async fn numbers_ahead(tx: &Tx, entity: &SyncType, sender: &Sender, prepared: &mut [Prepared]) -> Result<(), DbErr> {
    let brought = |document: &Prepared| {
        let (series, number) = high_water::brought(entity.name, &*document.row, &sender.store_code)?;
        Some(Brought { series, number, new: document.applied == Applied::Inserted })
    };
    let brought: Vec<Option<Brought>> = prepared.iter().map(brought).collect();
    let ahead = known_numbers::judge(tx, sender.store_id, &sender.store_code, &brought).await?;
    prepared.iter_mut().zip(ahead).for_each(|(document, ahead)| document.ahead = ahead);
    Ok(())
}

/// Cannot happen: each envelope has either a verdict or an outcome.
fn lost() -> Verdict {
    Verdict::refused("internal", "no verdict was reached")
}

pub(super) fn by_id(rows: Vec<Box<dyn Row>>) -> HashMap<Uuid, Box<dyn Row>> {
    rows.into_iter().filter_map(|row| Some((row.uuid("id")?, row))).collect()
}

async fn parents(
    tx: &Tx,
    entity: &SyncType,
    items: &[Item<'_>],
    existing: &HashMap<Uuid, Box<dyn Row>>,
) -> Result<HashMap<Uuid, Box<dyn Row>>, DbErr> {
    let Some((parent, column)) = entity.parent else { return Ok(HashMap::new()) };
    let Some(parent) = crate::registry::find(parent) else { return Ok(HashMap::new()) };
    let sent = items.iter().map(|item| &item.decoded.row);
    let mut ids: Vec<Uuid> = sent.chain(existing.values()).filter_map(|row| row.uuid(column)).collect();
    ids.sort_unstable();
    ids.dedup();
    Ok(by_id(parent.table.having(tx, "id", &ids, true).await?))
}

async fn write(
    tx: &mut Tx,
    entity: &'static SyncType,
    sender: &Sender,
    rows: Vec<Box<dyn Row>>,
    children: Vec<Vec<Box<dyn Row>>>,
) -> Result<(), DbErr> {
    if rows.is_empty() {
        return Ok(());
    }
    let column = |table: &str, name: &str| Expr::col((Alias::new(table), Alias::new(name)));
    // A second wall behind the decision: whatever is asked for, no row of another store changes.
    let guard = (entity.scope == Scope::Store).then(|| column(entity.name, "store_id").eq(sender.store_id));
    let update = but(entity.table.columns(), &["id", "created_at"]);
    entity.table.upsert(tx, rows, &["id"], &update, guard).await?;
    for (child, rows) in entity.children.iter().zip(children) {
        let table = child.table.name();
        let update = but(child.table.columns(), &["id"]);
        let guard = column(table, child.parent).eq(column("excluded", child.parent));
        child.table.upsert(tx, rows, &["id"], &update, Some(guard)).await?;
    }
    if entity.is_pulled() {
        tx.touch(entity.name);
    }
    fault::point("push.rows")
}

fn but(columns: Vec<&'static str>, left_out: &[&str]) -> Vec<&'static str> {
    columns.into_iter().filter(|column| !left_out.contains(column)).collect()
}

/// Rule D7: a row whose envelope was left aside travels back to its store, which would else keep its own state.
async fn raise_left(tx: &mut Tx, entity: &'static SyncType, left: &[Uuid]) -> Result<(), DbErr> {
    if left.is_empty() || !entity.is_pulled() {
        return Ok(());
    }
    versions::unstamp(tx, entity, left).await
}
