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
use tillkeep_http::server::Transport;
use tillkeep_model::wire::{HandshakeAnswer, HandshakeRequest};
use tillkeep_storage::entity::store_node;
use tillkeep_storage::{fault, high_water, marks, nodes, registry, versions};
use uuid::Uuid;

use super::{Machine, StoreCaller};
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
    let conn = hq.sync_db().reader();
    let high_water = high_water::of_store(conn, store_id, &caller.store.code, &request.node_epoch).await?;
    let knows_mark = match request.mark {
        Some(mark) => marks::knows(conn, mark).await?,
        None => true,
    };
    let node_epochs = nodes::epochs(conn, store_id).await?;
    let same_epoch = request.epoch.as_ref().is_none_or(|epoch| *epoch == hq.epoch);
    let lacks = nodes::lacks_recent(conn, store_id, &request.sent).await?;
    hq.to_tell.remove(store_id);
    fault::point("handshake.record")?;
    let tx = hq.sync_db().begin().await?;
    // After the wait for the writer: what is settled from now on is told the next time.
    let now = hq.clock.now();
    let node = nodes::find(&tx, store_id).await?.unwrap_or_default();
    let presented = request.ticket.clone().unwrap_or_default();
    let newest = presented == node.ticket;
    // The answer to the last handshake may have been lost: a ticket that was good then is good still.
    let ticket_known = (newest || (!presented.is_empty() && presented == node.last_ticket)) && knows_mark;
    let versions = versions::heads_of_store(&tx, store_id).await?;
    let ahead = |(name, cursor): (&String, &i64)| versions.get(name).is_some_and(|head| cursor > head);
    let put_back = !same_epoch || !knows_mark || lacks || request.cursors.iter().any(ahead);
    if !ticket_known || put_back {
        tracing::warn!(
            store = caller.store.code,
            ticket_known,
            put_back,
            "this store and headquarters do not continue where they were: one of them is new, was put back or cloned"
        );
    }
    let resend_from =
        if !ticket_known || put_back { nodes::lowest_missing(&tx, store_id, &request.sent).await? } else { None };
    if newest && let Some(told_at) = node.handshake_at {
        nodes::acknowledged(&tx, store_id, told_at).await?;
    }
    // What the store has as columns counts from the answer on that it has taken: a lost one is said again.
    let fingerprints = if newest { node.told_fingerprints } else { node.fingerprints };
    let pairs = pairs(&request.fingerprints);
    let recorded: BTreeMap<String, String> = serde_json::from_str(&fingerprints).unwrap_or_default();
    let moved = |name: &&String| recorded.get(*name).is_some_and(|pair| pairs.get(*name) != Some(pair));
    let resync = pairs.keys().filter(moved).cloned().collect();
    let ticket = Uuid::new_v4().to_string();
    let acknowledged = nodes::to_acknowledge(&tx, store_id).await?;
    let row = store_node::Model {
        store_id,
        node_epoch: request.node_epoch,
        ticket: ticket.clone(),
        last_ticket: if ticket_known { presented } else { String::new() },
        last_seq: request.last_seq,
        store_version: request.store_version,
        fingerprints,
        told_fingerprints: serde_json::to_string(&pairs)?,
        other_installation_at: if ticket_known { node.other_installation_at } else { Some(now) },
        clock_offset_ms: request.clock.map(|clock| clock.millis_since(now)),
        outbox_pending: request.outbox.pending,
        dead_lettered: request.outbox.dead_lettered,
        oldest_pending_at: request.outbox.oldest,
        handshake_at: Some(now),
        last_seen_at: Some(now),
    };
    nodes::save(&tx, row).await?;
    tx.commit().await?;
    hq.board.mark([store_id]);
    fault::point("handshake.recorded")?;

    // A line through a proxy is only as good as what the operator says of it: with an https address, TLS ends there.
    let behind_tls = hq.public_url.as_deref().is_some_and(|url| url.starts_with("https://"));
    let trusted = behind_tls || hq.allow_insecure || line.is_closed;
    let other_key = hq.auth.pins.key_id() != request.pin_key_id;
    if other_key && !trusted {
        tracing::warn!(
            store = caller.store.code,
            "the PIN key is not sent over an open line; nobody can sign in at this store (see docs/configuration.md)"
        );
    }
    Ok(Machine(HandshakeAnswer {
        epoch: hq.epoch.clone(),
        ticket,
        ticket_known: ticket_known && !put_back,
        server_version: env!("CARGO_PKG_VERSION").to_owned(),
        clock: now,
        versions,
        notify_delay_ms: spread(hq.hub.len()),
        high_water,
        resync,
        resend_from,
        node_epochs,
        acknowledged,
        pin_key: if other_key && trusted { hq.auth.pins.export() } else { None },
    }))
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
    use super::spread;

    #[test]
    fn below_two_hundred_stores_nothing_is_spread() {
        assert_eq!([0, 1, 199, 200, 10_000].map(spread), [0, 0, 0, 200, 10_000]);
    }
}
