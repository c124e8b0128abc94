//! A document on its way from the second step to the last one.

use std::collections::BTreeSet;

use tillkeep_model::wire::Applied;
use uuid::Uuid;

use crate::audit;
use crate::kept_ids::Renamed;
use crate::rows::Row;

/// A document as HQ will have it, lines in the registry's order.
pub(super) struct Merged {
    pub row: Box<dyn Row>,
    pub children: Vec<Vec<Box<dyn Row>>>,
    /// The lines that it has no more, in the same order.
    pub removed: Vec<Vec<Uuid>>,
    /// Those of it and of its lines that are kept under another id than was sent, and were not there before.
    pub renamed: Vec<Renamed>,
    /// The flags of what was cut off or renamed, which stay, and of what was left out, and those that its
    /// store gave it.
    pub kept_flags: BTreeSet<String>,
    /// What it had put on an account before.
    pub charged: i128,
    pub applied: Applied,
    /// How its number stands with the one that its sender gave it.
    pub number: Number,
    /// It is too far ahead of those that headquarters knows of the store.
    pub ahead: bool,
    /// Its envelope, or it, is dated later than can be.
    pub future: bool,
    pub audit: Option<audit::Entry>,
    /// The place of its envelope in the group.
    pub place: usize,
}

/// How the number of a row stands with the one that its sender gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Own,
    /// It was replaced, now or before.
    Replaced,
    /// Headquarters gives it one.
    Wanted,
}

impl Number {
    pub(super) fn is_flagged(self) -> bool {
        self != Self::Own
    }
}
