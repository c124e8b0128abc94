//! I5 and I6: reports of several drawers (ZZ). Each drawer says in which it is, at both servers; what a report says of itself is at
//! its store alone.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::{DbErr, EntityTrait, QueryOrder};
use serde_json::Value as Json;
use tillkeep_model::state::SessionStatus;
use tillkeep_model::{Instant, Money};
use uuid::Uuid;

use super::finding::{Found, Options};
use super::second::quantity;
use super::source::Source;
use crate::Side;
use crate::db::query;
use crate::document::flags::has_foreign_number;
use crate::document::session;
use crate::entity::register_session::{Column, Entity, Model};
use crate::entity::zz_report;
use crate::numbers::Given;
use crate::settings;
use crate::sync_log::RESOLVED;

const REPORTS: &str = "zz_reports";

/// Figures of a report that are those of its drawers together, as the JSON of both calls them.
const SUMMED: [&str; 18] = [
    "/saleCount",
    "/refundCount",
    "/voidCount",
    "/settlements/count",
    "/settlements/amount",
    "/netAmount",
    "/taxAmount",
    "/totalAmount",
    "/cashRounding",
    "/openingFloat",
    "/expectedCash",
    "/voidAmount",
    "/amounts/netSales",
    "/amounts/netRefunds",
    "/cash/paidIn",
    "/cash/floatAdd",
    "/cash/paidOut",
    "/cash/drop",
];

async fn drawers(source: &Source) -> Result<Vec<Model>, DbErr> {
    let select = Entity::find().order_by_asc(Column::StoreId).order_by_asc(Column::RegisterCode);
    let drawers = select.order_by_asc(Column::SessionNumber).all(&source.conn).await?;
    Ok(drawers.into_iter().filter(|drawer| !has_foreign_number(&drawer.flags)).collect())
}

/// At headquarters: the stores of which a user decided not to apply what they said of a drawer, which may have been its report.
async fn unapplied(source: &Source) -> Result<BTreeSet<Uuid>, DbErr> {
    if source.side != Side::Hq {
        return Ok(BTreeSet::new());
    }
    let sql = "SELECT DISTINCT store_id FROM sync_log WHERE entity_type = 'register_sessions' AND status = $1 \
               AND resolved_by IS NOT NULL";
    query(&source.conn, sql, [RESOLVED.into()]).await?.iter().map(|row| row.try_get("", "store_id")).collect()
}

/// I6: numbers follow one another, and so do the drawers of each.
pub(super) async fn numbers(source: &Source, options: &Options, found: &mut Found) -> Result<(), DbErr> {
    // At headquarters one drawer may come after a later one.
    if source.side == Side::Hq && !options.settled {
        return Ok(());
    }
    let unapplied = unapplied(source).await?;
    let mut drawers = drawers(source).await?;
    drawers.retain(|drawer| !unapplied.contains(&drawer.store_id));
    // An older headquarters kept nothing of reports of whole stores: there the first ones that are known are the first.
    let keeps_all = source.side == Side::Store;
    along(&drawers, keeps_all, found);
    // Older drawers than those that came back are not here, and the numbers of their reports neither.
    if came_back(source).await? {
        return Ok(());
    }
    let mut series: BTreeMap<(Uuid, Option<&str>), BTreeSet<i32>> = BTreeMap::new();
    for drawer in &drawers {
        series.entry((drawer.store_id, Some(drawer.register_code.as_str()))).or_default().extend(drawer.zz_number);
        series.entry((drawer.store_id, None)).or_default().extend(drawer.store_zz_number);
    }
    for ((store, register), numbers) in series {
        let of = register.map_or_else(|| "the whole store".to_owned(), |code| format!("register {code:?}"));
        let last = numbers.last().copied().unwrap_or_default();
        let first = numbers.first().filter(|_| register.is_none() && !keeps_all).copied().unwrap_or(1);
        for number in (first..last).filter(|number| !numbers.contains(number)).take(20) {
            let text = format!("reports of {of} have numbers up to {last}, and no drawer is in this one");
            found.add(store, session::TYPE, number, text);
        }
    }
    Ok(())
}

