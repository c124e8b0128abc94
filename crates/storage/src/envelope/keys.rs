//! The keys that an envelope has of a row, in either spelling.

use std::collections::HashSet;
use std::sync::Arc;

/// The keys that were sent: an older store knows fewer columns, and those it does not send keep their values.
pub(crate) struct Keys {
    /// What the objects of its type may have, each at its place: the columns of the table in their order, then the keys of its
    /// lists of lines.
    names: Arc<[&'static str]>,
    /// The places of what was sent, as bits.
    sent: u128,
    /// How many keys its type does not know.
    pub unknown: usize,
    /// The columns of which something was cut off.
    pub cut: Vec<&'static str>,
}

impl Keys {
    /// Names that a type may have.
    #[cfg(test)]
    pub(super) const MOST: usize = 128;

    pub(super) fn new(names: Arc<[&'static str]>, unknown: usize) -> Self {
        Self { names, sent: 0, unknown, cut: Vec::new() }
    }

    pub(super) fn add(&mut self, place: usize) {
        self.sent |= bit(place);
    }

    /// As if only `names` had been sent, in either spelling.
    pub(crate) fn keep(&mut self, names: &[String]) {
        let names: HashSet<String> = names.iter().map(|name| plain(name)).collect();
        let kept = self.names.iter().enumerate().filter(|(_, name)| names.contains(&plain(name)));
        self.sent &= kept.fold(0, |kept, (place, _)| kept | bit(place));
        self.cut.retain(|name| names.contains(&plain(name)));
    }

    pub(crate) fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.names.iter().enumerate().filter(|(place, _)| self.has(*place)).map(|(_, name)| *name)
    }

    /// Whether that was sent which is at `place`.
    pub(super) fn has(&self, place: usize) -> bool {
        self.sent & bit(place) != 0
    }

    pub(crate) fn name(&self, column: &str) -> bool {
        self.names.iter().position(|name| *name == column).is_some_and(|place| self.has(place))
    }
}

fn bit(place: usize) -> u128 {
    u32::try_from(place).ok().and_then(|place| 1_u128.checked_shl(place)).unwrap_or_default()
}

/// The same for a column and its key in either spelling.
pub(crate) fn plain(name: &str) -> String {
    name.chars().filter(|letter| *letter != '_').map(|letter| letter.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_that_were_sent_are_those_that_are_named_and_of_them_those_that_are_kept() {
        let names: Vec<&'static str> =
            (0..Keys::MOST).map(|place| ["id", "line_no", "note"].get(place).copied().unwrap_or("")).collect();
        let mut keys = Keys::new(names.into(), 0);
        for place in [1, 2, Keys::MOST - 1] {
            keys.add(place);
        }
        assert_eq!(keys.columns().collect::<Vec<_>>(), ["line_no", "note", ""]);
        assert!(keys.name("note") && !keys.name("id") && !keys.name("notes"));
        assert!(keys.has(Keys::MOST - 1) && !keys.has(Keys::MOST - 2) && !keys.has(Keys::MOST));
        keys.keep(&["lineNo".to_owned(), "ID".to_owned()]);
        assert_eq!(keys.columns().collect::<Vec<_>>(), ["line_no"]);
    }
}
