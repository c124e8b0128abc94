//! Codes of an app (RFC 6238): six digits that change every half a minute. The clocks may differ by one step either way.

use tillkeep_model::Instant;
use tillkeep_storage::factors::Factor;
use totp_rs::{Builder, Secret, Totp};

use super::TOTP;
use super::passkeys::{ISSUER, about};
use crate::auth::Auth;
use crate::error::{Error, Result};
use crate::files;

/// A new secret.
pub(super) fn secret() -> Vec<u8> {
    files::random::<20>().to_vec()
}

fn of(secret: &[u8], account: &str) -> Result<Totp> {
    // The text that an app reads has a colon between its parts.
    let account = account.replace(':', " ");
    let made = Builder::new().with_secret(secret.to_vec()).with_account_name(account).with_issuer(Some(ISSUER));
    made.build().map_err(|error| Error::internal(error.to_string()))
}

/// The secret as people type it, and as an app reads it from a picture.
pub(super) fn shown(secret: &[u8], account: &str) -> Result<(String, String)> {
    let uri = of(secret, account)?.to_url().map_err(|error| Error::internal(error.to_string()))?;
    Ok((Secret::from(secret.to_vec()).to_base32(), uri))
}

/// The step of time whose code this is, unless it is wrong now.
pub(super) fn step(secret: &[u8], code: &str, now: Instant) -> Result<Option<i64>> {
    let seconds = u64::try_from(now.millis() / 1000).unwrap_or_default();
    Ok(of(secret, "")?.check(code, seconds).and_then(|step| i64::try_from(step).ok()))
}

/// Digits alone, as a code of an app has.
pub(super) fn is_code(text: &str) -> bool {
    text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The factor among `factors` whose code this is, with its step of time. A step that was used before is found as well: the
/// statement that uses it decides.
pub(super) fn matching<'a>(
    auth: &Auth,
    factors: &'a [Factor],
    code: &str,
    now: Instant,
) -> Result<Option<(&'a Factor, i64)>> {
    for factor in factors.iter().filter(|factor| factor.kind == TOTP) {
        let Some(secret) = auth.pins.open_factor(&about(factor), &factor.secret) else { continue };
        if let Some(step) = step(&secret, code, now)? {
            return Ok(Some((factor, step)));
        }
    }
    Ok(None)
}
