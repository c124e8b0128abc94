//! `POST /auth/login` and `POST /auth/pin-login`. Specification, section 4.1.

use std::slice;

use serde::Deserialize;
use serde_json::{Value as Json, json};
use tillkeep_model::{ErrorCode, Instant, fields};
use tillkeep_storage::attempts::Bucket;
use tillkeep_storage::entity::{session, store, user};
use tillkeep_storage::registry::fold;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, Condition, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect};
use tillkeep_storage::{Tx, audit, factors, user_pins};
use utoipa::ToSchema;
use uuid::Uuid;

use super::answers::{Myself, SignedInAnswer, digest, tokens_for};
use crate::answer::Answer;
use crate::auth::asked::{ask, with_kept};
use crate::auth::new_pin::{rehash, same_pin};
use crate::auth::people::of_name;
use crate::auth::places::{self, Noted};
use crate::auth::throttle::{self, Attempt, Claimant};
use crate::auth::verified::{refuse, verified};
use crate::auth::{self, Auth, Gate, Home, Origin, REPLACED, Replaced, Revocation, State, device, user_of_pin};
use crate::error::{Error, Result};
use crate::extract::Body;
use crate::factors::{Given, Shown, of_good_challenge, refuse_factor, second_step};
use crate::names::normal;
use crate::tokens::{ACCESS_SECONDS, REFRESH_SECONDS};

