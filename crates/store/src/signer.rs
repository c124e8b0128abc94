//! The port for a device that signs the entries of the chains of documents, as some fiscal laws ask for. `docs/chain.md`.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tokio::sync::Notify;

/// A signing device. It is asked after a document is stored, and never while somebody waits for it.
#[async_trait]
pub trait Signer: Debug + Send + Sync {
    /// What the device is called; kept beside each signature.
    fn name(&self) -> String;

    /// The signature of the entry with this hash, as text; or why there is none, for people.
    async fn sign(&self, hash: &str) -> Result<String, String>;
}

/// The device of a store, where it has one, and the bell of whoever asks it.
#[derive(Debug, Default)]
pub(crate) struct Signing {
    signer: OnceLock<Arc<dyn Signer>>,
    bell: Notify,
}

impl Signing {
    /// False where there is a device already: one store has one.
    pub(crate) fn set(&self, signer: Arc<dyn Signer>) -> bool {
        self.signer.set(signer).is_ok()
    }

    pub(crate) fn signer(&self) -> Option<&Arc<dyn Signer>> {
        self.signer.get()
    }

    /// Something was stored that may have to be signed.
    pub(crate) fn ring(&self) {
        self.bell.notify_one();
    }

    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }
}

/// Signs with a key in memory: for tests and for trying out what a device would do. No law takes it for one.
pub struct TestSigner {
    key: Vec<u8>,
}

impl TestSigner {
    #[must_use]
    pub fn new(key: impl Into<Vec<u8>>) -> Self {
        Self { key: key.into() }
    }

    /// HMAC-SHA-256 of the hash as it is written.
    #[must_use]
    pub fn signature(&self, hash: &str) -> String {
        // HMAC takes a key of any length; the error type is for other algorithms.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.key) else { return String::new() };
        mac.update(hash.as_bytes());
        hex::encode(mac.finalize().into_bytes())
    }
}

impl Debug for TestSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestSigner").finish_non_exhaustive()
    }
}

#[async_trait]
impl Signer for TestSigner {
    fn name(&self) -> String {
        "test".to_owned()
    }

    async fn sign(&self, hash: &str) -> Result<String, String> {
        Ok(self.signature(hash))
    }
}
