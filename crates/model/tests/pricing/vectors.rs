//! The worked examples of the calculation rules, number by number.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use tillkeep_model::pricing::{
    CartLine, CashRounding, PriceSource, PricedCart, PricedLine, RoundingMode, TaxRate, TaxRounding, choose_price,
    price_cart,
};
use tillkeep_model::{Money, Ppm, Qty, ids};

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
    discount: Value,
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
    discount: Value,
    #[serde(rename = "cartDiscountable")]
    _cart_discountable: bool,
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

impl Cart {
    fn is_discounted(&self) -> bool {
        let line_is = |line: &Line| line.special_discount != 0 || !line.discount.is_null();
        !self.discount.is_null() || self.lines.iter().any(line_is)
    }

    fn price(&self) -> PricedCart {
        let lines: Vec<CartLine> = self.lines.iter().map(Line::to_cart_line).collect();
        let rounding = TaxRounding::parse(&self.tax_rounding).expect("tax rounding");
        price_cart(&lines, rounding, self.tax_exempt)
    }
}

impl Line {
    fn to_cart_line(&self) -> CartLine {
        let rates: Arc<[TaxRate]> = self.rates.iter().map(Rate::to_tax_rate).collect();
        CartLine {
            product_id: ids::named("product"),
            quantity: Qty(self.quantity_milli),
            unit_price: Money(self.price),
            price_source: PriceSource::Default,
            regular_price: Money(self.price),
            inclusive: self.inclusive,
            rates,
            unit_cost: None,
        }
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
fn every_cart_without_discounts_costs_what_its_vector_says() {
    let mut ran = BTreeSet::new();
    for vector in vectors() {
        for (number, cart) in vector.carts.iter().enumerate().filter(|(_, cart)| !cart.is_discounted()) {
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
    for id in ["T01", "T02", "T03", "T04", "T05", "T06", "T08", "T10", "T11", "T12", "T15", "Q01", "Q02"] {
        assert!(ran.contains(id), "{id} has no cart without discounts: put it back into tests/data/vectors.json");
    }
}

#[test]
fn the_price_of_a_store_counts_when_it_is_its_own() {
    for (id, default, store) in [("P01", 1000, (1100, true)), ("P02", 1050, (1000, false))] {
        let (price, source) = choose_price(Money(default), Some((Money(store.0), store.1)), None, None);
        assert_eq!(serde_json::json!([price.0, source.as_str()]), expected(id), "{id}");
    }
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
