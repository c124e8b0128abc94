//! ZZ reports and their numbers. Each drawer says which took it, so that what is lost here can be put together again.

use std::collections::BTreeMap;

use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, Value};
use tillkeep_model::z::Gap;
use uuid::Uuid;

use crate::db::{Row, query};
use crate::entity::register_session::Model as Session;
use crate::entity::zz_report;
use crate::numbers::{Given, SESSIONS_OF_A_LETTER};
use crate::{Tx, settings};

/// Whether drawers of this store are on their way back from headquarters. They say which ZZ reports there are.
pub async fn are_coming_back(conn: &impl ConnectionTrait) -> Result<bool, DbErr> {
    Ok(settings::get(conn, "own_documents_due").await?.as_deref() == Some("yes"))
}

/// The last number of the ZZ reports of a register, by its code, or, with none, of the whole store. Its drawers say it as well,
/// which come back after a database was lost; its id may be another one then.
pub async fn last_number(conn: &impl ConnectionTrait, register: Option<&str>) -> Result<i32, DbErr> {
    let (column, of, same, values) = match register {
        Some(code) => ("zz_number", "register_code = $1", "register_code = $1", vec![code.into()]),
        None => ("store_zz_number", "TRUE", "register_code IS NULL", Vec::new()),
    };
    let sql = format!(
        "SELECT COALESCE(MAX(number), 0) AS last FROM (SELECT MAX({column}) AS number FROM register_sessions WHERE {of} \
         UNION ALL SELECT MAX(zz_number) AS number FROM zz_reports WHERE {same}) numbers"
    );
    let rows = query(conn, &sql, values).await?;
    rows.first().map_or(Ok(0), |row| row.try_get("", "last"))
}

/// What was taken up to: the highest number of the drawers of each register and letter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken(BTreeMap<(String, String), i64>);

impl Taken {
    fn read(rows: &[Row]) -> Result<Self, DbErr> {
        let mut taken = BTreeMap::new();
        for row in rows {
            let last: i32 = row.try_get("", "last")?;
            let Given { letter, number } = Given::session(last.into());
            taken.insert((row.try_get("", "register_code")?, letter), number);
        }
        Ok(Self(taken))
    }

    /// What is missing between these and the first ones among `sessions`: each letter of a register by itself, and from its
    /// beginning where nothing of it was taken.
    #[must_use]
    pub fn gaps_before(&self, sessions: &[Session]) -> Vec<Gap> {
        let mut firsts: BTreeMap<(String, String), i64> = BTreeMap::new();
        for session in sessions {
            let Given { letter, number } = Given::session(session.session_number.into());
            let first = firsts.entry((session.register_code.clone(), letter)).or_insert(number);
            *first = number.min(*first);
        }
        let gap = |(series, first): ((String, String), i64)| {
            let from = self.0.get(&series).map_or(1, |last| last.saturating_add(1));
            let (register_code, letter) = series;
            (from < first).then_some(Gap { register_code, letter, from, to: first - 1 })
        };
        firsts.into_iter().filter_map(gap).collect()
    }

    /// As [`Taken::gaps_before`], where what was taken long ago is not here any more: a series of which nothing is known is one
    /// from its beginning after drawers of an earlier letter alone.
    #[must_use]
    pub fn known_gaps_before(&self, sessions: &[Session]) -> Vec<Gap> {
        let order = |letter: &str| (letter.len(), letter.to_owned());
        let is_known = |gap: &Gap| {
            let is_earlier =
                |register: &str, letter: &str| register == gap.register_code && order(letter) < order(&gap.letter);
            self.0.contains_key(&(gap.register_code.clone(), gap.letter.clone()))
                || self.0.keys().any(|(register, letter)| is_earlier(register, letter))
                || sessions.iter().any(|session| {
                    is_earlier(&session.register_code, &Given::session(session.session_number.into()).letter)
                })
        };
        let mut gaps = self.gaps_before(sessions);
        gaps.retain(is_known);
        gaps
    }
}

/// What ZZ reports have taken up to: those of this register, or those of the whole store.
pub async fn taken_up_to(conn: &impl ConnectionTrait, register: Option<&str>) -> Result<Taken, DbErr> {
    let (which, values) = match register {
        Some(code) => ("zz_number IS NOT NULL AND register_code = $1", vec![code.into()]),
        None => ("store_zz_number IS NOT NULL", Vec::new()),
    };
    taken(conn, which, values).await
}

/// What those of `store` before the one with this number have taken up to.
pub async fn taken_before(
    conn: &impl ConnectionTrait,
    store: Uuid,
    register: Option<&str>,
    number: i32,
) -> Result<Taken, DbErr> {
    let mut values: Vec<Value> = vec![store.into(), number.into()];
    let Some(code) = register else { return taken(conn, "store_id = $1 AND store_zz_number < $2", values).await };
    values.push(code.into());
    taken(conn, "store_id = $1 AND zz_number < $2 AND register_code = $3", values).await
}

