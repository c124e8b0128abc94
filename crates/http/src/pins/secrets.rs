//! What PINs are hashed with, and the three forms in which a hash is kept. `docs/security.md`, PINs.
//!
//! | Where | `pin_hash` | `pin_lookup` |
//! |---|---|---|
//! | headquarters | two slow hashes of the PIN, sealed under the root: one with a salt of the person, one with the chain's | an HMAC of the second one, by a key from the root |
//! | a store | an HMAC of the first one, by that store's own key | an HMAC of a slow hash over the second one, with that store's own salt, by that key |
//! | a store that never asked headquarters of anybody | as above | an HMAC of the second one, by that key |
//! | both, from release 0.1.0 | Argon2id with the key of the whole chain | an HMAC by that key |

use argon2::{Algorithm, Argon2, Params, PasswordVerifier, Version};
use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use tillkeep_model::wire::PinKey;
use tillkeep_storage::staff::FORMER_PIN;
use uuid::Uuid;

use super::hashed::Hashed;
use crate::files;

/// OWASP's minimum: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;

/// How a hash of headquarters, of a store and of release 0.1.0 begins.
const SEALED: &str = "$argon2id-sealed$";
const DERIVED: &str = "$argon2id-hmac$";

const SLOW: usize = 32;
const SALT: usize = 16;

type Text<T> = Result<T, String>;
type Slow = [u8; SLOW];

/// HMAC-SHA-256.
pub fn hmac(key: &[u8], data: &[u8]) -> Vec<u8> {
    // HMAC takes a key of any length; the error type is for other algorithms.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(data);
    mac.finalize().into_bytes().to_vec()
}

/// The secrets of one server.
pub(super) struct Secrets {
    salt: Vec<u8>,
    /// The key that the whole chain had in release 0.1.0, as long as a PIN is from then.
    former: Option<Vec<u8>>,
    keys: Keys,
    /// A hash that no user's PIN has, verified when there is no candidate, so that a miss costs what a hit costs.
    decoy: String,
}

enum Keys {
    /// From it follow the keys of all stores.
    Hq { root: Vec<u8> },
    Store {
        own: Vec<u8>,
        /// What sets its look-ups apart from those of other stores; none from a headquarters of an earlier release.
        salt: Option<Vec<u8>>,
    },
    /// A store with a headquarters of release 0.1.0.
    Former,
}

fn decode(text: &str) -> Text<Vec<u8>> {
    STANDARD.decode(text).map_err(|error| error.to_string())
}

/// Which secrets these are, without saying them.
pub(super) fn id_of(key: &PinKey) -> String {
    let mut hash = Sha256::new();
    for part in [key.own.as_deref().unwrap_or_default(), &key.key, &key.salt] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    // Without one it is the name that the key had before there were any.
    hash.update(key.own_salt.as_deref().unwrap_or_default().as_bytes());
    hex::encode(&hash.finalize()[..8])
}

/// As [`id_of`], of a root.
pub(super) fn root_id(root: &str) -> String {
    hex::encode(&Sha256::digest(root.as_bytes())[..8])
}

/// Whether a hash was made by release 0.1.0, with the key of the whole chain.
pub fn is_former(hash: &str) -> bool {
    hash.starts_with(FORMER_PIN)
}

fn slow_hash(pin: &str, salt: &[u8], secret: &[u8]) -> Text<Slow> {
    slow_hash_of(pin.as_bytes(), salt, secret)
}

fn slow_hash_of(bytes: &[u8], salt: &[u8], secret: &[u8]) -> Text<Slow> {
    let mut out = [0; SLOW];
    hasher(secret)?.hash_password_into(bytes, salt, &mut out).map_err(|error| error.to_string())?;
    Ok(out)
}

fn hasher(secret: &[u8]) -> Text<Argon2<'_>> {
    let params = Params::new(MEMORY_KIB, PASSES, 1, None).map_err(|error| error.to_string())?;
    Argon2::new_with_secret(secret, Algorithm::Argon2id, Version::V0x13, params).map_err(|error| error.to_string())
}

fn lookup_by(key: &[u8], slow: &Slow) -> String {
    STANDARD.encode(&hmac(key, &[b"lookup\0", slow.as_slice()].concat())[..16])
}

