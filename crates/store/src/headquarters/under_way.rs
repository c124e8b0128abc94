//! What this process is about to give back: of a claim at headquarters that nothing came of it is none.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

/// The claims under which something is about to be given back, each as often as that is.
#[derive(Clone, Debug, Default)]
pub(super) struct Giving(Arc<Mutex<Vec<Uuid>>>);

impl Giving {
    pub(super) fn begin(&self, claim: Uuid) -> UnderWay {
        self.ids().push(claim);
        UnderWay { claim, giving: self.clone() }
    }

    pub(super) fn has(&self, claim: Uuid) -> bool {
        self.ids().contains(&claim)
    }

    fn ids(&self) -> MutexGuard<'_, Vec<Uuid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Something is about to be given back under a claim, until this is dropped.
#[derive(Debug)]
pub struct UnderWay {
    claim: Uuid,
    giving: Giving,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut ids = self.giving.ids();
        if let Some(place) = ids.iter().position(|id| *id == self.claim) {
            ids.swap_remove(place);
        }
    }
}
