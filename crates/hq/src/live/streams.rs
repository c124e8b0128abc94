//! Places for pulls without a limit: each of them has a connection that reads for as long as its client takes. One for
//! each store, so that none keeps another one from its own, and fewer altogether than there are connections, which also
//! bounds the memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tillkeep_http::error::{Error, Result};
use tillkeep_model::ErrorCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use uuid::Uuid;

/// Pulls without a limit that one store has under way at the most.
const OF_A_STORE: usize = 1;
/// Connections that are left to everybody else.
const LEFT: usize = 2;

pub struct Streams {
    all: Arc<Semaphore>,
    of_store: Mutex<HashMap<Uuid, Arc<Semaphore>>>,
}

/// A place, given back when it is dropped.
pub struct StreamPermit {
    _own: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

impl Streams {
    /// Places beside so many connections that read for stores.
    pub fn beside(readers: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(readers.saturating_sub(LEFT).max(1))), of_store: Mutex::default() }
    }

    /// A place for `store`, or 503 when none is free `within` that time; one that is held in vain is free after `patience`.
    pub async fn place(&self, store: Uuid, within: Duration, patience: Duration) -> Result<StreamPermit> {
        let own = {
            let mut of_store = self.of_store.lock().unwrap_or_else(PoisonError::into_inner);
            of_store.entry(store).or_insert_with(|| Arc::new(Semaphore::new(OF_A_STORE))).clone()
        };
        let both = async {
            // The own one first: who waits for it holds up no other store.
            let own = own.acquire_owned().await.map_err(|error| Error::internal(error))?;
            let of_all = self.all.clone().acquire_owned().await.map_err(|error| Error::internal(error))?;
            Ok(StreamPermit { _own: own, _of_all: of_all })
        };
        timeout(within, both).await.unwrap_or_else(|_| {
            let text = "as many pulls without a limit are under way as there may be; come again, or pull with a limit";
            Err(Error::new(ErrorCode::Unavailable, text).retry_after(patience.as_secs().max(1)))
        })
    }
}
