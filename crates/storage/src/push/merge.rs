//! The second step: each document as HQ will have it, of what HQ has and what its sender sent and may write.
//! `docs/sync.md`, rule U11.

use std::collections::{HashMap, HashSet};

use sea_orm::{DbErr, Value};
use tillkeep_model::Instant;
use tillkeep_model::wire::Applied;
use uuid::Uuid;

use super::audited::Was;
use super::edit::Edit;
use super::group::{Answers, Group, by_id};
use super::judge::{Item, Judged};
use super::left_out::LeftOut;
use super::lines::Lines;
use super::merged::{Merged, Number};
use super::{elsewhere, flags, foreign, numbers, overpaid};
use crate::document::{Maker, Pushed, Whole, WriteContext};
use crate::envelope::dated::{believed, is_ahead};
use crate::envelope::{Had, Ignored, Verdict, limits};
use crate::kept_ids::{ID_USED_ELSEWHERE, Renamed};
use crate::registry::{self, Scope};
use crate::rows::Row;
use crate::rows::owners::{ALL_OF_IT, owns};
use crate::{Tx, versions};

/// Merges the envelopes that apply; a verdict for those of which that shows that they cannot be taken.
pub(super) async fn merge(
    tx: &Tx,
    group: &Group<'_>,
    judged: Judged<'_>,
    ignored: &mut Ignored,
    answers: &mut Answers,
) -> Result<Vec<Merged>, DbErr> {
    let Judged { items, existing } = judged;
    let present: Vec<Uuid> = existing.keys().copied().collect();
    let mut work = Work {
        group,
        parents: parents(tx, group, &items, &existing).await?,
        states_of: states_of(group),
        lines: Lines::load(tx, group.entity, &present, &items).await?,
        others: foreign::codes_of_others(tx, group.sender, foreign::sent(group.entity, &items)).await?,
        existing,
    };
    let mut merged = Vec::with_capacity(items.len());
    for item in items {
        let (place, id) = (item.place, item.id);
        match work.document(item, ignored) {
            Ok(document) => merged.push(document),
            Err(verdict) => {
                if matches!(verdict, Verdict::Taken { .. }) {
                    answers.left.push(id);
                }
                answers.give(place, verdict);
            }
        }
    }
    foreign::renumber(tx, group, &mut merged).await?;
    numbers::refuse_taken(tx, group, &mut merged, answers).await?;
    numbers::mark_ahead(tx, group, &mut merged).await?;
    elsewhere::follow(tx, group, &mut merged).await?;
    Ok(merged)
}

/// What merging a group needs of the database.
struct Work<'a> {
    group: &'a Group<'a>,
    /// The rows that HQ has.
    existing: HashMap<Uuid, Box<dyn Row>>,
    /// The rows that those of the group belong to.
    parents: HashMap<Uuid, Box<dyn Row>>,
    /// The type whose states say what may be written of a row: that of its parent, or its own.
    states_of: &'static Pushed,
    lines: Lines,
    /// The codes of other stores that numbers begin with.
    others: HashSet<String>,
}

/// What HQ had of a row before an envelope was merged into it.
struct Before {
    columns: Option<Had>,
    audited: Option<Was>,
    number: foreign::Before,
    charged: i128,
    updated_at: Option<Instant>,
    /// The row that it belongs to.
    parent: Option<(&'static str, Value)>,
}

impl Work<'_> {
    fn document(&mut self, item: Item<'_>, ignored: &mut Ignored) -> Result<Merged, Verdict> {
        let Item { incoming, id, dated, decoded, applied, place } = item;
        let group = self.group;
        let old = self.existing.remove(&id);
        let parent = self.parent_of(old.as_deref(), &*decoded.row)?;
        let judged_by = parent.or(old.as_deref());
        let status = judged_by.and_then(|row| self.states_of.status(row));
        let context = WriteContext {
            status: status.as_deref(),
            new: old.is_none(),
            receives: old.as_deref().is_some_and(|row| receives(row, group.sender.store_id)),
            made_by_hq: judged_by.is_some_and(|row| self.states_of.made_by_hq(row)),
        };
        let owned = (group.pushed.owned)(context);
        let edit = Edit { group, incoming, id, dated, keys: &decoded.keys, context, owned, applied };
        if let Some(verdict) = not_theirs(&edit) {
            return Err(verdict);
        }
        let before = self.before(&edit, old.as_deref());
        let ignored_before = ignored.count;
        ignored.add(decoded.keys.unknown);
        let said = flags::said(&*decoded.row);
        let future = is_ahead_of(&edit, &*decoded.row);
        let MergedRow { row, number, problem, left_out } = row(&edit, old, decoded.row, &before, &self.others, ignored);
        let sent = decoded.children.into_iter().enumerate();
        let (children, removed) = sent.map(|(place, sent)| self.lines.merge(&edit, place, sent, ignored)).unzip();
        let report = self.lines.take_report();
        if let Some(problem) = problem.or(report.problem) {
            return Err(Verdict::refused("bad_data", format!("data.{problem}")));
        }
        let lists = decoded.cut.into_iter().filter(|_| report.changed).map(|list| limits::flag(None, list));
        let renamed = renamed(&edit, report.renamed);
        let named_otherwise = (!renamed.is_empty()).then(|| ID_USED_ELSEWHERE.to_owned());
        let more = report.cut.into_iter().chain(lists).chain(named_otherwise).chain(left_out);
        let mut kept_flags = limits::flags(&*row, edit.keys, owned, more);
        kept_flags.extend(said);
        kept_flags.extend(overpaid::kept(&*row).filter(|_| !context.new));
        let lists = group.pushed.append_only_lists;
        let nothing_new = !report.changed && before.columns.is_some_and(|had| had.is_all_of(&*row, lists));
        let applied = match (nothing_new, ignored.count > ignored_before) {
            (false, _) => applied,
            (true, true) => Applied::Skipped,
            (true, false) => Applied::Duplicate,
        };
        let audit = before.audited.and_then(|was| was.changed(group.entity, &*row, owned, group.sender));
        let charged = before.charged;
        Ok(Merged {
            row,
            children,
            removed,
            renamed,
            kept_flags,
            charged,
            applied,
            number,
            ahead: false,
            future,
            audit,
            place,
        })
    }

