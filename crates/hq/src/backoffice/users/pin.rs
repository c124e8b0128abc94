//! Setting the PIN of a user: always one that is made here, shown once, and good for one sign-in. Who could choose it
//! would learn which PINs are taken.

use serde::{Deserialize, Serialize};
use tillkeep_http::auth::new_pin::{self, Maker, is_taken, pin_not_allowed};
use tillkeep_http::auth::people::person_of;
use tillkeep_http::auth::{Revocation, Sessions};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::pins::{self, Hashed, is_former};
use tillkeep_http::{Answer, Auth, Body, Caller, Id};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::UsersEdit;
use tillkeep_model::permission::{Fresh, Requirement};
use tillkeep_storage::entity::user::Model;
use tillkeep_storage::{known_places, user_pins};
use utoipa::ToSchema;

use super::fields::KIND;
use super::grants;
use crate::backoffice::rows;

/// Random PINs tried before giving up: one in a hundred is taken in a chain of ten thousand people.
const TRIES: usize = 10;

/// Nothing: the PIN is made here.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewPin {
    #[serde(default)]
    #[schema(ignore)]
    pin: Option<serde::de::IgnoredAny>,
}

/// A PIN that was made here, shown this once; its owner has to change it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MadePin {
    generated_pin: String,
}

/// Refuses a PIN that one user chose for another.
pub(super) fn refuse_chosen(is_chosen: bool) -> Result<()> {
    if !is_chosen {
        return Ok(());
    }
    let text = "leave the PIN out: one is made, shown once, and changed by its owner at the first sign-in";
    Err(Error::new(ErrorCode::PinIsGenerated, text).at("pin"))
}

/// `POST /users/{id}/pin`: the user's sessions end with the old PIN.
pub(super) async fn set_pin(
    caller: Caller<Fresh<UsersEdit>>,
    Id(id): Id,
    Body(body): Body<NewPin>,
) -> Result<Answer<MadePin>> {
    refuse_chosen(body.pin.is_some())?;
    let person = person_of(&caller, id).await?;
    grants::refuse_impersonation(&caller, &person)?;
    if id == caller.user_id {
        // A borrowed session must not become an account.
        let text = "your own PIN is changed with POST /api/v1/auth/change-pin, which asks for the present one";
        return Err(Error::new(ErrorCode::SelfDeactivation, text));
    }
    let auth = caller.auth();
    let (generated_pin, hashed) = generate(auth).await?;
    let (now, by) = (caller.now(), maker(&caller).await?);
    let which = Revocation::AllOf(id);
    let mut act = caller.begin().await?;
    new_pin::set_pin(auth, &mut act, id, &hashed, Some(by), now).await?;
    Sessions::revoke(&**act, which, "the PIN was changed", now).await?;
    known_places::forget(&act, id).await?;
    act.done(rows::entry(&caller, "user.pin", KIND.name(), id, serde_json::Value::Null)).await?;
    auth.ended(which);
    Ok(Answer(MadePin { generated_pin }))
}

/// A random PIN that no user has, with its hash.
pub(super) async fn generate(auth: &Auth) -> Result<(String, Hashed)> {
    for _ in 0..TRIES {
        let pin = pins::generate(auth.pin_min_length_beyond_a_till);
        let hashed = auth.pins.hash(&pin).await?;
        if !is_taken(auth, &hashed).await? {
            return Ok((pin, hashed));
        }
    }
    Err(pin_not_allowed(auth.pin_min_length))
}

/// Whoever answers at first for what the owner of a PIN proposes that the caller makes.
pub(super) async fn maker<P: Requirement>(caller: &Caller<P>) -> Result<Maker> {
    let counts_for = user_pins::counts_for(caller.reader(), &caller.access.user, caller.now()).await?;
    Ok(Maker { counts_for: Some(counts_for) })
}

/// A PIN of release 0.1.0 ends where its user is activated: how it was kept does not tell whether another one has it
/// now.
pub(super) fn end_former(user: &mut Model) {
    if user.pin_hash.as_deref().is_some_and(is_former) {
        (user.pin_hash, user.pin_lookup) = (None, None);
    }
}
