//! A headquarters that speaks the specification alone: it knows no handshake and no question for versions, and nothing is said to
//! it but what the specification names. `docs/sync.md`, rule U2.

use tillkeep_storage::{DbErr, registry, settings};

use super::handshake::EPOCH;
use super::moved;
use super::pull::PullError;
use crate::Store;
use crate::headquarters::HqError;

/// Whether a handshake ended with `error` because headquarters has none, and never had. What a store that ever shook hands is
/// answered so is the word of another server.
pub(super) async fn is_all_that_is_spoken(store: &Store, error: &PullError) -> Result<bool, DbErr> {
    let is_missing = |error: &HqError| matches!(error, HqError::Answered { refusal, .. } if refusal.status == 404);
    let PullError::Hq(error) = error else { return Ok(false) };
    if !is_missing(error) || settings::get(store.reader(), EPOCH).await?.is_some() {
        return Ok(false);
    }
    let plain = matches!(store.hq.versions("").await, Err(error) if is_missing(&error));
    if plain && !store.hq.note_plain(plain) {
        tracing::warn!(
            "headquarters knows neither handshake nor versions: it is spoken to as the specification has it"
        );
    }
    Ok(plain)
}

/// Asks for all that is new of every type. Types that headquarters does not know are left out, but there must be some that
/// it does.
pub(super) async fn cycle(store: &Store) -> Result<(), PullError> {
    let mut moved = moved::pull(store, "", None).await?;
    if moved.unknown.len() == registry::pulled().count() {
        return Err(moved.unknown.swap_remove(0));
    }
    store.sync.cycled(store.clock.uptime());
    store.sync.line_back.notify_waiters();
    store.outbox_bell.notify_one();
    moved.broken.map_or(Ok(()), Err)
}
