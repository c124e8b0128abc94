//! Specials, discounts and sharing against a second reckoning, which knows nothing of the first: unit by unit, in fractions
//! where a rule asks for them, straight from the rules of `docs/domain.md`.

use std::cmp::Reverse;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tillkeep_model::pricing::{
    CartLine, CartTerms, Deal, Discount, GroupDeal, PriceSource, Special, TaxRate, TaxRounding, UnitDeal, price_cart,
};
use tillkeep_model::{Bps, Money, Ppm, Qty, ids};

/// Products of the made-up chain.
const PRODUCTS: usize = 4;

/// A cart as a test makes it up.
#[derive(Clone, Debug)]
struct Cart {
    lines: Vec<Line>,
    specials: Vec<Row>,
    discount: Option<Discount>,
    tax: i32,
    invoice: bool,
    exempt: bool,
}

#[derive(Clone, Debug)]
struct Line {
    product: usize,
    /// Thousandths.
    quantity: i64,
    price: i64,
    source: PriceSource,
    label: Option<i64>,
    is_weighed: bool,
    inclusive: bool,
    allows_discount: bool,
    discount: Option<Discount>,
}

#[derive(Clone, Debug)]
struct Row {
    id: u128,
    /// The product that it names; `None` for the one department of all.
    product: Option<usize>,
    deal: Deal,
    mix: Option<&'static str>,
    most: Option<i64>,
    priority: i32,
    is_stackable: bool,
}

/// What a line comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Figures {
    list: i64,
    special: i64,
    line: i64,
    cart: i64,
    net: i64,
    tax: i64,
    total: i64,
    /// Special, thousandths, amount.
    savings: Vec<(u128, i64, i64)>,
}

/// `num / den` rounded half away from zero; nothing here is below zero.
fn half_up(num: i128, den: i128) -> i64 {
    i64::try_from((2 * num + den) / (2 * den)).expect("an amount")
}

/// Whole parts of `total` by weight, what is left to the largest fractions, then to the first.
fn parts(total: i64, weights: &[i64]) -> Vec<i64> {
    let sum: i128 = weights.iter().map(|weight| i128::from(*weight)).sum();
    if sum == 0 {
        return vec![0; weights.len()];
    }
    let exact: Vec<(i128, i128)> = weights
        .iter()
        .map(|weight| {
            let product = i128::from(total) * i128::from(*weight);
            (product / sum, product % sum)
        })
        .collect();
    let given: i128 = exact.iter().map(|(whole, _)| whole).sum();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|place| (Reverse(exact[*place].1), *place));
    let lucky = &order[..usize::try_from(i128::from(total) - given).expect("few")];
    (0..weights.len())
        .map(|place| i64::try_from(exact[place].0).expect("small") + i64::from(lucky.contains(&place)))
        .collect()
}

struct Reference<'a> {
    cart: &'a Cart,
    /// Thousandths of each line that no special has.
    free: Vec<i64>,
    /// What is left of each row's or pool's limit, by its key.
    left: Vec<(String, Option<i64>)>,
    savings: Vec<Vec<(u128, i64, i64)>>,
}

/// One way to take something off: of which lines how many thousandths, and how much.
type Way = Vec<(usize, u128, i64, i64)>;