fn derived_by(key: &[u8], salt: &[u8], slow: &Slow) -> String {
    let mac = hmac(key, &[b"verifier\0", slow.as_slice()].concat());
    format!("{DERIVED}v=1${}${}", STANDARD.encode(salt), STANDARD.encode(mac))
}

/// The two parts of a hash that begins with `form`: its salt, and the rest.
fn parts(hash: &str, form: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    let (salt, rest) = hash.strip_prefix(form)?.strip_prefix("v=1$")?.split_once('$')?;
    Some((STANDARD.decode(salt).ok()?, STANDARD.decode(rest).ok()?))
}

impl Secrets {
    pub(super) fn new(key: &PinKey, root: Option<&str>) -> Text<Self> {
        let former = if key.key.is_empty() { None } else { Some(decode(&key.key)?) };
        let keys = match (root, &key.own) {
            (Some(root), _) => Keys::Hq { root: decode(root)? },
            (None, Some(own)) => {
                Keys::Store { own: decode(own)?, salt: key.own_salt.as_deref().map(decode).transpose()? }
            }
            (None, None) => Keys::Former,
        };
        let mut secrets = Self { salt: decode(&key.salt)?, former, keys, decoy: String::new() };
        let random: [u8; SLOW] = files::random();
        secrets.decoy = match &secrets.keys {
            Keys::Hq { root } => seal(&sealing(root), &files::random::<SALT>(), &random, &random)?,
            Keys::Store { own, .. } => derived_by(own, &files::random::<SALT>(), &random),
            Keys::Former => former_decoy()?,
        };
        Ok(secrets)
    }

    fn lookup_key(&self) -> Option<Vec<u8>> {
        match &self.keys {
            Keys::Hq { root } => Some(hmac(root, b"lookup")),
            Keys::Store { own, .. } => Some(own.clone()),
            Keys::Former => None,
        }
    }

    /// What names of people are kept by who do not exist.
    pub(super) fn base(&self) -> &[u8] {
        match &self.keys {
            Keys::Hq { root: key } | Keys::Store { own: key, .. } => key,
            Keys::Former => self.former.as_deref().unwrap_or_default(),
        }
    }

    /// Slow hashes that a look-up takes: one more with a salt of the store, and one more as long as there are PINs from release
    /// 0.1.0.
    pub(super) fn lookups(&self) -> u64 {
        u64::from(!matches!(self.keys, Keys::Former))
            + u64::from(self.store_salt().is_some())
            + u64::from(self.former.is_some())
    }

    fn store_salt(&self) -> Option<&[u8]> {
        match &self.keys {
            Keys::Store { salt, .. } => salt.as_deref(),
            Keys::Hq { .. } | Keys::Former => None,
        }
    }

    /// The look-up keys that a PIN may be kept under, the present one first.
    pub(super) fn lookup(&self, pin: &str) -> Text<Vec<String>> {
        let mut found = Vec::with_capacity(3);
        if let Some(key) = self.lookup_key() {
            let common = slow_hash(pin, &self.salt, &[])?;
            if let Some(salt) = self.store_salt() {
                found.push(lookup_by(&key, &slow_hash_of(&common, salt, &[])?));
            }
            // A store with a new salt has people under what they were found by before it, until it has reloaded them.
            found.push(lookup_by(&key, &common));
        }
        found.extend(self.former_lookup(pin)?);
        Ok(found)
    }

    fn former_lookup(&self, pin: &str) -> Text<Option<String>> {
        let Some(key) = &self.former else { return Ok(None) };
        let slow = slow_hash(pin, &self.salt, key)?;
        Ok(Some(STANDARD.encode(&hmac(key, &slow)[..16])))
    }

    /// A new PIN, as headquarters keeps it.
    pub(super) fn hash(&self, pin: &str) -> Text<Hashed> {
        let Keys::Hq { root } = &self.keys else { return Err("PINs are made at headquarters".to_owned()) };
        let salt: [u8; SALT] = files::random();
        let (slow, common) = (slow_hash(pin, &salt, &[])?, slow_hash(pin, &self.salt, &[])?);
        Ok(Hashed {
            hash: seal(&sealing(root), &salt, &slow, &common)?,
            lookup: lookup_by(&hmac(root, b"lookup"), &common),
            digits: i16::try_from(pin.len()).unwrap_or(i16::MAX),
            former_lookup: self.former_lookup(pin)?,
        })
    }

