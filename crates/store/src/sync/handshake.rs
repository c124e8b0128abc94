//! The handshake: tells HQ who is here, and learns what only a handshake carries. `docs/sync.md`, rules D8, D9, D11 and U12.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use tillkeep_model::alarm::is_clock_off;
use tillkeep_model::wire::{Acknowledged, HandshakeAnswer, HandshakeRequest, Outcome};
use tillkeep_model::{Alarm, AlarmCode, Instant};
use tillkeep_storage::audit::heads;
use tillkeep_storage::audit::heads::OfHq;
use tillkeep_storage::numbers::lost;
use tillkeep_storage::registry::SyncType;
use tillkeep_storage::{
    DbErr, Tx, apply, audit, fault, fiscal, kept_verifiers, outbox, own_documents, registry, series, settings, tills,
};
use uuid::Uuid;

use super::pull::PullError;
use super::{elsewhere, restore, token};
use crate::Store;
use crate::headquarters::{HqError, standing};

/// What HQ confirmed is kept whole for 90 days, so that a restored HQ can ask for it again.
const KEEP_WHOLE_MS: i64 = 90 * 24 * 3600 * 1000;
pub(super) const EPOCH: &str = "hq_epoch";
/// The databases that this store has had before, with the last number of each, as JSON.
const NODE_EPOCHS: &str = "node_epochs";

/// Tells HQ who is here, and takes what it says; once more when a key or a token came with it: until HQ hears that it is here it gives
/// the key to whoever comes with the token of this store, and holds the token for one that somebody may have asked for in its place.
pub(super) async fn shake_hands(store: &Store) -> Result<(), PullError> {
    if shake(store).await? {
        shake(store).await?;
    }
    Ok(())
}

/// One handshake; whether a key or a token came with it.
async fn shake(store: &Store) -> Result<bool, PullError> {
    let (asked, asked_at) = (store.clock.now(), store.clock.uptime());
    let request = introduce(store).await?;
    let answer = match store.hq.handshake(&request).await {
        Ok(answer) => answer,
        Err(error) => {
            if let HqError::Elsewhere(why) = &error {
                elsewhere::refused(store, why).await?;
            }
            // A headquarters that is busy is there: it is asked again before numbers are given without it.
            if !matches!(error, HqError::Busy { .. }) || store.numbers.are_unknown() {
                store.wrote_numbers(store.numbers.unanswered(store.sync_db()).await?);
            }
            return Err(error.into());
        }
    };
    let answered_at = store.clock.uptime();
    fault::point("cycle.handshake")?;
    store.hq.note_plain(false);
    store.sync.answered(answer.nonce);
    if let Some(key) = &answer.pin_key {
        store
            .auth
            .pins
            .install(key)
            .map_err(|error| DbErr::Custom(format!("the PIN key could not be kept: {error}")))?;
    }
    // Before anything else of the answer is kept: it is given once.
    let successor = answer.sync_token.as_ref().is_some_and(|given| token::take_over(store, given));
    token::keep(store);
    take(store, &request, &answer).await?;
    store.wrote_numbers(store.numbers.answered(store.sync_db()).await?);
    elsewhere::accepted(store).await?;
    fault::point("cycle.remembered")?;
    store.moments.heard(answer.clock, (asked_at + answered_at) / 2);
    let now = store.clock.now();
    // The middle of question and answer is when HQ looked at its clock.
    let middle = asked.plus_millis(now.millis_since(asked) / 2);
    let offset_ms = answer.clock.millis_since(middle);
    if is_clock_off(offset_ms) {
        store.raise_alarm(AlarmCode::ClockOff, "");
    } else {
        store.end_alarm(AlarmCode::ClockOff, "");
    }
    store.sync.update(|line| {
        line.clock_offset_ms = Some(offset_ms);
        line.epoch = Some(answer.epoch.clone());
        line.notify_delay_ms = answer.notify_delay_ms;
    });
    Ok(answer.pin_key.is_some() || successor)
}