impl Reference<'_> {
    fn concerns(&self, row: &Row, line: usize) -> bool {
        let line = &self.cart.lines[line];
        line.label.is_none()
            && matches!(line.source, PriceSource::Default | PriceSource::Store)
            && row.product.is_none_or(|product| product == line.product)
            && (matches!(row.deal, Deal::Unit(_)) || !line.is_weighed)
    }

    fn key(row: &Row) -> String {
        match (row.mix, row.deal) {
            (Some(mix), Deal::Group(deal)) => format!("{mix} {deal:?} {}", row.priority),
            _ => row.id.to_string(),
        }
    }

    fn most(&self, row: &Row) -> Option<i64> {
        self.left.iter().find(|(key, _)| *key == Self::key(row)).expect("each has one").1
    }

    /// What `row` gives on one line.
    fn on_line(&self, row: &Row, deal: UnitDeal, line: usize) -> Way {
        let quantity = self.most(row).map_or(self.free[line], |most| self.free[line].min(most * 1000));
        let price = self.cart.lines[line].price;
        let list = half_up(i128::from(price) * i128::from(quantity), 1000);
        let off = match deal {
            UnitDeal::Percent(bps) => half_up(i128::from(list) * i128::from(bps.0), 10_000),
            UnitDeal::Amount(amount) => half_up(i128::from(amount.0.min(price)) * i128::from(quantity), 1000),
            UnitDeal::Fixed(fixed) => (list - half_up(i128::from(fixed.0) * i128::from(quantity), 1000)).max(0),
        };
        vec![(line, row.id, quantity, off)]
    }

    /// What the rows that count together with `row` give, unit by unit.
    fn over_lines(&self, row: &Row, deal: GroupDeal) -> Way {
        let together = self.cart.specials.iter().filter(|other| Self::key(other) == Self::key(row));
        let together: Vec<&Row> = together.collect();
        let owner = |line: usize| together.iter().filter(|row| self.concerns(row, line)).map(|row| row.id).min();
        let mut units: Vec<(i64, usize)> = Vec::new();
        for line in 0..self.cart.lines.len() {
            if owner(line).is_some() {
                let count = usize::try_from(self.free[line] / 1000).expect("few");
                units.extend(std::iter::repeat_n((self.cart.lines[line].price, line), count));
            }
        }
        units.sort_by_key(|(price, line)| (Reverse(*price), *line));
        let size = match deal {
            GroupDeal::BuyGet { buy, get, .. } => buy + get,
            GroupDeal::Bundle { units, .. } => units,
        };
        let most = self.most(row).map_or(usize::MAX, |most| usize::try_from(most).expect("few"));
        let mut off = 0;
        let mut taken = 0;
        for deal_units in units.chunks_exact(usize::try_from(size).expect("small")).take(most) {
            let gives: i64 = match deal {
                GroupDeal::BuyGet { buy, off, .. } => {
                    let cheapest = &deal_units[usize::try_from(buy).expect("small")..];
                    cheapest.iter().map(|(price, _)| half_up(i128::from(*price) * i128::from(off.0), 10_000)).sum()
                }
                GroupDeal::Bundle { price, .. } => deal_units.iter().map(|(price, _)| price).sum::<i64>() - price.0,
            };
            if gives <= 0 && matches!(deal, GroupDeal::Bundle { .. }) {
                break;
            }
            off += gives;
            taken += deal_units.len();
        }
        let mut units = units[..taken].to_vec();
        units.sort_by_key(|(_, line)| *line);
        let prices: Vec<i64> = units.iter().map(|(price, _)| *price).collect();
        let mut way = Way::new();
        for ((_, line), share) in units.iter().zip(parts(off, &prices)) {
            match way.iter_mut().find(|(known, ..)| known == line) {
                Some((_, _, quantity, amount)) => {
                    *quantity += 1000;
                    *amount += share;
                }
                None => way.push((*line, owner(*line).expect("it has one"), 1000, share)),
            }
        }
        way
    }

    /// Every way that a priority has now, with the lowest id and line of each.
    fn ways(&self, priority: i32) -> Vec<(u128, usize, &Row, Way)> {
        let mut ways = Vec::new();
        for row in self.cart.specials.iter().filter(|row| row.priority == priority) {
            match row.deal {
                Deal::Unit(deal) => {
                    let lines = (0..self.cart.lines.len()).filter(|line| self.concerns(row, *line));
                    ways.extend(lines.map(|line| (row.id, line, row, self.on_line(row, deal, line))));
                }
                Deal::Group(deal) => {
                    let members = self.cart.specials.iter().filter(|other| Self::key(other) == Self::key(row));
                    let concerned =
                        members.filter(|row| (0..self.cart.lines.len()).any(|line| self.concerns(row, line)));
                    if let Some(lowest) = concerned.map(|row| row.id).min() {
                        ways.push((lowest, 0, row, self.over_lines(row, deal)));
                    }
                }
            }
        }
        ways
    }

    fn specials(mut self) -> Vec<Vec<(u128, i64, i64)>> {
        let mut priorities: Vec<i32> = self.cart.specials.iter().map(|row| row.priority).collect();
        priorities.sort_unstable();
        priorities.dedup();
        for priority in priorities.into_iter().rev() {
            loop {
                let worth = |way: &Way| way.iter().map(|(.., off)| off).sum::<i64>();
                let ways = self.ways(priority);
                let best = ways.into_iter().min_by_key(|(id, line, _, way)| (Reverse(worth(way)), *id, *line));
                let Some((_, _, row, way)) = best.filter(|(.., way)| worth(way) > 0) else { break };
                let pieces: i64 = way.iter().map(|(_, _, quantity, _)| (quantity + 999) / 1000).sum();
                let used = match row.deal {
                    Deal::Unit(_) => pieces,
                    Deal::Group(GroupDeal::BuyGet { buy, get, .. }) => pieces / (buy + get),
                    Deal::Group(GroupDeal::Bundle { units, .. }) => pieces / units,
                };
                let key = Self::key(row);
                let left = self.left.iter_mut().find(|(known, _)| *known == key).expect("each has one");
                left.1 = left.1.map(|left| left - used);
                for (line, id, quantity, off) in way {
                    self.free[line] -= quantity;
                    self.savings[line].push((id, quantity, off));
                }
            }
        }
        self.savings
    }
}

