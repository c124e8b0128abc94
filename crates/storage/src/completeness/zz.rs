//! Reports of several drawers (ZZ), as far as drawers say in which they are: none is left out, and none comes again after a later
//! one. They are numbered by register, and for the whole store in a series of its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sea_orm::{ConnectionTrait, DbErr, Value};
use uuid::Uuid;

use super::ranges::{Range, missing};
use crate::db::query;
use crate::document::flags::has_foreign_number;
use crate::entity::register_session::Model;
use crate::many::find_by_rows;
use crate::numbers::{Given, SESSIONS_OF_A_LETTER};

/// Registers, and letters of them, of which the numbers before the first day are asked for.
const REGISTERS: usize = 1000;

/// The last numbers before the days that are judged, and then before the next one of them.
#[derive(Clone, Default)]
pub(super) struct LastZz {
    of_registers: HashMap<String, i64>,
    /// By register and letter: a drawer that came back late is in a later report than those of a later letter.
    of_series: HashMap<(String, String), i64>,
    of_store: i64,
    /// What drawers of any day name, between the first and the last number of those that are judged.
    named: HashMap<String, BTreeSet<i64>>,
    named_of_store: BTreeSet<i64>,
}

impl LastZz {
    /// Before `sessions`, which are those of the days that are judged.
    pub(super) async fn before(conn: &impl ConnectionTrait, store: Uuid, sessions: &[Model]) -> Result<Self, DbErr> {
        let mut last = Self::default();
        if sessions.iter().all(|session| session.zz_number.is_none() && session.store_zz_number.is_none()) {
            return Ok(last);
        }
        last.read_series(conn, store, sessions).await?;
        last.read_registers(conn, store, sessions).await?;
        last.read_store(conn, store, sessions).await?;
        Ok(last)
    }

    /// In which report the drawer before the first one of each series is.
    async fn read_series(&mut self, conn: &impl ConnectionTrait, store: Uuid, sessions: &[Model]) -> Result<(), DbErr> {
        let mut firsts: BTreeMap<(&str, i64), i32> = BTreeMap::new();
        for session in sessions.iter().filter(|session| !has_foreign_number(&session.flags)) {
            let number =
                firsts.entry((session.register_code.as_str(), start(session))).or_insert(session.session_number);
            *number = (*number).min(session.session_number);
        }
        let firsts = firsts.into_iter().take(REGISTERS);
        let firsts =
            firsts.map(|((register, start), number)| [register.into(), start.into(), i64::from(number).into()]);
        let sql = "WITH r (register, start, first) AS (VALUES $rows) SELECT r.register, r.start, \
                   CAST(COALESCE((SELECT s.zz_number FROM register_sessions s WHERE s.store_id = $1 \
                   AND s.register_code = r.register AND s.session_number >= r.start AND s.session_number < r.first \
                   AND s.zz_number IS NOT NULL ORDER BY s.session_number DESC LIMIT 1), 0) AS BIGINT) AS before FROM r";
        let row = "(CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT))";
        for row in find_by_rows(conn, sql, &[store.into()], row, firsts).await? {
            let letter = Given::session(row.try_get("", "start")?).letter;
            self.of_series.insert((row.try_get("", "register")?, letter), row.try_get("", "before")?);
        }
        Ok(())
    }

    /// What drawers of other days name between the reports of each register, and the last one before them.
    async fn read_registers(
        &mut self,
        conn: &impl ConnectionTrait,
        store: Uuid,
        sessions: &[Model],
    ) -> Result<(), DbErr> {
        let mut bounds: BTreeMap<&str, (i32, i32)> = BTreeMap::new();
        for session in sessions.iter().filter(|session| !has_foreign_number(&session.flags)) {
            let Some(number) = session.zz_number else { continue };
            let (lowest, highest) = bounds.entry(&session.register_code).or_insert((number, number));
            (*lowest, *highest) = ((*lowest).min(number), (*highest).max(number));
        }
        let bounds = bounds.into_iter().take(REGISTERS);
        let bounds: Vec<[Value; 3]> = bounds
            .map(|(register, (lowest, highest))| [register.into(), i64::from(lowest).into(), i64::from(highest).into()])
            .collect();
        let row = "(CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT))";
        let sql = "WITH r (register, lowest, highest) AS (VALUES $rows) SELECT r.register, \
                   CAST(COALESCE((SELECT MAX(s.zz_number) FROM register_sessions s WHERE s.store_id = $1 \
                   AND s.register_code = r.register AND s.zz_number < r.lowest), 0) AS BIGINT) AS before FROM r";
        for row in find_by_rows(conn, sql, &[store.into()], row, bounds.clone()).await? {
            self.of_registers.insert(row.try_get("", "register")?, row.try_get("", "before")?);
        }
        let sql = "WITH r (register, lowest, highest) AS (VALUES $rows) SELECT DISTINCT r.register, \
                   CAST(s.zz_number AS BIGINT) AS number FROM r CROSS JOIN register_sessions s WHERE s.store_id = $1 \
                   AND s.register_code = r.register AND s.zz_number >= r.lowest AND s.zz_number <= r.highest";
        for row in find_by_rows(conn, sql, &[store.into()], row, bounds).await? {
            self.named.entry(row.try_get("", "register")?).or_default().insert(row.try_get("", "number")?);
        }
        Ok(())
    }