    /// Whether `pin` is the one in `hash`; without a hash a decoy is verified.
    pub(super) fn verify(&self, pin: &str, hash: Option<&str>) -> bool {
        let kept = hash.unwrap_or(&self.decoy);
        let same = match &self.keys {
            _ if is_former(kept) => hasher(self.former.as_deref().unwrap_or_default())
                .is_ok_and(|hasher| hasher.verify_password(pin.as_bytes(), kept).is_ok()),
            Keys::Hq { root } => unseal(&sealing(root), kept).is_some_and(|(salt, slow, _)| {
                slow_hash(pin, &salt, &[]).is_ok_and(|typed| verify_slices_are_equal(&typed, &slow).is_ok())
            }),
            Keys::Store { own, .. } => parts(kept, DERIVED).is_some_and(|(salt, _)| {
                let typed = slow_hash(pin, &salt, &[]).map(|slow| derived_by(own, &salt, &slow));
                typed.is_ok_and(|typed| verify_slices_are_equal(typed.as_bytes(), kept.as_bytes()).is_ok())
            }),
            Keys::Former => false,
        };
        same && hash.is_some()
    }

    /// What a store verifies a PIN with that headquarters keeps as `hash`: worth nothing with another store's key. `None`
    /// for one that is kept as in release 0.1.0, which travels as it is. The look-up is that of a store without a salt.
    pub(super) fn for_store(&self, store: Uuid, hash: &str) -> Option<(String, String)> {
        let Keys::Hq { root } = &self.keys else { return None };
        let (salt, slow, common) = unseal(&sealing(root), hash)?;
        let own = own_of(root, store);
        Some((derived_by(&own, &salt, &slow), lookup_by(&own, &common)))
    }

    /// What belongs to second factors, sealed: it opens beside the same `about` alone.
    pub(super) fn seal_factor(&self, about: &str, text: &[u8]) -> Text<String> {
        let Keys::Hq { root } = &self.keys else { return Err("second factors are of headquarters".to_owned()) };
        Ok(STANDARD.encode(sealed(&hmac(root, b"factor"), about.as_bytes(), text.to_vec())?))
    }

    /// What [`Secrets::seal_factor`] sealed.
    pub(super) fn open_factor(&self, about: &str, text: &str) -> Option<Vec<u8>> {
        let Keys::Hq { root } = &self.keys else { return None };
        opened(&hmac(root, b"factor"), about.as_bytes(), &STANDARD.decode(text).ok()?)
    }

    /// What posts to a hook are signed with, sealed: it opens beside the same `about` alone.
    pub(super) fn seal_hook(&self, about: &str, text: &[u8]) -> Text<String> {
        let Keys::Hq { root } = &self.keys else { return Err("hooks are of headquarters".to_owned()) };
        Ok(STANDARD.encode(sealed(&hmac(root, b"hook"), about.as_bytes(), text.to_vec())?))
    }

    /// What [`Secrets::seal_hook`] sealed.
    pub(super) fn open_hook(&self, about: &str, text: &str) -> Option<Vec<u8>> {
        let Keys::Hq { root } = &self.keys else { return None };
        opened(&hmac(root, b"hook"), about.as_bytes(), &STANDARD.decode(text).ok()?)
    }

    /// The look-up of a store with a salt: a slow hash.
    pub(super) fn own_lookup(&self, store: Uuid, hash: &str) -> Text<Option<String>> {
        let Keys::Hq { root } = &self.keys else { return Ok(None) };
        let Some((_, _, common)) = unseal(&sealing(root), hash) else { return Ok(None) };
        let slow = slow_hash_of(&common, &salt_of(root, store), &[])?;
        Ok(Some(lookup_by(&own_of(root, store), &slow)))
    }

