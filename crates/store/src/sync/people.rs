//! What headquarters does for a person who is at the till: a new PIN, and who a user is that this store does not know.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tillkeep_http::auth::{Asking, Headquarters, Knowing, hq_unreachable};
use tillkeep_http::error::{Error, Result};
use tillkeep_model::wire::{PinChange, StoreSignIn, StoreSignedIn};
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::entity::user;
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::{DbErr, kept_verifiers};
use tokio::time::timeout;
use uuid::Uuid;

use crate::Store;
use crate::headquarters::Refused;

/// How long a user waits for headquarters to answer, and then for the new PIN to be good here.
const ANSWERS_WITHIN: Duration = Duration::from_secs(12);
const HERE_WITHIN: Duration = Duration::from_secs(10);

/// How long an unknown user waits for headquarters to say who they are, and then for what changed of them to be here.
const KNOWN_WITHIN: Duration = Duration::from_secs(2);

/// The way of a store to headquarters.
struct Way(Weak<Store>);

/// Tells the sign-in of a store how it reaches headquarters, once.
pub(crate) fn connect(store: &Arc<Store>) {
    if store.auth.headquarters().is_err() {
        store.auth.reaches(Arc::new(Way(Arc::downgrade(store))));
    }
}

impl Headquarters for Way {
    fn is_there(&self) -> bool {
        self.0.upgrade().is_some_and(|store| store.sync.has_line())
    }

    fn heard_at(&self) -> Option<Instant> {
        self.0.upgrade()?.sync.line().last_contact_at
    }

    fn change_pin(&self, user_id: Uuid, current: String, new: Option<String>) -> Asking<'_> {
        Box::pin(async move {
            let store = self.0.upgrade().ok_or_else(hq_unreachable)?;
            change_pin(&store, PinChange { user_id, current_pin: current, new_pin: new }).await
        })
    }

    fn sign_in(&self, asked: StoreSignIn) -> Knowing<'_> {
        Box::pin(async move { who(&*self.0.upgrade()?, &asked).await })
    }
}

/// Who that is by the word of headquarters, as they are here, with what verifies the same PIN.
async fn who(store: &Store, asked: &StoreSignIn) -> Option<(user::Model, StoreSignedIn)> {
    if store.hq.speaks_the_specification_alone() || !kept_verifiers::are_kept(store.reader()).await.ok()? {
        return None;
    }
    let said = match timeout(KNOWN_WITHIN, store.hq.sign_in(asked)).await {
        Ok(Ok(said)) => said?,
        Ok(Err(error)) => {
            tracing::info!(%error, "headquarters does not say who signs in; whoever is known here does");
            return None;
        }
        Err(_) => {
            tracing::info!("headquarters does not say in time who signs in; whoever is known here does");
            return None;
        }
    };
    let person = timeout(KNOWN_WITHIN, as_said(store, &said)).await.ok()?.ok()?;
    Some((person, said))
}

/// The person as headquarters has them, once that is here: it may have changed a moment ago.
async fn as_said(store: &Store, said: &StoreSignedIn) -> std::result::Result<user::Model, DbErr> {
    loop {
        let changed = store.sync.people_changed.notified();
        let row = user::Entity::find_by_id(said.user_id).one(store.reader()).await?;
        if let Some(row) = row.filter(|row| row.pin_changed_at == said.pin_changed_at) {
            return Ok(row);
        }
        store.sync.cycle_bell.notify_one();
        changed.await;
    }
}

async fn change_pin(store: &Store, request: PinChange) -> Result<()> {
    let before = changed_at(store, request.user_id).await?;
    match timeout(ANSWERS_WITHIN, store.hq.change_pin(&request)).await {
        Ok(Ok(None)) => {}
        Ok(Ok(Some(refused))) => return Err(refusal(refused)),
        Ok(Err(error)) => {
            tracing::warn!(%error, "a PIN cannot be changed now");
            return Err(no_line(store, &request));
        }
        Err(_) => return Err(no_line(store, &request)),
    }
    if request.new_pin.is_none() {
        return Ok(());
    }
    // The person signs in with it next: here that is right as soon as the row is, for which the next cycle is too late.
    let here = async {
        loop {
            let changed = store.sync.people_changed.notified();
            if changed_at(store, request.user_id).await? != before {
                return Ok(());
            }
            store.sync.cycle_bell.notify_one();
            changed.await;
        }
    };
    // It is changed all the same: what has not come by then comes with a later cycle.
    timeout(HERE_WITHIN, here).await.unwrap_or(Ok(()))
}

fn no_line(store: &Store, request: &PinChange) -> Error {
    // A request without a waiting user says nothing of the line: headquarters may be busy with the same of others.
    if request.new_pin.is_some() {
        store.sync.lost_line();
    }
    hq_unreachable()
}

async fn changed_at(store: &Store, user_id: Uuid) -> Result<Option<Instant>> {
    let row = user::Entity::find_by_id(user_id).one(store.reader()).await?;
    Ok(row.and_then(|row| row.pin_changed_at))
}

/// What a refusal of headquarters is to the person at the till.
fn refusal(refused: Refused) -> Error {
    use ErrorCode::{ChangeAtHeadquarters, InvalidCredentials, PinNotAllowed, TooManyAttempts, TooManyRequests};
    match refused.code {
        code @ (ChangeAtHeadquarters | InvalidCredentials | PinNotAllowed) => Error::new(code, refused.text),
        code @ (TooManyAttempts | TooManyRequests) => {
            Error::new(code, refused.text).retry_after(refused.retry_after.map_or(1, |wait| wait.as_secs()))
        }
        // Headquarters of release 0.1.0 has no such route, and one that is busy says so.
        code => {
            tracing::warn!(code = code.as_str(), "headquarters did not change a PIN");
            hq_unreachable()
        }
    }
}
