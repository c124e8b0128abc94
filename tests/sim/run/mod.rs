//! A run: one thread, virtual time, and whatever is next in it.

mod events;
mod schedule;
mod steps;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use tempfile::TempDir;

use self::schedule::Event;
use crate::check::{self, Seen};
use crate::headquarters::Headquarters;
use crate::plan::Plan;
use crate::shop::{self, Shop};
use crate::world::World;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
/// Promise P3: so long after the heal every outbox is empty.
pub const DRAINED_WITHIN_MS: i64 = 35_000;

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

/// The same; ends when a promise is broken that begins with one of `until`.
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
    hq_was_restored: bool,
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
        hq.tax(&shops.iter().map(|shop| shop.id).collect::<Vec<_>>()).await;
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
            hq_was_restored: false,
            broken: Vec::new(),
        };
        for index in 0..plan.stores {
            run.open(index).await;
        }
        run.write_calendar();
        run
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

    async fn finish(mut self) -> Outcome {
        if self.hq.hq.is_none() {
            // Ended early.
            self.heal().await;
        }
        let hq = self.hq.hq.clone().expect("headquarters is open");
        let verdict = check::at_the_end(&hq, &self.shops, &self.world, self.hq_was_restored).await;
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

    fn complain(&mut self, problems: Vec<String>) {
        for problem in problems {
            self.world.note("!!", &problem);
            if !self.broken.contains(&problem) {
                self.broken.push(problem);
            }
        }
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
}
