//! The lines of a document: which of them HQ takes, keeps and drops.

use std::collections::HashMap;

use sea_orm::DbErr;
use tillkeep_model::ids;
use uuid::Uuid;

use super::edit::Edit;
use super::group::by_id;
use super::judge::Item;
use super::left_out::LeftOut;
use crate::Tx;
use crate::envelope::{Had, Ignored, Keys, limits};
use crate::kept_ids::Renamed;
use crate::registry::{Child, Scope, SyncType};
use crate::rows::Row;
use crate::rows::owners::{ALL_OF_IT, owns};

type RowsById = HashMap<Uuid, Box<dyn Row>>;

/// The lines of the documents of a group, one place for each kind of child in the registry's order.
pub(super) struct Lines {
    /// Those that HQ has.
    have: Vec<RowsById>,
    /// Which document each sent line id belongs to at HQ.
    owners: Vec<HashMap<Uuid, Uuid>>,
    report: LineReport,
}

/// What is to be reported of the lines of one document.
#[derive(Default)]
pub(super) struct LineReport {
    /// Whether a line became another one, came or went.
    pub changed: bool,
    /// The flags of what was cut off or left out.
    pub cut: Vec<String>,
    /// The new ones that are kept under another id than was sent.
    pub renamed: Vec<Renamed>,
    /// What is wrong with the first line that cannot be taken.
    pub problem: Option<String>,
}

impl Lines {
    /// `present` are the documents that HQ has.
    pub(super) async fn load(tx: &Tx, entity: &SyncType, present: &[Uuid], items: &[Item<'_>]) -> Result<Self, DbErr> {
        let (mut have, mut owners) = (Vec::new(), Vec::new());
        for (place, child) in entity.children.iter().enumerate() {
            have.push(by_id(child.table.having(tx, child.parent, present, true).await?));
            let sent = items.iter().flat_map(|item| &item.decoded.children[place]);
            let ids: Vec<Uuid> = sent.filter_map(|(line, _)| line.uuid("id")).collect();
            let known = child.table.having(tx, "id", &ids, false).await?;
            owners.push(known.iter().filter_map(|row| Some((row.uuid("id")?, row.uuid(child.parent)?))).collect());
        }
        Ok(Self { have, owners, report: LineReport::default() })
    }

    /// What is to be reported of the lines that were merged last.
    pub(super) fn take_report(&mut self) -> LineReport {
        std::mem::take(&mut self.report)
    }

    /// The lines that HQ has of a document, of the child at `place`.
    pub(super) fn stored<'a>(
        &'a self,
        child: &'a Child,
        place: usize,
        document: Uuid,
    ) -> impl Iterator<Item = &'a dyn Row> {
        let have = self.have.get(place).into_iter().flat_map(HashMap::values);
        have.map(|row| &**row).filter(move |row| row.uuid(child.parent) == Some(document))
    }

    /// The lines of one document as HQ will have them, and the ids of those that it has no more; of the child at
    /// `place`.
    pub(super) fn merge(
        &mut self,
        edit: &Edit<'_>,
        place: usize,
        sent: Vec<(Box<dyn Row>, Keys)>,
        ignored: &mut Ignored,
    ) -> (Vec<Box<dyn Row>>, Vec<Uuid>) {
        let Edit { incoming, id: document, keys, context, .. } = *edit;
        let child = &incoming.entity.children[place];
        let (have, owners) = (&mut self.have[place], &mut self.owners[place]);
        let mine = |old: &dyn Row| old.uuid(child.parent) == Some(document);
        // Its maker may still change what is in it.
        let replaces = !context.receives
            && keys.name(child.key)
            && context.status.is_some_and(|status| child.replaced_while.contains(&status));
        // Else a document is written once: what has lines takes no further ones, or their goods would leave twice.
        let complete = !replaces && !child.grows && have.values().any(|row| mine(&**row));
        let mut lines = Vec::with_capacity(sent.len());
        for (position, (mut line, keys)) in sent.into_iter().enumerate() {
            let is_mine = |id: Uuid| have.get(&id).is_some_and(|old| mine(&**old));
            let sent = own_id(&mut *line, document, child, owners, is_mine);
            // A line of another parent is not this sender's to change; the guard of the upsert leaves it alone.
            let id = line.uuid("id").filter(|id| is_mine(*id));
            let old = id.and_then(|id| have.remove(&id));
            if old.is_none() && (complete || context.receives) {
                // Nor does the destination of a transfer say what is in it.
                ignored.add(1);
                continue;
            }
            lines.push(merge_line(
                edit,
                (child, place, position),
                old,
                (line, keys, sent),
                (&mut self.report, &mut *ignored),
            ));
        }
        let mut removed = Vec::new();
        let rest: Vec<Uuid> = have.iter().filter(|(_, row)| mine(&***row)).map(|(id, _)| *id).collect();
        for id in rest {
            match have.remove(&id) {
                Some(_) if replaces => {
                    self.report.changed = true;
                    removed.push(id);
                }
                // What was not sent again is still there: a void may name no more than the sale.
                Some(line) => lines.push(line),
                None => {}
            }
        }
        (lines, removed)
    }
}

