//! The loops of the stores, a step at a time: each goes on until it waits for time to pass, or for the other loop.

use std::future::poll_fn;
use std::task::Poll;

use tillkeep_store::sync::Round;

use super::Run;
use super::schedule::Event;
use crate::check;
use crate::line;
use crate::shop::{CYCLE, SENDER, launch};

/// How often a loop that waits for the other one looks whether it is its turn.
const AT_THE_GATE_MS: i64 = 20;

impl Run<'_> {
    /// A change that every store with a standing socket hears of.
    pub(super) fn tell(&mut self) {
        for shop in 0..self.shops.len() {
            if self.world.happens(700) {
                let delay = self.world.between(5, 500);
                self.after(delay, Event::Notified(shop));
            }
        }
    }

    /// Something happened that a resting loop listens to.
    pub(super) fn ring(&mut self, shop: usize, which: usize) {
        let this = &mut self.shops[shop].loops[which];
        let listens = this.flight.is_none() && matches!(this.rest, Some(Round::Idle(_) | Round::Compare(_)));
        if listens {
            this.turn += 1;
            let turn = this.turn;
            self.after(0, Event::Wake(shop, which, turn));
        } else {
            this.bell = true;
        }
    }

    pub(super) async fn step(&mut self, shop: usize, which: usize) {
        let Some(store) = self.shops[shop].store() else { return };
        let this = &mut self.shops[shop].loops[which];
        let Some(actor) = this.idle.take() else { return };
        this.turn += 1;
        this.rest = None;
        this.flight = Some(launch(store, actor));
        self.advance(shop, which).await;
    }

    /// Goes on until the step is done, or waits for time to pass or for the other loop.
    pub(super) async fn advance(&mut self, shop: usize, which: usize) {
        let Some(store) = self.shops[shop].store() else { return };
        let gate = &store.sync.sending;
        let others = usize::from(self.shops[shop].loops[1 - which].at_the_gate);
        let this = &mut self.shops[shop].loops[which];
        this.at_the_gate = false;
        let Some(flight) = this.flight.as_mut() else { return };
        let world = self.world.clone();
        let done = poll_fn(|context| {
            // No loop waits for a request that was given up.
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
        if which == CYCLE {
            // Pages come one by one: what there is between two of them is what people sell by.
            let problem = check::taxes(&store, &self.shops[shop], &self.hq.taxes, &mut self.seen[shop]).await;
            self.complain(problem.into_iter().collect());
        }
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
            Round::Idle(wait) | Round::Wait(wait) | Round::Compare(wait) | Round::Obey(wait) => {
                i64::try_from(wait.as_millis()).expect("short")
            }
        };
        let this = &mut self.shops[shop].loops[which];
        let rung = matches!(round, Round::Idle(_) | Round::Compare(_)) && std::mem::take(&mut this.bell);
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
                check::during(&store, &self.shops[shop], self.hq_was_restored, &mut self.seen[shop]).await;
            if good {
                let seen = &mut self.seen[shop];
                let hq = self.hq.hq.as_deref().filter(|_| !self.hq_was_restored && !self.shops[shop].was_restored);
                problems.extend(check::after_a_good_cycle(hq, &store, &self.shops[shop], seen).await);
            }
            let hq = self.hq.hq.as_deref().filter(|_| good && !self.hq_was_restored);
            if let Some(hq) = hq {
                problems.extend(check::movements(hq, &self.shops[shop], &mut self.seen[shop]).await);
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

    pub(super) async fn late_requests(&mut self) {
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
}
