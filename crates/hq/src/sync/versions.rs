//! `GET /sync/versions`: the cheap question a store asks every cycle, and its word on what it has.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use tillkeep_http::Params;
use tillkeep_model::Instant;
use tillkeep_model::wire::{OutboxState, VersionsAnswer, unstored};
use tillkeep_storage::registry;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{Machine, StoreCaller, copies, ignored};
use crate::Hq;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = VersionsQuery)]
pub struct Query {
    /// The epoch that the versions in `have` are from; with another one they say nothing.
    epoch: Option<String>,
    /// Up to which version the caller has each type: `products:4711,tenders:3`.
    have: Option<String>,
    /// Entries that wait in its outbox.
    #[schema(value_type = Option<i64>, minimum = 0)]
    pending: Option<String>,
    /// Entries of its outbox that it has given up.
    #[schema(value_type = Option<i64>, minimum = 0)]
    dead: Option<String>,
    /// Since when the oldest entry waits, by the caller's clock.
    #[schema(value_type = Option<Instant>)]
    oldest: Option<String>,
    /// Types that it could not store, each with a reason: `products:the disk is full,tenders:…`.
    unstored: Option<String>,
    /// The asking process, as in the handshake.
    #[schema(value_type = Option<Uuid>)]
    instance: Option<String>,
    /// That of its last handshake.
    #[schema(value_type = Option<Uuid>)]
    nonce: Option<String>,
}

/// No database query while nothing changed.
pub async fn versions(
    caller: StoreCaller,
    State(hq): State<Arc<Hq>>,
    Params(query): Params<Query>,
) -> Machine<VersionsAnswer> {
    let (store_id, now) = (caller.id(), hq.clock.now());
    let heads = hq.heads.of_store(store_id);
    if let Some(outbox) = query.outbox()
        && hq.tracker.told(store_id, outbox, now)
    {
        hq.board.mark([store_id]);
    }
    if let Some(have) = &query.have
        && query.epoch.as_ref() == Some(&hq.epoch)
    {
        let unstored = query.unstored.as_deref().unwrap_or_default();
        hq.tracker.has(store_id, &read(have), &named(unstored), &heads, now);
    }
    let uuid = |text: &Option<String>| known(text.as_deref(), |text| text.parse::<Uuid>().ok());
    let (instance, nonce) = (uuid(&query.instance), uuid(&query.nonce));
    let sign = copies::hear(&hq, store_id, &caller.store.code, instance, nonce).await;
    Machine(VersionsAnswer {
        epoch: hq.epoch.clone(),
        versions: heads,
        handshake: hq.to_tell.contains(store_id) || sign.asks || sign.refused,
        mark: hq.mark.newest(),
    })
}

impl Query {
    /// What the caller said of its outbox, if it did.
    fn outbox(&self) -> Option<OutboxState> {
        let count = |text: &Option<String>| known(text.as_deref(), |text| text.parse().ok().filter(|n| *n >= 0));
        let pending = count(&self.pending)?;
        let oldest = known(self.oldest.as_deref(), Instant::parse);
        Some(OutboxState { pending, dead_lettered: count(&self.dead).unwrap_or_default(), oldest })
    }
}

/// What cannot be read is no reason to answer nothing: it is counted.
fn known<T>(said: Option<&str>, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    let value = read(said?);
    if value.is_none() {
        ignored("reported_value");
    }
    value
}

/// The pulled type of this name; one that nobody knows is counted.
fn pulled(name: &str) -> Option<&'static str> {
    let entity = registry::find(name).filter(|entity| entity.is_pulled());
    if entity.is_none() {
        ignored("reported_type");
    }
    Some(entity?.name)
}

fn read(have: &str) -> HashMap<&'static str, i64> {
    let items = have.split(',').filter(|item| !item.is_empty());
    let read = items.filter_map(|item| {
        let (name, version) = item.split_once(':').unwrap_or((item, ""));
        let name = pulled(name)?;
        Some((name, known(Some(version), |text| text.parse().ok().filter(|version| *version >= 0))?))
    });
    read.collect()
}

fn named(unstored: &str) -> HashMap<&'static str, &str> {
    unstored::read(unstored).filter_map(|(name, why)| Some((pulled(name)?, why))).collect()
}