/// The first request of a session comes so soon after its sign-in: until then it was not left unused.
const FRESH_MS: i64 = 1000;
/// The same where it may come to another server, which says so every ten seconds.
const FRESH_OF_SEVERAL_MS: i64 = 15_000;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Login {
    username: String,
    pin: String,
    /// At headquarters, of a second factor: the code of an app, or a recovery code.
    #[serde(default)]
    code: Option<String>,
    /// At headquarters, what a passkey answered, as `PublicKeyCredential.toJSON()` gives it.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    passkey: Option<Json>,
    /// That of the refusal `second_factor_required`.
    #[serde(default)]
    challenge: Option<Uuid>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PinLogin {
    pin: String,
    store_id: Uuid,
    terminal_id: String,
}

/// `POST /auth/login`
pub async fn login(Gate(auth): Gate, from: Origin, Body(body): Body<Login>) -> Result<Answer<SignedInAnswer>> {
    let mut claimant = Claimant::at(from, auth.home_store(), None);
    let user = with_kept(&auth, of_name(&auth, &body.username).await?).await?;
    claimant.recognised(&auth, user.as_ref()).await?;
    // One name is one bucket, in whichever way its letters are typed.
    let folded = user.as_ref().map_or_else(|| fold(&normal(&body.username)), |user| user.username_folded.clone());
    let user_id = user.as_ref().map(|user| user.id);
    let buckets = throttle::login_buckets(&auth, &folded, user_id, &claimant)?;
    let given = Given { code: body.code, passkey: body.passkey, challenge: body.challenge };
    let step = of_good_challenge(&auth, user_id.unwrap_or_default(), &claimant, &given).await?;
    let attempt = throttle::take(&auth, step.as_ref().map_or(&buckets[..], slice::from_ref), &claimant).await?;
    let (attempt, found) = verified(&auth, &auth.pins, attempt, user, &body.pin).await?;
    let (attempt, found) = match found {
        Err(user) => {
            let asked = ask(&auth, &claimant, Some(&body.username), &body.pin).await;
            let (attempt, asked) = attempt.unless_failed(&auth, asked).await?;
            (attempt, asked.ok_or(user))
        }
        found => (attempt, found),
    };
    match (attempt, found) {
        (attempt, Ok(user)) => {
            let strange = device::may_sign_in(&auth, claimant.device.as_ref(), user.id).await;
            let (attempt, ()) = attempt.unless_failed(&auth, strange).await?;
            let (attempt, shown) = match auth.home {
                Home::Hq => second_step(&auth, attempt, &user, &claimant, given, step.is_some()).await?,
                Home::Store(_) => (attempt, None),
            };
            let answer = sign_in(&auth, attempt, user.clone(), claimant, By::Name(shown)).await?;
            rehash(&auth, &user, &body.pin).await;
            Ok(answer)
        }
        (attempt, Err(user)) => {
            let refused = claimant.audit("login.refused", user);
            let attempt = match step {
                Some(_) => counted_too(&auth, attempt, &buckets, &claimant, &refused).await?,
                None => attempt,
            };
            Err(refuse(&auth, attempt, refused).await?)
        }
    }
}

/// A wrong PIN beside a good challenge counts as any wrong one, once it is known to be one.
async fn counted_too(
    auth: &Auth,
    attempt: Attempt,
    buckets: &[Bucket],
    claimant: &Claimant,
    refused: &audit::Entry,
) -> Result<Attempt> {
    match throttle::take(auth, buckets, claimant).await {
        Ok(guess) => Ok(attempt.and(guess)),
        Err(error) => {
            attempt.failed(auth, refused.clone()).await?;
            Err(error)
        }
    }
}

/// `POST /auth/pin-login`: the look-up key finds at most one candidate, and their own hash decides. Two slow hashes,
/// three at a store with a salt of its own, however many users there are.
pub async fn pin_login(Gate(auth): Gate, from: Origin, Body(body): Body<PinLogin>) -> Result<Answer<SignedInAnswer>> {
    check_terminal(&body.terminal_id)?;
    if auth.home == Home::Hq && auth.pin_login_at_hq == auth::PinLogin::Off {
        let text = "a PIN alone signs in no user at headquarters; use POST /api/v1/auth/login";
        return Err(Error::new(ErrorCode::PinLoginOff, text));
    }
    check_store(&auth, body.store_id).await?;
    from.stands_at(&auth, &body.terminal_id)?;
    let mut claimant = Claimant::at(from, Some(body.store_id), Some(body.terminal_id));
    claimant.recognised_as_anybody(&auth).await?;
    let refused = claimant.audit("login.refused", None);
    let (attempt, user) = user_of_pin(&auth, body.store_id, &claimant, &body.pin, refused).await?;
    let must_have_factor = must_have_factor(&auth, user.id).await;
    let (attempt, must_have_factor) = attempt.unless_failed(&auth, must_have_factor).await?;
    let answer = sign_in(&auth, attempt, user.clone(), claimant, By::PinAlone { must_have_factor }).await?;
    rehash(&auth, &user, &body.pin).await;
    Ok(answer)
}

/// Whether a user must have a second factor, whatever they have.
async fn must_have_factor(auth: &Auth, user_id: Uuid) -> Result<bool> {
    if auth.second_factor != auth::SecondFactor::Required {
        return Ok(false);
    }
    Ok(auth.access_of(user_id).await?.is_some_and(|person| auth.must_have_factor(&person)))
}

/// Refuses what is no name of a till.
pub fn check_terminal(terminal_id: &str) -> Result<()> {
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
            is_in_use(found)
        }
    }
}

fn is_in_use(found: Option<store::Model>) -> Result<()> {
    if found.is_none_or(|store| !store.is_active || store.deleted_at.is_some()) {
        return Err(Error::new(ErrorCode::StoreNotFound, "there is no active store with this id"));
    }
    Ok(())
}

/// The store must not have been taken out of use meanwhile, nor the device revoked, which ends the sessions that are
/// there by then: who does so waits for this one, or has been here.
async fn still_there(auth: &Auth, tx: &Tx, claimant: &Claimant, now: Instant) -> Result<()> {
    if let (Home::Hq, Some(store_id)) = (auth.home, claimant.store_id) {
        is_in_use(store::Entity::find_by_id(store_id).lock_shared().one(tx).await?)?;
    }
    match &claimant.device {
        Some(device) => device.seen(tx, now).await,
        None => Ok(()),
    }
}