    /// The parent that a row must have at HQ.
    fn parent_of(&self, old: Option<&dyn Row>, sent: &dyn Row) -> Result<Option<&dyn Row>, Verdict> {
        let Some(parent) = &self.group.pushed.parent else { return Ok(None) };
        let column = parent.column;
        // A line stays where it is.
        let named = old.and_then(|old| old.uuid(column)).or_else(|| sent.uuid(column).filter(|id| !id.is_nil()));
        match named.and_then(|id| self.parents.get(&id)) {
            Some(parent) if parent.uuid("store_id") == Some(self.group.sender.store_id) => Ok(Some(&**parent)),
            _ => {
                let text = format!("HQ does not have the {} of this row yet", parent.entity_type);
                Err(Verdict::refused("missing_parent", text))
            }
        }
    }

    fn before(&self, edit: &Edit<'_>, old: Option<&dyn Row>) -> Before {
        let (entity, pushed) = (edit.group.entity, edit.group.pushed);
        let stored = |old| {
            let children = entity.children.iter().enumerate();
            let lines = children.map(|(place, child)| self.lines.stored(child, place, edit.id).collect());
            pushed.charged(&Whole { row: old, lines: lines.collect() })
        };
        Before {
            columns: old.map(|old| Had::new(&edit.group.shape.columns, old)),
            audited: Was::new(entity, old),
            number: foreign::Before::new(entity, old),
            charged: old.map_or(0, stored),
            updated_at: old.and_then(|old| old.instant("updated_at")),
            parent: pushed.parent.as_ref().and_then(|parent| Some((parent.column, old?.get(parent.column)?))),
        }
    }
}

/// A new row that is kept under another id than was sent, and its `lines` that are.
fn renamed(edit: &Edit<'_>, mut lines: Vec<Renamed>) -> Vec<Renamed> {
    if edit.applied == Applied::Inserted && edit.id != edit.incoming.id {
        lines.push(Renamed { table: edit.group.entity.table.name(), sent: edit.incoming.id, kept: edit.id });
    }
    lines
}

/// True when the store is the receiving side of a transfer that HQ already has.
fn receives(row: &dyn Row, store_id: Uuid) -> bool {
    row.uuid("to_store_id") == Some(store_id) && row.uuid("from_store_id") != Some(store_id)
}

/// What HQ made is not a store's to draft, to add to or to take away.
fn not_theirs(edit: &Edit<'_>) -> Option<Verdict> {
    let is_line = edit.group.pushed.parent.is_some();
    if is_line && edit.context.new && edit.context.made_by_hq {
        let text = "the lines of an order that headquarters made are headquarters'";
        return Some(Verdict::refused("not_owned", text));
    }
    if is_line && edit.incoming.action == "delete" && edit.owned != ALL_OF_IT && !edit.owned.is_empty() {
        let text = "the lines of an order are deleted by its maker, and only before it is approved";
        return Some(Verdict::refused("not_deletable", text));
    }
    edit.owned.is_empty().then(|| Verdict::left(Applied::Skipped))
}

/// A merged row without its lines.
struct MergedRow {
    row: Box<dyn Row>,
    number: Number,
    /// What is wrong with it, where its type refuses that.
    problem: Option<String>,
    /// The flags of what its sender said and may not write.
    left_out: Vec<String>,
}

