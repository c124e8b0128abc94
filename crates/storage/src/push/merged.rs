//! A document on its way from the second step to the last one.

use std::collections::BTreeSet;

use tillkeep_model::wire::Applied;
use uuid::Uuid;

use crate::audit;
use crate::registry::Row;

/// A document as HQ will have it, lines in the registry's order.
pub(super) struct Merged {
    pub row: Box<dyn Row>,
    pub children: Vec<Vec<Box<dyn Row>>>,
    /// The lines that it has no more, in the same order.
    pub removed: Vec<Vec<Uuid>>,
    /// The flags of what was cut off, and those that its store gave it.
    pub cut: BTreeSet<String>,
    /// What it had put on an account before.
    pub charged: i128,
    pub applied: Applied,
    /// How its number stands with the one that its sender gave it.
    pub number: Number,
    /// It is too far ahead of those that headquarters knows of the store.
    pub ahead: bool,
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
