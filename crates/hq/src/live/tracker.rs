//! What stores did and said lately, kept in memory and written set-wise, every second: no request writes anything of it.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tillkeep_model::Instant;
use tillkeep_model::wire::Ended;
use tillkeep_storage::entity::store_node;
use tillkeep_storage::nodes::{self, Heard, Line, Said};
use tillkeep_storage::sync_log::{self, Pulled};
use tillkeep_storage::tags::Head;
use tillkeep_storage::{Db, DbErr, db, fault, registry};
use uuid::Uuid;

use super::heads::Moved;
use super::hub::Connection;
use super::pull_progress::{News, PullProgress, Word};
use super::unwritten::Unwritten;
use super::waiting::{is_stuck, waits_ms};

#[derive(Default)]
pub struct Tracker {
    state: Mutex<State>,
    /// Of words that are compared with those before them.
    digests: RandomState,
}

#[derive(Default)]
struct State {
    kept: HashMap<(Uuid, &'static str), PullProgress>,
    /// Everything that was heard since this server started.
    stores: HashMap<Uuid, StoreContact>,
    unwritten: Unwritten,
}

/// What this server heard of a store.
#[derive(Default)]
struct StoreContact {
    heard: Heard,
    /// The newest connection: an older one that ends later says nothing of the store.
    connection: u64,
    clock_offset_ms: Option<i64>,
    /// The word that it repeats while nothing happens.
    word: Option<Repeated>,
}

/// A word of a store that says nothing new of its types, and what was made of it: the same text, with the same heads at
/// headquarters, is not read again.
#[derive(Clone)]
pub struct Repeated {
    /// A digest of its text.
    pub text: u64,
    pub heads: Moved,
    /// It says that the store has all that headquarters has.
    pub has_all: bool,
    pub said: Option<Said>,
    pub instance: Option<Uuid>,
    pub nonce: Option<Uuid>,
    pub answer: Bytes,
}

impl State {
    fn forget_word(&mut self, store_id: Uuid) {
        if let Some(known) = self.stores.get_mut(&store_id) {
            known.word = None;
        }
    }
}

/// How the outboxes of connected stores stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Stores with an oldest entry that waits for too long.
    pub stuck: usize,
    /// For how long the oldest of all has waited.
    pub oldest_ms: i64,
}

impl Tracker {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What tells the text of a word from any other; no client can make two texts alike.
    pub fn digest(&self, text: &str) -> u64 {
        self.digests.hash_one(text)
    }

    /// What was made of this word when the store said it last, if nothing happened since.
    pub fn repeated(&self, store_id: Uuid, text: u64, heads: Moved, now: Instant) -> Option<Repeated> {
        let mut state = self.lock();
        let word = state.stores.get(&store_id)?.word.as_ref();
        let word = word.filter(|word| word.text == text && word.heads == heads)?.clone();
        if word.has_all {
            state.unwritten.quiet(store_id, now);
        }
        Some(word)
    }

    /// A word that says nothing of types.
    pub fn repeats(&self, store_id: Uuid, word: Repeated) {
        self.lock().stores.entry(store_id).or_default().word = Some(word);
    }

    /// A store asks for a page, and has what is up to `version`.
    pub fn asked(&self, store_id: Uuid, entity_type: &'static str, version: i64, head: i64, now: Instant) {
        let mut state = self.lock();
        state.forget_word(store_id);
        let pulled = match state.kept.entry((store_id, entity_type)).or_default().asked(version, head, now) {
            News::None => return,
            News::Quiet => Pulled { since: version, success_at: Some(now), ..Pulled::default() },
            News::Of(pulled) => pulled,
        };
        state.unwritten.note((store_id, entity_type), pulled);
    }

    /// A store was handed a page; whether it is kept is for the store to say.
    pub fn handed(&self, store_id: Uuid, entity_type: &'static str, since: i64, latest: i64, rows: usize) {
        let mut state = self.lock();
        state.forget_word(store_id);
        state.kept.entry((store_id, entity_type)).or_default().handed(since, latest, rows);
    }

