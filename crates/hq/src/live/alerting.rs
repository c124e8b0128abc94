//! What telling of alerts shares among its parts: the client that posts, and what was found a while ago.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use reqwest::{Client, redirect};
use tillkeep_model::Instant;
use tillkeep_storage::alerts::found::Gap;
use tokio::sync::Notify;
use uuid::Uuid;

use super::newest_backup::NewestBackup;

/// For a connection, with its TLS.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// From the first byte of a post to the last one of its answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// How often somebody makes backups who is not this server.
const NIGHTLY: Duration = Duration::from_hours(24);

/// What is missing of stores takes more than a moment to be seen, and is looked for so often.
const GAPS_EVERY_MS: i64 = 10 * 60 * 1000;
/// So long it is what is shown, unless it was looked for again: a server that looks no more, as another one does, shows nothing.
const GAPS_SHOWN_MS: i64 = 2 * GAPS_EVERY_MS;

/// What is missing of which stores.
pub(crate) type Gaps = HashMap<Uuid, Gap>;

pub(crate) struct Alerting {
    data_dir: PathBuf,
    /// Where this server makes backups by itself, and how often; nothing where another server may have made the last one.
    backups: OnceLock<Option<(PathBuf, Duration)>>,
    pub(crate) newest_backup: NewestBackup,
    /// Something is on its way.
    pub(crate) wake: Notify,
    /// Sales may have been stored, or a receiver of them was set otherwise.
    pub(crate) sales: Notify,
    client: OnceLock<Client>,
    gaps: Mutex<Option<(Instant, Gaps)>>,
}

impl Alerting {
    pub(crate) fn new(data_dir: &Path) -> Self {
        Self {
            data_dir: data_dir.to_owned(),
            backups: OnceLock::new(),
            newest_backup: NewestBackup::default(),
            wake: Notify::new(),
            sales: Notify::new(),
            client: OnceLock::new(),
            gaps: Mutex::default(),
        }
    }

    /// Where this server keeps what it has.
    pub(crate) fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Said once, when the server starts.
    pub(crate) fn backups_are(&self, made: Option<(PathBuf, Duration)>) {
        self.backups.get_or_init(|| made);
    }

    /// Where backups are looked for, and how often there should be one: each night, unless the server makes them by itself.
    pub(crate) fn backups(&self) -> Option<(PathBuf, Duration)> {
        self.backups.get().cloned().unwrap_or_else(|| Some((self.data_dir.join("backups"), NIGHTLY)))
    }

    /// Of the first post on: what the system trusts is read for it.
    pub(crate) fn client(&self) -> reqwest::Result<Client> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let client = Client::builder()
            .user_agent(concat!("tillkeep/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_WITHIN)
            .timeout(ANSWER_WITHIN)
            // Where it leads nobody has decided.
            .redirect(redirect::Policy::none())
            .no_proxy()
            // A few bytes of an answer are read, as they come.
            .no_gzip()
            .no_zstd()
            .build()?;
        Ok(self.client.get_or_init(|| client).clone())
    }

    /// What was found a while ago, unless it is time to look for it again.
    pub(crate) fn gaps(&self, now: Instant) -> Option<Gaps> {
        self.gaps_within(now, GAPS_EVERY_MS)
    }

    /// What was found last, where this server is the one that looks.
    pub(crate) fn shown_gaps(&self, now: Instant) -> Option<Gaps> {
        self.gaps_within(now, GAPS_SHOWN_MS)
    }

    fn gaps_within(&self, now: Instant, millis: i64) -> Option<Gaps> {
        let known = self.gaps.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|(at, _)| (0..millis).contains(&now.millis_since(*at))).map(|(_, gaps)| gaps.clone())
    }

    pub(crate) fn keep_gaps(&self, now: Instant, gaps: Gaps) {
        *self.gaps.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, gaps));
    }
}
