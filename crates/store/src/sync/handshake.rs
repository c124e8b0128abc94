//! The handshake: tells HQ who is here, and learns what only a handshake carries. `docs/sync.md`, rules D8, D9, D11 and U12.

use tillkeep_model::wire::{HandshakeAnswer, HandshakeRequest, Outcome};
use tillkeep_storage::{DbErr, fault, outbox, registry, series, settings};

use super::pull::{self, PullError};
use crate::Store;

/// What HQ confirmed is kept for 90 days, so that a restored HQ can ask for it again.
const KEEP_SENT_MS: i64 = 90 * 24 * 3600 * 1000;
pub(super) const EPOCH: &str = "hq_epoch";
const TICKET: &str = "hq_ticket";

/// Tells HQ who is here, and learns what only a handshake carries.
pub(super) async fn shake_hands(store: &Store) -> Result<(), PullError> {
    let conn = store.db().reader();
    let asked = store.clock.now();
    let request = HandshakeRequest {
        epoch: settings::get(conn, EPOCH).await?,
        ticket: settings::get(conn, TICKET).await?,
        node_epoch: store.node_epoch.clone(),
        last_seq: series::all(conn).await?.get("outbox").copied().unwrap_or_default(),
        store_version: env!("CARGO_PKG_VERSION").to_owned(),
        clock: Some(asked),
        fingerprints: registry::pulled()
            .map(|entity| (entity.name.to_owned(), registry::fingerprint(entity)))
            .collect(),
        outbox: outbox::state(conn).await?,
        pin_key_id: store.auth.pins.key_id(),
    };
    let answer = store.hq.handshake(&request).await?;
    fault::point("cycle.handshake")?;
    if let Some(key) = &answer.pin_key {
        store
            .auth
            .pins
            .install(key)
            .map_err(|error| DbErr::Custom(format!("the PIN key could not be kept: {error}")))?;
    }
    let other_epoch = request.epoch.as_ref().is_some_and(|epoch| *epoch != answer.epoch);
    let rolled_back = request.ticket.is_some() && !answer.ticket_known && !fault::planted("plant.ticket_ignored");
    if other_epoch || rolled_back {
        tracing::warn!(other_epoch, rolled_back, "headquarters or this store was put back: loading anew");
        pull::reload(store, |_| true).await?;
    } else if !answer.resync.is_empty() && request.epoch.is_some() && !fault::planted("plant.resync_ignored") {
        tracing::info!(types = ?answer.resync, "columns were added: loading these types anew");
        pull::reload(store, |entity| answer.resync.iter().any(|name| name == entity.name)).await?;
    }
    remember(store, &answer).await?;
    fault::point("cycle.remembered")?;
    let now = store.clock.now();
    // The middle of question and answer is when HQ looked at its clock.
    let middle = asked.plus_millis(now.millis_since(asked) / 2);
    store.sync.update(|line| {
        line.clock_offset_ms = Some(answer.clock.millis_since(middle));
        line.epoch = Some(answer.epoch.clone());
        line.notify_delay_ms = answer.notify_delay_ms;
    });
    Ok(())
}

/// Keeps what the handshake said, in one transaction: ticket, numbers, and what HQ settled of the outbox.
async fn remember(store: &Store, answer: &HandshakeAnswer) -> Result<(), DbErr> {
    let _turn = store.sync.applying.lock().await;
    let now = store.clock.now();
    let tx = store.db().begin().await?;
    settings::set(&tx, EPOCH, &answer.epoch).await?;
    settings::set(&tx, TICKET, &answer.ticket).await?;
    for (name, value) in &answer.high_water {
        if series::raise(&tx, name, *value).await? > 0 {
            tracing::warn!(series = name, value, "headquarters has higher numbers: this store goes on from there");
        }
    }
    outbox::forget_sent(&tx, now.plus_millis(-KEEP_SENT_MS)).await?;
    for settled in &answer.acknowledged {
        let Some(entry) = outbox::find(&tx, settled.seq).await? else { continue };
        let how = if settled.outcome == Outcome::Ok { "taken" } else { "resolved" };
        tracing::info!(seq = settled.seq, entity_type = entry.entity_type, how, "headquarters settled an entry");
        outbox::confirm(&tx, &[&entry], now).await?;
    }
    tx.commit().await?;
    Ok(())
}
