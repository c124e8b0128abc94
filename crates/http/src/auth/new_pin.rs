//! A PIN that a user is about to get. Whoever proposes one learns whether it is free; so only the owner of an account
//! proposes, few times a day, and a PIN that another user has is worth nothing from then on.

use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::attempts::Bucket;
use tillkeep_storage::db::{Turn, take_turn};
use tillkeep_storage::entity::{kept_verifier, user};
use tillkeep_storage::registry::fold;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, Condition, DbErr, EntityTrait, QueryFilter, QuerySelect, QueryTrait};
use tillkeep_storage::{Tx, audit, staff, user_pins};
use uuid::Uuid;

use super::found::{self, Ended, holders, rivals};
use super::throttle::{self, Attempt, Claimant};
use super::{Access, Auth, Home, Revocation, Sessions};
use crate::error::{Error, Result};
use crate::pins::{self, Hashed, is_former};

/// Refuses a weak PIN of a user who needs `least` digits.
pub fn check_new_pin(pin: &str, least: usize) -> Result<()> {
    match pins::weakness(pin, least) {
        Some(_) => Err(pin_not_allowed(least)),
        None => Ok(()),
    }
}

/// Refuses a new PIN that is to be set by way of a store for a user who holds more than runs one: whoever has that
/// store must not become who they are.
pub fn refuse_at_store(access: &Access) -> Result<()> {
    if !access.holds_beyond_a_store() {
        return Ok(());
    }
    let text = "who holds rights beyond those of a store changes the PIN at headquarters, in the browser there or with POST \
                /api/v1/auth/change-pin; until then the present one is good here";
    Err(Error::new(ErrorCode::ChangeAtHeadquarters, text))
}

/// Hashes a PIN that an operator chose for a user who may do everything, outside of any transaction: it is slow on
/// purpose.
pub async fn hash_new_pin(auth: &Auth, pin: &str) -> Result<Hashed> {
    check_new_pin(pin, auth.pin_min_length_beyond_a_till)?;
    auth.pins.hash(pin).await
}

/// Changes the PIN of `user`, who typed the present one; without a new one only how it is kept. The present one is guessed
/// here no faster than at a sign-in, and counts in the bucket `also` where there is one.
pub async fn change_own(
    auth: &Auth,
    user: &user::Model,
    (claimant, also): (&Claimant, Option<Bucket>),
    current: &str,
    new: Option<&str>,
) -> Result<()> {
    let person = auth.access_of(user.id).await?.ok_or_else(Error::unauthorized)?;
    let least = auth.least_digits(&person);
    if let Some(new) = new {
        check_new_pin(new, least)?;
    }
    let mut buckets = throttle::account_buckets(auth, &fold(&user.username), Some(user.id), claimant)?;
    buckets.extend(also);
    let attempt = throttle::take(auth, &buckets, claimant).await?;
    let hash = auth.hash_of(user).await.map_err(Error::from);
    let (attempt, hash) = attempt.unless_failed(auth, hash).await?;
    let (attempt, right) = attempt.verify(auth, current, hash).await?;
    if !right {
        return Err(wrong(auth, attempt, claimant, user).await?);
    }
    let Some(new) = new else {
        let renewed = renew(auth, user, current).await;
        let (attempt, ()) = attempt.unless_failed(auth, renewed).await?;
        let tx = auth.db.begin_aside().await?;
        attempt.succeeded(&tx, auth.clock.now()).await?;
        tx.commit().await?;
        throttle::judged(auth);
        return Ok(());
    };
    if new == current {
        return attempt.unless_failed(auth, Err(pin_not_allowed(least))).await.map(|(_, ())| ());
    }
    let proposed = propose(auth, user, claimant, new).await;
    let (attempt, (proposed, hashed)) = attempt.unless_failed(auth, proposed).await?;
    settle(auth, (user, claimant), attempt, proposed, &hashed, least).await
}

/// The present PIN was not what was typed.
async fn wrong(auth: &Auth, attempt: Attempt, claimant: &Claimant, user: &user::Model) -> Result<Error> {
    attempt.failed(auth, claimant.audit("pin.refused", Some(user.id))).await?;
    Ok(Error::new(ErrorCode::InvalidCredentials, "the current PIN is wrong"))
}

/// Counts what a user proposes, taken or not and for good: whoever changes it again and again learns of each whether
/// another user has it. It also counts for who made their account.
async fn propose(auth: &Auth, user: &user::Model, claimant: &Claimant, new: &str) -> Result<(Attempt, Hashed)> {
    let counts_for = user_pins::counts_for(auth.db.reader(), user, auth.clock.now()).await?;
    let proposed = throttle::take(auth, &throttle::proposal_buckets(user.id, counts_for), claimant).await?;
    proposed.hash(auth, new).await
}

