//! A run: one thread, virtual time, and whatever is next in it.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::path::Path;
use std::sync::Mutex;
use std::task::Poll;

use tempfile::TempDir;
use tillkeep_storage::fault;
use tillkeep_store::sync::Round;
use uuid::Uuid;

use crate::check::{self, Seen};
use crate::headquarters::Headquarters;
use crate::line;
use crate::plan::{Faults, Plan};
use crate::shop::{self, CYCLE, SENDER, Shop, launch};
use crate::world::World;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
/// Promise P3: so long after the heal every outbox is empty.
pub const DRAINED_WITHIN_MS: i64 = 35_000;
/// How often a loop that waits for the other one looks whether it is its turn.
const AT_THE_GATE_MS: i64 = 20;
/// When nothing moves any more after the heal.
const QUIET_AFTER_MS: i64 = 10 * MINUTE;

/// What is next.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A loop's rest is over; void in another turn.
    Wake(usize, usize, u64),
    /// A request of a loop goes on; void in another life.
    Resume(usize, usize, u64),
    /// The socket tells a store that something changed.
    Told(usize),
    Sell(usize),
    Adjust(usize),
    Meet(usize),
    Rename(usize),
    Drawer(usize),
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
    PutBack(usize),
    Reinstall(usize),
    HqCopy,
    HqPutBack,
    Heal,
    Drained,
    End,
}

/// What came of a run.
#[derive(Default)]
pub struct Outcome {
    pub log: Vec<String>,
    /// Promises that were broken, by the name of the invariant.
    pub broken: Vec<String>,
    pub counts: BTreeMap<&'static str, u64>,
    /// Milliseconds from the heal to an empty outbox, for each store.
    pub drained: Vec<i64>,
    pub store_hours: i64,
    pub lost: usize,
    pub doubled: usize,
}

/// The named places are those of the whole process: one run at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Runs `plan` with `seed`.
pub fn run(plan: &Plan, seed: u64) -> Outcome {
    run_until(plan, seed, &[])
}

/// The same; ends when a promise is broken whose name begins with one of `until`.
pub fn run_until(plan: &Plan, seed: u64, until: &[&str]) -> Outcome {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() }.expect("a directory");
        let mut run = Run::new(plan, seed, dir.path()).await;
        run.go(until).await;
        run.finish().await
    })
}

struct Run<'a> {
    plan: &'a Plan,
    world: std::sync::Arc<World>,
    hq: Headquarters,
    shops: Vec<Shop>,
    seen: Vec<Seen>,
    events: BTreeMap<(i64, u64), Event>,
    serial: u64,
    healed_at: Option<i64>,
    drained: BTreeMap<usize, i64>,
    hq_was_put_back: bool,
    broken: Vec<String>,
}

impl<'a> Run<'a> {
    async fn new(plan: &'a Plan, seed: u64, dir: &Path) -> Self {
        let world = World::new(seed);
        let mut hq = Headquarters::new(&world, dir.join("hq")).await;
        let mut shops = Vec::new();
        for index in 0..plan.stores {
            let code = shop::code(index);
            let provisioned = hq.store(&code).await;
            shops.push(Shop::new(&world, index, provisioned, dir.join(code)));
        }
        let mut run = Self {
            plan,
            world,
            hq,
            seen: shops.iter().map(|_| Seen::default()).collect(),
            shops,
            events: BTreeMap::new(),
            serial: 0,
            healed_at: None,
            drained: BTreeMap::new(),
            hq_was_put_back: false,
            broken: Vec::new(),
        };
        for index in 0..plan.stores {
            run.open(index).await;
        }
        run.write_calendar();
        run
    }

    fn at(&mut self, time: i64, event: Event) {
        self.serial += 1;
        self.events.insert((time, self.serial), event);
    }

    fn after(&mut self, millis: i64, event: Event) {
        self.at(self.world.time() + millis, event);
    }

