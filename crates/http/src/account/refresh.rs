//! `POST /auth/refresh`: the token is replaced at every use, and one that comes back late ends its session.

#![expect(clippy::disallowed_methods, reason = "sessions stay at their server")]

use std::net::IpAddr;

use serde::Deserialize;
use serde_json::json;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::audit;
use tillkeep_storage::entity::{session, user};
use tillkeep_storage::sea_orm::{ActiveModelTrait, ActiveValue, EntityTrait, QuerySelect};
use utoipa::ToSchema;

use super::answers::{SignedInAnswer, digest, tokens_for};
use crate::answer::Answer;
use crate::auth::{Auth, ClientAddress, Gate, REPLACED, Revocation, Sessions, is_active, is_outlived};
use crate::error::{Error, Result};
use crate::extract::Body;
use crate::tokens::REFRESH_SECONDS;

/// Milliseconds in which a replaced refresh token may come back: its answer was lost on the way.
const GRACE_MS: i64 = 30_000;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Refresh {
    /// The one of the newest answer. Each is good for one use; sent again later than after 30 s, it ends the session.
    refresh_token: String,
}

/// `POST /auth/refresh`
pub async fn refresh(
    Gate(auth): Gate,
    ClientAddress(address): ClientAddress,
    Body(body): Body<Refresh>,
) -> Result<Answer<SignedInAnswer>> {
    let now = auth.clock.now();
    let invalid = || Error::new(ErrorCode::InvalidToken, "the refresh token is not valid; sign in again");
    let presented = auth.tokens.refresh(&body.refresh_token, now).ok_or_else(invalid)?;
    let claims = &presented.claims;
    let tx = auth.db.begin().await?;
    // Locked: of two uses of one token at once, the second sees what the first did.
    let session = session::Entity::find_by_id(claims.sid).lock_exclusive().one(&tx).await?.ok_or_else(invalid)?;
    // As it is now: another server may have changed the person a moment ago, before they signed in here.
    let person = user::Entity::find_by_id(claims.user_id).one(&tx).await?.ok_or_else(invalid)?;
    let outlived = is_outlived(&person, session.pin_changed_at, session.sessions_valid_from);
    let ends_at = session.issued_at.plus_millis(auth.longest_session_ms());
    if now >= ends_at {
        return Err(invalid());
    }
    if session.user_id != claims.user_id || !is_active(&person) || outlived {
        return Err(invalid());
    }
    if session.revoked_at.is_some() {
        return Err(if session.reason.as_deref() == Some(REPLACED) { replaced() } else { invalid() });
    }
    let (used, successor) = (digest(&claims.jti), presented.successor.clone());
    if session.current_jti_hash.as_deref() == Some(used.as_str()) {
        let next = session::ActiveModel {
            id: ActiveValue::Unchanged(session.id),
            current_jti_hash: ActiveValue::Set(Some(digest(&successor))),
            previous_jti_hash: ActiveValue::Set(Some(used)),
            rotated_at: ActiveValue::Set(Some(now)),
            expires_at: ActiveValue::Set(now.plus_millis(REFRESH_SECONDS * 1000).min(ends_at)),
            ..Default::default()
        };
        next.update(&tx).await?;
        tx.commit().await?;
        return Ok(Answer(tokens_for(&auth.tokens, &session, &person.username, Some(successor), now)?));
    }
    let replaced_at = session.rotated_at.filter(|_| session.previous_jti_hash.as_deref() == Some(used.as_str()));
    let in_force = |id: &str| session.current_jti_hash.as_deref() == Some(digest(id).as_str());
    if let Some(at) = replaced_at.filter(|at| now.millis_since(*at) <= GRACE_MS) {
        // The answer was lost: the same successor again, as it was made then.
        let successor = presented.given_out(in_force).map_or(successor, str::to_owned);
        return Ok(Answer(tokens_for(&auth.tokens, &session, &person.username, Some(successor), at)?));
    }
    drop(tx);
    Err(reused(&auth, &session, address, now).await?)
}

/// The answer to a session that another one replaced.
fn replaced() -> Error {
    let text =
        "a newer sign-in of this person took the place of this session, which was used least recently; sign in again";
    Error::new(ErrorCode::SessionReplaced, text)
}

/// Ends the session of a token that was used after it was replaced: one of the two who have it is a thief. The refusal.
async fn reused(auth: &Auth, session: &session::Model, address: IpAddr, now: Instant) -> Result<Error> {
    // Beside the request and its key, which may have been used before: the theft is noted in any case.
    let tx = auth.db.begin_aside().await?;
    let which = Revocation::One(session.id);
    Sessions::revoke(&tx, which, "a replaced refresh token was used again", now).await?;
    let entry = audit::Entry {
        user_id: Some(session.user_id),
        action: "refresh.reused",
        entity_id: Some(session.id.to_string()),
        details: json!({"address": address}),
        ..audit::Entry::default()
    };
    audit::record(&tx, entry, now).await?;
    tx.commit().await?;
    auth.ended(which);
    let text = "this refresh token was replaced before; the session is over, sign in again";
    Ok(Error::new(ErrorCode::TokenReused, text))
}
