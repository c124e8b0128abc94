//! Connections that read, or the one connection of a program that has a file to itself.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sea_orm::DbErr;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::blocking::blocking;
use super::errors::{busy, closed};
use super::lease::Lease;
use super::session::Session;
use crate::sql::opening::Opening;

/// How long a connection is idle until it gives back the memory of what it has read.
const LONG: Duration = Duration::from_mins(1);

#[derive(Clone)]
pub(crate) struct Pool(Arc<Inner>);

struct Inner {
    path: PathBuf,
    writes: bool,
    /// Of a statement.
    limit: Option<Duration>,
    most: u32,
    free: Semaphore,
    idle: Mutex<Idle>,
}

/// Connections that nobody has. The last one that came is the first to go: after a rush the others stay where they are.
#[derive(Default)]
struct Idle(Vec<Unused>);

struct Unused {
    session: Arc<Session>,
    since: Instant,
    is_released: bool,
}

impl Idle {
    fn push(&mut self, session: Arc<Session>, now: Instant) {
        self.0.push(Unused { session, since: now, is_released: false });
    }

    fn pop(&mut self) -> Option<Arc<Session>> {
        self.0.pop().map(|unused| unused.session)
    }

    /// The one that is there for the longest time of those that have not given back their memory, when that is long; it counts
    /// as one that has.
    fn unused_for_long(&mut self, now: Instant) -> Option<Arc<Session>> {
        let oldest = self.0.iter_mut().find(|unused| !unused.is_released)?;
        if now.duration_since(oldest.since) < LONG {
            return None;
        }
        oldest.is_released = true;
        Some(oldest.session.clone())
    }
}

impl Pool {
    /// Up to `most` connections to the file at `path`. The first is opened now, the others when they are needed.
    pub(crate) fn open(path: &Path, writes: bool, most: u32, limit: Option<Duration>) -> Result<Self, DbErr> {
        let inner = Inner {
            path: path.to_owned(),
            writes,
            limit,
            most,
            free: Semaphore::new(most as usize),
            idle: Mutex::default(),
        };
        let first = inner.connect()?;
        inner.give_back(first);
        Ok(Self(Arc::new(inner)))
    }

    /// One of the connections, until the lease is dropped.
    pub(crate) async fn lease(&self) -> Result<Lease, DbErr> {
        let permit = timeout(Opening::USUAL.longest_wait, self.0.free.acquire()).await.map_err(|_| busy())?;
        permit.map_err(|_| closed())?.forget();
        let session = match self.0.take_idle() {
            Some(session) => Ok(session),
            None => blocking(|| self.0.connect()),
        };
        let session = session.inspect_err(|_| self.0.free.add_permits(1))?;
        let (inner, kept) = (self.0.clone(), session.clone());
        Ok(Lease::new(&session).ending(move || {
            inner.give_back(kept);
            inner.free.add_permits(1);
        }))
    }

    /// The only connection, for a [`super::Writer`].
    pub(crate) fn into_session(self) -> Result<Arc<Session>, DbErr> {
        self.0.take_idle().ok_or_else(closed)
    }

    /// Waits until all connections are back, and closes them.
    pub(crate) async fn close(&self) {
        let all = self.0.free.acquire_many(self.0.most).await;
        if all.is_ok() {
            self.0.free.close();
            let idle = std::mem::take(&mut *self.0.idle.lock().unwrap_or_else(PoisonError::into_inner));
            blocking(|| drop(idle));
        }
    }
}

impl Inner {
    fn connect(&self) -> Result<Arc<Session>, DbErr> {
        let session = Session::open(&self.path, self.writes)?;
        if let Some(limit) = self.limit {
            session.limit(limit)?;
        }
        Ok(session)
    }

    fn take_idle(&self) -> Option<Arc<Session>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give_back(&self, session: Arc<Session>) {
        if self.free.is_closed() {
            return;
        }
        let now = Instant::now();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(session, now);
        let unused = idle.unused_for_long(now);
        drop(idle);
        if let Some(unused) = unused {
            unused.release_memory();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_nobody_needs_for_long_gives_back_its_memory_once_and_is_as_good_as_before() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("some.db");
        let open = || Session::open(&path, true).expect("a connection");
        let (first, second, begun) = (open(), open(), Instant::now());
        let mut idle = Idle::default();
        idle.push(first.clone(), begun);
        idle.push(second.clone(), begun + LONG / 2);
        assert!(idle.unused_for_long(begun + LONG / 2).is_none());
        let mut long_unused = |after: Duration| idle.unused_for_long(begun + after);
        assert!(long_unused(LONG).is_some_and(|session| Arc::ptr_eq(&session, &first)));
        assert!(long_unused(LONG).is_none(), "the other one came later, and this one has given it back");
        assert!(long_unused(2 * LONG).is_some_and(|session| Arc::ptr_eq(&session, &second)));
        assert!(long_unused(3 * LONG).is_none());
        second.release_memory();
        assert!(idle.pop().is_some_and(|session| Arc::ptr_eq(&session, &second)));
        second.state().conn.execute_batch("CREATE TABLE t (id)").expect("it works");
        idle.push(second.clone(), begun + 3 * LONG);
        assert!(idle.unused_for_long(begun + 4 * LONG).is_some_and(|session| Arc::ptr_eq(&session, &second)));
    }
}