    /// What happens when, apart from what follows from it.
    fn write_calendar(&mut self) {
        let (plan, end) = (self.plan, self.plan.hours * HOUR);
        let events = plan.events;
        // Before that, the stores come up over a good line.
        let begin = 2 * MINUTE;
        self.at(begin, Event::Edit);
        self.at(begin, Event::Note);
        self.at(begin, Event::Resolve);
        for shop in 0..plan.stores {
            for event in [Event::Sell(shop), Event::Adjust(shop), Event::Meet(shop), Event::Rename(shop)] {
                let at = begin + self.world.between(0, 10 * MINUTE);
                self.at(at, event);
            }
            self.at(begin + self.world.between(HOUR, 9 * HOUR), Event::Drawer(shop));
            self.scatter(events.partitions, |_| Event::Cut(shop));
            self.scatter(events.store_crashes, |_| Event::Crash(shop));
            self.scatter(events.refused_entries, |_| Event::Refused(shop));
            self.scatter(events.clock_jumps, |_| Event::Jump(shop));
            self.scatter(events.reinstalls, |_| Event::Reinstall(shop));
            self.twice(events.stores_put_back, Event::Copy(shop), Event::PutBack(shop));
        }
        self.scatter(events.hq_crashes, |_| Event::HqDies);
        self.scatter(events.columns_added, |_| Event::Columns);
        self.scatter(events.failing_places, |_| Event::Fails);
        self.twice(events.hq_put_back, Event::HqCopy, Event::HqPutBack);
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

    async fn go(&mut self, until: &[&str]) {
        // The faults of the line begin with the business.
        while let Some(((time, _), event)) = self.events.pop_first() {
            self.world.clock.pass(time - self.world.time());
            if self.healed_at.is_none() && time >= 2 * MINUTE && time < self.plan.hours * HOUR {
                self.world.state().faults = self.plan.faults;
            }
            let found = self.broken.iter().any(|broken| until.iter().any(|name| broken.starts_with(name)));
            if found || matches!(event, Event::End) {
                return;
            }
            self.happen(event).await;
            self.late_requests().await;
            if std::mem::take(&mut self.world.state().died) {
                self.world.note("HQ", "dies");
                self.world.count("headquarters dies at work");
                self.hq.close().await;
                let down = self.world.between(1_000, 5 * MINUTE);
                self.after(down, Event::HqOpens);
            }
        }
    }

    /// While the world is not healed, `event` happens again after about so many minutes.
    fn again(&mut self, minutes: i64, event: Event) {
        let wait = self.world.between(1_000, 2 * minutes * MINUTE);
        if self.healed_at.is_none() && self.world.time() + wait < self.plan.hours * HOUR {
            self.after(wait, event);
        }
    }

    async fn happen(&mut self, event: Event) {
        match event {
            Event::Wake(shop, which, turn) => {
                if self.shops[shop].loops[which].turn == turn {
                    self.step(shop, which).await;
                }
            }
            Event::Resume(shop, which, life) => {
                if self.shops[shop].life == life {
                    self.advance(shop, which).await;
                }
            }
            Event::Told(shop) => self.ring(shop, CYCLE),
            Event::Sell(shop) => {
                self.again(self.plan.sale_every_minutes, event);
                if self.shops[shop].is_ready() {
                    self.shops[shop].sell().await;
                    self.ring(shop, SENDER);
                }
            }
            Event::Adjust(shop) => {
                self.again(self.plan.other_work_every_minutes, event);
                if self.shops[shop].is_ready() {
                    self.shops[shop].adjust().await;
                    self.ring(shop, SENDER);
                }
            }
            Event::Meet(shop) => {
                self.again(self.plan.other_work_every_minutes, event);
                if self.shops[shop].is_ready() {
                    self.shops[shop].meet_customer().await;
                    self.ring(shop, SENDER);
                }
            }
            Event::Rename(shop) => {
                self.again(self.plan.rename_every_minutes, event);
                if self.shops[shop].is_ready() {
                    self.shops[shop].change_customer().await;
                    self.ring(shop, SENDER);
                }
            }
            Event::Drawer(shop) => {
                self.again(600, event);
                if self.shops[shop].is_ready() {
                    self.shops[shop].change_drawer().await;
                    self.ring(shop, SENDER);
                }
            }
            Event::Edit => {
                self.again(self.plan.edit_every_minutes, event);
                let stores: Vec<Uuid> = self.shops.iter().map(|shop| shop.id).collect();
                self.hq.edit(&stores).await;
                self.tell();
            }
            Event::Note => {
                self.after(10_000, Event::Note);
                if let Some(hq) = self.hq.hq.clone() {
                    tillkeep_hq::sync::tracker::note(&hq).await;
                }
            }
            Event::Resolve => {
                self.again(10, event);
                self.hq.resolve_all().await;
            }
            other => self.go_wrong(other).await,
        }
    }

    async fn go_wrong(&mut self, event: Event) {
        match event {
            Event::Cut(shop) => {
                let longest = self.plan.events.longest_partition_minutes;
                let until = self.world.time() + self.world.between(5_000, longest * MINUTE);
                self.world.note(&self.shops[shop].code, "has no line");
                self.world.count("partitions");
                self.world.state().cut.insert(shop, until);
            }
            Event::Crash(shop) if self.shops[shop].till.is_some() => {
                self.crash(shop, "store crashes").await;
                let down = self.world.between(1_000, 10 * MINUTE);
                self.after(down, Event::Open(shop));
            }
            Event::Open(shop) if self.shops[shop].till.is_none() => {
                self.open(shop).await;
            }
            Event::HqDies => self.world.state().dying = true,
            Event::HqOpens if self.hq.hq.is_none() => {
                self.world.note("HQ", "opens");
                self.hq.open().await;
            }
            Event::Fails => {
                let places: Vec<&str> =
                    fault::PLACES.iter().map(|(name, _)| *name).filter(|name| *name != "backup.copied").collect();
                let drawn = places[self.world.index(places.len())];
                let place = self.plan.place.unwrap_or(drawn);
                let passes = self.world.up_to(2);
                self.world.note("--", format!("{place} is to fail after {passes} passes"));
                self.world.count("places that fail");
                fault::set(place, &format!("{passes}*off->1*return(error)"));
            }
            Event::Jump(shop) => {
                let by = self.world.between(-24 * HOUR, 24 * HOUR);
                // Headquarters has a clock too.
                let (name, clock) = if self.world.up_to(4) == 0 {
                    ("HQ", &self.hq.clock)
                } else {
                    (self.shops[shop].code.as_str(), &self.shops[shop].clock)
                };
                clock.advance(by);
                self.world.note(name, format!("clock jumps by {by} ms"));
                self.world.count("clock jumps");
            }
            Event::Columns => {
                // A newer release: headquarters is away for more than a cycle, and has values of which no version tells.
                let generation = {
                    let mut state = self.world.state();
                    state.columns += 1;
                    state.columns
                };
                self.world.note("HQ", "is given a column");
                self.world.count("columns added");
                if let Some(hq) = &self.hq.hq {
                    check::new_values(hq.db(), generation).await;
                }
                self.hq.close().await;
                self.after(40_000, Event::HqOpens);
            }
            Event::Refused(shop) if self.shops[shop].is_ready() => {
                self.shops[shop].be_refused().await;
                self.ring(shop, SENDER);
            }
            Event::Copy(shop) if self.shops[shop].till.is_some() => {
                self.crash(shop, "store copied").await;
                self.shops[shop].copy();
                self.open(shop).await;
            }
            Event::PutBack(shop) => self.put_back(shop, false, "store put back").await,
            Event::Reinstall(shop) => self.put_back(shop, true, "store made anew").await,
            Event::HqCopy => {
                self.hq.close().await;
                crate::site::copy(&self.hq.dir);
                self.world.note("HQ", "copied");
                self.hq.open().await;
            }
            Event::HqPutBack => {
                self.hq.close().await;
                if crate::site::put_back(&self.hq.dir) {
                    self.hq_was_put_back = true;
                    self.seen.iter_mut().for_each(Seen::forget_cursors);
                    self.world.note("HQ", "put back");
                    self.world.count("headquarters put back");
                }
                self.hq.open().await;
            }
            Event::Heal => self.heal().await,
            Event::Drained => self.note_drained(true).await,
            _ => {}
        }
    }

    async fn put_back(&mut self, shop: usize, from_nothing: bool, what: &'static str) {
        self.crash(shop, what).await;
        self.shops[shop].put_back(from_nothing);
        self.seen[shop] = Seen::default();
        self.open(shop).await;
    }

    async fn crash(&mut self, shop: usize, what: &'static str) {
        self.world.note(&self.shops[shop].code, what);
        self.world.count(what);
        self.shops[shop].close().await;
    }

    async fn open(&mut self, shop: usize) {
        self.world.note(&self.shops[shop].code, "opens");
        self.shops[shop].open().await;
        for which in [CYCLE, SENDER] {
            let turn = self.shops[shop].loops[which].turn;
            self.after(0, Event::Wake(shop, which, turn));
        }
    }

    /// A change that everybody hears of whose socket stands.
    fn tell(&mut self) {
        for shop in 0..self.shops.len() {
            if self.world.happens(700) {
                let delay = self.world.between(5, 500);
                self.after(delay, Event::Told(shop));
            }
        }
    }

    /// Something happened that a resting loop listens to.
    fn ring(&mut self, shop: usize, which: usize) {
        let this = &mut self.shops[shop].loops[which];
        let listens = this.flight.is_none() && matches!(this.rest, Some(Round::Idle(_)));
        if listens {
            this.turn += 1;
            let turn = this.turn;
            self.after(0, Event::Wake(shop, which, turn));
        } else {
            this.bell = true;
        }
    }

    async fn step(&mut self, shop: usize, which: usize) {
        let Some(store) = self.shops[shop].store() else { return };
        let this = &mut self.shops[shop].loops[which];
        let Some(actor) = this.idle.take() else { return };
        this.turn += 1;
        this.rest = None;
        this.flight = Some(launch(store, actor));
        self.advance(shop, which).await;
    }

    /// Goes on until the step is done, or waits for time to pass or for the other loop.
    async fn advance(&mut self, shop: usize, which: usize) {
        let Some(store) = self.shops[shop].store() else { return };
        let gate = &store.sync.sending;
        let others = usize::from(self.shops[shop].loops[1 - which].at_the_gate);
        let this = &mut self.shops[shop].loops[which];
        this.at_the_gate = false;
        let Some(flight) = this.flight.as_mut() else { return };
        let world = self.world.clone();
        let done = poll_fn(|context| {
            // Of a request that was given up nobody waits any more.
            world.take_parked();
            match flight.as_mut().poll(context) {
                Poll::Ready(done) => Poll::Ready(Ok(done)),
                // Whoever writes while a request waits for time to pass is done before it passes.
                Poll::Pending if store.sync.is_applying() => Poll::Pending,
                Poll::Pending => match world.take_parked() {
                    Some(until) => Poll::Ready(Err((until, false))),
                    // Only the other loop can open it, which waits for time to pass.
                    None if gate.waiting() > others => Poll::Ready(Err((world.time() + AT_THE_GATE_MS, true))),
                    None => Poll::Pending,
                },
            }
        })
        .await;
        match done {
            Err((until, at_the_gate)) => {
                self.shops[shop].loops[which].at_the_gate = at_the_gate;
                let life = self.shops[shop].life;
                self.at(until, Event::Resume(shop, which, life));
            }
            Ok((actor, round)) => {
                let this = &mut self.shops[shop].loops[which];
                (this.flight, this.idle, this.rest) = (None, Some(actor), Some(round));
                self.rest(shop, which, round).await;
            }
        }
    }

    /// The waits of the loops in `crates/store/src/sync/{cycle,sender}.rs`.
    async fn rest(&mut self, shop: usize, which: usize, round: Round) {
        let wait = match round {
            Round::Sent => 0,
            Round::Idle(wait) | Round::Wait(wait) | Round::Obey(wait) => {
                i64::try_from(wait.as_millis()).expect("short")
            }
        };
        let this = &mut self.shops[shop].loops[which];
        let rung = matches!(round, Round::Idle(_)) && std::mem::take(&mut this.bell);
        let turn = this.turn;
        self.after(if rung { 0 } else { wait }, Event::Wake(shop, which, turn));
        let Some(store) = self.shops[shop].store() else { return };
        if which == CYCLE {
            let good = store.sync.line().last_error.is_none();
            self.world.note(&self.shops[shop].code, if good { "cycle done" } else { "cycle failed" });
            if good {
                self.shops[shop].must_reach_hq = false;
                self.line_is_back(shop);
            }
            let mut problems =
                check::during(&store, &self.shops[shop], self.hq_was_put_back, &mut self.seen[shop]).await;
            if good {
                let seen = &mut self.seen[shop];
                let hq = self.hq.hq.as_deref().filter(|_| !self.hq_was_put_back && !self.shops[shop].was_put_back);
                problems.extend(check::after_a_good_cycle(hq, &store, &self.shops[shop], seen).await);
            }
            self.complain(problems);
        } else {
            self.seen[shop].note_sent(&store).await;
            if round == Round::Sent {
                self.tell();
            }
            if self.healed_at.is_some() {
                self.note_drained(false).await;
            }
        }
    }

    fn line_is_back(&mut self, shop: usize) {
        let sender = &mut self.shops[shop].loops[SENDER];
        if sender.flight.is_none() && matches!(sender.rest, Some(Round::Wait(_))) {
            sender.turn += 1;
            let turn = sender.turn;
            self.after(0, Event::Wake(shop, SENDER, turn));
        }
        self.ring(shop, SENDER);
    }

    fn complain(&mut self, problems: Vec<String>) {
        for problem in problems {
            self.world.note("!!", &problem);
            if !self.broken.contains(&problem) {
                self.broken.push(problem);
            }
        }
    }

    async fn late_requests(&mut self) {
        let now = self.world.time();
        let due = {
            let mut state = self.world.state();
            let (due, later): (Vec<_>, Vec<_>) =
                std::mem::take(&mut state.late).into_iter().partition(|late| late.1 <= now);
            state.late = later;
            due
        };
        for (shop, _, request) in due {
            let token = self.shops[shop].sync_token().to_owned();
            let path = request.path.split('?').next().unwrap_or_default().to_owned();
            let done = line::ask(&self.world, &token, request).await;
            let status = done.map_or(0, |reply| reply.status);
            self.world.note(&self.shops[shop].code, format!("late {path}: {status}"));
        }
    }

    async fn heal(&mut self) {
        self.world.note("--", "healed");
        {
            let mut state = self.world.state();
            state.faults = Faults::default();
            state.cut.clear();
            state.late.clear();
            (state.dying, state.died) = (false, false);
        }
        for (place, _) in fault::PLACES {
            fault::set(place, "off");
        }
        if self.world.state().hq.is_none() {
            self.hq.close().await;
            self.hq.open().await;
        }
        for shop in 0..self.shops.len() {
            if self.shops[shop].till.is_none() {
                self.open(shop).await;
            }
        }
        while self.hq.resolve_all().await > 0 {}
        self.healed_at = Some(self.world.time());
        self.note_drained(false).await;
    }

    /// Promise P3.
    async fn note_drained(&mut self, is_last_call: bool) {
        let since = self.world.time() - self.healed_at.unwrap_or_default();
        for shop in 0..self.shops.len() {
            if self.drained.contains_key(&shop) {
                continue;
            }
            let Some(store) = self.shops[shop].store() else { continue };
            let waiting = check::waiting(&store).await;
            if waiting.is_empty() {
                self.drained.insert(shop, since);
            } else if is_last_call {
                let code = self.shops[shop].code.clone();
                self.complain(vec![format!("P3: {code} has {} entries 35 s after the heal", waiting.len())]);
            }
        }
    }

    async fn finish(mut self) -> Outcome {
        if self.hq.hq.is_none() {
            // Ended early.
            self.heal().await;
        }
        let hq = self.hq.hq.clone().expect("headquarters is open");
        let verdict = check::at_the_end(&hq, &self.shops, self.hq_was_put_back).await;
        self.complain(verdict.broken);
        for shop in &mut self.shops {
            shop.close().await;
        }
        drop(hq);
        self.hq.close().await;
        let counts = std::mem::take(&mut self.world.state().counts);
        Outcome {
            log: self.world.take_log(),
            broken: self.broken,
            counts,
            drained: self.drained.into_values().collect(),
            store_hours: self.plan.hours * i64::try_from(self.plan.stores).expect("few"),
            lost: verdict.lost,
            doubled: verdict.doubled,
        }
    }
}
