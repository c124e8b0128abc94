//! A PIN that is about to become somebody's. Whoever proposes one learns whether it is free; so only the owner of an account
//! proposes, few times a day, and a PIN that somebody has is made to change.

use serde_json::json;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::db::{Turn, take_turn};
use tillkeep_storage::entity::{kept_verifier, user};
use tillkeep_storage::registry::fold;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{
    ColumnTrait, Condition, DbErr, EntityTrait, QueryFilter, QuerySelect, QueryTrait, Select,
};
use tillkeep_storage::{Tx, audit, staff};
use uuid::Uuid;

use super::throttle::{self, Claimant};
use super::{Access, Auth, Home, Revocation, Sessions};
use crate::error::{Error, Result};
use crate::pins::{self, Hashed, is_former};

/// Refuses a weak PIN.
pub fn check_new_pin(auth: &Auth, pin: &str) -> Result<()> {
    match pins::weakness(pin, auth.pin_min_length) {
        Some(_) => Err(pin_not_allowed(auth)),
        None => Ok(()),
    }
}

/// Refuses a new PIN that is to be set by way of a store for somebody who holds more than runs one: whoever has that store must not
/// become who they are.
pub fn refuse_at_store(access: &Access) -> Result<()> {
    if !access.holds_beyond_a_store() {
        return Ok(());
    }
    let text = "who holds rights beyond those of a store changes the PIN at headquarters, in the browser there or with POST \
                /api/v1/auth/change-pin; until then the present one is good here";
    Err(Error::new(ErrorCode::ChangeAtHeadquarters, text))
}

/// Hashes a PIN that somebody chose, outside of any transaction: it is slow on purpose.
pub async fn hash_new_pin(auth: &Auth, pin: &str) -> Result<Hashed> {
    check_new_pin(auth, pin)?;
    auth.pins.hash(pin).await
}

/// Changes the PIN of `user`, who typed the present one; without a new one only how it is kept. The present one is guessed
/// here no faster than at a sign-in.
pub async fn change_own(
    auth: &Auth,
    user: &user::Model,
    claimant: &Claimant,
    current: &str,
    new: Option<&str>,
) -> Result<()> {
    if let Some(new) = new {
        check_new_pin(auth, new)?;
    }
    let buckets = throttle::account_buckets(auth, &fold(&user.username), Some(user.id), claimant)?;
    let attempt = throttle::take(auth, &buckets, claimant).await?;
    let (attempt, right) = attempt.verify(auth, current, user.pin_hash.clone()).await?;
    if !right {
        attempt.failed(auth, claimant.audit("pin.refused", Some(user.id))).await?;
        return Err(Error::new(ErrorCode::InvalidCredentials, "the current PIN is wrong"));
    }
    let now = auth.clock.now();
    let Some(new) = new else {
        let renewed = renew(auth, user, current).await;
        let (attempt, ()) = attempt.unless_failed(auth, renewed).await?;
        let tx = auth.db.begin_aside().await?;
        attempt.succeeded(&tx, now).await?;
        tx.commit().await?;
        throttle::judged(auth);
        return Ok(());
    };
    if new == current {
        return attempt.unless_failed(auth, Err(pin_not_allowed(auth))).await.map(|(_, ())| ());
    }
    // It counts whether it is free or not, and for good: who changes it again and again learns of each whether somebody has
    // it.
    let proposed = throttle::take(auth, &[throttle::proposal_bucket(user.id)], claimant).await;
    let (attempt, proposed) = attempt.unless_failed(auth, proposed).await?;
    let hashed = proposed.hash(auth, new).await;
    let (attempt, hashed) = attempt.unless_failed(auth, hashed).await?;
    let which = Revocation::AllOf(user.id);
    let mut tx = auth.db.begin().await?;
    // Somebody may have set another one since the present one was verified: then it is not the present one any more.
    take_turn(&tx, Turn::Pin).await?;
    let still = user::Entity::find_by_id(user.id).filter(same_pin(auth, user)).lock_exclusive().one(&tx).await?;
    if still.is_none() {
        drop(tx);
        attempt.failed(auth, claimant.audit("pin.refused", Some(user.id))).await?;
        return Err(Error::new(ErrorCode::InvalidCredentials, "the current PIN is wrong"));
    }
    if let Err(error) = set_pin(auth, &mut tx, user.id, &hashed, false, now).await {
        drop(tx);
        if error.code() == ErrorCode::PinNotAllowed {
            expose(auth, &hashed, claimant.audit("pin.taken", Some(user.id))).await?;
        }
        // The PIN of somebody else: the present one was right all the same.
        return attempt.unless_failed(auth, Err(error)).await.map(|(_, done)| done);
    }
    Sessions::revoke(&*tx, which, "the PIN was changed", now).await?;
    attempt.succeeded(&tx, now).await?;
    audit::record(&tx, claimant.audit("pin.change", Some(user.id)), now).await?;
    auth.commit(tx).await?;
    throttle::judged(auth);
    auth.ended(which);
    Ok(())
}

/// Somebody proposed a PIN that somebody else has, and knows it from now on: its owner has to change it at the next
/// sign-in, and whoever reads the log and the figures of this server hears of it.
async fn expose(auth: &Auth, hashed: &Hashed, mut entry: audit::Entry) -> Result<()> {
    let mut tx = auth.db.begin().await?;
    let Some(owner) = holders(hashed).one(&tx).await? else { return Ok(()) };
    tracing::warn!(owner = %owner.id, "somebody proposed a PIN that is taken; its owner has to change it");
    metrics::counter!("tillkeep_pins_exposed_total").increment(1);
    tx.update::<user::Entity>(|people| {
        people.col_expr(user::Column::MustChangePin, Expr::value(true)).filter(user::Column::Id.eq(owner.id))
    })
    .await?;
    entry.entity_type = Some("users");
    entry.entity_id = Some(owner.id.to_string());
    entry.details["ownerMustChange"] = json!(true);
    audit::record(&tx, entry, auth.clock.now()).await?;
    auth.commit(tx).await?;
    Ok(())
}

