//! `GET /sync/versions`: the cheap question a store asks every cycle, and its word on what it has.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use tillkeep_http::Params;
use tillkeep_model::Instant;
use tillkeep_model::wire::{OutboxState, VersionsAnswer, unstored};
use tillkeep_storage::registry;
use tillkeep_storage::tags::{self, Head};
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
    /// Up to which version the caller has each type, with its tag where it has one: `products:4711:0190…,tenders:3`.
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
    let mut resync = Vec::new();
    if let Some(have) = &query.have
        && query.epoch.as_ref() == Some(&hq.epoch)
    {
        let unstored = query.unstored.as_deref().unwrap_or_default();
        let have = read(have);
        resync = changed(&have, &heads, now);
        let versions = have.iter().map(|(name, had)| (*name, had.version)).collect();
        hq.tracker.has(store_id, &versions, &named(unstored), &heads, now);
    }
    let uuid = |text: &Option<String>| known(text.as_deref(), |text| text.parse::<Uuid>().ok());
    let (instance, nonce) = (uuid(&query.instance), uuid(&query.nonce));
    let sign = copies::hear(&hq, store_id, &caller.store.code, instance, nonce).await;
    Machine(VersionsAnswer {
        epoch: hq.epoch.clone(),
        versions: heads.into_iter().map(|(name, head)| (name.to_owned(), head.version)).collect(),
        handshake: hq.to_tell.contains(store_id) || sign.asks || sign.refused,
        resync,
    })
}

/// The types of which the caller has the newest version of another history. What it has below that, a pull finds out.
fn changed(have: &HashMap<&'static str, Head>, heads: &BTreeMap<&'static str, Head>, now: Instant) -> Vec<String> {
    let differs = |had: &Head, head: &Head| had.version == head.version && tags::differ(had.tag, head.tag, now);
    let changed = heads.iter().filter(|(name, head)| have.get(*name).is_some_and(|had| differs(had, head)));
    changed.map(|(name, _)| (*name).to_owned()).collect()
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

fn read(have: &str) -> HashMap<&'static str, Head> {
    let items = have.split(',').filter(|item| !item.is_empty());
    let read = items.filter_map(|item| {
        let mut parts = item.splitn(3, ':');
        let name = pulled(parts.next()?)?;
        let version = known(parts.next().or(Some("")), |text| text.parse().ok().filter(|version| *version >= 0))?;
        Some((name, Head { version, tag: known(parts.next(), |text| text.parse().ok()) }))
    });
    read.collect()
}

fn named(unstored: &str) -> HashMap<&'static str, &str> {
    unstored::read(unstored).filter_map(|(name, why)| Some((pulled(name)?, why))).collect()
}
