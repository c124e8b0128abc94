//! Who may connect: so many in all, so many of one address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Limits;

/// The places of one server.
pub struct Places {
    all: Arc<Semaphore>,
    of_one: usize,
    loopback_counts: bool,
    taken: Arc<Mutex<Counts>>,
}

/// Connections by address.
type Counts = HashMap<IpAddr, usize>;

/// The place of one connection, free again when this is dropped.
pub struct Place {
    _one: OwnedSemaphorePermit,
    counted: Option<(IpAddr, Arc<Mutex<Counts>>)>,
}

impl Places {
    pub fn new(limits: &Limits) -> Self {
        Self {
            all: Arc::new(Semaphore::new(limits.connections)),
            of_one: limits.per_address,
            loopback_counts: limits.loopback_counts,
            taken: Arc::default(),
        }
    }

    /// Waits until there is a place for one more, whoever it is; `None` never comes.
    pub async fn one(&self) -> Option<OwnedSemaphorePermit> {
        self.all.clone().acquire_owned().await.ok()
    }

    /// Gives the place to `peer`, unless that address has enough of them.
    pub fn give(&self, one: OwnedSemaphorePermit, peer: IpAddr) -> Option<Place> {
        let key = block(peer);
        if self.of_one == 0 || (key.is_loopback() && !self.loopback_counts) {
            return Some(Place { _one: one, counted: None });
        }
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(key).or_default();
        if *count >= self.of_one {
            return None;
        }
        *count += 1;
        Some(Place { _one: one, counted: Some((key, self.taken.clone())) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some((key, taken)) = &self.counted else { return };
        let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                taken.remove(key);
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
        let _second = give("2001:db8::2").await.expect("given");
        assert!(give("2001:db8::3").await.is_none(), "the same /64");
        assert!(give("2001:db8:0:1::3").await.is_some(), "another /64");
        assert!(give("::ffff:10.0.0.1").await.is_some());
        drop(first);
        assert!(give("2001:db8::3").await.is_some());
        let on_this_machine = [give("127.0.0.1").await, give("127.0.0.1").await, give("127.0.0.1").await];
        assert!(on_this_machine.iter().all(Option::is_some));
    }
}
