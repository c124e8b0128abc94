//! How a sync token stands with its store: the version that the store has now is good, and the one before for as long as
//! whoever replaced it wanted it.

use serde::{Deserialize, Serialize};
use tillkeep_http::error::Result;
use tillkeep_model::Instant;
use tillkeep_storage::entity::store::Model;
use tillkeep_storage::{Db, Tx, settings};
use uuid::Uuid;

/// A replaced token version that still works.
#[derive(Serialize, Deserialize)]
pub(crate) struct Grace {
    pub tv: i32,
    pub until: Instant,
}

fn grace_key(store_id: Uuid) -> String {
    format!("token_grace:{store_id}")
}

/// How a sync token stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The present one.
    Good,
    /// The one before, within its grace.
    Until(Instant),
    Refused,
}

/// How a sync token of version `tv` stands with `store`.
pub async fn standing(db: &Db, store: &Model, tv: i32, now: Instant) -> Result<Standing> {
    if tv == store.sync_token_version {
        return Ok(Standing::Good);
    }
    let kept = settings::get(db.reader(), &grace_key(store.id)).await?;
    let grace: Option<Grace> = kept.and_then(|text| serde_json::from_str(&text).ok());
    let grace = grace.filter(|grace| grace.tv == tv && now < grace.until);
    Ok(grace.map_or(Standing::Refused, |grace| Standing::Until(grace.until)))
}

/// Whether a sync token of version `tv` is good for `store`: it is the present one, or the one before within its grace.
pub async fn token_version_ok(db: &Db, store: &Model, tv: i32, now: Instant) -> Result<bool> {
    Ok(standing(db, store, tv, now).await? != Standing::Refused)
}

/// Notes the version that was replaced.
pub(crate) async fn keep_grace(tx: &Tx, store_id: Uuid, grace: Grace) -> Result<()> {
    settings::set(tx, &grace_key(store_id), &serde_json::to_string(&grace)?).await?;
    Ok(())
}
