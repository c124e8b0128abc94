//! Which commits change what a store server keeps in memory. `docs/sync.md`, "What a store keeps in memory".
//!
//! What is kept is declared here, by its entities. The database says of each statement of a write transaction which tables it
//! writes (`sqlite/written.rs`), whoever makes it: a pull, a reload, what came back from headquarters, a person who edits a
//! till. One that writes what is kept raises the version of the database when its transaction is over, and nothing that was read
//! under an older version is used again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use sea_orm::EntityName;

use crate::entity::{
    product, product_barcode, product_special, reason, register, register_session, sales_rep, store, tax_group,
    tax_group_rate, tax_rate, tender,
};

/// The tables of entities of which rows are kept in memory. Levels and prices of this store are not among them: each sale reads
/// those.
pub static TABLES: LazyLock<[&str; 12]> = LazyLock::new(|| {
    [
        store::Entity.table_name(),
        tax_rate::Entity.table_name(),
        tax_group::Entity.table_name(),
        tax_group_rate::Entity.table_name(),
        tender::Entity.table_name(),
        product::Entity.table_name(),
        product_barcode::Entity.table_name(),
        product_special::Entity.table_name(),
        sales_rep::Entity.table_name(),
        reason::Entity.table_name(),
        register::Entity.table_name(),
        register_session::Entity.table_name(),
    ]
});

/// Counts the transactions of one database that wrote what is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Version(Arc<AtomicU64>);

impl Version {
    pub(crate) fn read(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// To be kept by a transaction until it is committed or undone.
    pub(crate) fn writes(&self) -> Arc<Writes> {
        Arc::new(Writes { version: self.clone(), some: AtomicBool::new(false) })
    }
}

/// Whether one transaction wrote what is kept. Raises the version when the last of its owners drops it, after the end of the
/// transaction, whatever that was: an error may have come after the commit.
#[derive(Debug)]
pub(crate) struct Writes {
    version: Version,
    some: AtomicBool,
}

impl Writes {
    /// A statement of the transaction writes what is kept.
    pub(crate) fn note(&self) {
        self.some.store(true, Ordering::Relaxed);
    }
}

impl Drop for Writes {
    fn drop(&mut self) {
        if *self.some.get_mut() {
            self.version.0.fetch_add(1, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_that_wrote_what_is_kept_raises_the_version_at_its_end_and_no_other_does() {
        let version = Version::default();
        drop(version.writes());
        assert_eq!(version.read(), 0);
        let writes = version.writes();
        writes.note();
        let other = writes.clone();
        drop(writes);
        assert_eq!(version.read(), 0, "not before the end");
        drop(other);
        assert_eq!(version.read(), 1);
    }
}
