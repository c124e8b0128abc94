//! Keys from keys, and what they seal with.

use anyhow::{Result, anyhow};
use aws_lc_rs::aead::{CHACHA20_POLY1305, LessSafeKey, UnboundKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};

/// Bytes of the key of a file, from which all others of it follow.
pub(super) const FILE_KEY: usize = 16;

pub(super) fn derived(salt: &[u8], secret: &[u8], purpose: &str) -> Result<[u8; 32]> {
    let mut key = [0; 32];
    let extracted = Salt::new(HKDF_SHA256, salt).extract(secret);
    let purpose = [purpose.as_bytes()];
    let expanded = extracted.expand(&purpose, HKDF_SHA256).map_err(|_| failed())?;
    expanded.fill(&mut key).map_err(|_| failed())?;
    Ok(key)
}

pub(super) fn cipher(key: &[u8; 32]) -> Result<LessSafeKey> {
    UnboundKey::new(&CHACHA20_POLY1305, key).map(LessSafeKey::new).map_err(|_| failed())
}

/// The library says of nothing why it failed.
pub(super) fn failed() -> anyhow::Error {
    anyhow!("the cryptographic library refuses this key")
}
