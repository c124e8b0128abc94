//! Applying a batch of envelopes set-wise in one transaction: rows, effects and log entries together.

use std::collections::HashMap;

use sea_orm::sea_query::{Alias, Expr, ExprTrait};
use sea_orm::{DbErr, Value};
use tillkeep_model::wire::Applied;
use tillkeep_model::{Instant, JsonText, ids};
use uuid::Uuid;

use super::decide::{Decision, decide, receives, target_status};
use super::incoming::{Decoded, Keys};
use super::{Incoming, Sender, Verdict, effects};
use crate::registry::owners::{ALL_OF_IT, owns};
use crate::registry::{Child, Claim, Flow, Row, Scope, SyncType};
use crate::stock::{self, Movement};
use crate::sync_log::{self, Priors};
use crate::{Change, Db, Tx, fault, versions};

/// Applies `batch` (no entity twice, parents first) in one transaction.
pub(super) async fn bulk(
    db: &Db,
    sender: &Sender,
    batch: &[Incoming],
    now: Instant,
) -> Result<(Vec<Verdict>, Vec<Change>), DbErr> {
    let mut tx = db.begin().await?;
    let priors = sync_log::priors(&tx, sender.store_id, batch).await?;
    let mut verdicts = Vec::with_capacity(batch.len());
    for group in batch.chunk_by(|a, b| a.entity.name == b.entity.name) {
        verdicts.extend(group_of_one_type(&mut tx, sender, group, &priors, now).await?);
    }
    fault::point("push.effects")?;
    sync_log::record(&tx, sender.store_id, batch, &verdicts, &priors, now).await?;
    fault::point("push.log")?;
    let changes = tx.commit().await?;
    fault::point("push.applied")?;
    Ok((verdicts, changes))
}

type RowsById = HashMap<Uuid, Box<dyn Row>>;

/// An envelope on its way through a group.
struct Item<'a> {
    incoming: &'a Incoming,
    decoded: Decoded,
    decision: Decision,
}

async fn group_of_one_type(
    tx: &mut Tx,
    sender: &Sender,
    group: &[Incoming],
    priors: &Priors,
    now: Instant,
) -> Result<Vec<Verdict>, DbErr> {
    let entity = group[0].entity;
    let ids: Vec<Uuid> = group.iter().map(|incoming| incoming.id).collect();
    let mut existing = by_id(entity.table.having(tx, "id", &ids, true).await?);
    let present: Vec<Uuid> = existing.keys().copied().collect();
    let mut lines = Vec::new();
    for child in entity.children {
        lines.push(by_id(child.table.having(tx, child.parent, &present, true).await?));
    }

    let mut verdicts: Vec<Option<Verdict>> = Vec::with_capacity(group.len());
    let mut items = Vec::with_capacity(group.len());
    for incoming in group {
        match incoming.decode() {
            Ok(decoded) => {
                let have = existing.get(&incoming.id).map(|row| &**row);
                let decision = decide(incoming, &*decoded.row, have, priors.get(incoming), sender);
                items.push(Item { incoming, decoded, decision });
                verdicts.push(None);
            }
            Err(verdict) => verdicts.push(Some(verdict)),
        }
    }
    let parents = parents(tx, entity, &items, &existing).await?;
    let mut line_owners = line_owners(tx, entity, &items).await?;

    let mut rows = Vec::new();
    let mut child_rows: Vec<Vec<Box<dyn Row>>> = entity.children.iter().map(|_| Vec::new()).collect();
    let mut movements = Vec::new();
    let mut left = Vec::new();
    let mut outcomes = Vec::with_capacity(items.len());
    for Item { incoming, decoded, decision } in items {
        let applied = match decision {
            Decision::Refuse(verdict) => {
                outcomes.push(verdict);
                continue;
            }
            Decision::Leave(applied) => {
                left.push(incoming.id);
                outcomes.push(Verdict::Taken { applied, warnings: Vec::new() });
                continue;
            }
            Decision::Insert => Applied::Inserted,
            Decision::Update => Applied::Updated,
        };
        let parent = entity.parent.map(|(_, column)| {
            let old = existing.get(&incoming.id).and_then(|old| old.uuid(column));
            let sent = decoded.row.uuid(column).filter(|id| !id.is_nil());
            sent.or(old).and_then(|id| parents.get(&id))
        });
        let parent_status = match parent {
            Some(Some(parent)) if parent.uuid("store_id") == Some(sender.store_id) => parent.text("status"),
            Some(_) => {
                let text =
                    format!("HQ does not have the {} of this row yet", entity.parent.map_or("", |(name, _)| name));
                outcomes.push(Verdict::refused("missing_parent", text));
                continue;
            }
            None => None,
        };
        let old = existing.remove(&incoming.id);
        let old_status = old.as_deref().and_then(|row| row.text("status"));
        let claim = Claim {
            status: parent_status.as_deref().or(old_status.as_deref()),
            new: old.is_none(),
            receives: receives(old.as_deref(), sender.store_id),
        };
        let owned = (entity.owned)(claim);
        let status = target_status(incoming, &*decoded.row);
        let updated_at = decoded.row.instant("updated_at").filter(|instant| !instant.is_unset());
        let mut row = merge(entity.table.columns(), old, decoded.row, &decoded.keys, owned);
        row.set("updated_at", updated_at.unwrap_or(incoming.timestamp).into());
        finish(&mut *row, incoming, sender, entity, applied, now);
        if let Some(status) = status.filter(|status| !status.is_empty() && owns(owned, "status")) {
            row.set("status", status.into());
        }
        let mut children = Vec::with_capacity(decoded.children.len());
        let sent = entity.children.iter().zip(decoded.children);
        for (((child, sent), have), owners) in sent.zip(&mut lines).zip(&mut line_owners) {
            children.push(lines_of(incoming, child, sent, (have, owners), claim, owned));
        }
        let flags = effects::flags(entity.name, &*row, &children);
        if !flags.is_empty() {
            row.set("flags", JsonText::of(&flags).into());
        }
        movements.extend(effects::movements(entity.name, &*row, &children));
        outcomes.push(Verdict::Taken { applied, warnings: flags.iter().map(|flag| (*flag).to_owned()).collect() });
        rows.push(row);
        for (into, from) in child_rows.iter_mut().zip(children) {
            into.extend(from);
        }
    }
    write(tx, entity, sender, rows, child_rows).await?;
    raise_left(tx, entity, &left).await?;
    if !movements.is_empty() {
        let by_source = products_by_source(&movements);
        let effects = stock::apply(tx, sender.store_id, movements, now).await?;
        warn_of_unknown(group, &verdicts, &mut outcomes, &by_source, &effects);
    }
    let mut outcomes = outcomes.into_iter();
    Ok(verdicts.into_iter().map(|verdict| verdict.or_else(|| outcomes.next()).unwrap_or_else(lost)).collect())
}

