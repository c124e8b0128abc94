//! What stores did and said that is not in the database yet.

use std::collections::{HashMap, HashSet};

use tillkeep_model::Instant;
use tillkeep_storage::registry;
use tillkeep_storage::sync_log::Pulled;
use uuid::Uuid;

#[derive(Default)]
pub(crate) struct Unwritten {
    pub types: HashMap<(Uuid, &'static str), Pulled>,
    /// Stores that had everything, and when.
    pub quiet: HashMap<Uuid, Instant>,
    pub stores: HashSet<Uuid>,
}

impl Unwritten {
    pub(crate) fn note(&mut self, key: (Uuid, &'static str), news: Pulled) {
        self.types.entry(key).or_default().add(news);
    }

    /// A store has everything. This costs one pair in the statement that writes it, and not one for each type.
    pub(crate) fn quiet(&mut self, store_id: Uuid, at: Instant) {
        self.quiet.insert(store_id, at);
        if self.types.is_empty() {
            return;
        }
        // Types are written after it: what was noted of them before is over.
        for entity in registry::pulled() {
            if let Some(pulled) = self.types.get_mut(&(store_id, entity.name)) {
                is_well(pulled, at);
            }
        }
    }

    /// Takes back what could not be written; what was noted meanwhile is newer.
    pub(crate) fn take_back(&mut self, older: Self) {
        for (key, mut pulled) in older.types {
            if let Some(at) = self.quiet.get(&key.0) {
                is_well(&mut pulled, *at);
            }
            if let Some(newer) = self.types.remove(&key) {
                pulled.add(newer);
            }
            self.types.insert(key, pulled);
        }
        for (store_id, at) in older.quiet {
            self.quiet.entry(store_id).or_insert(at);
        }
        self.stores.extend(older.stores);
    }
}

fn is_well(pulled: &mut Pulled, at: Instant) {
    (pulled.success_at, pulled.pending) = (Some(at), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORE: Uuid = Uuid::nil();

    fn at(seconds: i64) -> Instant {
        Instant::default().plus_millis(seconds * 1000)
    }

    fn error(seconds: i64) -> Pulled {
        Pulled { rows: 2, pending: 3, error: Some((at(seconds), "full".to_owned())), ..Pulled::default() }
    }

    /// What is to be written of products: rows, success and pending.
    fn products(unwritten: &Unwritten) -> (i64, Option<Instant>, i32) {
        let pulled = &unwritten.types[&(STORE, "products")];
        (pulled.rows, pulled.success_at, pulled.pending)
    }

    #[test]
    fn what_is_written_together_is_what_was_said_last() {
        let mut unwritten = Unwritten::default();
        unwritten.note((STORE, "products"), error(1));
        unwritten.quiet(STORE, at(2));
        assert_eq!(products(&unwritten), (2, Some(at(2)), 0));
        unwritten.note((STORE, "products"), error(3));
        assert_eq!(products(&unwritten), (4, Some(at(2)), 3));
    }

    #[test]
    fn what_could_not_be_written_is_neither_lost_nor_newer_than_what_came_since() {
        let mut older = Unwritten::default();
        older.note((STORE, "products"), error(1));
        older.stores.insert(STORE);
        let mut newer = Unwritten::default();
        newer.quiet(STORE, at(2));
        newer.take_back(older);
        assert_eq!(products(&newer), (2, Some(at(2)), 0));
        assert_eq!((newer.quiet[&STORE], newer.stores.len()), (at(2), 1));
        let mut failing = Unwritten::default();
        failing.note((STORE, "products"), error(3));
        failing.take_back(newer);
        assert_eq!(products(&failing), (4, Some(at(2)), 3));
    }
}
