//! Pushes in front of the writer. A queue that is longer than it can be drained in five seconds takes no more: the store
//! keeps its entries and comes again. `docs/sync.md`, rule U14.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tillkeep_http::error::{Error, Result};
use tillkeep_model::ErrorCode;
use tillkeep_storage::push;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

/// Seconds of work that may wait.
const DRAIN_SECONDS: u64 = 5;
/// Thousandths of a unit of work a second before anything was measured.
const FIRST_RATE: u64 = 1_000_000;
/// A disk so slow that it counts as this one.
const LOWEST_RATE: u64 = 1000;
/// A push costs its commit, whatever is in it: as many units of work as so many envelopes.
const COMMIT: usize = 50;
/// Of a new measurement in the moving average: one in so many.
const WEIGHT: u64 = 8;
/// Bytes of bodies in memory, in KiB, unpacked: read, parsed or waiting.
const BODIES_KIB: u32 = 64 << 10;
/// Bodies of this size and less have memory of their own: who sends large ones takes nothing from the daily business of other
/// stores.
const SMALL_KIB: u32 = 1 << 10;
/// The memory of small bodies.
const SMALL_BODIES_KIB: u32 = 16 << 10;
/// What a body takes before its first byte is read.
const BODY_FROM_KIB: u32 = 64;
/// The queue of one HQ process.
pub struct PushQueue {
    /// Envelopes that were read and not answered yet.
    envelopes: AtomicUsize,
    /// The same as units of work: an envelope is one, a request [`COMMIT`].
    work: AtomicUsize,
    refused: AtomicU64,
    /// Thousandths of a unit of work a second, of one worker.
    rate: Mutex<u64>,
    workers: Semaphore,
    /// Pushes whose rows may be in memory: those with a worker, and on a file two that are read meanwhile.
    rows: Semaphore,
    /// An embedded database has one writer.
    parallel: usize,
    /// More pushes may be read than stored.
    is_read_apart: bool,
    memory: Arc<Semaphore>,
    small: Arc<Semaphore>,
}

/// A place in the queue; given back when it is dropped.
pub struct QueueSlot<'a> {
    queue: &'a PushQueue,
    envelopes: usize,
}

impl Drop for QueueSlot<'_> {
    fn drop(&mut self) {
        self.queue.envelopes.fetch_sub(self.envelopes, Ordering::AcqRel);
        self.queue.work.fetch_sub(self.envelopes + COMMIT, Ordering::AcqRel);
    }
}

/// The memory of one body.
pub struct BodyReservation {
    is_small: bool,
    held: OwnedSemaphorePermit,
}

impl BodyReservation {
    pub(crate) const fn is_large(&self) -> bool {
        !self.is_small
    }
}

impl PushQueue {
    pub fn new(embedded: bool) -> Self {
        let at_once = push::at_once(embedded);
        let parallel = if embedded { 1 } else { at_once };
        Self {
            envelopes: AtomicUsize::new(0),
            work: AtomicUsize::new(0),
            refused: AtomicU64::new(0),
            rate: Mutex::new(FIRST_RATE),
            workers: Semaphore::new(parallel),
            rows: Semaphore::new(at_once),
            parallel,
            is_read_apart: at_once > parallel,
            memory: Arc::new(Semaphore::new(BODIES_KIB as usize)),
            small: Arc::new(Semaphore::new(SMALL_BODIES_KIB as usize)),
        }
    }

    /// Envelopes in front of the writer.
    pub fn len(&self) -> usize {
        self.envelopes.load(Ordering::Acquire)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Pushes that were sent away since the start.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Refuses while the queue is too long; before the body is read.
    pub fn check(&self) -> Result<()> {
        let rate = self.rate().saturating_mul(whole(self.parallel));
        let millis = whole(self.work.load(Ordering::Acquire)).saturating_mul(1_000_000) / rate;
        if millis <= DRAIN_SECONDS * 1000 {
            return Ok(());
        }
        Err(self.busy(millis / 1000))
    }

    fn rate(&self) -> u64 {
        *self.rate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn busy(&self, seconds: u64) -> Error {
        self.refused.fetch_add(1, Ordering::Relaxed);
        let text = "headquarters has more to store than it can in five seconds; send it again";
        Error::new(ErrorCode::Unavailable, text).retry_after(seconds.clamp(1, 60))
    }

    /// Memory for the beginning of a body. What it announces counts nothing: it may never come.
    pub fn reserve(&self) -> Result<BodyReservation> {
        let held = self.small.clone().try_acquire_many_owned(BODY_FROM_KIB).map_err(|_| self.busy(1))?;
        Ok(BodyReservation { is_small: true, held })
    }

    /// Takes what `reservation` lacks for `bytes`.
    pub fn grow(&self, reservation: &mut BodyReservation, bytes: usize) -> Result<()> {
        let wanted = kib(bytes);
        if reservation.is_small && wanted > SMALL_KIB {
            let large = self.memory.clone().try_acquire_many_owned(wanted);
            *reservation = BodyReservation { is_small: false, held: large.map_err(|_| self.busy(1))? };
            return Ok(());
        }
        let lacking = usize::try_from(wanted).unwrap_or_default().saturating_sub(reservation.held.num_permits());
        if lacking == 0 {
            return Ok(());
        }
        let memory = if reservation.is_small { &self.small } else { &self.memory };
        let more = memory.clone().try_acquire_many_owned(u32::try_from(lacking).unwrap_or(u32::MAX));
        reservation.held.merge(more.map_err(|_| self.busy(1))?);
        Ok(())
    }

    /// A place for so many envelopes behind those that wait.
    pub fn enter(&self, envelopes: usize) -> Result<QueueSlot<'_>> {
        self.check()?;
        self.envelopes.fetch_add(envelopes, Ordering::AcqRel);
        self.work.fetch_add(envelopes + COMMIT, Ordering::AcqRel);
        Ok(QueueSlot { queue: self, envelopes })
    }

    /// Waits until a push may be read into rows. It needs that until it is done, and no worker to be read.
    pub async fn reader(&self) -> Result<SemaphorePermit<'_>> {
        self.rows.acquire().await.map_err(|error| Error::internal(error))
    }

