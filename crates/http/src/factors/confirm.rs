//! `POST /auth/confirm`: the second factor once more, for what gives rights, tokens and sign-ins away.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tillkeep_model::permission::SignedInAnyPin;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::audit;
use tillkeep_storage::factors::Factor;
use utoipa::ToSchema;
use uuid::Uuid;

use super::given::{Given, Verdict, judge, refuse};
use super::{Shown, asked_of, challenge};
use crate::answer::Answer;
use crate::auth::throttle::{self, Attempt, Claimant};
use crate::auth::{Caller, Sessions, fresh_until};
use crate::error::{Error, Result};
use crate::extract::OptionalBody;

/// The second factor, or the PIN of whoever has none. Nothing asks for a challenge.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Confirm {
    /// For whoever has no second factor.
    pin: Option<String>,
    /// That of the refusal which asked.
    challenge: Option<Uuid>,
    /// Of an app, or a recovery code.
    code: Option<String>,
    /// What the authenticator answered, as `PublicKeyCredential.toJSON()` gives it.
    #[schema(value_type = Option<Object>)]
    passkey: Option<Json>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Confirmed {
    confirmed_at: Instant,
    fresh_until: Instant,
}

/// `POST /auth/confirm`
pub(super) async fn confirm(
    caller: Caller<SignedInAnyPin>,
    OptionalBody(body): OptionalBody<Confirm>,
) -> Result<Answer<Confirmed>> {
    let held = asked_of(caller.auth(), caller.user_id).await?;
    let (attempt, shown) = if held.is_empty() {
        (by_pin(&caller, body.pin).await?, None)
    } else {
        let given = Given { code: body.code, passkey: body.passkey, challenge: body.challenge };
        by_factor(&caller, &held, given).await.map(|(attempt, shown)| (attempt, Some(shown)))?
    };
    note(&caller, attempt, shown).await
}

/// Counts a guess as a sign-in is counted; with a code by the person too.
async fn counted(caller: &Caller<SignedInAnyPin>, with_code: bool) -> Result<Attempt> {
    let (auth, user, claimant) = (caller.auth(), &caller.access.user, Claimant::new(caller));
    let mut buckets = throttle::login_buckets(auth, &user.username_folded, Some(user.id), &claimant)?;
    if with_code {
        buckets.push(throttle::factor_bucket(user.id, &claimant));
    }
    throttle::take(auth, &buckets, &claimant).await
}

async fn by_pin(caller: &Caller<SignedInAnyPin>, pin: Option<String>) -> Result<Attempt> {
    // Whoever found out the PIN of a user who must have a second factor sets none up for them.
    if caller.by_pin_alone && caller.auth().must_have_factor(&caller.access) {
        let text = "this account must have a second factor, which is not set up with a PIN alone: sign in with your name \
                    and PIN";
        return Err(Error::new(ErrorCode::SecondFactorMissing, text));
    }
    let pin = pin.ok_or_else(challenge::for_pin)?;
    let attempt = counted(caller, false).await?;
    let (attempt, right) = attempt.verify(caller.auth(), &pin, caller.access.user.pin_hash.clone()).await?;
    if right {
        return Ok(attempt);
    }
    attempt.failed(caller.auth(), caller.audit("session.refused")).await?;
    Err(Error::new(ErrorCode::InvalidCredentials, "the PIN is wrong"))
}

async fn by_factor(caller: &Caller<SignedInAnyPin>, held: &[Factor], given: Given) -> Result<(Attempt, Shown)> {
    let (auth, claimant) = (caller.auth(), Claimant::new(caller));
    let (session, user_id) = (caller.session_id, caller.user_id);
    if given.is_nothing() {
        return Err(challenge::in_session(auth, session, user_id, held).await?);
    }
    let attempt = counted(caller, given.code.is_some()).await?;
    let judged = judge(auth, user_id, Some(session), held, &given).await;
    let (attempt, verdict) = attempt.unless_failed(auth, judged).await?;
    match verdict {
        Verdict::Right(shown) => Ok((attempt, shown)),
        Verdict::Wrong => Err(refuse(auth, attempt, user_id, &claimant).await?),
        Verdict::Gone => {
            attempt.withdraw(auth).await?;
            Err(challenge::in_session(auth, session, user_id, held).await?)
        }
    }
}

/// Writes it into the session's row, where every server reads it.
async fn note(caller: &Caller<SignedInAnyPin>, attempt: Attempt, shown: Option<Shown>) -> Result<Answer<Confirmed>> {
    let (auth, claimant, now) = (caller.auth(), Claimant::new(caller), caller.now());
    let act = caller.begin().await?;
    let mut settled = None;
    if let Some(shown) = &shown {
        settled = shown.settle(&act, caller.user_id, &claimant, now).await?;
        if settled.is_none() {
            drop(act);
            return Err(refuse(auth, attempt, caller.user_id, &claimant).await?);
        }
    }
    if !Sessions::factor_shown(&**act, caller.session_id, now).await? {
        drop(act);
        attempt.withdraw(auth).await?;
        return Err(Error::unauthorized());
    }
    attempt.succeeded(&act, now).await?;
    let mut entry = caller.audit("session.confirm");
    entry.details = json!({"by": shown.as_ref().map_or("pin", Shown::kind)});
    if let Some(settled) = &settled {
        audit::record(&act, settled.line.clone(), now).await?;
    }
    if let Err(error) = act.done(entry).await {
        return attempt.right_all_the_same(auth, error).await;
    }
    if let Some(settled) = settled {
        settled.committed(auth).await;
    }
    throttle::judged(auth);
    auth.sessions.changed(caller.session_id);
    Ok(Answer(Confirmed { confirmed_at: now, fresh_until: fresh_until(now) }))
}
