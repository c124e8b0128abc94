//! A second factor that was shown. It is used up in the transaction of what it was shown for, by statements whose rows decide: of
//! two servers that were shown the same code or answer at one moment, one is first.

use serde_json::json;
use tillkeep_model::{Instant, fields};
use tillkeep_storage::attempts::Taken;
use tillkeep_storage::{DbErr, Tx, audit, factors};
use uuid::Uuid;

use super::{PASSKEY, RECOVERY, TOTP};
use crate::auth::throttle::Claimant;
use crate::auth::{Auth, factor_uses};

/// What is used up.
pub(super) enum Used {
    Step { id: Uuid, step: i64 },
    Code { hash: String },
    Passkey { id: Uuid, secret: String },
}

/// A right second step.
pub(crate) struct Shown {
    pub(super) used: Used,
    pub(super) challenge: Option<Uuid>,
    /// The right PIN that was counted as a wrong one before.
    pub(super) earlier: Option<Taken>,
}

/// What a transaction has to do with a second step: its line at the end, and the rest once it is committed.
pub(crate) struct Settled {
    uses: Option<i64>,
    /// To be written last, as all lines of the audit log.
    pub(crate) line: audit::Entry,
}

impl Settled {
    /// To be called after the commit.
    pub(crate) async fn committed(&self, auth: &Auth) {
        // Without it only a copy of the database that is older than this very use would bring it back.
        if let Some(uses) = self.uses {
            factor_uses::note(auth, uses).await;
        }
    }
}

impl Shown {
    pub(crate) const fn kind(&self) -> &'static str {
        match self.used {
            Used::Step { .. } => TOTP,
            Used::Code { .. } => RECOVERY,
            Used::Passkey { .. } => PASSKEY,
        }
    }

    /// Uses it up; `None` when another request was first.
    pub(crate) async fn settle(
        &self,
        tx: &Tx,
        user_id: Uuid,
        claimant: &Claimant,
        now: Instant,
    ) -> Result<Option<Settled>, DbErr> {
        if let Some(id) = self.challenge
            && !factors::take(tx, id).await?
        {
            return Ok(None);
        }
        let (is_first, factor) = match &self.used {
            Used::Step { id, step } => (factors::use_step(tx, *id, *step, now).await?, Some(*id)),
            Used::Code { hash } => (factors::use_code(tx, user_id, hash, now).await?, None),
            Used::Passkey { id, secret } => (factors::use_passkey(tx, *id, secret, now).await?, Some(*id)),
        };
        if !is_first {
            return Ok(None);
        }
        let uses = match self.used {
            Used::Passkey { .. } => None,
            _ => Some(factors::count_use(tx).await?),
        };
        let mut entry = claimant.audit("factor.used", Some(user_id));
        entry.entity_type = Some(fields::user::BOOK.table);
        entry.entity_id = Some(user_id.to_string());
        entry.details["kind"] = json!(self.kind());
        entry.details["factorId"] = json!(factor);
        if matches!(self.used, Used::Code { .. }) {
            entry.details["codesLeft"] = json!(factors::codes_left(tx, user_id).await?);
        }
        Ok(Some(Settled { uses, line: entry }))
    }
}
