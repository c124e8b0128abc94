//! Logging what was taken, and closing the older failures of it. `docs/sync.md`, rule U12.

use std::collections::BTreeMap;

use sea_orm::sea_query::{Alias, Expr, Query};
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, Value};
use tillkeep_model::Instant;
use tillkeep_model::wire::Applied;
use uuid::Uuid;

use super::pending::count_pending;
use super::priors::Priors;
use super::refused::reject;
use super::words::{FAILED, NOTHING_NEW, PUSH, RESOLVED, SETTLED_BEFORE, SKIPPED, STATUS_INSERT, SUCCESS};
use crate::Tx;
use crate::entity::sync_log::{Column, Entity, Model};
use crate::envelope::dated::Dated;
use crate::envelope::{Incoming, Sender, Verdict, tidy};
use crate::many::{execute_rows, one_of};
use crate::sql::bulk;

/// Logs a batch with its verdicts, closes older failures of what now went through, and raises the counters. True when a
/// failure was closed.
pub async fn record(
    tx: &Tx,
    sender: &Sender,
    batch: &[Incoming<'_>],
    verdicts: &[Verdict],
    priors: &Priors,
    now: Instant,
) -> Result<bool, DbErr> {
    let store = sender.store_id;
    let mut rows = Vec::with_capacity(batch.len());
    let (mut refused, mut healed) = (Vec::new(), Vec::new());
    let mut taken: BTreeMap<&str, i64> = BTreeMap::new();
    for (incoming, verdict) in batch.iter().zip(verdicts) {
        let (applied, warnings, left) = match verdict {
            Verdict::Taken { applied, warnings, left } => (applied, warnings, left),
            Verdict::Refused { .. } => {
                refused.push(incoming.rejection(verdict));
                continue;
            }
            // It comes again as if for the first time.
            Verdict::Later(_) => continue,
        };
        // The same envelope again is a success of its type, and nothing more was pushed.
        let again = *left && *applied == Applied::Duplicate;
        *taken.entry(incoming.entity.name).or_default() += i64::from(!again);
        let settled = priors.is_settled(incoming);
        let aside = matches!(applied, Applied::Skipped | Applied::Duplicate);
        let note = if settled { Some(SETTLED_BEFORE) } else { (aside && !left).then_some(NOTHING_NEW) };
        let row = Model {
            store_id: store,
            status: if aside { SKIPPED } else { SUCCESS }.to_owned(),
            note: note.map(str::to_owned),
            first_seen_at: now,
            last_seen_at: now,
            ..row(incoming, warnings, priors.dated(incoming, now))
        };
        // What a user settled went nowhere, so that it closes nothing.
        if !settled && priors.get(incoming).is_some_and(|prior| prior.has_failures) {
            healed.push((incoming.id.to_string(), row.id));
        }
        rows.push(row);
    }
    bulk::insert::<Entity>(tx, rows, None).await?;
    let closed = heal(tx, store, &healed, now).await?;
    count_pushed(tx, store, &taken, now).await?;
    if closed {
        count_pending(tx, store).await?;
    }
    reject(tx, sender, &refused, now).await?;
    Ok(closed)
}

/// What an envelope says of itself in the log; more of it beside a warning.
fn row(incoming: &Incoming<'_>, warnings: &[String], dated: Dated) -> Model {
    let warned = (!warnings.is_empty()).then(|| incoming.looked_at());
    Model {
        id: Uuid::now_v7(),
        direction: PUSH.to_owned(),
        entity_type: incoming.entity.name.to_owned(),
        entity_id: incoming.id.to_string(),
        action: tidy(&incoming.action),
        warning: warned.as_ref().map(|_| warnings.join(", ")),
        length: warned.as_ref().and_then(|kept| i64::try_from(kept.length).ok()),
        envelope: warned.as_ref().and_then(|kept| kept.envelope.clone()),
        beginning: warned.and_then(|kept| kept.beginning),
        hash: incoming.hash.clone(),
        envelope_at: Some(dated.at),
        said_at: dated.said,
        seq: incoming.seq,
        node_epoch: incoming.node_epoch.as_deref().map(tidy),
        ..Model::default()
    }
}

/// Successes to which failures are looked for at once: each of these is compared with each of those.
const HEALED_AT_ONCE: usize = 50;

/// Rule U12: a success closes the older failures of that entity, and their store learns of it: its dead letter holds up
/// whatever follows. A newer one stays open, which is the case when an old entry is tried again. `taken` are entities with the
/// rows of their successes, those of this batch alone: earlier ones have closed theirs, however many there are. True when one was
/// closed.
async fn heal(tx: &Tx, store: Uuid, taken: &[(String, Uuid)], now: Instant) -> Result<bool, DbErr> {
    // Numbers have an order within one database of the store; else the time of an envelope decides, or when one that could
    // not be read was first seen.
    const IS_OLDER: &str = "t.entity_id = sync_log.entity_id AND t.entity_type = sync_log.entity_type AND \
         CASE WHEN t.node_epoch = sync_log.node_epoch AND t.seq IS NOT NULL AND sync_log.seq IS NOT NULL \
         THEN sync_log.seq <= t.seq WHEN t.said_at IS NOT NULL AND sync_log.said_at IS NOT NULL \
         THEN sync_log.said_at <= t.said_at \
         ELSE COALESCE(sync_log.envelope_at, sync_log.first_seen_at) <= t.envelope_at END";
    let mut closed = 0;
    let backend = tx.get_database_backend();
    for chunk in taken.chunks(HEALED_AT_ONCE) {
        let rows: Vec<Value> = chunk.iter().map(|(_, row)| (*row).into()).collect();
        let entities: Vec<Value> = chunk.iter().map(|(entity, _)| entity.as_str().into()).collect();
        let mut newer = Query::select();
        let success = Alias::new("t");
        newer.expr(Expr::val(1)).from_as(Entity, success.clone());
        newer.and_where(one_of(backend, Expr::col((success, Column::Id)), &rows)?);
        let is_older = Expr::exists(newer.and_where(Expr::cust(IS_OLDER)).take());
        closed += Entity::update_many()
            .col_expr(Column::Status, Expr::value(RESOLVED))
            .col_expr(Column::ResolvedAt, Expr::value(now))
            .col_expr(Column::Note, Expr::value("a later envelope of this entity went through"))
            .col_expr(Column::Envelope, Expr::value(None::<String>))
            .col_expr(Column::Beginning, Expr::value(None::<String>))
            .col_expr(Column::ToAcknowledge, Expr::cust("seq IS NOT NULL"))
            .filter(Column::StoreId.eq(store))
            .filter(Column::Status.eq(FAILED))
            .filter(one_of(backend, Expr::col(Column::EntityId), &entities)?)
            .filter(is_older)
            .exec(tx)
            .await?
            .rows_affected;
    }
    Ok(closed > 0)
}

async fn count_pushed(tx: &Tx, store: Uuid, taken: &BTreeMap<&str, i64>, now: Instant) -> Result<(), DbErr> {
    let sql = format!(
        "{STATUS_INSERT} VALUES $rows ON CONFLICT (store_id, entity_type, direction) DO UPDATE SET \
         last_success_at = excluded.last_success_at, total_pushed = sync_status.total_pushed + excluded.total_pushed"
    );
    let rows = taken.iter().map(|(entity_type, count)| [(*entity_type).into(), (*count).into()]);
    let before = [store.into(), PUSH.into(), now.into()];
    execute_rows(tx, &sql, &before, "($1, ?, $2, $3, NULL, NULL, 0, 0, ?, 0, 0)", rows).await?;
    Ok(())
}
