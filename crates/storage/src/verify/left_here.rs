//! What is at a store alone by a user's decision: no finding, and named all the same. `docs/sync.md`, rule U12.

use sea_orm::{DbErr, EntityTrait};
use uuid::Uuid;

use super::source::Source;
use crate::db::query;
use crate::document::flags::NOT_AT_HQ;
use crate::entity::unapplied_document;
use crate::{Side, registry};

impl Source {
    /// The documents that headquarters refused and that a user resolved without applying them, one sentence each, in the same
    /// words from either database.
    pub async fn not_at_headquarters(&self) -> Result<Vec<String>, DbErr> {
        if self.side == Side::Hq {
            let all = unapplied_document::Entity::find().all(&self.conn).await?;
            return Ok(all.iter().map(|row| sentence(&row.entity_type, row.entity_id, row.store_id)).collect());
        }
        let mut all = Vec::new();
        for entity in registry::ALL.iter().filter(|entity| entity.is_pushed() && !entity.is_pulled()) {
            let sql = format!("SELECT id FROM {} WHERE flags LIKE '%{NOT_AT_HQ}%' ORDER BY id", entity.name);
            for row in query(&self.conn, &sql, []).await? {
                all.push(sentence(entity.name, row.try_get("", "id")?, self.store));
            }
        }
        Ok(all)
    }
}

fn sentence(table: &str, id: Uuid, store: Uuid) -> String {
    format!("{table} {id} is at its store {store} alone: headquarters refused it, and a user resolved that")
}