async fn commit(auth: &Auth, tx: Tx, attempt: &Attempt) -> Result<()> {
    if let Err(error) = tx.commit().await {
        return attempt.right_all_the_same(auth, error.into()).await;
    }
    throttle::judged(auth);
    Ok(())
}

/// How a user signs in.
enum By {
    /// With what was shown besides the PIN.
    Name(Option<Shown>),
    PinAlone {
        must_have_factor: bool,
    },
}

impl By {
    const fn action(&self) -> &'static str {
        match self {
            Self::Name(_) => "login",
            Self::PinAlone { .. } => "pin_login",
        }
    }
}

fn new_session(user: &user::Model, claimant: &Claimant, refresh_jti: Option<&String>, now: Instant) -> session::Model {
    let life = if refresh_jti.is_some() { REFRESH_SECONDS } else { ACCESS_SECONDS };
    session::Model {
        id: Uuid::now_v7(),
        user_id: user.id,
        store_id: claimant.store_id,
        terminal_id: claimant.terminal_id.clone(),
        device_id: claimant.device.as_ref().map(|device| device.id),
        current_jti_hash: refresh_jti.map(|jti| digest(jti)),
        issued_at: now,
        pin_changed_at: user.pin_changed_at,
        sessions_valid_from: user.sessions_valid_from,
        expires_at: now.plus_millis(life * 1000),
        by_pin_alone: refresh_jti.is_none(),
        ..session::Model::default()
    }
}

/// Ends the sessions that this one replaces, with the line of the audit log that says why.
async fn replace(
    auth: &Auth,
    tx: &Tx,
    row: &session::Model,
    claimant: &Claimant,
) -> Result<(Vec<Replaced>, Option<audit::Entry>)> {
    let (fresh_ms, now) = (if auth.db.is_embedded() { FRESH_MS } else { FRESH_OF_SEVERAL_MS }, row.issued_at);
    let gone = auth.sessions.replace(tx, row, fresh_ms, now).await?;
    let line = (!gone.is_empty()).then(|| {
        let of = |one: &Replaced| json!({"sessionId": one.row.id, "sessionTerminalId": one.row.terminal_id});
        let mut entry = claimant.audit("session.end", Some(row.user_id));
        entry.entity_type = Some(fields::user::BOOK.table);
        entry.entity_id = Some(row.user_id.to_string());
        entry.details["reason"] = json!(REPLACED);
        entry.details["sessions"] = gone.iter().map(of).collect();
        entry
    });
    Ok((gone, line))
}

/// Whether a user may still sign in with their PIN alone: another one may have hit upon it since it was verified.
fn with_pin_alone() -> Condition {
    let kept = user::Column::PinLookup;
    Condition::any().add(kept.is_null()).add(Condition::all().not().add(kept.like(format!("{}%", user_pins::WITHHELD))))
}

/// What a new session opens, where the user may still sign in: all that is asked of them is shown now, unless it was a
/// PIN alone of whoever has a second factor or must have one. Whether they showed all that they have.
async fn opens(auth: &Auth, tx: &Tx, by: &By, row: &mut session::Model, claimant: &Claimant) -> Result<bool> {
    let now = row.issued_at;
    let has_factor = auth.home == Home::Hq && factors::has(tx, row.user_id).await?;
    let is_asked = auth.is_asked_for_factor(has_factor);
    row.factor_at = match by {
        By::PinAlone { must_have_factor } => (!is_asked && !must_have_factor).then_some(now),
        By::Name(None) if is_asked => {
            let text = "a second factor was set up for this account at this moment; sign in again";
            return Err(Error::new(ErrorCode::SecondFactorRequired, text));
        }
        By::Name(_) => Some(now),
    };
    // Where no factor is asked for, a name opens as much; it is a PIN alone where one is.
    let all_is_shown = !has_factor || matches!(by, By::Name(Some(_)));
    row.by_pin_alone |= !all_is_shown;
    still_there(auth, tx, claimant, now).await?;
    Ok(all_is_shown)
}

