//! What a special does to a price, and what a deal over several units takes off.

use super::share::{Weighed, by_largest_remainder};
use crate::words::words;
use crate::{Bps, Money, Qty, rdiv};

words! {
    /// The kind of a special: `product_specials.type`.
    SpecialType {
        PercentOff = "percent_off",
        AmountOff = "amount_off",
        FixedPrice = "fixed_price",
        BuyXGetY = "buy_x_get_y",
        MultiBuy = "multi_buy",
    }
}

/// A kind with its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deal {
    /// So much off each unit.
    Unit(UnitDeal),
    /// So much off several units together, of which none is taken twice.
    Group(GroupDeal),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnitDeal {
    Percent(Bps),
    /// At most the price.
    Amount(Money),
    /// Never above the price.
    Fixed(Money),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupDeal {
    /// Of each `buy + get` units the `get` cheapest are cheaper by `off`; 10 000 is for nothing.
    BuyGet { buy: i64, get: i64, off: Bps },
    /// Each `units` cost `price` together.
    Bundle { units: i64, price: Money },
}

const WHOLE: i128 = 10_000;

impl Deal {
    /// What one unit costs with it; of a deal over several units at one price, in the middle.
    #[must_use]
    pub fn unit_price(self, price: Money) -> Money {
        let group = match self {
            Self::Unit(deal) => return deal.unit_price(price),
            Self::Group(group) => group,
        };
        let units = group.units();
        if units == 0 {
            return price;
        }
        let runs = [Run { line: 0, price: i128::from(price.0), count: units }];
        Money::from_wide(i128::from(price.0) - group.of(&runs, None).off / units)
    }
}

impl UnitDeal {
    /// What one unit costs with it.
    #[must_use]
    pub fn unit_price(self, price: Money) -> Money {
        Money::from_wide(i128::from(price.0) - self.off(price, Qty::ONE))
    }

    /// What is taken off `quantity` units at `price`.
    #[must_use]
    pub fn off(self, price: Money, quantity: Qty) -> i128 {
        self.off_list(price.times(quantity), price, quantity)
    }

    /// The same, for whoever knows what the units cost together.
    pub(super) fn off_list(self, list: Money, price: Money, quantity: Qty) -> i128 {
        let list = i128::from(list.0);
        let off = match self {
            Self::Percent(bps) => rdiv(list * i128::from(bps.0.clamp(0, 10_000)), WHOLE),
            Self::Amount(amount) => i128::from(amount.min(price).times(quantity).0),
            Self::Fixed(fixed) => list - i128::from(fixed.times(quantity).0),
        };
        off.clamp(0, list.max(0))
    }
}

/// Units of one line at one price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub line: usize,
    pub price: i128,
    pub count: i128,
}

/// What a group deal takes of some runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    pub deals: i128,
    pub off: i128,
}

impl GroupDeal {
    /// Units of one deal; none when its figures make no deal.
    pub(super) fn units(self) -> i128 {
        match self {
            Self::BuyGet { buy, get, .. } if buy > 0 && get > 0 => i128::from(buy) + i128::from(get),
            Self::Bundle { units, .. } if units > 0 => i128::from(units),
            _ => 0,
        }
    }

    /// The deals that `runs` make, dearest units first, `most` of them at the most. What gives nothing is no deal.
    pub(super) fn of(self, runs: &[Run], most: Option<i128>) -> Taken {
        let units = self.units();
        if units == 0 {
            return Taken::default();
        }
        let here = runs.iter().map(|run| run.count).sum::<i128>() / units;
        let most = most.map_or(here, |most| most.min(here)).max(0);
        match self {
            Self::BuyGet { buy, off, .. } => buy_get(runs, units, i128::from(buy), off, most),
            Self::Bundle { price, .. } => bundles(runs, units, i128::from(price.0), most),
        }
    }

    /// Shares what `taken` takes off over all units of its deals, by price: so that each of them, given back, gives back
    /// its fair part. The units and the amount of each run.
    pub(super) fn shared(self, runs: &[Run], taken: Taken) -> Vec<(i128, i128)> {
        let mut left = self.units() * taken.deals;
        let mut by_line: Vec<(usize, i128)> = Vec::with_capacity(runs.len());
        for (place, run) in runs.iter().enumerate() {
            let count = run.count.min(left);
            left -= count;
            by_line.push((place, count));
        }
        let counts: Vec<i128> = by_line.iter().map(|(_, count)| *count).collect();
        // Ties go to the lowest line, whatever the prices are.
        by_line.sort_by_key(|(place, _)| runs[*place].line);
        let weighed: Vec<Weighed> =
            by_line.iter().map(|(place, count)| Weighed { weight: runs[*place].price, count: *count }).collect();
        let mut shared = vec![(0, 0); runs.len()];
        for ((place, _), off) in by_line.iter().zip(by_largest_remainder(taken.off, &weighed)) {
            shared[*place] = (counts[*place], off);
        }
        shared
    }
}

