//! What holds for every cart, whatever is in it.

use std::sync::Arc;

use proptest::prelude::*;
use tillkeep_model::pricing::{
    CartLine, CartTerms, PricedCart, PricedLine, TaxAmount, TaxRate, TaxRounding, TaxTotal, price_cart,
};
use tillkeep_model::{Money, Ppm, Qty, ids, rdiv};

fn rate(code: &str, ppm: i32, compound: bool) -> TaxRate {
    TaxRate { id: ids::named(code), code: code.into(), name: code.into(), rate: Ppm(ppm), compound }
}

fn terms(rounding: TaxRounding, exempt: bool) -> CartTerms {
    CartTerms { rounding, exempt, discount: None }
}

fn line(price: i64, milli: i64, inclusive: bool, rates: &[TaxRate]) -> CartLine {
    CartLine {
        product_id: ids::named("product"),
        quantity: Qty(milli),
        unit_price: Money(price),
        regular_price: Money(price),
        inclusive,
        rates: rates.into(),
        ..CartLine::default()
    }
}

#[test]
fn prices_with_and_without_tax_meet_in_one_cart() {
    let rates = [rate("VAT", 200_000, false)];
    let cart = price_cart(
        &[line(1200, 1000, true, &rates), line(1000, 1000, false, &rates)],
        &terms(TaxRounding::Line, false),
    );
    assert_eq!((cart.list, cart.net, cart.tax, cart.total), (Money(2200), Money(2000), Money(400), Money(2400)));
    assert_eq!(cart.tax_lines, [TaxTotal { rate: rates[0].clone(), base: Money(2000), tax: Money(400) }]);
}

#[test]
fn the_cost_of_a_line_is_that_of_its_quantity_and_an_unknown_cost_is_none() {
    let mut lines = [line(599, 1237, false, &[]), line(100, 2000, false, &[])];
    lines[0].unit_cost = Some(Money(333));
    let cart = price_cart(&lines, &terms(TaxRounding::Line, false));
    assert_eq!(cart.lines.iter().map(|line| line.cost.0).collect::<Vec<_>>(), [412, 0]);
    assert_eq!(cart.cost, Money(412));
}

#[test]
fn an_empty_cart_costs_nothing() {
    let cart = price_cart(&[], &terms(TaxRounding::Invoice, false));
    assert_eq!((cart.total, cart.lines.len(), cart.tax_lines.len()), (Money::ZERO, 0, 0));
}

#[test]
fn an_exempt_customer_pays_the_same_net_whatever_the_rounding() {
    let rates = [rate("VAT", 200_000, false)];
    let lines = [line(801, 1000, true, &rates), line(801, 1000, true, &rates)];
    let cart = price_cart(&lines, &terms(TaxRounding::Invoice, true));
    assert_eq!((cart.net, cart.tax, cart.total), (Money(1335), Money::ZERO, Money(1335)));
    assert_eq!(cart.tax_lines, [TaxTotal { rate: rates[0].clone(), base: Money(1335), tax: Money::ZERO }]);
}

/// Groups as a chain may set them up: at most five rates, at most two of them compound, never the first.
fn groups() -> impl Strategy<Value = Vec<Arc<[TaxRate]>>> {
    let group = prop::collection::vec((0_i32..=1_000_000, any::<bool>()), 0..=5).prop_map(|rates| {
        let mut compound_left = 2;
        let group: Vec<TaxRate> = rates
            .into_iter()
            .enumerate()
            .map(|(place, (ppm, compound))| {
                let compound = compound && place > 0 && compound_left > 0;
                compound_left -= i32::from(compound);
                rate(&format!("R{place}"), ppm, compound)
            })
            .collect();
        group.into()
    });
    prop::collection::vec(group, 1..4)
}

fn carts() -> impl Strategy<Value = Vec<CartLine>> {
    let line_of =
        (0_i64..10_000_000, -1_000_000_i64..1_000_000, any::<bool>(), 0_usize..4, prop::option::of(0_i64..9999));
    (groups(), prop::collection::vec(line_of, 0..12)).prop_map(|(groups, lines)| {
        let to_line = |(price, milli, inclusive, group, cost): (i64, i64, bool, usize, Option<i64>)| CartLine {
            unit_cost: cost.map(Money),
            ..line(price, milli, inclusive, &groups[group % groups.len()])
        };
        lines.into_iter().map(to_line).collect()
    })
}

fn roundings() -> impl Strategy<Value = TaxRounding> {
    prop::sample::select(&[TaxRounding::Line, TaxRounding::Invoice][..])
}

fn negated(mut cart: PricedCart) -> PricedCart {
    let negate_tax = |tax: &mut TaxAmount| (tax.base, tax.tax) = (-tax.base, -tax.tax);
    for line in &mut cart.lines {
        for amount in [&mut line.list, &mut line.ext, &mut line.net, &mut line.tax, &mut line.total, &mut line.cost] {
            *amount = -*amount;
        }
        line.taxes.iter_mut().for_each(negate_tax);
    }
    for amount in [&mut cart.list, &mut cart.net, &mut cart.tax, &mut cart.total, &mut cart.cost] {
        *amount = -*amount;
    }
    for total in &mut cart.tax_lines {
        (total.base, total.tax) = (-total.base, -total.tax);
    }
    cart
}

