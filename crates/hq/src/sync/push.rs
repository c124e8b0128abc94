//! `POST /sync/push`: envelopes in, a verdict for each out.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{FromRequest, Request, State};
use axum::http::HeaderMap;
use metrics::counter;
use tillkeep_http::describe::{Argument, Operation};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract;
use tillkeep_model::ErrorCode;
use tillkeep_model::wire::{PushAnswer, PushRequest};
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::push;
use tillkeep_storage::push::{Interrupted, Pushed};
use uuid::Uuid;

use super::body::{self, Parsed};
use super::processes;
use super::protocol::Machine;
use super::store_caller::StoreCaller;
use crate::Hq;

/// Seconds after which a store may try again what the database could not take.
const RETRY_AFTER: u64 = 2;

pub(super) async fn push(
    caller: StoreCaller,
    State(hq): State<Arc<Hq>>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Result<Machine<PushAnswer>> {
    extract::require_json(&headers)?;
    // Before a byte of the body is read: what cannot be stored soon is not kept in memory.
    hq.pushes.check()?;
    let turn = hq.turns.take(caller.id()).await?;
    let mut reservation = hq.pushes.reserve()?;
    let read = async {
        let read = body::read(&headers, body, &hq.pushes, &mut reservation, &|| turn.is_large()).await;
        if read.as_ref().is_err_and(|error| error.code() == ErrorCode::Unavailable) {
            // There was no memory: whoever has been at a large body for long lets it go, and the next try finds some.
            hq.turns.overtake_the_longest();
        }
        read
    };
    let text = turn.unless_overtaken(read).await?;
    let Parsed { text, envelopes, instance } = body::parse(text).await?;
    let sender = Sender { new_customers: hq.new_customers, ..caller.sender() };
    let code = &sender.store_code;
    processes::refuse_push(processes::hear(&hq, sender.store_id, code, instance, None).await)?;
    let place = hq.pushes.enter(envelopes.len())?;
    let reader = hq.pushes.reader().await?;
    let read_from = Instant::now();
    let sent: Vec<&str> = envelopes.iter().map(|place| &text[place.clone()]).collect();
    let prepared = push::prepare(hq.sync_db(), &sender, &sent).await.map_err(broken_off)?;
    // Not sooner: another store's push is at the database while this one is read.
    let (worker, begun) = hq.pushes.worker(read_from).await?;
    let announcement = PendingAnnouncement::new(&hq, sender.store_id);
    let pushed = prepared.apply(hq.sync_db(), &sender, hq.clock.now()).await;
    if let Ok(pushed) = &pushed {
        hq.pushes.measured(envelopes.len(), begun.elapsed());
        report(pushed, &sender.store_code);
    }
    drop((worker, reader, place, text, reservation, turn));
    announcement.make(&pushed);
    hq.alerting.sales.notify_one();
    hq.board.mark([sender.store_id]);
    let pushed = pushed.map_err(broken_off)?;
    Ok(Machine(PushAnswer { results: pushed.results }))
}

/// The infrastructure's fault, never the entry's: the store keeps it and counts no attempt.
fn broken_off(interrupted: Interrupted) -> Error {
    let text = "the database cannot take this now; send it again";
    Error::new(ErrorCode::Unavailable, text).because(interrupted.error).retry_after(RETRY_AFTER)
}

/// The announcement of what a push commits. Dropped before it is made, as by a panic, or when the push was broken off, it
/// leaves the commits in doubt: HQ then compares its heads with the database.
pub(super) struct PendingAnnouncement<'a> {
    hq: &'a Hq,
    store_id: Uuid,
    in_doubt: bool,
}

impl<'a> PendingAnnouncement<'a> {
    pub(super) const fn new(hq: &'a Hq, store_id: Uuid) -> Self {
        Self { hq, store_id, in_doubt: true }
    }

    pub(super) fn make(mut self, pushed: &Result<Pushed, Interrupted>) {
        let (changes, handshake) = match pushed {
            Ok(pushed) => (&pushed.changes, pushed.handshake),
            Err(interrupted) => (&interrupted.changes, interrupted.handshake),
        };
        // First: a store that is notified of a row pulls it at once, and in vain while a dead letter guards its own.
        if handshake {
            self.hq.stores_to_notify.insert(self.store_id);
        }
        self.hq.announce(changes);
        self.in_doubt = pushed.is_err();
    }
}

impl Drop for PendingAnnouncement<'_> {
    fn drop(&mut self) {
        if self.in_doubt {
            self.hq.note_uncertain_commit();
        }
    }
}

/// What an operator may want to know of a push besides its answers.
fn report(pushed: &push::Pushed, store: &str) {
    if pushed.refused > 0 {
        tracing::warn!(store, refused = pushed.refused, "envelopes were refused");
    }
    for (entity_type, count) in &pushed.ignored {
        counter!("tillkeep_push_ignored_columns_total", "entity_type" => *entity_type).increment(*count);
        tracing::debug!(store, entity_type, count, "values that the store does not own were left aside");
    }
}

/// The body, still compressed; a [`PushRequest`].
pub(super) struct Raw(Body);

impl<S: Send + Sync> FromRequest<S> for Raw {
    type Rejection = Infallible;

    async fn from_request(request: Request, _: &S) -> Result<Self, Infallible> {
        Ok(Self(request.into_body()))
    }
}

impl Argument for Raw {
    fn describe(operation: &mut Operation) {
        let schema = operation.schema::<PushRequest>();
        operation.body(schema, true);
        operation.fails(&[ErrorCode::TooManyEnvelopes]);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tillkeep_http::Clock;
    use tillkeep_http::auth::SignInSettings;
    use tillkeep_storage::Opening;
    use tillkeep_storage::entity::role;
    use tokio::time::{sleep, timeout};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::Settings;

    #[tokio::test]
    async fn what_was_committed_before_a_push_broke_down_is_made_known_all_the_same() {
        let dir = tempfile::tempdir().expect("a directory");
        let settings = Settings {
            data_dir: dir.path().to_owned(),
            database_url: None,
            database: Opening::default(),
            public_url: None,
            allow_insecure: false,
            node: String::new(),
            sign_in: SignInSettings::default(),
            global_people: tillkeep_storage::staff::GlobalPeople::default(),
            broker: None,
            sync_log_days: 90,
            new_customers_per_hour: 1000,
        };
        let hq = Hq::open(&settings, Clock::default(), CancellationToken::new()).await.expect("headquarters");
        let before = hq.heads.of_store(Uuid::nil());
        let announcement = PendingAnnouncement::new(&hq, Uuid::nil());
        let mut tx = hq.db().begin().await.expect("a transaction");
        tx.update::<role::Entity>(|all| all).await.expect("an edit");
        tx.commit().await.expect("a commit");
        // As a panic does, where no code comes to the announcement.
        drop(announcement);
        let known = async {
            while hq.heads.of_store(Uuid::nil()) == before {
                hq.resolve_uncertain_commit().await;
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(Duration::from_mins(1), known).await.expect("the change is known");
    }
}
