//! A whole transaction as one piece of work, which shares its commit with others where that is possible.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use sea_orm::{DbErr, RuntimeErr};
use tokio::sync::oneshot;
use tracing::Span;

use super::keyed_request::{self, KeyedRequest};
use super::pools::Writers;
use crate::memory::Writes;
use crate::sql::connection::Transaction;
use crate::sql::sqlite::{Answer, Lease};
use crate::{Change, Db, Tx, fault};

/// What a transaction does. It waits for nothing but the transaction.
pub type Working<'tx, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'tx>>;

/// What is on disk.
#[derive(Debug)]
pub struct Written<T> {
    pub value: T,
    pub changes: Vec<Change>,
    /// As [`Tx::taken`].
    pub taken: Vec<(String, i64)>,
}

impl Db {
    /// Runs `work` as one transaction and commits it. On an error nothing of it happened, unless the error is one of the
    /// commit itself, after which it is not known.
    ///
    /// On `SQLite` it runs on the thread of the writer, and those that wait share a commit; one that fails harms none of
    /// the others. It may be done although whoever asked for it has gone away.
    pub async fn write<T, E, W>(&self, work: W) -> Result<Written<T>, E>
    where
        T: Send + 'static,
        E: From<DbErr> + Send + 'static,
        W: for<'tx> FnOnce(&'tx mut Tx) -> Working<'tx, T, E> + Send + 'static,
    {
        fault::point("tx.begin")?;
        let Writers::Sqlite(writer) = self.writers() else {
            let mut tx = self.begin().await?;
            let value = work(&mut tx).await?;
            let taken = tx.taken();
            return Ok(Written { value, changes: tx.commit().await?, taken });
        };
        let (caller, answer) = oneshot::channel();
        let (side, keyed, span) = (self.side(), keyed_request::current(), Span::current());
        let notes = self.memory().writes();
        let job = move |lease: Result<Lease, DbErr>| -> (bool, Answer) {
            let noting = notes.clone();
            let run = || -> Result<(Written<T>, Option<Arc<KeyedRequest>>), E> {
                // Whoever has gone away by now gets nothing done. What has begun is done, whoever still listens.
                let lease = if caller.is_closed() { Err(gone()) } else { lease }?;
                let mut tx = Tx::new(Transaction::from(lease.noting(noting)), side, keyed);
                ready(async move {
                    let value = work(&mut tx).await?;
                    let changes = tx.prepare().await?;
                    // The work may have left the key out.
                    Ok((Written { value, changes, taken: tx.taken() }, tx.key()))
                })
            };
            let done = span.in_scope(|| catch_unwind(AssertUnwindSafe(run)));
            let done = done.unwrap_or_else(|_| Err(DbErr::Custom("a transaction panicked".to_owned()).into()));
            (done.is_ok(), answer_to(done, notes, caller))
        };
        writer.run(self.rank(), job)?;
        let written = answer.await.map_err(|_| gone())??;
        fault::point("tx.committed")?;
        Ok(written)
    }
}

/// Tells the caller, once it is known how the commit went.
fn answer_to<T, E>(
    done: Result<(T, Option<Arc<KeyedRequest>>), E>,
    notes: Arc<Writes>,
    caller: oneshot::Sender<Result<T, E>>,
) -> Answer
where
    T: Send + 'static,
    E: From<DbErr> + Send + 'static,
{
    Box::new(move |committed| {
        // Who failed for what another of the group wrote failed for nothing when that is gone.
        let done = committed.map_err(E::from).and(done).map(|(written, keyed)| {
            if let Some(keyed) = keyed {
                keyed.written();
            }
            written
        });
        // What it changed of what is in memory holds from here on.
        drop(notes);
        // Who has gone away finds it done.
        drop(caller.send(done));
    })
}

/// The result of `work`, which has all that it waits for.
fn ready<T, E: From<DbErr>>(work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let mut work = std::pin::pin!(work);
    match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => {
            Err(DbErr::Custom("a transaction waited for something else than its database".to_owned()).into())
        }
    }
}

fn gone() -> DbErr {
    DbErr::Conn(RuntimeErr::Internal("the writer of the database gave no answer".to_owned()))
}
