//! Values of the database in memory, until one of them changes. What was read before a change is not kept after it, which
//! a cache that only forgets does not promise: a read that began before may end behind it.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Values by key.
pub struct Cache<K, V> {
    known: RwLock<Entries<K, V>>,
    most: usize,
}

struct Entries<K, V> {
    /// Raised by every change.
    changes: u64,
    values: HashMap<K, V>,
}

/// A moment before a value was read or written.
#[derive(Clone, Copy, Debug)]
pub struct Turn(u64);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self::with_room(usize::MAX)
    }
}

impl<K, V> Cache<K, V> {
    /// Keeps `most` values; the rest is read again when it is asked for.
    pub fn with_room(most: usize) -> Self {
        Self { known: RwLock::new(Entries { changes: 0, values: HashMap::new() }), most }
    }

    fn read(&self) -> RwLockReadGuard<'_, Entries<K, V>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Entries<K, V>> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be taken before a value is read or written that is to be kept.
    pub fn turn(&self) -> Turn {
        Turn(self.read().changes)
    }

    /// `change` was made in the database: it is made of what is kept, and what was read before is not kept any more.
    pub fn change(&self, change: impl FnOnce(&mut HashMap<K, V>)) {
        let mut known = self.write();
        known.changes += 1;
        change(&mut known.values);
    }

    /// All that is kept is read again.
    pub fn clear(&self) {
        self.change(HashMap::clear);
    }

    /// As [`Cache::change`], where it does no harm that a value which is being read now is kept without it.
    pub fn amend(&self, amend: impl FnOnce(&mut HashMap<K, V>)) {
        amend(&mut self.write().values);
    }
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// What is kept of `key`, if anything, and the moment for [`Cache::keep`] if it has to be read.
    pub fn get(&self, key: &K) -> (Option<V>, Turn) {
        let known = self.read();
        (known.values.get(key).cloned(), Turn(known.changes))
    }

    /// Keeps what was read since `turn`, unless something changed in between: it may have been this.
    pub fn keep(&self, key: K, value: V, turn: Turn) {
        let mut known = self.write();
        if known.changes != turn.0 {
            return;
        }
        if known.values.len() >= self.most {
            known.values.clear();
        }
        known.values.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_before_a_change_is_not_kept_after_it() {
        let cache = Cache::default();
        let (nothing, turn) = cache.get(&1);
        assert_eq!(nothing, None);
        cache.change(|values| values.retain(|key, _| *key != 2));
        cache.keep(1, "old", turn);
        assert_eq!(cache.get(&1).0, None);
        cache.keep(1, "new", cache.turn());
        assert_eq!(cache.get(&1).0, Some("new"));
        cache.clear();
        assert_eq!(cache.get(&1).0, None);
    }

    #[test]
    fn a_value_is_amended_without_harm_to_those_that_are_read() {
        let cache = Cache::default();
        let turn = cache.turn();
        cache.amend(|values| values.extend([(1, "amended")]));
        cache.keep(2, "read", turn);
        assert_eq!((cache.get(&1).0, cache.get(&2).0), (Some("amended"), Some("read")));
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let cache = Cache::with_room(2);
        for key in 0..9 {
            cache.keep(key, key, cache.turn());
            assert_eq!(cache.get(&key).0, Some(key));
        }
        assert!(cache.read().values.len() <= 2);
    }
}
