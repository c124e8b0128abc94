//! What happens in a run: the work of people, and what goes wrong.

use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::fault;
use uuid::Uuid;

use super::schedule::Event;
use super::{HOUR, MINUTE, Run};
use crate::check::{self, Seen};
use crate::plan::Faults;
use crate::shop::{CYCLE, SENDER};

impl Run<'_> {
    pub(super) async fn happen(&mut self, event: Event) {
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
            Event::Notified(shop) => self.ring(shop, CYCLE),
            Event::Sell(shop) => self.work(shop, event, self.plan.sale_every_minutes).await,
            Event::Undo(shop) => self.work(shop, event, self.plan.undo_every_minutes).await,
            Event::Adjust(shop) | Event::Meet(shop) => {
                self.work(shop, event, self.plan.other_work_every_minutes).await;
            }
            Event::Rename(shop) => self.work(shop, event, self.plan.rename_every_minutes).await,
            Event::Drawer(shop) => self.work(shop, event, 600).await,
            Event::AtTheDrawer(shop) => self.work(shop, event, self.plan.drawer_every_minutes).await,
            Event::Edit => {
                self.reschedule(self.plan.edit_every_minutes, event);
                let stores: Vec<Uuid> = self.shops.iter().map(|shop| shop.id).collect();
                self.hq.edit(&stores).await;
                self.tell();
            }
            Event::Note => {
                self.after(10_000, Event::Note);
                if let Some(hq) = self.hq.hq.clone() {
                    tillkeep_hq::sync::rounds::note(&hq).await;
                }
            }
            Event::Resolve => {
                self.reschedule(10, event);
                self.hq.resolve_all().await;
            }
            Event::Heal => self.heal().await,
            Event::Drained => self.note_drained(true).await,
            other => self.go_wrong(other).await,
        }
    }

    /// What people of a store do, and do again after about so many minutes.
    async fn work(&mut self, shop: usize, event: Event, minutes: i64) {
        self.reschedule(minutes, event);
        let site = &mut self.shops[shop];
        if !site.is_ready() {
            return;
        }
        match event {
            Event::Sell(_) => site.sell().await,
            Event::Undo(_) => site.undo().await,
            Event::Adjust(_) => site.adjust().await,
            Event::Meet(_) => site.meet_customer().await,
            Event::Rename(_) => site.change_customer().await,
            Event::Drawer(_) => site.change_drawer().await,
            Event::AtTheDrawer(_) => site.at_the_drawer().await,
            _ => unreachable!("{event:?} is no work"),
        }
        let complaints = std::mem::take(&mut self.shops[shop].complaints);
        self.complain(complaints);
        self.ring(shop, SENDER);
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
            other => self.copy_or_restore(other).await,
        }
    }

    /// Copies of databases, and servers that begin again from one.
    async fn copy_or_restore(&mut self, event: Event) {
        match event {
            Event::Copy(shop) if self.shops[shop].till.is_some() => {
                self.crash(shop, "store copied").await;
                self.shops[shop].copy();
                self.open(shop).await;
            }
            Event::Restore(shop) => self.restore(shop, false, "store restored").await,
            Event::Reinstall(shop) => self.restore(shop, true, "store reinstalled").await,
            Event::HqCopy => {
                self.hq.close().await;
                crate::site::copy(&self.hq.dir);
                self.world.note("HQ", "copied");
                self.hq.open().await;
            }
            Event::HqRestore => {
                self.hq.close().await;
                if crate::site::restore(&self.hq.dir) {
                    self.hq_was_restored = true;
                    self.seen.iter_mut().for_each(Seen::forget_cursors);
                    self.world.note("HQ", "restored");
                    self.world.count("headquarters restored");
                }
                self.hq.open().await;
            }
            _ => {}
        }
    }

    async fn restore(&mut self, shop: usize, from_nothing: bool, what: &'static str) {
        self.crash(shop, what).await;
        self.shops[shop].restore(from_nothing);
        self.seen[shop] = Seen::default();
        self.open(shop).await;
    }

    async fn crash(&mut self, shop: usize, what: &'static str) {
        self.world.note(&self.shops[shop].code, what);
        self.world.count(what);
        self.shops[shop].close().await;
    }

    pub(super) async fn open(&mut self, shop: usize) {
        self.world.note(&self.shops[shop].code, "opens");
        self.shops[shop].open().await;
        for which in [CYCLE, SENDER] {
            let turn = self.shops[shop].loops[which].turn;
            self.after(0, Event::Wake(shop, which, turn));
        }
    }

    pub(super) async fn heal(&mut self) {
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
}
