//! What a store changed of a row that others write too, for the audit log of HQ. `docs/sync.md`, rule U11.

use serde_json::{Map, Value as Json, json};
use tillkeep_model::wire::camel;

use crate::audit;
use crate::envelope::Sender;
use crate::registry::{Scope, SyncType};
use crate::rows::Row;
use crate::rows::owners::{SERVER_COLUMNS, owns};

/// A row as HQ had it before an envelope was merged into it.
pub(super) struct Was(Map<String, Json>);

impl Was {
    /// `None` for rows that belong to one store: what it says of them is in the documents themselves.
    pub(super) fn new(entity: &SyncType, old: Option<&dyn Row>) -> Option<Self> {
        if entity.scope == Scope::Everyone { members(old?).map(Self) } else { None }
    }

    /// The old and the new values of what the sender changed, if it changed anything.
    pub(super) fn changed(
        &self,
        entity: &SyncType,
        row: &dyn Row,
        owned: &[&str],
        sender: &Sender,
    ) -> Option<audit::Entry> {
        let is = members(row)?;
        let (mut old, mut new) = (Map::new(), Map::new());
        let columns = entity.table.columns().into_iter();
        for column in columns.filter(|column| owns(owned, column) && !SERVER_COLUMNS.contains(column)) {
            let key = camel(column);
            let (was, is) = (self.0.get(&key).unwrap_or(&Json::Null), is.get(&key).unwrap_or(&Json::Null));
            if was != is {
                old.insert(key.clone(), was.clone());
                new.insert(key, is.clone());
            }
        }
        (!new.is_empty()).then(|| audit::Entry {
            action: "sync.change",
            entity_type: Some(entity.name),
            entity_id: row.uuid("id").map(|id| id.to_string()),
            details: json!({"storeId": sender.store_id, "storeCode": sender.store_code, "old": old, "new": new}),
            ..audit::Entry::default()
        })
    }
}

fn members(row: &dyn Row) -> Option<Map<String, Json>> {
    serde_json::from_str(&row.to_json().ok()?).ok()
}
