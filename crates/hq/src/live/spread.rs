//! Sockets go over to a server that came back. Stores stay with the server that has their sockets, so that after a restart one of
//! several has none. A server that has far more than its share, for a while and beside the same servers, closes some of the surplus, a few a
//! second: those stores come again, and the balancer sends them on. Where that brings nothing, as the balancer sends no
//! store to the others, it is tried again ever more seldom.

use std::time::{Duration, Instant as Moment};

use uuid::Uuid;

/// The surplus has to last so long: a server that starts, leaves or died moves sockets by itself.
const LASTS: Duration = Duration::from_secs(15);
/// After the last socket that was closed, until what came of it is known: a store waits two seconds before it comes again.
const SETTLES: Duration = Duration::from_secs(15);
/// Before the next try when one brought nothing; doubled with each, up to the longest.
const SHORTEST_REST: Duration = Duration::from_mins(2);
const LONGEST_REST: Duration = Duration::from_hours(1);
/// Of the sockets of a server so many are closed in a second: one in fifty.
const PART_A_SECOND: usize = 50;

/// What one server does about the sockets that it has beyond its share.
#[derive(Debug)]
pub(crate) struct Spread {
    /// The other servers that it is measured by.
    beside: Vec<Uuid>,
    /// There is a surplus since then.
    since: Option<Moment>,
    round: Option<Round>,
    /// How long it rests when the next round brings nothing, and until when it does.
    rest: Duration,
    rests_until: Option<Moment>,
}

#[derive(Debug)]
struct Round {
    /// Sockets at its beginning, and those that were closed of them.
    had: usize,
    closed: usize,
    /// Those that are still to be closed.
    left: usize,
    closed_at: Moment,
}

impl Default for Spread {
    fn default() -> Self {
        Self { beside: Vec::new(), since: None, round: None, rest: SHORTEST_REST, rests_until: None }
    }
}

impl Spread {
    /// How many of its `own` sockets a server is to close now, beside `others` with theirs. Asked every second.
    pub(crate) fn due(&mut self, own: usize, others: &[(Uuid, usize)], now: Moment) -> usize {
        if !others.iter().map(|(id, _)| id).eq(&self.beside) {
            *self = Self { beside: others.iter().map(|(id, _)| *id).collect(), ..Self::default() };
        }
        if let Some(round) = &mut self.round {
            if round.left > 0 {
                return round.close(own, now);
            }
            if now.saturating_duration_since(round.closed_at) < SETTLES {
                return 0;
            }
            let has_helped = round.had.saturating_sub(own) * 4 >= round.closed;
            self.round = None;
            self.since = None;
            if has_helped {
                self.rest = SHORTEST_REST;
            } else {
                self.rests_until = now.checked_add(self.rest);
                self.rest = (self.rest * 2).min(LONGEST_REST);
            }
        }
        let share = (own + others.iter().map(|(_, sockets)| sockets).sum::<usize>()) / (others.len() + 1);
        if !is_far_more(own, share) {
            self.since = None;
            return 0;
        }
        let since = *self.since.get_or_insert(now);
        if now.saturating_duration_since(since) < LASTS || self.rests_until.is_some_and(|until| now < until) {
            return 0;
        }
        let mut round = Round { had: own, closed: 0, left: own - share, closed_at: now };
        let first = round.close(own, now);
        self.round = Some(round);
        first
    }
}

impl Round {
    fn close(&mut self, own: usize, now: Moment) -> usize {
        let now_due = self.left.min((own / PART_A_SECOND).max(1));
        self.left -= now_due;
        self.closed += now_due;
        self.closed_at = now;
        now_due
    }
}

