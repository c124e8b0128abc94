//! What a user is asked for who has a second factor and has not shown it.

use serde::Serialize;
use serde_json::Value as Json;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::audit;
use tillkeep_storage::factors::{self, Challenge, Factor};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{PASSKEY, RECOVERY, TOTP, passkeys};
use crate::auth::Auth;
use crate::auth::throttle::{self, Attempt, Claimant};
use crate::error::{Error, Result};

/// Milliseconds for an answer: until then a right PIN that was counted as a wrong one is taken back.
const GOOD_FOR_MS: i64 = 2 * 60 * 1000;

/// What a challenge is good for.
pub(super) const LOGIN: &str = "login";
pub(super) const CONFIRM: &str = "confirm";

/// What may be shown.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Asked {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Uuid>,
    methods: Vec<&'static str>,
    /// What the browser hands to the authenticator.
    #[serde(skip_serializing_if = "Option::is_none")]
    passkey: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Instant>,
}

/// 401 for a user whose PIN alone is not enough.
fn required(asked: &Asked, text: &str) -> Error {
    Error::new(ErrorCode::SecondFactorRequired, text).with("challenge", asked)
}

/// Asks whoever has no second factor to show the PIN.
pub(super) fn for_pin() -> Error {
    let asked = Asked { id: None, methods: vec!["pin"], passkey: None, expires_at: None };
    required(&asked, "type your PIN once more: send it as pin")
}

/// How the state of a challenge is bound to its row.
pub(super) fn about(id: Uuid, user_id: Uuid) -> String {
    format!("challenge {id} {user_id}")
}

/// A challenge to be kept, and the answer that says it.
async fn made(auth: &Auth, session: Option<Uuid>, user_id: Uuid, held: &[Factor]) -> Result<(Challenge, Asked)> {
    let (id, now) = (Uuid::now_v7(), auth.clock.now());
    let passkey = passkeys::ask(auth, held)?;
    let mut methods = Vec::new();
    if passkey.is_some() {
        methods.push(PASSKEY);
    }
    if held.iter().any(|factor| factor.kind == TOTP) {
        methods.push(TOTP);
    }
    if factors::codes_left(auth.db.reader(), user_id).await? > 0 {
        methods.push(RECOVERY);
    }
    let state = passkey.as_ref().map_or_else(|| Ok(Vec::new()), |(_, state)| serde_json::to_vec(state))?;
    let row = Challenge {
        id,
        user_id,
        purpose: if session.is_some() { CONFIRM } else { LOGIN }.to_owned(),
        session_id: session,
        state: auth.pins.seal_factor(&about(id, user_id), &state)?,
        attempt: None,
        created_at: now,
        expires_at: now.plus_millis(GOOD_FOR_MS),
    };
    let asked =
        Asked { id: Some(id), methods, passkey: passkey.map(|(asked, _)| asked), expires_at: Some(row.expires_at) };
    Ok((row, asked))
}

/// The PIN was right and is not enough: the refusal that asks for the rest. The attempt stays counted as a wrong one until that
/// comes.
pub(super) async fn at_sign_in(
    auth: &Auth,
    attempt: Attempt,
    user_id: Uuid,
    held: &[Factor],
    claimant: &Claimant,
) -> Result<Error> {
    let made = made(auth, None, user_id, held).await;
    let (attempt, (mut row, asked)) = attempt.unless_failed(auth, made).await?;
    row.attempt = attempt.kept();
    let now = auth.clock.now();
    let tx = auth.db.begin_aside().await?;
    // In the order of a sign-in: the challenges first, then what is counted.
    factors::ask(&tx, row).await?;
    attempt.wrong(&tx, now).await?;
    audit::record(&tx, claimant.audit("factor.asked", Some(user_id)), now).await?;
    tx.commit().await?;
    throttle::judged(auth);
    Ok(required(
        &asked,
        "this account has a second factor: send name and PIN again, with a code or a passkey and the challenge",
    ))
}

/// Asks a caller who is signed in. Nothing counts how often: the audit log has what they show, and not each question.
pub(super) async fn in_session(auth: &Auth, session_id: Uuid, user_id: Uuid, held: &[Factor]) -> Result<Error> {
    let (row, asked) = made(auth, Some(session_id), user_id, held).await?;
    let tx = auth.db.begin_aside().await?;
    factors::ask(&tx, row).await?;
    tx.commit().await?;
    Ok(required(&asked, "show your second factor: send a code, or a passkey with the challenge"))
}
