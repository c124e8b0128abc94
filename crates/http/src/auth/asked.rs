//! People of whom a store asks headquarters: both sides of it. `docs/security.md`, PINs.

use tillkeep_model::wire::StoreSignIn;
use tillkeep_storage::attempts::{Bucket, Kind};
use tillkeep_storage::entity::user;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use tillkeep_storage::{kept_verifiers, user_pins};
use uuid::Uuid;

use super::people::{of_name, staff};
use super::throttle::{self, Attempt, Claimant};
use super::verified::{refuse, verified, wrong};
use super::{Auth, Home, is_active};
use crate::error::Result;

/// Characters of a PIN or a name that is passed on at the most: none is longer.
const LONGEST: usize = 100;

/// Whoever was found by a name, with what this store keeps to verify them where it has nothing of their own.
pub(crate) async fn with_kept(auth: &Auth, user: Option<user::Model>) -> Result<Option<user::Model>> {
    let Some(user) = user else { return Ok(None) };
    if auth.home == Home::Hq || user.pin_hash.is_some() {
        return Ok(Some(user));
    }
    let pin_hash = kept_verifiers::of_person(auth.db.reader(), user.id, auth.clock.now()).await?;
    Ok(Some(user::Model { pin_hash, ..user }))
}

/// The active person whom this store keeps under one of these look-up keys.
pub(crate) async fn kept_under(auth: &Auth, lookup: &[String]) -> Result<Option<user::Model>> {
    if auth.home == Home::Hq {
        return Ok(None);
    }
    let conn = auth.db.reader();
    let Some((id, hash)) = kept_verifiers::of_lookup(conn, lookup, auth.clock.now()).await? else { return Ok(None) };
    let person = user::Entity::find_by_id(id)
        .filter(user::Column::DeletedAt.is_null())
        .filter(user::Column::IsActive.eq(true))
        .filter(user::Column::PinHash.is_null());
    Ok(person.one(conn).await?.map(|person| user::Model { pin_hash: Some(hash), ..person }))
}

/// The person whom headquarters knows by this PIN, when no user here was found by it and there is a line. Whatever else
/// headquarters says, or that it says nothing, is judged by what is here.
pub(crate) async fn ask(
    auth: &Auth,
    claimant: &Claimant,
    username: Option<&str>,
    pin: &str,
) -> Result<Option<user::Model>> {
    let headquarters = auth.headquarters().ok().filter(|headquarters| headquarters.is_there());
    let fits = |text: &str| !text.is_empty() && text.len() <= LONGEST;
    let Some(headquarters) = headquarters.filter(|_| fits(pin) && username.is_none_or(fits)) else { return Ok(None) };
    let asked = StoreSignIn {
        username: username.map(str::to_owned),
        pin: pin.to_owned(),
        terminal_id: claimant.terminal_id.clone(),
    };
    let Some((person, said)) = headquarters.sign_in(asked).await else { return Ok(None) };
    if person.pin_hash.is_some() {
        // What changed of them a moment ago is here by now.
        return Ok(Some(person));
    }
    let Home::Store(store) = auth.home else { return Ok(None) };
    let tx = auth.db.begin_aside().await?;
    // Unless they are not who they were any more.
    let now = user::Entity::find_by_id(person.id).one(&tx).await?;
    let same = now.is_some_and(|now| is_who_they_were(&person, &now));
    let verifiers = (said.pin_hash.clone(), said.pin_lookup);
    if !same || !kept_verifiers::keep(&tx, store, &person, verifiers, said.keep_days, auth.clock.now()).await? {
        return Ok(None);
    }
    tx.commit().await?;
    Ok(Some(user::Model { pin_hash: Some(said.pin_hash), ..person }))
}

/// Whether the row `now` says of the active `person` what counts for a PIN: a sign-in at another till in between changes none of it.
fn is_who_they_were(person: &user::Model, now: &user::Model) -> bool {
    let counts = |row: &user::Model| (row.id, row.pin_changed_at, row.updated_at, is_active(row));
    is_active(person) && counts(person) == counts(now)
}

