//! Who is there, with what, and what has moved.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts, State};
use axum::http::request::Parts;
use tillkeep_http::Body;
use tillkeep_http::describe::Argument;
use tillkeep_http::error::Result;
use tillkeep_http::request::Transport;
use tillkeep_model::wire::{HandshakeAnswer, HandshakeRequest, PinKey};
use tillkeep_storage::entity::store_node;
use tillkeep_storage::nodes::Settled;
use tillkeep_storage::numbers::lost;
use tillkeep_storage::{Tx, fault, high_water, nodes, registry, staff, versions};
use uuid::Uuid;

use super::{Machine, StoreCaller, copies};
use crate::Hq;

/// What is known of the line that a request came over.
pub struct Line {
    /// TLS or loopback to the very store: a forwarded request is somebody else's, whose line nobody here sees.
    is_closed: bool,
}

impl Argument for Line {}

impl<S: Send + Sync> FromRequestParts<S> for Line {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> std::result::Result<Self, Infallible> {
        let transport = Transport::from_request_parts(parts, state).await?;
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let loopback = peer.is_some_and(|ConnectInfo(peer)| peer.ip().to_canonical().is_loopback());
        let forwarded = parts.headers.contains_key("x-forwarded-for") || parts.headers.contains_key("forwarded");
        Ok(Self { is_closed: (loopback || transport.tls) && !forwarded })
    }
}

/// So long a store keeps what it has sent as it was, so that a restored headquarters can ask for it again.
const KEEP_WHOLE_MS: i64 = 90 * 24 * 3600 * 1000;
/// Connected stores below which a notification is followed at once.
const SPREAD_FROM: usize = 200;
/// Milliseconds of spread for each further store.
const SPREAD_PER_STORE_MS: u64 = 1;

/// `POST /sync/handshake`
pub async fn handshake(
    caller: StoreCaller,
    State(hq): State<Arc<Hq>>,
    line: Line,
    Body(request): Body<HandshakeRequest>,
) -> Result<Machine<HandshakeAnswer>> {
    let store_id = caller.id();
    let code = &caller.store.code;
    let late = admitted(&hq, store_id, code, &request).await?;
    let conn = hq.sync_db().reader();
    let pin_key = pin_key(&hq, &caller, &line, &request).await?;
    let node_epochs = nodes::epochs(conn, store_id).await?;
    let signs = Signs::of(&hq, store_id, &request).await?;
    let presented = request.ticket.clone().unwrap_or_default();
    // What takes long is asked before the writer is: it only grows, so that what it says is not too little.
    let before = nodes::find(conn, store_id).await?.unwrap_or_default();
    let doubtful = signs.hq_put_back || signs.store_put_back || given(&before, &presented).is_none();
    let behind = node_epochs.get(&request.node_epoch).is_some_and(|last| *last > request.last_seq);
    let high_water = if doubtful || behind {
        high_water::of_store(conn, store_id, code, &request.node_epoch).await?
    } else {
        BTreeMap::new()
    };
    let ninety_days_ago = hq.clock.now().plus_millis(-KEEP_WHOLE_MS);
    let long_kept = nodes::long_kept(conn, store_id, &request.sent, ninety_days_ago).await?;
    let missing = if doubtful { nodes::lowest_missing(conn, store_id, &request.sent).await? } else { None };
    hq.to_tell.remove(store_id);
    fault::point("handshake.record")?;
    let mut tx = hq.sync_db().begin().await?;
    let now = hq.clock.now();
    let node = nodes::find(&tx, store_id).await?.unwrap_or_default();
    let newest = presented == node.ticket;
    // The answer to the last handshakes may have been lost: a ticket that was good then is good still.
    let good = given(&node, &presented);
    let kept = still_good(&node);
    let versions = versions::heads_of_store(&tx, store_id).await?;
    let ahead = |(name, cursor): (&String, &i64)| versions.get(name).is_some_and(|head| cursor > head);
    let hq_put_back = signs.hq_put_back || request.cursors.iter().any(ahead);
    let ticket_known = good.is_some() && !signs.store_put_back;
    // A store that comes for the first time continues nothing; a request that comes late says what was so before.
    let is_first = request.ticket.is_none() && node.ticket.is_empty();
    let is_news = !late && !is_first;
    if is_news && (!ticket_known || hq_put_back) {
        tracing::warn!(
            store = code,
            ticket_known,
            hq_put_back,
            "this store and headquarters do not continue where they were: one of them was made anew, put back or cloned"
        );
    }
    let looked = doubtful || (ticket_known && !hq_put_back);
    let resend_from = if looked { missing } else { nodes::lowest_missing(&tx, store_id, &request.sent).await? };
    if good.is_some() {
        nodes::acknowledged(&tx, store_id, &presented).await?;
    }
    // What the store has as columns counts from the answer on that it has taken: a lost one is said again.
    let fingerprints = if newest { node.told_fingerprints } else { node.fingerprints };
    let pairs = pairs(&request.fingerprints);
    let resync = moved(&fingerprints, &pairs);
    let ticket = Uuid::new_v4().to_string();
    let settled = nodes::to_acknowledge(&tx, store_id, &ticket).await?;
    let never_refused = nodes::never_refused(&tx, store_id, &request.dead).await?;
    raise(&mut tx, &settled).await?;
    let row = store_node::Model {
        store_id,
        node_epoch: request.node_epoch,
        ticket: ticket.clone(),
        last_ticket: match good {
            Some(good) if ticket_known && !hq_put_back => good,
            // One that is not known takes nothing from the process that has the good ones: it may come late.
            None if !hq_put_back => kept,
            _ => String::new(),
        },
        last_seq: request.last_seq,
        store_version: request.store_version,
        fingerprints,
        told_fingerprints: serde_json::to_string(&pairs)?,
        other_installation_at: if ticket_known || !is_news { node.other_installation_at } else { Some(now) },
        clock_offset_ms: request.clock.map(|clock| clock.millis_since(now)),
        handshake_at: Some(now),
        // The rest is for the tracker to write.
        ..node
    };
    hq.tracker.clock_is_off(store_id, row.clock_offset_ms);
    nodes::save(&tx, row).await?;
    lost::note(&tx, store_id, &request.lost).await?;
    hq.commit(tx).await?;
    hq.tracker.told(store_id, request.outbox, now);
    hq.board.mark([store_id]);
    let nonce = copies::give(&hq, store_id, request.instance).await;
    fault::point("handshake.recorded")?;
    Ok(Machine(HandshakeAnswer {
        epoch: hq.epoch.clone(),
        ticket,
        ticket_known: ticket_known && !hq_put_back,
        nonce,
        server_version: env!("CARGO_PKG_VERSION").to_owned(),
        clock: now,
        versions,
        notify_delay_ms: spread(hq.hub.len() + hq.nodes.sockets_elsewhere()),
        high_water,
        resync,
        put_back: !ticket_known && !hq_put_back && request.ticket.is_some(),
        resend_from,
        node_epochs,
        acknowledged: settled.into_iter().map(|settled| settled.told).collect(),
        never_refused,
        long_kept,
        pin_key,
    }))
}

