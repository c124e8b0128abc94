//! What a store has kept of one type, by its own word: a page that was handed out is nothing yet.

use tillkeep_model::Instant;
use tillkeep_storage::sync_log::Pulled;

/// Rows that were handed out and that are not known to be stored.
#[derive(Clone, Copy, Debug)]
struct Page {
    since: i64,
    latest: i64,
    rows: i64,
}

/// Pages of one type that a store may be about to store. A first load has 18 of them beyond what the store says to have: 8 that it
/// writes, 8 that came meanwhile, one that is read and one that is asked for. What is merged counts only when all of it is stored.
const UNDER_WAY: usize = 20;

/// One store and one type.
#[derive(Debug, Default)]
pub(crate) struct PullProgress {
    /// Up to which version the store said to have it; nothing since this server started.
    version: Option<i64>,
    /// The pages after that version, each going on from the one before.
    pages: Vec<Page>,
    /// Rows that it has since it had nothing, until it has everything; nothing when that began before this server did.
    loaded: Option<i64>,
    /// It last said that it could not store this type.
    unstored: bool,
}

/// What a store says of a type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'a> {
    pub version: i64,
    /// Why it has no more.
    pub unstored: Option<&'a str>,
}

/// How a type stands by the word of its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    /// The store has what headquarters has.
    Current,
    /// It has less, and may be about to pull.
    Behind,
    Unstored,
}

const fn stands(word: Word<'_>, head: i64) -> Stands {
    match word.unstored {
        Some(_) => Stands::Unstored,
        None if word.version == head => Stands::Current,
        None => Stands::Behind,
    }
}

/// What a word changes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum News {
    None,
    /// Nothing but that the store has everything of this type, as before.
    Quiet,
    Of(Pulled),
}

impl PullProgress {
    /// Takes the word of the store. Rows count once, when it first says that it has them.
    pub(crate) fn said(&mut self, word: Word<'_>, head: i64, now: Instant) -> News {
        let stands = stands(word, head);
        // That it can is news, whatever it has.
        let could_not = std::mem::replace(&mut self.unstored, word.unstored.is_some());
        let is_new = self.version.replace(word.version) != Some(word.version);
        let rows: i64 = self.pages.iter().filter(|page| page.latest <= word.version).map(|page| page.rows).sum();
        // The pages after what it has may still be stored. Any other was stored, or will be asked for again.
        let mut end = word.version;
        self.pages.retain(|page| {
            let follows = page.since == end && page.latest > end;
            end = if follows { page.latest } else { end };
            follows
        });
        self.loaded = match (stands, word.version) {
            (Stands::Current, _) => None,
            (_, 0) => Some(0),
            _ => self.loaded.map(|loaded| loaded + rows),
        };
        let handed = i32::try_from(self.pages.iter().map(|page| page.rows).sum::<i64>()).unwrap_or(i32::MAX);
        match stands {
            Stands::Behind if !is_new && rows == 0 => return News::None,
            Stands::Current if !is_new && rows == 0 && !could_not => return News::Quiet,
            _ => {}
        }
        let is_unstored = stands == Stands::Unstored;
        News::Of(Pulled {
            rows,
            since: word.version,
            success_at: (stands == Stands::Current || rows > 0).then_some(now),
            error: word.unstored.map(|why| (now, why.to_owned())),
            pending: if is_unstored { handed.max(1) } else { 0 },
        })
    }

    /// The store asks for a page and has what is up to `version`. That takes back no word on what it could not store.
    pub(crate) fn asked(&mut self, version: i64, head: i64, now: Instant) -> News {
        let unstored = self.unstored;
        let news = self.said(Word { version, unstored: None }, head, now);
        self.unstored = unstored;
        match news {
            News::Of(pulled) if unstored && pulled.rows > 0 => {
                News::Of(Pulled { success_at: None, pending: 1, ..pulled })
            }
            _ if unstored => News::None,
            news => news,
        }
    }

    /// Rows that it has of a load from nothing that is under way; nothing while it cannot store them.
    pub(crate) const fn loaded(&self) -> Option<i64> {
        if self.unstored { None } else { self.loaded }
    }

