//! How many rows the sync client asks for at once.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::client::HqError;

/// Rows of the next page of a type: fewer while the line does not carry one in the time of a request. What is small enough
/// stays so until all of the type is here, whatever other types come meanwhile.
#[derive(Default)]
pub(crate) struct PageSize(Mutex<BTreeMap<&'static str, u64>>);

impl PageSize {
    /// What headquarters sends at the most.
    const MOST: u64 = 500;

    fn sizes(&self) -> MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, entity_type: &str) -> u64 {
        self.sizes().get(entity_type).copied().unwrap_or(Self::MOST)
    }

    /// Takes what became of the request of a page of so many rows.
    pub(crate) fn note<T>(
        &self,
        entity_type: &'static str,
        rows: u64,
        answer: Result<T, HqError>,
    ) -> Result<T, HqError> {
        if matches!(answer, Err(HqError::Unreachable(_))) {
            self.sizes().insert(entity_type, (rows / 2).max(1));
        }
        answer
    }

    /// All of the type is here.
    pub(crate) fn done(&self, entity_type: &str) {
        self.sizes().remove(entity_type);
    }
}