fn reckon(cart: &Cart) -> Vec<Figures> {
    let mut left: Vec<(String, Option<i64>)> = Vec::new();
    for row in &cart.specials {
        // What concerns no line of the cart does not count.
        let counts = |reference: &Reference| (0..cart.lines.len()).any(|line| reference.concerns(row, line));
        let probe = Reference { cart, free: vec![], left: vec![], savings: vec![] };
        let most = if counts(&probe) { row.most } else { None };
        let key = Reference::key(row);
        match left.iter_mut().find(|(known, _)| *known == key) {
            Some((_, left)) => *left = [*left, most].into_iter().flatten().min(),
            None => left.push((key, most)),
        }
    }
    let reference = Reference {
        cart,
        free: cart.lines.iter().map(|line| line.quantity).collect(),
        left,
        savings: vec![Vec::new(); cart.lines.len()],
    };
    let savings = reference.specials();
    let off = |discount: Discount, base: i64| match discount {
        Discount::Percent(bps) => half_up(i128::from(base) * i128::from(bps.0), 10_000),
        Discount::Amount(amount) => amount.0.min(base),
    };
    let mut figures: Vec<Figures> = Vec::new();
    let mut bases = Vec::new();
    for (line, savings) in cart.lines.iter().zip(savings) {
        let list = line.label.unwrap_or_else(|| half_up(i128::from(line.price) * i128::from(line.quantity), 1000));
        let special: i64 = savings.iter().map(|(.., off)| off).sum();
        let stacks = |id: u128| cart.specials.iter().any(|row| row.id == id && row.is_stackable);
        let takes = line.allows_discount && savings.iter().all(|(id, ..)| stacks(*id));
        let of_line = line.discount.filter(|_| takes).map_or(0, |discount| off(discount, list - special));
        bases.push(if takes { list - special - of_line } else { 0 });
        figures.push(Figures { list, special, line: of_line, savings, ..Figures::default() });
    }
    if let Some(discount) = cart.discount {
        let shares = parts(off(discount, bases.iter().sum()), &bases);
        for (line, share) in figures.iter_mut().zip(shares) {
            line.cart = share;
        }
    }
    taxed(cart, figures)
}

