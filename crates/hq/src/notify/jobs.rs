//! Jobs that wait for their worker: one for each type and store, with the newest version, and no more than fit.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use metrics::{counter, gauge};
use tillkeep_storage::Change;
use tillkeep_storage::registry::{self, Scope};
use tokio::sync::Notify;
use uuid::Uuid;

/// Jobs for single stores that wait at the most. Beyond it those of a type become one job for every store: they hear
/// more than they need, and none hears less.
const MOST: usize = 16_384;

type Key = (&'static str, Option<Uuid>);

/// What became of jobs.
#[derive(Default, PartialEq, Eq, Debug)]
struct Taken {
    queued: u64,
    /// One for the same type and store waited already.
    merged: u64,
    /// There was no room for one of its own: it became one for every store.
    widened: u64,
}

pub struct Jobs {
    /// What the jobs are for, as the metrics call it.
    name: &'static str,
    most: usize,
    waiting: Mutex<BTreeMap<Key, i64>>,
    wake: Notify,
}

impl Jobs {
    pub fn new(name: &'static str) -> Self {
        Self::bounded(name, MOST)
    }

    fn bounded(name: &'static str, most: usize) -> Self {
        Self { name, most, waiting: Mutex::default(), wake: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, i64>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes jobs and returns at once. A type that no store pulls makes none.
    pub fn add(&self, changes: impl IntoIterator<Item = Change>) {
        let taken = self.put(changes);
        for (how, count) in [("queued", taken.queued), ("merged", taken.merged), ("widened", taken.widened)] {
            if count > 0 {
                counter!("tillkeep_notifications_queued_total", "to" => self.name, "how" => how).increment(count);
            }
        }
    }

    /// As [`Jobs::add`], for jobs that were taken and could not be done; those are counted already.
    pub fn requeue(&self, jobs: impl IntoIterator<Item = Change>) {
        self.put(jobs);
    }

    fn put(&self, changes: impl IntoIterator<Item = Change>) -> Taken {
        let mut taken = Taken::default();
        let mut waiting = self.lock();
        for change in changes {
            let Some(entity) = registry::find(change.entity_type).filter(|entity| entity.is_pulled()) else { continue };
            let (mut key, everyone) = ((entity.name, change.store), (entity.name, None));
            if key != everyone && waiting.contains_key(&everyone) {
                key = everyone;
            } else if key != everyone && waiting.len() >= self.most && !waiting.contains_key(&key) {
                taken.widened += 1;
                waiting.retain(|(name, _), _| *name != entity.name);
                key = everyone;
            }
            // A version of one store says nothing to the others.
            let version = if key == everyone && entity.scope == Scope::Store { 0 } else { change.version };
            if let Some(newest) = waiting.get_mut(&key) {
                taken.merged += 1;
                *newest = version.max(*newest);
            } else {
                taken.queued += 1;
                waiting.insert(key, version);
            }
        }
        let is_empty = waiting.is_empty();
        drop(waiting);
        if !is_empty {
            self.wake.notify_one();
        }
        taken
    }

    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Sets the gauge of what waits.
    pub fn measure(&self) {
        gauge!("tillkeep_notifications_waiting", "to" => self.name).set(u32::try_from(self.len()).unwrap_or(u32::MAX));
    }

    /// Waits until there is something, and leaves it where it is. Safe to drop half-way.
    pub async fn ready(&self) {
        while self.len() == 0 {
            self.wake.notified().await;
        }
    }

    /// Everything that waits.
    pub fn take(&self) -> Vec<Change> {
        let taken = std::mem::take(&mut *self.lock());
        taken
            .into_iter()
            .map(|((entity_type, store), version)| Change { entity_type, store, version, tag: None })
            .collect()
    }

    /// Waits for jobs and takes them. Safe to drop half-way.
    pub async fn next(&self) -> Vec<Change> {
        self.ready().await;
        self.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(entity_type: &'static str, store: Option<Uuid>, version: i64) -> Change {
        Change { entity_type, store, version, tag: None }
    }

    #[test]
    fn jobs_of_one_type_and_store_are_merged_and_the_newest_version_counts() {
        let jobs = Jobs::new("test");
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        for version in [3, 5, 4] {
            jobs.add([
                change("products", None, version),
                change("store_product_dynamic", Some(one), version),
                change("store_product_dynamic", Some(other), 7),
            ]);
        }
        let expected = [
            change("products", None, 5),
            change("store_product_dynamic", Some(one), 5),
            change("store_product_dynamic", Some(other), 7),
        ];
        assert_eq!(jobs.take(), expected);
        assert_eq!(jobs.take(), []);
    }

    #[test]
    fn what_no_store_pulls_makes_no_job() {
        let jobs = Jobs::new("test");
        jobs.add([change("sales", Some(Uuid::from_u128(1)), 3), change("spaceships", None, 3)]);
        assert_eq!(jobs.len(), 0);
    }

    #[test]
    fn what_does_not_fit_becomes_one_job_for_every_store_and_is_counted() {
        let jobs = Jobs::bounded("test", 4);
        let of = |store: u128| change("store_product_dynamic", Some(Uuid::from_u128(store)), 9);
        jobs.add([change("products", None, 1), change("purchase_orders", Some(Uuid::from_u128(1)), 2)]);
        let taken = jobs.put((1..=1000).map(of));
        assert_eq!(taken, Taken { queued: 3, merged: 997, widened: 1 });
        let everyone = change("store_product_dynamic", None, 0);
        let expected = [change("products", None, 1), change("purchase_orders", Some(Uuid::from_u128(1)), 2), everyone];
        assert_eq!(jobs.take(), expected);
        // And once more one by one.
        jobs.add([of(1)]);
        assert_eq!(jobs.take(), [of(1)]);
    }

    #[test]
    fn the_memory_of_waiting_jobs_has_a_bound_however_many_stores_and_types_change() {
        let jobs = Jobs::bounded("test", 100);
        let types: Vec<&'static str> = registry::pulled().map(|entity| entity.name).collect();
        for store in 0..1000 {
            jobs.add(types.iter().map(|name| change(name, Some(Uuid::from_u128(store)), 1)));
        }
        assert!(jobs.len() <= 100 + types.len(), "{}", jobs.len());
        // Of each type something is left that reaches the last store.
        let last = Some(Uuid::from_u128(999));
        let left = jobs.take();
        for name in types {
            assert!(
                left.iter().any(|job| job.entity_type == name && (job.store.is_none() || job.store == last)),
                "{name}"
            );
        }
    }
}
