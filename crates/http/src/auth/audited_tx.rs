//! What a person does: a transaction that ends with a line in the audit log, and otherwise has not happened.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use tillkeep_storage::{Tx, audit};

use super::Auth;
use crate::error::Result;

/// A write of the caller of a request. Dropped without [`AuditedTx::done`], nothing happened.
#[must_use = "nothing happens without `done`"]
pub struct AuditedTx {
    tx: Tx,
    auth: Arc<Auth>,
}

impl AuditedTx {
    pub(super) const fn new(tx: Tx, auth: Arc<Auth>) -> Self {
        Self { tx, auth }
    }

    /// Appends `entry` to the audit log and commits; whoever pulls what changed hears of it.
    pub async fn done(self, entry: audit::Entry) -> Result<()> {
        self.note(vec![entry]).await?;
        self.auth.commit(self.tx).await?;
        Ok(())
    }

    /// Appends lines before the last one, of what has many. Others wait for their own from here to the commit.
    pub async fn note(&self, entries: Vec<audit::Entry>) -> Result<()> {
        Ok(audit::record_all(&self.tx, entries, self.auth.clock.now()).await?)
    }
}

/// For the reads and the writes by type. Statements of own text are for `crates/storage` alone (`clippy.toml`).
impl Deref for AuditedTx {
    type Target = Tx;
    fn deref(&self) -> &Tx {
        &self.tx
    }
}

impl DerefMut for AuditedTx {
    fn deref_mut(&mut self) -> &mut Tx {
        &mut self.tx
    }
}
