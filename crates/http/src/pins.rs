//! PINs: Argon2id with a pepper that lives outside the database, and a look-up key that finds at most one candidate.
//! `docs/security.md`, section 1.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tillkeep_model::ErrorCode;
use tillkeep_model::wire::PinKey;
use tokio::sync::Semaphore;

use crate::error::{Error, Result};
use crate::files;

/// OWASP's minimum: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
/// Requests that may wait for a hash; the next one is told to come back.
const QUEUE: usize = 8;

pub(crate) fn hmac(key: &[u8], data: &[u8]) -> Vec<u8> {
    // HMAC takes a key of any length; the error type is for other algorithms.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(data);
    mac.finalize().into_bytes().to_vec()
}

/// The secrets of one chain's PINs.
#[derive(Clone)]
struct Secrets {
    id: String,
    pepper: Vec<u8>,
    salt: Vec<u8>,
    /// A hash that nobody's PIN has, verified when there is no candidate, so that a miss costs what a hit costs.
    decoy: String,
}

/// Hashes and verifies PINs off the request threads.
#[derive(Clone)]
pub struct Pins {
    path: PathBuf,
    secrets: Arc<RwLock<Option<Arc<Secrets>>>>,
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    computed: Arc<AtomicU64>,
}

/// A hashed PIN as `users` keeps it.
#[derive(Clone, Debug)]
pub struct Hashed {
    pub hash: String,
    pub lookup: String,
}

impl Pins {
    /// Reads the key file at `path` if there is one. `parallel` hashes run at once.
    pub fn open(path: &Path, parallel: usize) -> io::Result<Self> {
        let pins = Self {
            path: path.to_owned(),
            secrets: Arc::default(),
            running: Arc::new(Semaphore::new(parallel)),
            waiting: Arc::new(Semaphore::new(parallel + QUEUE)),
            computed: Arc::default(),
        };
        match std::fs::read(path) {
            Ok(bytes) => pins.adopt(&serde_json::from_slice(&bytes).map_err(io::Error::other)?)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(pins)
    }

    /// Makes the key at HQ's first start.
    pub fn ensure_key(&self) -> io::Result<()> {
        if self.key_id().is_some() {
            return Ok(());
        }
        self.install(&PinKey {
            id: uuid::Uuid::now_v7().to_string(),
            key: STANDARD.encode(files::random::<32>()),
            salt: STANDARD.encode(files::random::<16>()),
        })
    }

    /// Keeps the key that HQ sent in the handshake.
    pub fn install(&self, key: &PinKey) -> io::Result<()> {
        self.adopt(key)?;
        files::write_secret(&self.path, &serde_json::to_vec_pretty(key).map_err(io::Error::other)?)
    }

    fn adopt(&self, key: &PinKey) -> io::Result<()> {
        let decode = |text: &str| STANDARD.decode(text).map_err(io::Error::other);
        let mut secrets =
            Secrets { id: key.id.clone(), pepper: decode(&key.key)?, salt: decode(&key.salt)?, decoy: String::new() };
        secrets.decoy = secrets.hash(&STANDARD.encode(files::random::<16>())).map_err(io::Error::other)?;
        *self.secrets.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(secrets));
        Ok(())
    }

