//! The authentication routes, the same on both servers. Specification, section 4.1.

use serde::{Deserialize, Serialize};
use serde_json::json;
use tillkeep_model::permission::SignedIn;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::audit;
use tillkeep_storage::entity::{session, store, user};
use tillkeep_storage::registry::fold;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter};
use utoipa::ToSchema;
use uuid::Uuid;

use super::by_pin::{Guess, matching, refused, user_of_pin};
use super::{Access, Assignment, Auth, Caller, Gate, Home, Revocation, Sessions};
use crate::answer::{Answer, NoContent};
use crate::error::{Error, Result};
use crate::extract::Body;
use crate::tokens::{ACCESS, ACCESS_SECONDS, AccessClaims, REFRESH, REFRESH_SECONDS, RefreshClaims};
use crate::{pins, tokens::Tokens};

/// Milliseconds in which a replaced refresh token may come back: its answer was lost on the way.
const GRACE_MS: i64 = 30_000;

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

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Refresh {
    refresh_token: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChangePin {
    current_pin: String,
    new_pin: String,
}

/// Tokens and what they are good for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignedInAnswer {
    access_token: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
    token_type: &'static str,
    expires_in: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_expires_in: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<Myself>,
}

/// `POST /auth/login`
pub async fn login(Gate(auth): Gate, Body(body): Body<Login>) -> Result<Answer<SignedInAnswer>> {
    let user = user::Entity::find()
        .filter(user::Column::UsernameFolded.eq(fold(&body.username)))
        .filter(user::Column::DeletedAt.is_null())
        .one(auth.db.reader())
        .await?;
    let named = user.as_ref().map(|user| user.id);
    let Some(user) = matching(&auth, user, &body.pin).await? else {
        let entry =
            audit::Entry { user_id: named, action: "login.refused", details: json!({}), ..audit::Entry::default() };
        return Err(refused(&auth, entry).await?);
    };
    let store_id = auth.home_store();
    sign_in(&auth, user, store_id, None, true, "login").await
}

/// `POST /auth/pin-login`: the look-up key finds at most one candidate, whose own hash decides. Two slow hashes,
/// however many users there are.
pub async fn pin_login(Gate(auth): Gate, Body(body): Body<PinLogin>) -> Result<Answer<SignedInAnswer>> {
    if body.terminal_id.trim().is_empty() || body.terminal_id.len() > 100 {
        return Err(Error::field("terminalId", "must have 1 to 100 characters"));
    }
    match auth.home {
        Home::Store(own) if own != body.store_id => {
            return Err(Error::new(ErrorCode::WrongStore, "this server belongs to another store"));
        }
        Home::Store(_) => {}
        Home::Hq => {
            let found = store::Entity::find_by_id(body.store_id).one(auth.db.reader()).await?;
            if found.is_none_or(|store| !store.is_active || store.deleted_at.is_some()) {
                return Err(Error::new(ErrorCode::StoreNotFound, "there is no active store with this id"));
            }
        }
    }
    let refused = audit::Entry { action: "login.refused", details: json!({}), ..audit::Entry::default() };
    let guess = Guess { terminal_id: &body.terminal_id, refused };
    let found = user_of_pin(&auth, &body.pin, guess).await?;
    sign_in(&auth, found, Some(body.store_id), Some(body.terminal_id), false, "pin_login").await
}

async fn sign_in(
    auth: &Auth,
    user: user::Model,
    store_id: Option<Uuid>,
    terminal_id: Option<String>,
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
        store_id,
        terminal_id: terminal_id.clone(),
        current_jti_hash: refreshable.then(|| digest(&refresh_jti)),
        issued_at: now,
        expires_at: now.plus_millis(life * 1000),
        ..session::Model::default()
    };
    let tx = auth.db.begin().await?;
    row.clone().into_active_model().insert(&tx).await?;
    user::Entity::update_many()
        .col_expr(user::Column::LastLoginAt, Expr::value(now))
        .filter(user::Column::Id.eq(user.id))
        .exec(&tx)
        .await?;
    let entry = audit::Entry {
        user_id: Some(user.id),
        terminal_id: terminal_id.clone(),
        action,
        details: json!({"storeId": store_id}),
        ..audit::Entry::default()
    };
    audit::record(&tx, entry, now).await?;
    tx.commit().await?;
    auth.sessions.remember(&row);
    let access = auth.access.of(&auth.db, user.id).await?.ok_or_else(Error::unauthorized)?;
    let mut answer = tokens_for(&auth.tokens, &row, &user.username, refreshable.then_some(refresh_jti), now)?;
    answer.user = Some(myself(&access, store_id, terminal_id.as_deref()));
    Ok(Answer(answer))
}

