//! Taking a file: in one transaction, one part of it after the other, and once more when `PostgreSQL` broke that off.

use std::error::Error as _;

use tillkeep_http::auth::AuditedTx;
use tillkeep_http::error::{Error, Result};
use tillkeep_storage::ahead::Ahead;
use tillkeep_storage::{DbErr, Tx, db};

use super::CHUNK;
use super::file::{Row, Sheet};
use super::report::Report;

/// What is taken of a file of one kind of rows.
pub(super) trait Intake: Send {
    /// The rows that are taken together, one group after the other; each row is in one of them.
    const GROUPS: &'static [fn(&Row) -> bool] = &[|_| true];

    fn report(&mut self) -> &mut Report;

    /// Adds to `ahead` what these rows may change. Nothing is locked yet, and others may still change it.
    fn foresee(&mut self, tx: &Tx, rows: &[Row], ahead: &mut Ahead) -> impl Future<Output = Result<()>> + Send;

    /// Checks and writes these rows.
    fn take(&mut self, tx: &mut Tx, rows: Vec<Row>) -> impl Future<Output = Result<()>> + Send;
}

/// Takes all rows of a file, in a transaction that is committed by whoever has it.
pub(super) async fn take_all<T: Intake>(sheet: &Sheet<'_>, act: &mut AuditedTx, taken: &mut T) -> Result<()> {
    if act.has_others() {
        let (mut rows, mut ahead) = (sheet.rows(), Ahead::default());
        loop {
            let some = rows.next(CHUNK, &mut Report::default())?;
            if some.is_empty() {
                break;
            }
            taken.foresee(act, &some, &mut ahead).await?;
        }
        ahead.lock(act).await?;
    }
    for (place, group) in T::GROUPS.iter().enumerate() {
        let mut rows = sheet.rows();
        loop {
            let mut again = Report::default();
            // Faults of reading are told once.
            let report = if place == 0 { taken.report() } else { &mut again };
            let mut some = rows.next(CHUNK, report)?;
            if some.is_empty() {
                break;
            }
            some.retain(*group);
            if !some.is_empty() {
                taken.take(act, some).await?;
            }
        }
    }
    Ok(())
}

/// Runs `attempt`, which takes a file from its beginning to the commit, and again when the database broke it off for the sake of
/// another transaction: nothing of it happened then.
pub(super) async fn unbroken<T, F>(attempt: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    db::retry_where(was_broken_off, attempt).await
}

fn was_broken_off(error: &Error) -> bool {
    error.source().and_then(|cause| cause.downcast_ref::<DbErr>()).is_some_and(db::was_broken_off)
}
