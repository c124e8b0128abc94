//! Which commits change what a store server keeps in memory. `docs/sync.md`, "What a store keeps in memory".
//!
//! What is kept is declared here, by its entities. The database says of each statement of a write transaction which tables it
//! writes (`sqlite/written.rs`), whoever makes it: a pull, a reload, what came back from headquarters, a person who edits a
//! till. One that writes what is kept raises a version of the database when its transaction is over, and nothing that was read
//! under an older version is used again. Specials have a version of their own: they are edited all day long, and everything else
//! still holds then.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use sea_orm::EntityName;

use crate::entity::{
    department, product, product_barcode, product_special, reason, register, register_session, sales_rep, store,
    tax_group, tax_group_rate, tax_rate, tender,
};

/// The tables of entities of which rows are kept in memory. Levels and prices of this store are not among them: each sale reads
/// those.
pub static TABLES: LazyLock<[&str; 13]> = LazyLock::new(|| {
    [
        store::Entity.table_name(),
        tax_rate::Entity.table_name(),
        tax_group::Entity.table_name(),
        tax_group_rate::Entity.table_name(),
        tender::Entity.table_name(),
        department::Entity.table_name(),
        product::Entity.table_name(),
        product_barcode::Entity.table_name(),
        product_special::Entity.table_name(),
        sales_rep::Entity.table_name(),
        reason::Entity.table_name(),
        register::Entity.table_name(),
        register_session::Entity.table_name(),
    ]
});

/// What of it a statement writes, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts(u8);

impl Parts {
    pub(crate) const NONE: Self = Self(0);
    /// Everything but the specials.
    pub(crate) const SHELF: Self = Self(1);
    pub(crate) const SPECIALS: Self = Self(2);
    pub(crate) const ALL: Self = Self(3);

    /// What of it is in `table`.
    pub(crate) fn of(table: &str) -> Self {
        if table == product_special::Entity.table_name() {
            Self::SPECIALS
        } else if TABLES.contains(&table) {
            Self::SHELF
        } else {
            Self::NONE
        }
    }

    pub(crate) const fn bits(self) -> u8 {
        self.0
    }

    pub(crate) const fn from_bits(bits: u8) -> Self {
        Self(bits & Self::ALL.0)
    }

    const fn has(self, part: Self) -> bool {
        self.0 & part.0 != 0
    }
}

/// Counts the transactions of one database that wrote what is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Version(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    shelf: AtomicU64,
    specials: AtomicU64,
}

impl Version {
    pub(crate) fn read(&self) -> u64 {
        self.0.shelf.load(Ordering::Acquire)
    }

    /// The same of the specials.
    pub(crate) fn of_specials(&self) -> u64 {
        self.0.specials.load(Ordering::Acquire)
    }

    /// To be kept by a transaction until it is committed or undone.
    pub(crate) fn writes(&self) -> Arc<Writes> {
        Arc::new(Writes { version: self.clone(), parts: AtomicU8::new(0) })
    }
}

/// What of what is kept one transaction wrote. Raises its version when the last of its owners drops it, after the end of the
/// transaction, whatever that was: an error may have come after the commit.
#[derive(Debug)]
pub(crate) struct Writes {
    version: Version,
    parts: AtomicU8,
}

impl Writes {
    /// A statement of the transaction writes these.
    pub(crate) fn note(&self, parts: Parts) {
        self.parts.fetch_or(parts.bits(), Ordering::Relaxed);
    }
}

impl Drop for Writes {
    fn drop(&mut self) {
        let parts = Parts::from_bits(*self.parts.get_mut());
        let Counts { shelf, specials } = &*self.version.0;
        for (part, count) in [(Parts::SHELF, shelf), (Parts::SPECIALS, specials)] {
            if parts.has(part) {
                count.fetch_add(1, Ordering::Release);
            }
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
        writes.note(Parts::SHELF);
        let other = writes.clone();
        drop(writes);
        assert_eq!(version.read(), 0, "not before the end");
        drop(other);
        assert_eq!((version.read(), version.of_specials()), (1, 0));
        let writes = version.writes();
        writes.note(Parts::NONE);
        writes.note(Parts::SPECIALS);
        drop(writes);
        assert_eq!((version.read(), version.of_specials()), (1, 1));
    }
}
