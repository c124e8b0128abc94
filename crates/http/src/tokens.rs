//! Signed tokens and the keys they are signed with. Specification, section 2.2.
//!
//! HS256, one key ring for what people carry and one for sync tokens; `kid` in the header allows rotation. The
//! algorithm is fixed, `exp` is required (but for sync tokens), and the `type` must be the one the route wants.

use std::io;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::files;

/// Seconds an access token lives. Specification, section 8.
pub const ACCESS_SECONDS: i64 = 8 * 3600;
/// Seconds a refresh token lives. Specification, section 8.
pub const REFRESH_SECONDS: i64 = 7 * 24 * 3600;
/// Bytes of a token at the most; a larger one is not looked at.
const MAX_TOKEN: usize = 4096;

pub const ACCESS: &str = "access";
pub const REFRESH: &str = "refresh";
pub const STORE_SYNC: &str = "store_sync";

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccessClaims {
    pub user_id: Uuid,
    pub username: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_id: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_id: Option<String>,
    #[serde(rename = "type")]
    pub kind: String,
    pub sid: Uuid,
    pub iat: i64,
    pub exp: i64,
    pub jti: Uuid,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefreshClaims {
    #[serde(rename = "type")]
    pub kind: String,
    pub user_id: Uuid,
    pub sid: Uuid,
    pub iat: i64,
    pub exp: i64,
    pub jti: String,
}

/// What a sync token says. A token without `tv` counts as version 1.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SyncClaims {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_id: Option<Uuid>,
    #[serde(default)]
    pub store_code: String,
    #[serde(rename = "type", default)]
    pub kind: String,
    #[serde(default = "first_version")]
    pub tv: i32,
    #[serde(default)]
    pub iat: i64,
    #[serde(default)]
    pub jti: Option<Uuid>,
}

const fn first_version() -> i32 {
    1
}

#[derive(Clone, Serialize, Deserialize)]
struct Key {
    kid: String,
    secret: String,
}

/// The keys of one installation; the first of each ring signs, all of them verify.
#[derive(Clone, Serialize, Deserialize)]
struct KeyFile {
    people: Vec<Key>,
    sync: Vec<Key>,
}

struct Ring(Vec<(String, EncodingKey, DecodingKey)>);

/// Signs and verifies the tokens of one server.
pub struct Tokens {
    people: Ring,
    sync: Ring,
    /// Makes the successor of a refresh token again when its answer was lost.
    successor: Vec<u8>,
}

fn new_key() -> Key {
    Key { kid: Uuid::now_v7().simple().to_string(), secret: URL_SAFE_NO_PAD.encode(files::random::<32>()) }
}

impl Ring {
    fn read(keys: &[Key]) -> io::Result<Self> {
        let decode = |key: &Key| {
            let secret = URL_SAFE_NO_PAD.decode(&key.secret).map_err(io::Error::other)?;
            if secret.len() < 32 {
                return Err(io::Error::other("a token key must have 256 bits"));
            }
            Ok((key.kid.clone(), EncodingKey::from_secret(&secret), DecodingKey::from_secret(&secret)))
        };
        Ok(Self(keys.iter().map(decode).collect::<io::Result<_>>()?))
    }

    fn sign(&self, claims: &impl Serialize) -> Option<String> {
        let (kid, key, _) = self.0.first()?;
        let header = Header { kid: Some(kid.clone()), ..Header::new(Algorithm::HS256) };
        jsonwebtoken::encode(&header, claims, key).ok()
    }

    fn verify<T: DeserializeOwned>(&self, token: &str, expires: bool, now: Instant) -> Option<T> {
        if token.len() > MAX_TOKEN {
            return None;
        }
        let header = jsonwebtoken::decode_header(token).ok()?;
        let kid = header.kid?;
        let (_, _, key) = self.0.iter().find(|(known, ..)| *known == kid)?;
        let mut validation = Validation::new(Algorithm::HS256);
        // Expiry is checked here, against the clock that is handed in.
        validation.validate_exp = false;
        validation.validate_aud = false;
        validation.set_required_spec_claims(if expires { &["exp"][..] } else { &[] });
        let value = jsonwebtoken::decode::<serde_json::Value>(token, key, &validation).ok()?.claims;
        if expires && value.get("exp")?.as_i64()? <= now.millis() / 1000 {
            return None;
        }
        serde_json::from_value(value).ok()
    }
}

