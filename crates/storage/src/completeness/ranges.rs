//! Ranges of numbers, and those that are missing among others.

use std::collections::BTreeSet;

use serde::Serialize;
use utoipa::ToSchema;

/// Numbers that follow one another, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = NumberRange)]
pub struct Range {
    pub from: i64,
    pub to: i64,
}

/// Numbers of `0..` that `have` lacks between `after` and `last`.
pub(super) fn missing(after: i64, have: &BTreeSet<i64>, last: i64) -> Vec<Range> {
    let mut out = Vec::new();
    let mut next = after.saturating_add(1);
    for number in have.range(next..).copied().take_while(|number| *number <= last).chain([last.saturating_add(1)]) {
        if number > next {
            out.push(Range { from: next, to: number - 1 });
        }
        next = number.saturating_add(1);
    }
    out
}

/// A gap without what of it is known to be lost, and that.
pub(super) fn without(gap: Range, lost: &[(i64, i64)]) -> (Vec<Range>, Vec<Range>) {
    let inside = lost.iter().map(|(first, last)| Range { from: gap.from.max(*first), to: gap.to.min(*last) });
    let mut inside: Vec<Range> = inside.filter(|range| range.from <= range.to).collect();
    inside.sort_unstable_by_key(|range| range.from);
    let (mut rest, mut named) = (Vec::new(), Vec::new());
    let mut next = gap.from;
    for range in inside {
        if range.from > next {
            rest.push(Range { from: next, to: range.from - 1 });
        }
        // Put back twice, some of them may be lost twice.
        let from = range.from.max(next);
        if from <= range.to {
            named.push(Range { from, to: range.to });
        }
        next = next.max(range.to + 1);
    }
    if next <= gap.to {
        rest.push(Range { from: next, to: gap.to });
    }
    (rest, named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_listed_in_ranges_with_both_ends() {
        let have = BTreeSet::from([4, 5, 8, 20]);
        let ranges: Vec<_> = missing(2, &have, 10).iter().map(|range| (range.from, range.to)).collect();
        assert_eq!(ranges, [(3, 3), (6, 7), (9, 10)]);
        assert!(missing(3, &have, 5).is_empty());
        assert!(missing(9, &have, 9).is_empty());
    }
}
