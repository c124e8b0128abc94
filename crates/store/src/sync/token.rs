//! Taking over the sync token that replaced the one of this store. `docs/security.md`, "A rotated token".

use tillkeep_http::Secret;
use tillkeep_model::AlarmCode;

use crate::Store;
use crate::headquarters::token;

/// Speaks with the token that headquarters gave from now on; whether it did.
pub(super) fn take_over(store: &Store, given: &str) -> bool {
    let next = Secret::from(given.to_owned());
    if !token::replaces(&next, &store.line.bearer().token) {
        tracing::warn!("headquarters gave a sync token that is no later one of this store, which leaves it aside");
        return false;
    }
    if let Err(error) = store.line.speak_with(&next) {
        tracing::error!(%error, "headquarters gave a sync token that cannot be sent");
        return false;
    }
    store.sync.token_changed.notify_one();
    tracing::info!("this store has taken over the sync token that replaced its own");
    true
}

/// Tries again to keep what could not be kept: until then a restart would go back to the token before.
pub(super) fn keep_again(store: &Store) {
    if store.alarms.has(AlarmCode::TokenNotKept) {
        keep(store);
    }
}

/// Has what was taken over on disk. That it is not there is an alarm of this store, here and at headquarters.
pub(super) fn keep(store: &Store) {
    let token = store.line.bearer().token;
    if token == store.settings.sync_token {
        return;
    }
    match token::keep(&store.settings.data_dir, &token) {
        Ok(()) => store.end_alarm(AlarmCode::TokenNotKept, ""),
        Err(error) => {
            // Of each try one line would fill the log of a disk that is full.
            if store.raise_alarm(AlarmCode::TokenNotKept, "") {
                tracing::error!(
                    %error,
                    "the sync token that this store took over could not be kept: a restart would go back to the one before. \
                     See to the disk and the rights of the data directory"
                );
            }
        }
    }
}
