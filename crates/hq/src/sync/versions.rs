//! `GET /sync/versions`: the cheap question a store asks every cycle, and its word on what it has.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use tillkeep_http::Params;
use tillkeep_model::wire::VersionsAnswer;
use tillkeep_storage::registry;
use utoipa::ToSchema;

use super::{Machine, StoreCaller, ignored};
use crate::Hq;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = VersionsQuery)]
pub struct Query {
    /// The epoch that the versions in `have` are from; with another one they say nothing.
    epoch: Option<String>,
    /// Up to which version the caller has each type: `products:4711,tenders:3`.
    have: Option<String>,
}

/// No database query while nothing changed.
pub async fn versions(
    caller: StoreCaller,
    State(hq): State<Arc<Hq>>,
    Params(query): Params<Query>,
) -> Machine<VersionsAnswer> {
    if let Some(have) = query.have
        && query.epoch.as_ref() == Some(&hq.epoch)
    {
        hq.tracker.has(caller.id(), read(&have));
    }
    Machine(VersionsAnswer {
        epoch: hq.epoch.clone(),
        versions: hq.heads.of_store(caller.id()),
        handshake: hq.to_tell.contains(caller.id()),
        mark: hq.mark.newest(),
    })
}

/// What cannot be read is no reason to answer nothing: it is counted.
fn read(have: &str) -> impl Iterator<Item = (&'static str, i64)> {
    have.split(',').filter(|item| !item.is_empty()).filter_map(|item| {
        let read = item.split_once(':').and_then(|(name, version)| {
            let entity = registry::find(name).filter(|entity| entity.is_pulled())?;
            Some((entity.name, version.parse().ok().filter(|version| *version >= 0)?))
        });
        if read.is_none() {
            ignored("reported_type");
        }
        read
    })
}