/// Which document each sent line id belongs to at HQ, by the registry's order of children.
async fn line_owners(tx: &Tx, entity: &SyncType, items: &[Item<'_>]) -> Result<Vec<HashMap<Uuid, Uuid>>, DbErr> {
    let mut out = Vec::with_capacity(entity.children.len());
    for (place, child) in entity.children.iter().enumerate() {
        let sent = items.iter().flat_map(|item| &item.decoded.children[place]);
        let ids: Vec<Uuid> = sent.filter_map(|(line, _)| line.uuid("id")).collect();
        let known = child.table.having(tx, "id", &ids, false).await?;
        out.push(known.iter().filter_map(|row| Some((row.uuid("id")?, row.uuid(child.parent)?))).collect());
    }
    Ok(out)
}

/// A line whose id another document has (a sender that numbers its lines) gets one of its own: no line of a sale may be
/// lost, and none of another document may change.
fn own_id(line: &mut dyn Row, document: Uuid, child: &Child, owners: &mut HashMap<Uuid, Uuid>) {
    let Some(id) = line.uuid("id") else { return };
    if *owners.entry(id).or_insert(document) != document {
        let line_no = i32::try_from(line.integer("line_no").unwrap_or_default()).unwrap_or_default();
        line.set("id", ids::line(document, child.kind, line_no).into());
    }
}

/// The lines of a document as HQ will have them; `have` are those of the whole group.
fn lines_of(
    incoming: &Incoming,
    child: &Child,
    sent: Vec<(Box<dyn Row>, Keys)>,
    (have, owners): (&mut RowsById, &mut HashMap<Uuid, Uuid>),
    claim: Claim,
    owned: &[&str],
) -> Vec<Box<dyn Row>> {
    let mine = |old: &dyn Row| old.uuid(child.parent) == Some(incoming.id);
    // A document is written once: what already has lines takes no further ones, whose goods would leave twice.
    let complete = have.values().any(|row| mine(&**row));
    let mut lines = Vec::with_capacity(sent.len());
    for (mut line, keys) in sent {
        own_id(&mut *line, incoming.id, child, owners);
        // A line of another parent is not this sender's to change; the guard of the upsert leaves it alone.
        let id = line.uuid("id").filter(|id| have.get(id).is_some_and(|old| mine(&**old)));
        let old = id.and_then(|id| have.remove(&id));
        if old.is_none() && (complete || claim.receives) {
            // Nor does the destination of a transfer say what is in it.
            continue;
        }
        let whole = old.is_none() && incoming.entity.scope != Scope::Parties;
        lines.push(merge(child.table.columns(), old, line, &keys, if whole { ALL_OF_IT } else { owned }));
    }
    // What was not sent again is still there: a void may name no more than the sale.
    let rest: Vec<Uuid> = have.iter().filter(|(_, row)| mine(&***row)).map(|(id, _)| *id).collect();
    lines.extend(rest.iter().filter_map(|id| have.remove(id)));
    lines
}

/// Cannot happen: each envelope has either a verdict or an outcome.
fn lost() -> Verdict {
    Verdict::refused("internal", "no verdict was reached")
}

fn by_id(rows: Vec<Box<dyn Row>>) -> HashMap<Uuid, Box<dyn Row>> {
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

/// The row as HQ will have it: what the sender owns and sent from `sent`, everything else from `old`.
fn merge(
    columns: Vec<&'static str>,
    old: Option<Box<dyn Row>>,
    sent: Box<dyn Row>,
    keys: &Keys,
    owned: &[&str],
) -> Box<dyn Row> {
    if let Some(mut old) = old {
        for column in columns.into_iter().filter(|column| owns(owned, column) && keys.name(column)) {
            if let Some(value) = sent.get(column) {
                old.set(column, value);
            }
        }
        return old;
    }
    let mut new = sent;
    if owned != ALL_OF_IT {
        // What a store may not write starts as the column's default.
        for column in columns.into_iter().filter(|column| !owns(owned, column)) {
            if !matches!(column, "id" | "created_at" | "updated_at")
                && let Some(value) = new.get(column)
                && !new.set(column, value.as_null())
            {
                reset(&mut *new, column, &value);
            }
        }
    }
    new
}

/// Sets a column that may not be null to its default; an id or an instant has none and stays.
fn reset(row: &mut dyn Row, column: &str, value: &Value) {
    match value {
        Value::Bool(_) => row.set(column, false.into()),
        Value::BigInt(_) => row.set(column, 0_i64.into()),
        Value::Int(_) => row.set(column, 0_i32.into()),
        // The lists are text too, and do not take an empty one.
        Value::String(_) => row.set(column, String::new().into()) || row.set(column, "[]".into()),
        _ => false,
    };
}

/// The columns that the server sets itself.
fn finish(row: &mut dyn Row, incoming: &Incoming, sender: &Sender, entity: &SyncType, applied: Applied, now: Instant) {
    row.set("synced", true.into());
    row.set("sync_version", versions::UNSTAMPED.into());
    row.set("last_envelope_at", Some(incoming.timestamp).into());
    if entity.flow == Flow::Push {
        row.set("received_at", Some(now).into());
    }
    if incoming.action == "delete" {
        row.set("deleted_at", Some(incoming.timestamp).into());
    }
    if applied == Applied::Inserted {
        if row.instant("created_at").is_none_or(Instant::is_unset) {
            row.set("created_at", incoming.timestamp.into());
        }
        match entity.name {
            "customers" => {
                row.set("is_active", true.into());
                row.set("origin_store_id", Some(sender.store_id).into());
                if row.text("customer_number").is_none_or(|number| number.is_empty()) {
                    row.set("customer_number", format!("{}-{}", sender.store_code, incoming.id).into());
                }
            }
            "transfers" => {
                row.set("store_id", sender.store_id.into());
            }
            _ => {}
        }
    }
    if entity.scope == Scope::Store {
        row.set("store_id", sender.store_id.into());
    }
    for derived in entity.derived {
        let from = row.text(derived.from);
        row.set(derived.column, from.as_deref().map(derived.by).into());
    }
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

fn products_by_source(movements: &[Movement]) -> HashMap<Uuid, Vec<Uuid>> {
    let mut out: HashMap<Uuid, Vec<Uuid>> = HashMap::new();
    for movement in movements {
        out.entry(movement.source_id).or_default().push(movement.product_id);
    }
    out
}

/// Rule U9: the sale of an unknown product is taken, and somebody is told.
fn warn_of_unknown(
    group: &[Incoming],
    verdicts: &[Option<Verdict>],
    outcomes: &mut [Verdict],
    by_source: &HashMap<Uuid, Vec<Uuid>>,
    effects: &stock::Effects,
) {
    if effects.unknown_products.is_empty() {
        return;
    }
    let undecided = group.iter().zip(verdicts).filter(|(_, verdict)| verdict.is_none());
    for ((incoming, _), outcome) in undecided.zip(outcomes) {
        let products = by_source.get(&incoming.id).into_iter().flatten();
        if let Verdict::Taken { warnings, .. } = outcome
            && products.into_iter().any(|product| effects.unknown_products.contains(product))
        {
            warnings.push("unknown_product".to_owned());
        }
    }
}