async fn introduce(store: &Store) -> Result<HandshakeRequest, DbErr> {
    let conn = store.snapshot().await?;
    let cursors = apply::cursors(&conn).await?;
    let mut series = series::all(&conn).await?;
    let last_seq = last_seq(&series);
    series.retain(|name, _| ![series::OUTBOX, series::OUTBOX_TIME].contains(&name.as_str()));
    Ok(HandshakeRequest {
        epoch: settings::get(&conn, EPOCH).await?,
        ticket: settings::get(&conn, settings::TICKET).await?,
        node_epoch: settings::get(&conn, settings::EPOCH).await?.unwrap_or_default(),
        // Headquarters says which numbers it has to whoever knows of none.
        last_seq: if store.numbers.are_unknown() { 0 } else { last_seq },
        sent: outbox::sent(&conn).await?,
        cursors: cursors.into_iter().map(|(name, cursor)| (name, cursor.version)).collect(),
        store_version: env!("CARGO_PKG_VERSION").to_owned(),
        clock: Some(store.clock.now()),
        fingerprints: registry::pulled()
            .map(|entity| (entity.name.to_owned(), registry::fingerprint(entity)))
            .collect(),
        outbox: outbox::state(&conn).await?,
        alarms: Alarm::write(&store.alarms.all()),
        dead: outbox::dead(&conn).await?,
        pin_key_id: store.auth.pins.key_id(),
        own_pin_key: true,
        sign_in: true,
        lost: lost::newest(&conn, store.id).await?,
        instance: Some(store.sync.instance),
        nonce: store.sync.nonce(),
        take_over: standing::takes_over(store.sync_db()).await?,
        audit: Some(audit::head(&conn).await?),
        series: Some(series),
        interval_ms: i64::try_from(store.settings.sync_interval.as_millis()).ok(),
        unenrolled: Some(tills::unenrolled(&conn).await?),
        takes_token: true,
    })
}

fn last_seq(series: &BTreeMap<String, i64>) -> i64 {
    series.get(series::OUTBOX).copied().unwrap_or_default()
}

/// Keeps what the handshake said and does what follows from it, in one transaction: a store that died in between would
/// present the new ticket and never hear of it again.
async fn take(store: &Store, request: &HandshakeRequest, answer: &HandshakeAnswer) -> Result<(), DbErr> {
    // No batch is under way when older entries come back into the outbox: it would overtake them (rule U4).
    let _gate = if answer.resend_from.is_some() { Some(store.sync.sending.enter().await) } else { None };
    let _turn = store.sync.applying.lock().await;
    let now = store.clock.now();
    let tx = store.sync_db().begin().await?;
    let other_epoch = request.epoch.as_ref().is_some_and(|epoch| *epoch != answer.epoch);
    let unknown = request.ticket.is_some() && !answer.ticket_known;
    // Before any reload: what HQ lost must not be taken for what HQ has deleted.
    if let Some(from) = answer.resend_from {
        let entries = outbox::resend(&tx, from).await?;
        tracing::warn!(from, entries, "headquarters lacks what this store has sent: sending it again");
    }
    begin_reloads(&tx, request, answer, (other_epoch, unknown)).await?;
    follow_epochs(&tx, request, answer, unknown).await?;
    // Under the name that this database has from now on.
    let rewritten = fiscal::heads::compare(&tx, store.id, &answer.chain_heads).await?;
    settings::set(&tx, EPOCH, &answer.epoch).await?;
    settings::set(&tx, settings::TICKET, &answer.ticket).await?;
    if let Some(head) = answer.audit.clone() {
        let said = OfHq { epoch: answer.epoch.clone(), head, at: answer.clock };
        heads::keep(&tx, &said, answer.ticket_known && answer.resend_from.is_none()).await?;
    }
    for (name, value) in &answer.high_water {
        if series::raise(&tx, name, *value).await? > 0 {
            tracing::warn!(series = name, value, "headquarters has higher numbers: this store goes on from there");
        }
    }
    // Under the new name of this database and above the numbers that HQ has.
    let mut queued = 0;
    if other_epoch || unknown {
        queued = own_documents::queue_again(&tx, answer.clock.plus_millis(-KEEP_WHOLE_MS), now).await?;
    }
    let forgotten = outbox::forget_content(&tx, &answer.long_kept, now.plus_millis(-KEEP_WHOLE_MS)).await?;
    if forgotten > 0 {
        tracing::info!(entries = forgotten, "what headquarters has had for 90 days is kept as a number alone");
    }
    if let Some(days) = answer.keep_verifier_days {
        kept_verifiers::keep_for(&tx, days, now).await?;
    }
    confirm_settled(&tx, answer, now).await?;
    let resolved = resolved(answer);
    let ids: Vec<Uuid> = resolved.iter().filter_map(|settled| settled.entity_id.parse().ok()).collect();
    outbox::left_here(&tx, &ids).await?;
    outbox::documents_left_here(&tx, &resolved).await?;
    let again = outbox::go_again(&tx, &answer.never_refused).await?;
    if again > 0 {
        tracing::warn!(entries = again, "headquarters has no refusal of these dead letters: sending them again");
    }
    tx.commit().await?;
    chains_compared(store, &rewritten);
    let anew = |entity: &&SyncType| other_epoch || unknown || answer.resync.iter().any(|name| name == entity.name);
    registry::pulled().filter(anew).for_each(|entity| store.sync.starts_over(entity.name));
    store.sync.restore_due.store(restore::is_due(store.sync_db()).await?, Ordering::Release);
    if answer.resend_from.is_some() || queued > 0 || again > 0 {
        store.outbox_bell.notify_one();
    }
    Ok(())
}

