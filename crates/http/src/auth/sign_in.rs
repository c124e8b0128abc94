//! `POST /auth/login` and `POST /auth/pin-login`. Specification, section 4.1.

use serde::Deserialize;
use tillkeep_model::ErrorCode;
use tillkeep_storage::audit;
use tillkeep_storage::entity::{session, store, user};
use tillkeep_storage::registry::fold;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, Select};
use utoipa::ToSchema;
use uuid::Uuid;

use super::answers::{Myself, SignedInAnswer, digest, tokens_for};
use super::throttle::{self, Attempt, Trying};
use super::{Auth, ClientAddress, Gate, Home};
use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::extract::Body;
use crate::tokens::{ACCESS_SECONDS, REFRESH_SECONDS};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Login {
    username: String,
    pin: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PinLogin {
    pin: String,
    store_id: Uuid,
    terminal_id: String,
}

/// `POST /auth/login`
pub async fn login(
    Gate(auth): Gate,
    ClientAddress(address): ClientAddress,
    Body(body): Body<Login>,
) -> Result<Answer<SignedInAnswer>> {
    let trying = Trying { address, store_id: auth.home_store(), terminal_id: None };
    let folded = fold(&body.username);
    let user = user::Entity::find()
        .filter(user::Column::UsernameFolded.eq(folded.as_str()))
        .filter(user::Column::DeletedAt.is_null())
        .one(auth.db.reader())
        .await?;
    let buckets = throttle::login_buckets(&auth, &folded, user.as_ref().map(|user| user.id), &trying)?;
    let attempt = throttle::take(&auth, &buckets, &trying).await?;
    match verified(&auth, attempt, user, &body.pin).await? {
        (attempt, Ok(user)) => sign_in(&auth, attempt, user, trying, true, "login").await,
        (_, Err(user)) => refuse(&auth, &trying, user).await,
    }
}

/// `POST /auth/pin-login`: the look-up key finds at most one candidate, whose own hash decides. Two slow hashes,
/// however many users there are.
pub async fn pin_login(
    Gate(auth): Gate,
    ClientAddress(address): ClientAddress,
    Body(body): Body<PinLogin>,
) -> Result<Answer<SignedInAnswer>> {
    check_terminal(&body.terminal_id)?;
    check_store(&auth, body.store_id).await?;
    let trying = Trying { address, store_id: Some(body.store_id), terminal_id: Some(body.terminal_id) };
    let buckets = throttle::terminal_buckets(&auth, body.store_id, &trying).await?;
    let attempt = throttle::take(&auth, &buckets, &trying).await?;
    let looked_up = auth.pins.lookup(&body.pin).await;
    let (attempt, lookup) = attempt.unless_failed(&auth, looked_up).await?;
    let candidate = alive().filter(user::Column::PinLookup.eq(lookup.as_str())).one(auth.db.reader()).await?;
    let (attempt, found) = match verified(&auth, attempt, candidate, &body.pin).await? {
        (attempt, Err(_)) => without_lookup(&auth, attempt, &body.pin, &lookup).await?,
        (attempt, Ok(user)) => (attempt, Some(user)),
    };
    match found {
        Some(user) => sign_in(&auth, attempt, user, trying, false, "pin_login").await,
        None => refuse(&auth, &trying, None).await,
    }
}

fn check_terminal(terminal_id: &str) -> Result<()> {
    // Before the PIN is looked at: what the database cannot hold must not tell a right PIN from a wrong one.
    let printable = !terminal_id.contains(char::is_control);
    if terminal_id.trim().is_empty() || terminal_id.len() > 100 || !printable {
        return Err(Error::field("terminalId", "must have 1 to 100 characters, none of them a control character"));
    }
    Ok(())
}

async fn check_store(auth: &Auth, store_id: Uuid) -> Result<()> {
    match auth.home {
        Home::Store(own) if own != store_id => {
            Err(Error::new(ErrorCode::WrongStore, "this server belongs to another store"))
        }
        Home::Store(_) => Ok(()),
        Home::Hq => {
            let found = store::Entity::find_by_id(store_id).one(auth.db.reader()).await?;
            if found.is_none_or(|store| !store.is_active || store.deleted_at.is_some()) {
                return Err(Error::new(ErrorCode::StoreNotFound, "there is no active store with this id"));
            }
            Ok(())
        }
    }
}

fn alive() -> Select<user::Entity> {
    user::Entity::find().filter(user::Column::DeletedAt.is_null()).filter(user::Column::IsActive.eq(true))
}

/// Rows from before the look-up key: the specification's scan over all active users, which fills it.
async fn without_lookup(
    auth: &Auth,
    mut attempt: Attempt,
    pin: &str,
    lookup: &str,
) -> Result<(Attempt, Option<user::Model>)> {
    let old = alive()
        .filter(user::Column::PinLookup.is_null())
        .filter(user::Column::PinHash.is_not_null())
        .all(auth.db.reader())
        .await?;
    for user in old {
        let (same, right) = attempt.verify(auth, pin, user.pin_hash.clone()).await?;
        attempt = same;
        if right {
            let tx = auth.db.begin().await?;
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

/// One answer and one cost for unknown, inactive and wrong: the person when the PIN is theirs, else who it was not.
async fn verified(
    auth: &Auth,
    attempt: Attempt,
    user: Option<user::Model>,
    pin: &str,
) -> Result<(Attempt, Result<user::Model, Option<Uuid>>)> {
    let hash = user.as_ref().filter(|user| user.is_active).and_then(|user| user.pin_hash.clone());
    let (attempt, right) = attempt.verify(auth, pin, hash).await?;
    let outcome = match user {
        Some(user) if right => Ok(user),
        user => Err(user.map(|user| user.id)),
    };
    Ok((attempt, outcome))
}

async fn refuse<T>(auth: &Auth, trying: &Trying, user_id: Option<Uuid>) -> Result<T> {
    let tx = auth.db.begin().await?;
    audit::record(&tx, trying.audit("login.refused", user_id), auth.clock.now()).await?;
    tx.commit().await?;
    Err(Error::new(ErrorCode::InvalidCredentials, "the name or the PIN is wrong"))
}

async fn sign_in(
    auth: &Auth,
    attempt: Attempt,
    user: user::Model,
    trying: Trying,
    refreshable: bool,
    action: &'static str,
) -> Result<Answer<SignedInAnswer>> {
    // HQ's clock said when the PIN was changed; a slow one here must not make a new session older than its PIN.
    let now = auth.clock.now().max(user.pin_changed_at.unwrap_or_default());
    let refresh_jti = Uuid::now_v7().to_string();
    let life = if refreshable { REFRESH_SECONDS } else { ACCESS_SECONDS };
    let row = session::Model {
        id: Uuid::now_v7(),
        user_id: user.id,
        store_id: trying.store_id,
        terminal_id: trying.terminal_id.clone(),
        current_jti_hash: refreshable.then(|| digest(&refresh_jti)),
        issued_at: now,
        expires_at: now.plus_millis(life * 1000),
        ..session::Model::default()
    };
    let turn = auth.sessions.turn();
    let tx = auth.db.begin().await?;
    // The PIN was verified outside of this transaction: somebody may have changed it, or the person, since then.
    let still = user::Entity::update_many()
        .col_expr(user::Column::LastLoginAt, Expr::value(now))
        .filter(user::Column::Id.eq(user.id))
        .filter(user::Column::PinHash.eq(user.pin_hash.clone()))
        .filter(user::Column::IsActive.eq(true))
        .filter(user::Column::DeletedAt.is_null())
        .exec(&tx)
        .await?;
    if still.rows_affected == 0 {
        drop(tx);
        return refuse(auth, &trying, Some(user.id)).await;
    }
    row.clone().into_active_model().insert(&tx).await?;
    attempt.succeeded(&tx, now).await?;
    audit::record(&tx, trying.audit(action, Some(user.id)), now).await?;
    tx.commit().await?;
    auth.sessions.remember(&row, turn);
    let access = auth.access.of(&auth.db, user.id).await?.ok_or_else(Error::unauthorized)?;
    let mut answer = tokens_for(&auth.tokens, &row, &user.username, refreshable.then_some(refresh_jti), now)?;
    answer.user = Some(Myself::of(&access, trying.store_id, trying.terminal_id.as_deref()));
    Ok(Answer(answer))
}
