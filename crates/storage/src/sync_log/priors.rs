//! What the log already says of envelopes that come, those of its rows that were pruned included.

use std::collections::HashMap;

use sea_orm::{ConnectionTrait, DbErr, Value};
use tillkeep_model::Instant;
use uuid::Uuid;

use super::kept;
use super::words::{FAILED, NOTHING_NEW, RESOLVED, SKIPPED, SUCCESS};
use crate::envelope::Incoming;
use crate::envelope::dated::{self, Dated};
use crate::many::find_by_rows;

/// What HQ has already seen of one envelope and its entity, from one store.
#[derive(Debug, Default)]
pub struct Prior {
    /// This very envelope was judged before.
    pub seen: bool,
    /// A user settled it by hand: nothing of it is to be applied any more.
    pub settled: bool,
    pub last_applied: Option<Instant>,
    /// Asked for where the time of the envelope is not believed: when it came first, and the latest time that one of its entity
    /// said which was not believed either.
    pub first_seen: Option<Instant>,
    pub last_said: Option<Instant>,
    pub has_failures: bool,
}

/// [`Prior`] by the place of an envelope in its request.
pub struct Priors(HashMap<usize, Prior>);

impl Priors {
    pub fn get(&self, incoming: &Incoming<'_>) -> Option<&Prior> {
        self.0.get(&incoming.index)
    }

    /// The time of an envelope as it is compared. One that comes again is as old as when it came first.
    pub(crate) fn dated(&self, incoming: &Incoming<'_>, now: Instant) -> Dated {
        let heard = self.get(incoming).and_then(|prior| prior.first_seen).map_or(now, |first| first.min(now));
        Dated::new(incoming.timestamp, heard)
    }

    /// Whether a user settled this very envelope by hand. Its store may send it once more before it learns of that.
    pub fn is_settled(&self, incoming: &Incoming<'_>) -> bool {
        self.get(incoming).is_some_and(|prior| prior.settled)
    }
}

/// What the log says of the envelopes of `batch`, set-wise. Each question is one look into an index: an
/// entity may have any number of rows in the log.
pub async fn priors(
    conn: &impl ConnectionTrait,
    store: Uuid,
    batch: &[Incoming<'_>],
    now: Instant,
) -> Result<Priors, DbErr> {
    let of_entity = "FROM sync_log l WHERE l.store_id = $1 AND l.entity_id = v.column2 AND l.entity_type = v.column3";
    let kept = "FROM sync_log_kept k WHERE k.store = (SELECT MIN(n.store) FROM sync_log_nodes n WHERE n.store_id = $1) \
                AND k.entity_id = v.column5 AND k.entity_type = v.column3";
    let found = |rows: &str| format!("CASE WHEN EXISTS (SELECT 1 {rows}) THEN 1 ELSE 0 END");
    let in_log = |filter: &str| found(&format!("{of_entity} AND {filter}"));
    let rows = batch.iter().map(|incoming| -> [Value; 8] {
        [
            i32::try_from(incoming.index).unwrap_or(i32::MAX).into(),
            incoming.id.to_string().into(),
            incoming.entity.name.into(),
            incoming.hash.clone().into(),
            incoming.id.into(),
            incoming.timestamp.into(),
            kept::half_of(&incoming.hash).into(),
            i32::from(dated::is_ahead(incoming.timestamp, now)).into(),
        ]
    });
    let sql = format!(
        "SELECT v.column1 AS place, {seen} AS seen, {seen_long_ago} AS seen_long_ago, {seen_as_said} AS seen_as_said, {settled} AS settled, \
         {failed} AS failed, \
         (SELECT l.envelope_at {of_entity} AND (l.status = '{SUCCESS}' OR l.note = '{nothing_new}') \
         ORDER BY l.envelope_at DESC LIMIT 1) AS last_applied, \
         (SELECT k.envelope_at {kept} AND k.applied > 0 ORDER BY k.envelope_at DESC LIMIT 1) AS last_kept, \
         CASE WHEN v.column8 = 1 THEN (SELECT MIN({first_seen}) {of_entity} AND l.hash = v.column4) END AS first_seen, \
         CASE WHEN v.column8 = 1 THEN (SELECT MAX(l.said_at) {of_entity} AND l.said_at IS NOT NULL \
         AND (l.status = '{SUCCESS}' OR l.note = '{nothing_new}')) END AS last_said, \
         CASE WHEN v.column8 = 1 THEN (SELECT MAX(k.said_at) {kept} AND k.said_at IS NOT NULL AND k.applied > 0) END \
         AS last_said_kept \
         FROM (VALUES $rows) AS v",
        seen = in_log(&format!("l.hash = v.column4 AND l.status IN ('{SUCCESS}', '{SKIPPED}')")),
        seen_long_ago = found(&format!("{kept} AND k.envelope_at = v.column6 AND k.hash = v.column7")),
        seen_as_said = found(&format!("{kept} AND k.said_at = v.column6 AND k.hash = v.column7")),
        // As itself, the least would be looked for along all of the store's log, in the order of an index.
        first_seen = "COALESCE(l.first_seen_at, l.first_seen_at)",
        // What a later success closed is no user's word on it.
        settled = in_log(&format!("l.hash = v.column4 AND l.resolved_by IS NOT NULL AND l.status = '{RESOLVED}'")),
        failed = in_log(&format!("l.status = '{FAILED}'")),
        nothing_new = NOTHING_NEW.replace('\'', "''"),
    );
    let mut out = HashMap::with_capacity(batch.len());
    for row in find_by_rows(conn, &sql, &[store.into()], "(?, ?, ?, ?, ?, ?, ?, ?)", rows).await? {
        let is = |name: &str| row.try_get::<i32>("", name).map(|found| found == 1);
        let at = |name: &str| row.try_get::<Option<Instant>>("", name);
        let place: i32 = row.try_get("", "place")?;
        let prior = Prior {
            seen: is("seen")? || is("seen_long_ago")? || is("seen_as_said")?,
            settled: is("settled")?,
            has_failures: is("failed")?,
            last_applied: at("last_applied")?.max(at("last_kept")?),
            first_seen: at("first_seen")?,
            last_said: at("last_said")?.max(at("last_said_kept")?),
        };
        out.insert(usize::try_from(place).unwrap_or_default(), prior);
    }
    Ok(Priors(out))
}
