//! The keys that tokens are signed with: a file of the data directory, and what the operator hands in besides.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tillkeep_model::Instant;
use uuid::Uuid;

use super::kinds::REFRESH_SECONDS;
use crate::files;

/// Bytes of a key at the least: 256 bits.
const SHORTEST: usize = 32;

/// Which tokens a key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ring {
    /// Access and refresh tokens.
    People,
    /// Sync tokens of stores; only headquarters signs these.
    Sync,
}

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Key {
    pub(super) kid: String,
    secret: String,
    #[serde(default, rename = "madeAt", skip_serializing_if = "Option::is_none")]
    made_at: Option<Instant>,
    #[serde(default, rename = "retiredAt", skip_serializing_if = "Option::is_none")]
    retired_at: Option<Instant>,
}

/// The keys of one installation; the first of each ring signs, all of them verify.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct KeyFile {
    pub(super) people: Vec<Key>,
    pub(super) sync: Vec<Key>,
}

/// Keys that come from the environment instead of the file. The first of each list signs, all of them verify.
#[derive(Clone, Default)]
pub struct GivenKeys {
    pub people: Vec<Vec<u8>>,
    pub sync: Vec<Vec<u8>>,
}

impl fmt::Debug for GivenKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} and {} keys", self.people.len(), self.sync.len())
    }
}

/// What may be said of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    pub ring: Ring,
    pub kid: String,
    pub made_at: Option<Instant>,
    pub retired_at: Option<Instant>,
    /// Whether new tokens are signed with it.
    pub signs: bool,
}

impl Key {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            kid: Uuid::now_v7().simple().to_string(),
            secret: URL_SAFE_NO_PAD.encode(files::random::<32>()),
            made_at: Some(now),
            retired_at: None,
        }
    }

    /// Whether everything this key has signed is expired.
    fn is_spent(&self, now: Instant) -> bool {
        self.retired_at.is_some_and(|at| now.millis_since(at) >= REFRESH_SECONDS * 1000)
    }

    pub(super) fn secret(&self) -> io::Result<Vec<u8>> {
        let secret = URL_SAFE_NO_PAD.decode(&self.secret).map_err(io::Error::other)?;
        if secret.len() < SHORTEST {
            return Err(io::Error::other("a token key must have 256 bits"));
        }
        Ok(secret)
    }
}

impl KeyFile {
    /// `None` when there is no file.
    pub(super) fn read(path: &Path) -> io::Result<Option<Self>> {
        match std::fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        files::write_secret(path, &serde_json::to_vec_pretty(self).map_err(io::Error::other)?)
    }

    /// Forgets people's keys that verify nothing any more. Sync tokens do not expire, so their keys stay.
    pub(super) fn prune(&mut self, now: Instant) {
        self.people.retain(|key| !key.is_spent(now));
    }

    fn ring(&mut self, ring: Ring) -> &mut Vec<Key> {
        match ring {
            Ring::People => &mut self.people,
            Ring::Sync => &mut self.sync,
        }
    }
}

/// The id of a key that was handed in: the same wherever the key is.
pub(super) fn kid_of(secret: &[u8]) -> String {
    let mut digest = Sha256::new();
    digest.update(b"tillkeep kid\0");
    digest.update(secret);
    hex::encode(&digest.finalize()[..16])
}

/// Reads keys from text: base64 of 256 bits or more each, in the usual or the URL alphabet, between commas.
pub fn parse(text: &str) -> Result<Vec<Vec<u8>>, String> {
    let lenient = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let engines = [alphabet::STANDARD, alphabet::URL_SAFE].map(|alphabet| GeneralPurpose::new(&alphabet, lenient));
    let one = |word: &str| {
        let decoded = engines.iter().find_map(|engine| engine.decode(word).ok());
        decoded.filter(|key| key.len() >= SHORTEST).ok_or_else(|| {
            "a key is base64 of 32 bytes or more; `openssl rand -base64 32` makes one, several go between commas"
                .to_owned()
        })
    };
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(one).collect()
}

/// The keys in the file at `path`.
pub fn list(path: &Path) -> io::Result<Vec<KeyInfo>> {
    let mut file = existing(path)?;
    let mut out = Vec::new();
    for ring in [Ring::People, Ring::Sync] {
        out.extend(file.ring(ring).iter().enumerate().map(|(index, key)| KeyInfo {
            ring,
            kid: key.kid.clone(),
            made_at: key.made_at,
            retired_at: key.retired_at,
            signs: index == 0,
        }));
    }
    Ok(out)
}

