//! What a person does with their own account. These three are open to a user who must change their PIN first.

use serde::Deserialize;
use tillkeep_model::permission::SignedInAnyPin;
use utoipa::ToSchema;

use super::answers::Myself;
use crate::answer::{Answer, NoContent};
use crate::auth::new_pin::{change_own, check_new_pin, refuse_at_store};
use crate::auth::throttle::Claimant;
use crate::auth::{Caller, Home, Revocation, Sessions};
use crate::describe;
use crate::error::Result;
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
    Ok(Answer(Myself::new(caller.auth(), &caller.access, caller.store_id, caller.terminal_id.as_deref())))
}

/// `POST /auth/logout`
pub async fn logout(caller: Caller<SignedInAnyPin>) -> Result<NoContent> {
    let which = Revocation::One(caller.session_id);
    let act = caller.begin().await?;
    Sessions::revoke(&**act, which, "logout", caller.now()).await?;
    act.done(caller.audit("logout")).await?;
    caller.auth().ended(which);
    Ok(NoContent)
}

/// `POST /auth/change-pin`: users are HQ's, so that a store forwards it. The present PIN is guessed here no faster than at a
/// sign-in.
pub async fn change_pin(caller: Caller<SignedInAnyPin>, Body(body): Body<ChangePin>) -> Result<NoContent> {
    let auth = caller.auth();
    match auth.home {
        Home::Hq => {
            // Whoever found out the PIN alone must not put their own in its place.
            if auth.is_asked_for_factor(caller.access.has_factor) {
                auth.require_fresh(caller.session_id, caller.factor_at).await?;
            }
            let (claimant, user) = (Claimant::new(&caller), &caller.access.user);
            change_own(auth, user, (&claimant, None), &body.current_pin, Some(&body.new_pin)).await?;
        }
        Home::Store(_) => {
            refuse_at_store(&caller.access)?;
            // What is refused here needs no line. How long it must be for this person headquarters says.
            check_new_pin(&body.new_pin, auth.pin_min_length)?;
            auth.headquarters()?.change_pin(caller.user_id, body.current_pin, Some(body.new_pin)).await?;
        }
    }
    Ok(NoContent)
}