fn row(
    edit: &Edit<'_>,
    old: Option<Box<dyn Row>>,
    sent: Box<dyn Row>,
    before: &Before,
    others: &HashSet<String>,
    ignored: &mut Ignored,
) -> MergedRow {
    let Edit { group, incoming, keys, context, owned, .. } = *edit;
    let (entity, pushed, columns) = (group.entity, group.pushed, &group.shape.columns);
    let sent_status = pushed.sent_status(&incoming.action, &*sent);
    let sent_at = sent.instant("updated_at").filter(|instant| !instant.is_unset()).unwrap_or(edit.dated.at);
    let sent_at = believed(sent_at, group.now);
    let passed_over = Ignored::sent_in_vain(columns, &*sent, keys, owned);
    let left_out = LeftOut::of((columns, entity.book), &*sent, (keys, owned), incoming, context.new);
    let mut row = columns.merge(old, sent, keys, owned, Some(pushed));
    // Whoever may write a whole line may not move it: it was judged by the parent that it has.
    if let Some((column, parent)) = &before.parent {
        row.set(column, parent.clone());
    }
    let problem = group.shape.problem(&*row, keys, owned, before.columns.as_ref(), group.now);
    // Of two writers the later one: a row does not grow younger.
    row.set("updated_at", before.updated_at.max(Some(sent_at)).unwrap_or(sent_at).into());
    let number = before.number.judge(entity, &mut *row, others);
    complete(edit, &mut *row);
    if let Some(states) = pushed.states.as_ref().filter(|states| owns(owned, states.column)) {
        let sent = sent_status.filter(|sent| !sent.is_empty());
        // Of one writer the way was judged before.
        let status = match states.merged {
            Some(merged) => Some(merged(context, sent.as_deref(), &mut *row)),
            None => sent.map(|sent| states.after(context.status, &sent)),
        };
        if let Some(status) = status {
            row.set(states.column, status.into());
        }
    }
    if context.new {
        columns.begin_anew(&mut *row, pushed.reckoned);
    }
    let derived = entity.derived.iter().map(|derived| derived.column);
    let not_said: Vec<&str> = derived.chain(pushed.reckoned.iter().copied()).collect();
    ignored.compare(&passed_over, &*row, &not_said);
    let left_out = left_out.flags(&*row, None, &not_said).collect();
    MergedRow { row, number, problem, left_out }
}

/// Whether an envelope, or what its row says of when it was made and changed, is dated later than can be.
fn is_ahead_of(edit: &Edit<'_>, sent: &dyn Row) -> bool {
    let said =
        |column: &&str| edit.keys.name(column) && sent.instant(column).is_some_and(|at| is_ahead(at, edit.group.now));
    edit.dated.said.is_some() || ["created_at", "updated_at"].iter().any(said)
}

/// Sets the columns that the server sets itself.
fn complete(edit: &Edit<'_>, row: &mut dyn Row) {
    let Edit { group, incoming, dated, .. } = *edit;
    row.set("synced", true.into());
    row.set("sync_version", versions::UNSTAMPED.into());
    row.set("last_envelope_at", Some(dated.at).into());
    if !group.entity.is_pulled() {
        row.set("received_at", Some(group.now).into());
    }
    if incoming.action == "delete" {
        row.set("deleted_at", Some(dated.at).into());
    }
    let store_id = group.sender.store_id;
    if edit.applied == Applied::Inserted {
        let created = row.instant("created_at").filter(|at| !at.is_unset()).unwrap_or(incoming.timestamp);
        // Others than its store write what is pulled: none could, if it were made only in years. A document stays as it is.
        let created = if group.entity.is_pulled() { believed(created, group.now) } else { created };
        row.set("created_at", created.into());
        if let Some(complete) = group.pushed.complete {
            complete(row, &Maker { store_id, store_code: &group.sender.store_code });
        }
    }
    // Nothing happened in 1970, which is what a time reads as that was not sent.
    let created = row.instant("created_at");
    for column in group.pushed.times {
        if row.instant(column).is_some_and(Instant::is_unset) {
            row.set(column, created.into());
        }
    }
    if group.entity.scope == Scope::Store {
        row.set("store_id", store_id.into());
    }
    for derived in group.entity.derived {
        let from = row.text(derived.from);
        row.set(derived.column, from.as_deref().map(derived.by).into());
    }
}

fn states_of(group: &Group<'_>) -> &'static Pushed {
    let parent = group.pushed.parent.as_ref().and_then(|parent| registry::find(parent.entity_type));
    parent.and_then(|parent| parent.push).unwrap_or(group.pushed)
}

async fn parents(
    tx: &Tx,
    group: &Group<'_>,
    items: &[Item<'_>],
    existing: &HashMap<Uuid, Box<dyn Row>>,
) -> Result<HashMap<Uuid, Box<dyn Row>>, DbErr> {
    let Some(parent) = &group.pushed.parent else { return Ok(HashMap::new()) };
    let Some(entity) = registry::find(parent.entity_type) else { return Ok(HashMap::new()) };
    let sent = items.iter().map(|item| &item.decoded.row);
    let mut ids: Vec<Uuid> = sent.chain(existing.values()).filter_map(|row| row.uuid(parent.column)).collect();
    ids.sort_unstable();
    ids.dedup();
    Ok(by_id(entity.table.having(tx, "id", &ids, true).await?))
}
