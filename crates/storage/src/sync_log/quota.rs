//! How much is kept of what failed of one store.

use sea_orm::DbErr;
use tillkeep_model::wire::MAX_ENVELOPE_BYTES;
use uuid::Uuid;

use super::words::PUSH;
use crate::Tx;
use crate::db::query;
use crate::entity::sync_status;

/// Failed entries of one store that have a row of their own, and the bytes of what was sent in all of them.
const MOST_FAILURES: i64 = 10_000;
const MOST_BYTES: i64 = 64 << 20;

/// Whether the next payload of a store may not be kept any more, by its counters.
pub fn is_full(sent: &[&sync_status::Model]) -> bool {
    let failures: i64 = sent.iter().map(|row| i64::from(row.pending_count)).sum();
    let bytes: i64 = sent.iter().map(|row| row.pending_bytes).sum();
    failures >= MOST_FAILURES || bytes > MOST_BYTES - i64::try_from(MAX_ENVELOPE_BYTES).unwrap_or_default()
}

/// What of this is kept for a store with failures that take so much room already.
#[derive(Clone, Copy)]
pub(super) struct Quota {
    failures: i64,
    bytes: i64,
}

impl Quota {
    pub(super) async fn load(tx: &Tx, store: Uuid) -> Result<Self, DbErr> {
        let sql = "SELECT CAST(COALESCE(SUM(pending_count), 0) AS BIGINT) AS failures, \
                   CAST(COALESCE(SUM(pending_bytes), 0) AS BIGINT) AS bytes FROM sync_status \
                   WHERE store_id = $1 AND direction = $2";
        let rows = query(tx, sql, [store.into(), PUSH.into()]).await?;
        let row = rows.first().ok_or_else(|| DbErr::RecordNotFound("sync_status".to_owned()))?;
        Ok(Self { failures: row.try_get("", "failures")?, bytes: row.try_get("", "bytes")? })
    }

    /// Whether there is no room for the row of one more.
    pub(super) const fn is_used_up(self) -> bool {
        self.failures >= MOST_FAILURES
    }

    /// Whether there is room for the payload of one more; it counts from now on.
    pub(super) fn takes(&mut self, bytes: i64) -> bool {
        self.failures += 1;
        let fits = self.bytes + bytes <= MOST_BYTES;
        self.bytes += if fits { bytes } else { 0 };
        fits
    }
}

/// Whether failures of `store` have no room any more, each for a row of its own.
pub(super) async fn is_used_up(tx: &Tx, store: Uuid) -> Result<bool, DbErr> {
    Ok(Quota::load(tx, store).await?.is_used_up())
}
