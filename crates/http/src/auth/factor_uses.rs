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
    known: Mutex<Option<i64>>,
}

impl FactorUses {
    pub(super) const fn new(file: Option<PathBuf>) -> Self {
        Self { file, known: Mutex::new(None) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<i64>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number that is known here; `None` without a file.
    fn known(&self) -> io::Result<Option<i64>> {
        let mut known = self.lock();
        if known.is_none()
            && let Some(file) = &self.file
        {
            match std::fs::read_to_string(file) {
                Ok(text) => *known = Some(text.trim().parse().map_err(io::Error::other)?),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(*known)
    }

    /// Keeps a number that is higher than the known one.
    fn keep(&self, uses: i64) -> io::Result<()> {
        let mut known = self.lock();
        if known.is_some_and(|known| known >= uses) {
            return Ok(());
        }
        if let Some(file) = &self.file {
            files::write_secret(file, uses.to_string().as_bytes())?;
        }
        *known = Some(uses);
        Ok(())
    }
}

/// Codes that were used are known here from now on, whichever server they were shown to.
pub(crate) async fn follow(auth: &Auth) -> Result<()> {
    if auth.home != Home::Hq {
        return Ok(());
    }
    let uses = factors::uses(auth.db.reader()).await?;
    let known = auth.factor_uses.known().map_err(|error| Error::internal(error))?;
    // A file of a database has one server: where it knows nothing of uses, it is a copy that came without its file.
    let unknown = auth.db.is_embedded() && auth.factor_uses.file.is_some() && known.is_none() && uses > 0;
    let expected = if unknown { uses + 1 } else { known.unwrap_or_default() };
    if uses < expected {
        distrust(auth, expected).await?;
    }
    note(auth, uses.max(expected))
}

/// A code was used, which was committed.
pub(crate) fn note(auth: &Auth, uses: i64) -> Result<()> {
    auth.factor_uses.keep(uses).map_err(|error| Error::internal(error))
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
