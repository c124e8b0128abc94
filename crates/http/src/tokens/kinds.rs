//! The kinds of tokens: what each one says, and how long it lives.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;
use uuid::Uuid;

/// Seconds an access token lives. Specification, section 8.
pub const ACCESS_SECONDS: i64 = 8 * 3600;
/// Seconds a refresh token lives. Specification, section 8.
pub const REFRESH_SECONDS: i64 = 7 * 24 * 3600;

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
    /// The nil id, which no store has, where the token names something that is no id.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "store_id")]
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

impl SyncClaims {
    /// What a token with a good signature says; of one that is no sync token, or names no store, that alone. A claim
    /// that is null is as good as none.
    pub(super) fn read(said: Json) -> Option<Self> {
        if said["type"] != STORE_SYNC || said["storeId"].is_null() {
            return Some(Self::of_another_kind());
        }
        serde_json::from_value(said).ok()
    }

    pub(super) const fn of_another_kind() -> Self {
        Self { store_id: None, store_code: String::new(), kind: String::new(), tv: first_version(), iat: 0, jti: None }
    }
}

/// A token that names no store is of another kind than one with a store that does not exist.
fn store_id<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Uuid>, D::Error> {
    let named: Option<Json> = Option::deserialize(from)?;
    Ok(named.map(|name| name.as_str().and_then(|text| text.parse().ok()).unwrap_or_default()))
}

const fn first_version() -> i32 {
    1
}