impl Tokens {
    /// Reads the keys at `path`, making them at the first start.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = match std::fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::other)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let file = KeyFile { people: vec![new_key()], sync: vec![new_key()] };
                files::write_secret(path, &serde_json::to_vec_pretty(&file).map_err(io::Error::other)?)?;
                file
            }
            Err(error) => return Err(error),
        };
        Self::of(&file)
    }

    fn of(file: &KeyFile) -> io::Result<Self> {
        let successor = file.people.first().map(|key| key.secret.clone().into_bytes()).unwrap_or_default();
        Ok(Self { people: Ring::read(&file.people)?, sync: Ring::read(&file.sync)?, successor })
    }

    pub fn sign_access(&self, claims: &AccessClaims) -> Option<String> {
        self.people.sign(claims)
    }

    pub fn sign_refresh(&self, claims: &RefreshClaims) -> Option<String> {
        self.people.sign(claims)
    }

    pub fn sign_sync(&self, claims: &SyncClaims) -> Option<String> {
        self.sync.sign(claims)
    }

    pub fn access(&self, token: &str, now: Instant) -> Option<AccessClaims> {
        self.people.verify::<AccessClaims>(token, true, now).filter(|claims| claims.kind == ACCESS)
    }

    pub fn refresh(&self, token: &str, now: Instant) -> Option<RefreshClaims> {
        self.people.verify::<RefreshClaims>(token, true, now).filter(|claims| claims.kind == REFRESH)
    }

    /// The claims of a token that this server signed, of whatever kind: the sync routes answer a wrong kind apart.
    pub fn sync(&self, token: &str, now: Instant) -> Option<SyncClaims> {
        self.sync.verify(token, false, now).or_else(|| self.people.verify(token, true, now))
    }

    /// The id that replaces the refresh token `jti`: an HMAC of it, so that a lost answer can be given again.
    pub fn successor(&self, jti: &str) -> String {
        URL_SAFE_NO_PAD.encode(crate::pins::hmac(&self.successor, jti.as_bytes()))
    }
}

/// What a store's own sync token says, unverified: only HQ can verify it.
pub fn read_sync_token(token: &str) -> Option<SyncClaims> {
    let payload = token.split('.').nth(1)?;
    let claims: SyncClaims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
    Some(claims).filter(|claims| claims.kind == STORE_SYNC)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(kind: &str, exp: i64) -> AccessClaims {
        AccessClaims {
            user_id: Uuid::nil(),
            username: "ann".into(),
            store_id: None,
            terminal_id: None,
            kind: kind.into(),
            sid: Uuid::nil(),
            iat: 0,
            exp,
            jti: Uuid::nil(),
        }
    }

    fn tokens() -> Tokens {
        Tokens::of(&KeyFile { people: vec![new_key()], sync: vec![new_key()] }).expect("keys")
    }

    #[test]
    fn a_token_is_good_only_as_its_kind_for_its_time_and_at_its_server() {
        let (here, there) = (tokens(), tokens());
        let now = Instant::from_millis(1_000_000);
        let token = here.sign_access(&claims(ACCESS, 1001)).expect("token");
        assert!(here.access(&token, now).is_some());
        assert!(here.refresh(&token, now).is_none());
        assert!(there.access(&token, now).is_none());
        assert!(here.access(&token, Instant::from_millis(1_001_000)).is_none(), "expired");
        let refresh = here.sign_access(&claims(REFRESH, 1001)).expect("token");
        assert!(here.access(&refresh, now).is_none());
    }

    #[test]
    fn a_token_without_a_signature_is_refused() {
        let here = tokens();
        let token = here.sign_access(&claims(ACCESS, 1001)).expect("token");
        let body = token.split('.').nth(1).expect("body");
        let none = URL_SAFE_NO_PAD.encode(r#"{"alg":"none","typ":"JWT"}"#);
        assert!(here.access(&format!("{none}.{body}."), Instant::default()).is_none());
    }

    #[test]
    fn a_store_reads_its_own_identity_from_its_token() {
        let id = Uuid::now_v7();
        let claims = SyncClaims {
            store_id: Some(id),
            store_code: "S01".into(),
            kind: STORE_SYNC.into(),
            tv: 1,
            iat: 0,
            jti: None,
        };
        let token = tokens().sign_sync(&claims).expect("token");
        assert_eq!(read_sync_token(&token).and_then(|claims| claims.store_id), Some(id));
        assert!(read_sync_token("not.a.token").is_none());
    }
}
