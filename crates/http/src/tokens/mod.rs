//! Signed tokens and the keys they are signed with. Specification, section 2.2.
//!
//! HS256, one key ring for what people carry and one for sync tokens; `kid` in the header allows rotation. The
//! algorithm is fixed, `exp` is required (but for sync tokens), and the `type` must be the one the route wants. A new
//! key file is taken over while the server runs.

mod claims;
pub mod keys;
mod kinds;
mod ring;

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value as Json;
use tillkeep_model::Instant;

use keys::{GivenKeys, Key, KeyFile};
pub use kinds::{
    ACCESS, ACCESS_SECONDS, AccessClaims, REFRESH, REFRESH_SECONDS, RefreshClaims, STORE_SYNC, SyncClaims,
};
use ring::{KeyRing, SigningKey};

struct Rings {
    people: KeyRing,
    sync: KeyRing,
}

/// Tells one state of the key file from another.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    inode: u64,
}

/// Signs and verifies the tokens of one server.
pub struct Tokens {
    path: PathBuf,
    given: GivenKeys,
    rings: RwLock<Arc<Rings>>,
    seen: Mutex<Option<Stamp>>,
    /// Where several servers share their tokens: the keys that sign for now.
    signing: RwLock<Signing>,
}

/// The ids of the keys that sign tokens of people and of stores, where it is not the first of each.
pub type Signing = [Option<String>; 2];

/// The ids of the keys that are in front: those that would sign at a server alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Front {
    pub people: String,
    pub sync: String,
}

/// A refresh token that was verified, and what replaces it.
pub struct Presented {
    pub claims: RefreshClaims,
    /// The id of its successor: an HMAC of its own under the key that signed it, so that a lost answer can be given
    /// again, also after a new key was put in front.
    pub successor: String,
    /// What it would be under the other keys: an answer that was given again was signed by another key, perhaps.
    others: Vec<String>,
}

impl Presented {
    /// The successor for which `is_kept` holds: the one that was given out.
    pub fn given_out(&self, is_kept: impl Fn(&str) -> bool) -> Option<&str> {
        std::iter::once(&self.successor).chain(&self.others).map(String::as_str).find(|id| is_kept(id))
    }
}

impl Tokens {
    /// Reads the keys at `path`, making at the first start what was not `given`.
    pub fn open(path: &Path, given: GivenKeys, now: Instant) -> io::Result<Self> {
        if KeyFile::read(path)?.is_none() {
            let make = |given: &[Vec<u8>]| if given.is_empty() { vec![Key::new(now)] } else { Vec::new() };
            KeyFile { people: make(&given.people), sync: make(&given.sync) }.write(path)?;
        }
        let none = Rings { people: KeyRing(Vec::new()), sync: KeyRing(Vec::new()) };
        let tokens = Self {
            path: path.to_owned(),
            given,
            rings: RwLock::new(Arc::new(none)),
            seen: Mutex::new(None),
            signing: RwLock::default(),
        };
        tokens.reload(now)?;
        Ok(tokens)
    }

    /// Takes over the key file as it is now. Reads a file: not for the request threads.
    pub fn reload(&self, now: Instant) -> io::Result<()> {
        let stamp = self.stamp();
        let mut file = KeyFile::read(&self.path)?.unwrap_or_default();
        file.prune(now);
        let rings = Rings {
            people: KeyRing::read(&self.given.people, &file.people)?,
            sync: KeyRing::read(&self.given.sync, &file.sync)?,
        };
        if rings.people.0.is_empty() || rings.sync.0.is_empty() {
            return Err(io::Error::other(format!("{} has no key to sign with", self.path.display())));
        }
        *self.rings.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rings);
        // Only now: what could not be read is tried again.
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = stamp;
        Ok(())
    }

    /// Takes over the key file if it is another one than before; whether it was. Not for the request threads.
    pub fn reload_if_changed(&self, now: Instant) -> io::Result<bool> {
        let changed = self.stamp() != *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if changed {
            self.reload(now)?;
        }
        Ok(changed)
    }

    fn stamp(&self) -> Option<Stamp> {
        let data = std::fs::metadata(&self.path).ok()?;
        Some(Stamp { modified: data.modified().ok(), length: data.len(), inode: data.ino() })
    }

    fn rings(&self) -> Arc<Rings> {
        self.rings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn signing(&self) -> Signing {
        self.signing.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Signs with these keys from now on, as far as they are here: several servers agree on them.
    pub fn sign_with(&self, signing: Signing) {
        *self.signing.write().unwrap_or_else(PoisonError::into_inner) = signing;
    }

    /// The keys that would sign if this server were alone.
    pub fn front(&self) -> Front {
        let rings = self.rings();
        let first = |ring: &KeyRing| ring.0.first().map(|key| key.kid.clone()).unwrap_or_default();
        Front { people: first(&rings.people), sync: first(&rings.sync) }
    }

    /// A key of `signing` that is not here, and who holds the tokens that it signs.
    pub fn lacks(&self, signing: &Signing) -> Option<(&'static str, String)> {
        let rings = self.rings();
        let [people, sync] = signing;
        [("people", people, &rings.people), ("stores", sync, &rings.sync)].into_iter().find_map(
            |(holders, kid, ring)| {
                let kid = kid.as_ref().filter(|kid| ring.0.iter().all(|key| key.kid != **kid))?;
                Some((holders, kid.clone()))
            },
        )
    }

    pub fn sign_access(&self, claims: &AccessClaims) -> Option<String> {
        self.rings().people.sign(claims, self.signing()[0].as_deref())
    }

    pub fn sign_refresh(&self, claims: &RefreshClaims) -> Option<String> {
        self.rings().people.sign(claims, self.signing()[0].as_deref())
    }

    pub fn sign_sync(&self, claims: &SyncClaims) -> Option<String> {
        self.rings().sync.sign(claims, self.signing()[1].as_deref())
    }

    pub fn access(&self, token: &str, now: Instant) -> Option<AccessClaims> {
        let (claims, _) = self.rings().people.verify::<AccessClaims>(token, true, now)?;
        Some(claims).filter(|claims| claims.kind == ACCESS)
    }

    pub fn refresh(&self, token: &str, now: Instant) -> Option<Presented> {
        let rings = self.rings();
        let (claims, key) = rings.people.verify::<RefreshClaims>(token, true, now)?;
        if claims.kind != REFRESH {
            return None;
        }
        let under = |key: &SigningKey| URL_SAFE_NO_PAD.encode(crate::pins::hmac(&key.secret, claims.jti.as_bytes()));
        let others = rings.people.0.iter().filter(|other| other.kid != key.kid).map(under).collect();
        Some(Presented { successor: under(key), others, claims })
    }

    /// The claims of a token that this server signed, of whatever kind: the sync routes answer a wrong kind apart.
    pub fn sync(&self, token: &str, now: Instant) -> Option<SyncClaims> {
        let rings = self.rings();
        if let Some((said, _)) = rings.sync.verify(token, false, now) {
            return SyncClaims::read(said);
        }
        // What people's key signs is never a sync token, whatever it says: only its kind is reported.
        let (said, _) = rings.people.verify::<Json>(token, true, now)?;
        (said["type"] != STORE_SYNC).then(SyncClaims::of_another_kind)
    }
}

/// What a store's own sync token says, unverified: only HQ can verify it.
pub fn read_sync_token(token: &str) -> Option<SyncClaims> {
    let payload = token.split('.').nth(1)?;
    let claims: SyncClaims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
    Some(claims).filter(|claims| claims.kind == STORE_SYNC)
}

#[cfg(test)]
mod tests;