    /// Rows that a store has of a load from nothing that is under way; nothing while it cannot store them.
    pub fn loaded(&self, store_id: Uuid, entity_type: &'static str) -> Option<i64> {
        self.lock().kept.get(&(store_id, entity_type))?.loaded()
    }

    /// A store says what it has and what it could not store, when headquarters has `heads`. When that is all of it, this is
    /// what is made of its `word` until something happens.
    pub fn has(
        &self,
        store_id: Uuid,
        have: &HashMap<&'static str, i64>,
        unstored: &HashMap<&'static str, &str>,
        heads: &BTreeMap<&'static str, Head>,
        word: Option<Repeated>,
        now: Instant,
    ) {
        let mut state = self.lock();
        state.forget_word(store_id);
        let mut is_quiet = true;
        let mut current = Vec::new();
        for entity in registry::pulled() {
            let name = entity.name;
            let head = heads.get(name).copied().unwrap_or_default().version;
            // Of a type that has no rows a store has all, without a word.
            let word =
                Word { version: have.get(name).copied().unwrap_or_default(), unstored: unstored.get(name).copied() };
            match state.kept.entry((store_id, name)).or_default().said(word, head, now) {
                News::None => is_quiet = false,
                News::Quiet => current.push((name, word.version)),
                News::Of(pulled) => {
                    is_quiet &= pulled.error.is_none() && word.version == head;
                    state.unwritten.note((store_id, name), pulled);
                }
            }
        }
        if is_quiet {
            state.unwritten.quiet(store_id, now);
            state.stores.entry(store_id).or_default().word = word;
            return;
        }
        for (name, since) in current {
            let pulled = Pulled { since, success_at: Some(now), ..Pulled::default() };
            state.unwritten.note((store_id, name), pulled);
        }
    }

    fn hear(&self, store_id: Uuid, heard: impl FnOnce(&mut StoreContact)) {
        let mut state = self.lock();
        heard(state.stores.entry(store_id).or_default());
        state.unwritten.stores.insert(store_id);
    }

    /// A store was heard of.
    pub fn seen(&self, store_id: Uuid, now: Instant) {
        self.hear(store_id, |known| known.heard.at = Some(now));
    }

    /// A process of a store was heard that says which one it is.
    pub fn process_heard(&self, store_id: Uuid, now: Instant) {
        self.hear(store_id, |known| known.heard.process_at = Some(now));
    }

    /// A store said what waits in its outbox and what is wrong with it, whichever way. True when people should be shown.
    pub fn reported(&self, store_id: Uuid, said: impl Into<Said>, now: Instant) -> bool {
        let said = said.into();
        let mut is_news = true;
        self.hear(store_id, |known| {
            let stuck = is_stuck(true, said.outbox.oldest, known.clock_offset_ms, now);
            // That the oldest entry gets older is no news before it is too old.
            let of = |said: &Said| (said.outbox.pending, said.outbox.dead_lettered, said.alarms.clone());
            let (after, before) = (of(&said), known.heard.said.replace((now, said)));
            is_news = stuck || before.is_none_or(|(_, before)| of(&before) != after);
        });
        is_news
    }

    /// How far the clock of a store is ahead of the one of this server.
    pub fn clock_is_off(&self, store_id: Uuid, offset_ms: Option<i64>) {
        self.hear(store_id, |known| known.clock_offset_ms = offset_ms);
    }

    /// A store said how many seconds its process runs.
    pub fn beat(&self, store_id: Uuid, uptime: f64, now: Instant) {
        // Whatever it says: what is no number of milliseconds is none at all.
        let uptime = Duration::try_from_secs_f64(uptime).unwrap_or_default();
        let uptime_ms = i64::try_from(uptime.as_millis()).unwrap_or_default();
        self.hear(store_id, |known| known.heard.heartbeat = Some((now, uptime_ms)));
    }

    /// A store connected to this server.
    pub fn connected(&self, connection: &Connection, here: Uuid) {
        self.hear(connection.store_id, |known| {
            if connection.number >= known.connection {
                known.connection = connection.number;
                known.heard.connection = Some((connection.connected_at, Line::Open(Some(here))));
            }
        });
    }

