//! What an operator decides about signing in.

use std::path::{Path, PathBuf};

use ipnet::IpNet;

use crate::pins;
use crate::tokens::keys::GivenKeys;

/// How people sign in to one server.
#[derive(Clone, Debug)]
pub struct SignInSettings {
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Digits of a new PIN at the least, 4 to 12.
    pub pin_min_length: usize,
    /// Token keys that come from the environment.
    pub keys: GivenKeys,
    /// Where the PIN secrets are kept instead of in the data directory.
    pub pin_key_file: Option<PathBuf>,
}

impl Default for SignInSettings {
    fn default() -> Self {
        Self {
            trusted_proxies: Vec::new(),
            pin_min_length: pins::SHORTEST,
            keys: GivenKeys::default(),
            pin_key_file: None,
        }
    }
}

impl SignInSettings {
    /// The file of the PIN secrets.
    pub fn pin_key(&self, data_dir: &Path) -> PathBuf {
        self.pin_key_file.clone().unwrap_or_else(|| data_dir.join("pin.key"))
    }
}
