//! What an address is told, and what of it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tillkeep_http::error::{Error, Result};
use tillkeep_model::JsonText;
use tillkeep_storage::alerts::hooks::{ALERTS, SALES};
use tillkeep_storage::entity::store;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use utoipa::ToSchema;
use uuid::Uuid;

use super::kinds::AlertKind;

/// What an address is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = AlertHookWhat)]
pub(super) enum What {
    /// What is wrong.
    #[default]
    Alerts,
    /// Sales, refunds and voids.
    Sales,
}

impl What {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Alerts => ALERTS,
            Self::Sales => SALES,
        }
    }

    /// By the word in the database.
    pub(super) fn of(word: &str) -> Self {
        if word == SALES { Self::Sales } else { Self::Alerts }
    }
}

/// The kinds by their words, each once; none of who is told of sales.
pub(super) fn kinds(what: What, kinds: Option<Vec<AlertKind>>) -> Result<JsonText> {
    let mut kinds = match (what, kinds) {
        (What::Alerts, kinds) => kinds.unwrap_or_else(|| AlertKind::ALL.to_vec()),
        (What::Sales, None) => return Ok(JsonText::empty_list()),
        (What::Sales, Some(_)) => return Err(Error::field("kinds", "are those of alerts; leave them out for sales")),
    };
    if kinds.is_empty() {
        return Err(Error::field("kinds", "must name one kind of alert at least; leave it out for all"));
    }
    if kinds.len() > AlertKind::ALL.len() {
        return Err(Error::field("kinds", "must name each kind once"));
    }
    kinds.sort_unstable();
    kinds.dedup();
    Ok(JsonText::new(&kinds))
}

/// The stores of which sales are told, each once and one that is there; none is all of them.
pub(super) async fn stores(conn: &impl ConnectionTrait, what: What, stores: Vec<Uuid>) -> Result<Vec<Uuid>> {
    if stores.is_empty() {
        return Ok(stores);
    }
    if what == What::Alerts {
        return Err(Error::field("stores", "are those of sales; leave them out for alerts"));
    }
    let named: BTreeSet<Uuid> = stores.iter().copied().collect();
    let found: Vec<Uuid> = store::Entity::find()
        .select_only()
        .column(store::Column::Id)
        .filter(store::Column::Id.is_in(named.iter().copied()))
        .into_tuple()
        .all(conn)
        .await?;
    if let Some(place) = stores.iter().position(|id| !found.contains(id)) {
        return Err(Error::field(format!("stores[{place}]"), "there is no store with this id"));
    }
    Ok(named.into_iter().collect())
}