    fn secrets(&self) -> Option<Arc<Secrets>> {
        self.secrets.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The id of the key in use.
    pub fn key_id(&self) -> Option<String> {
        self.secrets().map(|secrets| secrets.id.clone())
    }

    /// Refuses while this server cannot look at any PIN.
    pub fn require_key(&self) -> Result<()> {
        self.secrets().map(|_| ()).ok_or_else(not_ready)
    }

    /// The slow hashes that were computed for requests since the start.
    pub fn computed(&self) -> u64 {
        self.computed.load(Ordering::Relaxed)
    }

    /// A name as it may be kept of somebody who perhaps does not exist, or typed a PIN into the wrong field.
    pub fn keyed(&self, name: &str) -> Result<String> {
        let secrets = self.secrets().ok_or_else(not_ready)?;
        let mac = hmac(&secrets.pepper, format!("name\0{name}").as_bytes());
        Ok(hex::encode(mac.get(..16).unwrap_or_default()))
    }

    /// The key for a store, in the handshake.
    pub fn export(&self) -> Option<PinKey> {
        let secrets = self.secrets()?;
        Some(PinKey {
            id: secrets.id.clone(),
            key: STANDARD.encode(&secrets.pepper),
            salt: STANDARD.encode(&secrets.salt),
        })
    }

    /// The hash and the look-up key of a new PIN: two slow hashes.
    pub async fn hash(&self, pin: &str) -> Result<Hashed> {
        let pin = pin.to_owned();
        self.off_thread(2, move |secrets| Ok(Hashed { hash: secrets.hash(&pin)?, lookup: secrets.lookup(&pin)? })).await
    }

    /// As [`Pins::hash`], waiting for the processor in this thread: for seeding from the command line.
    pub fn hash_here(&self, pin: &str) -> Result<Hashed> {
        let secrets = self.secrets().ok_or_else(not_ready)?;
        let both = || Ok::<_, String>(Hashed { hash: secrets.hash(pin)?, lookup: secrets.lookup(pin)? });
        both().map_err(|error| Error::internal(error))
    }

    /// The look-up key of a PIN: one slow hash.
    pub async fn lookup(&self, pin: &str) -> Result<String> {
        let pin = pin.to_owned();
        self.off_thread(1, move |secrets| secrets.lookup(&pin)).await
    }

    /// Whether `pin` is the one in `hash`; without a hash a decoy is verified. One slow hash either way.
    pub async fn verify(&self, pin: &str, hash: Option<String>) -> Result<bool> {
        let pin = pin.to_owned();
        self.off_thread(1, move |secrets| Ok(secrets.verify(&pin, hash.as_deref()))).await
    }

    /// Does `work`, which is so many slow hashes.
    async fn off_thread<T: Send + 'static>(
        &self,
        hashes: u64,
        work: impl FnOnce(&Secrets) -> std::result::Result<T, String> + Send + 'static,
    ) -> Result<T> {
        let secrets = self.secrets().ok_or_else(not_ready)?;
        let place = self.waiting.clone().try_acquire_owned().map_err(|_| {
            Error::new(ErrorCode::TooManyRequests, "too many sign-ins at once; try again").retry_after(1)
        })?;
        let turn = self.running.clone().acquire_owned().await.map_err(|error| Error::internal(error))?;
        self.computed.fetch_add(hashes, Ordering::Relaxed);
        let done = tokio::task::spawn_blocking(move || {
            let out = work(&secrets);
            drop((turn, place));
            out
        });
        done.await.map_err(|error| Error::internal(error))?.map_err(|error| Error::internal(error))
    }
}

fn not_ready() -> Error {
    Error::new(ErrorCode::StoreNotReady, "this store has not reached headquarters yet; nobody can sign in before that")
        .retry_after(5)
}

impl Secrets {
    fn hasher(&self) -> std::result::Result<Argon2<'_>, String> {
        let params = Params::new(MEMORY_KIB, PASSES, 1, None).map_err(|error| error.to_string())?;
        Argon2::new_with_secret(&self.pepper, Algorithm::Argon2id, Version::V0x13, params)
            .map_err(|error| error.to_string())
    }

    fn hash(&self, pin: &str) -> std::result::Result<String, String> {
        Ok(self.hasher()?.hash_password(pin.as_bytes()).map_err(|error| error.to_string())?.to_string())
    }

    fn lookup(&self, pin: &str) -> std::result::Result<String, String> {
        let mut slow = [0; 32];
        self.hasher()?.hash_password_into(pin.as_bytes(), &self.salt, &mut slow).map_err(|error| error.to_string())?;
        Ok(STANDARD.encode(&hmac(&self.pepper, &slow)[..16]))
    }

    fn verify(&self, pin: &str, hash: Option<&str>) -> bool {
        let Ok(hasher) = self.hasher() else { return false };
        let matches = hasher.verify_password(pin.as_bytes(), hash.unwrap_or(&self.decoy)).is_ok();
        matches && hash.is_some()
    }
}

