//! Sharing an amount out by weight, without losing a minor unit.

/// Equal parts of what is shared: `count` of them, each with this weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Weighed {
    pub weight: i128,
    pub count: i128,
}

/// Shares `total` by largest remainder: each part gets its share cut to whole units, and the units that are left go to the
/// largest fractions, ties to the first in the list. What is answered is the sum of each entry's parts.
///
/// Weights and `total` are not below zero; weights of nothing take nothing.
pub(super) fn by_largest_remainder(total: i128, parts: &[Weighed]) -> Vec<i128> {
    let whole: i128 = parts.iter().map(|part| part.weight * part.count).sum();
    if whole == 0 {
        return vec![0; parts.len()];
    }
    let mut shares: Vec<i128> =
        parts.iter().map(|part| total.saturating_mul(part.weight) / whole * part.count).collect();
    let mut left = total - shares.iter().sum::<i128>();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(total.saturating_mul(parts[*place].weight) % whole));
    for place in order {
        let more = left.min(parts[place].count);
        shares[place] += more;
        left -= more;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shared(total: i128, weights: &[i128]) -> Vec<i128> {
        let parts: Vec<Weighed> = weights.iter().map(|weight| Weighed { weight: *weight, count: 1 }).collect();
        by_largest_remainder(total, &parts)
    }

    #[test]
    fn units_that_are_left_go_to_the_largest_fractions_and_then_to_the_first() {
        assert_eq!(shared(1000, &[1000, 1000, 1000]), [334, 333, 333]);
        assert_eq!(shared(100, &[100, 200, 300]), [17, 33, 50]);
        assert_eq!(shared(1, &[1, 2, 2]), [0, 1, 0]);
        assert_eq!(shared(5, &[0, 0]), [0, 0]);
    }

    proptest! {
        #[test]
        fn parts_add_up_and_no_part_is_above_its_weight(
            weights in prop::collection::vec(0_i128..100_000, 1..20), part in 0_i128..=1000,
        ) {
            let whole: i128 = weights.iter().sum();
            let total = whole * part / 1000;
            let shares = shared(total, &weights);
            prop_assert_eq!(shares.iter().sum::<i128>(), total);
            for (share, weight) in shares.iter().zip(&weights) {
                prop_assert!(*share <= *weight && (share * whole - total * weight).abs() < whole.max(1));
            }
        }

        #[test]
        fn equal_parts_share_as_if_each_stood_alone(weight in 1_i128..500, count in 1_i128..20, other in 1_i128..500) {
            let total = (weight * count + other) / 3;
            let together = by_largest_remainder(total, &[Weighed { weight, count }, Weighed { weight: other, count: 1 }]);
            let mut each = vec![weight; usize::try_from(count).expect("small")];
            each.push(other);
            let alone = shared(total, &each);
            let (last, first) = alone.split_last().expect("two or more");
            prop_assert_eq!(together, vec![first.iter().sum::<i128>(), *last]);
        }
    }
}