/// Puts a new key in front; the ones before go on verifying. The id of the new key.
pub fn rotate(path: &Path, ring: Ring, now: Instant) -> io::Result<String> {
    change(path, |file| {
        file.prune(now);
        let keys = file.ring(ring);
        for key in keys.iter_mut() {
            key.retired_at.get_or_insert(now);
        }
        keys.insert(0, Key::new(now));
        Ok(keys[0].kid.clone())
    })
}

/// Forgets one key: what it signed is refused from now on. Never the key that signs.
pub fn retire(path: &Path, kid: &str) -> io::Result<Ring> {
    change(path, |file| {
        for ring in [Ring::People, Ring::Sync] {
            let keys = file.ring(ring);
            match keys.iter().position(|key| key.kid == kid) {
                Some(0) => {
                    return Err(io::Error::other(
                        "this key signs new tokens; put another one in front first: keys rotate",
                    ));
                }
                Some(index) => {
                    keys.remove(index);
                    return Ok(ring);
                }
                None => {}
            }
        }
        Err(io::Error::other(format!("there is no key {kid}; `keys list` shows them")))
    })
}

fn existing(path: &Path) -> io::Result<KeyFile> {
    KeyFile::read(path)?.ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, format!("{} does not exist: no server has run here", path.display()))
    })
}

fn change<T>(path: &Path, change: impl FnOnce(&mut KeyFile) -> io::Result<T>) -> io::Result<T> {
    // Two commands at once must not undo each other.
    let guard = File::open(path.parent().unwrap_or(path))?;
    guard.lock()?;
    let mut file = existing(path)?;
    let out = change(&mut file)?;
    file.write(path)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_from_either_alphabet_and_refused_when_it_is_short() {
        let standard = "++++++++++++++++++++++++++++++++++++++++++8=";
        let url = "__________________________________________8";
        let keys = parse(&format!("{standard}, {url}")).expect("two keys");
        assert_eq!(keys.iter().map(Vec::len).collect::<Vec<_>>(), [32, 32]);
        assert!(parse("c2hvcnQ=").expect_err("short").contains("openssl"));
        assert!(parse("no base64 at all, it is").is_err());
        assert_eq!(parse("").expect("nothing"), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn a_new_key_goes_in_front_and_old_ones_leave_when_their_tokens_are_over() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("token.key");
        let start = Instant::from_millis(1_000_000_000_000);
        assert!(rotate(&path, Ring::People, start).expect_err("no file").to_string().contains("does not exist"));
        KeyFile { people: vec![Key::new(start)], sync: vec![Key::new(start)] }.write(&path).expect("a file");
        let first = list(&path).expect("keys")[0].kid.clone();
        let second = rotate(&path, Ring::People, start).expect("rotated");
        let kids = || list(&path).expect("keys").into_iter().map(|key| key.kid).collect::<Vec<_>>();
        assert_eq!(kids()[..2], [second.clone(), first.clone()]);
        let week = REFRESH_SECONDS * 1000;
        rotate(&path, Ring::Sync, start.plus_millis(week - 1)).expect("rotated");
        assert!(kids().contains(&first), "a refresh token of it may still be good");
        rotate(&path, Ring::Sync, start.plus_millis(week)).expect("rotated");
        assert!(!kids().contains(&first));
        assert_eq!(list(&path).expect("keys").iter().filter(|key| key.ring == Ring::Sync).count(), 3);
    }

    #[test]
    fn the_key_that_signs_is_never_retired() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("token.key");
        let now = Instant::from_millis(0);
        KeyFile { people: vec![Key::new(now)], sync: vec![Key::new(now)] }.write(&path).expect("a file");
        let old = list(&path).expect("keys").into_iter().find(|key| key.ring == Ring::Sync).expect("a key").kid;
        assert!(retire(&path, &old).expect_err("it signs").to_string().contains("rotate"));
        rotate(&path, Ring::Sync, now).expect("rotated");
        assert_eq!(retire(&path, &old).expect("retired"), Ring::Sync);
        assert!(retire(&path, &old).is_err(), "it is gone");
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).expect("file").permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
}