/// Whether drawers came back to this store, which had lost its database: those of the last months, and no report of several.
async fn came_back(source: &Source) -> Result<bool, DbErr> {
    let back = settings::get(&source.conn, "own_documents_due").await?.unwrap_or_default();
    Ok(back == "yes" || Instant::parse(&back).is_some())
}

/// Each letter of a register by itself: drawers before a loss may come back when later ones are in a report already.
fn along(drawers: &[Model], keeps_all: bool, found: &mut Found) {
    let series = |drawer: &Model| {
        let letter = Given::session(drawer.session_number.into()).letter;
        (drawer.store_id, drawer.register_code.clone(), letter)
    };
    for of_series in drawers.chunk_by(|one, other| series(one) == series(other)) {
        in_order(of_series, |drawer| drawer.zz_number, found);
        let is_unknown = |drawer: &Model| !keeps_all && drawer.store_zz_number.is_none();
        let known = of_series.iter().position(|drawer| !is_unknown(drawer)).unwrap_or(of_series.len());
        in_order(&of_series[known..], |drawer| drawer.store_zz_number, found);
    }
}

/// Each drawer is in the report of the one before, or in a later one; only the last ones are in none yet.
fn in_order(drawers: &[Model], number: fn(&Model) -> Option<i32>, found: &mut Found) {
    let (mut last, mut none) = (0, None);
    for drawer in drawers {
        let Some(number) = number(drawer) else {
            // One without a report of its own is in no other one.
            none = drawer.totals.as_ref().map(|_| drawer).or(none);
            continue;
        };
        if let Some(left_out) = none.take() {
            let text = format!("is in no report of several drawers, and a later drawer is in number {number}");
            found.add(left_out.store_id, session::TYPE, left_out.id, text);
        }
        let wrong = [
            (number < last, "is in a report of several drawers with a lower number than one before"),
            (drawer.status != SessionStatus::Closed, "is open, and in a report of several drawers"),
        ];
        for (_, text) in wrong.into_iter().filter(|(wrong, _)| *wrong) {
            found.add(drawer.store_id, session::TYPE, drawer.id, format!("{text}: {number} after {last}"));
        }
        last = number.max(last);
    }
}

/// I5, at a store: a report says the sums of the drawers that say that they are in it.
pub(super) async fn reports(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    if source.side != Side::Store {
        return Ok(());
    }
    let reports = zz_report::Entity::find().all(&source.conn).await?;
    let drawers = drawers(source).await?;
    let mut in_reports: BTreeMap<Key<'_>, Vec<&Model>> = BTreeMap::new();
    for drawer in &drawers {
        for key in named(drawer) {
            in_reports.entry(key).or_default().push(drawer);
        }
    }
    let mut made = BTreeSet::new();
    for report in &reports {
        let key = (report.register_code.as_deref(), report.zz_number);
        if !made.insert(key) {
            found.add(source.store, REPORTS, report.id, "another report has its number");
        }
        let of_it = in_reports.get(&key).map_or(&[] as &[&Model], Vec::as_slice);
        for wrong in differences(report, of_it) {
            found.add(source.store, REPORTS, report.id, format!("{wrong} is not what its drawers say"));
        }
    }
    // The reports of a database that was lost went with it: their drawers came back, and say what is needed.
    if came_back(source).await? {
        return Ok(());
    }
    for drawer in &drawers {
        for (_, number) in named(drawer).filter(|key| !made.contains(key)) {
            let text = format!("says that it is in report {number} of several drawers, which is not here");
            found.add(source.store, session::TYPE, drawer.id, text);
        }
    }
    Ok(())
}

/// A report, by its register and number; of the whole store without a register.
type Key<'a> = (Option<&'a str>, i32);

/// The reports that a drawer says it is in.
fn named(drawer: &Model) -> impl Iterator<Item = Key<'_>> {
    let of_register = drawer.zz_number.map(|number| (Some(drawer.register_code.as_str()), number));
    let of_store = drawer.store_zz_number.map(|number| (None, number));
    of_register.into_iter().chain(of_store)
}

/// What a store says is any number: what does not fit is the largest one.
fn sum(amounts: impl Iterator<Item = i64>) -> i64 {
    Money::from_wide(amounts.map(i128::from).sum()).0
}

