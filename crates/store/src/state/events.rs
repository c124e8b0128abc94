//! What tills that listen are told: numbered, with the last ones kept, so that who lost the line goes on where it was. Whoever tells
//! something waits for nobody: a listener reads at its own pace, and starts over when what it missed is not kept any more.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use uuid::Uuid;

use super::news::{About, LineNews, News, PricesNews};

/// Events that are kept: a till that was away for some minutes goes on where it was.
const KEPT: usize = 256;
/// Open streams, of all people and of one.
const STREAMS: usize = 256;
const OF_A_PERSON: usize = 16;

/// An event as it is sent.
#[derive(Debug)]
pub(crate) struct Event {
    pub number: u64,
    pub name: &'static str,
    /// JSON in one line.
    pub data: String,
}

pub(crate) struct Events {
    /// Of this start: the numbers of another one say nothing here.
    boot: String,
    kept: Mutex<Kept>,
    /// The number of the last event.
    newest: watch::Sender<u64>,
    /// Orders what acts tell: their answers may overtake each other.
    tickets: AtomicU64,
    streams: Mutex<HashMap<Uuid, usize>>,
}

#[derive(Default)]
struct Kept {
    newest: u64,
    events: VecDeque<Arc<Event>>,
    /// The ticket of what was told last of a thing.
    told: HashMap<About, u64>,
    /// Types of which rows came, and nobody was told yet.
    moved: BTreeSet<&'static str>,
    line: Option<LineNews>,
}

/// A place among the streams, given back when it is dropped.
pub(crate) struct Place {
    events: Arc<Events>,
    person: Uuid,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            boot: Uuid::now_v7().simple().to_string(),
            kept: Mutex::default(),
            newest: watch::Sender::new(0),
            tickets: AtomicU64::new(0),
            streams: Mutex::default(),
        }
    }
}

impl Events {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next place in the order of acts, to be taken inside of their transaction.
    pub(crate) fn ticket(&self) -> u64 {
        self.tickets.fetch_add(1, Ordering::AcqRel)
    }

    /// Tells of something that is so now.
    pub(crate) fn tell(&self, news: &News) {
        self.add(&mut self.kept(), news);
    }

    /// Tells what an act did. What a later act said of the same thing holds.
    pub(crate) fn tell_of_act(&self, ticket: u64, news: &[News]) {
        // Most acts are sales, of which nobody is told: they wait for no other one here.
        if news.is_empty() {
            return;
        }
        let mut kept = self.kept();
        for news in news {
            if let Some(about) = news.about() {
                let last = kept.told.entry(about).or_default();
                if *last > ticket {
                    continue;
                }
                *last = ticket;
            }
            self.add(&mut kept, news);
        }
    }

    /// Tells how the line to headquarters is, when more of it changed than the time.
    pub(crate) fn tell_line(&self, line: LineNews) {
        let mut kept = self.kept();
        if kept.line.as_ref().is_some_and(|known| known.is_like(&line)) {
            return;
        }
        kept.line = Some(line.clone());
        self.add(&mut kept, &News::Line(line));
    }

    /// Rows of a type came from headquarters, of which [`Events::tell_prices`] tells.
    pub(crate) fn moved(&self, entity_type: &'static str) {
        if PricesNews::TYPES.contains(&entity_type) {
            self.kept().moved.insert(entity_type);
        }
    }

    /// Tells which types moved since it was told last.
    pub(crate) fn tell_prices(&self) {
        let mut kept = self.kept();
        if kept.moved.is_empty() {
            return;
        }
        let changed = std::mem::take(&mut kept.moved).into_iter().collect();
        self.add(&mut kept, &News::Prices(PricesNews { changed }));
    }

    /// So much changed at once that everybody reads everything again.
    pub(crate) fn start_over(&self) {
        let mut kept = self.kept();
        kept.events.clear();
        kept.newest += 1;
        self.newest.send_replace(kept.newest);
    }

    fn add(&self, kept: &mut Kept, news: &News) {
        kept.newest += 1;
        // A row of words and ids is JSON whatever they are.
        let data = serde_json::to_string(news).unwrap_or_default();
        if kept.events.len() == KEPT {
            kept.events.pop_front();
        }
        kept.events.push_back(Arc::new(Event { number: kept.newest, name: news.name(), data }));
        self.newest.send_replace(kept.newest);
    }