/// Refuses a process that runs beside its store; whether the request comes late from one that was answered before.
async fn admitted(hq: &Hq, store_id: Uuid, code: &str, request: &HandshakeRequest) -> Result<bool> {
    if !hq.db().is_embedded() {
        // Another server of headquarters may have answered it since, found out two, or been told which of them is the store.
        let node = nodes::find(hq.sync_db().reader(), store_id).await?.unwrap_or_default();
        hq.copies.adopt(store_id, &node.processes);
    }
    let late = hq.copies.is_late(store_id, request.instance, request.nonce);
    if let Some(instance) = request.instance.filter(|_| request.take_over) {
        copies::take_over(hq, store_id, instance).await;
    }
    copies::refuse_copy(copies::hear(hq, store_id, code, request.instance, request.nonce).await)?;
    Ok(late)
}

/// What the store verifies PINs with, if it has other secrets, over a line that nobody else reads.
async fn pin_key(hq: &Hq, caller: &StoreCaller, line: &Line, request: &HandshakeRequest) -> Result<Option<PinKey>> {
    let pins = &hq.auth.pins;
    let key = if request.own_pin_key {
        pins.for_store(caller.id(), pins.has_former() && staff::former_pins(hq.sync_db().reader()).await? > 0)
    } else {
        pins.for_former_store()
    };
    let Some(key) = key.filter(|key| request.pin_key_id.as_ref() != Some(&key.id)) else { return Ok(None) };
    // A line through a proxy is only as good as what the operator says of it: with an https address, TLS ends there.
    let behind_tls = hq.public_url.as_deref().is_some_and(|url| url.starts_with("https://"));
    let trusted = behind_tls || hq.allow_insecure || line.is_closed;
    if !trusted {
        tracing::warn!(
            store = caller.store.code,
            "the PIN key is not sent over an open line; nobody can sign in at this store (see docs/configuration.md)"
        );
        return Ok(None);
    }
    Ok(Some(key))
}

