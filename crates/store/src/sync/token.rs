//! Taking over the sync token that replaced the one of this store. `docs/security.md`, "A rotated token".

use tillkeep_http::Secret;

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

/// Has what was taken over on disk; once more when that failed before.
pub(super) fn keep(store: &Store) {
    let token = store.line.bearer().token;
    if token == store.settings.sync_token {
        return;
    }
    if let Err(error) = token::keep(&store.settings.data_dir, &token) {
        tracing::error!(
            %error,
            "the sync token that this store took over could not be kept: a restart would go back to the one before. See to the \
             disk and the rights of the data directory"
        );
    }
}
