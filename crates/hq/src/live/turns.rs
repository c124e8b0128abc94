//! One push of each store at a time: what comes meanwhile waits for its turn before its body is read, the next one for some
//! seconds and whatever else comes for two, until that one has its turn. Most of it is the same push once more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tillkeep_http::error::{Error, Result};
use tillkeep_model::ErrorCode;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};
use uuid::Uuid;

/// How long the next push of a store waits for the one before. After that it overtakes one without its body: the
/// line of that one is dead, and no store waits for its answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long whatever else comes waits for its place behind the one before.
const EQUALS_WAIT: Duration = Duration::from_secs(2);
/// A large body that is read for longer lets others have its memory.
const LONG: Duration = Duration::from_secs(10);
/// Seconds after which a store that was sent away comes again.
const RETRY_AFTER: u64 = 1;

/// The turns of all stores.
#[derive(Default)]
pub struct Turns(Mutex<HashMap<Uuid, Arc<Store>>>);

struct Store {
    pushing: Arc<Semaphore>,
    waiting: Semaphore,
    overtaken: Notify,
    /// Since when a body is being read that takes much memory.
    reading: Mutex<Option<Instant>>,
}

/// The turn of one push; it ends when this is dropped.
pub(crate) struct Turn {
    store: Arc<Store>,
    _pushing: OwnedSemaphorePermit,
}

impl Turns {
    /// Waits for the turn of `store`. One push is the next, and the others wait for its place, for a shorter time.
    pub(crate) async fn take(&self, store: Uuid) -> Result<Turn> {
        let store = self.get(store);
        let waits = timeout(EQUALS_WAIT, store.waiting.acquire()).await.map_err(|_| busy())?;
        let _waits = waits.map_err(|error| Error::internal(error))?;
        let mut turn = timeout(PATIENCE, store.pushing.clone().acquire_owned()).await;
        if turn.is_err() {
            store.overtaken.notify_waiters();
            turn = timeout(PATIENCE, store.pushing.clone().acquire_owned()).await;
        }
        let pushing = turn.map_err(|_| busy())?.map_err(|error| Error::internal(error))?;
        Ok(Turn { store: store.clone(), _pushing: pushing })
    }

    /// Lets go of the large body that has been read for longest, if that is long: its memory is for those whose bodies come. Small
    /// ones may take their time on a slow line.
    pub(crate) fn overtake_the_longest(&self) {
        let stores = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = |store: &&Arc<Store>| *store.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let reading = stores.values().filter(|store| since(store).is_some_and(|since| since.elapsed() >= LONG));
        if let Some(store) = reading.min_by_key(|store| since(store)) {
            store.overtaken.notify_waiters();
        }
    }

    fn get(&self, store: Uuid) -> Arc<Store> {
        let new = || {
            let pushing = Arc::new(Semaphore::new(1));
            Arc::new(Store { pushing, waiting: Semaphore::new(1), overtaken: Notify::new(), reading: Mutex::default() })
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(store).or_insert_with(new).clone()
    }
}

impl Turn {
    /// The body takes much memory from now on.
    pub(crate) fn is_large(&self) {
        self.store.reading.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now);
    }

    /// What `read` comes to, unless the next push of the store has waited too long meanwhile.
    pub(crate) async fn unless_overtaken<T>(&self, read: impl Future<Output = Result<T>>) -> Result<T> {
        let read = tokio::select! {
            read = read => read,
            () = self.store.overtaken.notified() => Err(busy()),
        };
        *self.store.reading.lock().unwrap_or_else(PoisonError::into_inner) = None;
        read
    }
}

fn busy() -> Error {
    let text = "another push of this store is under way; send it again when that one was answered";
    Error::new(ErrorCode::Unavailable, text).retry_after(RETRY_AFTER)
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_store_has_one_push_under_way_and_others_wait_for_a_bounded_time() {
        let turns = Turns::default();
        let (store, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let first = turns.take(store).await.expect("the first");
        assert!(turns.take(other).await.is_ok(), "stores do not wait for each other");
        let begun = Instant::now();
        let after = async { (turns.take(store).await.is_ok(), begun.elapsed().as_secs()) };
        let third = async { (turns.take(store).await.is_ok(), begun.elapsed().as_secs()) };
        assert_eq!(tokio::join!(after, third), ((false, 6), (false, 2)), "both wait in vain");
        drop(first);
        let all = (0..20).map(|_| async {
            let turn = turns.take(store).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            turn.is_ok()
        });
        let taken = futures_util::future::join_all(all).await;
        assert!(taken.into_iter().all(|taken| taken), "each in its turn");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_takes_long_gives_way_when_others_lack_memory() {
        let turns = Turns::default();
        let (slow, quick) = (turns.take(Uuid::from_u128(1)).await, turns.take(Uuid::from_u128(2)).await);
        let (slow, quick) = (slow.expect("a turn"), quick.expect("a turn"));
        slow.is_large();
        let small = turns.take(Uuid::from_u128(3)).await.expect("a turn");
        let others = async {
            tokio::time::advance(LONG).await;
            quick.is_large();
            let read = quick.unless_overtaken(async {
                turns.overtake_the_longest();
                Ok(())
            });
            assert!(read.await.is_ok(), "it has just begun");
        };
        let slow_line = small.unless_overtaken(async {
            tokio::time::sleep(2 * LONG).await;
            Ok(())
        });
        let (slow_line, stalled, ()) = tokio::join!(slow_line, slow.unless_overtaken(pending::<Result<()>>()), others);
        assert!(stalled.is_err() && slow_line.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_push_without_its_body_is_overtaken() {
        let turns = Turns::default();
        let first = turns.take(Uuid::nil()).await.expect("the first");
        let stalled = async {
            let read: Result<()> = first.unless_overtaken(pending()).await;
            drop(first);
            read
        };
        let (stalled, second) = tokio::join!(stalled, turns.take(Uuid::nil()));
        assert!(stalled.is_err() && second.is_ok());
    }
}
