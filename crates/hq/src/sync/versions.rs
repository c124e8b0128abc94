//! `GET /sync/versions`: the cheap question a store asks every cycle, and its word on what it has.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Deserialize;
use tillkeep_http::describe::{Operation, Reply};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::Unread;
use tillkeep_model::wire::{OutboxState, VersionsAnswer, unstored};
use tillkeep_model::{Alarm, ErrorCode, Instant};
use tillkeep_storage::nodes::Said;
use tillkeep_storage::registry;
use tillkeep_storage::tags::{self, Head};
use utoipa::ToSchema;
use uuid::Uuid;

use super::processes;
use super::protocol::{Machine, ignored};
use super::store_caller::StoreCaller;
use crate::Hq;
use crate::live::heads::Moved;
use crate::live::tracker::Repeated;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = VersionsQuery)]
pub(super) struct Query {
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
    /// What is wrong with it and since when: `numbers_file:2026-11-20T12:34:56.789Z,till_ahead:…`.
    alarms: Option<String>,
    /// The asking process, as in the handshake.
    #[schema(value_type = Option<Uuid>)]
    instance: Option<String>,
    /// That of its last handshake.
    #[schema(value_type = Option<Uuid>)]
    nonce: Option<String>,
}

/// An answer that is written once for as many requests as get the same one.
pub(super) struct Written(Bytes);

impl Reply for Written {
    fn describe(operation: &mut Operation) {
        Machine::<VersionsAnswer>::describe(operation);
    }
}

impl IntoResponse for Written {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], self.0).into_response()
    }
}

/// No database query while nothing changed, and no reading of what a store says time and again.
pub(super) async fn versions(caller: StoreCaller, State(hq): State<Arc<Hq>>, said: Unread<Query>) -> Result<Written> {
    let (store_id, now) = (caller.id(), hq.clock.now());
    let (text, heads) = (hq.tracker.digest(said.text()), hq.heads.moved(store_id));
    let (word, resync) = match hq.tracker.repeated(store_id, text, heads, now) {
        Some(word) => (word, Vec::new()),
        None => read_word(&hq, store_id, &said.read()?, (text, heads), now)?,
    };
    if let Some(said) = word.said
        && hq.tracker.reported(store_id, said, now)
    {
        hq.board.mark([store_id]);
    }
    let sign = processes::hear(&hq, store_id, &caller.store.code, word.instance, word.nonce).await;
    if hq.stores_to_notify.contains(store_id) || sign.asks || sign.refused.is_some() {
        return Ok(Written(write(&hq, &hq.heads.of_store(store_id), true, &resync)?));
    }
    Ok(Written(word.answer))
}

/// What a store says and what it is answered, with the types that it is to reload; noted where it says something.
fn read_word(
    hq: &Hq,
    store_id: Uuid,
    query: &Query,
    (text, moved): (u64, Moved),
    now: Instant,
) -> Result<(Repeated, Vec<String>)> {
    if query.unstored.is_some() && query.have.is_none() {
        let text = "unstored says which of the types in have could not be stored: send have with it";
        return Err(Error::new(ErrorCode::BadRequest, text).at("unstored"));
    }
    let heads = hq.heads.of_store(store_id);
    let have = query.have.as_deref().filter(|_| query.epoch.as_ref() == Some(&hq.epoch)).map(read);
    let resync = have.as_ref().map(|have| changed(have, &heads, now)).unwrap_or_default();
    let uuid = |text: &Option<String>| known(text.as_deref(), |text| text.parse::<Uuid>().ok());
    let word = Repeated {
        text,
        heads: moved,
        has_all: have.is_some(),
        said: query.outbox().map(|outbox| Said { outbox, alarms: alarms(query.alarms.as_deref().unwrap_or_default()) }),
        instance: uuid(&query.instance),
        nonce: uuid(&query.nonce),
        answer: write(hq, &heads, false, &resync)?,
    };
    let kept = resync.is_empty().then(|| word.clone());
    match have {
        Some(have) => {
            let unstored = query.unstored.as_deref().unwrap_or_default();
            let versions = have.iter().map(|(name, had)| (*name, had.version)).collect();
            hq.tracker.has(store_id, &versions, &named(unstored), &heads, kept, now);
        }
        None => hq.tracker.repeats(store_id, word.clone()),
    }
    Ok((word, resync))
}

fn write(hq: &Hq, heads: &BTreeMap<&'static str, Head>, handshake: bool, resync: &[String]) -> Result<Bytes> {
    let versions = heads.iter().map(|(name, head)| ((*name).to_owned(), head.version)).collect();
    let answer = VersionsAnswer { epoch: hq.epoch.clone(), versions, handshake, resync: resync.to_vec() };
    serde_json::to_vec(&answer).map(Bytes::from).map_err(|error| Error::internal(error))
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

/// What is wrong with a store, as it says it; what is unknown here is counted.
pub(super) fn alarms(text: &str) -> Vec<Alarm> {
    Alarm::read(text, |_| ignored("reported_alarm"))
}

/// What cannot be read is no reason to answer nothing: it is counted.
fn known<T>(said: Option<&str>, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    let value = read(said?);
    if value.is_none() {
        ignored("reported_value");
    }
    value
}

/// The pulled type of this name; an unknown one is counted.
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
