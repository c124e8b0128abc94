//! The one door through which people change something at a store: [`Store::act`]. An act is one transaction on the thread of
//! the writer. The door checks whether the same request was answered before, stores documents together with their
//! entries in the outbox, uses approvals up, writes the audit log, commits, keeps the file of numbers and wakes the sender.
//!
//! No other code of a store begins a write, except the sync client: [`crate::state::Door`] and `sync_db` are the only
//! ways to the database.

mod acting;
mod create;
mod record;
mod stopped;

pub(crate) use acting::{Acting, Doing, Log};
pub(crate) use record::record_of_row;
pub(crate) use record::{Record, find};
pub(crate) use stopped::Stopped;

use tillkeep_http::Caller;
use tillkeep_http::error::Result;
use tillkeep_model::permission::Requirement;
use tillkeep_model::{AlarmCode, Instant};
use tillkeep_storage::{DbErr, Tx, Working, Written, audit};
use uuid::Uuid;

use self::acting::Notes;
use crate::Store;

/// Something that a person does, before it is done.
#[derive(Clone)]
pub struct Act<'a> {
    store: &'a Store,
    /// Its line in the audit log, without details.
    line: audit::Entry,
    now: Instant,
}

impl Store {
    /// Begins something that `caller` does, by the name that the audit log has for it.
    pub fn act<P: Requirement>(&self, caller: &Caller<P>, action: &'static str) -> Act<'_> {
        Act { store: self, line: caller.audit(action), now: caller.now() }
    }
}

impl Store {
    /// Writes what this server does by itself and what stays here, such as how far a paper is. No person did it, so that the
    /// audit log has no line of it.
    pub(crate) async fn by_itself<T, W>(&self, work: W) -> std::result::Result<T, DbErr>
    where
        T: Send + 'static,
        W: for<'tx> FnOnce(&'tx Tx) -> Working<'tx, T, DbErr> + Send + 'static,
    {
        Ok(self.door.0.write(move |tx| work(tx)).await?.value)
    }
}

impl Act<'_> {
    /// When it was asked for. What it writes has the moment of its transaction, [`Acting::now`].
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// The row that it is about, for the audit log.
    #[must_use]
    pub fn about(mut self, entity_type: &'static str, id: &impl ToString) -> Self {
        (self.line.entity_type, self.line.entity_id) = (Some(entity_type), Some(id.to_string()));
        self
    }

    /// As [`Act::about`], all rows of a table.
    #[must_use]
    pub const fn about_all(mut self, entity_type: &'static str) -> Self {
        self.line.entity_type = Some(entity_type);
        self
    }

    /// The second person who was asked. Approvals that the act uses up need not be named.
    #[must_use]
    pub const fn asked_of(mut self, person: Uuid) -> Self {
        self.line.approver_id = Some(person);
        self
    }

    /// Does it. On an error nothing of it happened, unless the commit itself failed, after which it is not known.
    pub async fn run<T, W>(self, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: for<'b, 'tx> FnOnce(&'b mut Acting<'tx>) -> Doing<'b, T> + Send + 'static,
    {
        Ok(self.perform(work).await?)
    }

    async fn perform<T, W>(self, work: W) -> std::result::Result<T, Stopped>
    where
        T: Send + 'static,
        W: for<'b, 'tx> FnOnce(&'b mut Acting<'tx>) -> Doing<'b, T> + Send + 'static,
    {
        let Self { store, line, .. } = self;
        let (moments, events) = (store.moments.clone(), store.events.clone());
        let written = store.door.0.write(move |tx| {
            Box::pin(async move {
                let moment = moments.next();
                let mut notes = Notes::new(line, moment);
                let (value, log) = work(&mut Acting::new(tx, &mut notes)).await?;
                let prints = notes.has_papers();
                let news = if matches!(log, Log::Refused(..)) { Vec::new() } else { notes.news(tx).await? };
                notes.write(tx, log).await?;
                Ok::<_, Stopped>((value, moment, prints, (events.ticket(), news)))
            })
        });
        let Written { value: (value, moment, prints, (ticket, news)), taken, .. } = written.await?;
        store.events.tell_of_act(ticket, &news);
        if moment.is_corrected {
            store.raise_alarm(AlarmCode::ClockBehindRegister, "");
        } else {
            store.end_alarm(AlarmCode::ClockBehindRegister, "");
        }
        store.signing.ring();
        store.outbox_bell.notify_one();
        if prints {
            store.printers.ring();
        }
        // It happened: what becomes of the file changes nothing of the answer.
        store.wrote_numbers(store.numbers.keep(taken).await);
        Ok(value)
    }
}
