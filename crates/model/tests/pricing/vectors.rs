//! The worked examples of the calculation rules, number by number.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use tillkeep_model::pricing::{
    CartLine, CartTerms, CashRounding, Deal, Discount, GroupDeal, PricedCart, PricedLine, RoundingMode, Special,
    StoreLimits, StoredLine, TaxRate, TaxRounding, UnitDeal, choose_price, price_cart, share,
};
use tillkeep_model::{Bps, Money, Ppm, Qty, ids};

#[derive(Deserialize)]
struct Vector {
    id: String,
    title: String,
    expected: Value,
    #[serde(default)]
    carts: Vec<Cart>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Cart {
    tax_rounding: String,
    #[serde(rename = "cartDiscount")]
    discount: Option<(String, i64)>,
    tax_exempt: bool,
    lines: Vec<Line>,
    result: Expected,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Line {
    price: i64,
    quantity_milli: i64,
    inclusive: bool,
    rates: Vec<Rate>,
    special_discount: i64,
    #[serde(rename = "lineDiscount")]
    discount: Option<(String, i64)>,
    #[serde(rename = "cartDiscountable")]
    allows_discount: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rate {
    code: String,
    #[serde(rename = "ratePpm")]
    ppm: i32,
    compound: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    totals: Figures,
    lines: Vec<ExpectedLine>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Figures {
    list: i64,
    special: i64,
    line_disc: i64,
    cart_disc: i64,
    ext: i64,
    tax: i64,
    net: i64,
    total: i64,
}

#[derive(Debug, PartialEq, Deserialize)]
struct ExpectedLine {
    #[serde(flatten)]
    figures: Figures,
    taxes: BTreeMap<String, i64>,
}

/// `["pct", 400]` or `["amt", 1000]`.
fn discount(entered: Option<&(String, i64)>) -> Option<Discount> {
    let (kind, value) = entered?;
    Some(match kind.as_str() {
        "pct" => Discount::Percent(Bps(i32::try_from(*value).expect("basis points"))),
        "amt" => Discount::Amount(Money(*value)),
        other => panic!("no discount is called {other}"),
    })
}

impl Cart {
    fn price(&self) -> PricedCart {
        let lines: Vec<CartLine> = self.lines.iter().map(Line::to_cart_line).collect();
        let rounding = TaxRounding::parse(&self.tax_rounding).expect("tax rounding");
        let terms = CartTerms { rounding, exempt: self.tax_exempt, discount: discount(self.discount.as_ref()) };
        price_cart(&lines, &terms)
    }
}

impl Line {
    fn to_cart_line(&self) -> CartLine {
        let rates: Arc<[TaxRate]> = self.rates.iter().map(Rate::to_tax_rate).collect();
        assert_eq!(self.special_discount, 0, "specials are not given as amounts");
        CartLine {
            quantity: Qty(self.quantity_milli),
            inclusive: self.inclusive,
            rates,
            allows_discount: self.allows_discount,
            discount: discount(self.discount.as_ref()),
            ..priced_at(self.price)
        }
    }
}

/// One piece at this price.
fn priced_at(price: i64) -> CartLine {
    CartLine {
        product_id: ids::named("product"),
        quantity: Qty::ONE,
        unit_price: Money(price),
        regular_price: Money(price),
        is_counted: true,
        ..CartLine::default()
    }
}

impl Rate {
    fn to_tax_rate(&self) -> TaxRate {
        TaxRate {
            id: ids::named(&self.code),
            code: self.code.clone(),
            name: self.code.clone(),
            rate: Ppm(self.ppm),
            compound: self.compound,
        }
    }
}

fn line_figures(line: &PricedLine) -> ExpectedLine {
    let figures = Figures {
        list: line.list.0,
        special: line.special_discount.0,
        line_disc: line.line_discount.0,
        cart_disc: line.cart_discount.0,
        ext: line.ext.0,
        tax: line.tax.0,
        net: line.net.0,
        total: line.total.0,
    };
    ExpectedLine { figures, taxes: line.taxes.iter().map(|tax| (tax.rate.code.clone(), tax.tax.0)).collect() }
}

fn cart_figures(cart: &PricedCart) -> Figures {
    Figures {
        list: cart.list.0,
        special: cart.special_discount.0,
        line_disc: cart.line_discount.0,
        cart_disc: cart.cart_discount.0,
        ext: cart.lines.iter().map(|line| line.ext.0).sum(),
        tax: cart.tax.0,
        net: cart.net.0,
        total: cart.total.0,
    }
}

fn vectors() -> Vec<Vector> {
    serde_json::from_str(include_str!("../data/vectors.json")).expect("vectors")
}

fn expected(id: &str) -> Value {
    vectors().into_iter().find(|vector| vector.id == id).expect(id).expected
}

#[test]
fn every_cart_costs_what_its_vector_says() {
    let mut ran = BTreeSet::new();
    for vector in vectors() {
        for (number, cart) in vector.carts.iter().enumerate() {
            let name = format!("{} ({}), cart {number}", vector.id, vector.title);
            let priced = cart.price();
            let lines: Vec<ExpectedLine> = priced.lines.iter().map(line_figures).collect();
            assert_eq!(lines, cart.result.lines, "{name}");
            assert_eq!(cart_figures(&priced), cart.result.totals, "{name}");

            let mut taxes = BTreeMap::<String, i64>::new();
            for (code, tax) in cart.result.lines.iter().flat_map(|line| &line.taxes) {
                *taxes.entry(code.clone()).or_default() += tax;
            }
            let tax_lines: BTreeMap<String, i64> =
                priced.tax_lines.iter().map(|total| (total.rate.code.clone(), total.tax.0)).collect();
            assert_eq!(tax_lines, taxes, "{name}");
            ran.insert(vector.id.clone());
        }
    }
    let carts = "T01 T02 T03 T04 T05 T06 T08 T09 T10 T11 T12 T15 Q01 Q02 D01 D03";
    for id in carts.split(' ') {
        assert!(ran.contains(id), "{id} has no cart: put it back into tests/data/vectors.json");
    }
}

#[test]
fn the_price_of_a_store_counts_when_it_is_its_own() {
    for (id, default, store) in [("P01", 1000, (1100, true)), ("P02", 1050, (1000, false))] {
        let (price, source) = choose_price(Money(default), Some((Money(store.0), store.1)), None, None);
        assert_eq!(serde_json::json!([price.0, source.as_str()]), expected(id), "{id}");
    }
}

/// One line with what its specials take off it, and what they are called.
fn saved(price: i64, pieces: i64, specials: &[(&str, i32, Deal)]) -> (i64, Vec<String>) {
    let special = |(code, priority, deal): &(&str, i32, Deal)| {
        Arc::new(Special {
            id: ids::named(code),
            code: (*code).to_owned(),
            name: (*code).to_owned(),
            deal: *deal,
            mix_group: None,
            max_per_sale: None,
            priority: *priority,
            is_stackable: false,
        })
    };
    let line = CartLine {
        quantity: Qty::pieces(pieces),
        specials: specials.iter().map(special).collect(),
        ..priced_at(price)
    };
    let priced = price_cart(&[line], &CartTerms::default());
    let codes = priced.lines[0].savings.iter().map(|saving| saving.special.code.clone()).collect();
    (priced.special_discount.0, codes)
}

const fn percent(bps: i32) -> Deal {
    Deal::Unit(UnitDeal::Percent(Bps(bps)))
}

const fn fixed(price: i64) -> Deal {
    Deal::Unit(UnitDeal::Fixed(Money(price)))
}

#[test]
fn specials_take_off_what_their_vectors_say() {
    let two_and_one = Deal::Group(GroupDeal::BuyGet { buy: 2, get: 1, off: Bps(10_000) });
    let three_for_ten = Deal::Group(GroupDeal::Bundle { units: 3, price: Money(1000) });
    let off = |price, pieces, deal| saved(price, pieces, &[("S", 0, deal)]).0;
    assert_eq!(serde_json::json!(off(1299, 2, percent(1500))), expected("S01"));
    assert_eq!(serde_json::json!(off(1199, 3, fixed(999))), expected("S02"));
    assert_eq!(serde_json::json!(off(899, 1, fixed(999))), expected("S03"));
    assert_eq!(serde_json::json!({"0": off(1399, 3, two_and_one)}), expected("S05"));
    assert_eq!(serde_json::json!({"0": off(399, 7, three_for_ten)}), expected("S08")[0]);

    let (_, winner) = saved(1000, 1, &[("P20", 0, percent(2000)), ("F850", 0, fixed(850))]);
    assert_eq!(serde_json::json!(winner[0]), expected("S04"));
    let (store, _) = saved(1100, 1, &[("P20", 0, percent(2000))]);
    assert_eq!(serde_json::json!(1100 - store), expected("P03"));
    let (higher, _) = saved(1000, 1, &[("F900", 10, fixed(900)), ("P25", 0, percent(2500))]);
    assert_eq!(serde_json::json!(1000 - higher), expected("P04"));
}

#[test]
fn a_discount_is_held_against_the_limit_as_its_vector_says() {
    let limits = StoreLimits { line: Bps(1000), cart: Bps(1000) };
    let needs_more = |bps| {
        let line = CartLine {
            allows_discount: true,
            discount: Some(Discount::Percent(Bps(bps))),
            limit: Some(Bps(500)),
            ..priced_at(2000)
        };
        let priced = price_cart(std::slice::from_ref(&line), &CartTerms::default());
        !limits.of(&line, &priced.lines[0]).is_within
    };
    assert_eq!(serde_json::json!([needs_more(500), needs_more(700)]), expected("D04"));
}

#[test]
fn one_of_two_discounted_units_comes_back_as_its_vector_says() {
    let vector = vectors().into_iter().find(|vector| vector.id == "R02").expect("R02");
    let sold = vector.carts[0].price();
    let line = &sold.lines[0];
    let stored = StoredLine {
        quantity: Qty(vector.carts[0].lines[0].quantity_milli),
        list: line.list,
        special: line.special_discount,
        line: line.line_discount,
        cart: line.cart_discount,
        taxes: line.taxes.iter().map(|tax| tax.tax).collect(),
        total: line.total,
        cost: Money::ZERO,
    };
    let refund = |done| {
        let part = share(&stored, Qty::pieces(done), Qty::ONE);
        serde_json::json!({
            "list": part.list, "line_disc": part.line, "tax": part.tax, "total": part.total, "net": part.net,
        })
    };
    let sale = serde_json::json!([sold.line_discount, sold.net, sold.tax, sold.total]);
    assert_eq!(serde_json::json!([sale, refund(0), refund(1)]), expected("R02"));
}

/// What is left, increment, mode.
type Case = (i64, i64, RoundingMode);

#[test]
fn cash_is_rounded_as_its_vectors_say() {
    let nearest = RoundingMode::Nearest;
    let cases: [(&str, &[Case]); 4] = [
        ("C01", &[(2176, 5, nearest), (2177, 5, nearest), (2178, 5, nearest), (2182, 5, nearest)]),
        ("C02", &[(-2176, 5, nearest), (-2178, 5, nearest)]),
        ("C04", &[(2175, 10, nearest), (2165, 10, nearest)]),
        ("C05", &[(2179, 5, RoundingMode::Down), (2179, 5, RoundingMode::Up)]),
    ];
    for (id, cases) in cases {
        let due =
            |(rest, increment, mode): &Case| CashRounding { increment: *increment, mode: *mode }.due(Money(*rest)).0;
        assert_eq!(serde_json::json!(cases.iter().map(due).collect::<Vec<_>>()), expected(id), "{id}");
    }
}
