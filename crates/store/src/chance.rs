//! Chance, handed in like the clock: the waits of a simulated store are the same in every run of a seed.

use std::sync::{Arc, Mutex, PoisonError};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tillkeep_http::files;

/// A generator that the parts of a store share. Not for secrets.
#[derive(Clone)]
pub struct Chance(Arc<Mutex<StdRng>>);

impl Default for Chance {
    fn default() -> Self {
        Self::of_seed(u64::from_be_bytes(files::random()))
    }
}

impl Chance {
    pub fn of_seed(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(StdRng::seed_from_u64(seed))))
    }

    /// A number from 0 to `most`, both included.
    pub fn up_to(&self, most: u64) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).random_range(0..=most)
    }
}
