//! What a sign-in answers: tokens, and the person as their session sees them.

use serde::Serialize;
use tillkeep_model::Instant;
use tillkeep_storage::entity::session;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::{Access, Assignment, Auth, SecondFactor};
use crate::error::{Error, Result};
use crate::tokens::{ACCESS, ACCESS_SECONDS, AccessClaims, REFRESH, REFRESH_SECONDS, RefreshClaims, Tokens};

/// Tokens and what they are good for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignedInAnswer {
    access_token: String,
    /// Replaced at each use: keep the one of the newest answer, and forget the one that was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
    token_type: &'static str,
    expires_in: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_expires_in: Option<i64>,
    /// At headquarters, for a browser whose `Tillkeep-Device` is not known yet: to be kept and sent there from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) device_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) user: Option<Myself>,
}

/// The person of a session, with what counts in it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Myself {
    id: Uuid,
    username: String,
    display_name: String,
    store_id: Option<Uuid>,
    terminal_id: Option<String>,
    roles: Vec<MyRole>,
    /// What may be done here, sorted.
    permissions: Vec<String>,
    must_change_pin: bool,
    /// At headquarters, unless none is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    second_factor: Option<MySecondFactor>,
}

/// Whether the person has a second factor, must have one, and therefore can do nothing else before it is set up.
#[derive(Debug, Serialize, ToSchema)]
pub struct MySecondFactor {
    has: bool,
    required: bool,
    missing: bool,
}

impl MySecondFactor {
    fn of(auth: &Auth, access: &Access) -> Option<Self> {
        let (has, required) = (access.has_factor, auth.must_have_factor(access));
        let is_asked = auth.second_factor != SecondFactor::Off;
        is_asked.then_some(Self { has, required, missing: auth.lacks_factor(access) })
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MyRole {
    id: Uuid,
    code: String,
    name: String,
    /// Where it counts; null is in every store.
    store_id: Option<Uuid>,
    /// What it holds, sorted: some things need a permission in one store, others in all of them.
    permissions: Vec<String>,
}

impl Myself {
    pub fn new(auth: &Auth, access: &Access, store_id: Option<Uuid>, terminal_id: Option<&str>) -> Self {
        let role = |assignment: &Assignment| MyRole {
            id: assignment.role_id,
            code: assignment.role_code.clone(),
            name: assignment.role_name.clone(),
            store_id: assignment.store_id,
            permissions: assignment.codes.iter().cloned().collect(),
        };
        Self {
            id: access.user.id,
            username: access.user.username.clone(),
            display_name: access.user.display_name.clone(),
            store_id,
            terminal_id: terminal_id.map(str::to_owned),
            roles: access.counting(store_id).map(role).collect(),
            permissions: access.codes(store_id).into_iter().map(str::to_owned).collect(),
            must_change_pin: access.user.must_change_pin,
            second_factor: MySecondFactor::of(auth, access),
        }
    }
}

/// The tokens of a session, signed at `now`; a refresh token only with an id for it.
pub(super) fn tokens_for(
    tokens: &Tokens,
    session: &session::Model,
    username: &str,
    refresh_jti: Option<String>,
    now: Instant,
) -> Result<SignedInAnswer> {
    let seconds = now.millis() / 1000;
    let access = AccessClaims {
        user_id: session.user_id,
        username: username.to_owned(),
        store_id: session.store_id,
        terminal_id: session.terminal_id.clone(),
        kind: ACCESS.to_owned(),
        sid: session.id,
        iat: seconds,
        exp: seconds + ACCESS_SECONDS,
        jti: Uuid::now_v7(),
    };
    let unsigned = || Error::internal("a token could not be signed");
    let refresh_token = match refresh_jti {
        Some(jti) => {
            let claims = RefreshClaims {
                kind: REFRESH.to_owned(),
                user_id: session.user_id,
                sid: session.id,
                iat: seconds,
                exp: seconds + REFRESH_SECONDS,
                jti,
            };
            Some(tokens.sign_refresh(&claims).ok_or_else(unsigned)?)
        }
        None => None,
    };
    Ok(SignedInAnswer {
        access_token: tokens.sign_access(&access).ok_or_else(unsigned)?,
        token_type: "Bearer",
        expires_in: ACCESS_SECONDS,
        refresh_expires_in: refresh_token.as_ref().map(|_| REFRESH_SECONDS),
        refresh_token,
        device_key: None,
        user: None,
    })
}

/// A refresh token's id as the database keeps it.
pub(super) fn digest(jti: &str) -> String {
    use sha2::{Digest, Sha256};
    hex::encode(Sha256::digest(jti.as_bytes()))
}