/// Notes when `user` signed in, whose row is locked from here on; false where they may not any more: the PIN was verified outside of
/// this transaction, and it may have been changed, or the person, since then.
async fn note_sign_in(auth: &Auth, tx: &Tx, user: &user::Model, by: &By, now: Instant) -> Result<bool> {
    #[expect(clippy::disallowed_methods, reason = "the last sign-in does not travel")]
    let still = user::Entity::update_many()
        .col_expr(user::Column::LastLoginAt, Expr::value(now))
        .filter(user::Column::Id.eq(user.id))
        .filter(same_pin(auth, user))
        .filter(if matches!(by, By::Name(_)) { Condition::all() } else { with_pin_alone() })
        .filter(user::Column::IsActive.eq(true))
        .filter(user::Column::DeletedAt.is_null())
        .exec(tx)
        .await?;
    Ok(still.rows_affected > 0)
}

/// Those that were replaced hear of it.
fn tell(auth: &Auth, gone: Vec<Replaced>) {
    for Replaced { row, .. } in gone {
        tracing::info!(code = REPLACED, user = %row.user_id, session = %row.id, "a session ended for a newer one of the person");
        auth.ended(Revocation::One(row.id));
    }
}

async fn sign_in(
    auth: &Auth,
    attempt: Attempt,
    user: user::Model,
    claimant: Claimant,
    by: By,
) -> Result<Answer<SignedInAnswer>> {
    let now = auth.clock.now();
    let refreshable = matches!(by, By::Name(_));
    let refresh_jti = Uuid::now_v7().to_string();
    let mut row = new_session(&user, &claimant, refreshable.then_some(&refresh_jti), now);
    let turn = auth.sessions.turn();
    let tx = auth.db.begin().await?;
    if !note_sign_in(auth, &tx, &user, &by, now).await? {
        drop(tx);
        return Err(refuse(auth, attempt, claimant.audit("login.refused", Some(user.id))).await?);
    }
    let mut settled = None;
    if let By::Name(Some(shown)) = &by {
        settled = shown.settle(&tx, user.id, &claimant, now).await?;
        if settled.is_none() {
            drop(tx);
            return Err(refuse_factor(auth, attempt, user.id, &claimant).await?);
        }
    }
    let all_is_shown = match opens(auth, &tx, &by, &mut row, &claimant).await {
        Ok(all_is_shown) => all_is_shown,
        Err(error) => {
            drop(tx);
            return attempt.unless_failed(auth, Err(error)).await.map(|(_, never)| never);
        }
    };
    // Whoever has but the PIN makes no browsers known: each has a count of codes of its own.
    let noted = if all_is_shown { places::note(auth, &tx, &claimant, &user, now).await? } else { Noted::default() };
    row.device_id = row.device_id.or(noted.place);
    #[expect(clippy::disallowed_methods, reason = "sessions stay at their server")]
    session::Entity::insert(row.clone().into_active_model()).exec_without_returning(&tx).await?;
    let (gone, replaced) = replace(auth, &tx, &row, &claimant).await?;
    attempt.succeeded(&tx, now).await?;
    let shown = settled.as_ref().map(|settled| settled.line.clone());
    let lines = shown.into_iter().chain(replaced).chain([claimant.audit(by.action(), Some(user.id))]);
    audit::record_all(&tx, lines.collect(), now).await?;
    commit(auth, tx, &attempt).await?;
    if let Some(settled) = settled {
        settled.committed(auth).await;
    }
    auth.sessions.remember(&row, turn);
    tell(auth, gone);
    let access = auth.access_in(&State::from(&row)).await?.ok_or_else(Error::unauthorized)?;
    let mut answer = tokens_for(&auth.tokens, &row, &user.username, refreshable.then_some(refresh_jti), now)?;
    answer.device_key = noted.key;
    answer.user = Some(Myself::new(auth, &access, claimant.store_id, claimant.terminal_id.as_deref()));
    Ok(Answer(answer))
}
