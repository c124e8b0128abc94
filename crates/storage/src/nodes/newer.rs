//! Which parts of what was heard an upsert takes: those that are newer than what is there.

use sea_orm::sea_query::{Alias, CaseStatement, Expr, ExprTrait, OnConflict};
use uuid::Uuid;

use crate::entity::store_node::{Column, Entity};

/// What is heard together, behind the moment of it.
const PARTS: [&[Column]; 5] = [
    &[Column::OutboxAt, Column::OutboxPending, Column::DeadLettered, Column::OldestPendingAt, Column::Alarms],
    &[Column::ConnectionAt, Column::EndedBecause, Column::ConnectedNode],
    &[Column::HeartbeatAt, Column::UptimeMs],
    &[Column::LastSeenAt],
    &[Column::ProcessHeardAt],
];

/// What an upsert sets at the server `here`: each part that is newer than what is there.
pub(super) fn newer_parts(here: Uuid) -> OnConflict {
    let mut upsert = OnConflict::column(Column::StoreId);
    for part in PARTS {
        let moment = part[0];
        let is_newer = sent(moment).gte(kept(moment)).or(kept(moment).is_null().and(sent(moment).is_not_null()));
        for column in part {
            let case = match moment {
                // That a socket ended at this server says nothing of the one that another server holds.
                Column::ConnectionAt => CaseStatement::new().case(is_held_elsewhere(here), kept(*column)),
                _ => CaseStatement::new(),
            };
            upsert.value(*column, case.case(is_newer.clone(), sent(*column)).finally(kept(*column)));
        }
    }
    upsert
}

/// The connection ended here, and there is one to another server.
fn is_held_elsewhere(here: Uuid) -> Expr {
    let is_open = kept(Column::EndedBecause).is_null().and(kept(Column::ConnectedNode).ne(here));
    sent(Column::EndedBecause).is_not_null().and(is_open)
}

/// What is heard now.
fn sent(column: Column) -> Expr {
    Expr::col((Alias::new("excluded"), column))
}

/// What the database has.
fn kept(column: Column) -> Expr {
    Expr::col((Entity, column))
}
