//! What a user should look at in a document that is stored all the same: HQ never refuses money. `docs/sync.md`, rule
//! U9; the words are in `docs/domain.md`. One query for each kind and batch.

use std::collections::{HashMap, HashSet};

use sea_orm::{DbErr, Value};
use tillkeep_model::Instant;
use uuid::Uuid;

use super::group::Group;
use super::merged::Merged;
use super::{facts, foreign};
use crate::Tx;
use crate::db::{Turn, take_turn};
use crate::document::flags::FOREIGN_NUMBER;
use crate::document::{Clash, Pushed, Whole};
use crate::entity::sale::SAID_BY_STORES;
use crate::envelope::dated;
use crate::many::find_by_rows;
use crate::registry::awaited::turn;
use crate::registry::flags::add;
use crate::rows::Row;

/// The flags of each document, which is not stored yet; an earlier document with the number of one of them is flagged
/// on the spot.
pub(super) async fn find(tx: &mut Tx, group: &Group<'_>, merged: &[Merged]) -> Result<Vec<Vec<&'static str>>, DbErr> {
    let pushed = group.pushed;
    let wholes: Vec<Whole<'_>> = merged.iter().map(|document| Whole::new(&*document.row, &document.children)).collect();
    let printed = wholes.iter().flat_map(|whole| foreign::printed(pushed, whole.row));
    let others = foreign::codes_of_others(tx, group.sender, printed).await?;
    let twice = twice(tx, group, merged).await?;
    let named: Vec<_> = wholes.iter().map(|whole| pushed.named(whole)).collect();
    let mut facts = facts::load(tx, group.sender.store_id, &named).await?;
    let lacks: Vec<Turn> = facts.lacks(&named).filter_map(turn).collect();
    if !lacks.is_empty() {
        // Another transaction may be storing it just now.
        for turn in lacks {
            take_turn(&**tx, turn).await?;
        }
        facts = facts::load(tx, group.sender.store_id, &named).await?;
    }
    let mut all = Vec::with_capacity(merged.len());
    for ((document, whole), duplicate) in merged.iter().zip(&wholes).zip(twice) {
        let mut flags = pushed.checks(whole);
        flags.extend(document.number.is_flagged().then_some(FOREIGN_NUMBER));
        flags.extend(duplicate);
        let is_foreign = |number: &String| foreign::begins_with_one_of(&others, number);
        let foreign = foreign::printed(pushed, whole.row).iter().any(is_foreign);
        flags.extend(foreign.then_some(FOREIGN_NUMBER));
        flags.extend(pushed.flags(whole, &facts));
        flags.extend(missing(pushed, whole.row));
        let future = document.future || is_ahead(pushed, whole.row, group.now);
        flags.extend(future.then_some("future_date"));
        flags.extend(is_back(pushed, whole.row, group.now).then_some("past_date"));
        all.push(flags);
    }
    Ok(all)
}

/// The flags that a store gave its row, of those that only a store can know.
pub(super) fn said(row: &dyn Row) -> Vec<String> {
    let said: Option<Vec<String>> = row.text("flags").and_then(|text| serde_json::from_str(&text).ok());
    said.unwrap_or_default().into_iter().filter(|flag| SAID_BY_STORES.contains(&flag.as_str())).collect()
}

/// The flags of what a document cannot be without and was not sent.
pub(crate) fn missing(pushed: &Pushed, row: &dyn Row) -> impl Iterator<Item = &'static str> + use<> {
    let is_empty = |column| row.text(column).is_some_and(|text| text.is_empty());
    let status = pushed.states.as_ref().is_some_and(|states| is_empty(states.column)).then_some("missing:status");
    status.into_iter().chain(pushed.day.is_some_and(is_empty).then_some("missing:businessDate"))
}

/// Whether it happened later than can be.
pub(crate) fn is_ahead(pushed: &Pushed, row: &dyn Row, now: Instant) -> bool {
    let latest = dated::latest(now);
    happened(pushed, row).any(|at| at > latest) || day_of(pushed, row).is_some_and(|day| day > date(latest))
}

/// Whether it happened years ago, as a clock says that was never set. A store may be without a line for months.
pub(crate) fn is_back(pushed: &Pushed, row: &dyn Row, now: Instant) -> bool {
    let earliest = dated::earliest(now);
    happened(pushed, row).any(|at| at < earliest) || day_of(pushed, row).is_some_and(|day| day < date(earliest))
}

fn happened(pushed: &Pushed, row: &dyn Row) -> impl Iterator<Item = Instant> {
    pushed.times.iter().filter_map(|column| row.instant(column))
}

fn day_of(pushed: &Pushed, row: &dyn Row) -> Option<String> {
    row.text(pushed.day?).filter(|day| !day.is_empty())
}

fn date(at: Instant) -> String {
    at.to_string().chars().take(10).collect()
}

/// For each document the flag of a number that another one of its register has too; the other one is flagged as well,
/// since it is not known which of them is right.
async fn twice(tx: &mut Tx, group: &Group<'_>, merged: &[Merged]) -> Result<Vec<Option<&'static str>>, DbErr> {
    let numbering = group.pushed.number;
    let Some((column, Clash::Flagged(flag))) = numbering.map(|number| (number.column, number.clash)) else {
        return Ok(vec![None; merged.len()]);
    };
    let key = |row: &dyn Row| {
        let number = row.text(column).or_else(|| row.integer(column).map(|number| number.to_string()))?;
        (!matches!(number.as_str(), "" | "0")).then(|| (row.text("register_code").unwrap_or_default(), number))
    };
    let mut holders: HashMap<(String, String), HashSet<Uuid>> = HashMap::new();
    let mut numbers: Vec<[Value; 2]> = Vec::new();
    for row in merged.iter().map(|document| &*document.row) {
        if let (Some(key), Some(id), Some(number)) = (key(row), row.uuid("id"), row.get(column)) {
            numbers.push([key.0.clone().into(), number]);
            holders.entry(key).or_default().insert(id);
        }
    }
    let here: HashSet<Uuid> = holders.values().flatten().copied().collect();
    // Each number with its register: with a list of either, PostgreSQL holds each sale of a register against all numbers until it
    // has figures of the table. A cross join, as `SQLite` would go along all sales of the store first.
    let sql = format!(
        "SELECT d.id, d.register_code, CAST(d.{column} AS TEXT) AS number FROM (VALUES $rows) AS v \
         CROSS JOIN {} d WHERE d.store_id = $1 AND d.register_code = v.column1 AND d.{column} = v.column2",
        group.entity.table.name(),
    );
    let mut earlier = Vec::new();
    for row in find_by_rows(tx, &sql, &[group.sender.store_id.into()], "(?, ?)", numbers).await? {
        let (id, key): (Uuid, _) =
            (row.try_get("", "id")?, (row.try_get("", "register_code")?, row.try_get("", "number")?));
        if let Some(ids) = holders.get_mut(&key)
            && ids.insert(id)
        {
            earlier.push(id);
        }
    }
    earlier.retain(|id| !here.contains(id));
    add(tx, group.entity, &earlier, flag).await?;
    let again = |document: &Merged| {
        let others = holders.get(&key(&*document.row)?)?;
        (others.len() > 1).then_some(flag)
    };
    Ok(merged.iter().map(again).collect())
}
