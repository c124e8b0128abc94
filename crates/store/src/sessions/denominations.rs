//! The coins and notes of an amount, as people count them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value as Json, json};
use tillkeep_model::Money;

/// Kinds of coins and notes at the most.
const MOST: usize = 60;

/// Coins or notes of one value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pile {
    value: i64,
    count: i64,
}

/// `said` as it is kept: `[{value, count}]`, the largest value first. Else what is wrong with it beside `amount`.
pub(super) fn read(said: &Json, amount: Money) -> Result<Json, String> {
    let piles = piles(said).filter(|piles| piles.iter().all(|pile| pile.value > 0 && pile.count >= 0));
    let Some(piles) = piles else {
        let text = "must be a list of {value, count} or an object of counts by value, in whole numbers: values from 1 on, \
                    counts from 0 on";
        return Err(text.to_owned());
    };
    let mut counts: BTreeMap<i64, i128> = BTreeMap::new();
    for pile in piles {
        *counts.entry(pile.value).or_default() += i128::from(pile.count);
    }
    if counts.len() > MOST {
        return Err(format!("must have at most {MOST} values"));
    }
    // Values and counts have 63 bits each, and there are few of them.
    let sum: i128 = counts.iter().map(|(value, count)| i128::from(*value).saturating_mul(*count)).sum();
    if sum != i128::from(amount.0) {
        return Err(format!("come to {sum} minor units, and the amount is {}; count again", amount.0));
    }
    Ok(counts.iter().rev().map(|(value, count)| json!({"value": value, "count": i64::try_from(*count).ok()})).collect())
}

fn piles(said: &Json) -> Option<Vec<Pile>> {
    match said {
        Json::Array(_) => Vec::deserialize(said).ok(),
        Json::Object(counts) => counts
            .iter()
            .map(|(value, count)| Some(Pile { value: value.parse().ok()?, count: count.as_i64()? }))
            .collect(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_write_them_are_kept_as_one() {
        let kept = json!([{"value": 5000, "count": 2}, {"value": 100, "count": 3}]);
        let lists = [
            json!([{"value": 100, "count": 3}, {"value": 5000, "count": 2}]),
            json!([{"value": 100, "count": 1}, {"value": 5000, "count": 2}, {"value": 100, "count": 2}]),
            json!({"100": 3, "5000": 2}),
        ];
        for said in lists {
            assert_eq!(read(&said, Money(10_300)), Ok(kept.clone()), "{said}");
        }
        assert_eq!(read(&json!([]), Money(0)), Ok(json!([])));
    }

    #[test]
    fn what_does_not_come_to_the_amount_or_is_no_count_of_coins_is_refused() {
        let sum = read(&json!({"100": 3}), Money(301)).expect_err("refused");
        assert!(sum.contains("300") && sum.contains("301"), "{sum}");
        let many = (1..=61).map(|value| json!({"value": value, "count": 0})).collect::<Json>();
        assert!(read(&many, Money(0)).expect_err("refused").contains("60"));
        for bad in [
            json!(5),
            json!("x"),
            json!(["x"]),
            json!([{"value": 100}]),
            json!([{"value": 1.5, "count": 1}]),
            json!([{"value": 0, "count": 1}]),
            json!([{"value": 100, "count": -1}]),
            json!([{"value": 100, "count": 1, "kind": "note"}]),
            json!({"five": 1}),
            json!({"5": "1"}),
        ] {
            assert!(read(&bad, Money(0)).is_err(), "{bad}");
        }
        let huge = json!([{"value": i64::MAX, "count": i64::MAX}, {"value": i64::MAX - 1, "count": i64::MAX}]);
        assert!(read(&huge, Money(1)).is_err());
    }
}