    /// A connection ended. With a newer one of the same store this says nothing of the store.
    pub fn ended(&self, connection: &Connection, because: Option<Ended>, now: Instant) {
        let Some(because) = because else { return };
        self.hear(connection.store_id, |known| {
            if connection.number >= known.connection {
                known.heard.connection = Some((now, Line::Ended(because)));
            }
        });
    }

    /// The token of a store that is not connected ended, or the store was taken out of use.
    pub fn shut_out(&self, store_id: Uuid, now: Instant) {
        self.hear(store_id, |known| known.heard.connection = Some((now, Line::Ended(Ended::Revoked))));
    }

    /// The newest that is known of a store, here and in the database.
    pub fn heard(&self, store_id: Uuid, node: &store_node::Model, own: Uuid) -> Heard {
        let mut here = self.lock().stores.get(&store_id).map(|known| known.heard.clone()).unwrap_or_default();
        let there = Heard::new(node);
        // That a socket ended here says nothing of the one that another server holds.
        let is_elsewhere = there.connection.and_then(|(_, line)| line.node()).is_some_and(|node| node != own);
        if is_elsewhere && here.connection.is_some_and(|(_, line)| line.ended().is_some()) {
            here.connection = None;
        }
        here.newest(there)
    }

    /// How the outboxes of these stores stand, which are connected; from memory alone.
    pub fn waiting(&self, connected: &[Uuid], now: Instant) -> Waiting {
        let state = self.lock();
        let mut waiting = Waiting::default();
        for known in connected.iter().filter_map(|store_id| state.stores.get(store_id)) {
            let Some(oldest) = known.heard.said.as_ref().and_then(|(_, said)| said.outbox.oldest) else { continue };
            waiting.stuck += usize::from(is_stuck(true, Some(oldest), known.clock_offset_ms, now));
            waiting.oldest_ms = waiting.oldest_ms.max(waits_ms(oldest, known.clock_offset_ms, now));
        }
        waiting
    }

    /// Writes what was noted; the stores of which something else is to be shown now. `own` is this server.
    pub(crate) async fn flush(&self, db: &Db, own: Uuid) -> Result<Vec<Uuid>, DbErr> {
        fault::point("tracker.flush")?;
        let (unwritten, heard) = {
            let mut state = self.lock();
            let unwritten = std::mem::take(&mut state.unwritten);
            let heard = |store_id: &Uuid| Some((*store_id, state.stores.get(store_id)?.heard.clone()));
            let heard: Vec<_> = unwritten.stores.iter().filter_map(heard).collect();
            (unwritten, heard)
        };
        if unwritten.types.is_empty() && unwritten.quiet.is_empty() && heard.is_empty() {
            return Ok(Vec::new());
        }
        let types: Vec<_> = unwritten.types.iter().map(|(key, pulled)| (*key, pulled.clone())).collect();
        let quiet: Vec<_> = unwritten.quiet.iter().map(|(store_id, at)| (*store_id, *at)).collect();
        let written = db::retry_serialization(async || {
            let tx = db.begin().await?;
            // Two servers that write of many stores, each in an order of its own, would lock each other out.
            db::take_turn(&tx, db::Turn::Heard).await?;
            sync_log::record_quiet(&tx, &quiet).await?;
            sync_log::record_pulls(&tx, &types).await?;
            nodes::hear(&tx, own, &heard).await?;
            let closed = sync_log::note_unkept(&tx, &types, &quiet).await?;
            tx.commit().await?;
            Ok(closed)
        })
        .await;
        let closed = match written {
            Ok(closed) => closed,
            Err(error) => {
                self.lock().unwritten.take_back(unwritten);
                return Err(error);
            }
        };
        let quiet = quiet.iter().map(|(store_id, _)| *store_id).filter(|_| closed > 0);
        Ok(types.iter().map(|((store_id, _), _)| *store_id).chain(quiet).collect())
    }
}