proptest! {
    #[test]
    fn a_refund_is_the_mirror_image_of_its_sale(cart in carts(), rounding in roundings(), exempt in any::<bool>()) {
        let mirrored: Vec<CartLine> =
            cart.iter().map(|line| CartLine { quantity: -line.quantity, ..line.clone() }).collect();
        prop_assert_eq!(price_cart(&mirrored, &terms(rounding, exempt)), negated(price_cart(&cart, &terms(rounding, exempt))));
    }

    #[test]
    fn a_cart_adds_up(cart in carts(), rounding in roundings(), exempt in any::<bool>()) {
        let priced = price_cart(&cart, &terms(rounding, exempt));
        for (line, priced) in cart.iter().zip(&priced.lines) {
            prop_assert_eq!(priced.net + priced.tax, priced.total);
            prop_assert_eq!(priced.taxes.iter().map(|tax| tax.tax).sum::<Money>(), priced.tax);
            prop_assert_eq!(priced.taxes.len(), line.rates.len());
            prop_assert_eq!(if line.inclusive && !exempt { priced.total } else { priced.list }, priced.ext);
            if !line.inclusive {
                prop_assert_eq!(priced.net, priced.ext);
            }
            if exempt {
                prop_assert_eq!(priced.tax, Money::ZERO);
            }
        }
        let sum = |amount: fn(&PricedLine) -> Money| priced.lines.iter().map(amount).sum::<Money>();
        prop_assert_eq!(sum(|line| line.net), priced.net);
        prop_assert_eq!(sum(|line| line.tax), priced.tax);
        prop_assert_eq!(sum(|line| line.total), priced.total);
        prop_assert_eq!(priced.tax_lines.iter().map(|total| total.tax).sum::<Money>(), priced.tax);
    }

    #[test]
    fn invoice_rounding_rounds_the_sum_and_moves_no_line_by_a_unit(
        prices in prop::collection::vec(-100_000_i64..100_000, 1..30),
        ppm in 0_i32..=1_000_000,
        inclusive in any::<bool>(),
    ) {
        let rates = [rate("R", ppm, false)];
        let lines: Vec<CartLine> = prices.iter().map(|price| line(*price, 1000, inclusive, &rates)).collect();
        let priced = price_cart(&lines, &terms(TaxRounding::Invoice, false));
        let ppm = i128::from(ppm);
        let den = if inclusive { 1_000_000 + ppm } else { 1_000_000 };
        let exact: i128 = prices.iter().map(|price| i128::from(*price) * ppm).sum();
        prop_assert_eq!(i128::from(priced.tax.0), rdiv(exact, den));
        for (price, line) in prices.iter().zip(&priced.lines) {
            prop_assert!((i128::from(line.tax.0) * den - i128::from(*price) * ppm).abs() < den);
        }
    }

    #[test]
    fn a_compound_group_is_as_exact_as_its_product(
        ext in -1_000_000_000_i64..1_000_000_000, r in prop::array::uniform3(0_i32..=1_000_000),
    ) {
        let rates = [rate("A", r[0], false), rate("B", r[1], true), rate("C", r[2], true)];
        let [a, b, c] = r.map(i128::from);
        let m = 1_000_000_i128;
        let wide = i128::from(ext);
        let numerators = [a * m * m, (m + a) * b * m, (m + a) * (m + b) * c];
        let taxes = |inclusive| {
            let priced = price_cart(&[line(ext, 1000, inclusive, &rates)], &terms(TaxRounding::Line, false));
            priced.lines[0].taxes.iter().map(|tax| i128::from(tax.tax.0)).collect::<Vec<_>>()
        };
        prop_assert_eq!(taxes(false), numerators.map(|num| rdiv(wide * num, m * m * m)).to_vec());
        let whole = (m + a) * (m + b) * (m + c);
        prop_assert_eq!(taxes(true), numerators.map(|num| rdiv(wide * num, whole)).to_vec());
    }

    #[test]
    fn no_cart_panics(
        lines in prop::collection::vec(
            (any::<i64>(), any::<i64>(), any::<bool>(), prop::collection::vec((any::<i32>(), any::<bool>()), 0..40)),
            0..6,
        ),
        rounding in roundings(), exempt in any::<bool>(),
    ) {
        let lines: Vec<CartLine> = lines
            .into_iter()
            .map(|(price, milli, inclusive, rates)| {
                let rates: Vec<TaxRate> = rates
                    .into_iter()
                    .zip((0..7).cycle())
                    .map(|((ppm, compound), code)| rate(&format!("R{code}"), ppm, compound))
                    .collect();
                CartLine { unit_cost: Some(Money(price)), ..line(price, milli, inclusive, &rates) }
            })
            .collect();
        prop_assert_eq!(price_cart(&lines, &terms(rounding, exempt)).lines.len(), lines.len());
    }
}