/// Sets the PIN that was proposed, or ends those of the people who have it.
async fn settle(
    auth: &Auth,
    (user, claimant): (&user::Model, &Claimant),
    attempt: Attempt,
    proposed: Attempt,
    hashed: &Hashed,
    least: usize,
) -> Result<()> {
    let (now, which) = (auth.clock.now(), Revocation::AllOf(user.id));
    let mut tx = auth.db.begin().await?;
    // Of two who propose the same PIN at once the second one sees the first.
    take_turn(&tx, Turn::Pin).await?;
    // Another request may have set another one since the present one was verified: then it is not the present one any
    // more.
    let still = user::Entity::find_by_id(user.id).filter(same_pin(auth, user)).lock_exclusive().one(&tx).await?;
    if still.is_none() {
        drop(tx);
        proposed.withdraw(auth).await?;
        return Err(wrong(auth, attempt, claimant, user).await?);
    }
    let owners = rivals(auth, &tx, user.id, hashed.lookups()).await?;
    let (ended, lines) = if owners.is_empty() {
        write_pin(&mut tx, user.id, hashed, None, now).await?;
        Sessions::revoke(&*tx, which, "the PIN was changed", now).await?;
        (Ended::default(), vec![claimant.audit("pin.change", Some(user.id))])
    } else {
        let entry = claimant.audit("pin.taken", Some(user.id));
        let mut ended = found::hit(auth, &mut tx, &owners, &entry, now).await?;
        let lines = std::mem::take(&mut ended.lines);
        (ended, lines)
    };
    proposed.proposed(&tx, owners.is_empty(), now).await?;
    // The present one was right in any case.
    attempt.succeeded(&tx, now).await?;
    audit::record_all(&tx, lines, now).await?;
    auth.commit(tx).await?;
    throttle::judged(auth);
    ended.tell(auth);
    if !owners.is_empty() {
        return Err(pin_not_allowed(least));
    }
    auth.ended(which);
    Ok(())
}

/// Keeps a PIN that was typed, and was made by release 0.1.0, as PINs are kept now; as long as a store has that release,
/// its owner could not sign in there with it.
pub async fn renew(auth: &Auth, user: &user::Model, pin: &str) -> Result<()> {
    let Some(former) = user.pin_hash.as_deref().filter(|hash| is_former(hash)) else { return Ok(()) };
    if staff::former_stores(auth.db.reader()).await? > 0 {
        return Ok(());
    }
    let hashed = auth.pins.hash(pin).await?;
    let mut tx = auth.db.begin().await?;
    take_turn(&tx, Turn::Pin).await?;
    if !rivals(auth, &tx, user.id, hashed.lookups()).await?.is_empty() {
        // Two people have it, which nothing tells of the way it was kept: it stays as it is, and finds no user here.
        return Ok(());
    }
    let kept = user::Entity::find_by_id(user.id).one(&tx).await?.and_then(|kept| kept.pin_lookup);
    let lookup = kept.filter(|kept| user_pins::is_withheld(kept)).unwrap_or(hashed.lookup);
    tx.update::<user::Entity>(|people| {
        people
            .col_expr(user::Column::PinHash, Expr::value(hashed.hash))
            .col_expr(user::Column::PinLookup, Expr::value(lookup))
            .filter(user::Column::Id.eq(user.id))
            // No other request has set another one meanwhile.
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

/// Whether an active user has this PIN, wherever they work: one that is made here has no owner yet.
pub async fn is_taken(auth: &Auth, hashed: &Hashed) -> Result<bool, DbErr> {
    Ok(holders(hashed.lookups()).one(auth.db.reader()).await?.is_some())
}

/// Who made a PIN: whoever has the machine is not named.
#[derive(Clone, Copy, Debug)]
pub struct Maker {
    /// For whom counts what its owner proposes at first.
    pub counts_for: Option<Uuid>,
}

/// Sets a user's PIN, which no other user may have in the same stores; `by` made it, or else its owner chose it.
pub async fn set_pin(
    auth: &Auth,
    tx: &mut Tx,
    user_id: Uuid,
    hashed: &Hashed,
    by: Option<Maker>,
    now: Instant,
) -> Result<()> {
    take_turn(tx, Turn::Pin).await?;
    if !rivals(auth, &*tx, user_id, hashed.lookups()).await?.is_empty() {
        return Err(pin_not_allowed(auth.pin_min_length));
    }
    write_pin(tx, user_id, hashed, by, now).await?;
    Ok(())
}

async fn write_pin(tx: &mut Tx, user_id: Uuid, hashed: &Hashed, by: Option<Maker>, now: Instant) -> Result<(), DbErr> {
    tx.update::<user::Entity>(|people| {
        people
            .col_expr(user::Column::PinHash, Expr::value(hashed.hash.as_str()))
            .col_expr(user::Column::PinLookup, Expr::value(hashed.lookup.as_str()))
            .col_expr(user::Column::PinChangedAt, Expr::value(now))
            .col_expr(user::Column::MustChangePin, Expr::value(by.is_some()))
            .col_expr(user::Column::UpdatedAt, Expr::value(now))
            .filter(user::Column::Id.eq(user_id))
    })
    .await?;
    match by {
        Some(Maker { counts_for }) => user_pins::made(tx, user_id, counts_for, hashed.digits, now).await,
        None => user_pins::chosen(tx, user_id, hashed.digits).await,
    }
}

/// One answer for a weak PIN and for one that is taken; it has `least` digits at the least.
pub fn pin_not_allowed(least: usize) -> Error {
    let most = pins::LONGEST;
    let text = format!(
        "this PIN cannot be used, choose another one: {least} to {most} digits, no repeats, runs, years or dates, not the \
         present one, and not every PIN is free"
    );
    Error::new(ErrorCode::PinNotAllowed, text).at("newPin")
}
