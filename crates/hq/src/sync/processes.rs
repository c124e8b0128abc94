//! What the requests of a store's processes say of them is noted, here and for the other servers of headquarters; and a
//! process that runs beside its store is refused. `docs/sync.md`, rule D8.

use tillkeep_http::error::{Error, Result};
use tillkeep_model::ErrorCode;
use tillkeep_model::wire::HandshakeRequest;
use tillkeep_storage::audit::heads;
use tillkeep_storage::nodes;
use uuid::Uuid;

use crate::Hq;
use crate::live::copies::{Processes, Refusal, Sign};
use crate::live::process::Made;

/// Takes note of a request of a store's process. One of an older release says nothing of itself.
pub(super) async fn hear(hq: &Hq, store: Uuid, code: &str, instance: Option<Uuid>, nonce: Option<Uuid>) -> Sign {
    let Some(instance) = instance else { return Sign::default() };
    let now = hq.shared_now();
    hq.tracker.process_heard(store, now);
    // In nearly every cycle a store says what it said before, which costs no query.
    let sign = if hq.copies.with(store, |own| own.expects(instance, nonce)) {
        hq.copies.with(store, |own| own.sign(instance, nonce, now))
    } else {
        noting(hq, store, |own| own.sign(instance, nonce, now)).await
    };
    // Of the two that were found out it may be this one that is refused.
    let refused = hq.copies.with(store, |own| own.refusal(instance));
    if let Some(because) = sign.news {
        let (because, this_one) = (because.words(), if refused.is_some() { "stops" } else { "goes on" });
        tracing::error!(
            store = code,
            process = %instance,
            this_one,
            because,
            "two copies of this store run at once: one of them is refused"
        );
        forget_log(hq, store).await;
    }
    if sign.news.is_some() || refused.is_some() {
        hq.board.mark([store]);
    }
    Sign { refused, ..sign }
}

/// Takes note of a handshake that does not say of which process it is: one of an older release, which is the store as long as no
/// other one is heard, or a process that has its token.
pub(super) async fn hear_nameless(hq: &Hq, store: Uuid, code: &str) -> Result<Sign> {
    let (now, node) = (hq.shared_now(), nodes::find(hq.sync_db().reader(), store).await?.unwrap_or_default());
    let heard_at = hq.tracker.heard(store, &node, hq.nodes.id).process_at;
    if heard_at.is_none() {
        return Ok(Sign::default());
    }
    let sign = noting(hq, store, |own| own.nameless(heard_at, now)).await;
    if sign.news.is_some() {
        tracing::error!(store = code, "a second copy of this store, which does not say which one it is, is refused");
    }
    hq.board.mark([store]);
    Ok(sign)
}

/// The nonce of the answer to a handshake. A process of an older release takes none.
pub(super) async fn give(hq: &Hq, store: Uuid, request: &HandshakeRequest) -> Option<Uuid> {
    let (instance, made) = (request.instance?, Made::said(request));
    Some(noting(hq, store, |own| own.give(instance, &made, hq.shared_now())).await)
}

/// An operator decided at `instance` that it is the store.
pub(super) async fn take_over(hq: &Hq, store: Uuid, instance: Uuid) {
    noting(hq, store, |own| own.take_over(instance, hq.shared_now())).await;
    forget_log(hq, store).await;
}

/// What was heard of the audit log of a store may be that of the copy that is not the store: it counts from here on.
async fn forget_log(hq: &Hq, store: Uuid) {
    let forgotten = async {
        let tx = hq.sync_db().begin().await?;
        heads::forget(&tx, store).await?;
        tx.commit().await
    };
    if let Err(error) = forgotten.await {
        tracing::warn!(%error, "what was heard of the audit log of a store could not be forgotten");
    }
}

/// Changes what is known of the processes of a store, and keeps it. Several servers of headquarters do so one after the
/// other. What cannot be written now is here all the same, and the others find it out again.
async fn noting<T>(hq: &Hq, store: Uuid, change: impl Fn(&mut Processes) -> T) -> T {
    let here = || {
        hq.copies.with(store, |own| {
            let before = own.clone();
            (change(own), before.refuses_the_same(own))
        })
    };
    let mut done = None;
    if hq.db().is_embedded() {
        let (out, is_same) = here();
        if is_same {
            return out;
        }
        done = Some(out);
    }
    let written = async {
        let tx = hq.sync_db().begin().await?;
        let there = nodes::locked_processes(&tx, store).await?;
        if done.is_none() {
            hq.copies.adopt(store, &there);
            done = Some(here().0);
        }
        let noted = hq.copies.with(store, |own| serde_json::to_string(own)).unwrap_or_default();
        if noted != there {
            nodes::note_processes(&tx, store, &noted).await?;
        }
        tx.commit().await
    };
    if let Err(error) = written.await {
        tracing::warn!(%error, "what is known of the processes of a store could not be noted in the database");
    }
    match done {
        Some(out) => out,
        None => here().0,
    }
}

/// The answer to a refused process.
pub(super) fn refuse_copy(sign: Sign) -> Result<()> {
    sign.refused.map_or(Ok(()), |refusal| Err(runs_elsewhere(refusal)))
}

/// The same to its push: what it sold while it was the store is taken.
pub(super) fn refuse_push(sign: Sign) -> Result<()> {
    sign.refused.filter(|refusal| !refusal.sends).map_or(Ok(()), |refusal| Err(runs_elsewhere(refusal)))
}

fn runs_elsewhere(refusal: Refusal) -> Error {
    let text = format!(
        "another copy of this store is running and goes on in place of this one: {}. Stop one of the two; if this is the one \
         to go on, run tillkeep store take-over here",
        refusal.because.words()
    );
    Error::new(ErrorCode::StoreRunsElsewhere, text)
}
