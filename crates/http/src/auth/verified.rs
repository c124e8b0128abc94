//! Whether a user is who they say, and the refusal when not.

use tillkeep_model::ErrorCode;
use tillkeep_storage::audit;
use tillkeep_storage::entity::user;
use uuid::Uuid;

use super::Auth;
use super::throttle::Attempt;
use crate::error::{Error, Result};
use crate::pins::Pins;

/// One answer and one cost for unknown, inactive and wrong: the person when the PIN is theirs, else who it was not. `pins` says
/// whose places the hash takes.
pub(crate) async fn verified(
    auth: &Auth,
    pins: &Pins,
    attempt: Attempt,
    user: Option<user::Model>,
    pin: &str,
) -> Result<(Attempt, Result<user::Model, Option<Uuid>>)> {
    let hash = match &user {
        Some(user) => auth.hash_of(user).await.map_err(Error::from),
        None => Ok(None),
    };
    let (attempt, hash) = attempt.unless_failed(auth, hash).await?;
    let right = pins.verify(pin, hash).await;
    let (attempt, right) = attempt.unless_failed(auth, right).await?;
    let outcome = match user {
        Some(user) if right => Ok(user),
        user => Err(user.map(|user| user.id)),
    };
    Ok((attempt, outcome))
}

/// The refusal, once the verdict and its line in the audit log are written.
pub(crate) async fn refuse(auth: &Auth, attempt: Attempt, entry: audit::Entry) -> Result<Error> {
    attempt.failed(auth, entry).await?;
    Ok(wrong())
}

/// One answer for an unknown name and a PIN that is not theirs.
pub(super) fn wrong() -> Error {
    Error::new(ErrorCode::InvalidCredentials, "the name or the PIN is wrong")
}
