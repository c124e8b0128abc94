//! What an error of the database means: the data's fault, something that passes, or a bug; and doing again what the
//! database broke off.

use std::borrow::Cow;
use std::fmt::Display;
use std::time::Duration;

use sea_orm::{DbErr, RuntimeErr, sqlx};

/// How often a transaction is repeated that the database broke off for the sake of another one. Of two that are in
/// each other's way one goes on, so the second try nearly always does it.
const TRIES: u32 = 5;
/// The wait before the second try; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(10);

/// Runs `attempt`, a whole transaction from begin to commit, and again when the database broke it off as the victim of
/// a deadlock or a serialisation failure: nothing of it happened then. Every other error is the caller's.
///
/// `SQLite` has no such error: a transaction waits for the writer at its beginning or not at all.
pub async fn retry_serialization<T, F>(attempt: impl FnMut() -> F) -> Result<T, DbErr>
where
    F: Future<Output = Result<T, DbErr>>,
{
    retry_where(was_broken_off, attempt).await
}

/// As [`retry_serialization`], with errors of which `is_broken_off` says whether they come of that.
pub async fn retry_where<T, E, F>(is_broken_off: impl Fn(&E) -> bool, mut attempt: impl FnMut() -> F) -> Result<T, E>
where
    E: Display,
    F: Future<Output = Result<T, E>>,
{
    let mut wait = FIRST_WAIT;
    for _ in 1..TRIES {
        match attempt().await {
            Err(error) if is_broken_off(&error) => {
                tracing::debug!(%error, "a transaction is repeated");
                tokio::time::sleep(wait).await;
                wait *= 2;
            }
            done => return done,
        }
    }
    attempt().await
}

/// What a transaction says that found out late that another one was first.
const OVERTAKEN: &str = "another transaction was first";

/// The error of a transaction that is to be done again, since another one has changed what it was judged by.
pub(crate) fn overtaken() -> DbErr {
    DbErr::Custom(OVERTAKEN.to_owned())
}

/// Whether the database rolled a transaction back so that another one could go on.
pub fn was_broken_off(error: &DbErr) -> bool {
    if matches!(error, DbErr::Custom(text) if text == OVERTAKEN) {
        return true;
    }
    // PostgreSQL: serialization_failure, deadlock_detected.
    code(error).is_some_and(|code| code == "40001" || code == "40P01")
}

/// Whether the database ended a transaction because others stood in its way, for too long or as one of several that waited
/// for each other.
pub(crate) fn has_given_way(error: &DbErr) -> bool {
    // PostgreSQL: lock_not_available.
    was_broken_off(error) || code(error).is_some_and(|code| code == "55P03")
}

/// What the database says about a broken unique key, or `None` for another error.
pub fn unique_violation(error: &DbErr) -> Option<Vec<String>> {
    let error = driver_error(error)?.as_database_error().filter(|error| error.is_unique_violation())?;
    let message = error.message();
    // SQLite names `table.column, …`, PostgreSQL the index in quotes.
    let columns = match message.rsplit_once("failed: ") {
        Some((_, list)) => list.split(", ").filter_map(|name| Some(name.split_once('.')?.1.to_owned())).collect(),
        None => message.split('"').find_map(crate::migration::columns_of_index).unwrap_or_default(),
    };
    Some(columns.iter().map(|column| tillkeep_model::wire::camel(column.trim_end_matches("_folded"))).collect())
}

/// Whether `error` is the fault of the data in the statement (a constraint, a value that does not fit), so that the
/// same statement would fail again.
pub fn is_data_fault(error: &DbErr) -> bool {
    // PostgreSQL: class 21 is a row twice in one statement, 22 data exceptions, 23 constraints, 54 limits (a text too
    // long for an index). SQLite: 18 too big, 19 constraint, 20 mismatch.
    code(error).is_some_and(|code| is_one_of(&code, &["21", "22", "23", "54"], &[18, 19, 20]))
}

/// Whether `error` is neither the data's fault nor a bug: the database is away, full, stopping, or others stood in the
/// way for too long. The same request may work later.
pub fn is_passing(error: &DbErr) -> bool {
    // PostgreSQL: 55P03 a lock, 57014 a time-out, which may be one row's, 58 the operating system. SQLite: 10 disk.
    strikes_everything(error) || code(error).is_some_and(|code| is_one_of(&code, &["55P03", "57014", "58"], &[10]))
}

