//! What a check finds, and what it knows of the moment at which it looks.

use std::fmt;
use std::sync::Arc;

use tillkeep_model::{Instant, Money};
use uuid::Uuid;

/// Something that does not hold. It names columns and never their values, which may be a person's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// `I1` to `I11`, `I14` or `I15`.
    pub invariant: &'static str,
    /// The store concerned, where one is.
    pub store: Option<Uuid>,
    /// The table.
    pub entity: String,
    /// The row, or the number, that it was found at.
    pub id: String,
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.invariant, self.entity, self.id)?;
        if let Some(store) = self.store {
            write!(f, " of store {store}")?;
        }
        write!(f, ": {}", self.text)
    }
}

/// A sale that a till has an answer for.
#[derive(Clone, Debug)]
pub struct Acknowledged {
    pub store: Uuid,
    pub sale: Uuid,
    pub receipt: String,
    pub total: Money,
}

/// What a store verifies a PIN with that headquarters keeps as this hash: hash and look-up key, as far as that is known.
type Derive = dyn Fn(Uuid, &str) -> Option<(String, String)> + Send + Sync;

/// The secrets of headquarters, from which those of its stores follow; they are in no database.
#[derive(Clone)]
pub struct Verifiers(Arc<Derive>);

impl Verifiers {
    pub fn new(derive: impl Fn(Uuid, &str) -> Option<(String, String)> + Send + Sync + 'static) -> Self {
        Self(Arc::new(derive))
    }

    pub(super) fn of_store(&self, store: Uuid, hash: &str) -> Option<(String, String)> {
        (self.0)(store, hash)
    }
}

impl fmt::Debug for Verifiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Verifiers")
    }
}

/// What is known of the moment at which is looked.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Everything was sent and pulled: what is still under way is a finding.
    pub settled: bool,
    /// Documents that moved after this moment are not judged: databases of running servers are read one after the other.
    pub moving_since: Option<Instant>,
    /// The time by the clock of whoever looks; without it nothing is said of times to come.
    pub now: Option<Instant>,
    /// What headquarters' secrets make of its PINs; without it is only looked whether there is something.
    pub verifiers: Option<Verifiers>,
    /// Sales that must exist.
    pub acknowledged: Vec<Acknowledged>,
}

/// Where checks write what they find.
pub(super) struct Found {
    pub invariant: &'static str,
    pub findings: Vec<Finding>,
}

impl Found {
    pub(super) const fn new(invariant: &'static str) -> Self {
        Self { invariant, findings: Vec::new() }
    }

    pub(super) fn add(&mut self, store: Uuid, entity: &str, id: impl fmt::Display, text: impl Into<String>) {
        self.findings.push(Finding {
            invariant: self.invariant,
            store: (!store.is_nil()).then_some(store),
            entity: entity.to_owned(),
            id: id.to_string(),
            text: text.into(),
        });
    }
}