/// Numbers of a store among which a handshake looks for one that was given twice: more than it gives from one handshake to
/// the next.
const NEWEST: i64 = 5000;

/// What speaks for one of the two having been put back, besides the ticket.
struct Signs {
    /// HQ's database is another one, or lacks what the store has sent lately.
    hq_put_back: bool,
    /// The store has given a number twice.
    store_put_back: bool,
}

impl Signs {
    async fn of(hq: &Hq, store: Uuid, request: &HandshakeRequest) -> Result<Self> {
        let conn = hq.sync_db().reader();
        let same_epoch = request.epoch.as_ref().is_none_or(|epoch| *epoch == hq.epoch);
        let lacks = nodes::lacks_recent(conn, store, &request.sent).await?;
        let from = request.last_seq.saturating_sub(NEWEST);
        let store_put_back = nodes::numbers_twice(conn, store, &request.node_epoch, from, i64::MAX).await?;
        Ok(Self { hq_put_back: !same_epoch || lacks, store_put_back })
    }
}

/// Tickets that were given out and never came back; of a line that loses more answers, the oldest are forgotten.
const GIVEN: usize = 16;

/// Which tickets are good besides the newest one when `presented` came back: itself and those that were given out after
/// it, whose answers may still be under way. `None` when it is not good any more.
fn given(node: &store_node::Model, presented: &str) -> Option<String> {
    let good = tickets(node);
    let at = good.iter().position(|ticket| !presented.is_empty() && *ticket == presented)?;
    let from = at.max(good.len().saturating_sub(GIVEN));
    Some(good.get(from..)?.join(" "))
}

/// All that are good now.
fn still_good(node: &store_node::Model) -> String {
    let good = tickets(node);
    good[good.len().saturating_sub(GIVEN)..].join(" ")
}

fn tickets(node: &store_node::Model) -> Vec<&str> {
    node.last_ticket.split(' ').chain([node.ticket.as_str()]).filter(|ticket| !ticket.is_empty()).collect()
}

/// A row whose entry was settled was left alone at its store as long as the entry was there: it travels once more, after
/// the answer that takes the entry away (rule D6).
async fn raise(tx: &mut Tx, settled: &[Settled]) -> Result<()> {
    for entity in registry::pulled().filter(|entity| entity.is_pushed()) {
        let of_type = settled.iter().filter(|settled| settled.entity_type == entity.name);
        let ids: Vec<Uuid> = of_type.filter_map(|settled| settled.told.entity_id.parse().ok()).collect();
        if !ids.is_empty() {
            versions::unstamp(tx, entity, &ids).await?;
        }
    }
    Ok(())
}

/// The types whose columns are not those that were `recorded`.
fn moved(recorded: &str, pairs: &BTreeMap<String, String>) -> Vec<String> {
    let recorded: BTreeMap<String, String> = serde_json::from_str(recorded).unwrap_or_default();
    let moved = |name: &&String| recorded.get(*name).is_some_and(|pair| pairs.get(*name) != Some(pair));
    pairs.keys().filter(moved).cloned().collect()
}

/// Over how many milliseconds so many stores spread a pull that all of them were told of.
fn spread(stores: usize) -> u64 {
    if stores < SPREAD_FROM { 0 } else { u64::try_from(stores).unwrap_or(u64::MAX).saturating_mul(SPREAD_PER_STORE_MS) }
}

/// The columns of a store and of HQ, as one word for each type: when it moves, values may be missing at the store.
fn pairs(fingerprints: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    fingerprints
        .iter()
        .filter_map(|(name, theirs)| {
            let ours = registry::fingerprint(registry::find(name)?);
            Some((name.clone(), format!("{theirs}/{ours}")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ticket_given_out_since_the_last_one_that_came_back_is_good() {
        let mut node = store_node::Model { ticket: "a".to_owned(), ..store_node::Model::default() };
        assert_eq!(given(&node, ""), None, "a new store has none");
        for next in ["b", "c"] {
            // Both answers are lost, or the request arrives twice.
            node.last_ticket = given(&node, "a").expect("good");
            node.ticket = next.to_owned();
        }
        assert_eq!(node.last_ticket, "a b");
        node.last_ticket = given(&node, "b").expect("the store took the first of the two answers");
        node.ticket = "d".to_owned();
        assert_eq!(given(&node, "a"), None, "an older copy of the store");
        assert_eq!(given(&node, "c").as_deref(), Some("c d"));
    }

    #[test]
    fn below_two_hundred_stores_nothing_is_spread() {
        assert_eq!([0, 1, 199, 200, 10_000].map(spread), [0, 0, 0, 200, 10_000]);
    }
}
