//! What a user gives as a second step, and what becomes of it.

use serde_json::{Value as Json, json};
use tillkeep_model::ErrorCode;
use tillkeep_storage::attempts::{Bucket, Taken};
use tillkeep_storage::entity::user;
use tillkeep_storage::factors::{self, Factor};
use uuid::Uuid;

use super::challenge::{self, CONFIRM, LOGIN};
use super::shown::{Shown, Used};
use super::{asked_of, passkeys, recovery, totp};
use crate::auth::throttle::{self, Attempt, Claimant};
use crate::auth::{Auth, Home, factor_uses};
use crate::error::{Error, Result};

/// The second step of a request.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) code: Option<String>,
    pub(crate) passkey: Option<Json>,
    pub(crate) challenge: Option<Uuid>,
}

impl Given {
    pub(super) const fn is_nothing(&self) -> bool {
        self.code.is_none() && self.passkey.is_none()
    }
}

/// What a step turned out to be.
pub(super) enum Verdict {
    Right(Shown),
    Wrong,
    /// A passkey for a challenge that is over.
    Gone,
}

/// The one bucket of a second step whose challenge is still good: it says that the PIN was right two minutes ago at the most, so that
/// wrong ones before do not make this step wait.
pub(crate) async fn of_good_challenge(
    auth: &Auth,
    user_id: Uuid,
    claimant: &Claimant,
    given: &Given,
) -> Result<Option<Bucket>> {
    let challenge = given.challenge.filter(|_| auth.home == Home::Hq && !given.is_nothing());
    let Some(id) = challenge else { return Ok(None) };
    let asked = factors::asked(auth.db.reader(), id, (user_id, None), LOGIN, auth.clock.now()).await?;
    let bucket = || {
        if given.code.is_some() {
            throttle::factor_bucket(user_id, claimant)
        } else {
            throttle::challenge_bucket(user_id, id)
        }
    };
    Ok(asked.map(|_| bucket()))
}

/// After a right PIN: what else was shown, `None` when nothing else is asked for; else the refusal, with the attempt counted. With
/// `is_counted` the attempt is that of [`of_good_challenge`].
pub(crate) async fn second_step(
    auth: &Auth,
    attempt: Attempt,
    user: &user::Model,
    claimant: &Claimant,
    given: Given,
    is_counted: bool,
) -> Result<(Attempt, Option<Shown>)> {
    let held = asked_of(auth, user.id).await.map_err(Error::from);
    let (attempt, held) = attempt.unless_failed(auth, held).await?;
    if held.is_empty() {
        return Ok((attempt, None));
    }
    if given.is_nothing() {
        return Err(challenge::at_sign_in(auth, attempt, user.id, &held, claimant).await?);
    }
    let attempt = if is_counted { attempt } else { counted(auth, attempt, user.id, claimant, &given).await? };
    let judged = judge(auth, user.id, None, &held, &given).await;
    let (attempt, verdict) = attempt.unless_failed(auth, judged).await?;
    match verdict {
        Verdict::Right(mut shown) => {
            let earlier = shown.earlier.take();
            Ok((attempt.after(earlier), Some(shown)))
        }
        // A new challenge follows from nothing but a right PIN that counted as one.
        Verdict::Gone if !is_counted => Err(challenge::at_sign_in(auth, attempt, user.id, &held, claimant).await?),
        Verdict::Gone | Verdict::Wrong => Err(refuse(auth, attempt, user.id, claimant).await?),
    }
}

/// A code is counted once more, by the person and their known browsers: a guesser with the right PIN gets no more codes than PINs,
/// however many addresses they have.
async fn counted(auth: &Auth, attempt: Attempt, user_id: Uuid, claimant: &Claimant, given: &Given) -> Result<Attempt> {
    if given.code.is_none() {
        return Ok(attempt);
    }
    match throttle::take(auth, &[throttle::factor_bucket(user_id, claimant)], claimant).await {
        Ok(code) => Ok(attempt.and(code)),
        Err(error) => {
            attempt.failed(auth, refused(user_id, claimant)).await?;
            Err(error)
        }
    }
}

fn refused(user_id: Uuid, claimant: &Claimant) -> tillkeep_storage::audit::Entry {
    let mut entry = claimant.audit("login.refused", Some(user_id));
    entry.details["step"] = json!("second_factor");
    entry
}

/// The refusal of a wrong code or passkey, once it is written down.
pub(crate) async fn refuse(auth: &Auth, attempt: Attempt, user_id: Uuid, claimant: &Claimant) -> Result<Error> {
    attempt.failed(auth, refused(user_id, claimant)).await?;
    Ok(Error::new(ErrorCode::InvalidCredentials, "the code or the passkey is wrong, or was used before"))
}

/// Holds a step against what the user has. What may be used once is used later, in the transaction of what follows.
pub(super) async fn judge(
    auth: &Auth,
    user_id: Uuid,
    session_id: Option<Uuid>,
    held: &[Factor],
    given: &Given,
) -> Result<Verdict> {
    let now = auth.clock.now();
    let purpose = if session_id.is_some() { CONFIRM } else { LOGIN };
    let asked = match given.challenge {
        Some(id) => factors::asked(auth.db.reader(), id, (user_id, session_id), purpose, now).await?,
        None => None,
    };
    let used = if let Some(answer) = &given.passkey {
        let Some(asked) = &asked else { return Ok(Verdict::Gone) };
        let state = auth.pins.open_factor(&challenge::about(asked.id, user_id), &asked.state);
        let answered = passkeys::answered(auth, held, state.as_deref().unwrap_or_default(), answer)?;
        answered.map(|(factor, secret)| Used::Passkey { id: factor.id, secret })
    } else {
        factor_uses::follow(auth).await?;
        of_code(auth, user_id, held, given.code.as_deref().unwrap_or_default()).await?
    };
    let Some(used) = used else { return Ok(Verdict::Wrong) };
    let earlier: Option<Taken> = asked.as_ref().and_then(|row| serde_json::from_str(row.attempt.as_deref()?).ok());
    Ok(Verdict::Right(Shown { used, challenge: asked.map(|row| row.id), earlier }))
}

async fn of_code(auth: &Auth, user_id: Uuid, held: &[Factor], typed: &str) -> Result<Option<Used>> {
    let code = recovery::plain(typed);
    if totp::is_code(&code) {
        let found = totp::matching(auth, held, &code, auth.clock.now())?;
        return Ok(found.map(|(factor, step)| Used::Step { id: factor.id, step }));
    }
    let hash = auth.pins.recovery_hash(user_id, &code)?;
    let is_there = factors::has_code(auth.db.reader(), user_id, &hash).await?;
    Ok(is_there.then_some(Used::Code { hash }))
}
