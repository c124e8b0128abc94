//! Connections that read, or the one connection of a program that has a file to itself.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sea_orm::DbErr;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::blocking::blocking;
use super::errors::{busy, closed};
use super::lease::Lease;
use super::session::Session;
use crate::sql::opening::Opening;

#[derive(Clone)]
pub(crate) struct Pool(Arc<Inner>);

struct Inner {
    path: PathBuf,
    writes: bool,
    /// Of a statement.
    limit: Option<Duration>,
    most: u32,
    free: Semaphore,
    idle: Mutex<Vec<Arc<Session>>>,
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
        if !self.free.is_closed() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        }
    }
}
