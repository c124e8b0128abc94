//! Help for whoever has the machine of headquarters, when no user can sign in who may give it. No route leads here.

use serde_json::json;
use tillkeep_http::auth::found::{self, Ended};
use tillkeep_http::auth::new_pin::{self, Maker};
use tillkeep_http::auth::{Revocation, Sessions};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::names;
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::ADMINISTRATOR;
use tillkeep_storage::db::{Turn, take_turn};
use tillkeep_storage::entity::user::{Column, Entity, Model};
use tillkeep_storage::registry::fold;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use tillkeep_storage::{Tx, attempts, audit, known_places};

use super::assignments::{self, Grant};
use super::factors::{self, Removed};
use super::fields::KIND;
use super::{grants, pin};
use crate::backoffice::rows;
use crate::{Account, Hq};

/// Who did it, for the audit log.
const BY: &str = "command line";

/// Gives the user of this name a PIN that they change at the first sign-in; the PIN. Their sessions end, and what makes them
/// wait after wrong PINs.
pub async fn reset_pin(hq: &Hq, name: &str) -> Result<String> {
    let (pin, hashed) = pin::generate(&hq.auth).await?;
    let now = hq.clock.now();
    let which = hq
        .from_the_machine(async |tx| {
            take_turn(&*tx, Turn::Pin).await?;
            let user = of_name(tx, name).await?.ok_or_else(|| unknown(name))?;
            if !user.is_active {
                let text = "is not active; an administrator activates the account, and `hq make-admin` makes one";
                return Err(Error::new(ErrorCode::Validation, format!("{name} {text}")));
            }
            let which = Revocation::AllOf(user.id);
            new_pin::set_pin(&hq.auth, tx, user.id, &hashed, Some(Maker { counts_for: None }), now).await?;
            Sessions::revoke(&**tx, which, "the PIN was changed", now).await?;
            known_places::forget(tx, user.id).await?;
            attempts::forget(tx, user.id).await?;
            Ok((which, Some(entry("user.pin", &user))))
        })
        .await?;
    hq.auth.ended(which);
    Ok(pin)
}

/// Removes the second factors of the user of this name, who has lost them. Their sessions end.
pub async fn reset_factor(hq: &Hq, name: &str) -> Result<Removed> {
    let now = hq.clock.now();
    let (which, removed) = hq
        .from_the_machine(async |tx| {
            take_turn(&*tx, Turn::Pin).await?;
            let user = of_name(tx, name).await?.ok_or_else(|| unknown(name))?;
            let removed = factors::remove_all(tx, user.id, now).await?;
            attempts::forget(tx, user.id).await?;
            let mut entry = entry("factor.reset", &user);
            entry.details["factors"] = json!(removed.factors);
            entry.details["pinEnded"] = json!(removed.pin);
            Ok::<_, Error>(((Revocation::AllOf(user.id), removed), Some(entry)))
        })
        .await?;
    hq.auth.ended(which);
    Ok(removed)
}

/// The PIN of a user who is an administrator now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdministratorsPin {
    /// The account had to be made, with this one.
    Made(String),
    AsItWas,
    /// There is none: another one knew it, or it was made by release 0.1.0 for an account that was not active.
    Missing,
}

/// Makes the user of this name an active administrator of all stores.
pub async fn make_admin(hq: &Hq, name: &str) -> Result<AdministratorsPin> {
    let now = hq.clock.now();
    let ended = hq
        .from_the_machine(async |tx| {
            take_turn(&*tx, Turn::Pin).await?;
            let Some(found) = of_name(tx, name).await? else { return Ok((None, None)) };
            let mut user = found.clone();
            if !user.is_active {
                pin::end_former(&mut user);
                user.is_active = true;
            }
            rows::rewrite::<Entity>(tx, &KIND, user, now).await?;
            if !grants::is_administrator(tx, found.id).await? {
                let everywhere = Grant::everywhere(grants::administrator());
                assignments::insert(tx, found.id, &[everywhere], now).await?;
            }
            let ended = found::part(&hq.auth, tx, found.id, &entry("pin.shared", &found), now).await?;
            audit::record_all(tx, ended.lines.clone(), now).await?;
            let has_pin = of_name(tx, name).await?.is_some_and(|user| user.pin_hash.is_some());
            Ok::<_, Error>((Some((ended, has_pin)), Some(entry("user.make_admin", &found))))
        })
        .await?;
    if let Some((ended, has_pin)) = ended {
        Ended::tell(&ended, &hq.auth);
        return Ok(if has_pin { AdministratorsPin::AsItWas } else { AdministratorsPin::Missing });
    }
    if let Some(flaw) = names::flaw(name) {
        return Err(Error::field("name", flaw));
    }
    let (pin, _) = pin::generate(&hq.auth).await?;
    let account = Account { username: name.to_owned(), pin: pin.clone().into(), role: ADMINISTRATOR };
    hq.make_account(&account, true, BY).await?;
    Ok(AdministratorsPin::Made(pin))
}

/// The living user of this name, who stays as they are until the transaction ends.
async fn of_name(tx: &Tx, name: &str) -> Result<Option<Model>> {
    let named = Entity::find().filter(Column::UsernameFolded.eq(fold(name))).filter(Column::DeletedAt.is_null());
    Ok(named.lock_exclusive().one(tx).await?)
}

fn unknown(name: &str) -> Error {
    Error::new(ErrorCode::NotFound, format!("there is no user {name}"))
}

fn entry(action: &'static str, user: &Model) -> audit::Entry {
    audit::Entry {
        action,
        entity_type: Some(KIND.name()),
        entity_id: Some(user.id.to_string()),
        details: json!({"username": user.username, "by": BY}),
        ..audit::Entry::default()
    }
}