/// What headquarters has is what was written here once: of these registers the chain is another one now.
fn chains_compared(store: &Store, rewritten: &BTreeSet<String>) {
    if rewritten.is_empty() {
        store.end_alarm(AlarmCode::ChainRewritten, "");
    } else if store.raise_alarm(AlarmCode::ChainRewritten, "") {
        tracing::error!(registers = ?rewritten, "headquarters has other entries of their chains of documents");
    }
}

/// Everything is loaded again when one of the two is not what it was, else the types with changed columns.
async fn begin_reloads(
    tx: &Tx,
    request: &HandshakeRequest,
    answer: &HandshakeAnswer,
    (other_epoch, unknown): (bool, bool),
) -> Result<(), DbErr> {
    if other_epoch || unknown {
        tracing::warn!(
            other_epoch,
            unknown,
            "headquarters or this store was restored or cloned: loading everything again"
        );
        for entity in registry::pulled() {
            apply::begin_reload(tx, entity).await?;
        }
        // HQ may have forgotten what it refused, and then it could not be settled there: it hears of it again.
        outbox::requeue(tx, None).await?;
    } else if request.epoch.is_some() {
        for entity in registry::pulled().filter(|entity| answer.resync.iter().any(|name| name == entity.name)) {
            tracing::info!(entity_type = entity.name, "headquarters asks for it: loading this type again");
            apply::begin_reload(tx, entity).await?;
        }
    }
    Ok(())
}

/// Takes the entries out of the outbox that were settled at headquarters.
async fn confirm_settled(tx: &Tx, answer: &HandshakeAnswer, now: Instant) -> Result<(), DbErr> {
    for settled in &answer.acknowledged {
        let Some(entry) = outbox::find(tx, settled.seq).await? else { continue };
        let same_node = settled.node_epoch.as_ref().is_none_or(|epoch| *epoch == entry.node_epoch);
        if !same_node || settled.entity_id != entry.entity_id.to_string() {
            continue;
        }
        if outbox::waits_behind(tx, &entry).await? {
            // What came before it is to be sent again, and so is this one: headquarters knows that it is settled.
            continue;
        }
        let how = if settled.outcome == Outcome::Ok { "taken" } else { "resolved" };
        tracing::info!(seq = settled.seq, entity_type = entry.entity_type, how, "headquarters settled an entry");
        outbox::confirm(tx, &[&entry], now).await?;
        if settled.outcome == Outcome::Ok {
            outbox::applied(tx, &[&entry]).await?;
        }
    }
    Ok(())
}

/// What a user settled at HQ without applying it. Its entry may be gone by now: sent once more in between, it was left
/// aside there.
fn resolved(answer: &HandshakeAnswer) -> Vec<Acknowledged> {
    answer.acknowledged.iter().filter(|settled| settled.outcome == Outcome::Resolved).cloned().collect()
}

/// Compares the databases that HQ has heard this store speak from with those that this one knows of. Numbers that this
/// database has never made are from a later or another copy of it: documents of the store's own are missing here.
async fn follow_epochs(
    tx: &Tx,
    request: &HandshakeRequest,
    answer: &HandshakeAnswer,
    unknown: bool,
) -> Result<(), DbErr> {
    let known = settings::get(tx, NODE_EPOCHS).await?;
    let mut made: BTreeMap<String, i64> = known.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    // What was sold since the question is not missing: it may have arrived before HQ looked.
    made.insert(request.node_epoch.clone(), last_seq(&series::all(tx).await?));
    let missing = answer.node_epochs.iter().any(|(epoch, last)| made.get(epoch).is_none_or(|made| made < last));
    if missing || answer.put_back {
        tracing::warn!("headquarters has documents of this store that are not here: fetching them");
        restore::begin(tx).await?;
    }
    for (epoch, last) in &answer.node_epochs {
        let made = made.entry(epoch.clone()).or_default();
        *made = (*last).max(*made);
    }
    let text = serde_json::to_string(&made).map_err(|error| DbErr::Json(error.to_string()))?;
    settings::set(tx, NODE_EPOCHS, &text).await?;
    if unknown {
        // The other copy of this database may go on under the old name.
        settings::set(tx, settings::EPOCH, &Uuid::new_v4().to_string()).await?;
    }
    Ok(())
}