fn tokens_for(
    tokens: &Tokens,
    session: &session::Model,
    username: &str,
    refresh_jti: Option<String>,
    now: Instant,
) -> Result<SignedInAnswer> {
    let seconds = now.millis() / 1000;
    let access = AccessClaims {
        user_id: session.user_id,
        username: username.to_owned(),
        store_id: session.store_id,
        terminal_id: session.terminal_id.clone(),
        kind: ACCESS.to_owned(),
        sid: session.id,
        iat: seconds,
        exp: seconds + ACCESS_SECONDS,
        jti: Uuid::now_v7(),
    };
    let unsigned = || Error::internal("a token could not be signed");
    let refresh_token = match refresh_jti {
        Some(jti) => {
            let claims = RefreshClaims {
                kind: REFRESH.to_owned(),
                user_id: session.user_id,
                sid: session.id,
                iat: seconds,
                exp: seconds + REFRESH_SECONDS,
                jti,
            };
            Some(tokens.sign_refresh(&claims).ok_or_else(unsigned)?)
        }
        None => None,
    };
    Ok(SignedInAnswer {
        access_token: tokens.sign_access(&access).ok_or_else(unsigned)?,
        token_type: "Bearer",
        expires_in: ACCESS_SECONDS,
        refresh_expires_in: refresh_token.as_ref().map(|_| REFRESH_SECONDS),
        refresh_token,
        user: None,
    })
}

/// `POST /auth/refresh`: the token is replaced at every use.
pub async fn refresh(Gate(auth): Gate, Body(body): Body<Refresh>) -> Result<Answer<SignedInAnswer>> {
    let now = auth.clock.now();
    let invalid = || Error::new(ErrorCode::InvalidToken, "the refresh token is not valid; sign in again");
    let claims = auth.tokens.refresh(&body.refresh_token, now).ok_or_else(invalid)?;
    // Before the transaction: what holds one connection must not wait for another.
    let access = auth.access.of(&auth.db, claims.user_id).await?.ok_or_else(invalid)?;
    let tx = auth.db.begin().await?;
    let session = session::Entity::find_by_id(claims.sid).one(&tx).await?.ok_or_else(invalid)?;
    let outlived = access.user.pin_changed_at.is_some_and(|changed| session.issued_at < changed);
    if session.revoked_at.is_some() || session.user_id != claims.user_id || !access.is_active() || outlived {
        return Err(invalid());
    }
    let presented = digest(&claims.jti);
    let successor = auth.tokens.successor(&claims.jti);
    if session.current_jti_hash.as_deref() == Some(presented.as_str()) {
        let next = session::ActiveModel {
            id: tillkeep_storage::sea_orm::ActiveValue::Unchanged(session.id),
            current_jti_hash: tillkeep_storage::sea_orm::ActiveValue::Set(Some(digest(&successor))),
            previous_jti_hash: tillkeep_storage::sea_orm::ActiveValue::Set(Some(presented)),
            rotated_at: tillkeep_storage::sea_orm::ActiveValue::Set(Some(now)),
            expires_at: tillkeep_storage::sea_orm::ActiveValue::Set(now.plus_millis(REFRESH_SECONDS * 1000)),
            ..Default::default()
        };
        next.update(&tx).await?;
        tx.commit().await?;
        return Ok(Answer(tokens_for(&auth.tokens, &session, &access.user.username, Some(successor), now)?));
    }
    let replaced_at = session.rotated_at.filter(|_| session.previous_jti_hash.as_deref() == Some(presented.as_str()));
    if let Some(at) = replaced_at.filter(|at| now.millis_since(*at) <= GRACE_MS) {
        // The answer was lost: the same successor again, as it was made then.
        return Ok(Answer(tokens_for(&auth.tokens, &session, &access.user.username, Some(successor), at)?));
    }
    let which = Revocation::One(session.id);
    Sessions::revoke(&tx, which, "a replaced refresh token was used again", now).await?;
    let entry = audit::Entry {
        user_id: Some(session.user_id),
        action: "refresh.reused",
        entity_id: Some(session.id.to_string()),
        ..audit::Entry::default()
    };
    audit::record(&tx, entry, now).await?;
    tx.commit().await?;
    auth.sessions.ended(which);
    Err(Error::new(
        ErrorCode::TokenReused,
        "this refresh token was replaced before; the session is over, sign in again",
    ))
}

