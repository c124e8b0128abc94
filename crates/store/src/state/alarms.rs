//! What is wrong with this store though it goes on. People see it here, headquarters gets it with each cycle.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tillkeep_model::{Alarm, AlarmCode, Instant};
use tillkeep_storage::numbers::Unwritten;

use crate::Store;

/// Alarms by what they are about, such as a register, each since when it is one.
#[derive(Default)]
pub struct Alarms(Mutex<BTreeMap<(AlarmCode, String), Instant>>);

impl Alarms {
    fn raised(&self) -> MutexGuard<'_, BTreeMap<(AlarmCode, String), Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has(&self, code: AlarmCode) -> bool {
        self.raised().keys().any(|(raised, _)| *raised == code)
    }

    /// Each code once, since the first of what it is about.
    pub fn all(&self) -> Vec<Alarm> {
        let mut all: Vec<Alarm> = Vec::new();
        for ((code, _), since) in self.raised().iter() {
            match all.last_mut().filter(|alarm| alarm.code == *code) {
                Some(alarm) => alarm.since = alarm.since.min(*since),
                None => all.push(Alarm { code: *code, since: *since }),
            }
        }
        all
    }
}

/// What the alarm about a file that was set aside is about; it ends with the process.
const SET_ASIDE: &str = "set aside";

impl Store {
    /// At the start: what the file of the last numbers was found to be.
    pub(crate) fn opened_numbers(&self) {
        if self.numbers.set_aside().is_some() {
            self.raise_alarm(AlarmCode::NumbersFile, SET_ASIDE);
        }
        if self.numbers.is_unwritten() {
            self.raise_alarm(AlarmCode::NumbersFile, "");
        }
    }

    /// What came of writing the file of the last numbers. Until it works again the database alone is the witness of them.
    pub(crate) fn wrote_numbers(&self, written: Result<(), Unwritten>) {
        match written {
            // Who had nothing to write says nothing of the file.
            Ok(()) if self.numbers.is_unwritten() => {}
            Ok(()) => self.end_alarm(AlarmCode::NumbersFile, ""),
            // Another one's write has brought these numbers meanwhile.
            Err(_) if !self.numbers.is_unwritten() => {}
            Err(error) => {
                if self.raise_alarm(AlarmCode::NumbersFile, "") {
                    tracing::error!(%error, "the file of the last numbers cannot be written");
                }
            }
        }
    }

    /// Something is wrong with `about`, which may be nothing in particular. The first time is logged, and headquarters
    /// gets it at once. True when it is new.
    pub fn raise_alarm(&self, code: AlarmCode, about: &str) -> bool {
        let mut raised = self.alarms.raised();
        let key = (code, about.to_owned());
        if raised.contains_key(&key) {
            return false;
        }
        raised.insert(key, self.clock.now());
        drop(raised);
        tracing::error!(alarm = code.as_str(), about, "something is wrong with this store, which goes on");
        self.sync.cycle_bell.notify_one();
        true
    }

    /// It is well again, if it was not.
    pub fn end_alarm(&self, code: AlarmCode, about: &str) {
        if self.alarms.raised().remove(&(code, about.to_owned())).is_some() {
            tracing::info!(alarm = code.as_str(), about, "that is well again");
            self.sync.cycle_bell.notify_one();
        }
    }
}
