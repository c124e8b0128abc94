//! What a sealed file holds, in chunks that are found good one by one.

use std::fs::File;
use std::io::{BufRead, Read, Write};

use anyhow::{Context, Result, anyhow, bail};
use aws_lc_rs::aead::{Aad, LessSafeKey, Nonce};
use tillkeep_http::files;

use super::DAMAGED;
use super::keys::{FILE_KEY, cipher, derived, failed};

/// Bytes of a chunk, and of one that is sealed.
pub(super) const PLAIN: usize = 64 << 10;
const SEALED: u64 = (64 << 10) + 16;
/// Bytes of chance before the chunks.
const SALT: usize = 16;

/// The key of the chunks, and the number of the next one.
struct Chunks {
    key: LessSafeKey,
    number: u64,
}

impl Chunks {
    fn new(key: &[u8; FILE_KEY], salt: &[u8; SALT]) -> Result<Self> {
        Ok(Self { key: cipher(&derived(salt, key, "payload")?)?, number: 0 })
    }

    /// Number and end are part of it, so that no chunk can be moved or be missing.
    fn nonce(&mut self, last: bool) -> Nonce {
        let mut nonce = [0; 12];
        nonce[3..11].copy_from_slice(&self.number.to_be_bytes());
        nonce[11] = u8::from(last);
        self.number += 1;
        Nonce::assume_unique_for_key(nonce)
    }
}

/// Seals what comes piece by piece.
pub struct Sealer {
    chunks: Chunks,
    waiting: Vec<u8>,
}

impl Sealer {
    /// Adds what comes after the header to `into`.
    pub(super) fn begin(key: &[u8; FILE_KEY], into: &mut Vec<u8>) -> Result<Self> {
        let salt = files::random::<SALT>();
        into.extend_from_slice(&salt);
        Ok(Self { chunks: Chunks::new(key, &salt)?, waiting: Vec::with_capacity(2 * PLAIN) })
    }

    /// Adds whole chunks to `into`. The last one waits, as it is sealed as the last.
    pub fn push(&mut self, bytes: &[u8], into: &mut Vec<u8>) -> Result<()> {
        self.waiting.extend_from_slice(bytes);
        while self.waiting.len() > PLAIN {
            let rest = self.waiting.split_off(PLAIN);
            let chunk = std::mem::replace(&mut self.waiting, rest);
            self.seal(chunk, false, into)?;
        }
        Ok(())
    }

    /// Adds what is left.
    pub fn finish(mut self, into: &mut Vec<u8>) -> Result<()> {
        let last = std::mem::take(&mut self.waiting);
        self.seal(last, true, into)
    }

    fn seal(&mut self, mut chunk: Vec<u8>, last: bool, into: &mut Vec<u8>) -> Result<()> {
        let nonce = self.chunks.nonce(last);
        self.chunks.key.seal_in_place_append_tag(nonce, Aad::empty(), &mut chunk).map_err(|_| failed())?;
        into.append(&mut chunk);
        Ok(())
    }
}

/// Writes what the chunks of a file hold to `to`, each when it is found good.
pub(super) fn open(source: &mut impl BufRead, key: &[u8; FILE_KEY], to: &mut File) -> Result<()> {
    let mut salt = [0; SALT];
    source.read_exact(&mut salt).context(DAMAGED)?;
    let (mut chunks, mut chunk) = (Chunks::new(key, &salt)?, Vec::new());
    loop {
        chunk.clear();
        source.by_ref().take(SEALED).read_to_end(&mut chunk)?;
        let is_last = source.fill_buf()?.is_empty();
        let is_first = chunks.number == 0;
        let nonce = chunks.nonce(is_last);
        let opened = chunks.key.open_in_place(nonce, Aad::empty(), &mut chunk);
        let plain = opened.map_err(|_| anyhow!(DAMAGED))?;
        if plain.is_empty() && !is_first {
            bail!(DAMAGED);
        }
        to.write_all(plain)?;
        if is_last {
            return Ok(());
        }
    }
}
