//! What headquarters settled without applying it: it is at this store alone, and says so. `docs/sync.md`, rule U12.

use sea_orm::DbErr;
use tillkeep_model::wire::Acknowledged;
use uuid::Uuid;

use crate::document::flags::{NOT_AT_HQ, not_at_hq};
use crate::document::sale;
use crate::entity::outbox::Model;
use crate::many::{execute_in, find_in};
use crate::registry::{self, SyncType, flags};
use crate::{Tx, accounts};

/// Flags the rows with these ids that never came from HQ. What HQ has travels back to its store (rule U12).
pub async fn left_here(tx: &Tx, ids: &[Uuid]) -> Result<(), DbErr> {
    for entity in registry::pulled().filter(|entity| has_flags(entity)) {
        let sql = format!("UPDATE {} SET flags = $1 WHERE sync_version <= 0 AND id IN ($list)", entity.name);
        execute_in(tx, &sql, &[not_at_hq().into()], ids.iter().copied()).await?;
    }
    Ok(())
}

/// Flags the documents of entries that a user at HQ settled without applying them, as far as HQ does not have them. When it does
/// not say so, it lacks what the first entry of a document is about. What is on an account and not in its balance stays so.
pub async fn documents_left_here(tx: &Tx, left: &[Acknowledged]) -> Result<(), DbErr> {
    for entity in registry::ALL.iter().filter(|entity| has_flags(entity) && !entity.is_pulled()) {
        let mut here = documents_here(tx, entity, left).await?;
        flags::add(tx, entity, &here, NOT_AT_HQ).await?;
        if entity.name == sale::TYPE {
            let is_of = |settled: &Acknowledged, id: Uuid| settled.entity_id.parse() == Ok(id);
            here.retain(|id| !left.iter().any(|settled| settled.charged && is_of(settled, *id)));
            accounts::keep(tx, &here).await?;
        }
    }
    Ok(())
}

fn has_flags(entity: &SyncType) -> bool {
    entity.is_pushed() && entity.table.columns().contains(&"flags")
}

/// The documents of these entries that HQ does not have.
async fn documents_here(tx: &Tx, entity: &SyncType, left: &[Acknowledged]) -> Result<Vec<Uuid>, DbErr> {
    let sql = "SELECT entity_id, seq, node_epoch FROM (SELECT entity_id, seq, node_epoch, entity_type, action \
               FROM sync_outbox UNION ALL SELECT entity_id, seq, node_epoch, entity_type, action FROM sync_outbox_sent) e \
               WHERE entity_type = $1 AND action = 'create' AND seq IN ($list)";
    let mut here = Vec::new();
    let unsaid = left.iter().filter(|settled| settled.at_headquarters.is_none()).map(|settled| settled.seq);
    for row in find_in(tx, sql, &[entity.name.into()], unsaid).await? {
        let id: Uuid = row.try_get("", "entity_id")?;
        let (seq, epoch): (i64, String) = (row.try_get("", "seq")?, row.try_get("", "node_epoch")?);
        let is_it = |settled: &Acknowledged| {
            settled.seq == seq
                && settled.node_epoch.as_ref().is_none_or(|of| *of == epoch)
                && settled.entity_id.parse() == Ok(id)
        };
        here.extend(left.iter().any(is_it).then_some(id));
    }
    let said = left.iter().filter(|settled| settled.at_headquarters == Some(false));
    here.extend(said.filter_map(|settled| settled.entity_id.parse::<Uuid>().ok()));
    Ok(here)
}

/// HQ has applied these: what was flagged as being here alone is there now. What stores pull comes back with the flags of HQ.
pub async fn applied(tx: &Tx, entries: &[&Model]) -> Result<(), DbErr> {
    for entity in registry::ALL.iter().filter(|entity| has_flags(entity) && !entity.is_pulled()) {
        let of_it = entries.iter().filter(|entry| entry.entity_type == entity.name);
        let ids: Vec<Uuid> = of_it.map(|entry| entry.entity_id).collect();
        let sql = format!("SELECT id FROM {} WHERE flags LIKE '%{NOT_AT_HQ}%' AND id IN ($list)", entity.name);
        let rows = find_in(tx, &sql, &[], ids.iter().copied()).await?;
        let flagged = rows.iter().map(|row| row.try_get("", "id")).collect::<Result<Vec<Uuid>, _>>()?;
        flags::change(tx, entity, &flagged, |flags| {
            flags.retain(|flag| flag != NOT_AT_HQ);
            true
        })
        .await?;
        if entity.name == sale::TYPE {
            accounts::taken(tx, &ids).await?;
        }
    }
    Ok(())
}
