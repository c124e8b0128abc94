//! What a session opens by how it began, and when its second factor was shown last. At headquarters alone: a store never asks
//! for one.

use std::sync::Arc;

use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::db;
use uuid::Uuid;

use super::{Access, Auth, Home, SecondFactor, Sessions, State};
use crate::error::{Error, Result};

/// Milliseconds for which a second factor that was shown is good for what gives rights away.
const FRESH_MS: i64 = 15 * 60 * 1000;
/// How far the clock of another server may be ahead that was shown it.
const AHEAD_MS: i64 = 60 * 1000;

/// Until when what was shown at `at` is fresh.
pub(crate) fn fresh_until(at: Instant) -> Instant {
    at.plus_millis(FRESH_MS)
}

impl Auth {
    /// Whether a user is asked for more than a PIN.
    pub fn is_asked_for_factor(&self, has_factor: bool) -> bool {
        has_factor && self.second_factor != SecondFactor::Off
    }

    /// Whether a user must have a second factor.
    pub fn must_have_factor(&self, person: &Access) -> bool {
        self.second_factor == SecondFactor::Required && person.reaches_beyond_a_store()
    }

    /// Whether a user must have a second factor and has none.
    pub fn lacks_factor(&self, person: &Access) -> bool {
        self.must_have_factor(person) && !person.has_factor
    }

    /// What a user holds in `session`: a PIN without a name opens nothing beyond a store for whoever is asked for more
    /// than a PIN, or should be.
    pub(super) fn opened_by(&self, session: &State, access: Arc<Access>) -> Arc<Access> {
        let bound = self.is_asked_for_factor(access.has_factor) || self.must_have_factor(&access);
        if session.by_pin_alone && bound { Arc::new(access.within_a_store()) } else { access }
    }

    /// To be called at the start: sessions from where no second factor was asked for end where whoever has one is.
    pub async fn end_sessions_without_factor(&self) -> Result<()> {
        if self.home != Home::Hq || self.second_factor == SecondFactor::Off {
            return Ok(());
        }
        let now = self.clock.now();
        db::retry_serialization(async || {
            let tx = self.db.begin().await?;
            Sessions::revoke_without_factor(&tx, now).await?;
            tx.commit().await
        })
        .await?;
        Ok(())
    }

    /// Refuses what wants the second factor of this session to have been shown lately.
    pub(crate) async fn require_fresh(&self, id: Uuid, factor_at: Option<Instant>) -> Result<()> {
        if self.home != Home::Hq || self.is_fresh(factor_at) {
            return Ok(());
        }
        // It may have been shown to another server a moment ago.
        let now = self.sessions.read(&self.db, id).await?;
        if now.is_some_and(|session| self.is_fresh(session.factor_at)) {
            return Ok(());
        }
        let text = "this wants to know that it is still you: show your second factor (your PIN, if you have none) with POST \
                    /api/v1/auth/confirm, and send the request again";
        Err(Error::new(ErrorCode::SecondFactorStale, text))
    }

    fn is_fresh(&self, factor_at: Option<Instant>) -> bool {
        // The clocks of several servers differ a little; one that was far ahead says nothing.
        factor_at.is_some_and(|at| (-AHEAD_MS..FRESH_MS).contains(&self.clock.now().millis_since(at)))
    }
}
