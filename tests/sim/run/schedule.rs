//! The calendar of a run: what happens when, drawn from the seed.

use super::{DRAINED_WITHIN_MS, HOUR, MINUTE, Run};

/// When nothing moves any more after the heal.
const QUIET_AFTER_MS: i64 = 10 * MINUTE;

/// What is next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A loop's rest is over; void in another turn.
    Wake(usize, usize, u64),
    /// A request of a loop goes on; void in another life.
    Resume(usize, usize, u64),
    /// The socket tells a store that something changed.
    Notified(usize),
    Sell(usize),
    /// Money comes back, or a customer pays what is owed.
    Undo(usize),
    Adjust(usize),
    Meet(usize),
    Rename(usize),
    Drawer(usize),
    /// Something is done at a drawer that is neither a sale nor its end of the day.
    AtTheDrawer(usize),
    Edit,
    /// The background work of headquarters.
    Note,
    Resolve,
    Cut(usize),
    Crash(usize),
    Open(usize),
    HqDies,
    HqOpens,
    Fails,
    Jump(usize),
    Columns,
    Refused(usize),
    Copy(usize),
    Restore(usize),
    Reinstall(usize),
    HqCopy,
    HqRestore,
    Heal,
    Drained,
    End,
}

impl Run<'_> {
    pub(super) fn at(&mut self, time: i64, event: Event) {
        self.serial += 1;
        self.events.insert((time, self.serial), event);
    }

    pub(super) fn after(&mut self, millis: i64, event: Event) {
        self.at(self.world.time() + millis, event);
    }

    /// What happens when, apart from what follows from it.
    pub(super) fn write_calendar(&mut self) {
        let (plan, end) = (self.plan, self.plan.hours * HOUR);
        let events = plan.events;
        // Before that, the stores come up over a good line.
        let begin = 2 * MINUTE;
        self.at(begin, Event::Edit);
        self.at(begin, Event::Note);
        self.at(begin, Event::Resolve);
        for shop in 0..plan.stores {
            for event in
                [Event::Sell(shop), Event::Undo(shop), Event::Adjust(shop), Event::Meet(shop), Event::Rename(shop)]
            {
                let at = begin + self.world.between(0, 10 * MINUTE);
                self.at(at, event);
            }
            self.at(begin + self.world.between(HOUR, 9 * HOUR), Event::Drawer(shop));
            if plan.drawer_every_minutes > 0 {
                let at = begin + self.world.between(0, 10 * MINUTE);
                self.at(at, Event::AtTheDrawer(shop));
            }
            self.scatter(events.partitions, |_| Event::Cut(shop));
            self.scatter(events.store_crashes, |_| Event::Crash(shop));
            self.scatter(events.refused_entries, |_| Event::Refused(shop));
            self.scatter(events.clock_jumps, |_| Event::Jump(shop));
            self.scatter(events.reinstalls, |_| Event::Reinstall(shop));
            self.twice(events.stores_restored, Event::Copy(shop), Event::Restore(shop));
        }
        self.scatter(events.hq_crashes, |_| Event::HqDies);
        self.scatter(events.columns_added, |_| Event::Columns);
        self.scatter(events.failing_places, |_| Event::Fails);
        self.twice(events.hq_restored, Event::HqCopy, Event::HqRestore);
        self.at(end, Event::Heal);
        for minutes in 1..5 {
            self.at(end + minutes * MINUTE, Event::Resolve);
        }
        self.at(end + DRAINED_WITHIN_MS, Event::Drained);
        self.at(end + QUIET_AFTER_MS, Event::End);
    }

    /// So many times in a day, any time after the first minutes and well before the heal.
    fn moments(&mut self, per_day: i64) -> Vec<i64> {
        let end = self.plan.hours * HOUR;
        let rounding = self.world.between(0, 23);
        let times = (per_day * self.plan.hours + if per_day > 0 { rounding } else { 0 }) / 24;
        (0..times).map(|_| self.world.between(10 * MINUTE, end - 15 * MINUTE)).collect()
    }

    fn scatter(&mut self, per_day: i64, event: impl Fn(i64) -> Event) {
        for at in self.moments(per_day) {
            self.at(at, event(at));
        }
    }

    fn twice(&mut self, per_day: i64, first: Event, then: Event) {
        for at in self.moments(per_day) {
            let longest = (self.plan.longest_copy_minutes * MINUTE).min(self.plan.hours * HOUR - 12 * MINUTE - at);
            let later = at + self.world.between(2 * MINUTE, longest);
            self.at(at, first);
            self.at(later, then);
        }
    }

    /// While the world is not healed, `event` happens again after about so many minutes.
    pub(super) fn reschedule(&mut self, minutes: i64, event: Event) {
        let wait = self.world.between(1_000, 2 * minutes * MINUTE);
        if self.healed_at.is_none() && self.world.time() + wait < self.plan.hours * HOUR {
            self.after(wait, event);
        }
    }
}