/// `GET /auth/me`
pub async fn me(caller: Caller<SignedIn>) -> Result<Answer<Myself>> {
    Ok(Answer(myself(&caller.access, caller.store_id, caller.terminal_id.as_deref())))
}

/// `POST /auth/logout`
pub async fn logout(caller: Caller<SignedIn>) -> Result<NoContent> {
    let which = Revocation::One(caller.session_id);
    let tx = caller.db().begin().await?;
    Sessions::revoke(&tx, which, "logout", caller.now()).await?;
    audit::record(&tx, caller.audit("logout"), caller.now()).await?;
    tx.commit().await?;
    caller.auth().sessions.ended(which);
    Ok(NoContent)
}

/// `POST /auth/change-pin`: HQ only, as users are HQ's.
pub async fn change_pin(caller: Caller<SignedIn>, Body(body): Body<ChangePin>) -> Result<NoContent> {
    let auth = caller.auth().clone();
    if auth.home != Home::Hq {
        return Err(Error::new(ErrorCode::OwnedByHq, "PINs are changed at headquarters"));
    }
    if !auth.pins.verify(&body.current_pin, caller.access.user.pin_hash.clone()).await? {
        return Err(Error::new(ErrorCode::InvalidCredentials, "the current PIN is wrong"));
    }
    let now = caller.now();
    let hashed = hash_new_pin(&auth, &body.new_pin).await?;
    let mut tx = auth.db.begin().await?;
    set_pin(&mut tx, caller.user_id, hashed, false, now).await?;
    let which = Revocation::AllOf(caller.user_id);
    Sessions::revoke(&tx, which, "the PIN was changed", now).await?;
    audit::record(&tx, caller.audit("pin.change"), now).await?;
    let changes = tx.commit().await?;
    auth.sessions.ended(which);
    auth.committed(&changes);
    Ok(NoContent)
}

/// Hashes a PIN that somebody chose, outside of any transaction: it is slow on purpose.
pub async fn hash_new_pin(auth: &Auth, pin: &str) -> Result<pins::Hashed> {
    if pins::weakness(pin).is_some() {
        return Err(pin_not_allowed());
    }
    auth.pins.hash(pin).await
}

/// Sets a user's PIN, which must be nobody else's; that is answered like a weak one, because "in use" would name
/// somebody's PIN.
pub async fn set_pin(
    tx: &mut tillkeep_storage::Tx,
    user_id: Uuid,
    hashed: pins::Hashed,
    must_change: bool,
    now: Instant,
) -> Result<()> {
    let taken = user::Entity::find()
        .filter(user::Column::PinLookup.eq(hashed.lookup.as_str()))
        .filter(user::Column::Id.ne(user_id))
        .filter(user::Column::DeletedAt.is_null())
        .filter(user::Column::IsActive.eq(true))
        .one(&*tx)
        .await?;
    if taken.is_some() {
        return Err(pin_not_allowed());
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

pub fn pin_not_allowed() -> Error {
    let text = "this PIN cannot be used: 4 to 12 digits, no repeats, runs or years, and not every PIN is free";
    Error::new(ErrorCode::PinNotAllowed, text).at("pin")
}

/// The user as a session sees itself.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Myself {
    id: Uuid,
    username: String,
    display_name: String,
    store_id: Option<Uuid>,
    terminal_id: Option<String>,
    roles: Vec<MyRole>,
    /// What may be done here, sorted.
    permissions: Vec<String>,
    must_change_pin: bool,
}

/// A role that counts in this session, and where it was given.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MyRole {
    id: Uuid,
    code: String,
    name: String,
    store_id: Option<Uuid>,
}

fn myself(access: &Access, store_id: Option<Uuid>, terminal_id: Option<&str>) -> Myself {
    let role = |assignment: &Assignment| MyRole {
        id: assignment.role_id,
        code: assignment.role_code.clone(),
        name: assignment.role_name.clone(),
        store_id: assignment.store_id,
    };
    Myself {
        id: access.user.id,
        username: access.user.username.clone(),
        display_name: access.user.display_name.clone(),
        store_id,
        terminal_id: terminal_id.map(str::to_owned),
        roles: access.counting(store_id).map(role).collect(),
        permissions: access.codes(store_id).into_iter().map(Into::into).collect(),
        must_change_pin: access.user.must_change_pin,
    }
}

fn digest(jti: &str) -> String {
    use sha2::{Digest, Sha256};
    hex::encode(Sha256::digest(jti.as_bytes()))
}
