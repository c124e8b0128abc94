//! What a server does for its sign-ins off the request path: it takes over new keys, and forgets what is over.

#![expect(clippy::disallowed_methods, reason = "approvals stay at their server")]

use std::sync::Arc;
use std::time::Duration;

use tillkeep_storage::entity::approval;
use tillkeep_storage::leases::Leases;
use tillkeep_storage::sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter};
use tillkeep_storage::{DbErr, attempts, db, factors, idempotency, kept_verifiers, known_places, parked_carts};
use tokio_util::sync::CancellationToken;

use super::{Auth, Home, Sessions, factor_uses, first_pins};
use crate::error::Result;

/// How often the key file is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Looks between two rounds of forgetting: ten minutes.
const FORGET_EVERY: u32 = 300;

/// Looks between two notes of which sessions were used: ten seconds.
const NOTE_USES_EVERY: u32 = 5;

/// Looks between two searches for unused approvals: half a minute.
const APPROVALS_EVERY: u32 = 15;

/// How long an approval that was used is kept: for whoever looks into what happened today.
const KEEP_APPROVALS_MS: i64 = 24 * 3600 * 1000;

/// What one server of several does.
const FORGETTING: &str = "forgetting of sign-ins";

/// Keeps house until `stop`.
pub fn start(auth: Arc<Auth>, leases: Leases, stop: CancellationToken) {
    tokio::spawn(async move {
        let mut looks = 0_u32;
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = stop.cancelled() => return,
            }
            reload_keys(&auth, false).await;
            auth.note_refusals(false).await;
            looks = (looks + 1) % FORGET_EVERY;
            if looks.is_multiple_of(APPROVALS_EVERY)
                && let Err(error) = db::retry_serialization(|| forget_unused_approvals(&auth)).await
            {
                tracing::warn!(%error, "unused approvals could not be removed; it is tried again");
            }
            if looks.is_multiple_of(NOTE_USES_EVERY)
                && let Err(error) = auth.sessions.note_uses(&auth.db, auth.clock.now()).await
            {
                tracing::warn!(%error, "which sessions were used could not be noted; it is tried again");
            }
            if looks.is_multiple_of(NOTE_USES_EVERY)
                && let Err(error) = factor_uses::follow(&auth).await
            {
                tracing::warn!(%error, "how many codes were used could not be read or noted; it is tried again");
            }
            if looks == 1
                && let Err(error) = first_pins::end_expired(&auth).await
            {
                tracing::warn!(%error, "first PINs that are over could not be ended; it is tried again");
            }
            if looks == 1
                && let Err(error) = forget_in_turn(&auth, &leases).await
            {
                tracing::warn!(%error, "expired sessions and counters could not be removed; it is tried again");
            }
        }
    });
}

/// Notes beside the database how many codes of second factors were used, and takes nothing for true that an older copy of the
/// database brought back.
pub async fn follow_factor_uses(auth: &Auth) -> Result<()> {
    factor_uses::follow(auth).await
}

/// Takes over the key file, if it changed or is `forced`. A file that cannot be read changes nothing.
pub async fn reload_keys(auth: &Arc<Auth>, forced: bool) {
    let auth = auth.clone();
    let done = tokio::task::spawn_blocking(move || {
        let now = auth.clock.now();
        if forced { auth.tokens.reload(now).map(|()| true) } else { auth.tokens.reload_if_changed(now) }
    });
    match done.await {
        Ok(Ok(true)) => tracing::info!("the token keys were read again"),
        Ok(Ok(false)) => {}
        Ok(Err(error)) => tracing::error!(%error, "the token keys could not be read; the ones before stay in force"),
        Err(error) => tracing::error!(%error, "the token keys could not be read"),
    }
}

/// Removes the approvals that were not used in their time: that they were given stands in the audit log.
pub async fn forget_unused_approvals(auth: &Auth) -> Result<(), DbErr> {
    if auth.home == Home::Hq {
        return Ok(());
    }
    let unused = Condition::all().add(approval::Column::UsedAt.is_null());
    let over = unused.add(approval::Column::ExpiresAt.lte(auth.clock.now()));
    // Mostly there is none, and writing would make a sale wait.
    if approval::Entity::find().filter(over.clone()).one(auth.db.reader()).await?.is_some() {
        let tx = auth.db.begin().await?;
        approval::Entity::delete_many().filter(over).exec(&tx).await?;
        tx.commit().await?;
    }
    Ok(())
}

/// Forgets what is over: in the memory of this server, and in the database unless another server does it.
async fn forget_in_turn(auth: &Auth, leases: &Leases) -> Result<(), DbErr> {
    auth.sessions.forget_expired(auth.clock.now());
    if leases.take(FORGETTING).await? {
        db::retry_serialization(|| forget(auth)).await?;
    }
    Ok(())
}

/// Removes expired sessions and keys of requests, counters that say nothing any more, used-up approvals and carts that were
/// dropped or sold long ago, each as a set.
pub async fn forget(auth: &Auth) -> Result<(), DbErr> {
    let now = auth.clock.now();
    // By itself: it locks counters in their order, and the rest does so anew.
    let tx = auth.db.begin().await?;
    attempts::mend(&tx, auth.judge(), now).await?;
    tx.commit().await?;
    let tx = auth.db.begin().await?;
    Sessions::prune(&tx, now).await?;
    attempts::prune(&tx, now).await?;
    idempotency::prune(&tx, now).await?;
    if auth.home == Home::Hq {
        factors::prune(&tx, now).await?;
        known_places::prune(&tx, now).await?;
    } else {
        // What was approved stands on the sale and in the audit log.
        let over = approval::Column::ExpiresAt.lt(now.plus_millis(-KEEP_APPROVALS_MS));
        approval::Entity::delete_many().filter(over).exec(&tx).await?;
        kept_verifiers::prune(&tx, now).await?;
        parked_carts::prune(&tx, now).await?;
    }
    tx.commit().await?;
    idempotency::prune_claims(&auth.db).await
}
