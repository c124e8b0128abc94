//! What a pull leaves out because it cannot be read is noted, and sent once it was mended. `docs/sync.md`, rule D13.

use tillkeep_storage::entity::unreadable_row::Model;
use tillkeep_storage::registry::SyncType;
use tillkeep_storage::rows::Unread;
use tillkeep_storage::{DbErr, unreadable};

use crate::Hq;

/// Notes what a pull leaves out, before it is answered: stores go on past these rows, and only from here is it known that
/// they are still to come. Costs nothing when all of it is known.
pub(super) async fn note(hq: &Hq, entity: &SyncType, left_out: &[Unread]) -> Result<(), DbErr> {
    let now = hq.clock.now();
    let rows: Vec<Model> = left_out
        .iter()
        .filter_map(|unread| unreadable::row(entity, unread, now))
        .filter(|row| !hq.unreadable.knows(row))
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    if hq.unreadable.count_of(entity.name) + rows.len() > unreadable::MOST {
        return Err(DbErr::Custom(format!("more than {} rows of {} cannot be read", unreadable::MOST, entity.name)));
    }
    let tx = hq.sync_db().begin().await?;
    unreadable::note(&tx, rows.clone()).await?;
    let known = unreadable::known(&tx).await?;
    tx.commit().await?;
    for row in rows {
        tracing::error!(
            entity_type = row.entity_type,
            id = %row.row_id,
            field = row.field,
            "a row cannot be read, and stores go without it until it is mended"
        );
    }
    hq.unreadable.set(known);
    Ok(())
}

/// Looks again, when it is time: what was mended is sent.
pub(super) async fn follow(hq: &Hq) -> Result<(), DbErr> {
    if !hq.unreadable.is_time_to_look(hq.clock.uptime()) {
        return Ok(());
    }
    let known = unreadable::known(hq.sync_db().reader()).await?;
    if known.is_empty() || !hq.leases.take("search for mended rows").await? {
        hq.unreadable.set(known);
        return Ok(());
    }
    let mut tx = hq.sync_db().begin().await?;
    let left = unreadable::look_again(&mut tx).await?;
    hq.commit(tx).await?;
    for row in known.iter().filter(|row| !left.contains(row)) {
        tracing::info!(entity_type = row.entity_type, id = %row.row_id, "a row can be read again, and is sent to stores");
    }
    hq.unreadable.set(left);
    Ok(())
}