/// The names of the figures in which a report differs from its drawers.
fn differences(report: &zz_report::Model, drawers: &[&Model]) -> Vec<String> {
    let at = |json: &Json, pointer: &str| json.pointer(pointer).and_then(Json::as_i64).unwrap_or_default();
    let totals = &report.totals.0;
    let stored: Vec<&Json> =
        drawers.iter().filter_map(|drawer| drawer.totals.as_ref()).map(|totals| &totals.0).collect();
    let mut wrong: Vec<String> = SUMMED
        .into_iter()
        .filter(|pointer| at(totals, &format!("/sums{pointer}")) != sum(stored.iter().map(|z| at(z, pointer))))
        .map(|pointer| format!("totals.sums{}", pointer.replace('/', ".")))
        .collect();
    let rows = totals["rows"].as_array().into_iter().flatten();
    let rows: BTreeSet<Uuid> = rows.filter_map(|row| row["sessionId"].as_str()?.parse().ok()).collect();
    let of_drawers: BTreeSet<Uuid> = drawers.iter().map(|drawer| drawer.id).collect();
    let dates = || drawers.iter().map(|drawer| drawer.business_date.as_str());
    let numbers = || drawers.iter().map(|drawer| drawer.session_number);
    let is_of_register = report.register_code.is_some();
    let items = sum(stored.iter().filter_map(|z| quantity(&z["itemCount"])));
    let further = [
        (quantity(&totals["sums"]["itemCount"]).unwrap_or_default() != items, "totals.sums.itemCount"),
        (rows != of_drawers, "totals.rows"),
        (dates().min() != Some(report.from_date.as_str()), "fromDate"),
        (dates().max() != Some(report.to_date.as_str()), "toDate"),
        (is_of_register && report.from_session_number != numbers().min(), "fromSessionNumber"),
        (is_of_register && report.to_session_number != numbers().max(), "toSessionNumber"),
    ];
    wrong.extend(further.into_iter().filter(|(wrong, _)| *wrong).map(|(_, name)| name.to_owned()));
    wrong
}

#[cfg(test)]
mod tests {
    use tillkeep_model::JsonText;

    use super::*;

    fn found_of(drawers: &[(i32, Option<i32>)]) -> usize {
        let closed = |(session_number, zz_number): &(i32, Option<i32>)| Model {
            session_number: *session_number,
            zz_number: *zz_number,
            status: SessionStatus::Closed.word().to_owned(),
            totals: Some(JsonText(Json::Null)),
            ..Model::default()
        };
        let mut found = Found::new("I6");
        along(&drawers.iter().map(closed).collect::<Vec<_>>(), true, &mut found);
        found.findings.len()
    }

    #[test]
    fn a_drawer_that_came_back_late_is_in_a_later_report_than_those_of_a_later_letter() {
        let (after, next) = (100_001, 100_002);
        assert_eq!(found_of(&[(1, Some(1)), (2, Some(3)), (after, Some(2)), (next, Some(3))]), 0);
        assert_eq!(found_of(&[(1, Some(1)), (2, None), (after, Some(2))]), 0, "it is in none yet");
        assert_eq!(found_of(&[(1, Some(2)), (2, Some(1))]), 1, "of one letter the later is in no earlier one");
        assert_eq!(found_of(&[(1, None), (2, Some(1))]), 1, "of one letter none is left out");
    }

    #[test]
    fn reports_of_a_store_that_an_older_headquarters_did_not_keep_are_not_missed() {
        let drawer = |session_number, store_zz_number| Model {
            session_number,
            store_zz_number,
            status: SessionStatus::Closed.word().to_owned(),
            totals: Some(JsonText(Json::Null)),
            ..Model::default()
        };
        let found_at = |keeps_all, drawers: &[Model]| {
            let mut found = Found::new("I6");
            along(drawers, keeps_all, &mut found);
            found.findings.len()
        };
        let drawers = [drawer(1, None), drawer(2, Some(3)), drawer(3, None)];
        assert_eq!((found_at(false, &drawers), found_at(true, &drawers)), (0, 1));
        let left_out = [drawer(1, Some(2)), drawer(2, None), drawer(3, Some(3))];
        assert_eq!(found_at(false, &left_out), 1, "one between those that are known is missed");
    }
}