    /// Waits for a worker: for the turn at the database of what was read since `read_from`. With that time, from when on it stands in
    /// the way of others: where as many are read as are stored, reading is a part of it.
    pub async fn worker(&self, read_from: Instant) -> Result<(SemaphorePermit<'_>, Instant)> {
        let worker = self.workers.acquire().await.map_err(|error| Error::internal(error))?;
        Ok((worker, if self.is_read_apart { Instant::now() } else { read_from }))
    }

    /// A worker took so long for so many envelopes.
    pub fn measured(&self, envelopes: usize, took: Duration) {
        let work = whole(envelopes + COMMIT);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(100);
        let now = work.saturating_mul(1_000_000_000) / micros;
        let mut rate = self.rate.lock().unwrap_or_else(PoisonError::into_inner);
        *rate = ((*rate * (WEIGHT - 1)).saturating_add(now) / WEIGHT).max(LOWEST_RATE);
    }
}

fn whole(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn kib(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    #[test]
    fn bodies_have_a_bound_together_and_give_their_memory_back() {
        let queue = PushQueue::new(true);
        let begun = |bytes: usize| {
            let mut reservation = queue.reserve().expect("memory to begin with");
            queue.grow(&mut reservation, bytes).map(|()| reservation)
        };
        let mut large = begun(50 << 20).expect("memory");
        assert!(begun(25 << 20).is_err());
        let other = begun(5 << 20).expect("memory for another one");
        assert!(queue.grow(&mut large, 75 << 20).is_err());
        // What stores send each day is in no push's way.
        let daily: Vec<_> = (0..16).map(|_| begun(1 << 20).expect("memory for a small one")).collect();
        assert!(queue.reserve().is_err(), "and bounded as well");
        drop((large, other, daily));
        assert!(begun(60 << 20).is_ok());
    }

    #[tokio::test]
    async fn two_pushes_are_read_while_a_third_one_is_written_to_a_file() {
        let queue = PushQueue::new(true);
        let soon = Duration::from_millis(20);
        let written = (queue.reader().await.expect("a place"), queue.worker(Instant::now()).await.expect("the worker"));
        let read = [queue.reader().await.expect("a place"), queue.reader().await.expect("another one")];
        assert_eq!(queue.rows.available_permits(), 0);
        assert!(timeout(soon, queue.reader()).await.is_err(), "their rows take memory");
        assert!(timeout(soon, queue.worker(Instant::now())).await.is_err(), "a file has one writer");
        drop(written);
        assert!(
            timeout(soon, queue.reader()).await.is_ok() && timeout(soon, queue.worker(Instant::now())).await.is_ok()
        );
        drop(read);
        assert_eq!(queue.rows.available_permits(), 3);
        let queue = PushQueue::new(false);
        let mut taken = Vec::new();
        for _ in 0..queue.rows.available_permits() {
            taken.push((queue.reader().await.expect("a place"), queue.worker(Instant::now()).await.expect("a worker")));
        }
        assert!(
            timeout(soon, queue.worker(Instant::now())).await.is_err(),
            "a server has a worker for each that is read"
        );
    }

    #[test]
    fn a_queue_of_more_than_five_seconds_takes_no_more() {
        let queue = PushQueue::new(true);
        for _ in 0..200 {
            queue.measured(950, Duration::from_secs(1));
        }
        let places: Vec<_> = (0..5).map(|_| queue.enter(950).expect("a place")).collect();
        let last = queue.enter(950).expect("five seconds are not too many");
        assert!(queue.enter(1).is_err());
        drop((places, last));
        assert!(queue.is_empty() && queue.enter(1).is_ok());
    }
}
