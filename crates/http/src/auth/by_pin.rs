//! The owner of a PIN. The one place where a PIN is guessed without a name, counted before it is looked at.

use tillkeep_storage::audit;
use tillkeep_storage::entity::user;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, Select};
use uuid::Uuid;

use super::asked::{ask, kept_under};
use super::people::staff;
use super::throttle::{self, Attempt, Claimant};
use super::verified::{refuse, verified};
use super::{Auth, Home, PinLogin};
use crate::error::{Error, Result};
use crate::pins::is_former;

/// The active user with this PIN, with the attempt that is to be settled in the transaction of what follows; else 401,
/// with `refused` in the audit log. The look-up key finds the candidate, and their own hash decides: as many slow
/// hashes however many users there are, hit or miss. Where it finds several, no user is taken for another: it was none
/// of them. A store then asks headquarters, if there is a line.
pub async fn user_of_pin(
    auth: &Auth,
    store_id: Uuid,
    claimant: &Claimant,
    pin: &str,
    refused: audit::Entry,
) -> Result<(Attempt, user::Model)> {
    let attempt = throttle::take(auth, &throttle::pin_buckets(auth, claimant), claimant).await?;
    let looked_up = auth.pins.lookup(pin).await;
    let (attempt, lookup) = attempt.unless_failed(auth, looked_up).await?;
    let people = looked_up_for(auth, store_id);
    let found = people.clone().filter(user::Column::PinLookup.is_in(&lookup)).limit(2).all(auth.db.reader()).await;
    let (mut attempt, mut found) = attempt.unless_failed(auth, found.map_err(Error::from)).await?;
    if found.is_empty() {
        let kept = kept_under(auth, &lookup).await;
        let (same, kept) = attempt.unless_failed(auth, kept).await?;
        attempt = same;
        found.extend(kept);
    }
    let candidate = found.pop().filter(|_| found.is_empty());
    if !found.is_empty() {
        tracing::warn!("several people have the PIN that was typed: it opens nothing without a name");
    }
    let (attempt, found) = match verified(auth, &auth.pins, attempt, candidate, pin).await? {
        (attempt, Err(_)) if found.is_empty() => without_lookup(auth, attempt, people, pin, &lookup).await?,
        (attempt, outcome) => (attempt, outcome.ok()),
    };
    let (attempt, found) = match found {
        None => {
            let asked = ask(auth, claimant, None, pin).await;
            attempt.unless_failed(auth, asked).await?
        }
        some => (attempt, some),
    };
    match found {
        Some(user) => Ok((attempt, user)),
        None => Err(refuse(auth, attempt, refused).await?),
    }
}

/// Whoever may be meant by a PIN that is typed for a store.
fn looked_up_for(auth: &Auth, store_id: Uuid) -> Select<user::Entity> {
    let alive = user::Entity::find().filter(user::Column::DeletedAt.is_null()).filter(user::Column::IsActive.eq(true));
    match (auth.home, auth.pin_login_at_hq) {
        (Home::Hq, PinLogin::Scoped) => alive.filter(user::Column::Id.in_subquery(staff([store_id], true))),
        _ => alive,
    }
}

/// Rows from before the look-up key: the specification's scan over all active users, which fills it.
async fn without_lookup(
    auth: &Auth,
    mut attempt: Attempt,
    people: Select<user::Entity>,
    pin: &str,
    lookup: &[String],
) -> Result<(Attempt, Option<user::Model>)> {
    let old = people
        .filter(user::Column::PinLookup.is_null())
        .filter(user::Column::PinHash.is_not_null())
        .all(auth.db.reader())
        .await?;
    for user in old {
        let hash = auth.hash_of(&user).await?;
        let (same, right) = attempt.verify(auth, pin, hash).await?;
        attempt = same;
        if right {
            // The present way first, that of release 0.1.0 last.
            let former = user.pin_hash.as_deref().is_some_and(is_former);
            let lookup = if former { lookup.last() } else { lookup.first() }.cloned();
            let tx = auth.db.begin_aside().await?;
            #[expect(clippy::disallowed_methods, reason = "each server finds it by itself: no version moves")]
            user::Entity::update_many()
                .col_expr(user::Column::PinLookup, Expr::value(lookup))
                .filter(user::Column::Id.eq(user.id))
                .exec(&tx)
                .await?;
            tx.commit().await?;
            return Ok((attempt, Some(user)));
        }
    }
    Ok((attempt, None))
}
