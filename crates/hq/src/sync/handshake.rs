//! Who is there, with what, and what has moved.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use tillkeep_http::Body;
use tillkeep_http::error::{Error, Result};
use tillkeep_model::wire::{HandshakeAnswer, HandshakeRequest};
use tillkeep_model::{Instant, fields};
use tillkeep_storage::audit::heads;
use tillkeep_storage::entity::store_node;
use tillkeep_storage::nodes::{Said, Settled};
use tillkeep_storage::numbers::lost;
use tillkeep_storage::staff::GlobalPeople;
use tillkeep_storage::{Tx, audit, fault, fiscal, high_water, nodes, registry, sync_log, versions};
use uuid::Uuid;

use super::continuity::{Continuity, RestoreEvidence};
use super::handover::{Handover, Process, Proof};
use super::pin_key::{self, Line, Shown};
use super::processes;
use super::protocol::Machine;
use super::store_caller::StoreCaller;
use super::versions::alarms;
use crate::Hq;

/// So long a store keeps what it has sent as it was, so that a restored headquarters can ask for it again.
const KEEP_WHOLE_MS: i64 = 90 * 24 * 3600 * 1000;
/// Connected stores below which a notification is followed at once.
const SPREAD_FROM: usize = 200;
/// Milliseconds of spread for each further store.
const SPREAD_PER_STORE_MS: u64 = 1;

/// `POST /sync/handshake`
pub(super) async fn handshake(
    caller: StoreCaller,
    State(hq): State<Arc<Hq>>,
    line: Line,
    Body(request): Body<HandshakeRequest>,
) -> Result<Machine<HandshakeAnswer>> {
    let store_id = caller.id();
    let code = &caller.store.code;
    if let Some(excess) = request.excess() {
        return Err(Error::field(excess.field, excess.message));
    }
    let late = admitted(&hq, store_id, code, &request).await?;
    let process = Process::judge(&hq, store_id, &request, late);
    let conn = hq.sync_db().reader();
    let node_epochs = nodes::epochs(conn, store_id).await?;
    let evidence = RestoreEvidence::find(&hq, store_id, &request).await?;
    // What takes long is asked before the writer is: it only grows, so that what it says is not too little.
    let before = nodes::find(conn, store_id).await?.unwrap_or_default();
    let shown = pin_key::shown(&hq, &caller, &before, &request).await?;
    let doubtful = evidence.is_doubtful(&before, request.ticket.as_deref().unwrap_or_default());
    let behind = node_epochs.get(&request.node_epoch).is_some_and(|last| *last > request.last_seq);
    let high_water = if doubtful || behind {
        high_water::of_store(conn, store_id, code, &request.node_epoch).await?
    } else {
        BTreeMap::new()
    };
    let ninety_days_ago = hq.clock.now().plus_millis(-KEEP_WHOLE_MS);
    let long_kept = nodes::long_kept(conn, store_id, &request.sent, ninety_days_ago).await?;
    let missing = if doubtful {
        Missing::Found(nodes::lowest_missing(conn, store_id, &request.sent).await?)
    } else {
        Missing::NotLookedFor
    };
    hq.stores_to_notify.remove(store_id);
    fault::point("handshake.record")?;
    let proof = Proof { process, key: shown.is_whole() && line.takes_keys(&hq) };
    let recorded = record(&hq, &caller, &request, (evidence, missing, &shown), (late, proof)).await?;
    let nonce = processes::give(&hq, store_id, &request).await;
    fault::point("handshake.recorded")?;
    Ok(Machine(HandshakeAnswer {
        nonce,
        notify_delay_ms: spread(hq.hub.len() + hq.nodes.sockets_elsewhere()),
        high_water,
        node_epochs,
        long_kept,
        pin_key: shown.over(&hq, &caller, &line),
        ..recorded
    }))
}

/// The first number of a store that headquarters lacks.
enum Missing {
    NotLookedFor,
    Found(Option<i64>),
}

