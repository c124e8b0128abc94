//! What a person does with their own account. These three are open to somebody who must change their PIN first.

use serde::Deserialize;
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::SignedInAnyPin;
use tillkeep_storage::audit;
use tillkeep_storage::registry::fold;
use utoipa::ToSchema;

use super::answers::Myself;
use crate::answer::{Answer, NoContent};
use crate::auth::new_pin::{check_new_pin, propose, set_pin, taken};
use crate::auth::throttle::{self, Trying};
use crate::auth::{Caller, Home, Revocation, Sessions};
use crate::describe;
use crate::error::{Error, Result};
use crate::extract::Body;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChangePin {
    current_pin: String,
    #[schema(schema_with = describe::new_pin)]
    new_pin: String,
}

/// `GET /auth/me`
pub async fn me(caller: Caller<SignedInAnyPin>) -> Result<Answer<Myself>> {
    Ok(Answer(Myself::of(&caller.access, caller.store_id, caller.terminal_id.as_deref())))
}

/// `POST /auth/logout`
pub async fn logout(caller: Caller<SignedInAnyPin>) -> Result<NoContent> {
    let which = Revocation::One(caller.session_id);
    let tx = caller.db().begin().await?;
    Sessions::revoke(&tx, which, "logout", caller.now()).await?;
    audit::record(&tx, caller.audit("logout"), caller.now()).await?;
    tx.commit().await?;
    caller.auth().sessions.ended(which);
    Ok(NoContent)
}

/// `POST /auth/change-pin`: HQ only, as users are HQ's. The present PIN is guessed here no faster than at a sign-in.
pub async fn change_pin(caller: Caller<SignedInAnyPin>, Body(body): Body<ChangePin>) -> Result<NoContent> {
    let auth = caller.auth().clone();
    if auth.home != Home::Hq {
        return Err(Error::new(ErrorCode::OwnedByHq, "PINs are changed at headquarters"));
    }
    check_new_pin(&auth, &body.new_pin)?;
    let trying = Trying::of(&caller);
    let name = fold(&caller.access.user.username);
    let buckets = throttle::account_buckets(&auth, &name, Some(caller.user_id), &trying)?;
    let attempt = throttle::take(&auth, &buckets, &trying).await?;
    let (attempt, right) = attempt.verify(&auth, &body.current_pin, caller.access.user.pin_hash.clone()).await?;
    if !right {
        let tx = auth.db.begin_aside().await?;
        audit::record(&tx, trying.audit("pin.refused", Some(caller.user_id)), caller.now()).await?;
        tx.commit().await?;
        return Err(Error::new(ErrorCode::InvalidCredentials, "the current PIN is wrong"));
    }
    // It counts whether it is free or not: who changes it again and again learns of each whether somebody has it.
    let proposed = propose(&caller, &body.new_pin).await;
    let (attempt, (_, hashed)) = attempt.unless_failed(&auth, proposed).await?;
    let now = caller.now();
    let which = Revocation::AllOf(caller.user_id);
    let mut tx = auth.db.begin().await?;
    let done = set_pin(&auth, &mut tx, caller.user_id, hashed, false, now).await;
    if let Err(error) = done {
        drop(tx);
        // The PIN of somebody else: the present one was right all the same.
        let error = taken(&caller, error).await?;
        return attempt.unless_failed(&auth, Err(error)).await.map(|(_, done)| done);
    }
    Sessions::revoke(&*tx, which, "the PIN was changed", now).await?;
    attempt.succeeded(&tx, now).await?;
    audit::record(&tx, caller.audit("pin.change"), now).await?;
    let changes = tx.commit().await?;
    auth.sessions.ended(which);
    auth.committed(&changes);
    Ok(NoContent)
}
