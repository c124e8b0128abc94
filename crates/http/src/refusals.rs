//! Who tried what is beyond them: the audit log has it, whichever handler refused it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::audit;
use uuid::Uuid;

/// What is reported of a refusal: its code, and the words of the answer.
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
    // Outside of a request there is no caller to refuse.
    WATCHER.try_with(|place| place.replace(Some(Box::new(watcher)))).map(drop).unwrap_or_default();
}

/// A request was refused; only what tells of a caller who asks for more than they have is passed on.
pub(crate) fn refused(code: ErrorCode, text: &str) {
    if !matches!(code, ErrorCode::Forbidden | ErrorCode::Scope | ErrorCode::Escalation) {
        return;
    }
    if let Ok(Some(watcher)) = WATCHER.try_with(RefCell::take) {
        watcher(code, text);
    }
}

/// Milliseconds between two lines about one person and one code: what a caller sends must not fill the log.
const ONCE_IN_MS: i64 = 60_000;
/// People who are counted at the most, each for each code.
const COUNTED: usize = 10_000;

/// What is to be put into the log of a user.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    pub code: ErrorCode,
    /// The words of the newest answer.
    pub text: String,
    /// Who, and from where.
    pub entry: audit::Entry,
    /// So many since the line before.
    pub count: u64,
}

/// Refusals by person: the first is noted at once, and what comes after it once a minute with its number.
#[derive(Default)]
pub(crate) struct Counted(Mutex<HashMap<(Uuid, ErrorCode), Since>>);

/// What was not noted yet.
struct Since {
    noted_at: Instant,
    refused: Option<Refused>,
}

impl Since {
    /// Whether the minute is over; so it is when a clock was set back.
    fn is_over(&self, now: Instant) -> bool {
        !(0..ONCE_IN_MS).contains(&now.millis_since(self.noted_at))
    }
}

impl Counted {
    fn all(&self) -> MutexGuard<'_, HashMap<(Uuid, ErrorCode), Since>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a refusal of `person`; what is to be noted now.
    pub(crate) fn add(&self, person: Uuid, refused: Refused, now: Instant) -> Option<Refused> {
        let mut all = self.all();
        if all.len() >= COUNTED {
            all.retain(|_, since| since.refused.is_some());
        }
        let has_room = all.len() < COUNTED;
        match all.entry((person, refused.code)) {
            Entry::Vacant(place) => has_room.then(|| {
                place.insert(Since { noted_at: now, refused: None });
                refused
            }),
            Entry::Occupied(mut since) => {
                let since = since.get_mut();
                let before = since.refused.take().map_or(0, |before| before.count);
                let refused = Refused { count: refused.count + before, ..refused };
                if since.is_over(now) {
                    since.noted_at = now;
                    return Some(refused);
                }
                since.refused = Some(refused);
                None
            }
        }
    }

    /// What is to be noted although nothing more came of it; all that is left when a server `stops`.
    pub(crate) fn due(&self, now: Instant, stops: bool) -> Vec<Refused> {
        let mut due = Vec::new();
        self.all().retain(|_, since| {
            if !stops && !since.is_over(now) {
                return true;
            }
            since.noted_at = now;
            let noted = since.refused.take();
            let goes_on = noted.is_some();
            due.extend(noted);
            goes_on
        });
        due
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_caller_who_asks_for_more_than_they_have_is_reported_once() {
        let (noted, heard) = mpsc::channel();
        within(async {
            refused(ErrorCode::Scope, "no caller is known yet");
            watch(move |code, text| noted.send((code, text.to_owned())).expect("a receiver"));
            refused(ErrorCode::NotFound, "what is not there");
            refused(ErrorCode::Escalation, "a role above theirs");
            refused(ErrorCode::Escalation, "the same answer");
        })
        .await;
        assert_eq!(heard.iter().collect::<Vec<_>>(), [(ErrorCode::Escalation, "a role above theirs".to_owned())]);
    }

    fn refusal(code: ErrorCode) -> Refused {
        Refused { code, text: "a role above theirs".to_owned(), entry: audit::Entry::default(), count: 1 }
    }

    #[test]
    fn the_refusals_of_one_person_are_noted_once_a_minute_with_their_number() {
        let (counted, at) = (Counted::default(), Instant::from_millis);
        let [ann, bob] = [Uuid::from_u128(1), Uuid::from_u128(2)];
        let add = |person, code, now| counted.add(person, refusal(code), at(now)).map(|noted| noted.count);
        assert_eq!(add(ann, ErrorCode::Scope, 1000), Some(1), "the first at once");
        for moment in 0..41 {
            assert_eq!(add(ann, ErrorCode::Scope, 1000 + moment), None);
        }
        assert_eq!((add(ann, ErrorCode::Escalation, 1000), add(bob, ErrorCode::Scope, 1000)), (Some(1), Some(1)));
        let due = |now, stops| {
            let due = counted.due(at(now), stops);
            due.into_iter().map(|noted| (noted.code, noted.count)).collect::<Vec<_>>()
        };
        assert_eq!(due(60_999, false), []);
        assert_eq!(due(61_000, false), [(ErrorCode::Scope, 41)], "though nothing more comes");
        assert_eq!(add(ann, ErrorCode::Scope, 61_001), None, "the next minute has begun");
        assert_eq!(add(ann, ErrorCode::Scope, 121_000), Some(2));
        assert_eq!(add(ann, ErrorCode::Scope, 121_001), None);
        assert_eq!(add(bob, ErrorCode::Scope, 121_002), Some(1), "forgotten since");
        assert_eq!(due(121_003, true), [(ErrorCode::Scope, 1)], "a server that stops leaves nothing behind");
        // Whoever sends without an end.
        let lines = (0..600_000).filter(|second| add(ann, ErrorCode::Forbidden, 200_000 + second).is_some()).count();
        assert_eq!(lines, 10);
    }
}
