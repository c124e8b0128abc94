//! Backups that a server makes by itself while it runs.
//!
//! Whatever goes wrong here is said, counted and tried again, and never keeps anybody from selling: a backup reads beside the
//! writer, and none is begun on a disk that it could fill.

mod make;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use metrics::{counter, gauge};
use tillkeep_hq::Hq;
use tillkeep_http::Clock;
use tillkeep_model::Instant;
use tillkeep_store::Store;
use tokio_util::sync::CancellationToken;

use super::disk::{self, Disk, Patience};
use super::failure::{Because, Failure, Outcome};
use super::kept::Shelf;
use super::source::{Known, Source, due, millis};
use super::write;
use crate::configuration::Plan;

/// From the start of the server to the first look.
const FIRST: Duration = Duration::from_secs(5);
/// A clock may be set while one waits, so that it is looked at again and again.
const LOOK: Duration = Duration::from_mins(1);
/// After a failure, unless backups are made more often.
const AGAIN: Duration = Duration::from_hours(1);
/// What other servers of headquarters leave to the one that does it, and how often that one says that it goes on.
const WORK: &str = "backup";
const RENEW: Duration = Duration::from_secs(20);

/// How much room there is in a directory.
type Free = fn(&Path) -> io::Result<u64>;
/// Whether two directories are on one disk.
type Shares = fn(&Path, &Path) -> io::Result<bool>;

/// Makes a backup of one server whenever one is due.
pub struct Schedule {
    plan: Plan,
    shelf: Shelf,
    /// Where the shelf is.
    disk: Disk,
    patience: Patience,
    source: Source,
    clock: Clock,
    free: Free,
    shares: Shares,
}

impl Schedule {
    /// Of a store.
    pub fn of_store(plan: Plan, store: &Store) -> Self {
        let source = Source::of_store(store.settings.data_dir.clone());
        let shelf = Shelf::new(plan.directory.clone(), Some(&store.code));
        Self::new(plan, shelf, source, store.clock.clone())
    }

    /// Of headquarters with these settings.
    pub fn of_hq(plan: Plan, settings: &tillkeep_hq::Settings, hq: &Arc<Hq>) -> Self {
        let shelf = Shelf::new(plan.directory.clone(), None);
        Self::new(plan, shelf, Source::of_hq(settings, &hq.leases), hq.clock.clone())
    }

    fn new(plan: Plan, shelf: Shelf, source: Source, clock: Clock) -> Self {
        let disk = Disk::new(shelf.directory.clone());
        Self { plan, shelf, disk, patience: Patience::default(), source, clock, free: disk::free, shares: disk::shares }
    }

    /// Begins to look, until the server stops. What is being made then is left, and swept away at the next start.
    pub fn start(self, stop: CancellationToken) {
        tokio::spawn(async move {
            tokio::select! {
                () = self.run() => {}
                () = stop.cancelled() => {}
            }
        });
    }

    async fn run(&self) {
        tokio::time::sleep(FIRST).await;
        if let Err(error) = self.sweep().await {
            tracing::warn!(%error, "what is left of an interrupted backup could not be removed");
        }
        loop {
            let next = self.turn().await;
            let longest = millis(self.plan.every).saturating_add(millis(LOOK));
            loop {
                let left = next.millis_since(self.clock.now());
                // Further away than any is: the clock was set back, and what is due is reckoned anew.
                if left <= 0 || left > longest {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(left.unsigned_abs()).min(LOOK)).await;
            }
        }
    }

    /// Removes what is left of an interrupted backup. Where servers share a directory another one may be at work in it; then the
    /// one that is next does this.
    async fn sweep(&self) -> anyhow::Result<()> {
        let Source::File(server) = &self.source else { return Ok(()) };
        let data_dir = server.data_dir.clone();
        write::aside(move || Ok(write::sweep(&data_dir)?)).await?;
        self.on_disk(Shelf::sweep).await
    }

    /// Makes a backup if one is due. When to look again.
    async fn turn(&self) -> Instant {
        let now = self.clock.now();
        match self.make_if_due(now).await {
            Ok(next) => next,
            Err(Failure { reason, error }) => {
                counter!("tillkeep_backup_failures_total", "reason" => reason).increment(1);
                let again = self.plan.every.min(AGAIN);
                let (error, directory) = (format!("{error:#}"), self.shelf.directory.display().to_string());
                tracing::warn!(reason, error, directory, again_in = ?again, "no backup was made; nothing else waits for it");
                now.plus_millis(millis(again))
            }
        }
    }

    async fn make_if_due(&self, now: Instant) -> Outcome<Instant> {
        let every = self.plan.every;
        let known = self.known(now).await?;
        if let Some(last) = known.last {
            succeeded(last);
        }
        let next = due(known.last, known.since, every, now);
        if next > now {
            return Ok(next);
        }
        if let Source::Shared { leases, .. } = &self.source {
            if !leases.take(WORK).await.because("database")? {
                return Ok(now.plus_millis(millis(LOOK)));
            }
            // Another server may have made one between the two.
            let last = self.known(now).await?.last;
            if last != known.last {
                return Ok(due(last, known.since, every, now).max(now.plus_millis(millis(LOOK))));
            }
        }
        self.make(&known, now).await?;
        succeeded(now);
        Ok(now.plus_millis(millis(every)))
    }

    async fn known(&self, now: Instant) -> Outcome<Known> {
        let here = self.on_disk(move |shelf| shelf.newest(now)).await.because("directory")?;
        self.source.known(here, millis(self.plan.every), now).await
    }

    /// Has something short done on the disk of the shelf.
    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shelf) -> io::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let kept = self.shelf.clone();
        self.disk.ask(self.patience.short, move || Ok(work(&kept)?)).await
    }
}

fn succeeded(last: Instant) {
    let seconds = u32::try_from(last.millis() / 1000).unwrap_or_default();
    gauge!("tillkeep_backup_last_success_timestamp_seconds").set(seconds);
}

#[cfg(test)]
mod tests;
