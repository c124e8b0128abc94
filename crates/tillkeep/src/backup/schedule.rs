//! Backups that a server makes by itself while it runs.
//!
//! Whatever goes wrong here is said, counted and tried again, and never keeps anybody from selling: a backup reads beside the
//! writer, and none is begun on a disk that it could fill.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Error, Result, bail};
use metrics::{counter, gauge};
use tillkeep_hq::Hq;
use tillkeep_http::{Clock, DatabaseUrl};
use tillkeep_model::Instant;
use tillkeep_storage::Db;
use tillkeep_storage::backup;
use tillkeep_storage::backup::shared::{self, Shared};
use tillkeep_storage::leases::Leases;
use tillkeep_store::Store;
use tokio_util::sync::CancellationToken;

use super::dump;
use super::kept::{self, Shelf, draft_of, publish};
use super::write::{self, KEYS, Scratch, Server, aside};
use crate::configuration::Plan;
use crate::{modes, sealed};

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

/// Makes a backup of one server whenever one is due.
pub struct Schedule {
    plan: Plan,
    shelf: Shelf,
    source: Source,
    clock: Clock,
    free: Free,
}

enum Source {
    File(Server),
    /// Headquarters on `PostgreSQL`, which several servers may have.
    Shared {
        url: DatabaseUrl,
        data_dir: PathBuf,
        leases: Leases,
    },
}

/// What is known before one is made.
struct Known {
    /// When the last one was made.
    last: Option<Instant>,
    /// When the database was made, as far as that matters.
    since: Option<Instant>,
    /// What the database takes.
    bytes: u64,
    /// The version of a `PostgreSQL`.
    version: i32,
}

/// Why there is no backup, in the words of the metric.
struct Failure {
    reason: &'static str,
    error: Error,
}

type Outcome<T> = std::result::Result<T, Failure>;

