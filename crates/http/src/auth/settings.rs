//! What an operator decides about signing in.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use tillkeep_storage::kept_verifiers;
use utoipa::ToSchema;

use crate::pins;
use crate::tokens::keys::GivenKeys;

/// Digits of the PINs of people who may do more than work at a till.
const BEYOND_A_TILL: usize = 6;
/// So long a user has to come with the PIN that was made for them.
const FIRST_PIN_DAYS: u32 = 7;
/// Of several people who type their PINs at one moment the last one hears of it after so long at the most.
const WAITS_FOR_OTHERS: Duration = Duration::from_secs(2);

/// Whom headquarters looks up when a PIN alone is typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", rename_all = "snake_case")]
pub enum PinLogin {
    /// Everybody, as the specification has it.
    All,
    /// People with a role that counts in the store that is named.
    #[default]
    Scoped,
    /// No user: at headquarters people sign in with their names.
    Off,
}

impl TryFrom<String> for PinLogin {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        match word.as_str() {
            "all" => Ok(Self::All),
            "scoped" => Ok(Self::Scoped),
            "off" => Ok(Self::Off),
            _ => Err(format!("{word:?} says nothing of who signs in with a PIN alone; write all, scoped or off")),
        }
    }
}

/// Who shows a second factor to sign in at headquarters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(try_from = "String", rename_all = "snake_case")]
pub enum SecondFactor {
    /// No user, as the specification has it.
    Off,
    /// Whoever has set one up.
    #[default]
    Optional,
    /// They too who reach beyond a store; without one they can only set it up.
    Required,
}

impl TryFrom<String> for SecondFactor {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        match word.as_str() {
            "off" => Ok(Self::Off),
            "optional" => Ok(Self::Optional),
            "required" => Ok(Self::Required),
            _ => Err(format!("{word:?} says nothing of second factors; write off, optional or required")),
        }
    }
}

/// How people sign in to one server.
#[derive(Clone, Debug)]
pub struct SignInSettings {
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Digits of a new PIN at the least, 4 to 12.
    pub pin_min_length: usize,
    /// The same of a user who may do more than work at a till.
    pub pin_min_length_beyond_a_till: usize,
    /// Days for which a PIN lasts that was made for a user and is not changed; 0 is for ever.
    pub first_pin_days: u32,
    /// At a store: whether a PIN alone is taken from enrolled tills only.
    pub enrolled_only: bool,
    /// Whom headquarters looks up by a PIN alone.
    pub pin_login_at_hq: PinLogin,
    /// Who shows a second factor at headquarters.
    pub second_factor: SecondFactor,
    /// How browsers reach headquarters: passkeys belong to that address.
    pub public_url: Option<String>,
    /// Where this server notes how many codes of second factors were used.
    pub factor_uses: Option<PathBuf>,
    /// For how many days a store keeps what verifies a user of whom it asked headquarters.
    pub keep_verifier_days: i64,
    /// How long an attempt waits for those that are under way before it.
    pub waits_for_others: Duration,
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
            pin_min_length_beyond_a_till: BEYOND_A_TILL,
            first_pin_days: FIRST_PIN_DAYS,
            enrolled_only: false,
            pin_login_at_hq: PinLogin::default(),
            second_factor: SecondFactor::default(),
            public_url: None,
            factor_uses: None,
            keep_verifier_days: kept_verifiers::USUAL_DAYS,
            waits_for_others: WAITS_FOR_OTHERS,
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
