//! I6: reports of several drawers (ZZ) follow one another. Each drawer says in which it is, at both servers; what a report says of
//! itself is looked at in `zz_sums`.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use sea_orm::DbErr;
use tillkeep_model::Instant;
use tillkeep_model::state::SessionStatus;
use uuid::Uuid;

use super::drawers::{self, Drawers};
use super::finding::{Found, Options};
use super::pages::documents;
use super::runs::Runs;
use super::source::Source;
use crate::Side;
use crate::db::query;
use crate::document::flags::has_foreign_number;
use crate::document::session;
use crate::entity::register_session::Model;
use crate::numbers::Given;
use crate::settings;
use crate::sync_log::RESOLVED;

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
    // An older headquarters kept nothing of reports of whole stores: there the first ones that are known are the first.
    let keeps_all = source.side == Side::Store;
    let mut along = Along::new(keeps_all);
    let mut series: BTreeMap<(Uuid, Option<String>), Runs> = BTreeMap::new();
    let mut drawers = Drawers::new(source);
    while let Some(ids) = drawers.ids().await? {
        for ids in ids.chunks(documents(source)) {
            let mut page = drawers::load(source, ids).await?;
            page.retain(|drawer| !has_foreign_number(&drawer.flags) && !unapplied.contains(&drawer.store_id));
            for drawer in page {
                for (register, number) in
                    [(Some(drawer.register_code.clone()), drawer.zz_number), (None, drawer.store_zz_number)]
                {
                    let numbers = series.entry((drawer.store_id, register)).or_default();
                    if let Some(number) = number {
                        numbers.insert(number.into());
                    }
                }
                along.next(&drawer, found);
            }
        }
    }
    along.end(found);
    // Older drawers than those that came back are not here, and the numbers of their reports neither.
    if came_back(source).await? {
        return Ok(());
    }
    for ((store, register), numbers) in series {
        let is_of_store = register.is_none();
        let of = register.map_or_else(|| "the whole store".to_owned(), |code| format!("register {code:?}"));
        let last = numbers.last().unwrap_or_default();
        let first = numbers.first().filter(|_| is_of_store && !keeps_all).unwrap_or(1);
        for number in numbers.missing(first).take(20) {
            let text = format!("reports of {of} have numbers up to {last}, and no drawer is in this one");
            found.add(store, session::TYPE, number, text);
        }
    }
    Ok(())
}

/// Whether drawers came back to this store, which had lost its database: those of the last months, and no report of several.
pub(super) async fn came_back(source: &Source) -> Result<bool, DbErr> {
    let back = settings::get(&source.conn, "own_documents_due").await?.unwrap_or_default();
    Ok(back == "yes" || Instant::parse(&back).is_some())
}

/// Drawers one after the other, each letter of a register by itself: drawers before a loss may come back when later ones are in a
/// report already.
struct Along {
    keeps_all: bool,
    series: Option<(Uuid, String, String)>,
    of_register: InOrder,
    of_store: InOrder,
    /// Whether a drawer of the series is known to be in a report of the whole store, or in none.
    is_known: bool,
}

impl Along {
    fn new(keeps_all: bool) -> Self {
        let (of_register, of_store) = (InOrder::default(), InOrder::default());
        Self { keeps_all, series: None, of_register, of_store, is_known: keeps_all }
    }

    fn next(&mut self, drawer: &Model, found: &mut Found) {
        let letter = Given::session(drawer.session_number.into()).letter;
        let series = Some((drawer.store_id, drawer.register_code.clone(), letter));
        if self.series != series {
            self.end(found);
            *self = Self { series, ..Self::new(self.keeps_all) };
        }
        self.of_register.next(drawer, drawer.zz_number);
        self.is_known |= drawer.store_zz_number.is_some();
        if self.is_known {
            self.of_store.next(drawer, drawer.store_zz_number);
        }
    }

    /// Says what was found in the series.
    fn end(&mut self, found: &mut Found) {
        let (of_register, of_store) = (mem::take(&mut self.of_register), mem::take(&mut self.of_store));
        for (store, id, text) in of_register.wrong.into_iter().chain(of_store.wrong) {
            found.add(store, session::TYPE, id, text);
        }
    }
}

/// Each drawer is in the report of the one before, or in a later one; only the last ones are in none yet.
#[derive(Default)]
struct InOrder {
    last: i32,
    /// Store and id of the last drawer that is in none.
    none: Option<(Uuid, Uuid)>,
    wrong: Vec<(Uuid, Uuid, String)>,
}

impl InOrder {
    fn next(&mut self, drawer: &Model, number: Option<i32>) {
        let Some(number) = number else {
            // One without a report of its own is in no other one.
            self.none = drawer.totals.as_ref().map(|_| (drawer.store_id, drawer.id)).or(self.none);
            return;
        };
        if let Some((store, id)) = self.none.take() {
            let text = format!("is in no report of several drawers, and a later drawer is in number {number}");
            self.wrong.push((store, id, text));
        }
        let last = self.last;
        let wrong = [
            (number < last, "is in a report of several drawers with a lower number than one before"),
            (drawer.status != SessionStatus::Closed, "is open, and in a report of several drawers"),
        ];
        for (_, text) in wrong.into_iter().filter(|(wrong, _)| *wrong) {
            self.wrong.push((drawer.store_id, drawer.id, format!("{text}: {number} after {last}")));
        }
        self.last = number.max(last);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;
    use tillkeep_model::JsonText;

    use super::*;

    fn found_at(keeps_all: bool, drawers: &[Model]) -> usize {
        let (mut along, mut found) = (Along::new(keeps_all), Found::new("I6"));
        for drawer in drawers {
            along.next(drawer, &mut found);
        }
        along.end(&mut found);
        found.findings.len()
    }

    fn found_of(drawers: &[(i32, Option<i32>)]) -> usize {
        let closed = |(session_number, zz_number): &(i32, Option<i32>)| Model {
            session_number: *session_number,
            zz_number: *zz_number,
            status: SessionStatus::Closed.word().to_owned(),
            totals: Some(JsonText(Json::Null)),
            ..Model::default()
        };
        found_at(true, &drawers.iter().map(closed).collect::<Vec<_>>())
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
        let drawers = [drawer(1, None), drawer(2, Some(3)), drawer(3, None)];
        assert_eq!((found_at(false, &drawers), found_at(true, &drawers)), (0, 1));
        let left_out = [drawer(1, Some(2)), drawer(2, None), drawer(3, Some(3))];
        assert_eq!(found_at(false, &left_out), 1, "one between those that are known is missed");
    }
}
