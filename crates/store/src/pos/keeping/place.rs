//! Where a copy is, as a text of ours that tills hand back: a version, and on the way also the id up to which it was read.

use tillkeep_http::error::{Error, Result};
use tillkeep_storage::catalogue::Version;
use uuid::Uuid;

/// The form of an answer: another one is read again as a whole.
const FORM: &str = "1";

/// A page of a read from a version, or from nothing, on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Where this store was when the first page was read.
    pub begun: Version,
    /// Where the copy was then; nothing when it is made anew.
    pub since: Option<Version>,
    /// The last product of the page before.
    pub after: Option<Uuid>,
}

/// What a till asked for.
pub(super) enum Asked {
    /// Everything.
    All,
    /// What changed since, if that can be said: a text of another form is none.
    Since(Option<Version>),
    Next(Option<Place>),
}

/// A version as an answer has it.
pub(super) fn text(Version { history, products, prices }: &Version) -> String {
    format!("{FORM}.{history}.{products}.{prices}")
}

/// Nothing for a text of another release.
fn version(text: &str) -> Option<Version> {
    let mut parts = text.split('.');
    let form = parts.next()?;
    let history = parts.next()?.to_owned();
    let version = Version { history, products: parts.next()?.parse().ok()?, prices: parts.next()?.parse().ok()? };
    (form == FORM && parts.next().is_none()).then_some(version)
}

impl Place {
    /// What the query of a request asks for.
    pub(super) fn read(since: Option<&str>, next: Option<&str>) -> Result<Asked> {
        match (since, next) {
            (None, None) => Ok(Asked::All),
            (Some(_), Some(_)) => {
                Err(Error::field("since", "goes without next, which says it already; leave one of them out"))
            }
            (Some(since), None) => must_be_ours("since", since).map(|()| Asked::Since(version(since))),
            (None, Some(next)) => must_be_ours("next", next).map(|()| Asked::Next(Self::parse(next))),
        }
    }

    /// As an answer has it.
    pub(super) fn text(&self) -> String {
        let since = self.since.as_ref().map(text).unwrap_or_default();
        let after = self.after.unwrap_or_default().simple();
        format!("{}~{since}~{after}", text(&self.begun))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('~');
        let begun = version(parts.next()?)?;
        let since = parts.next()?;
        let since = if since.is_empty() { None } else { Some(version(since)?) };
        let after = Some(parts.next()?.parse().ok()?);
        parts.next().is_none().then_some(Self { begun, since, after })
    }
}

/// What tills hand back is a text of ours: anything else is a mistake of theirs, and no reason to send everything.
fn must_be_ours(field: &str, text: &str) -> Result<()> {
    let is_ours = text.split_once('.').is_some_and(|(form, _)| form.parse::<u32>().is_ok());
    if is_ours {
        Ok(())
    } else {
        Err(Error::field(field, "is none of this server; hand back what a former answer has"))
    }
}

impl Asked {
    /// The page to read where this store is `here`, and whether the copy has to be forgotten first.
    pub(super) fn at(self, here: Version) -> (Place, bool) {
        // A store that was set back may be behind a copy of the same history.
        let leads_here = |version: &Version| {
            version.history == here.history && version.products <= here.products && version.prices <= here.prices
        };
        match self {
            Self::Since(Some(since)) if leads_here(&since) => {
                (Place { begun: here, since: Some(since), after: None }, false)
            }
            Self::Next(Some(place)) if leads_here(&place.begun) => (place, false),
            Self::All => (Place { begun: here, since: None, after: None }, false),
            Self::Since(_) | Self::Next(_) => (Place { begun: here, since: None, after: None }, true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(products: i64, prices: i64) -> Version {
        Version { history: "a1b2".to_owned(), products, prices }
    }

    fn asked(since: Option<&str>, next: Option<&str>) -> Asked {
        Place::read(since, next).expect("of ours")
    }

    #[test]
    fn what_a_till_hands_back_is_read_as_it_was_written() {
        let place = Place { begun: here(9, 4), since: Some(here(3, -1)), after: Some(Uuid::max()) };
        assert_eq!(Place::parse(&place.text()), Some(place.clone()));
        let anew = Place { since: None, ..place };
        assert_eq!(Place::parse(&anew.text()), Some(anew.clone()));
        assert_eq!(asked(None, Some(&anew.text())).at(here(20, 20)), (anew, false));
    }

    #[test]
    fn a_copy_goes_on_in_its_own_history_and_begins_anew_in_another_one() {
        let since = text(&here(3, 4));
        let going_on = Place { begun: here(5, 4), since: Some(here(3, 4)), after: None };
        assert_eq!(asked(Some(&since), None).at(here(5, 4)), (going_on, false));
        for other in [here(2, 9), here(9, 3), Version { history: "c3".to_owned(), ..here(5, 4) }] {
            let anew = Place { begun: other.clone(), since: None, after: None };
            assert_eq!(asked(Some(&since), None).at(other), (anew, true));
        }
        // Of a newer form.
        assert!(asked(Some("2.a.b.c.d"), None).at(here(5, 4)).1);
        assert!(!asked(None, None).at(here(5, 4)).1);
    }

    #[test]
    fn a_text_that_no_answer_had_is_refused_by_its_name() {
        for text in ["", "yesterday", "x.1.2.3"] {
            let refused = |read: Result<Asked>| read.err().expect("refused").to_string();
            assert!(refused(Place::read(Some(text), None)).starts_with("since: "), "{text}");
            assert!(refused(Place::read(None, Some(text))).starts_with("next: "), "{text}");
        }
        assert!(Place::read(Some("1.a.1.1"), Some("1.a.1.1")).is_err());
    }
}