/// One rate, which is 22 % in one cart and 8.875 % in another.
fn taxed(cart: &Cart, mut figures: Vec<Figures>) -> Vec<Figures> {
    let rate = i128::from(cart.tax);
    let exts: Vec<i64> = figures.iter().map(|line| line.list - line.special - line.line - line.cart).collect();
    let fraction = |place: usize| {
        let ext = i128::from(exts[place]) * rate;
        if cart.lines[place].inclusive { (ext, 1_000_000 + rate) } else { (ext, 1_000_000) }
    };
    let mut taxes: Vec<i64> = (0..exts.len()).map(|place| half_up(fraction(place).0, fraction(place).1)).collect();
    if cart.invoice {
        // One denominator for both modes.
        let common = 1_000_000 * (1_000_000 + rate);
        let exact: Vec<i128> = (0..exts.len()).map(|place| fraction(place).0 * (common / fraction(place).1)).collect();
        taxes = exact.iter().map(|tax| i64::try_from(tax / common).expect("small")).collect();
        let whole = half_up(exact.iter().sum(), common);
        let mut order: Vec<usize> = (0..exts.len()).collect();
        order.sort_by_key(|place| (Reverse(exact[*place] % common), *place));
        let missing = whole - taxes.iter().sum::<i64>();
        for place in order.into_iter().take(usize::try_from(missing).expect("some are missing")) {
            taxes[place] += 1;
        }
    }
    for (place, line) in figures.iter_mut().enumerate() {
        line.net = if cart.lines[place].inclusive { exts[place] - taxes[place] } else { exts[place] };
        line.tax = if cart.exempt { 0 } else { taxes[place] };
        line.total = line.net + line.tax;
    }
    figures
}

/// The same cart by the program.
fn priced(cart: &Cart) -> Vec<Figures> {
    let rates: Arc<[TaxRate]> = Arc::new([TaxRate {
        id: ids::named("rate"),
        code: "R".into(),
        name: "R".into(),
        rate: Ppm(cart.tax),
        compound: false,
    }]);
    let specials: Vec<(Option<usize>, Arc<Special>)> = cart
        .specials
        .iter()
        .map(|row| {
            let special = Special {
                id: uuid::Uuid::from_u128(row.id),
                code: row.id.to_string(),
                name: row.id.to_string(),
                deal: row.deal,
                mix_group: row.mix.map(str::to_owned),
                max_per_sale: row.most,
                priority: row.priority,
                is_stackable: row.is_stackable,
            };
            (row.product, Arc::new(special))
        })
        .collect();
    // Lines of one product share one list, as at a till.
    let of_product = |number: usize| -> Arc<[Arc<Special>]> {
        let own = specials.iter().filter(|(product, _)| product.is_none_or(|product| product == number));
        own.map(|(_, special)| special.clone()).collect()
    };
    let lists: Vec<Arc<[Arc<Special>]>> = (0..PRODUCTS).map(of_product).collect();
    let line = |line: &Line| CartLine {
        product_id: ids::named(&line.product.to_string()),
        quantity: Qty(line.quantity),
        unit_price: Money(line.price),
        price_source: line.source,
        regular_price: Money(line.price),
        inclusive: line.inclusive,
        rates: rates.clone(),
        printed: line.label.map(Money),
        is_counted: !line.is_weighed,
        specials: lists[line.product].clone(),
        allows_discount: line.allows_discount,
        discount: line.discount,
        ..CartLine::default()
    };
    let lines: Vec<CartLine> = cart.lines.iter().map(line).collect();
    let rounding = if cart.invoice { TaxRounding::Invoice } else { TaxRounding::Line };
    let terms = CartTerms { rounding, exempt: cart.exempt, discount: cart.discount };
    let of = |line: &tillkeep_model::pricing::PricedLine| Figures {
        list: line.list.0,
        special: line.special_discount.0,
        line: line.line_discount.0,
        cart: line.cart_discount.0,
        net: line.net.0,
        tax: line.tax.0,
        total: line.total.0,
        savings: line.savings.iter().map(|s| (s.special.id.as_u128(), s.quantity.0, s.amount.0)).collect(),
    };
    price_cart(&lines, &terms).lines.iter().map(of).collect()
}

fn discounts() -> impl Strategy<Value = Option<Discount>> {
    prop::option::weighted(
        0.4,
        prop_oneof![
            (1_i32..=10_000).prop_map(|bps| Discount::Percent(Bps(bps))),
            (1_i64..3_000).prop_map(|amount| Discount::Amount(Money(amount))),
        ],
    )
}