/// A line that was sent, at its position, as HQ will have it: one that it had, or a new one, which was sent under the last of its
/// three when that is another id.
fn merge_line(
    edit: &Edit<'_>,
    (child, place, position): (&Child, usize, usize),
    old: Option<Box<dyn Row>>,
    (line, keys, sent): (Box<dyn Row>, Keys, Option<Uuid>),
    (report, ignored): (&mut LineReport, &mut Ignored),
) -> Box<dyn Row> {
    let Edit { group, incoming, context, owned, .. } = *edit;
    let whole = old.is_none() && incoming.entity.scope != Scope::Parties;
    let owned = if whole { ALL_OF_IT } else { owned };
    ignored.add(keys.unknown);
    let shape = &group.shape.lines[place];
    let columns = &shape.columns;
    let passed_over = Ignored::sent_in_vain(columns, &*line, &keys, owned);
    let before = old.as_deref().map(|old| Had::new(columns, old));
    let of = (columns, Some(child.book));
    let left_out = context.new.then(|| LeftOut::of(of, &*line, (&keys, owned), incoming, true));
    let (is_new, reckoned) = (old.is_none(), group.pushed.reckoned);
    let mut merged = columns.merge(old, line, &keys, owned, None);
    if is_new {
        columns.begin_anew(&mut *merged, reckoned);
    }
    let not_said: Vec<&str> = [child.parent, "line_no"].into_iter().chain(reckoned.iter().copied()).collect();
    let placed = |problem| format!("{}[{position}].{problem}", child.key);
    let problem = shape.problem(&*merged, &keys, owned, before.as_ref(), group.now).map(placed);
    report.problem = report.problem.take().or(problem);
    let cut = keys.cut.iter().filter(|column| owns(owned, column));
    report.cut.extend(cut.map(|column| limits::flag(Some(child.key), column)));
    let left_out = left_out.map(|left_out| left_out.flags(&*merged, Some(child.key), &not_said));
    report.cut.extend(left_out.into_iter().flatten());
    let kept = merged.uuid("id").filter(|_| before.is_none());
    let renamed = sent.zip(kept).map(|(sent, kept)| Renamed { table: child.table.name(), sent, kept });
    report.renamed.extend(renamed);
    report.changed |= before.is_none_or(|had| !had.is_all_of(&*merged, &[]));
    ignored.compare(&passed_over, &*merged, &not_said);
    merged
}

/// A line with another line's id (a sender that numbers its lines) gets one of its own: no line of a sale may be
/// lost, and none of another document may change. The id that was sent, when it is not kept.
fn own_id(
    line: &mut dyn Row,
    document: Uuid,
    child: &Child,
    owners: &mut HashMap<Uuid, Uuid>,
    is_mine: impl Fn(Uuid) -> bool,
) -> Option<Uuid> {
    let sent = line.uuid("id")?;
    if *owners.entry(sent).or_insert(document) == document {
        return None;
    }
    let line_no = i32::try_from(line.integer("line_no").unwrap_or_default()).unwrap_or_default();
    // The one that it has from a release before 0.2.0.
    let former = Some(ids::line(document, child.kind, line_no)).filter(|id| is_mine(*id));
    line.set("id", former.unwrap_or_else(|| ids::elsewhere(document, sent)).into());
    Some(sent)
}
