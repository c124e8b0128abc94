//! Exact fractions of a minor unit, rounded one by one or as a sum, without losing a tie.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::rdiv;

/// An amount before rounding: `num / den` minor units, with `den` from 1 to 2^64.
///
/// The bound is what lets remainders be compared by cross-multiplication in 128 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fraction {
    num: i128,
    den: i128,
}

impl Fraction {
    /// The largest denominator.
    pub(super) const MAX_DEN: i128 = 1 << 64;

    /// `num / den`; a denominator out of bounds becomes the nearest one that is allowed.
    pub(super) fn new(num: i128, den: i128) -> Self {
        Self { num, den: den.clamp(1, Self::MAX_DEN) }
    }

    /// Rounded half away from zero.
    pub(super) fn round(self) -> i128 {
        rdiv(self.num, self.den)
    }

    /// Cut towards zero, so that a refund is cut like its sale.
    pub(super) fn whole(self) -> i128 {
        self.num / self.den
    }

    /// The sign of what [`Self::whole`] cuts off.
    pub(super) fn rest_sign(self) -> i128 {
        (self.num % self.den).signum()
    }

    /// Compares the size of what [`Self::whole`] cuts off.
    pub(super) fn cmp_rest(self, other: Self) -> Ordering {
        let size = |fraction: Self| (fraction.num % fraction.den).unsigned_abs();
        (size(self) * other.den.unsigned_abs()).cmp(&(size(other) * self.den.unsigned_abs()))
    }
}

/// The exact sum, rounded once, half away from zero.
pub(super) fn round_sum(fractions: &[Fraction]) -> i128 {
    let mut rests = BTreeMap::<i128, i128>::new();
    let mut whole = 0_i128;
    for fraction in fractions {
        whole = whole.saturating_add(fraction.num.div_euclid(fraction.den));
        *rests.entry(fraction.den).or_default() += fraction.num.rem_euclid(fraction.den);
    }
    // Twice the sum is rounded down; whether it was whole tells a tie from what lies just above it.
    let mut twice = whole.saturating_mul(2);
    let mut parts = Vec::with_capacity(rests.len());
    for (den, rest) in rests {
        twice = twice.saturating_add(2 * rest / den);
        parts.push(((2 * rest % den).unsigned_abs(), den.unsigned_abs()));
    }
    let (carry, exact) = floor_of_sum(parts);
    twice = twice.saturating_add(carry);
    // Upwards from a tie, but downwards when the sum is negative: away from zero.
    let tie_below_zero = i128::from(twice < 0 && exact);
    twice.saturating_add(1 - tie_below_zero).div_euclid(2)
}

/// Rounds down the sum of fractions `(num, den)` that are each below one; also tells whether the sum was whole.
///
/// A common denominator of many fractions fits no integer, so all are divided side by side, one binary digit at a
/// time, while only the gap between the digits written so far and the next whole number is kept. What is not written
/// yet adds less than one unit of the last digit for each fraction, so a larger gap is never closed. The sum is a
/// multiple of one over the product of the denominators: when the gap is still open after as many digits as that
/// product has, the sum is the whole number itself.
fn floor_of_sum(mut parts: Vec<(u128, u128)>) -> (i128, bool) {
    parts.retain(|(num, _)| *num > 0);
    let count = parts.len() as u128;
    // The first 63 digits at once.
    let mut written = 0_u128;
    for (num, den) in &mut parts {
        let dividend = *num << 63;
        written += dividend / *den;
        *num = dividend % *den;
    }
    let floor = i128::try_from(written >> 63).unwrap_or(i128::MAX);
    let mut gap = (1_i128 << 63) - i128::try_from(written & ((1 << 63) - 1)).unwrap_or(0);
    let all_written = |parts: &[(u128, u128)]| parts.iter().all(|(num, _)| *num == 0);
    if gap == 1 << 63 && all_written(&parts) {
        return (floor, true);
    }
    let bits = |value: u128| u128::BITS - value.leading_zeros();
    let digits: u32 = parts.iter().map(|(_, den)| bits(*den)).sum::<u32>() + bits(count);
    for _ in 0..digits {
        if gap.unsigned_abs() >= count {
            return (floor, false);
        }
        gap *= 2;
        for (num, den) in &mut parts {
            *num *= 2;
            if *num >= *den {
                *num -= *den;
                gap -= 1;
            }
        }
        if gap <= 0 {
            return (floor + 1, gap == 0 && all_written(&parts));
        }
    }
    (floor + 1, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum_of(fractions: &[(i128, i128)]) -> i128 {
        round_sum(&fractions.iter().map(|(num, den)| Fraction::new(*num, *den)).collect::<Vec<_>>())
    }

    #[test]
    fn a_sum_that_is_a_tie_is_rounded_away_from_zero() {
        assert_eq!(sum_of(&[(1, 3), (1, 6)]), 1);
        assert_eq!(sum_of(&[(-1, 3), (-1, 6)]), -1);
        assert_eq!(sum_of(&[(1, 3), (1, 3), (1, 3), (3, 2)]), 3);
        assert_eq!(sum_of(&[(7, 3), (-1, 3)]), 2);
        assert_eq!(sum_of(&[]), 0);
    }

    #[test]
    fn a_sum_that_misses_a_tie_by_a_hair_is_not_one() {
        let den = Fraction::MAX_DEN - 1;
        // These two differ from one half by less than 2^-126.
        let (below, above) = ([(1, 3), (1, 6), (-1, den), (1, den + 1)], [(1, 3), (1, 6), (1, den), (-1, den + 1)]);
        assert_eq!(sum_of(&below), 0);
        assert_eq!(sum_of(&above), 1);
        let mirrored = |parts: [(i128, i128); 4]| parts.map(|(num, den)| (-num, den));
        assert_eq!(sum_of(&mirrored(below)), 0);
        assert_eq!(sum_of(&mirrored(above)), -1);
        assert_eq!(sum_of(&[(1, 3), (1, 6), (1, den), (-1, den)]), 1);
    }

    proptest! {
        #[test]
        fn the_sum_is_what_a_common_denominator_gives(
            parts in prop::collection::vec((-1_000_000_i128..1_000_000, 1_i128..12), 0..12),
        ) {
            let common: i128 = 27720;
            let exact: i128 = parts.iter().map(|(num, den)| num * (common / den)).sum();
            prop_assert_eq!(sum_of(&parts), rdiv(exact, common));
        }

        #[test]
        fn the_sum_of_two_large_fractions_is_exact(
            a in any::<i64>(), b in any::<i64>(), d in 1_i128..1 << 31, e in 1_i128..1 << 31,
        ) {
            let (a, b) = (i128::from(a), i128::from(b));
            prop_assert_eq!(sum_of(&[(a, d), (b, e)]), rdiv(a * e + b * d, d * e));
        }
    }
}