    /// A page was handed out.
    pub(crate) fn handed(&mut self, since: i64, latest: i64, rows: usize) {
        // One that is asked for again takes the place of what was handed from there on.
        self.pages.retain(|page| page.latest <= since);
        self.pages.push(Page { since, latest, rows: i64::try_from(rows).unwrap_or_default() });
        // Of types that become visible together it has many, or none: the oldest ones count as one.
        while self.pages.len() > UNDER_WAY {
            let oldest = self.pages.remove(0);
            if let Some(next) = self.pages.first_mut().filter(|next| next.since == oldest.latest) {
                (next.since, next.rows) = (oldest.since, next.rows + oldest.rows);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: i64 = 10;

    fn has(version: i64) -> Word<'static> {
        Word { version, unstored: None }
    }

    fn at(seconds: i64) -> Instant {
        Instant::default().plus_millis(seconds * 1000)
    }

    /// Rows, success and pending of what is noted.
    fn noted(news: News) -> (i64, bool, i32) {
        match news {
            News::Of(pulled) => (pulled.rows, pulled.success_at.is_some(), pulled.pending),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_type_stands_by_the_word_of_its_store() {
        let unstored = |version| Word { version, unstored: Some("the disk is full") };
        for (word, expected) in [
            (has(10), Stands::Current),
            (has(9), Stands::Behind),
            (has(0), Stands::Behind),
            // Headquarters was restored; the pull finds out.
            (has(11), Stands::Behind),
            (unstored(9), Stands::Unstored),
            (unstored(10), Stands::Unstored),
        ] {
            assert_eq!(stands(word, HEAD), expected, "{word:?}");
        }
    }

    #[test]
    fn rows_count_once_when_their_store_says_that_it_has_them() {
        let mut kept = PullProgress::default();
        assert_eq!(noted(kept.said(has(7), HEAD, at(0))), (0, false, 0));
        for _ in 0..13 {
            assert_eq!(kept.said(has(7), HEAD, at(1)), News::None);
            kept.handed(7, 10, 1);
        }
        assert_eq!(noted(kept.said(has(10), HEAD, at(2))), (1, true, 0));
        assert_eq!(kept.said(has(10), HEAD, at(3)), News::Quiet);
    }

    #[test]
    fn who_asks_for_the_next_page_has_the_one_before() {
        let mut kept = PullProgress::default();
        kept.said(has(0), HEAD, at(0));
        kept.handed(0, 6, 4);
        assert_eq!(noted(kept.said(has(6), HEAD, at(1))), (4, true, 0));
        kept.handed(6, 10, 3);
        // It starts over: what it was handed is no more than what it will be handed again.
        assert_eq!(noted(kept.said(has(0), HEAD, at(2))), (0, false, 0));
        kept.handed(0, 10, 7);
        assert_eq!(noted(kept.said(has(10), HEAD, at(3))), (7, true, 0));
    }

    #[test]
    fn who_asks_ahead_has_no_more_than_it_says() {
        let mut kept = PullProgress::default();
        kept.said(has(0), HEAD, at(0));
        kept.handed(0, 4, 4);
        // It writes the first page and asks for the second.
        assert_eq!(kept.asked(0, HEAD, at(1)), News::None);
        kept.handed(4, 7, 3);
        assert_eq!(noted(kept.asked(4, HEAD, at(2))), (4, true, 0));
        assert_eq!(kept.loaded(), Some(4));
        kept.handed(7, 10, 2);
        // It died, and asks again for what it had not written: nothing of that is counted twice.
        assert_eq!(kept.asked(4, HEAD, at(3)), News::None);
        kept.handed(4, 7, 3);
        kept.handed(7, 10, 2);
        assert_eq!(noted(kept.said(has(10), HEAD, at(4))), (5, true, 0));
        assert!(kept.pages.is_empty() && kept.loaded().is_none());
        for version in 0..100 {
            kept.handed(version, version + 1, 1);
        }
        assert_eq!(kept.pages.len(), UNDER_WAY);
    }

    #[test]
    fn each_page_of_a_first_load_counts_though_many_are_handed_out_ahead() {
        const PAGES: i64 = 40;
        const AHEAD: i64 = 17;
        let mut kept = PullProgress::default();
        kept.said(has(0), PAGES, at(0));
        let mut total = 0;
        for page in 0..PAGES {
            let stored = (page - AHEAD).max(0);
            if let News::Of(pulled) = kept.asked(stored, PAGES, at(page)) {
                total += pulled.rows;
            }
            assert_eq!((total, kept.loaded()), (2 * stored, Some(2 * stored)), "{page}");
            kept.handed(page, page + 1, 2);
        }
        total += noted(kept.said(has(PAGES), PAGES, at(PAGES))).0;
        assert_eq!(total, 80);
    }

    #[test]
    fn however_many_pages_a_store_lays_aside_their_rows_count_when_it_has_them_all() {
        const PAGES: i64 = 100;
        let mut kept = PullProgress::default();
        kept.said(has(0), PAGES, at(0));
        for page in 0..PAGES {
            assert_eq!(kept.asked(0, PAGES, at(page)), News::None, "it has nothing yet");
            kept.handed(page, page + 1, 2);
            assert!(kept.pages.len() <= UNDER_WAY);
        }
        assert_eq!(kept.loaded(), Some(0));
        assert_eq!(noted(kept.said(has(PAGES), PAGES, at(PAGES))), (2 * PAGES, true, 0));
    }

    #[test]
    fn what_cannot_be_stored_is_no_load_until_it_can() {
        let full = |version| Word { version, unstored: Some("the disk is full") };
        let mut kept = PullProgress::default();
        kept.said(full(0), HEAD, at(0));
        assert_eq!(kept.loaded(), None);
        // It tries again, and it is not known yet whether that goes well.
        kept.asked(0, HEAD, at(1));
        kept.handed(0, 4, 4);
        assert_eq!(kept.loaded(), None);
        kept.said(has(0), HEAD, at(2));
        assert_eq!(kept.loaded(), Some(0));
        kept.said(has(4), HEAD, at(3));
        assert_eq!(kept.loaded(), Some(4));
        kept.said(full(4), HEAD, at(4));
        assert_eq!(kept.loaded(), None);
        kept.said(has(4), HEAD, at(5));
        assert_eq!(kept.loaded(), Some(4), "the rows that were here are here");
    }

    #[test]
    fn who_could_not_store_a_type_has_no_success_of_it_by_asking() {
        let full = |version| Word { version, unstored: Some("the disk is full") };
        // What it said before, the version it asks from, and whether that is a success.
        for (said, asks, expected) in [
            (vec![has(10)], 10, true),
            (vec![full(10)], 10, false),
            (vec![full(7)], 7, false),
            (vec![full(7)], 10, false),
            (vec![full(10), has(10)], 10, true),
            (vec![full(7), has(7)], 10, true),
            (vec![has(10), full(10)], 10, false),
        ] {
            let mut kept = PullProgress::default();
            for word in &said {
                kept.said(*word, HEAD, at(0));
            }
            kept.handed(7, 10, 2);
            for seconds in 1..3 {
                let succeeded = match kept.asked(asks, HEAD, at(seconds)) {
                    News::Quiet => true,
                    News::None => false,
                    News::Of(pulled) => pulled.success_at.is_some(),
                };
                assert_eq!(succeeded, expected, "{said:?}, then {asks}");
            }
        }
        // The rows that it turns out to have are counted all the same.
        let mut kept = PullProgress::default();
        kept.said(full(7), HEAD, at(0));
        kept.handed(7, 10, 2);
        assert_eq!(noted(kept.asked(10, HEAD, at(1))), (2, false, 1));
    }

    #[test]
    fn what_cannot_be_stored_is_an_error_with_the_rows_that_wait_until_it_can() {
        let mut kept = PullProgress::default();
        let full = Word { version: 7, unstored: Some("the disk is full") };
        kept.said(has(7), HEAD, at(0));
        kept.handed(7, 10, 2);
        for seconds in 1..4 {
            let News::Of(pulled) = kept.said(full, HEAD, at(seconds)) else { panic!("no news") };
            let error = Some((at(seconds), "the disk is full".to_owned()));
            let expected = Pulled { rows: 0, since: 7, success_at: None, error, pending: 2 };
            assert_eq!(pulled, expected);
        }
        let mut of_another_server = PullProgress::default();
        assert_eq!(noted(of_another_server.said(full, HEAD, at(4))), (0, false, 1), "how many rows is not known here");
        assert_eq!(noted(kept.said(has(10), HEAD, at(5))), (2, true, 0));
    }
}
