//! Where a user signed in to headquarters before: their guesses are counted by themselves there, and what strangers try
//! does not make them wait. A browser says so with a key that it was given at a sign-in, an address by itself.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tillkeep_model::Instant;
use tillkeep_storage::entity::user;
use tillkeep_storage::known_places::{self as places, of_address};
use tillkeep_storage::sea_orm::{ConnectionTrait, EntityTrait};
use tillkeep_storage::{DbErr, Tx, user_pins};
use uuid::Uuid;

use super::address::origin;
use super::device::key_hash;
use super::throttle::{Claimant, KnownPlace};
use super::{Auth, Home};
use crate::files;

/// What a browser's key begins with.
const PREFIX: &str = "web_";

impl Claimant {
    /// Looks whether `user` (`None` when no user has the name) signed in before in the browser that says so. What the
    /// database is asked is the same for whoever exists and whoever does not.
    pub async fn recognised(&mut self, auth: &Auth, user: Option<&user::Model>) -> Result<(), DbErr> {
        let Some(browser) = self.browser.as_deref().filter(|_| auth.home == Home::Hq) else { return Ok(()) };
        let user_id = user.map(|user| user.id).unwrap_or_default();
        let found = places::of(auth.db.reader(), user_id, browser, auth.clock.now()).await?;
        self.known = found.map(|place| KnownPlace { id: place.id, user_id: place.user_id });
        Ok(())
    }

    /// As [`Claimant::recognised`], for a PIN alone, which does not say who types it: a browser or an address where anybody signed
    /// in before.
    pub async fn recognised_as_anybody(&mut self, auth: &Auth) -> Result<(), DbErr> {
        if auth.home != Home::Hq {
            return Ok(());
        }
        let (conn, now) = (auth.db.reader(), auth.clock.now());
        if let Some(browser) = &self.browser {
            self.known = match places::of_anybody(conn, browser, now).await? {
                Some(place) => Some(KnownPlace { id: place.id, user_id: answers(conn, place.user_id, now).await? }),
                None => None,
            };
        }
        let address = of_address(&origin(self.address));
        self.is_known_address = places::of_anybody(conn, &address, now).await?.is_some();
        Ok(())
    }
}

/// The person for whom counts what is typed in a browser of `user_id`: accounts that a user makes would each be a new
/// start.
async fn answers(conn: &impl ConnectionTrait, user_id: Uuid, now: Instant) -> Result<Uuid, DbErr> {
    match user::Entity::find_by_id(user_id).one(conn).await? {
        Some(user) => user_pins::counts_for(conn, &user, now).await,
        None => Ok(user_id),
    }
}

/// The place of a new session, and the key that its browser is to keep if it has none that anybody signed in with.
#[derive(Default)]
pub(crate) struct Noted {
    pub place: Option<Uuid>,
    pub key: Option<String>,
}

/// Notes where `user`, whose row is locked, signs in with a PIN of their own for which no other user answers any more:
/// accounts that are made to be thrown away make no place known.
pub(crate) async fn note(
    auth: &Auth,
    tx: &Tx,
    claimant: &Claimant,
    user: &user::Model,
    now: Instant,
) -> Result<Noted, DbErr> {
    if auth.home != Home::Hq || user.must_change_pin {
        return Ok(Noted::default());
    }
    let user_id = user.id;
    if user_pins::counts_for(tx, user, now).await? != user_id {
        return Ok(Noted::default());
    }
    places::note(tx, user_id, &of_address(&origin(claimant.address)), now).await?;
    let Some(browser) = &claimant.browser else { return Ok(Noted::default()) };
    if places::of_anybody(tx, browser, now).await?.is_some() {
        // Several people may work in one browser.
        return Ok(Noted { place: Some(places::note(tx, user_id, browser, now).await?), key: None });
    }
    let key = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(files::random::<32>()));
    Ok(Noted { place: Some(places::note(tx, user_id, &key_hash(&key), now).await?), key: Some(key) })
}