trait Because<T> {
    fn because(self, reason: &'static str) -> Outcome<T>;
}

impl<T, E: Into<Error>> Because<T> for std::result::Result<T, E> {
    fn because(self, reason: &'static str) -> Outcome<T> {
        self.map_err(|error| Failure { reason, error: error.into() })
    }
}

/// When the next backup is due: so long after the last one, or else after the database was made. What was made in the future
/// says only that a clock was wrong.
fn due(last: Option<Instant>, since: Option<Instant>, every: Duration, now: Instant) -> Instant {
    last.or(since).filter(|from| *from <= now).map_or(now, |from| from.plus_millis(millis(every)))
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// Room for whoever is not this server's administrator.
fn free(directory: &Path) -> io::Result<u64> {
    let about = rustix::fs::statvfs(directory)?;
    Ok(about.f_bavail.saturating_mul(about.f_frsize))
}

impl Schedule {
    /// Of a store.
    pub fn of_store(plan: Plan, store: &Store) -> Self {
        let data_dir = store.settings.data_dir.clone();
        let source = Source::File(Server { database: data_dir.join(write::DATABASE), data_dir });
        let shelf = Shelf::new(plan.directory.clone(), Some(&store.code));
        Self { plan, shelf, source, clock: store.clock.clone(), free }
    }

    /// Of headquarters with these settings.
    pub fn of_hq(plan: Plan, settings: &tillkeep_hq::Settings, hq: &Arc<Hq>) -> Self {
        let data_dir = settings.data_dir.clone();
        let file = match &settings.database_url {
            None => Some(data_dir.join(write::DATABASE)),
            Some(url) => Db::file_of_url(url.expose()),
        };
        let source = match (file, &settings.database_url) {
            (None, Some(url)) => Source::Shared { url: url.clone(), data_dir, leases: hq.leases.clone() },
            (file, _) => {
                let database = file.unwrap_or_else(|| data_dir.join(write::DATABASE));
                Source::File(Server { database, data_dir })
            }
        };
        let shelf = Shelf::new(plan.directory.clone(), None);
        Self { plan, shelf, source, clock: hq.clock.clone(), free }
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
        if let Err(error) = self.sweep() {
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
    fn sweep(&self) -> io::Result<()> {
        match &self.source {
            Source::File(server) => {
                write::sweep(&server.data_dir)?;
                self.shelf.sweep()
            }
            Source::Shared { .. } => Ok(()),
        }
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
        let here = self.shelf.newest(now).because("directory")?;
        match &self.source {
            Source::File(server) => {
                let since = if here.is_some() { None } else { age(&server.database).await.because("database")? };
                let bytes = size(&server.database).because("database")?;
                Ok(Known { last: here, since, bytes, version: 0 })
            }
            Source::Shared { url, .. } => {
                let found = look(url).await.because("database")?;
                // Another server's clock may be a little ahead.
                let noted = found.last.filter(|last| last.millis_since(now) < millis(self.plan.every));
                let last = here.max(noted.map(|last| last.min(now)));
                Ok(Known { last, since: found.since, bytes: found.bytes, version: found.version })
            }
        }
    }

    async fn make(&self, known: &Known, now: Instant) -> Outcome<()> {
        let begun = self.clock.uptime();
        fs::create_dir_all(&self.shelf.directory).because("directory")?;
        self.shelf.sweep().because("directory")?;
        let file = match &self.source {
            Source::File(server) => self.make_of_file(server, known.bytes, now).await?,
            Source::Shared { url, data_dir, leases } => self.make_of_shared(url, data_dir, leases, known, now).await?,
        };
        let bytes = fs::metadata(&file).map_or(0, |about| about.len());
        let removed = self.shelf.keep(self.plan.keep, now);
        let took = self.clock.uptime().saturating_sub(begun);
        tracing::info!(file = %file.display(), bytes, ?took, "a backup was made");
        match removed {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, keep = self.plan.keep, "older backups were removed"),
            // The new one is there all the same; the next one tries again, and stops when the disk is full.
            Err(error) => {
                counter!("tillkeep_backup_failures_total", "reason" => "remove").increment(1);
                tracing::warn!(%error, "older backups could not be removed");
            }
        }
        Ok(())
    }

    async fn make_of_file(&self, server: &Server, bytes: u64, now: Instant) -> Outcome<PathBuf> {
        let recipient = self.plan.recipient.as_ref();
        // One that is encrypted is there twice for a moment, perhaps on one disk.
        let times = if recipient.is_some() { 3 } else { 2 };
        let room = bytes.saturating_mul(times);
        self.make_room(room, now).because("space")?;
        if recipient.is_some() {
            self.has_room(&server.data_dir, room).because("space")?;
        }
        let file = self.file(now, kept::DATABASE);
        write::write(server, &file, recipient, now).await.because("write")?;
        Ok(file)
    }

    async fn make_of_shared(
        &self,
        url: &DatabaseUrl,
        data_dir: &Path,
        leases: &Leases,
        known: &Known,
        now: Instant,
    ) -> Outcome<PathBuf> {
        // A dump has no indexes and is compressed.
        self.make_room(known.bytes, now).because("space")?;
        dump::usable(known.version).await.because("tool")?;
        let file = self.file(now, kept::DUMP);
        let draft = draft_of(&file).context("a name").and_then(|draft| Ok(Scratch::make(draft)?)).because("write")?;
        self.dump(url, leases, &draft.0).await.because("dump")?;
        // Before the dump has its name, and not while there is none: keys alone look like a backup.
        for key in KEYS {
            self.keep_key(&data_dir.join(key), self.file(now, &format!(".{key}"))).await.because("write")?;
        }
        let to = file.clone();
        aside(move || Ok(publish(&draft.0, &to)?)).await.because("write")?;
        if let Err(error) = note(url, now).await {
            tracing::warn!(%error, "the other servers could not be told of the backup, and may make one too");
        }
        Ok(file)
    }

    /// Dumps, and says meanwhile that this server does.
    async fn dump(&self, url: &DatabaseUrl, leases: &Leases, to: &Path) -> Result<()> {
        let dumped = dump::write(url.expose(), to, self.plan.recipient.as_ref());
        tokio::pin!(dumped);
        loop {
            tokio::select! {
                dumped = &mut dumped => return dumped,
                () = tokio::time::sleep(RENEW) => {
                    // Without it another server may make one too, which does no harm.
                    if let Err(error) = leases.take(WORK).await {
                        tracing::warn!(%error, "that this server makes a backup could not be said again");
                    }
                }
            }
        }
    }

    /// Removes old backups while there is no room for a new one: rather fewer of them than none from now on.
    fn make_room(&self, bytes: u64, now: Instant) -> Result<()> {
        let mut keep = self.plan.keep;
        loop {
            match self.has_room(&self.shelf.directory, bytes) {
                Err(_) if keep > 1 => {
                    keep -= 1;
                    self.shelf.keep(keep, now)?;
                }
                done => return done,
            }
        }
    }

    /// Where a backup of this moment goes.
    fn file(&self, now: Instant, end: &str) -> PathBuf {
        let sealed = if self.plan.recipient.is_some() { sealed::END } else { "" };
        self.shelf.file(now, &format!("{end}{sealed}"))
    }

    /// A key beside a dump, when it is there.
    async fn keep_key(&self, from: &Path, to: PathBuf) -> Result<()> {
        if !from.exists() {
            return Ok(());
        }
        let (from, recipient) = (from.to_owned(), self.plan.recipient.clone());
        aside(move || {
            let draft = Scratch::make(draft_of(&to).context("a name")?)?;
            match recipient {
                None => modes::copy(&from, &draft.0)?,
                Some(recipient) => {
                    sealed::seal(&from, &mut fs::OpenOptions::new().write(true).open(&draft.0)?, &recipient)?;
                }
            }
            Ok(publish(&draft.0, &to)?)
        })
        .await
    }

    fn has_room(&self, directory: &Path, bytes: u64) -> Result<()> {
        let free = (self.free)(directory).with_context(|| directory.display().to_string())?;
        if free < bytes {
            bail!(
                "{} MiB are free in {}, and a backup is made with {} MiB at the least; make room, or set backup.directory to \
                 another disk",
                free >> 20,
                directory.display(),
                (bytes >> 20) + 1
            );
        }
        Ok(())
    }
}

fn succeeded(last: Instant) {
    let seconds = u32::try_from(last.millis() / 1000).unwrap_or_default();
    gauge!("tillkeep_backup_last_success_timestamp_seconds").set(seconds);
}

/// Bytes of a database with its log.
fn size(database: &Path) -> io::Result<u64> {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    let log = fs::metadata(log).map_or(0, |about| about.len());
    Ok(fs::metadata(database)?.len().saturating_add(log))
}

/// When the database in a file was made.
async fn age(database: &Path) -> Result<Option<Instant>> {
    let conn = Db::open_to_read(&Db::url_of_file(database)).await?;
    let made = backup::made_at(&conn).await;
    conn.close().await?;
    Ok(made?)
}

/// Asks `PostgreSQL`, on a connection that is there for this alone.
async fn look(url: &DatabaseUrl) -> Result<Shared> {
    let conn = Db::open_to_read(url.expose()).await?;
    let found = shared::look(&conn).await;
    conn.close().await?;
    Ok(found?)
}

async fn note(url: &DatabaseUrl, made: Instant) -> Result<()> {
    let conn = Db::open_to_read(url.expose()).await?;
    let noted = shared::note(&conn, made).await;
    conn.close().await?;
    Ok(noted?)
}

#[cfg(test)]
mod tests;
