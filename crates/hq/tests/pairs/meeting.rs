//! A place at which two transactions wait for each other, as far as one of them does not wait for the other's lock.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long the first one waits: the second one has read by then, or waits for a lock.
const PATIENCE: Duration = Duration::from_millis(20);

pub struct Meeting {
    come: Mutex<usize>,
    all: usize,
    patience: Duration,
    news: Condvar,
}

impl Default for Meeting {
    fn default() -> Self {
        Self { come: Mutex::default(), all: 2, patience: PATIENCE, news: Condvar::new() }
    }
}

impl Meeting {
    /// One that waits until it is ended.
    pub fn new(all: usize) -> Self {
        Self { all, patience: Duration::from_secs(30), ..Self::default() }
    }

    /// How many have come.
    pub fn waiting(&self) -> usize {
        *self.come.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the other one, once.
    pub fn wait(&self) {
        let mut come = self.come.lock().unwrap_or_else(PoisonError::into_inner);
        *come += 1;
        self.news.notify_all();
        let met = self.news.wait_timeout_while(come, self.patience, |come| *come < self.all);
        let (mut come, _) = met.unwrap_or_else(PoisonError::into_inner);
        // Who comes later goes on.
        *come = self.all;
    }

    pub fn end(&self) {
        *self.come.lock().unwrap_or_else(PoisonError::into_inner) = self.all;
        self.news.notify_all();
    }
}
