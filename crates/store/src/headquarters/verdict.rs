//! The word of headquarters on one entry of the outbox.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use tillkeep_model::wire::{Applied, PushStatus};
use tillkeep_storage::entity::outbox::Model as Entry;
use uuid::Uuid;

/// HQ's word on one entry. The specification gives its fields no names but those of the states: whoever names the entity has
/// said of which entry it is.
#[derive(Debug, Deserialize)]
pub struct Verdict {
    #[serde(alias = "entityId")]
    pub(crate) entity_id: Uuid,
    #[serde(default, alias = "entityType")]
    entity_type: Option<String>,
    pub(crate) status: PushStatus,
    #[serde(default, deserialize_with = "where_it_is_one")]
    pub(crate) code: Option<String>,
    #[serde(default, deserialize_with = "where_it_is_one")]
    pub(crate) error: Option<String>,
    #[serde(default, deserialize_with = "where_it_is_one")]
    pub(crate) applied: Option<Applied>,
}

/// What may be something else at another headquarters takes no verdict with it.
fn where_it_is_one<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(serde_json::Value::deserialize(deserializer)?).ok())
}

impl Verdict {
    pub(crate) fn is_on(&self, entry: &Entry) -> bool {
        self.entity_id == entry.entity_id && self.entity_type.as_ref().is_none_or(|name| *name == entry.entity_type)
    }
}
