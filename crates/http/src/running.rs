//! Two requests with one `Idempotency-Key` at once: the second one is asked to come back.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tillkeep_model::ErrorCode;

use crate::error::{Error, Result};

/// Keys of the requests that are being answered here.
#[derive(Default)]
pub struct Running(Mutex<HashSet<String>>);

/// Held while a request is being answered; no other request begins with its key.
pub struct Turn<'a> {
    running: &'a Running,
    id: &'a str,
}

impl Running {
    fn write(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// 409 for the second of two at once.
    pub fn begin<'a>(&'a self, id: &'a str) -> Result<Turn<'a>> {
        if self.write().insert(id.to_owned()) {
            return Ok(Turn { running: self, id });
        }
        Err(in_progress())
    }
}

/// The answer to a request with the key of one that is being answered, here or at another server.
pub fn in_progress() -> Error {
    let text = "a request with this Idempotency-Key is still being answered; ask again in a moment";
    Error::new(ErrorCode::InProgress, text).retry_after(1)
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.running.write().remove(self.id);
    }
}
