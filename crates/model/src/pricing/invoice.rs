//! Tax rounded once per rate over the whole sale, and handed back to its lines.

use std::collections::HashMap;

use uuid::Uuid;

use super::fraction::{Fraction, round_sum};
use super::tax::TaxRate;
use crate::Money;

/// The exact taxes of one line, in the order of its rates.
pub(super) struct ExactLine<'a> {
    pub rates: &'a [TaxRate],
    pub taxes: Vec<Fraction>,
}

/// The rounded taxes of each line, in the order of its rates, such that those of one rate add up to the rounded sum
/// of that rate.
pub(super) fn round_by_invoice(lines: &[ExactLine]) -> Vec<Vec<Money>> {
    let mut rounded: Vec<Vec<Money>> = lines.iter().map(|line| vec![Money::ZERO; line.taxes.len()]).collect();
    let mut places = HashMap::<Uuid, Vec<(usize, usize)>>::new();
    for (line_index, line) in lines.iter().enumerate() {
        for (rate_index, (rate, _)) in line.rates.iter().zip(&line.taxes).enumerate() {
            places.entry(rate.id).or_default().push((line_index, rate_index));
        }
    }
    for places in places.into_values() {
        let exact: Vec<Fraction> = places.iter().map(|(line, rate)| lines[*line].taxes[*rate]).collect();
        for ((line, rate), tax) in places.into_iter().zip(hand_back(&exact)) {
            rounded[line][rate] = Money::from_wide(tax);
        }
    }
    rounded
}

/// Whole amounts that add up to the rounded sum of `exact`: each is cut towards zero, and the units that are then
/// missing go to the largest fractions, ties to the lowest line.
///
/// Cutting towards zero and not down is what makes a refund the mirror image of its sale. Missing units are never
/// more than the fractions of their sign, because each of those is below one and the sum moves by at most a half.
fn hand_back(exact: &[Fraction]) -> Vec<i128> {
    let mut taxes: Vec<i128> = exact.iter().map(|tax| tax.whole()).collect();
    let handed_out = taxes.iter().fold(0_i128, |sum, tax| sum.saturating_add(*tax));
    let missing = round_sum(exact).saturating_sub(handed_out);
    let mut order: Vec<usize> =
        (0..exact.len()).filter(|index| exact[*index].rest_sign() == missing.signum()).collect();
    order.sort_by(|a, b| exact[*b].cmp_rest(exact[*a]));
    for index in order.into_iter().take(usize::try_from(missing.unsigned_abs()).unwrap_or(usize::MAX)) {
        taxes[index] += missing.signum();
    }
    taxes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn handed(exact: &[(i128, i128)]) -> Vec<i128> {
        hand_back(&exact.iter().map(|(num, den)| Fraction::new(*num, *den)).collect::<Vec<_>>())
    }

    #[test]
    fn the_largest_fractions_get_the_missing_units_and_ties_go_to_the_lowest_line() {
        assert_eq!(handed(&[(1335, 10), (1335, 10)]), [134, 133]);
        assert_eq!(handed(&[(12, 10), (19, 10), (15, 10)]), [1, 2, 2]);
        assert_eq!(handed(&[(-12, 10), (-19, 10), (-15, 10)]), [-1, -2, -2]);
    }

    #[test]
    fn fractions_with_different_denominators_are_compared_exactly() {
        let large = Fraction::MAX_DEN;
        assert_eq!(handed(&[(large - 2, large - 1), (large - 1, large)]), [1, 1]);
        assert_eq!(handed(&[(large / 2 - 1, large - 1), (large / 2, large)]), [0, 1]);
    }

    proptest! {
        #[test]
        fn what_is_handed_back_adds_up_and_stays_within_one_unit(
            exact in prop::collection::vec((-100_000_i128..100_000, 1_i128..1000), 0..20),
        ) {
            let fractions: Vec<Fraction> = exact.iter().map(|(num, den)| Fraction::new(*num, *den)).collect();
            let taxes = hand_back(&fractions);
            prop_assert_eq!(taxes.iter().sum::<i128>(), round_sum(&fractions));
            for (tax, (num, den)) in taxes.iter().zip(&exact) {
                prop_assert!((tax * den - num).abs() < *den);
            }
            let mirrored: Vec<(i128, i128)> = exact.iter().map(|(num, den)| (-num, *den)).collect();
            prop_assert_eq!(handed(&mirrored), taxes.iter().map(|tax| -tax).collect::<Vec<_>>());
        }
    }
}