/// Writes what a store said of itself in one transaction; what that transaction has to say to it.
async fn record(
    hq: &Hq,
    caller: &StoreCaller,
    request: &HandshakeRequest,
    (evidence, missing, shown): (RestoreEvidence, Missing, &Shown),
    (late, proof): (bool, Proof),
) -> Result<HandshakeAnswer> {
    let store_id = caller.id();
    let mut tx = hq.sync_db().begin().await?;
    let (now, shared) = (hq.clock.now(), hq.shared_now());
    let node = nodes::find(&tx, store_id).await?.unwrap_or_default();
    let versions = versions::heads_of_store(&tx, store_id).await?;
    let continuity = Continuity::judge(&node, request, evidence, &versions, late);
    continuity.report(&caller.store.code);
    let resend_from = match missing {
        Missing::Found(missing) => missing,
        Missing::NotLookedFor if continuity.is_given() => None,
        Missing::NotLookedFor => nodes::lowest_missing(&tx, store_id, &request.sent).await?,
    };
    let ticket = Uuid::new_v4().to_string();
    let FromLog { settled, again, never_refused } =
        from_log(&tx, (store_id, request), continuity.ticket_was_given(), &ticket, now).await?;
    raise(&mut tx, &settled).await?;
    // Before the row of the store, as whoever replaces a token does it.
    let handover = Handover::settle(hq, &tx, (caller, request), &continuity, (late, proof)).await?;
    let (row, mut resync) = row(node, request, &continuity, &ticket, now)?;
    resync.extend(again);
    // What is kept is by the clock that all servers share: one that is off itself is not taken for all of its stores.
    let ahead_of = |clock: Instant| request.clock.map(|theirs| theirs.millis_since(clock));
    hq.tracker.clock_is_off(store_id, ahead_of(now));
    nodes::save(&tx, store_node::Model { store_id, clock_offset_ms: ahead_of(shared), ..row }).await?;
    shown.note(&tx, caller, now).await?;
    lost::note(&tx, store_id, &request.lost).await?;
    if let Some(head) = &request.audit {
        // With an older ticket a copy goes on; a lost answer shortens no log.
        if !late && !continuity.newest && heads::is_shorter(&tx, store_id, &request.node_epoch, head).await? {
            heads::forget(&tx, store_id).await?;
        }
        heads::note(&tx, store_id, &request.node_epoch, head, now).await?;
    }
    let own = audit::head(&tx).await?;
    let chain_heads = fiscal::heads::of_store(&tx, store_id).await?;
    let global = GlobalPeople::load(&*tx).await?;
    handover.note(&tx, caller, now).await?;
    hq.commit(tx).await?;
    if handover.waits() {
        hq.stores_to_notify.insert(store_id);
    }
    let said = Said { outbox: request.outbox.clone(), alarms: alarms(&request.alarms) };
    hq.tracker.reported(store_id, said, now);
    hq.board.mark([store_id]);
    Ok(HandshakeAnswer {
        epoch: hq.epoch.clone(),
        ticket,
        ticket_known: continuity.is_given(),
        server_version: env!("CARGO_PKG_VERSION").to_owned(),
        clock: shared,
        versions,
        resync,
        put_back: continuity.store_restored() && request.ticket.is_some(),
        resend_from,
        acknowledged: settled.into_iter().map(|settled| settled.acknowledged).collect(),
        never_refused,
        audit: Some(own),
        chain_heads,
        keep_verifier_days: Some(if global == GlobalPeople::Online { hq.auth.keep_verifier_days } else { 0 }),
        sync_token: handover.token(),
        ..HandshakeAnswer::default()
    })
}

/// What the log has to say to a store.
struct FromLog {
    settled: Vec<Settled>,
    /// Types to be reloaded.
    again: Vec<String>,
    never_refused: Vec<i64>,
}

/// Notes in the log what the store gets with this `ticket`, and what it has heard when it `was_given` with the one that
/// it presents.
async fn from_log(
    tx: &Tx,
    (store_id, request): (Uuid, &HandshakeRequest),
    was_given: bool,
    ticket: &str,
    now: Instant,
) -> Result<FromLog> {
    // First of all: a push has the turn before it changes rows of the log.
    let turn = sync_log::counters_turn(tx, store_id).await?;
    if was_given {
        nodes::acknowledged(tx, store_id, request.ticket.as_deref().unwrap_or_default()).await?;
    }
    let settled = nodes::to_acknowledge(tx, store_id, ticket).await?;
    let again = sync_log::to_reload(tx, store_id, ticket).await?;
    let never_refused = if sync_log::room_again(tx, store_id, &turn, now).await? {
        nodes::never_refused(tx, store_id, &request.dead).await?
    } else {
        Vec::new()
    };
    Ok(FromLog { settled, again, never_refused })
}

