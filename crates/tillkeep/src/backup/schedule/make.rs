//! Making one backup: room for it, its files, and the older ones that go.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use metrics::counter;
use tillkeep_http::DatabaseUrl;
use tillkeep_model::Instant;
use tillkeep_storage::leases::Leases;
use tokio::time::timeout;

use super::{Free, RENEW, Schedule, WORK};
use crate::backup::dump;
use crate::backup::failure::{Because, Failure, Outcome};
use crate::backup::kept::{self, Shelf, draft_of, publish};
use crate::backup::source::{self, Known, Source};
use crate::backup::write::{self, KEYS, Scratch, Server, aside};
use crate::modes;
use crate::sealed::{self, Recipient};

impl Schedule {
    /// Makes a backup of this moment.
    pub(super) async fn make(&self, known: &Known, now: Instant) -> Outcome<()> {
        let begun = self.clock.uptime();
        let made_ready = self.on_disk(|shelf| {
            fs::create_dir_all(&shelf.directory)?;
            shelf.sweep()
        });
        made_ready.await.because("directory")?;
        let (file, bytes) = match &self.source {
            Source::File(server) => self.make_of_file(server, known.bytes, now).await?,
            Source::Shared { url, data_dir, leases } => self.make_of_shared(url, data_dir, leases, known, now).await?,
        };
        let keep = self.plan.keep;
        let removed = self.on_disk(move |shelf| shelf.keep(keep, now)).await;
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

    async fn make_of_file(&self, server: &Server, bytes: u64, now: Instant) -> Outcome<(PathBuf, u64)> {
        let recipient = self.plan.recipient.clone();
        let left = server.data_dir.clone();
        if let Err(error) = aside(move || Ok(write::sweep(&left)?)).await {
            tracing::warn!(%error, "what is left of an interrupted backup could not be removed");
        }
        let (shares, data_dir) = (self.shares, server.data_dir.clone());
        let is_shared = self.on_disk(move |shelf| shares(&data_dir, &shelf.directory)).await.because("directory")?;
        if is_shared {
            // One that is encrypted is there twice for a moment.
            let times = if recipient.is_some() { 3 } else { 2 };
            self.make_room(bytes.saturating_mul(times), now).await.because("space")?;
        } else {
            // First: old backups do not go for one that cannot be made.
            let (free, data_dir, room) = (self.free, server.data_dir.clone(), bytes.saturating_mul(2));
            let remedy = "make room there: it is copied beside its database first";
            aside(move || has_room(free, &data_dir, room, remedy)).await.because("space")?;
            self.make_room(bytes, now).await.because("space")?;
        }
        let file = self.file(now, kept::DATABASE);
        let copied = write::copy(server, now).await.because("write")?;
        let to = file.clone();
        let put = move || copied.put(&to, recipient.as_ref());
        let written = self.disk.ask(self.patience.writing(bytes), put).await.because("write")?;
        Ok((file, written.bytes))
    }

    async fn make_of_shared(
        &self,
        url: &DatabaseUrl,
        data_dir: &Path,
        leases: &Leases,
        known: &Known,
        now: Instant,
    ) -> Outcome<(PathBuf, u64)> {
        // A dump has no indexes and is compressed.
        self.make_room(known.bytes, now).await.because("space")?;
        dump::usable(known.version).await.because("tool")?;
        let file = self.file(now, kept::DUMP);
        // Nothing removes it when this is dropped, which would wait for its disk: what is left is swept away before the next one.
        let draft = draft_of(&file).context("a name").because("write")?;
        let made = draft.clone();
        self.on_disk(move |_| write::make_empty(&made)).await.because("write")?;
        let limit = self.patience.writing(known.bytes);
        let dumped = timeout(limit, self.dump(url, leases, &draft)).await.map_err(|_| too_slow(limit));
        if let Err(failure) = dumped.and_then(|dumped| dumped.because("dump")) {
            drop(self.on_disk(move |_| fs::remove_file(draft)).await);
            return Err(failure);
        }
        // Before the dump has its name, and not while there is none: keys alone look like a backup.
        for key in KEYS {
            self.keep_key(data_dir.join(key), self.file(now, &format!(".{key}"))).await.because("write")?;
        }
        let to = file.clone();
        let publish = move || {
            publish(&draft, &to)?;
            Ok(fs::metadata(&to)?.len())
        };
        let bytes = self.disk.ask(limit, publish).await.because("write")?;
        if let Err(error) = source::note(url, now).await {
            tracing::warn!(%error, "the other servers could not be told of the backup, and may make one too");
        }
        Ok((file, bytes))
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

    /// Where a backup of this moment goes.
    fn file(&self, now: Instant, end: &str) -> PathBuf {
        let sealed = if self.plan.recipient.is_some() { sealed::END } else { "" };
        self.shelf.file(now, &format!("{end}{sealed}"))
    }

    /// A key beside a dump, when it is there.
    async fn keep_key(&self, from: PathBuf, to: PathBuf) -> Result<()> {
        let recipient = self.plan.recipient.clone();
        self.disk.ask(self.patience.short, move || keep_key(&from, &to, recipient.as_ref())).await
    }

    /// Removes old backups while there is no room for a new one: rather fewer of them than none from now on.
    async fn make_room(&self, bytes: u64, now: Instant) -> Result<()> {
        let (kept, free, keep) = (self.shelf.clone(), self.free, self.plan.keep);
        self.disk.ask(self.patience.short, move || make_room(&kept, free, (bytes, keep), now)).await
    }
}

fn too_slow(limit: Duration) -> Failure {
    let error = anyhow!(
        "the dump was not written within {} s; see that the database and the disk of backup.directory answer",
        limit.as_secs()
    );
    Failure { reason: "dump", error }
}

fn keep_key(from: &Path, to: &Path, recipient: Option<&Recipient>) -> Result<()> {
    if !from.exists() {
        return Ok(());
    }
    let draft = Scratch::make(draft_of(to).context("a name")?)?;
    match recipient {
        None => modes::copy(from, &draft.0)?,
        Some(recipient) => sealed::seal(from, &mut fs::OpenOptions::new().write(true).open(&draft.0)?, recipient)?,
    }
    Ok(publish(&draft.0, to)?)
}

fn make_room(shelf: &Shelf, free: Free, (bytes, mut keep): (u64, usize), now: Instant) -> Result<()> {
    loop {
        match has_room(free, &shelf.directory, bytes, "make room, or set backup.directory to another disk") {
            Err(_) if keep > 1 => {
                keep -= 1;
                shelf.keep(keep, now)?;
            }
            done => return done,
        }
    }
}

pub(super) fn has_room(free: Free, directory: &Path, bytes: u64, remedy: &str) -> Result<()> {
    let free = free(directory).with_context(|| directory.display().to_string())?;
    if free < bytes {
        bail!(
            "{} MiB are free in {}, and a backup is made with {} MiB at the least; {remedy}",
            free >> 20,
            directory.display(),
            (bytes >> 20) + 1
        );
    }
    Ok(())
}
