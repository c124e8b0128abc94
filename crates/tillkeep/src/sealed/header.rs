//! The beginning of a sealed file: its key, wrapped for each recipient, and a sum over that.

use std::io::{BufRead, Read};

use anyhow::{Context, Result, anyhow, bail};
use aws_lc_rs::aead::{Aad, LessSafeKey, Nonce};
use aws_lc_rs::agreement::{PrivateKey, UnparsedPublicKey, X25519, agree};
use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use tillkeep_http::files;

use super::keys::{FILE_KEY, cipher, derived, failed};
use super::{DAMAGED, Identity, Recipient};

/// The first line.
pub(super) const MAGIC: &str = "age-encryption.org/v1";
const KIND: &str = "X25519";
/// Says what the key that is derived is for.
const WRAPS: &str = "age-encryption.org/v1/X25519";
/// A line of the body of a stanza; a shorter one is its last.
const LINE: usize = 64;
/// Bytes of a line, and stanzas, at the most: whatever else a file has at its beginning is not kept in memory.
const LONGEST: u64 = 4096;
const MOST: usize = 100;
const TAG: usize = 16;

/// A header for `recipient`, with a new key of the file.
pub(super) fn make(recipient: &Recipient) -> Result<(Vec<u8>, [u8; FILE_KEY])> {
    let key = files::random::<FILE_KEY>();
    let own = PrivateKey::generate(&X25519).map_err(|_| failed())?;
    let share = own.compute_public_key().map_err(|_| failed())?;
    let wrapping = wrapping(&own, &recipient.0, share.as_ref(), &recipient.0)?;
    let mut wrapped = key.to_vec();
    wrapping.seal_in_place_append_tag(nonce(), Aad::empty(), &mut wrapped).map_err(|_| failed())?;
    let (share, wrapped) = (BASE64.encode(share), BASE64.encode(wrapped));
    let mut header = format!("{MAGIC}\n-> {KIND} {share}\n{wrapped}\n---").into_bytes();
    let sum = hmac::sign(&proof(&key)?, &header);
    header.extend_from_slice(format!(" {}\n", BASE64.encode(sum)).as_bytes());
    Ok((header, key))
}

/// Reads the header, and finds the key with one of `identities`.
pub(super) fn open(source: &mut impl BufRead, identities: &[Identity]) -> Result<[u8; FILE_KEY]> {
    let mut read = Vec::new();
    if line(source, &mut read)? != MAGIC {
        bail!("this is no file of age");
    }
    let (mut key, mut stanzas) = (None, 0);
    let sum = loop {
        let before = read.len();
        let text = line(source, &mut read)?;
        if let Some(sum) = text.strip_prefix("--- ") {
            read.truncate(before + 3);
            break BASE64.decode(sum).map_err(|_| anyhow!(DAMAGED))?;
        }
        let words: Vec<&str> = text.strip_prefix("-> ").context(DAMAGED)?.split(' ').collect();
        let body = body(source, &mut read)?;
        stanzas += 1;
        if stanzas > MOST {
            bail!(DAMAGED);
        }
        if let [KIND, share] = words[..]
            && key.is_none()
        {
            let share = BASE64.decode(share).map_err(|_| anyhow!(DAMAGED))?;
            key = identities.iter().find_map(|identity| unwrapped(identity, &share, &body));
        }
    };
    let key = key.context("none of the identities opens it; it was sealed for another recipient")?;
    hmac::verify(&proof(&key)?, &read, &sum).map_err(|_| anyhow!(DAMAGED))?;
    Ok(key)
}

/// The key of the sum over a header.
fn proof(key: &[u8; FILE_KEY]) -> Result<hmac::Key> {
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &derived(&[], key, "header")?))
}

/// One line, without its end, and added to what was read.
fn line(source: &mut impl BufRead, read: &mut Vec<u8>) -> Result<String> {
    let before = read.len();
    source.by_ref().take(LONGEST).read_until(b'\n', read)?;
    match read[before..].split_last() {
        Some((b'\n', text)) => String::from_utf8(text.to_vec()).context(DAMAGED),
        _ => bail!(DAMAGED),
    }
}

fn body(source: &mut impl BufRead, read: &mut Vec<u8>) -> Result<Vec<u8>> {
    let mut text = String::new();
    loop {
        let part = line(source, read)?;
        text.push_str(&part);
        if part.len() > LINE || text.len() > usize::try_from(LONGEST)? {
            bail!(DAMAGED);
        }
        if part.len() < LINE {
            return BASE64.decode(text).map_err(|_| anyhow!(DAMAGED));
        }
    }
}

/// The key of the file, when it was wrapped for this identity.
fn unwrapped(identity: &Identity, share: &[u8], body: &[u8]) -> Option<[u8; FILE_KEY]> {
    if body.len() != FILE_KEY + TAG {
        return None;
    }
    let own = identity.0.compute_public_key().ok()?;
    let wrapping = wrapping(&identity.0, share, share, own.as_ref()).ok()?;
    let mut body = body.to_vec();
    wrapping.open_in_place(nonce(), Aad::empty(), &mut body).ok()?.try_into().ok()
}

/// What the key of the file is wrapped with: both sides of the agreement come to it.
fn wrapping(own: &PrivateKey, other: &[u8], share: &[u8], recipient: &[u8]) -> Result<LessSafeKey> {
    let salt = [share, recipient].concat();
    let derive = |secret: &[u8]| derived(&salt, secret, WRAPS);
    cipher(&agree(own, UnparsedPublicKey::new(&X25519, other), failed(), derive)?)
}

/// A key wraps one thing, so that its nonce is always the same.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}