/// Keeps a PIN that was typed, and was made by release 0.1.0, as PINs are kept now; as long as a store has that release,
/// nobody could sign in there with it.
pub async fn renew(auth: &Auth, user: &user::Model, pin: &str) -> Result<()> {
    let Some(former) = user.pin_hash.as_deref().filter(|hash| is_former(hash)) else { return Ok(()) };
    if staff::former_stores(auth.db.reader()).await? > 0 {
        return Ok(());
    }
    let hashed = auth.pins.hash(pin).await?;
    let mut tx = auth.db.begin().await?;
    take_turn(&tx, Turn::Pin).await?;
    if holders(&hashed).filter(user::Column::Id.ne(user.id)).one(&tx).await?.is_some() {
        // Two people have it, which nothing tells of the way it was kept: it stays as it is, and names nobody here.
        return Ok(());
    }
    tx.update::<user::Entity>(|people| {
        people
            .col_expr(user::Column::PinHash, Expr::value(hashed.hash))
            .col_expr(user::Column::PinLookup, Expr::value(hashed.lookup))
            .filter(user::Column::Id.eq(user.id))
            // Nobody has set another one meanwhile.
            .filter(user::Column::PinHash.eq(former))
    })
    .await?;
    auth.commit(tx).await?;
    Ok(())
}

/// Follows a sign-in with `pin`: one from release 0.1.0 is kept in the present way from then on, which only headquarters can
/// do. Whoever signs in does not wait for that, nor hear of it.
pub async fn rehash(auth: &Auth, user: &user::Model, pin: &str) {
    if !user.pin_hash.as_deref().is_some_and(is_former) {
        return;
    }
    if auth.home == Home::Hq {
        if let Err(error) = renew(auth, user, pin).await {
            tracing::warn!(%error, "a PIN of an earlier release stays as it is until the next sign-in");
        }
    } else if let Ok(headquarters) = auth.headquarters().cloned() {
        let (user_id, pin) = (user.id, pin.to_owned());
        tokio::spawn(async move {
            if let Err(error) = headquarters.change_pin(user_id, pin, None).await {
                tracing::debug!(%error, "a PIN of an earlier release stays as it is until the next sign-in");
            }
        });
    }
}

/// Whether the PIN that was verified is still the one: as it was kept then, or rehashed since release 0.1.0, which changes no PIN.
pub(crate) fn same_pin(auth: &Auth, user: &user::Model) -> Condition {
    let mut same = Condition::any().add(user::Column::PinHash.eq(user.pin_hash.clone()));
    if auth.home != Home::Hq {
        let kept = kept_verifier::Entity::find()
            .select_only()
            .column(kept_verifier::Column::UserId)
            .filter(kept_verifier::Column::PinHash.eq(user.pin_hash.clone()));
        same = same.add(user::Column::Id.in_subquery(kept.into_query()));
    }
    if !user.pin_hash.as_deref().is_some_and(is_former) {
        return same;
    }
    let changed = user::Column::PinChangedAt;
    same.add(user.pin_changed_at.map_or_else(|| changed.is_null(), |at| changed.eq(at)))
}

/// The active people who have this PIN.
fn holders(hashed: &Hashed) -> Select<user::Entity> {
    user::Entity::find()
        .filter(user::Column::PinLookup.is_in(hashed.lookups()))
        .filter(user::Column::DeletedAt.is_null())
        .filter(user::Column::IsActive.eq(true))
}

/// Whether somebody active has this PIN.
pub async fn is_taken(auth: &Auth, hashed: &Hashed) -> Result<bool, DbErr> {
    Ok(holders(hashed).one(auth.db.reader()).await?.is_some())
}

/// Sets a user's PIN, which must be nobody else's; that is answered like a weak one, because "in use" would name
/// somebody's PIN.
pub async fn set_pin(
    auth: &Auth,
    tx: &mut Tx,
    user_id: Uuid,
    hashed: &Hashed,
    must_change: bool,
    now: Instant,
) -> Result<()> {
    // Of two who set the same PIN at once the second one sees the first.
    take_turn(tx, Turn::Pin).await?;
    if holders(hashed).filter(user::Column::Id.ne(user_id)).one(&*tx).await?.is_some() {
        return Err(pin_not_allowed(auth));
    }
    tx.update::<user::Entity>(|people| {
        people
            .col_expr(user::Column::PinHash, Expr::value(hashed.hash.as_str()))
            .col_expr(user::Column::PinLookup, Expr::value(hashed.lookup.as_str()))
            .col_expr(user::Column::PinChangedAt, Expr::value(now))
            .col_expr(user::Column::MustChangePin, Expr::value(must_change))
            .col_expr(user::Column::UpdatedAt, Expr::value(now))
            .filter(user::Column::Id.eq(user_id))
    })
    .await?;
    Ok(())
}

/// One answer for a weak PIN and for one that somebody has.
pub fn pin_not_allowed(auth: &Auth) -> Error {
    let (least, most) = (auth.pin_min_length, pins::LONGEST);
    let text = format!(
        "this PIN cannot be used: {least} to {most} digits, no repeats, runs, years or dates, not the present one, and not \
         every PIN is free"
    );
    Error::new(ErrorCode::PinNotAllowed, text).at("newPin")
}