    /// Says when there is something new.
    pub(crate) fn listen(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    pub(crate) fn newest(&self) -> u64 {
        self.kept().newest
    }

    /// What came after `number`; nothing when some of that is not kept any more.
    pub(crate) fn since(&self, number: u64) -> Option<Vec<Arc<Event>>> {
        let kept = self.kept();
        let first = kept.newest + 1 - kept.events.len() as u64;
        if number > kept.newest || number + 1 < first {
            return None;
        }
        Some(kept.events.iter().filter(|event| event.number > number).cloned().collect())
    }

    /// What a client says in `Last-Event-ID`.
    pub(crate) fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.boot)
    }

    /// The number of an id of this start of the server.
    pub(crate) fn number(&self, id: &str) -> Option<u64> {
        let (boot, number) = id.rsplit_once('-')?;
        number.parse().ok().filter(|_| boot == self.boot)
    }

    /// A place for one more stream, if there is one.
    pub(crate) fn enter(self: &Arc<Self>, person: Uuid) -> Option<Place> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let own = streams.get(&person).copied().unwrap_or_default();
        if own >= OF_A_PERSON || streams.values().sum::<usize>() >= STREAMS {
            return None;
        }
        streams.insert(person, own + 1);
        Some(Place { events: self.clone(), person })
    }

    /// Streams that are open.
    pub(crate) fn streams(&self) -> usize {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut streams = self.events.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = streams.get_mut(&self.person) {
            *own -= 1;
            if *own == 0 {
                streams.remove(&self.person);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tillkeep_model::state::SessionStatus;

    use super::super::news::DrawerNews;
    use super::*;

    fn drawer(status: SessionStatus) -> News {
        let session =
            DrawerNews { register_id: Uuid::nil(), session_id: Uuid::nil(), status: status.word().to_owned() };
        News::Drawer(session)
    }

    fn told(events: &Events, number: u64) -> Option<Vec<u64>> {
        Some(events.since(number)?.iter().map(|event| event.number).collect())
    }

    #[test]
    fn what_was_missed_is_told_until_it_is_not_kept_any_more() {
        let events = Events::default();
        assert_eq!(told(&events, 0), Some(vec![]));
        assert_eq!(told(&events, 1), None, "of what is not yet");
        for _ in 0..KEPT + 3 {
            events.tell(&drawer(SessionStatus::Open));
        }
        let newest = events.newest();
        assert_eq!(newest, KEPT as u64 + 3);
        assert_eq!(told(&events, newest), Some(vec![]));
        assert_eq!(told(&events, newest - 2), Some(vec![newest - 1, newest]));
        assert_eq!(told(&events, 3).map(|all| all.len()), Some(KEPT));
        assert_eq!(told(&events, 2), None);
        events.start_over();
        assert_eq!((told(&events, newest), told(&events, newest + 1)), (None, Some(vec![])));
    }

    #[test]
    fn an_id_of_another_start_of_the_server_is_not_known() {
        let (one, other) = (Events::default(), Events::default());
        assert_eq!(one.number(&one.id(7)), Some(7));
        assert_eq!(other.number(&one.id(7)), None);
        for id in ["", "7", "-7", "x-7", "x-y"] {
            assert_eq!(one.number(id), None, "{id}");
        }
    }

    #[test]
    fn what_a_later_act_said_is_not_taken_back_by_an_earlier_one() {
        let events = Events::default();
        let (first, second) = (events.ticket(), events.ticket());
        events.tell_of_act(second, &[drawer(SessionStatus::Closed)]);
        events.tell_of_act(first, &[drawer(SessionStatus::Counting)]);
        let data: Vec<String> = events.since(0).expect("kept").iter().map(|event| event.data.clone()).collect();
        assert_eq!(data.len(), 1);
        assert!(data[0].contains("closed"), "{data:?}");
    }

    #[test]
    fn types_that_moved_are_told_together_and_once_and_those_of_people_never() {
        let events = Events::default();
        for name in ["products", "users", "tenders", "products"] {
            events.moved(name);
        }
        events.tell_prices();
        events.tell_prices();
        let all = events.since(0).expect("kept");
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].name, all[0].data.as_str()), ("prices", r#"{"changed":["products","tenders"]}"#));
    }

    #[test]
    fn one_person_leaves_places_for_others_and_gives_back_what_was_taken() {
        let events = Arc::new(Events::default());
        let places: Vec<Place> = (0..OF_A_PERSON).filter_map(|_| events.enter(Uuid::nil())).collect();
        assert_eq!(places.len(), OF_A_PERSON);
        assert!(events.enter(Uuid::nil()).is_none());
        assert!(events.enter(Uuid::max()).is_some());
        drop(places);
        assert_eq!(events.streams(), 0);
    }
}