/// At headquarters, the bucket of what one store asks.
pub fn bucket(store_id: Uuid) -> Bucket {
    Bucket::new(Kind::StoreSignIn, "").at(store_id)
}

/// At headquarters, the bucket of names that one store asks for.
fn names(store_id: Uuid) -> Bucket {
    Bucket::new(Kind::LoginAddress, "names").at(store_id)
}

/// At headquarters, the person whom a store asks for: an active user whose role counts there, one that counts
/// everywhere only where the operator wants it, and no user whose PIN another one knows. 401 for all others alike, at
/// the same cost, and 429 once too many were wrong for this store.
pub async fn judge(
    auth: &Auth,
    store_id: Uuid,
    everywhere: bool,
    claimant: &Claimant,
    asked: &StoreSignIn,
) -> Result<(Attempt, user::Model)> {
    let mut buckets = vec![bucket(store_id)];
    buckets.extend(asked.username.as_ref().map(|_| names(store_id)));
    let (attempt, pins) = (throttle::take(auth, &buckets, claimant).await?, auth.pins.for_stores());
    let people = user::Entity::find()
        .filter(user::Column::DeletedAt.is_null())
        .filter(user::Column::IsActive.eq(true))
        .filter(user::Column::Id.in_subquery(staff([store_id], everywhere)));
    let (attempt, who) = if let Some(username) = &asked.username {
        let named = of_name(auth, username).await;
        let (attempt, named) = attempt.unless_failed(auth, named.map_err(Into::into)).await?;
        (attempt, user::Column::Id.eq(named.map_or(Uuid::nil(), |named| named.id)))
    } else {
        let looked_up = pins.lookup(&asked.pin).await;
        let (attempt, lookup) = attempt.unless_failed(auth, looked_up).await?;
        (attempt, user::Column::PinLookup.is_in(&lookup))
    };
    let found = people.filter(who).limit(2).all(auth.db.reader()).await;
    let (attempt, mut found) = attempt.unless_failed(auth, found.map_err(Into::into)).await?;
    // Of several no user is taken for another.
    let candidate = found.pop().filter(|_| found.is_empty());
    // No store asks for the second factor that the finder of such a PIN lacks.
    let candidate = candidate.filter(|user| !user.pin_lookup.as_deref().is_some_and(user_pins::is_withheld));
    match verified(auth, &pins, attempt, candidate, &asked.pin).await? {
        (attempt, Ok(user)) => Ok((attempt, user)),
        // The store has all names: a guess at an unknown name finds out nothing, and invented names must not use up
        // what the store may ask.
        (attempt, Err(None)) if asked.username.is_some() => {
            attempt.withdraw(auth).await?;
            // Each costs a hash all the same: so many a minute.
            let counted = throttle::take(auth, &[names(store_id)], claimant).await?;
            let tx = auth.db.begin_aside().await?;
            counted.wrong(&tx, auth.clock.now()).await?;
            tx.commit().await?;
            throttle::judged(auth);
            Err(wrong())
        }
        (attempt, Err(user)) => Err(refuse(auth, attempt, claimant.audit("login.refused", user)).await?),
    }
}

#[cfg(test)]
mod tests {
    use tillkeep_model::Instant;

    use super::*;

    #[test]
    fn a_sign_in_at_another_till_leaves_a_person_who_they_were_and_a_change_of_pin_or_state_does_not() {
        let person = user::Model { id: Uuid::now_v7(), is_active: true, ..user::Model::default() };
        let later = Instant::from_millis(1_000);
        let now = |change: fn(&mut user::Model, Instant)| {
            let mut row = person.clone();
            change(&mut row, later);
            is_who_they_were(&person, &row)
        };
        assert!(now(|row, later| row.last_login_at = Some(later)));
        assert!(!now(|row, later| row.pin_changed_at = Some(later)));
        assert!(!now(|row, later| row.updated_at = later));
        assert!(!now(|row, later| row.deleted_at = Some(later)));
        assert!(!now(|row, _| row.is_active = false));
        let left = user::Model { is_active: false, ..person.clone() };
        assert!(!is_who_they_were(&left, &left));
    }
}
