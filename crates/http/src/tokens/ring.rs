//! Keys that are held in memory, and what they sign and verify.

use std::io;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

use super::claims::{self, Unique};
use super::keys::{self, Key};

/// Bytes of a token at the most; a larger one is not looked at.
const MAX_TOKEN: usize = 4096;

/// What a token's header may say. Whatever points elsewhere (`jku`, `jwk`, `x5u`) or asks for more (`crit`) is refused
/// with everything else that this server does not write.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OurHeader {
    #[serde(rename = "typ")]
    _typ: Option<String>,
    #[serde(rename = "alg")]
    _alg: Algorithm,
    kid: String,
}

pub(super) struct SigningKey {
    pub(super) kid: String,
    pub(super) secret: Vec<u8>,
    encoding: EncodingKey,
    decoding: DecodingKey,
}

impl SigningKey {
    fn new(kid: String, secret: Vec<u8>) -> Self {
        let (encoding, decoding) = (EncodingKey::from_secret(&secret), DecodingKey::from_secret(&secret));
        Self { kid, secret, encoding, decoding }
    }
}

/// The first key signs, all of them verify.
pub(super) struct KeyRing(pub(super) Vec<SigningKey>);

impl KeyRing {
    pub(super) fn read(given: &[Vec<u8>], keys: &[Key]) -> io::Result<Self> {
        let given = given.iter().map(|secret| Ok(SigningKey::new(keys::kid_of(secret), secret.clone())));
        let kept = keys.iter().map(|key| Ok(SigningKey::new(key.kid.clone(), key.secret()?)));
        given.chain(kept).collect::<io::Result<_>>().map(Self)
    }

    /// Signs with the key `kid`, where it is there, else with the first one.
    pub(super) fn sign(&self, claims: &impl Serialize, kid: Option<&str>) -> Option<String> {
        let key = self.0.iter().find(|key| Some(key.kid.as_str()) == kid).or_else(|| self.0.first())?;
        let header = Header { kid: Some(key.kid.clone()), ..Header::new(Algorithm::HS256) };
        jsonwebtoken::encode(&header, &claims::signed(claims)?, &key.encoding).ok()
    }

    /// The claims of a token and the key that signed it.
    pub(super) fn verify<T: DeserializeOwned>(
        &self,
        token: &str,
        expires: bool,
        now: Instant,
    ) -> Option<(T, &SigningKey)> {
        if token.len() > MAX_TOKEN {
            return None;
        }
        let header = URL_SAFE_NO_PAD.decode(token.split('.').next()?).ok()?;
        let header: OurHeader = serde_json::from_slice(&header).ok()?;
        let key = self.0.iter().find(|key| key.kid == header.kid)?;
        let mut validation = Validation::new(Algorithm::HS256);
        // Expiry is checked here, against the clock that is handed in.
        validation.validate_exp = false;
        validation.validate_aud = false;
        validation.validate_nbf = false;
        validation.set_required_spec_claims(if expires { &["exp"][..] } else { &[] });
        let Unique(said) = jsonwebtoken::decode::<Unique>(token, &key.decoding, &validation).ok()?.claims;
        claims::check(&said, expires, now)?;
        Some((serde_json::from_value(said.into()).ok()?, key))
    }
}
