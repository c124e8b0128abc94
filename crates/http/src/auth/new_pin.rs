//! A PIN that is about to become somebody's.

use tillkeep_model::permission::Requirement;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::db::{Turn, take_turn};
use tillkeep_storage::entity::user;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use tillkeep_storage::{Tx, audit};
use uuid::Uuid;

use super::throttle::{self, Attempt, Trying};
use super::{Auth, Caller};
use crate::error::{Error, Result};
use crate::pins::{self, Hashed};

/// Refuses a weak PIN.
pub fn check_new_pin(auth: &Auth, pin: &str) -> Result<()> {
    match pins::weakness(pin, auth.pin_min_length) {
        Some(_) => Err(pin_not_allowed(auth)),
        None => Ok(()),
    }
}

/// Hashes a PIN that somebody chose, outside of any transaction: it is slow on purpose.
pub async fn hash_new_pin(auth: &Auth, pin: &str) -> Result<Hashed> {
    check_new_pin(auth, pin)?;
    auth.pins.hash(pin).await
}

/// A PIN that the caller proposes, hashed and counted: as one that is taken, until it is settled as free.
pub async fn propose<P: Requirement>(caller: &Caller<P>, pin: &str) -> Result<(Attempt, Hashed)> {
    let auth = caller.auth();
    check_new_pin(auth, pin)?;
    let attempt = throttle::take(auth, &[throttle::proposal_bucket(caller.user_id)], &Trying::of(caller)).await?;
    let hashed = auth.pins.hash(pin).await;
    attempt.unless_failed(auth, hashed).await
}

/// Notes in the audit log that the caller proposed a PIN that is taken, and says no.
pub async fn taken<P: Requirement>(caller: &Caller<P>, error: Error) -> Result<Error> {
    if error.code() == ErrorCode::PinNotAllowed {
        let tx = caller.db().begin_aside().await?;
        audit::record(&tx, caller.audit("pin.refused"), caller.now()).await?;
        tx.commit().await?;
    }
    Ok(error)
}

/// Sets a user's PIN, which must be nobody else's; that is answered like a weak one, because "in use" would name
/// somebody's PIN.
pub async fn set_pin(
    auth: &Auth,
    tx: &mut Tx,
    user_id: Uuid,
    hashed: Hashed,
    must_change: bool,
    now: Instant,
) -> Result<()> {
    // Of two who set the same PIN at once the second one sees the first.
    take_turn(tx, Turn::Pin).await?;
    let taken = user::Entity::find()
        .filter(user::Column::PinLookup.eq(hashed.lookup.as_str()))
        .filter(user::Column::Id.ne(user_id))
        .filter(user::Column::DeletedAt.is_null())
        .filter(user::Column::IsActive.eq(true))
        .one(&*tx)
        .await?;
    if taken.is_some() {
        return Err(pin_not_allowed(auth));
    }
    user::Entity::update_many()
        .col_expr(user::Column::PinHash, Expr::value(hashed.hash))
        .col_expr(user::Column::PinLookup, Expr::value(hashed.lookup))
        .col_expr(user::Column::PinChangedAt, Expr::value(now))
        .col_expr(user::Column::MustChangePin, Expr::value(must_change))
        .col_expr(user::Column::UpdatedAt, Expr::value(now))
        .col_expr(user::Column::SyncVersion, Expr::value(tillkeep_storage::versions::UNSTAMPED))
        .filter(user::Column::Id.eq(user_id))
        .exec(&*tx)
        .await?;
    tx.touch("users");
    Ok(())
}

/// One answer for a weak PIN and for one that somebody has.
pub fn pin_not_allowed(auth: &Auth) -> Error {
    let (least, most) = (auth.pin_min_length, pins::LONGEST);
    let text = format!(
        "this PIN cannot be used: {least} to {most} digits, no repeats, runs or years, and not every PIN is free"
    );
    Error::new(ErrorCode::PinNotAllowed, text).at("pin")
}
