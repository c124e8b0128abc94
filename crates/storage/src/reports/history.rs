//! How many entries of a store HQ recorded, by hour or by day.

use std::collections::HashMap;

use sea_orm::{ConnectionTrait, DbErr};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::db::{Row, query};
use crate::sync_log::{FAILED, PUSH, RESOLVED, RETRIED, SKIPPED, SUCCESS};

/// How long a point is. Both begin with UTC: the stores of a chain have no other time in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Hour,
    Day,
}

impl By {
    /// Milliseconds of one point.
    pub const fn millis(self) -> i64 {
        match self {
            Self::Hour => 3_600_000,
            Self::Day => 86_400_000,
        }
    }

    /// The beginning of the point that `at` is in.
    pub fn floor(self, at: Instant) -> Instant {
        Instant::from_millis(at.millis() - at.millis().rem_euclid(self.millis()))
    }

    /// What [`counts`] calls the point that begins at `at`.
    pub fn name(self, at: Instant) -> String {
        let format = match self {
            Self::Hour => "%Y-%m-%d %H",
            Self::Day => "%Y-%m-%d",
        };
        at.utc().format(format).to_string()
    }

    /// Letters of that name.
    const fn letters(self) -> usize {
        match self {
            Self::Hour => 13,
            Self::Day => 10,
        }
    }
}

/// The entries that were first seen within one point; each is counted as `taken`, `settled` or `failed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub taken: i64,
    /// Of those taken: with something that a user should look at.
    pub warnings: i64,
    /// Of those taken: sales.
    pub sales: i64,
    /// Refused at first; taken at another try or settled by hand since then.
    pub settled: i64,
    /// Refused until now.
    pub failed: i64,
}

/// What was first seen of a store from `from` until before `to`, by the names of the points; one with nothing is
/// not there. Of what was pruned from the log an envelope counts once, however often it came.
pub async fn counts(
    conn: &impl ConnectionTrait,
    store: Uuid,
    by: By,
    from: Instant,
    to: Instant,
) -> Result<HashMap<String, Counts>, DbErr> {
    // Both databases write an instant as UTC with the date and the hour in front; one has a T between them.
    let sql = format!(
        "SELECT REPLACE(SUBSTR(CAST(first_seen_at AS TEXT), 1, {}), 'T', ' ') AS point, \
         COUNT(CASE WHEN status IN ('{SUCCESS}', '{SKIPPED}') THEN 1 END) AS taken, \
         COUNT(CASE WHEN status IN ('{SUCCESS}', '{SKIPPED}') THEN warning END) AS warnings, \
         COUNT(CASE WHEN status IN ('{SUCCESS}', '{SKIPPED}') AND entity_type = 'sales' THEN 1 END) AS sold, \
         COUNT(CASE WHEN status IN ('{RESOLVED}', '{RETRIED}') THEN 1 END) AS settled, \
         COUNT(CASE WHEN status = '{FAILED}' THEN 1 END) AS failed \
         FROM (SELECT first_seen_at, status, warning, entity_type FROM sync_log WHERE store_id = $1 \
         AND direction = '{PUSH}' AND first_seen_at >= $2 AND first_seen_at < $3 UNION ALL \
         SELECT k.first_seen_at, '{SUCCESS}', CASE WHEN k.warned > 0 THEN 'warned' END, k.entity_type \
         FROM sync_log_nodes n JOIN sync_log_kept k ON k.node = n.id WHERE n.store_id = $1 AND n.kept_until >= $2 \
         AND k.first_seen_at >= $2 AND k.first_seen_at < $3) AS entries GROUP BY 1",
        by.letters()
    );
    let point = |row: &Row| {
        let count = |name| row.try_get::<i64>("", name);
        let counts = Counts {
            taken: count("taken")?,
            warnings: count("warnings")?,
            sales: count("sold")?,
            settled: count("settled")?,
            failed: count("failed")?,
        };
        Ok((row.try_get("", "point")?, counts))
    };
    query(conn, &sql, [store.into(), from.into(), to.into()]).await?.iter().map(point).collect()
}
