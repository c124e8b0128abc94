//! How the printers of the registers are, as they said last, and the bell of the one who looks after them. Tills that listen are told
//! when it changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use tillkeep_model::Instant;
use tokio::sync::Notify;
use utoipa::ToSchema;
use uuid::Uuid;

use super::events::Events;
use super::news::{News, PrinterNews};

/// How a printer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Standing {
    Ready,
    /// It cannot be reached.
    Away,
    OutOfPaper,
    CoverOpen,
    /// It is there, and does something else or has a fault.
    Busy,
    /// It was not asked yet, or says nothing that can be read.
    Unknown,
}

/// How a printer is, and since when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PrinterState {
    pub state: Standing,
    /// In words, what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Nothing for a printer that was not asked yet.
    pub since: Option<Instant>,
}

/// The printers of a store, by register.
pub(crate) struct Printers {
    states: Mutex<BTreeMap<Uuid, PrinterState>>,
    /// Those whose papers are tried at once, however often that failed.
    hurried: Mutex<BTreeSet<Uuid>>,
    bell: Notify,
    events: Arc<Events>,
}

impl Printers {
    pub(crate) fn new(events: Arc<Events>) -> Self {
        Self { states: Mutex::default(), hurried: Mutex::default(), bell: Notify::new(), events }
    }

    pub(crate) fn state(&self, register_id: Uuid) -> PrinterState {
        let states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let unasked = || PrinterState { state: Standing::Unknown, error: None, since: None };
        states.get(&register_id).cloned().unwrap_or_else(unasked)
    }

    /// It is so from `now` on, if it was not so before.
    pub(crate) fn is(&self, register_id: Uuid, state: Standing, error: Option<String>, now: Instant) {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |known: &PrinterState| known.state == state && known.error == error;
        if !states.get(&register_id).is_some_and(is_same) {
            states.insert(register_id, PrinterState { state, error, since: Some(now) });
            self.events.tell(&News::Printer(PrinterNews { register_id, state }));
        }
    }

    /// Another printer, or none.
    pub(crate) fn changed(&self, register_id: Uuid) {
        self.states.lock().unwrap_or_else(PoisonError::into_inner).remove(&register_id);
        self.events.tell(&News::Printer(PrinterNews { register_id, state: Standing::Unknown }));
        self.hurry(register_id);
    }

    /// Has the papers of a register tried now.
    pub(crate) fn hurry(&self, register_id: Uuid) {
        self.hurried.lock().unwrap_or_else(PoisonError::into_inner).insert(register_id);
        self.ring();
    }

    pub(crate) fn hurried(&self) -> BTreeSet<Uuid> {
        std::mem::take(&mut *self.hurried.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Something waits for a printer.
    pub(crate) fn ring(&self) {
        self.bell.notify_one();
    }

    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }
}
