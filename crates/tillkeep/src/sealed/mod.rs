//! Files that only the holder of an identity reads, in the format of `age` (<https://age-encryption.org/v1>), for one kind of
//! recipient: X25519. Every tool of that format opens them too.
//!
//! The `age` crate brings fifty more crates, most of them for its messages in many languages, and a second cryptographic
//! provider. What is used of the format is two pages, and everything it is made of is in `aws-lc-rs`.

mod bech32;
mod chunks;
mod header;
mod keys;

use std::fs::{self, File};
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use aws_lc_rs::agreement::{PrivateKey, X25519};

pub use chunks::Sealer;
use header::MAGIC;
use keys::FILE_KEY;

/// What the names of such files end with.
pub const END: &str = ".age";

/// What is said of any bytes that are not as they were written: which of them it is tells nobody anything.
const DAMAGED: &str = "the file is damaged or cut off";

/// Whoever is to read a file: a public key, `age1…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient([u8; 32]);

impl FromStr for Recipient {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let no_key = || {
            format!(
                "{text:?} is no public key of age; `age-keygen` prints one, which begins with age1 and has 62 letters"
            )
        };
        if text.starts_with("AGE-SECRET-KEY-") {
            // Never shown: it is the secret half.
            return Err("this is an identity, which is secret; name its public key, which begins with age1".to_owned());
        }
        bech32::decode("age", text).map(Self).ok_or_else(no_key)
    }
}

/// The secret half of a recipient.
pub struct Identity(PrivateKey);

/// The identities in a file as `age-keygen` writes it.
pub fn identities(path: &Path) -> Result<Vec<Identity>> {
    let named = || path.display().to_string();
    let text = fs::read_to_string(path).with_context(named)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let identity = |line: &str| {
        let key = bech32::decode("age-secret-key-", line)?;
        PrivateKey::from_private_key(&X25519, &key).ok().map(Identity)
    };
    let found: Option<Vec<Identity>> = lines.map(identity).collect();
    match found {
        Some(found) if !found.is_empty() => Ok(found),
        _ => bail!(
            "{} is no file of identities; it has lines that begin with AGE-SECRET-KEY-1, as `age-keygen` writes them. One \
             with a passphrase has to be opened first",
            named()
        ),
    }
}

/// Whether a file is one of these.
pub fn is_sealed(path: &Path) -> std::io::Result<bool> {
    let mut begin = Vec::new();
    File::open(path)?.take(MAGIC.len() as u64).read_to_end(&mut begin)?;
    Ok(begin == MAGIC.as_bytes())
}

/// Begins a sealed file, of which the first bytes are added to `into`.
pub fn begin(recipient: &Recipient, into: &mut Vec<u8>) -> Result<Sealer> {
    let (header, key) = header::make(recipient)?;
    into.extend_from_slice(&header);
    Sealer::begin(&key, into)
}

/// Writes the file at `from`, sealed, to the open file `to`.
pub fn seal(from: &Path, to: &mut File, recipient: &Recipient) -> Result<()> {
    let mut source = File::open(from).with_context(|| from.display().to_string())?;
    let mut written = Vec::new();
    let mut sealer = begin(recipient, &mut written)?;
    let mut piece = vec![0; chunks::PLAIN];
    loop {
        let read = source.read(&mut piece).with_context(|| from.display().to_string())?;
        if read == 0 {
            break;
        }
        sealer.push(&piece[..read], &mut written)?;
        to.write_all(&written)?;
        written.clear();
    }
    sealer.finish(&mut written)?;
    to.write_all(&written)?;
    Ok(())
}

/// A sealed file of which the key was found.
pub struct Opened {
    source: BufReader<File>,
    key: [u8; FILE_KEY],
}

impl Opened {
    /// Finds the key of the file at `path`. Nothing is written yet.
    pub fn open(path: &Path, identities: &[Identity]) -> Result<Self> {
        let mut source = BufReader::new(File::open(path)?);
        let key = header::open(&mut source, identities)?;
        Ok(Self { source, key })
    }

    /// Writes what the file holds to the open file `to`, piece by piece as each is found good.
    pub fn write(self, to: &mut File) -> Result<()> {
        let Self { mut source, key } = self;
        chunks::open(&mut source, &key, to)
    }
}

#[cfg(test)]
mod tests;