/// Whether `own` is far from what chance does to a `share`: a quarter more, and of few twice the root more.
fn is_far_more(own: usize, share: usize) -> bool {
    own > share + (share / 4).max(2 * share.isqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Servers with their sockets, and a balancer that sends a store to the one that it draws.
    struct Fleet {
        servers: Vec<(Uuid, Spread, usize)>,
        sends: fn(u64) -> usize,
        /// Stores that come again, with the seconds that they wait.
        away: Vec<u64>,
        drawn: u64,
        closed: usize,
        now: Moment,
    }

    impl Fleet {
        fn new(sockets: &[usize], sends: fn(u64) -> usize) -> Self {
            let servers = sockets.iter().map(|sockets| (Uuid::now_v7(), Spread::default(), *sockets)).collect();
            Self { servers, sends, away: Vec::new(), drawn: 7, closed: 0, now: Moment::now() }
        }

        fn draw(&mut self) -> u64 {
            self.drawn = self.drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            self.drawn >> 33
        }

        fn sockets(&self) -> Vec<usize> {
            self.servers.iter().map(|(_, _, sockets)| *sockets).collect()
        }

        /// After so many seconds; the most that one server has closed in one of them.
        fn pass(&mut self, seconds: u64) -> usize {
            let mut most = 0;
            for _ in 0..seconds {
                self.now += Duration::from_secs(1);
                let seen: Vec<(Uuid, usize)> = self.servers.iter().map(|(id, _, sockets)| (*id, *sockets)).collect();
                for (id, spread, sockets) in &mut self.servers {
                    let others: Vec<_> = seen.iter().filter(|(other, _)| other != id).copied().collect();
                    let closed = spread.due(*sockets, &others, self.now);
                    assert!(closed <= *sockets, "no more than there are");
                    *sockets -= closed;
                    self.closed += closed;
                    most = most.max(closed);
                    self.away.extend(std::iter::repeat_n(2, closed));
                }
                self.away.iter_mut().for_each(|wait| *wait -= 1);
                let back = self.away.iter().filter(|wait| **wait == 0).count();
                self.away.retain(|wait| *wait > 0);
                for _ in 0..back {
                    let drawn = self.draw();
                    let place = (self.sends)(drawn) % self.servers.len();
                    self.servers[place].2 += 1;
                }
            }
            most
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "any number will do")]
    fn anywhere(drawn: u64) -> usize {
        drawn as usize
    }

    #[test]
    fn sockets_spread_over_a_server_that_came_back_a_few_a_second_and_then_stay() {
        for (sockets, share) in [(vec![0, 1000], 500), (vec![600, 600, 0], 400), (vec![24, 0], 12)] {
            let mut fleet = Fleet::new(&sockets, anywhere);
            assert_eq!(fleet.pass(14), 0, "it may pass by itself");
            let most = fleet.pass(600);
            assert!(most >= 1 && most <= sockets.iter().max().expect("one") / 50 + 1, "{most} in a second");
            assert!(fleet.sockets().iter().all(|own| !is_far_more(*own, share)), "{:?}", fleet.sockets());
            let (closed, all) = (fleet.closed, sockets.iter().sum::<usize>());
            assert!(closed < all, "{closed} of {all}");
            fleet.pass(24 * 3600);
            assert_eq!(fleet.closed, closed, "they stay where they are");
        }
    }

    #[test]
    fn where_the_balancer_sends_no_store_to_the_others_it_is_tried_ever_more_seldom() {
        let mut fleet = Fleet::new(&[100, 0], |_| 0);
        fleet.pass(90);
        assert_eq!(fleet.closed, 50, "the surplus");
        fleet.pass(24 * 3600);
        // After 2, 4, 8, 16, 32 and then 60 minutes.
        assert!((20 * 50..=30 * 50).contains(&fleet.closed), "{}", fleet.closed);
        assert_eq!(fleet.sockets()[1], 0);
        // The balancer sends there again.
        fleet.sends = anywhere;
        fleet.pass(2 * 3600);
        assert!(fleet.sockets().iter().all(|own| !is_far_more(*own, 50)), "{:?}", fleet.sockets());
    }

    #[test]
    fn a_surplus_that_passes_by_itself_and_a_fleet_that_changes_close_nothing() {
        let (mut spread, begun) = (Spread::default(), Moment::now());
        let [other, third] = [(); 2].map(|()| Uuid::now_v7());
        for second in 0..120 {
            let now = begun + Duration::from_secs(second);
            // Every ten seconds another server comes or goes.
            let others = if second / 10 % 2 == 0 { vec![(other, 0)] } else { vec![(other, 0), (third, 0)] };
            assert_eq!(spread.due(100, &others, now), 0);
        }
        let mut spread = Spread::default();
        for second in 0..120 {
            let sockets = if second % 10 == 0 { 100 } else { 0 };
            assert_eq!(spread.due(100, &[(other, sockets)], begun + Duration::from_secs(second)), 0);
        }
        // No other, and a handful.
        for second in 0..120 {
            let now = begun + Duration::from_secs(second);
            assert_eq!(Spread::default().due(100, &[], now) + Spread::default().due(4, &[(other, 0)], now), 0);
        }
        assert!(!is_far_more(4, 2) && is_far_more(16, 8) && !is_far_more(70, 60) && is_far_more(80, 60));
    }
}