/// Digits of a PIN at the least and at the most, whatever an operator configures.
pub const SHORTEST: usize = 4;
pub const LONGEST: usize = 12;
/// Digits of a PIN that is made here.
const MADE: usize = 6;

/// Why `pin` is no good where PINs have `shortest` digits or more: too short or long, a repeat, a run or a year.
pub fn weakness(pin: &str, shortest: usize) -> Option<&'static str> {
    let digits = pin.as_bytes();
    if !(shortest..=LONGEST).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return Some("a PIN has 4 to 12 digits, or more where that was configured");
    }
    let step = |by: i16| digits.windows(2).all(|pair| i16::from(pair[1]) - i16::from(pair[0]) == by);
    if step(0) || step(1) || step(-1) {
        return Some("a PIN must not repeat one digit or count up or down");
    }
    if digits.len() == 4 && (pin.starts_with("19") || pin.starts_with("20")) {
        return Some("a PIN must not look like a year");
    }
    let half = &digits[..digits.len() / 2];
    if digits.len().is_multiple_of(2) && digits.chunks(half.len()).all(|chunk| chunk == half) {
        return Some("a PIN must not repeat itself");
    }
    None
}

/// A random PIN of six digits, or `shortest` if that is more, that is no weak one.
pub fn generate(shortest: usize) -> String {
    let length = shortest.clamp(MADE, LONGEST);
    loop {
        let mut pin = String::with_capacity(length);
        while pin.len() < length {
            let [byte] = files::random::<1>();
            // Rejection keeps every digit as likely as any other.
            if byte < 250 {
                pin.push(char::from(b'0' + byte % 10));
            }
        }
        if weakness(&pin, shortest).is_none() {
            return pin;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_runs_and_years_are_weak() {
        for pin in ["123", "1111", "1234", "987654", "1987", "2026", "12a4", "1212", "123123", "1234567890123"] {
            assert!(weakness(pin, SHORTEST).is_some(), "{pin}");
        }
        for pin in ["4821", "739154", "19870423"] {
            assert!(weakness(pin, SHORTEST).is_none(), "{pin}");
        }
        assert!(weakness("4821", 6).is_some() && weakness("482159", 6).is_none());
    }

    #[test]
    fn a_made_pin_is_as_long_as_pins_must_be() {
        for (shortest, length) in [(4, 6), (6, 6), (9, 9), (12, 12)] {
            let pin = generate(shortest);
            assert_eq!((pin.len(), weakness(&pin, shortest)), (length, None));
        }
    }

    #[tokio::test]
    async fn a_pin_is_found_by_its_look_up_key_and_verified_by_its_hash() {
        let dir = tempfile::tempdir().expect("dir");
        let pins = Pins::open(&dir.path().join("pin.key"), 1).expect("pins");
        assert_eq!(pins.verify("4821", None).await.expect_err("no key yet").code(), ErrorCode::StoreNotReady);
        pins.ensure_key().expect("key");
        let hashed = pins.hash("4821").await.expect("hash");
        assert!(hashed.hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert_eq!(pins.lookup("4821").await.expect("lookup"), hashed.lookup);
        assert!(pins.verify("4821", Some(hashed.hash.clone())).await.expect("verify"));
        assert!(!pins.verify("4822", Some(hashed.hash.clone())).await.expect("verify"));
        assert!(!pins.verify("4821", None).await.expect("decoy"));
        let again = Pins::open(&dir.path().join("pin.key"), 1).expect("pins");
        assert!(again.verify("4821", Some(hashed.hash)).await.expect("verify"), "the key survives a restart");
    }
}
