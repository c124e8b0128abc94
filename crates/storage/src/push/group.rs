//! The envelopes of one type that are applied together, and what is answered to each.

use std::collections::HashMap;

use tillkeep_model::Instant;
use tillkeep_model::wire::Applied;
use uuid::Uuid;

use crate::document::Pushed;
use crate::envelope::{Incoming, Sender, Shape, Verdict};
use crate::registry::SyncType;
use crate::rows::Row;

/// Envelopes of one type.
pub(super) struct Group<'a> {
    pub entity: &'static SyncType,
    pub pushed: &'static Pushed,
    pub sender: &'a Sender,
    pub envelopes: &'a [Incoming<'a>],
    pub shape: Shape,
    pub now: Instant,
}

impl<'a> Group<'a> {
    /// Of envelopes that are all of the type of the first; `None` when there is none.
    pub(super) fn new(sender: &'a Sender, envelopes: &'a [Incoming<'a>], now: Instant) -> Option<Self> {
        let Incoming { entity, pushed, .. } = *envelopes.first()?;
        Some(Self { entity, pushed, sender, envelopes, shape: Shape::new(entity, pushed), now })
    }
}

/// The verdicts of a group by the places of its envelopes.
pub(super) struct Answers {
    verdicts: Vec<Option<Verdict>>,
    /// The rows of what was left aside, which travel back.
    pub left: Vec<Uuid>,
}

impl Answers {
    pub(super) fn new(envelopes: usize) -> Self {
        Self { verdicts: vec![None; envelopes], left: Vec::new() }
    }

    pub(super) fn give(&mut self, place: usize, verdict: Verdict) {
        self.verdicts[place] = Some(verdict);
    }

    /// A user should look at the document as well, for that.
    pub(super) fn warn(&mut self, place: usize, flag: &str) {
        if let Some(Verdict::Taken { warnings, .. }) = self.verdicts.get_mut(place).and_then(Option::as_mut)
            && !warnings.iter().any(|warning| warning == flag)
        {
            warnings.push(flag.to_owned());
        }
    }

    /// The envelope of the row `id` is left aside.
    pub(super) fn leave(&mut self, place: usize, id: Uuid, applied: Applied) {
        self.left.push(id);
        self.give(place, Verdict::left(applied));
    }

    pub(super) fn into_verdicts(self) -> Vec<Verdict> {
        // Cannot be missing: each envelope is answered in one of the steps.
        let missing = || Verdict::refused("internal", "no verdict was reached");
        self.verdicts.into_iter().map(|verdict| verdict.unwrap_or_else(missing)).collect()
    }
}

pub(super) fn by_id(rows: Vec<Box<dyn Row>>) -> HashMap<Uuid, Box<dyn Row>> {
    rows.into_iter().filter_map(|row| Some((row.uuid("id")?, row))).collect()
}
