//! Numbers of a series, of which nearly each follows the one before: what is kept of them are the holes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// A set of whole numbers, the first of each run with its last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Runs(BTreeMap<i64, i64>);

impl Runs {
    /// Whether it was not there.
    pub(super) fn insert(&mut self, number: i64) -> bool {
        let before = self.0.range(..=number).next_back().map(|(first, last)| (*first, *last));
        if before.is_some_and(|(_, last)| number <= last) {
            return false;
        }
        let next = number.checked_add(1).and_then(|next| self.0.remove(&next));
        let first = before.filter(|(_, last)| last.checked_add(1) == Some(number)).map_or(number, |(first, _)| first);
        self.0.insert(first, next.unwrap_or(number));
        true
    }

    pub(super) fn contains(&self, number: i64) -> bool {
        self.0.range(..=number).next_back().is_some_and(|(_, last)| number <= *last)
    }

    pub(super) fn first(&self) -> Option<i64> {
        self.0.keys().next().copied()
    }

    pub(super) fn last(&self) -> Option<i64> {
        self.0.values().next_back().copied()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        self.0.iter().flat_map(|(first, last)| *first..=*last)
    }

    /// How many of its numbers lie in `range`.
    pub(super) fn within(&self, range: &RangeInclusive<i64>) -> i128 {
        let common = |(first, last): (&i64, &i64)| {
            let (from, to) = (first.max(range.start()), last.min(range.end()));
            Ord::max(i128::from(*to) - i128::from(*from) + 1, 0)
        };
        self.0.iter().map(common).sum()
    }

    /// How many there are.
    pub(super) fn count(&self) -> i128 {
        self.within(&(i64::MIN..=i64::MAX))
    }

    /// The numbers between `from` and the last one that are not in it.
    pub(super) fn missing(&self, from: i64) -> impl Iterator<Item = i64> + '_ {
        let mut next = from;
        self.0.iter().flat_map(move |(first, last)| {
            let hole = next..*first;
            next = next.max(last.saturating_add(1));
            hole
        })
    }
}

impl FromIterator<i64> for Runs {
    fn from_iter<T: IntoIterator<Item = i64>>(numbers: T) -> Self {
        let mut runs = Self::default();
        for number in numbers {
            runs.insert(number);
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_whatever_order_are_one_run_without_the_holes() {
        let mut runs = Runs::default();
        for number in [5, 3, 9, 4, 1, 10, i64::MAX, i64::MIN] {
            assert!(runs.insert(number), "{number}");
        }
        for number in [4, 1, 10, i64::MAX, i64::MIN] {
            assert!(!runs.insert(number), "{number} is there");
        }
        let expected = [(i64::MIN, i64::MIN), (1, 1), (3, 5), (9, 10), (i64::MAX, i64::MAX)];
        assert_eq!(runs.0, BTreeMap::from(expected));
        assert_eq!((runs.contains(4), runs.contains(6), runs.contains(i64::MAX)), (true, false, true));
        assert_eq!((runs.first(), runs.last(), runs.count()), (Some(i64::MIN), Some(i64::MAX), 8));
        assert_eq!(Runs::from_iter([1, 2, 3]), Runs::from_iter([3, 2, 1, 2]));
    }

    #[test]
    fn what_is_missing_and_what_lies_in_a_range_is_what_single_numbers_say() {
        let numbers = [2, 3, 4, 7, 11, 12];
        let runs = Runs::from_iter(numbers);
        assert_eq!(runs.iter().collect::<Vec<_>>(), numbers);
        for from in -1..14 {
            let missing: Vec<i64> = (from..=12).filter(|number| !numbers.contains(number)).collect();
            assert_eq!(runs.missing(from).collect::<Vec<_>>(), missing, "from {from}");
            for to in -1..14 {
                let within = numbers.iter().filter(|number| (from..=to).contains(*number)).count();
                assert_eq!(runs.within(&(from..=to)), i128::try_from(within).expect("few"), "{from} to {to}");
            }
        }
        assert_eq!((Runs::default().first(), Runs::default().missing(1).count()), (None, 0));
    }
}