    /// The same of the reports of the whole store.
    async fn read_store(&mut self, conn: &impl ConnectionTrait, store: Uuid, sessions: &[Model]) -> Result<(), DbErr> {
        let own = sessions.iter().filter(|session| !has_foreign_number(&session.flags));
        let numbers: BTreeSet<i32> = own.filter_map(|session| session.store_zz_number).collect();
        let (Some(lowest), Some(highest)) = (numbers.first(), numbers.last()) else { return Ok(()) };
        let sql = "SELECT CAST(COALESCE(MAX(store_zz_number), 0) AS BIGINT) AS before FROM register_sessions \
                   WHERE store_id = $1 AND store_zz_number < $2";
        for row in query(conn, sql, [store.into(), (*lowest).into()]).await? {
            self.of_store = row.try_get("", "before")?;
        }
        let sql = "SELECT DISTINCT CAST(store_zz_number AS BIGINT) AS number FROM register_sessions \
                   WHERE store_id = $1 AND store_zz_number >= $2 AND store_zz_number <= $3";
        for row in query(conn, sql, [store.into(), (*lowest).into(), (*highest).into()]).await? {
            self.named_of_store.insert(row.try_get("", "number")?);
        }
        Ok(())
    }

    /// What the drawers of a register of one day say, rising by their numbers: what is left out, and what comes again.
    pub(super) fn of_register(&mut self, register: &str, sessions: &[&Model]) -> (Vec<Range>, Vec<i64>) {
        let mut again = BTreeSet::new();
        let named = self.named.entry(register.to_owned()).or_default();
        let mut highest = 0;
        for session in sessions {
            let Some(number) = session.zz_number.map(i64::from) else { continue };
            named.insert(number);
            highest = number.max(highest);
            let letter = Given::session(session.session_number.into()).letter;
            let last = self.of_series.entry((register.to_owned(), letter)).or_default();
            if number < *last {
                again.insert(number);
            }
            *last = number.max(*last);
        }
        let last = self.of_registers.entry(register.to_owned()).or_default();
        let left_out = missing(*last, named, highest);
        *last = highest.max(*last);
        (left_out, again.into_iter().collect())
    }

    /// What the drawers of a store of one day leave out.
    pub(super) fn of_store<'a>(&mut self, sessions: impl Iterator<Item = &'a Model>) -> Vec<Range> {
        let numbers: BTreeSet<i64> = sessions.filter_map(|session| session.store_zz_number).map(i64::from).collect();
        let Some(last) = numbers.last().copied() else { return Vec::new() };
        // Of those of before nothing may be known: a headquarters of an earlier release did not keep the number.
        let first = numbers.first().filter(|_| self.of_store == 0).map(|first| first - 1);
        let first = first.unwrap_or(self.of_store);
        self.named_of_store.extend(&numbers);
        let left_out = missing(first, &self.named_of_store, last);
        self.of_store = self.of_store.max(last);
        left_out
    }
}

/// What the numbers of the series of a drawer begin after.
fn start(session: &Model) -> i64 {
    let number = i64::from(session.session_number);
    number - number % SESSIONS_OF_A_LETTER
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawers(numbers: &[Option<i32>]) -> Vec<Model> {
        let drawer = |zz_number| Model { zz_number, store_zz_number: zz_number, ..Model::default() };
        numbers.iter().copied().map(drawer).collect()
    }

    #[test]
    fn a_report_of_several_drawers_that_none_names_is_left_out_and_one_that_comes_back_is_there_twice() {
        let mut last = LastZz::default();
        let day = drawers(&[Some(1), Some(1), Some(2), None]);
        assert_eq!(last.of_register("01", &day.iter().collect::<Vec<_>>()), (Vec::new(), Vec::new()));
        let next = drawers(&[Some(2), Some(5), Some(4), Some(5)]);
        let said = last.of_register("01", &next.iter().collect::<Vec<_>>());
        assert_eq!(said, (vec![Range { from: 3, to: 3 }], vec![4]));
        assert_eq!(last.of_store(day.iter()), Vec::new());
        assert_eq!(last.of_store(next.iter()), [Range { from: 3, to: 3 }], "another register names 4");
    }

    #[test]
    fn a_drawer_that_came_back_late_is_in_a_later_report_than_those_of_a_later_letter() {
        let drawer = |(session_number, zz_number): &(i32, i32)| Model {
            session_number: *session_number,
            zz_number: Some(*zz_number),
            ..Model::default()
        };
        let said = |last: &mut LastZz, day: &[(i32, i32)]| {
            let day: Vec<Model> = day.iter().map(drawer).collect();
            last.of_register("01", &day.iter().collect::<Vec<_>>())
        };
        let (after, next) = ((100_001, 2), (100_002, 3));
        assert_eq!(said(&mut LastZz::default(), &[(1, 1), (2, 3), after, next]), (Vec::new(), Vec::new()));
        let mut days = LastZz { named: [("01".to_owned(), [1, 2, 3].into())].into(), ..LastZz::default() };
        assert_eq!(said(&mut days, &[(1, 1), (2, 3)]), (Vec::new(), Vec::new()), "2 is of the next day");
        assert_eq!(said(&mut days, &[after, next]), (Vec::new(), Vec::new()));
        assert_eq!(
            said(&mut LastZz::default(), &[(1, 2), (2, 1)]),
            (Vec::new(), vec![1]),
            "of one letter it is there twice"
        );
    }

    #[test]
    fn reports_of_a_store_begin_with_the_first_one_that_headquarters_was_told_of() {
        let mut last = LastZz::default();
        assert_eq!(last.of_store(drawers(&[None]).iter()), Vec::new());
        assert_eq!(last.of_store(drawers(&[Some(3), Some(5)]).iter()), [Range { from: 4, to: 4 }]);
        assert_eq!(last.of_store(drawers(&[Some(7)]).iter()), [Range { from: 6, to: 6 }]);
        let mut last = LastZz { named_of_store: [1, 2, 3].into(), ..LastZz::default() };
        assert_eq!(last.of_store(drawers(&[Some(1), Some(3)]).iter()), [], "a drawer of another day is in 2");
    }
}