/// Prices as shops have them, often the same one.
fn prices() -> impl Strategy<Value = i64> {
    prop_oneof![Just(399), Just(1399), Just(1999), Just(100), 0_i64..5_000]
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let source = prop_oneof![
        6 => Just(PriceSource::Default),
        2 => Just(PriceSource::Store),
        1 => Just(PriceSource::Override),
        1 => Just(PriceSource::Open),
    ];
    let flags = (prop::bool::weighted(0.2), any::<bool>(), prop::bool::weighted(0.8));
    let line = (0_usize..4, 1_i64..9, 1_i64..4_000, prices(), source, prop::option::weighted(0.1, 1_i64..3_000));
    let line = (line, flags, discounts());
    prop::collection::vec(line, 1..8).prop_map(|lines| {
        let mut cart = Vec::new();
        for ((product, pieces, grams, price, source, label), (is_weighed, inclusive, allows), discount) in lines {
            let of_shelf: PriceSource = source;
            let label: Option<i64> = label;
            cart.push(Line {
                product,
                quantity: if is_weighed { grams } else { pieces * 1000 },
                price,
                source: if label.is_some() { PriceSource::Label } else { of_shelf },
                label,
                is_weighed,
                inclusive,
                allows_discount: allows,
                discount,
            });
        }
        cart
    })
}

fn deals() -> impl Strategy<Value = Deal> {
    let unit = prop_oneof![
        (1_i32..=10_000).prop_map(|bps| UnitDeal::Percent(Bps(bps))),
        (1_i64..1_500).prop_map(|amount| UnitDeal::Amount(Money(amount))),
        (0_i64..2_000).prop_map(|price| UnitDeal::Fixed(Money(price))),
    ];
    let off = prop_oneof![Just(10_000), Just(5_000), 1_i32..=10_000];
    let group = prop_oneof![
        (1_i64..4, 1_i64..3, off).prop_map(|(buy, get, off)| GroupDeal::BuyGet { buy, get, off: Bps(off) }),
        (2_i64..5, 1_i64..4_000).prop_map(|(units, price)| GroupDeal::Bundle { units, price: Money(price) }),
    ];
    prop_oneof![unit.prop_map(Deal::Unit), group.prop_map(Deal::Group)]
}

fn specials() -> impl Strategy<Value = Vec<Row>> {
    let row = (prop::option::weighted(0.8, 0_usize..4), deals(), prop::option::weighted(0.2, 1_i64..4), 0_i32..3);
    let group = (row, any::<bool>(), prop::option::weighted(0.3, (1_usize..3, prop::sample::select(&["A", "B"][..]))));
    prop::collection::vec(group, 0..6).prop_map(|groups| {
        let mut rows = Vec::new();
        for ((product, deal, most, priority), is_stackable, mix) in groups {
            let (further, mix) = mix.map_or((0, None), |(further, name)| (further, Some(name)));
            for step in 0..=further {
                let product = product.map(|product| (product + step) % 4);
                // Ids that stand in another order than the rows.
                let id = (u128::try_from(rows.len()).expect("few") * 7 + 3) % 31 + 1;
                rows.push(Row { id, product, deal, mix, most, priority, is_stackable });
            }
        }
        rows
    })
}

fn carts() -> impl Strategy<Value = Cart> {
    let terms =
        (discounts(), prop::sample::select(&[220_000, 88_750, 0][..]), any::<bool>(), prop::bool::weighted(0.1));
    (lines(), specials(), terms).prop_map(|(lines, specials, (discount, tax, invoice, exempt))| Cart {
        lines,
        specials,
        discount,
        tax,
        invoice,
        exempt,
    })
}

#[test]
fn ten_thousand_carts_cost_what_a_second_reckoning_makes_of_them() {
    let mut runner = TestRunner::new(Config { cases: 10_000, failure_persistence: None, ..Config::default() });
    let compared = runner.run(&carts(), |cart| {
        prop_assert_eq!(priced(&cart), reckon(&cart));
        Ok(())
    });
    compared.unwrap_or_else(|failure| panic!("{failure}"));
}
