//! Who may connect: so many in all, so many of one address.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::Limits;

/// How long a stranger may take to go.
const GOES_WITHIN: Duration = Duration::from_millis(20);

/// The places of one server. Who has shown a live session, a sync token or an enrolled device keeps its place; of all others
/// the oldest goes when a new one comes and there is none left. So whoever is known to this server gets in at once, however
/// many strangers hold on to it.
pub(super) struct Places {
    all: Arc<Semaphore>,
    of_one: usize,
    loopback_counts: bool,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    /// Connections by address.
    taken: HashMap<IpAddr, usize>,
    /// Those that have shown nothing yet, the oldest first.
    strangers: BTreeMap<u64, Stranger>,
    next: u64,
}

struct Stranger {
    /// Where the address counts.
    address: Option<IpAddr>,
    evicted: CancellationToken,
}

impl Shared {
    /// Has the oldest stranger go, of all or of one address; whether there was one.
    fn evict(&mut self, address: Option<IpAddr>) -> bool {
        let is_of = |stranger: &Stranger| address.is_none() || stranger.address == address;
        let oldest = self.strangers.iter().find(|(_, stranger)| is_of(stranger)).map(|(number, _)| *number);
        let stranger = oldest.and_then(|number| self.strangers.remove(&number));
        stranger.map(|stranger| stranger.evicted.cancel()).is_some()
    }
}

/// The place of one connection, free again when this is dropped.
pub(super) struct Permit {
    _one: OwnedSemaphorePermit,
    seat: Arc<Seat>,
    address: Option<IpAddr>,
    evicted: CancellationToken,
}

/// Which place it is, for whoever finds out who has it.
pub(super) struct Seat {
    number: u64,
    shared: Arc<Mutex<Shared>>,
}

impl Seat {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This place is not taken any more.
    pub(super) fn is_known(&self) {
        self.shared().strangers.remove(&self.number);
    }
}

impl Places {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            all: Arc::new(Semaphore::new(limits.connections)),
            of_one: limits.per_address,
            loopback_counts: limits.loopback_counts,
            shared: Arc::default(),
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more, whoever it is: that of the oldest stranger when there is no free one. Waits while all are held by
    /// those who are known; `None` never comes.
    pub(super) async fn one(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(one) = self.all.clone().try_acquire_owned() {
            return Some(one);
        }
        while self.shared().evict(None) {
            // One that cannot go at once is not waited for: the next one goes as well.
            if let Ok(one) = timeout(GOES_WITHIN, self.all.clone().acquire_owned()).await {
                return one.ok();
            }
        }
        self.all.clone().acquire_owned().await.ok()
    }

    /// Gives the place to `peer`, unless that address has enough of them that are known.
    pub(super) fn give(&self, one: OwnedSemaphorePermit, peer: IpAddr) -> Option<Permit> {
        let key = block(peer);
        let counts = self.of_one > 0 && (!key.is_loopback() || self.loopback_counts);
        let address = counts.then_some(key);
        let mut shared = self.shared();
        if counts && shared.taken.get(&key).is_some_and(|count| *count >= self.of_one) && !shared.evict(address) {
            return None;
        }
        if counts {
            *shared.taken.entry(key).or_default() += 1;
        }
        let (number, evicted) = (shared.next, CancellationToken::new());
        shared.next += 1;
        shared.strangers.insert(number, Stranger { address, evicted: evicted.clone() });
        drop(shared);
        let seat = Arc::new(Seat { number, shared: self.shared.clone() });
        Some(Permit { _one: one, seat, address, evicted })
    }
}

impl Permit {
    pub(super) fn seat(&self) -> Arc<Seat> {
        self.seat.clone()
    }

    /// Comes when another connection gets the place.
    pub(super) fn evicted(&self) -> WaitForCancellationFutureOwned {
        self.evicted.clone().cancelled_owned()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut shared = self.seat.shared();
        shared.strangers.remove(&self.seat.number);
        let Some(address) = &self.address else { return };
        if let Some(count) = shared.taken.get_mut(address) {
            *count -= 1;
            if *count == 0 {
                shared.taken.remove(address);
            }
        }
    }
}

/// What counts as one address: whoever has an IPv6 address has 2^64 of them.
fn block(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_address_has_so_many_places_and_gets_them_back() {
        let places = Places::new(&Limits { connections: 10, per_address: 2, ..Limits::default() });
        let give = async |peer: &str| {
            let one = places.one().await.expect("a place");
            places.give(one, peer.parse().expect("an address"))
        };
        let first = give("2001:db8::1").await.expect("given");
        let second = give("2001:db8::2").await.expect("given");
        first.seat().is_known();
        second.seat().is_known();
        assert!(give("2001:db8::3").await.is_none(), "the same /64");
        assert!(give("2001:db8:0:1::3").await.is_some(), "another /64");
        assert!(give("::ffff:10.0.0.1").await.is_some());
        drop(first);
        assert!(give("2001:db8::3").await.is_some());
        let on_this_machine = [give("127.0.0.1").await, give("127.0.0.1").await, give("127.0.0.1").await];
        assert!(on_this_machine.iter().all(Option::is_some));
    }

    #[tokio::test]
    async fn who_is_known_keeps_its_place_and_of_strangers_the_oldest_goes() {
        let places = Places::new(&Limits { connections: 3, per_address: 2, ..Limits::default() });
        let give = async |peer: &str| {
            let one = places.one().await.expect("a place");
            places.give(one, peer.parse().expect("an address"))
        };
        let known = give("10.0.0.1").await.expect("given");
        known.seat().is_known();
        let stranger = give("10.0.0.1").await.expect("given");
        let younger = give("10.0.0.2").await.expect("given");
        // Every place is taken: the oldest stranger goes, and with it goes the share of its address.
        let waits = give("10.0.0.3");
        let goes = async {
            stranger.evicted().await;
            drop(stranger);
        };
        let (next, ()) = tokio::join!(waits, goes);
        let next = next.expect("given");
        next.seat().is_known();
        drop(younger);
        // One address: its own strangers go first, and others are left alone.
        let first = give("10.0.0.3").await.expect("given");
        drop(known);
        let _second = give("10.0.0.3").await.expect("the place of the first");
        assert!(first.evicted.is_cancelled() && !next.evicted.is_cancelled());
    }
}
