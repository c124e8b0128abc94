//! How many codes of second factors this server knows of to have been used, in a file beside the database: a database that knows of
//! fewer is an older copy, and would take used codes again. `docs/security.md`, Second factor.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::json;
use tillkeep_storage::{audit, factors};

use super::{Auth, Home};
use crate::error::{Error, Result};
use crate::files;

pub(crate) struct FactorUses {
    file: Option<PathBuf>,
    known: Mutex<UseCount>,
}

struct UseCount {
    /// `None` until the file was read or there is something to note.
    uses: Option<i64>,
    /// What the file says.
    written: Option<i64>,
    /// Whether it is in the log that the file cannot be written.
    is_logged: bool,
}

impl FactorUses {
    pub(super) const fn new(file: Option<PathBuf>) -> Self {
        Self { file, known: Mutex::new(UseCount { uses: None, written: None, is_logged: false }) }
    }

    fn lock(&self) -> MutexGuard<'_, UseCount> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number that is known here; `None` without a file.
    fn known(&self) -> io::Result<Option<i64>> {
        let mut known = self.lock();
        if known.uses.is_none()
            && let Some(file) = &self.file
        {
            match std::fs::read_to_string(file) {
                Ok(text) => {
                    let uses: i64 = text.trim().parse().map_err(io::Error::other)?;
                    known.uses = Some(uses);
                    known.written = Some(uses);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(known.uses)
    }

    /// Keeps a number that is higher than the known one. Where the disk takes nothing it is known until the server stops, and
    /// written with a later one: people sign in all the same.
    fn keep(&self, uses: i64) {
        let mut known = self.lock();
        let uses = known.uses.unwrap_or(uses).max(uses);
        known.uses = Some(uses);
        let Some(file) = self.file.as_ref().filter(|_| known.written != Some(uses)) else { return };
        match files::write_secret(file, uses.to_string().as_bytes()) {
            Ok(()) => {
                known.written = Some(uses);
                known.is_logged = false;
            }
            Err(error) if !known.is_logged => {
                known.is_logged = true;
                tracing::error!(%error, "that codes were used cannot be noted beside the database; it is tried again");
            }
            Err(_) => {}
        }
    }
}

/// Codes that were used are known here from now on, whichever server they were shown to.
pub(crate) async fn follow(auth: &Auth) -> Result<()> {
    if auth.home != Home::Hq {
        return Ok(());
    }
    let uses = factors::uses(auth.db.reader()).await?;
    let known = aside(auth, FactorUses::known).await?.map_err(|error| Error::internal(error))?;
    // A file of a database has one server: where it knows nothing of uses, it is a copy that came without its file.
    let unknown = auth.db.is_embedded() && auth.factor_uses.file.is_some() && known.is_none() && uses > 0;
    let expected = if unknown { uses + 1 } else { known.unwrap_or_default() };
    if uses < expected {
        distrust(auth, expected).await?;
    }
    note(auth, uses.max(expected)).await;
    Ok(())
}

/// A code was used, which was committed.
pub(crate) async fn note(auth: &Auth, uses: i64) {
    if let Err(error) = aside(auth, move |known| known.keep(uses)).await {
        tracing::error!(%error, "that a code was used could not be noted beside the database");
    }
}

/// A disk may be slow: no other request waits for it.
async fn aside<T: Send + 'static>(auth: &Auth, work: impl FnOnce(&FactorUses) -> T + Send + 'static) -> Result<T> {
    let factor_uses = auth.factor_uses.clone();
    tokio::task::spawn_blocking(move || work(factor_uses.as_ref())).await.map_err(|error| Error::internal(error))
}

/// The database is an older copy.
async fn distrust(auth: &Auth, known: i64) -> Result<()> {
    let now = auth.clock.now();
    let step = factors::next_step(now);
    let tx = auth.db.begin_aside().await?;
    if factors::distrust(&tx, known, step, now).await? {
        tracing::warn!(
            "this database is an older copy: recovery codes of second factors are worthless, new ones must be made"
        );
        let entry = audit::Entry {
            action: "factor.distrust",
            details: json!({"reason": "the database is an older copy", "uses": known}),
            ..audit::Entry::default()
        };
        audit::record(&tx, entry, now).await?;
        tx.commit().await?;
    }
    Ok(())
}