fn buy_get(runs: &[Run], units: i128, buy: i128, off: Bps, most: i128) -> Taken {
    let end = most * units;
    // How many of the units before `place` are the cheaper ones of their deal.
    let cheaper = |place: i128| place / units * (units - buy) + (place % units - buy).max(0);
    let (mut place, mut sum) = (0, 0);
    for run in runs {
        let next = (place + run.count).min(end);
        let each = rdiv(run.price * i128::from(off.0.clamp(0, 10_000)), WHOLE);
        sum += (cheaper(next) - cheaper(place)) * each;
        place = next;
    }
    if sum > 0 { Taken { deals: most, off: sum } } else { Taken::default() }
}

/// Deals over dear units come first, so that the first one that gives nothing ends it.
fn bundles(runs: &[Run], units: i128, price: i128, most: i128) -> Taken {
    let mut taken = Taken::default();
    let mut runs = runs.iter();
    let Some(mut run) = runs.next().copied() else { return taken };
    while taken.deals < most {
        // As many deals as this run makes alone, else one over several runs.
        let alone = (run.count / units).min(most - taken.deals);
        let (deals, list) = if alone > 0 {
            run.count -= alone * units;
            (alone, run.price * units)
        } else {
            let (mut wanted, mut list) = (units, 0);
            loop {
                let count = run.count.min(wanted);
                list += count * run.price;
                wanted -= count;
                run.count -= count;
                if wanted == 0 {
                    break;
                }
                match runs.next() {
                    Some(next) => run = *next,
                    None => return taken,
                }
            }
            (1, list)
        };
        if list <= price {
            return taken;
        }
        taken.deals += deals;
        taken.off += deals * (list - price);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(prices: &[(i128, i128)]) -> Vec<Run> {
        prices.iter().enumerate().map(|(line, (price, count))| Run { line, price: *price, count: *count }).collect()
    }

    const TWO_AND_ONE: GroupDeal = GroupDeal::BuyGet { buy: 2, get: 1, off: Bps(10_000) };
    const THREE_FOR_TEN: GroupDeal = GroupDeal::Bundle { units: 3, price: Money(1000) };

    #[test]
    fn the_cheapest_units_of_each_deal_are_the_cheaper_ones() {
        let prices = runs(&[(1000, 1), (800, 2), (300, 3), (100, 1)]);
        // 1000 800 800* | 300 300 300* | a rest that makes no deal.
        assert_eq!(TWO_AND_ONE.of(&prices, None), Taken { deals: 2, off: 1100 });
        assert_eq!(TWO_AND_ONE.of(&prices, Some(1)), Taken { deals: 1, off: 800 });
        let half = GroupDeal::BuyGet { buy: 1, get: 2, off: Bps(5_000) };
        assert_eq!(half.of(&runs(&[(333, 3)]), None), Taken { deals: 1, off: 334 });
    }

    #[test]
    fn bundles_end_where_they_would_be_dearer() {
        assert_eq!(THREE_FOR_TEN.of(&runs(&[(399, 7)]), None), Taken { deals: 2, off: 394 });
        assert_eq!(THREE_FOR_TEN.of(&runs(&[(500, 4), (300, 5)]), None), Taken { deals: 2, off: 600 });
        assert_eq!(THREE_FOR_TEN.of(&runs(&[(500, 2), (100, 1)]), None), Taken { deals: 1, off: 100 });
        assert_eq!(THREE_FOR_TEN.of(&runs(&[(333, 3)]), None), Taken::default());
        assert_eq!(THREE_FOR_TEN.of(&runs(&[(500, 2)]), None), Taken::default());
    }

    #[test]
    fn what_a_deal_gives_is_shared_over_all_of_its_units() {
        let prices = runs(&[(1000, 1), (500, 3)]);
        let taken = TWO_AND_ONE.of(&prices, None);
        assert_eq!(taken, Taken { deals: 1, off: 500 });
        assert_eq!(TWO_AND_ONE.shared(&prices, taken), [(1, 250), (2, 250)]);
    }

    #[test]
    fn as_many_units_as_an_amount_can_count_are_reckoned_at_once() {
        let many = runs(&[(399, 999_999_999_999), (398, 999_999_999_999)]);
        assert_eq!(THREE_FOR_TEN.of(&many, None).deals, 666_666_666_666);
        assert_eq!(TWO_AND_ONE.of(&many, None).deals, 666_666_666_666);
    }

    #[test]
    fn figures_that_make_no_deal_give_nothing() {
        for none in [
            GroupDeal::BuyGet { buy: 0, get: 1, off: Bps(10_000) },
            GroupDeal::BuyGet { buy: 1, get: 0, off: Bps(10_000) },
            GroupDeal::Bundle { units: 0, price: Money(0) },
        ] {
            assert_eq!(none.of(&runs(&[(100, 10)]), None), Taken::default());
        }
        assert_eq!(UnitDeal::Fixed(Money(999)).off(Money(899), Qty::ONE), 0);
        assert_eq!(UnitDeal::Amount(Money(500)).off(Money(300), Qty::pieces(2)), 600);
    }
}
