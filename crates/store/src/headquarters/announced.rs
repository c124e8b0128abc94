//! How far headquarters said that its types are. Several servers may answer a store, and one of them may not know yet what
//! another one said: it hears of that, and looks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What was heard, by type.
#[derive(Clone, Default)]
pub struct Announced(Arc<Mutex<Versions>>);

#[derive(Default)]
struct Versions {
    /// By the socket, since a cycle last asked.
    heard: BTreeMap<String, i64>,
    /// In the answer to that cycle.
    answered: BTreeMap<String, i64>,
}

impl Announced {
    fn lock(&self) -> MutexGuard<'_, Versions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The socket said that a type is at `version`.
    pub fn heard(&self, entity_type: String, version: i64) {
        let mut versions = self.lock();
        let newest = versions.heard.entry(entity_type).or_default();
        *newest = version.max(*newest);
    }

    /// What the socket said and no answer has had yet.
    pub fn unanswered(&self) -> BTreeMap<String, i64> {
        self.lock().heard.clone()
    }

    /// An answer to a question that named `said`: it is from the database, whatever the socket said.
    pub fn answered(&self, said: &BTreeMap<String, i64>, versions: &BTreeMap<String, i64>) {
        let mut known = self.lock();
        known.heard.retain(|name, version| said.get(name) != Some(version));
        known.answered.clone_from(versions);
    }

    /// How far a type is by the newest word.
    pub fn version(&self, entity_type: &str) -> Option<i64> {
        let known = self.lock();
        known.heard.get(entity_type).max(known.answered.get(entity_type)).copied()
    }
}

/// As a header has it.
pub(crate) fn written(versions: &BTreeMap<String, i64>) -> String {
    versions.iter().map(|(name, version)| format!("{name}:{version}")).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_socket_says_while_a_question_is_under_way_is_asked_for_with_the_next_one() {
        let announced = Announced::default();
        announced.heard("products".to_owned(), 7);
        announced.heard("products".to_owned(), 5);
        let said = announced.unanswered();
        assert_eq!(written(&said), "products:7");
        announced.heard("products".to_owned(), 8);
        announced.heard("tenders".to_owned(), 2);
        announced.answered(&said, &BTreeMap::from([("products".to_owned(), 7)]));
        assert_eq!(written(&announced.unanswered()), "products:8,tenders:2");
        assert_eq!(
            (announced.version("products"), announced.version("tenders"), announced.version("users")),
            (Some(8), Some(2), None)
        );
        // Headquarters was restored: what it says now is so.
        let said = announced.unanswered();
        announced.answered(&said, &BTreeMap::from([("products".to_owned(), 3)]));
        assert_eq!((announced.version("products"), written(&announced.unanswered())), (Some(3), String::new()));
    }
}
