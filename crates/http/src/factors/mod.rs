//! Second factors of people at headquarters: set-up, showing one at a sign-in, and showing it again later. `docs/security.md`,
//! Second factor. A store never asks for one.

mod challenge;
mod confirm;
mod given;
mod own;
mod passkeys;
mod recovery;
mod set_up;
mod shown;
mod totp;

use tillkeep_model::ErrorCode;
use tillkeep_storage::DbErr;
use tillkeep_storage::factors::{self, Factor};
use uuid::Uuid;

use crate::auth::{Auth, HasAuth};
use crate::routes::Routes;

pub(crate) use given::{Given, of_good_challenge, refuse as refuse_factor, second_step};
pub(crate) use shown::Shown;

/// The kinds of factors, as the database and the interface name them.
const TOTP: &str = "totp";
const PASSKEY: &str = "passkey";
const RECOVERY: &str = "recovery";

/// The factors that a user is asked for.
async fn asked_of(auth: &Auth, user_id: Uuid) -> Result<Vec<Factor>, DbErr> {
    let all = factors::of(auth.db.reader(), user_id).await?;
    Ok(if auth.is_asked_for_factor(!all.is_empty()) { all } else { Vec::new() })
}

/// The routes of second factors; headquarters alone has them.
pub fn routes<S>(routes: Routes<S>) -> Routes<S>
where
    S: HasAuth + Clone + 'static,
{
    use ErrorCode::{
        Conflict, InvalidCredentials, NotFound, NotSupportedYet, SecondFactorMissing, SecondFactorRequired,
        TooManyAttempts, TooManyRates, TooManyRequests,
    };
    routes
        .post("/auth/confirm", confirm::confirm)
        .about("Show the second factor again, or the PIN without one: some routes want that within 15 minutes.")
        .fails(&[InvalidCredentials, SecondFactorMissing, SecondFactorRequired, TooManyAttempts, TooManyRequests])
        .get("/auth/factors", own::list)
        .about("The own second factors.")
        .delete("/auth/factors/{id}", own::remove)
        .about("Remove one of the own second factors; with the last one its recovery codes.")
        .fails(&[Conflict, NotFound])
        .post("/auth/factors/recovery-codes", own::new_codes)
        .about("Make new recovery codes, which are shown once; those from before are worth nothing.")
        .fails(&[NotFound])
        .post("/auth/factors/totp", set_up::begin_totp)
        .about("Begin to set up an app that makes codes.")
        .fails(&[TooManyRates])
        .post("/auth/factors/totp/{id}", set_up::finish_totp)
        .about("Finish with a code of the app; with the first factor come recovery codes, which are shown once.")
        .fails(&[NotFound, TooManyRates])
        .post("/auth/factors/passkeys", set_up::begin_passkey)
        .about("Begin to set up a passkey.")
        .fails(&[NotSupportedYet, TooManyRates])
        .post("/auth/factors/passkeys/{id}", set_up::finish_passkey)
        .about("Finish with the credential that the browser made; with the first factor come recovery codes, which are shown once.")
        .fails(&[NotFound, NotSupportedYet, TooManyRates])
}
