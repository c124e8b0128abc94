//! `GET /sync/rollout`: where a change is live. A store is taken at its word: with `GET /sync/versions` it says what it
//! has in its own database, and says so again as soon as it has pulled something. One that says nothing (an older
//! release) is known to have what it asked for more than.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Answer, Caller, Params};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::StoresView;
use tillkeep_storage::{registry, sync_log};
use utoipa::ToSchema;

use super::rounds;
use crate::Hq;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = RolloutQuery)]
pub(super) struct Query {
    entity_type: String,
    /// The newest one when not said: of the type, or of the type and store where each store has rows of its own.
    #[schema(value_type = Option<i64>, minimum = 0)]
    version: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rollout {
    /// Active stores that the caller may see and that were heard of.
    stores: usize,
    /// Those that have the version.
    live: usize,
    /// Active stores that never started: nothing is on its way to them.
    never_started: usize,
    behind: Vec<Behind>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Behind {
    store_code: String,
    /// What it has.
    version: i64,
}

pub(super) async fn rollout(
    caller: Caller<StoresView>,
    State(hq): State<Arc<Hq>>,
    Params(query): Params<Query>,
) -> Result<Answer<Rollout>> {
    let name = query.entity_type;
    let entity = registry::find(&name).filter(|entity| entity.is_pulled()).ok_or_else(|| {
        let text = format!("{name:?} is not a type that stores pull");
        Error::new(ErrorCode::UnknownEntityType, text).at("entityType")
    })?;
    let wanted = match query.version.as_deref().map(str::parse::<i64>) {
        None => None,
        Some(Ok(version)) if version >= 0 => Some(version),
        Some(_) => return Err(Error::field("version", "must be a whole number, 0 or more")),
    };
    // What stores said in the last second is still in memory.
    rounds::flush(&hq).await?;
    let scope = caller.stores();
    let mut answer = Rollout { stores: 0, live: 0, never_started: 0, behind: Vec::new() };
    for has in sync_log::versions_of_stores(caller.reader(), entity.name).await? {
        if scope.as_ref().is_some_and(|stores| !stores.contains(&has.store_id)) {
            continue;
        }
        if !has.started {
            answer.never_started += 1;
            continue;
        }
        answer.stores += 1;
        if has.version >= wanted.unwrap_or_else(|| hq.heads.get(entity, has.store_id).version) {
            answer.live += 1;
        } else {
            answer.behind.push(Behind { store_code: has.store_code, version: has.version });
        }
    }
    Ok(Answer(answer))
}
