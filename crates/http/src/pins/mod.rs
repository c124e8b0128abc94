//! PINs: slow hashes off the request threads, with secrets that live outside the database. `docs/security.md`, PINs.

mod hashed;
mod quality;
mod secrets;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use tillkeep_model::ErrorCode;
use tillkeep_model::wire::PinKey;
use tokio::sync::{Mutex, OwnedMutexGuard, Semaphore};
use uuid::Uuid;

pub use hashed::Hashed;
pub use quality::{LONGEST, SHORTEST, generate, weakness};
use secrets::{Secrets, id_of, root_id};
pub use secrets::{hmac, is_former};

use crate::error::{Error, Result};
use crate::files;

/// Requests that may wait for a hash; the next one is asked to come back.
const QUEUE: usize = 8;
/// Look-ups of stores that are made before another request may have the place.
const AT_A_TURN: usize = 4;

/// Hashes that run at once, and those that may wait for them.
#[derive(Clone)]
struct Places {
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl Places {
    fn new(parallel: usize) -> Self {
        Self { running: Arc::new(Semaphore::new(parallel)), waiting: Arc::new(Semaphore::new(parallel + QUEUE)) }
    }
}

/// Hashes and verifies PINs off the request threads.
#[derive(Clone)]
pub struct Pins {
    path: PathBuf,
    known: Arc<RwLock<Option<LoadedPinKey>>>,
    places: Places,
    /// Of what stores ask: a PIN that is mistyped anywhere in the chain takes no place of people who sign in here.
    of_stores: Places,
    /// Whoever makes look-ups of stores by the page: one at a time, so that a place stays free for people.
    deriving: Arc<Mutex<()>>,
    derived: Arc<AtomicU64>,
    computed: Arc<AtomicU64>,
}

#[derive(Clone)]
struct LoadedPinKey {
    kept: PinKeyFile,
    secrets: Arc<Secrets>,
}

impl LoadedPinKey {
    fn new(kept: PinKeyFile) -> io::Result<Self> {
        let secrets = Secrets::new(&kept.key, kept.root.as_deref()).map_err(io::Error::other)?;
        Ok(Self { kept, secrets: Arc::new(secrets) })
    }
}

/// The file `pin.key`.
#[derive(Clone, Serialize, Deserialize)]
struct PinKeyFile {
    #[serde(flatten)]
    key: PinKey,
    /// What the keys of all stores follow from; at headquarters alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    root: Option<String>,
}

/// What the keys of all stores follow from, to be kept if it is new.
pub struct Root {
    /// Which one it is, for the database to remember: PINs that were made with another one cannot be verified.
    pub id: String,
    new: Option<PinKeyFile>,
}

impl Pins {
    /// Reads the key file at `path` if there is one. `parallel` hashes run at once.
    pub fn open(path: &Path, parallel: usize) -> io::Result<Self> {
        let pins = Self {
            path: path.to_owned(),
            known: Arc::default(),
            places: Places::new(parallel),
            of_stores: Places::new(1),
            deriving: Arc::default(),
            derived: Arc::default(),
            computed: Arc::default(),
        };
        match std::fs::read(path) {
            Ok(bytes) => pins.adopt(LoadedPinKey::new(serde_json::from_slice(&bytes).map_err(io::Error::other)?)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(pins)
    }

    /// The same PINs, in the place of what stores ask.
    #[must_use]
    pub fn for_stores(&self) -> Self {
        Self { places: self.of_stores.clone(), ..self.clone() }
    }

    /// The root of headquarters: the one in the file, or one that is to be kept, at its first start and at the first one
    /// after release 0.1.0.
    pub fn root(&self) -> Root {
        let kept = self.known().map(|known| known.kept);
        if let Some(root) = kept.as_ref().and_then(|kept| kept.root.as_deref()) {
            return Root { id: root_id(root), new: None };
        }
        let key = kept.map_or_else(
            || PinKey {
                id: Uuid::now_v7().to_string(),
                key: String::new(),
                salt: STANDARD.encode(files::random::<16>()),
                own: None,
                own_salt: None,
            },
            |kept| kept.key,
        );
        let root = STANDARD.encode(files::random::<32>());
        Root { id: root_id(&root), new: Some(PinKeyFile { key, root: Some(root) }) }
    }

    /// Writes a new root to the file.
    pub fn keep_root(&self, root: Root) -> io::Result<()> {
        root.new.map_or(Ok(()), |kept| self.keep(kept))
    }

    /// Makes the secrets of headquarters if there are none.
    pub fn ensure_key(&self) -> io::Result<()> {
        self.keep_root(self.root())
    }

    /// Keeps the key that HQ sent in the handshake.
    pub fn install(&self, key: &PinKey) -> io::Result<()> {
        self.keep(PinKeyFile { key: key.clone(), root: None })
    }

    fn keep(&self, kept: PinKeyFile) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(&kept).map_err(io::Error::other)?;
        let known = LoadedPinKey::new(kept)?;
        // On disk first: a store that names its key is given it no more.
        files::write_secret(&self.path, &text)?;
        self.adopt(known);
        Ok(())
    }

    fn adopt(&self, known: LoadedPinKey) {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(known);
    }

    fn known(&self) -> Option<LoadedPinKey> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn secrets(&self) -> Option<Arc<Secrets>> {
        self.known().map(|known| known.secrets)
    }

    /// Which secrets these are, as a store names them in the handshake.
    pub fn key_id(&self) -> Option<String> {
        self.known().map(|known| id_of(&known.kept.key))
    }

    /// Whether PINs of release 0.1.0 can be verified.
    pub fn has_former(&self) -> bool {
        self.known().is_some_and(|known| !known.kept.key.key.is_empty())
    }

    /// Refuses while this server cannot look at any PIN.
    pub fn require_key(&self) -> Result<()> {
        self.secrets().map(|_| ()).ok_or_else(not_ready)
    }

    /// The slow hashes that were computed for requests since the start.
    pub fn computed(&self) -> u64 {
        self.computed.load(Ordering::Relaxed)
    }

    /// The look-ups of stores that were made since the start.
    pub fn derived_lookups(&self) -> u64 {
        self.derived.load(Ordering::Relaxed)
    }

    /// The turn of whoever makes many look-ups of stores; a single one that a person waits for at a till needs none.
    pub async fn turn_to_derive(&self) -> OwnedMutexGuard<()> {
        self.deriving.clone().lock_owned().await
    }

    /// A name as it may be kept of a user who perhaps does not exist, or typed a PIN into the wrong field.
    pub fn keyed(&self, name: &str) -> Result<String> {
        let secrets = self.secrets().ok_or_else(not_ready)?;
        let mac = hmac(secrets.base(), format!("name\0{name}").as_bytes());
        Ok(hex::encode(mac.get(..16).unwrap_or_default()))
    }

    /// What belongs to second factors, as the database may keep it: it opens beside the same `about` alone.
    pub(crate) fn seal_factor(&self, about: &str, text: &[u8]) -> Result<String> {
        let secrets = self.secrets().ok_or_else(not_ready)?;
        secrets.seal_factor(about, text).map_err(|error| Error::internal(error))
    }

    /// What [`Pins::seal_factor`] sealed; `None` for what was moved or changed.
    pub(crate) fn open_factor(&self, about: &str, text: &str) -> Option<Vec<u8>> {
        self.secrets()?.open_factor(about, text)
    }

    /// What posts to a hook are signed with, as the database may keep it: it opens beside the same `about` alone.
    pub fn seal_hook(&self, about: &str, text: &[u8]) -> Result<String> {
        let secrets = self.secrets().ok_or_else(not_ready)?;
        secrets.seal_hook(about, text).map_err(|error| Error::internal(error))
    }

    /// What [`Pins::seal_hook`] sealed; `None` for what was moved or changed.
    pub fn open_hook(&self, about: &str, text: &str) -> Option<Vec<u8>> {
        self.secrets()?.open_hook(about, text)
    }

    /// A recovery code of a user as the database may keep it.
    pub(crate) fn recovery_hash(&self, user_id: Uuid, code: &str) -> Result<String> {
        let secrets = self.secrets().ok_or_else(not_ready)?;
        Ok(hex::encode(hmac(secrets.base(), format!("recovery\0{user_id}\0{code}").as_bytes())))
    }

    /// The key of a store, in the handshake; with that of the whole chain if PINs from release 0.1.0 are in use, and with a salt
    /// for a store that makes its look-ups with it.
    pub fn for_store(&self, store: Uuid, with_former: bool, with_salt: bool) -> Option<PinKey> {
        self.secrets()?.export(store, with_former, with_salt)
    }

    /// Whether a store shows that it has had its key, in whatever form.
    pub fn is_key_of(&self, store: Uuid, id: &str) -> bool {
        self.secrets().is_some_and(|secrets| secrets.is_key_of(store, id))
    }

    /// The key that the whole chain had, for a store of release 0.1.0.
    pub fn for_former_store(&self) -> Option<PinKey> {
        let known = self.known()?;
        // Under the name by which it knows it.
        Some(PinKey { id: known.kept.key.id, ..known.secrets.export_former()? })
    }

    /// The hash and the look-up key with which `store` verifies a PIN that headquarters keeps as `hash`; `None` for one that
    /// travels as it is. The look-up key is that of a store without a salt.
    pub fn derived(&self, store: Uuid, hash: &str) -> Option<(String, String)> {
        self.secrets()?.for_store(store, hash)
    }

    /// The look-up keys with which `store`, which has a salt of its own, finds PINs that headquarters keeps as these hashes, in
    /// their order; `None` for those that travel as they are. Each is a slow hash, and they wait for a place: it takes as long as it
    /// takes, and people who sign in meanwhile have every second place.
    pub async fn own_lookups(&self, store: Uuid, hashes: Vec<String>) -> Result<Vec<Option<String>>> {
        let secrets = self.secrets().ok_or_else(not_ready)?;
        let mut made = Vec::with_capacity(hashes.len());
        for some in hashes.chunks(AT_A_TURN) {
            let turn = self.places.running.clone().acquire_owned().await.map_err(|error| Error::internal(error))?;
            self.derived.fetch_add(u64::try_from(some.len()).unwrap_or(u64::MAX), Ordering::Relaxed);
            let (secrets, some) = (secrets.clone(), some.to_vec());
            let done = tokio::task::spawn_blocking(move || {
                let out: std::result::Result<Vec<_>, String> =
                    some.iter().map(|hash| secrets.own_lookup(store, hash)).collect();
                drop(turn);
                out
            });
            made.extend(done.await.map_err(|error| Error::internal(error))?.map_err(|error| Error::internal(error))?);
        }
        Ok(made)
    }

    /// The hash and the look-up key of a new PIN: two slow hashes.
    pub async fn hash(&self, pin: &str) -> Result<Hashed> {
        let pin = pin.to_owned();
        self.off_thread(|secrets| secrets.lookups() + 1, move |secrets| secrets.hash(&pin)).await
    }

    /// As [`Pins::hash`], waiting for the processor in this thread: for seeding from the command line.
    pub fn hash_here(&self, pin: &str) -> Result<Hashed> {
        let secrets = self.secrets().ok_or_else(not_ready)?;
        secrets.hash(pin).map_err(|error| Error::internal(error))
    }

    /// The look-up keys that a user with this PIN may have: one slow hash, one more at a store with a salt of its own,
    /// and one more as long as PINs from release 0.1.0 are in use.
    pub async fn lookup(&self, pin: &str) -> Result<Vec<String>> {
        let pin = pin.to_owned();
        self.off_thread(Secrets::lookups, move |secrets| secrets.lookup(&pin)).await
    }

    /// Whether `pin` is the one in `hash`; without a hash a decoy is verified. One slow hash either way.
    pub async fn verify(&self, pin: &str, hash: Option<String>) -> Result<bool> {
        let pin = pin.to_owned();
        self.off_thread(|_| 1, move |secrets| Ok(secrets.verify(&pin, hash.as_deref()))).await
    }

    /// Does `work`, which is so many slow hashes.
    async fn off_thread<T: Send + 'static>(
        &self,
        hashes: impl FnOnce(&Secrets) -> u64,
        work: impl FnOnce(&Secrets) -> std::result::Result<T, String> + Send + 'static,
    ) -> Result<T> {
        let secrets = self.secrets().ok_or_else(not_ready)?;
        let place = self.places.waiting.clone().try_acquire_owned().map_err(|_| {
            Error::new(ErrorCode::TooManyRequests, "too many sign-ins at once; try again").retry_after(1)
        })?;
        let turn = self.places.running.clone().acquire_owned().await.map_err(|error| Error::internal(error))?;
        self.computed.fetch_add(hashes(&secrets), Ordering::Relaxed);
        let done = tokio::task::spawn_blocking(move || {
            let out = work(&secrets);
            drop((turn, place));
            out
        });
        done.await.map_err(|error| Error::internal(error))?.map_err(|error| Error::internal(error))
    }
}

fn not_ready() -> Error {
    Error::new(ErrorCode::StoreNotReady, "this store has no key for PINs: it has not reached headquarters yet, or an administrator there has to allow that it gets its key again")
        .retry_after(5)
}

#[cfg(test)]
mod tests;
