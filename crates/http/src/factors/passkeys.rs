//! Passkeys. They belong to the address that browsers reach headquarters by, as its operator wrote it: what a request says of
//! that (`Host`) is its sender's word.

use serde_json::Value as Json;
use tillkeep_storage::factors::Factor;
use webauthn_rs::prelude::{
    Passkey, PasskeyAuthentication, PasskeyRegistration, PublicKeyCredential, RegisterPublicKeyCredential, Url,
    Webauthn, WebauthnBuilder,
};

use super::PASSKEY;
use crate::auth::Auth;
use crate::error::{Error, Result};

/// What authenticators show of this server.
pub(super) const ISSUER: &str = "Tillkeep";

/// What judges passkeys here, or why there is none, for people.
pub(super) fn judge(auth: &Auth) -> Result<Webauthn, &'static str> {
    const NO_NAME: &str = "public_url of headquarters must be https:// with a name, or http://localhost: browsers keep \
                           passkeys for nothing else";
    let url = match &auth.public_url {
        Some(url) => Url::parse(url).map_err(|_| NO_NAME)?,
        None => Url::parse("http://localhost").map_err(|_| NO_NAME)?,
    };
    let name = url.domain().ok_or(NO_NAME)?.to_owned();
    let is_local = name == "localhost";
    if url.scheme() != "https" && !is_local {
        return Err(NO_NAME);
    }
    let made = WebauthnBuilder::new(&name, &url).map_err(|_| NO_NAME)?.rp_name(ISSUER).allow_any_port(is_local);
    let secure = Url::parse("https://localhost").map_err(|_| NO_NAME)?;
    let made = if is_local { made.append_allowed_origin(&secure) } else { made };
    made.build().map_err(|_| NO_NAME)
}

/// Why passkeys cannot be used here.
pub(super) fn unusable(auth: &Auth) -> Option<&'static str> {
    match (judge(auth), &auth.public_url) {
        (Err(why), _) => Some(why),
        (Ok(_), _) => None,
    }
}

/// How the secret of a factor is bound to its row.
pub(super) fn about(factor: &Factor) -> String {
    format!("factor {} {} {}", factor.id, factor.user_id, factor.kind)
}

/// The passkeys among `factors`, each with its place there. One that cannot be read is none.
pub(super) fn among(auth: &Auth, factors: &[Factor]) -> Vec<(usize, Passkey)> {
    let of_kind = factors.iter().enumerate().filter(|(_, factor)| factor.kind == PASSKEY);
    let read = |(place, factor): (usize, &Factor)| {
        let text = auth.pins.open_factor(&about(factor), &factor.secret)?;
        Some((place, serde_json::from_slice(&text).ok()?))
    };
    of_kind.filter_map(read).collect()
}

/// What a browser is asked for, and what its answer is held against; `None` when there is no passkey that it could show here.
pub(super) fn ask(auth: &Auth, factors: &[Factor]) -> Result<Option<(Json, PasskeyAuthentication)>> {
    let keys: Vec<Passkey> = among(auth, factors).into_iter().map(|(_, key)| key).collect();
    let (false, Ok(judge)) = (keys.is_empty(), judge(auth)) else { return Ok(None) };
    let (asked, state) = judge.start_passkey_authentication(&keys).map_err(|error| Error::internal(error))?;
    Ok(Some((serde_json::to_value(asked.public_key)?, state)))
}

/// The factor of the passkey that answered, with what is to be kept of it; `None` for a wrong answer.
pub(super) fn answered<'a>(
    auth: &Auth,
    factors: &'a [Factor],
    state: &[u8],
    answer: &Json,
) -> Result<Option<(&'a Factor, String)>> {
    let Ok(state) = serde_json::from_slice::<PasskeyAuthentication>(state) else { return Ok(None) };
    let Ok(answer) = serde_json::from_value::<PublicKeyCredential>(answer.clone()) else { return Ok(None) };
    let Ok(judge) = judge(auth) else { return Ok(None) };
    let Ok(result) = judge.finish_passkey_authentication(&answer, &state) else { return Ok(None) };
    let mut keys = among(auth, factors);
    let found = keys.iter_mut().find(|(_, key)| key.cred_id() == result.cred_id());
    let Some((place, key)) = found else { return Ok(None) };
    let factor = &factors[*place];
    key.update_credential(&result);
    Ok(Some((factor, auth.pins.seal_factor(&about(factor), &serde_json::to_vec(key)?)?)))
}

/// What a browser is asked to make, and what it is held against.
pub(super) fn ask_for_new(
    judge: &Webauthn,
    (user_id, username, display_name): (uuid::Uuid, &str, &str),
    known: &[Passkey],
) -> Result<(Json, Vec<u8>)> {
    let known = known.iter().map(|key| key.cred_id().clone()).collect();
    let asked = judge.start_passkey_registration(user_id, username, display_name, Some(known));
    let (asked, state) = asked.map_err(|error| Error::internal(error))?;
    Ok((serde_json::to_value(asked.public_key)?, serde_json::to_vec(&state)?))
}

/// The passkey that a browser made.
pub(super) fn made(judge: &Webauthn, state: &[u8], credential: Json) -> Result<Passkey> {
    let wrong = |text: &str| Error::field("credential", text);
    let state: PasskeyRegistration = serde_json::from_slice(state)?;
    let credential: RegisterPublicKeyCredential = serde_json::from_value(credential)
        .map_err(|_| wrong("is not the credential of a browser; send what PublicKeyCredential.toJSON() gives"))?;
    judge.finish_passkey_registration(&credential, &state).map_err(|error| {
        tracing::debug!(?error, "a passkey was not taken");
        wrong("is not what was asked for; begin anew, on a page of this headquarters")
    })
}