/// The row of a store after this handshake, and the types with other columns than before.
fn row(
    node: store_node::Model,
    request: &HandshakeRequest,
    continuity: &Continuity,
    ticket: &str,
    now: Instant,
) -> Result<(store_node::Model, Vec<String>)> {
    // What the store has as columns counts from the answer on that it has taken: a lost one is said again.
    let mut fingerprints = if continuity.newest { &node.told_fingerprints } else { &node.fingerprints }.clone();
    let pairs = pairs(&request.fingerprints);
    let mut resync = moved(&fingerprints, &pairs);
    if request.sign_in && node.never_asks() {
        // What verifies people of all stores leaves it, and look-ups are others. It asks from now on, whether this answer
        // arrives or not.
        fingerprints = with_other_columns(&fingerprints, fields::user::BOOK.table)?;
        if !resync.iter().any(|name| name == fields::user::BOOK.table) {
            resync.push(fields::user::BOOK.table.to_owned());
        }
    }
    let row = store_node::Model {
        node_epoch: request.node_epoch.clone(),
        ticket: ticket.to_owned(),
        last_ticket: continuity.last_tickets(),
        last_seq: request.last_seq,
        store_version: request.store_version.clone(),
        fingerprints,
        told_fingerprints: serde_json::to_string(&pairs)?,
        other_installation_at: if continuity.is_other_installation() { Some(now) } else { node.other_installation_at },
        handshake_at: Some(now),
        sign_in: node.asks(request.sign_in),
        unenrolled: request.unenrolled.map(|count| count.max(0)),
        // The rest is for the tracker to write.
        ..node
    };
    Ok((row, resync))
}

/// Refuses a process that runs beside its store; whether the request comes late from one that was answered before.
async fn admitted(hq: &Hq, store_id: Uuid, code: &str, request: &HandshakeRequest) -> Result<bool> {
    if !hq.db().is_embedded() {
        // Another server of headquarters may have answered it since, found out two, or heard which of them is the
        // store.
        let node = nodes::find(hq.sync_db().reader(), store_id).await?.unwrap_or_default();
        hq.copies.adopt(store_id, &node.processes);
    }
    let late = hq.copies.is_late(store_id, request.instance, request.nonce);
    if let Some(instance) = request.instance.filter(|_| request.take_over) {
        processes::take_over(hq, store_id, instance).await;
    }
    let sign = match request.instance {
        Some(_) => processes::hear(hq, store_id, code, request.instance, request.nonce).await,
        None => processes::hear_nameless(hq, store_id, code).await?,
    };
    processes::refuse_copy(sign)?;
    Ok(late)
}

/// A row with a settled entry was left alone at its store as long as the entry was there: it travels once more, after
/// the answer that takes the entry away (rule D6).
async fn raise(tx: &mut Tx, settled: &[Settled]) -> Result<()> {
    for entity in registry::pulled().filter(|entity| entity.is_pushed()) {
        let of_type = settled.iter().filter(|settled| settled.entity_type == entity.name);
        let ids: Vec<Uuid> = of_type.filter_map(|settled| settled.acknowledged.entity_id.parse().ok()).collect();
        if !ids.is_empty() {
            tx.restamp(entity, &ids).await?;
        }
    }
    Ok(())
}

/// The types with other columns than were `recorded`.
fn moved(recorded: &str, pairs: &BTreeMap<String, String>) -> Vec<String> {
    let recorded: BTreeMap<String, String> = serde_json::from_str(recorded).unwrap_or_default();
    let moved = |name: &&String| recorded.get(*name).is_some_and(|pair| pairs.get(*name) != Some(pair));
    pairs.keys().filter(moved).cloned().collect()
}

/// What is `recorded`, with columns of the type `name` that no store has: it is asked to reload them until an answer
/// arrives.
fn with_other_columns(recorded: &str, name: &str) -> Result<String> {
    let mut recorded: BTreeMap<String, String> = serde_json::from_str(recorded).unwrap_or_default();
    recorded.insert(name.to_owned(), "to be reloaded".to_owned());
    Ok(serde_json::to_string(&recorded)?)
}

/// Over how many milliseconds so many stores spread a pull that all of them were notified of.
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
    fn below_two_hundred_stores_nothing_is_spread() {
        assert_eq!([0, 1, 199, 200, 10_000].map(spread), [0, 0, 0, 200, 10_000]);
    }
}
