//! The numbers that documents bring: those that another row has, and those that are too far ahead. `docs/sync.md`, rule
//! D8.

use std::collections::HashMap;

use sea_orm::DbErr;
use tillkeep_model::wire::{Applied, camel};
use uuid::Uuid;

use super::group::{Answers, Group};
use super::merged::Merged;
use crate::Tx;
use crate::envelope::Verdict;
use crate::known_numbers::{self, Brought};
use crate::many::find_in;
use crate::numbers::document_numbers;

/// Refuses rows with another row's natural key: the usual reason for which a row cannot be stored, found for a whole
/// group at once and not by halving it.
pub(super) async fn refuse_taken(
    tx: &Tx,
    group: &Group<'_>,
    merged: &mut Vec<Merged>,
    answers: &mut Answers,
) -> Result<(), DbErr> {
    let Some(column) = group.entity.unique_number() else { return Ok(()) };
    let mut holders: HashMap<String, Uuid> = HashMap::new();
    let numbers: Vec<String> = merged.iter().filter_map(|document| document.row.text(column)).collect();
    let table = group.entity.table.name();
    let sql = format!("SELECT id, {column} AS number FROM {table} WHERE deleted_at IS NULL AND {column} IN ($list)");
    for row in find_in(tx, &sql, &[], numbers).await? {
        holders.insert(row.try_get("", "number")?, row.try_get("", "id")?);
    }
    merged.retain(|Merged { row, place, .. }| {
        let (Some(number), Some(id)) = (row.text(column), row.uuid("id")) else { return true };
        if row.instant("deleted_at").is_some() || *holders.entry(number).or_insert(id) == id {
            return true;
        }
        let text = format!("another row has the same key: {}", camel(column));
        answers.give(*place, Verdict::refused("not_storable", text));
        false
    });
    Ok(())
}

/// Marks the documents with numbers that count for nothing.
pub(super) async fn mark_ahead(tx: &Tx, group: &Group<'_>, merged: &mut [Merged]) -> Result<(), DbErr> {
    let Some(numbering) = group.pushed.number else { return Ok(()) };
    let (store_id, code) = (group.sender.store_id, &group.sender.store_code);
    let brought = |document: &Merged| {
        let (series, number) = document_numbers::brought(numbering, &*document.row, code)?;
        Some(Brought { series, number, new: document.applied == Applied::Inserted })
    };
    let brought: Vec<Option<Brought>> = merged.iter().map(brought).collect();
    let ahead = known_numbers::judge(tx, store_id, code, &brought).await?;
    merged.iter_mut().zip(ahead).for_each(|(document, ahead)| document.ahead = ahead);
    Ok(())
}
