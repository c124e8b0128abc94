//! Flags of documents that are stored already.

use sea_orm::DbErr;
use tillkeep_model::JsonText;
use uuid::Uuid;

use super::SyncType;
use crate::Transaction;

/// Changes the flags of stored documents where `edit` says that it did.
pub(crate) async fn change(
    tx: &Transaction,
    entity: &SyncType,
    ids: &[Uuid],
    edit: impl Fn(&mut Vec<String>) -> bool,
) -> Result<(), DbErr> {
    if ids.is_empty() {
        return Ok(());
    }
    let mut rows = entity.table.having(tx, "id", ids, true).await?;
    rows.retain_mut(|row| {
        let mut flags: Vec<String> =
            row.text("flags").and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        edit(&mut flags) && row.set("flags", JsonText::new(&flags).into())
    });
    entity.table.upsert(tx, rows, &["id"], &["flags"], None).await?;
    Ok(())
}

/// Gives stored documents a flag, where they do not have it.
pub(crate) async fn add(tx: &Transaction, entity: &SyncType, ids: &[Uuid], flag: &str) -> Result<(), DbErr> {
    change(tx, entity, ids, |flags| {
        let new = !flags.iter().any(|known| known == flag);
        if new {
            flags.push(flag.to_owned());
        }
        new
    })
    .await
}