    /// The key of a store, with that of the whole chain if PINs from release 0.1.0 are still in use, and with a salt if the store
    /// knows what to do with it.
    pub(super) fn export(&self, store: Uuid, with_former: bool, with_salt: bool) -> Option<PinKey> {
        let Keys::Hq { root } = &self.keys else { return None };
        let former = self.former.as_ref().filter(|_| with_former).map(|key| STANDARD.encode(key));
        let own = Some(STANDARD.encode(own_of(root, store)));
        let own_salt = with_salt.then(|| STANDARD.encode(salt_of(root, store)));
        Some(named(PinKey {
            id: String::new(),
            key: former.unwrap_or_default(),
            salt: STANDARD.encode(&self.salt),
            own,
            own_salt,
        }))
    }

    /// Whether this names the key of a store in a form that it may have had: the name says that its sender had the key.
    pub(super) fn is_key_of(&self, store: Uuid, id: &str) -> bool {
        let forms = [(false, false), (false, true), (true, false), (true, true)];
        let own = forms.into_iter().filter_map(|(former, salt)| self.export(store, former, salt));
        own.chain(self.export_former()).any(|key| verify_slices_are_equal(key.id.as_bytes(), id.as_bytes()).is_ok())
    }

    /// The key of the whole chain, for stores of release 0.1.0.
    pub(super) fn export_former(&self) -> Option<PinKey> {
        let key = STANDARD.encode(self.former.as_ref()?);
        Some(named(PinKey { id: String::new(), key, salt: STANDARD.encode(&self.salt), own: None, own_salt: None }))
    }
}

fn named(key: PinKey) -> PinKey {
    PinKey { id: id_of(&key), ..key }
}

fn own_of(root: &[u8], store: Uuid) -> Vec<u8> {
    hmac(root, &[b"store\0", store.as_bytes().as_slice()].concat())
}

fn salt_of(root: &[u8], store: Uuid) -> Vec<u8> {
    let mut salt = hmac(root, &[b"look-up salt\0", store.as_bytes().as_slice()].concat());
    salt.truncate(SALT);
    salt
}

fn sealing(root: &[u8]) -> Vec<u8> {
    hmac(root, b"seal")
}

fn seal(key: &[u8], salt: &[u8], slow: &Slow, common: &Slow) -> Text<String> {
    let text = sealed(key, salt, [slow.as_slice(), common.as_slice()].concat())?;
    Ok(format!("{SEALED}v=1${}${}", STANDARD.encode(salt), STANDARD.encode(text)))
}

/// The nonce and what it seals, which opens with the same `about` alone.
fn sealed(key: &[u8], about: &[u8], mut text: Vec<u8>) -> Text<Vec<u8>> {
    let key = RandomizedNonceKey::new(&AES_256_GCM, key).map_err(|error| error.to_string())?;
    let nonce = key.seal_in_place_append_tag(Aad::from(about), &mut text).map_err(|error| error.to_string())?;
    Ok([nonce.as_ref().as_slice(), &text].concat())
}

fn opened(key: &[u8], about: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let (nonce, sealed) = text.split_at_checked(NONCE_LEN)?;
    let mut sealed = sealed.to_vec();
    let key = RandomizedNonceKey::new(&AES_256_GCM, key).ok()?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    Some(key.open_in_place(nonce, Aad::from(about), &mut sealed).ok()?.to_vec())
}

/// The salt of the person, the hash with it, and the hash with the chain's.
fn unseal(key: &[u8], hash: &str) -> Option<(Vec<u8>, Slow, Slow)> {
    let (salt, sealed) = parts(hash, SEALED)?;
    let open = opened(key, &salt, &sealed)?;
    let (slow, common) = open.split_at_checked(SLOW)?;
    let (slow, common) = (slow.try_into().ok()?, common.try_into().ok()?);
    Some((salt, slow, common))
}

fn former_decoy() -> Text<String> {
    use argon2::PasswordHasher;
    let random: [u8; SLOW] = files::random();
    Ok(hasher(&random)?.hash_password(&random).map_err(|error| error.to_string())?.to_string())
}

#[cfg(test)]
impl Secrets {
    /// A PIN as release 0.1.0 kept it.
    pub(super) fn hash_as_former(&self, pin: &str) -> (String, String) {
        use argon2::PasswordHasher;
        let key = self.former.as_deref().expect("the key of the chain");
        let hash = hasher(key).expect("a hasher").hash_password(pin.as_bytes()).expect("a hash").to_string();
        (hash, self.former_lookup(pin).expect("a hash").expect("a look-up key"))
    }
}
