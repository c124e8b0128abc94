//! What answers in the place of headquarters, as the page of a network or a gateway does: the store says so, since when, with each
//! cycle that gets through. `docs/sync.md`, rule U2.

use tillkeep_model::AlarmCode;
use tillkeep_storage::{DbErr, apply, registry};

use super::pull::PullError;
use crate::Store;
use crate::headquarters::HqError;

/// What was asked for: each of the two may be answered by another server alone, and ends by itself.
const CYCLE: &str = "cycle";
const PUSH: &str = "push";

/// What came of a cycle.
pub(super) fn cycled(store: &Store, done: Result<(), &PullError>) {
    match done {
        Err(PullError::Hq(error)) if is_by_another(store, error) => {
            store.raise_alarm(AlarmCode::AnsweredInBetween, CYCLE);
        }
        // Headquarters itself said no, or it answered and one type cannot be kept here.
        Ok(()) | Err(PullError::Database(_) | PullError::Hq(HqError::Answered { .. })) => {
            store.end_alarm(AlarmCode::AnsweredInBetween, CYCLE);
        }
        Err(PullError::Hq(_)) => {}
    }
}

/// A push got verdicts.
pub(super) fn judged(store: &Store) {
    store.end_alarm(AlarmCode::AnsweredInBetween, PUSH);
}

/// A push got none.
pub(super) fn not_judged(store: &Store, error: &HqError) {
    if is_by_another(store, error) {
        store.raise_alarm(AlarmCode::AnsweredInBetween, PUSH);
    }
}

fn is_by_another(store: &Store, error: &HqError) -> bool {
    match error {
        // A newer headquarters that cannot be understood looks the same.
        HqError::Unreadable(_) => true,
        HqError::Between { status } => is_in_its_place(*status),
        // Each refusal of headquarters has a code, but where it speaks the specification alone.
        HqError::Answered { refusal, .. } => {
            refusal.code.is_none() && is_in_its_place(refusal.status) && !store.hq.speaks_the_specification_alone()
        }
        _ => false,
    }
}

/// Whether an answer with this status stands for one of headquarters. A gateway that says that no server is there tells
/// the truth.
const fn is_in_its_place(status: u16) -> bool {
    !matches!(status, 502..=504)
}

/// Whether a plain question is answered as headquarters does.
pub(super) async fn answers(store: &Store) -> Result<bool, DbErr> {
    if !store.hq.speaks_the_specification_alone() {
        return Ok(store.hq.answers().await);
    }
    let Some(entity) = registry::pulled().next() else { return Ok(false) };
    let cursor = apply::cursor(store.reader(), entity).await?;
    Ok(store.hq.pull_plainly(entity.name, cursor.version).await.is_ok())
}
