//! Setting up a second factor: a first request that says what is made, and a second one that shows it works.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tillkeep_model::ErrorCode;
use tillkeep_storage::factors::{self, Challenge, Factor};
use tillkeep_storage::known_places;
use utoipa::ToSchema;
use uuid::Uuid;

use super::own::{Own, entry, touch};
use super::{PASSKEY, TOTP, challenge, passkeys, recovery, totp};
use crate::answer::Answer;
use crate::auth::{Revocation, Sessions};
use crate::error::{Error, Result};
use crate::extract::{Body, Id, OptionalBody};

/// Milliseconds between the two requests.
const GOOD_FOR_MS: i64 = 10 * 60 * 1000;
/// Factors of one person.
const MOST: usize = 10;
/// Characters of a name.
const LONGEST: usize = 60;

/// What its owner calls a new factor.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    /// 1 to 60 characters.
    name: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(super) struct NewTotp {
    id: Uuid,
    /// As people type it into the app.
    secret: String,
    /// As the app reads it from a picture.
    uri: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Code {
    code: String,
}

#[derive(Serialize, ToSchema)]
pub(super) struct NewPasskey {
    id: Uuid,
    /// For `navigator.credentials.create`, as `PublicKeyCredential.parseCreationOptionsFromJSON` reads it.
    #[schema(value_type = Object)]
    options: Json,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewCredential {
    /// As `PublicKeyCredential.toJSON()` gives it.
    #[schema(value_type = Object)]
    credential: Json,
}

/// A second factor that works from now on.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Added {
    /// With the first factor; shown this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery_codes: Option<Vec<String>>,
}

/// What is kept between the two requests.
#[derive(Serialize, Deserialize)]
struct Begun {
    name: String,
    state: Vec<u8>,
}

fn name_of(named: &Named, default: &str) -> Result<String> {
    let name = named.name.as_deref().map_or(default, str::trim).to_owned();
    if name.is_empty() || name.chars().count() > LONGEST || name.contains(char::is_control) {
        return Err(Error::field(
            "name",
            format!("must have 1 to {LONGEST} characters, none of them a control character"),
        ));
    }
    Ok(name)
}

fn too_many() -> Error {
    Error::new(ErrorCode::TooManyRates, format!("a user has at most {MOST} second factors; remove one first"))
}

/// `POST /auth/factors/totp`
pub(super) async fn begin_totp(caller: Own, OptionalBody(named): OptionalBody<Named>) -> Result<Answer<NewTotp>> {
    let name = name_of(&named, "Authenticator app")?;
    let state = totp::secret();
    let (secret, uri) = totp::shown(&state, &caller.access.user.username)?;
    let id = begin(&caller, TOTP, Begun { name, state }).await?;
    Ok(Answer(NewTotp { id, secret, uri }))
}

/// `POST /auth/factors/totp/{id}`
pub(super) async fn finish_totp(caller: Own, Id(id): Id, Body(body): Body<Code>) -> Result<Answer<Added>> {
    let begun = begun(&caller, TOTP, id).await?;
    let step = totp::step(&begun.state, &recovery::plain(&body.code), caller.now())?;
    let step = step.ok_or_else(|| {
        Error::field(
            "code",
            "is not the one of this moment; type the newest one, and see that the clock of the phone is right",
        )
    })?;
    add(&caller, id, TOTP, begun.name, &begun.state, Some(step)).await
}

/// `POST /auth/factors/passkeys`
pub(super) async fn begin_passkey(caller: Own, OptionalBody(named): OptionalBody<Named>) -> Result<Answer<NewPasskey>> {
    let name = name_of(&named, "Passkey")?;
    let judge = judge(&caller)?;
    let held = factors::of(caller.reader(), caller.user_id).await?;
    let known = passkeys::among(caller.auth(), &held).into_iter().map(|(_, key)| key).collect::<Vec<_>>();
    let user = &caller.access.user;
    let (options, state) = passkeys::ask_for_new(&judge, (user.id, &user.username, &user.display_name), &known)?;
    let id = begin(&caller, PASSKEY, Begun { name, state }).await?;
    Ok(Answer(NewPasskey { id, options }))
}

/// `POST /auth/factors/passkeys/{id}`
pub(super) async fn finish_passkey(caller: Own, Id(id): Id, Body(body): Body<NewCredential>) -> Result<Answer<Added>> {
    let judge = judge(&caller)?;
    let begun = begun(&caller, PASSKEY, id).await?;
    let key = passkeys::made(&judge, &begun.state, body.credential)?;
    add(&caller, id, PASSKEY, begun.name, &serde_json::to_vec(&key)?, None).await
}

fn judge(caller: &Own) -> Result<webauthn_rs::prelude::Webauthn> {
    passkeys::judge(caller.auth()).map_err(|why| Error::new(ErrorCode::NotSupportedYet, why))
}

/// Keeps what was begun; its id.
async fn begin(caller: &Own, kind: &'static str, begun: Begun) -> Result<Uuid> {
    let (auth, id, now) = (caller.auth(), Uuid::now_v7(), caller.now());
    if factors::of(caller.reader(), caller.user_id).await?.len() >= MOST {
        return Err(too_many());
    }
    let state = auth.pins.seal_factor(&challenge::about(id, caller.user_id), &serde_json::to_vec(&begun)?)?;
    let act = caller.begin().await?;
    let row = Challenge {
        id,
        user_id: caller.user_id,
        purpose: kind.to_owned(),
        session_id: Some(caller.session_id),
        state,
        attempt: None,
        created_at: now,
        expires_at: now.plus_millis(GOOD_FOR_MS),
    };
    factors::ask(&act, row).await?;
    act.done(entry(caller, "factor.begin", json!({"kind": kind}))).await?;
    Ok(id)
}

/// What was begun in this session.
async fn begun(caller: &Own, kind: &str, id: Uuid) -> Result<Begun> {
    let owner = (caller.user_id, Some(caller.session_id));
    let row = factors::asked(caller.reader(), id, owner, kind, caller.now()).await?;
    let gone = || Error::not_found("what was begun 10 minutes ago at the most");
    let row = row.ok_or_else(gone)?;
    let text = caller.auth().pins.open_factor(&challenge::about(id, caller.user_id), &row.state).ok_or_else(gone)?;
    Ok(serde_json::from_slice(&text)?)
}

/// Adds a factor that was shown to work. With the first one come recovery codes, and the other sessions of its owner end: they
/// were opened by a PIN alone.
async fn add(
    caller: &Own,
    begun: Uuid,
    kind: &'static str,
    name: String,
    secret: &[u8],
    last_step: Option<i64>,
) -> Result<Answer<Added>> {
    let (auth, user_id, now) = (caller.auth(), caller.user_id, caller.now());
    let mut factor = Factor {
        id: Uuid::now_v7(),
        user_id,
        kind: kind.to_owned(),
        name,
        secret: String::new(),
        last_step,
        created_at: now,
        last_used_at: None,
    };
    factor.secret = auth.pins.seal_factor(&passkeys::about(&factor), secret)?;
    let details = json!({"factorId": factor.id, "kind": kind, "name": factor.name});
    let mut act = caller.begin().await?;
    touch(&mut act, user_id).await?;
    if !factors::take(&act, begun).await? {
        return Err(Error::not_found("what was begun"));
    }
    let held = factors::of(&**act, user_id).await?.len();
    if held >= MOST {
        return Err(too_many());
    }
    factors::add(&act, factor).await?;
    let mut recovery_codes = None;
    let others = Revocation::OthersOf { user: user_id, but: caller.session_id };
    if held == 0 {
        let (codes, hashes) = recovery::made(auth, user_id)?;
        factors::replace_codes(&act, user_id, hashes, now).await?;
        Sessions::revoke(&**act, others, "a second factor was set up", now).await?;
        // The PIN alone made them known.
        known_places::forget(&act, user_id).await?;
        recovery_codes = Some(codes);
    }
    act.done(entry(caller, "factor.add", details)).await?;
    if held == 0 {
        auth.ended(others);
    }
    Ok(Answer(Added { recovery_codes }))
}