async fn taken(conn: &impl ConnectionTrait, which: &str, values: Vec<Value>) -> Result<Taken, DbErr> {
    let sql = format!(
        "SELECT register_code, MAX(session_number) AS last FROM register_sessions WHERE {which} \
         GROUP BY register_code, session_number / {SESSIONS_OF_A_LETTER}"
    );
    Taken::read(&query(conn, &sql, values).await?)
}

/// A ZZ that drawers name and that is not here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// None of the whole store.
    pub register_code: Option<String>,
    pub number: i32,
}

/// All of them, the oldest first.
pub async fn missing(conn: &impl ConnectionTrait) -> Result<Vec<Missing>, DbErr> {
    let sql = "SELECT DISTINCT s.register_code, s.zz_number FROM register_sessions s WHERE s.zz_number IS NOT NULL \
               AND NOT EXISTS (SELECT 1 FROM zz_reports z WHERE z.register_code = s.register_code \
               AND z.zz_number = s.zz_number) ORDER BY s.zz_number";
    let mut found = Vec::new();
    for row in query(conn, sql, []).await? {
        let register_code = Some(row.try_get("", "register_code")?);
        found.push(Missing { register_code, number: row.try_get("", "zz_number")? });
    }
    let sql = "SELECT DISTINCT s.store_zz_number FROM register_sessions s WHERE s.store_zz_number IS NOT NULL \
               AND NOT EXISTS (SELECT 1 FROM zz_reports z WHERE z.register_code IS NULL \
               AND z.zz_number = s.store_zz_number) ORDER BY s.store_zz_number";
    for row in query(conn, sql, []).await? {
        found.push(Missing { register_code: None, number: row.try_get("", "store_zz_number")? });
    }
    Ok(found)
}

/// Keeps a ZZ that was put together again, unless it is here.
pub async fn keep(tx: &Tx, zz: zz_report::Model) -> Result<(), DbErr> {
    let insert = zz_report::Entity::insert(zz.into_active_model());
    let unless_there = OnConflict::column(zz_report::Column::Id).do_nothing().to_owned();
    insert.on_conflict(unless_there).exec_without_returning(tx).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_before_a_report_is_named_by_letter_and_what_was_taken_is_not() {
        let drawer = |session_number| Session { register_code: "01".into(), session_number, ..Session::default() };
        let gaps = |taken: &Taken, numbers: &[i32]| -> Vec<(String, i64, i64)> {
            let sessions: Vec<Session> = numbers.iter().copied().map(drawer).collect();
            taken.gaps_before(&sessions).into_iter().map(|gap| (gap.letter, gap.from, gap.to)).collect()
        };
        assert_eq!(gaps(&Taken::default(), &[1, 2]), []);
        assert_eq!(gaps(&Taken::default(), &[3, 100_002]), [(String::new(), 1, 2), ("A".to_owned(), 1, 1)]);
        let of = |letter: &str, last| (("01".to_owned(), letter.to_owned()), last);
        let taken = Taken([of("", 4), of("A", 1)].into());
        assert_eq!(gaps(&taken, &[5, 100_002]), [], "a drawer came back after one of a later letter was taken");
        assert_eq!(gaps(&taken, &[7, 100_002]), [(String::new(), 5, 6)]);
    }

    #[test]
    fn of_a_database_that_was_lost_a_letter_begins_at_1_after_drawers_of_the_series_before() {
        let drawer = |session_number| Session { register_code: "01".into(), session_number, ..Session::default() };
        let gaps = |taken: &Taken, numbers: &[i32]| -> Vec<(String, i64, i64)> {
            let sessions: Vec<Session> = numbers.iter().copied().map(drawer).collect();
            taken.known_gaps_before(&sessions).into_iter().map(|gap| (gap.letter, gap.from, gap.to)).collect()
        };
        let nothing = Taken::default();
        assert_eq!(gaps(&nothing, &[3, 4]), [], "what came before it is not known any more");
        assert_eq!(gaps(&nothing, &[100_003]), []);
        assert_eq!(gaps(&nothing, &[3, 100_003]), [("A".to_owned(), 1, 2)]);
        let of = |letter: &str, last| (("01".to_owned(), letter.to_owned()), last);
        let taken = Taken([of("", 4)].into());
        assert_eq!(gaps(&taken, &[6, 100_002]), [(String::new(), 5, 5), ("A".to_owned(), 1, 1)]);
        assert_eq!(gaps(&Taken([of("A", 1)].into()), &[3, 100_002]), [], "A1 was taken");
    }
}