/// Whether `error` is of the whole database, so that no other row would fare better now. An error of the disk may be of the
/// page that one row is on.
pub fn strikes_everything(error: &DbErr) -> bool {
    match (error, code(error)) {
        (DbErr::ConnectionAcquire(_) | DbErr::Conn(_), _) => true,
        // PostgreSQL: 08 connection, 25006 a standby that is not promoted yet, 25P03 a transaction that stood idle, 40
        // broken off, 53 out of something, 57P stopped. SQLite: 5 busy, 6 locked, 7 out of memory, 8 may only be read,
        // 13 full, 14 cannot open.
        (_, Some(code)) => is_one_of(&code, &["08", "25006", "25P03", "40", "53", "57P"], &[5, 6, 7, 8, 13, 14]),
        (_, None) => driver_error(error).is_some_and(|error| {
            use sqlx::Error::{Io, PoolClosed, PoolTimedOut, Tls, WorkerCrashed};
            matches!(error, Io(_) | Tls(_) | PoolTimedOut | PoolClosed | WorkerCrashed)
        }),
    }
}

/// What is wrong, for another server: short, and without anything of what stands in the rows.
pub fn in_short(error: &DbErr) -> &'static str {
    let coded = |states: &[&str], numbers: &[u32]| code(error).is_some_and(|code| is_one_of(&code, states, numbers));
    match error {
        DbErr::Json(_) => "a row could not be read",
        _ if unread_column(error).is_some() => "a row could not be read",
        _ if coded(&["53100"], &[13]) => "the disk is full",
        _ if coded(&["40", "55P03"], &[5, 6]) => "the database is locked by something else",
        _ if coded(&["25006"], &[8]) => "the database may only be read",
        // 58 is the operating system's word.
        _ if coded(&["58"], &[10]) => "the database cannot read or write its disk",
        _ if coded(&["XX001", "XX002"], &[11, 26]) => "the database or its disk is damaged",
        _ if coded(&["57014"], &[]) => "the database takes too long over it",
        _ if is_data_fault(error) => "the database refuses a row",
        _ if is_passing(error) => "the database does not answer",
        _ => "an error of the database",
    }
}

/// How the library calls an error that is nothing but words of this program.
const NO_WORDS: &str = "Custom Error: ";

/// What an error says, for whoever reads it: its first words are words.
#[must_use]
pub fn in_words(text: &str) -> Cow<'_, str> {
    if text.contains(NO_WORDS) { Cow::Owned(text.replace(NO_WORDS, "")) } else { Cow::Borrowed(text) }
}

/// The column with a value that it should not hold, when that is what `error` says.
pub(crate) fn unread_column(error: &DbErr) -> Option<String> {
    let sqlx::Error::ColumnDecode { index, .. } = driver_error(error)? else { return None };
    // The driver quotes the name.
    Some(index.trim_matches('"').to_owned())
}

fn driver_error(error: &DbErr) -> Option<&sqlx::Error> {
    let (DbErr::Exec(runtime) | DbErr::Query(runtime) | DbErr::Conn(runtime)) = error else { return None };
    let RuntimeErr::SqlxError(error) = runtime else { return None };
    Some(error)
}

/// The code of the database: five characters of `PostgreSQL`, a number of `SQLite`.
fn code(error: &DbErr) -> Option<String> {
    Some(driver_error(error)?.as_database_error()?.code()?.into_owned())
}

/// Whether `code` begins with one of `states` (`PostgreSQL`), or has one of `numbers` in its low byte (`SQLite`).
fn is_one_of(code: &str, states: &[&str], numbers: &[u32]) -> bool {
    if code.len() == 5 {
        return states.iter().any(|state| code.starts_with(state));
    }
    code.parse::<u32>().is_ok_and(|code| numbers.contains(&(code & 0xff)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_the_database_did_not_break_off_is_tried_once() {
        let mut tries = 0;
        let done: Result<(), _> = retry_serialization(|| {
            tries += 1;
            async { Err(DbErr::Custom("a bug".to_owned())) }
        })
        .await;
        assert!(done.is_err());
        assert_eq!(tries, 1);
    }

    #[test]
    fn an_error_in_short_says_nothing_of_the_rows() {
        let secret = || "invalid type: string \"Smith\"".to_owned();
        assert_eq!(in_short(&DbErr::Json(secret())), "a row could not be read");
        assert_eq!(in_short(&DbErr::Custom(secret())), "an error of the database");
        assert_eq!(in_short(&DbErr::Conn(RuntimeErr::Internal(secret()))), "the database does not answer");
    }

    #[test]
    fn an_error_of_this_program_begins_with_its_own_words() {
        let error = DbErr::Custom("this is a database of a store".to_owned());
        assert_eq!(in_words(&error.to_string()), "this is a database of a store");
        let ended = format!("headquarters cannot start: {error}");
        assert_eq!(in_words(&ended), "headquarters cannot start: this is a database of a store");
        assert_eq!(in_words("as it is"), "as it is");
    }

    #[test]
    fn codes_of_both_databases_are_distinguished() {
        assert!(is_one_of("40P01", &["40"], &[]) && is_one_of("2067", &[], &[19]) && is_one_of("5", &[], &[5]));
        // SQLite's extended codes have up to four digits, so that none is taken for one of PostgreSQL.
        assert!(!is_one_of("23505", &[], &[0xd1]) && !is_one_of("5", &["5"], &[]));
    }
}
