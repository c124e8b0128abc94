//! Who tried what is beyond them: the audit log has it, whichever handler refused it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tillkeep_model::{ErrorCode, Instant};
use uuid::Uuid;

/// What is told of a refusal: its code, and the words of the answer.
type Watcher = Box<dyn FnOnce(ErrorCode, &str) + Send>;

tokio::task_local! {
    /// Who hears of it if this request is refused.
    static WATCHER: RefCell<Option<Watcher>>;
}

/// Answers a request.
pub(crate) async fn within<F: Future>(work: F) -> F::Output {
    WATCHER.scope(RefCell::default(), work).await
}

/// From here on it is known who asks.
pub(crate) fn watch(watcher: impl FnOnce(ErrorCode, &str) + Send + 'static) {
    // Outside of a request nobody is refused.
    WATCHER.try_with(|place| place.replace(Some(Box::new(watcher)))).map(drop).unwrap_or_default();
}

/// A request was refused; only what tells of somebody who looks for more than they have is told on.
pub(crate) fn refused(code: ErrorCode, text: &str) {
    if !matches!(code, ErrorCode::Scope | ErrorCode::Escalation) {
        return;
    }
    if let Ok(Some(watcher)) = WATCHER.try_with(RefCell::take) {
        watcher(code, text);
    }
}

/// Milliseconds in which one person is noted once for each code: what somebody sends must not fill the log.
const ONCE_IN_MS: i64 = 600_000;
/// People who are remembered at the most.
const REMEMBERED: usize = 10_000;

/// Who was noted lately.
#[derive(Default)]
pub struct NotedRefusals(Mutex<HashMap<(Uuid, ErrorCode), Instant>>);

impl NotedRefusals {
    /// Whether this refusal of somebody is to be noted.
    pub fn is_due(&self, user_id: Uuid, code: ErrorCode, now: Instant) -> bool {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.get(&(user_id, code)).is_some_and(|at| (0..ONCE_IN_MS).contains(&now.millis_since(*at))) {
            return false;
        }
        if noted.len() >= REMEMBERED {
            noted.clear();
        }
        noted.insert((user_id, code), now);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn whoever_asks_for_more_than_they_have_is_told_of_once() {
        let (told, heard) = mpsc::channel();
        within(async {
            refused(ErrorCode::Scope, "nobody is known yet");
            watch(move |code, text| told.send((code, text.to_owned())).expect("somebody listens"));
            refused(ErrorCode::Forbidden, "a page that is not theirs");
            refused(ErrorCode::Escalation, "a role above theirs");
            refused(ErrorCode::Escalation, "the same answer");
        })
        .await;
        assert_eq!(heard.iter().collect::<Vec<_>>(), [(ErrorCode::Escalation, "a role above theirs".to_owned())]);
    }

    #[test]
    fn one_person_is_noted_once_in_ten_minutes_for_each_code() {
        let (noted, at) = (NotedRefusals::default(), Instant::from_millis);
        let [ann, bob] = [Uuid::from_u128(1), Uuid::from_u128(2)];
        assert!(noted.is_due(ann, ErrorCode::Scope, at(1000)));
        assert!(!noted.is_due(ann, ErrorCode::Scope, at(600_999)));
        assert!(noted.is_due(ann, ErrorCode::Escalation, at(1000)) && noted.is_due(bob, ErrorCode::Scope, at(1000)));
        assert!(noted.is_due(ann, ErrorCode::Scope, at(601_000)));
    }
}
