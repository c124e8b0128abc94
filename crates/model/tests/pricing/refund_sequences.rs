//! Sales that come back in parts, whatever parts: they add up to what was sold, per line, tax rate, cost and tender. What each part
//! must be is reckoned a second time from `docs/domain.md` alone, in exact fractions that share no code with the first.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};
use tillkeep_model::pricing::{
    CartLine, CartTerms, CashRounding, Deal, Discount, LineShare, Paid, PaidSale, PaymentRow, PaymentTerms, PricedLine,
    RoundingMode, Settlement, Special, StoredLine, TaxRate, TaxRounding, TenderKind, UnitDeal, price_cart,
    refund_rounding, settle, share, to_original_tenders,
};
use tillkeep_model::{Bps, Money, Ppm, Qty, ids};

use super::payment::{pays, roundings, terms};
use TenderKind::{Card, Cash, Check, OnAccount, Voucher};

/// A sale as a test makes it up, and how it comes back.
#[derive(Clone, Debug)]
struct Case {
    lines: Vec<CartLine>,
    terms: CartTerms,
    /// What each tender but the last pays, in thousandths of the total.
    split: Vec<(TenderKind, i64)>,
    last: TenderKind,
    /// How cash is rounded when it is sold, and when it comes back.
    rounding: (CashRounding, CashRounding),
    /// The refunds: lines, and a number that says how much of what is left of them.
    refunds: Vec<Vec<(usize, i64)>>,
}

fn rates() -> impl Strategy<Value = Arc<[TaxRate]>> {
    let rate = (0_i32..300_000, any::<bool>());
    prop::collection::vec(rate, 0..4).prop_map(|rates| {
        let rate = |(place, (ppm, compound)): (usize, (i32, bool))| {
            let code = format!("R{place}");
            TaxRate { id: ids::named(&code), name: code.clone(), code, rate: Ppm(ppm), compound: compound && place > 0 }
        };
        rates.into_iter().enumerate().map(rate).collect()
    })
}

fn discounts() -> impl Strategy<Value = Option<Discount>> {
    let percent = (0_i32..=10_000).prop_map(|bps| Discount::Percent(Bps(bps)));
    prop::option::of(prop_oneof![percent, (0_i64..500).prop_map(|amount| Discount::Amount(Money(amount)))])
}

fn specials() -> impl Strategy<Value = Arc<[Arc<Special>]>> {
    let special = |bps| {
        Arc::new(Special {
            id: ids::named("special"),
            code: "S".to_owned(),
            name: "S".to_owned(),
            deal: Deal::Unit(UnitDeal::Percent(Bps(bps))),
            mix_group: None,
            max_per_sale: None,
            priority: 0,
            is_stackable: true,
        })
    };
    prop::option::of(0_i32..=5000).prop_map(move |bps| bps.map(special).into_iter().collect())
}

/// `scale` is what a price of one is in minor units: 1 where a currency has no decimals, 1000 where it has three.
fn lines(scale: i64) -> impl Strategy<Value = CartLine> {
    let quantity =
        prop_oneof![(1_i64..8).prop_map(|pieces| (pieces * 1000, true)), (1_i64..4000).prop_map(|g| (g, false))];
    let (price, cost) = (1..=60 * scale, prop::option::of(0..=40 * scale));
    (quantity, price, cost, any::<bool>(), rates(), (specials(), discounts())).prop_map(
        |((quantity, is_counted), price, cost, inclusive, rates, (specials, discount))| CartLine {
            quantity: Qty(quantity),
            is_counted,
            unit_price: Money(price),
            regular_price: Money(price),
            unit_cost: cost.map(Money),
            inclusive,
            rates,
            specials,
            allows_discount: true,
            discount,
            ..CartLine::default()
        },
    )
}

fn cases() -> impl Strategy<Value = Case> {
    let lines =
        prop::sample::select(&[1_i64, 100, 1000][..]).prop_flat_map(|scale| prop::collection::vec(lines(scale), 1..5));
    let rounding = prop::sample::select(&[TaxRounding::Line, TaxRounding::Invoice][..]);
    let terms = (rounding, prop::bool::weighted(0.1), discounts());
    let split = prop::sample::subsequence(vec![Card, Check, OnAccount, Voucher], 0..3)
        .prop_flat_map(|kinds| (Just(kinds), prop::collection::vec(0_i64..400, 2)))
        .prop_map(|(kinds, shares)| kinds.into_iter().zip(shares).collect());
    let refunds = prop::collection::vec(prop::collection::vec((0_usize..4, 0_i64..10_000), 1..4), 0..8);
    let cash = prop::bool::weighted(0.7);
    (lines, terms, split, cash, (roundings(), roundings()), refunds).prop_map(
        |(lines, (rounding, exempt, discount), split, cash, coins, refunds): (_, _, Vec<_>, _, _, _)| {
            let is_free = |kind: TenderKind| split.iter().all(|(one, _)| *one != kind);
            let other = [Card, Check].into_iter().find(|kind| is_free(*kind)).unwrap_or(TenderKind::Other);
            Case {
                lines,
                terms: CartTerms { rounding, exempt, discount },
                last: if cash { Cash } else { other },
                split,
                rounding: coins,
                refunds,
            }
        },
    )
}

/// The whole number nearest to `value * up_to / quantity`, of two the larger: nothing here is below zero.
fn due(value: i64, up_to: i64, quantity: i64) -> i64 {
    let exact = i128::from(value) * i128::from(up_to);
    let (whole, rest) = (exact / i128::from(quantity), exact % i128::from(quantity));
    i64::try_from(if rest * 2 < i128::from(quantity) { whole } else { whole + 1 }).expect("an amount")
}

/// The multiple of the smallest coin that is paid for `amount`, counted out coin by coin.
fn in_coins(amount: i64, rounding: CashRounding) -> i64 {
    let below = (0..=amount).rev().find(|coins| coins % rounding.increment == 0).expect("nought is one");
    let (rest, above) = (amount - below, below + rounding.increment);
    let is_up = match rounding.mode {
        RoundingMode::Nearest => rest >= above - amount,
        RoundingMode::Up => true,
        RoundingMode::Down => false,
    };
    if rest > 0 && is_up { above } else { below }
}

/// Every amount of a line or of a part of it: list, special, line and cart discount, total, cost, then the taxes.
type Amounts = Vec<i64>;

fn amounts_of_line(line: &StoredLine) -> Amounts {
    let fixed = [line.list, line.special, line.line, line.cart, line.total, line.cost];
    fixed.into_iter().chain(line.taxes.iter().copied()).map(|amount| amount.0).collect()
}

fn amounts_of_part(part: &LineShare) -> Amounts {
    let fixed = [part.list, part.special, part.line, part.cart, part.total, part.cost];
    fixed.into_iter().chain(part.taxes.iter().copied()).map(|amount| amount.0).collect()
}

fn stored(line: &PricedLine, quantity: Qty) -> StoredLine {
    StoredLine {
        quantity,
        list: line.list,
        special: line.special_discount,
        line: line.line_discount,
        cart: line.cart_discount,
        taxes: line.taxes.iter().map(|tax| tax.tax).collect(),
        total: line.total,
        cost: line.cost,
    }
}

/// What came in and went out by one tender, cash without its rounding.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    paid: i64,
    back: i64,
}

/// A sale of which parts are coming back.
struct Sold {
    case: Case,
    lines: Vec<StoredLine>,
    nets: Vec<i64>,
    total: i64,
    paid: Settlement,
    done: Vec<i64>,
    given: Vec<(Amounts, i64)>,
    /// In the order in which they paid.
    flows: Vec<(TenderKind, Flow)>,
    refunds: usize,
}

impl Sold {
    fn new(case: Case) -> Self {
        let priced = price_cart(&case.lines, &case.terms);
        let lines: Vec<StoredLine> =
            priced.lines.iter().zip(&case.lines).map(|(line, entered)| stored(line, entered.quantity)).collect();
        let total = priced.total.0;
        let mut payments: Vec<_> = case
            .split
            .iter()
            .map(|(kind, share)| (*kind, total * share / 1000))
            .filter(|(_, amount)| *amount > 0)
            .map(|(kind, amount)| pays(kind, amount))
            .collect();
        if total > 0 {
            payments.push(pays(case.last, None));
        }
        let store = terms(Cash);
        let by = PaymentTerms { rounding: case.rounding.0, mirrored: None, has_customer: true, cash: Some(&store) };
        let paid = settle(priced.total, &payments, &by).expect("a paid sale");
        let flow = |row: &PaymentRow| {
            let rounding = if row.kind == Cash { paid.cash_rounding.0 } else { 0 };
            (row.kind, Flow { paid: row.amount.0 - rounding, back: 0 })
        };
        let flows = paid.payments.iter().map(flow).collect();
        Self {
            nets: priced.lines.iter().map(|line| line.net.0).collect(),
            done: vec![0; lines.len()],
            given: lines.iter().map(|line| (vec![0; amounts_of_line(line).len()], 0)).collect(),
            case,
            lines,
            total,
            paid,
            flows,
            refunds: 0,
        }
    }

    /// How much of a line a number asks for: some of what is left, whole pieces of what is sold by the piece.
    fn some_of(&self, line: usize, number: i64) -> i64 {
        let unit = if self.case.lines[line].is_counted { 1000 } else { 1 };
        let left = (self.lines[line].quantity.0 - self.done[line]) / unit;
        if left == 0 { 0 } else { (1 + number % left) * unit }
    }

    /// One refund of these parts.
    fn give_back(&mut self, parts: &[(usize, i64)]) -> TestCaseResult {
        let mut refund = 0;
        for (place, take) in parts {
            let (line, done) = (&self.lines[*place], self.done[*place]);
            let part = share(line, Qty(done), Qty(*take));
            let quantity = line.quantity.0;
            let expected: Amounts = amounts_of_line(line)
                .into_iter()
                .map(|amount| due(amount, done + take, quantity) - due(amount, done, quantity))
                .collect();
            let amounts = amounts_of_part(&part);
            prop_assert_eq!(&amounts, &expected);
            prop_assert!(amounts.iter().all(|amount| *amount >= 0));
            prop_assert_eq!(part.tax, part.taxes.iter().copied().sum::<Money>());
            prop_assert_eq!(part.net, part.total - part.tax);
            // Each tax is rounded by itself, and takes no more than one unit too many from the net.
            prop_assert!(part.net.0 >= -i64::try_from(part.taxes.len()).expect("few"));
            let (given, net) = &mut self.given[*place];
            for (sum, amount) in given.iter_mut().zip(&amounts) {
                *sum += amount;
            }
            *net += part.net.0;
            prop_assert!(given.iter().zip(amounts_of_line(line)).all(|(given, whole)| *given <= whole));
            self.done[*place] += take;
            refund += part.total.0;
        }
        self.pay_out(refund)
    }

    fn pay_out(&mut self, refund: i64) -> TestCaseResult {
        if refund == 0 {
            return Ok(());
        }
        let left = |(kind, flow): &(TenderKind, Flow)| Paid {
            tender: terms(*kind),
            left: Money(flow.paid - flow.back),
            reference: None,
        };
        let by_tender: Vec<Paid> = self.flows.iter().map(left).collect();
        let payments = to_original_tenders(Money(-refund), &by_tender);
        let kinds: Vec<TenderKind> = self.paid.payments.iter().map(|row| row.kind).collect();
        let sale = PaidSale { total: Money(self.total), cash_rounding: self.paid.cash_rounding, kinds: &kinds };
        let rounding = self.case.rounding.1;
        let mirrored = refund_rounding(&sale, Money(-refund), &payments);
        let by = PaymentTerms { rounding, mirrored, has_customer: true, cash: None };
        let settled = settle(Money(-refund), &payments, &by).expect("a refund");
        let all: i64 = settled.payments.iter().map(|row| row.amount.0).sum();
        prop_assert_eq!(all, -refund + settled.cash_rounding.0);
        prop_assert_eq!(settled.change, Money::ZERO);
        let mut in_cash = None;
        for row in &settled.payments {
            prop_assert!(row.amount.0 <= 0);
            let rounded = row.kind == Cash;
            let back = -row.amount.0 + if rounded { settled.cash_rounding.0 } else { 0 };
            if rounded {
                in_cash = Some((back, -row.amount.0));
            }
            let paid_by = self.flows.iter_mut().find(|(kind, _)| *kind == row.kind);
            let (_, flow) = paid_by.expect("a tender of the sale");
            flow.back += back;
            prop_assert!(flow.back <= flow.paid, "{:?} {:?}", row.kind, flow);
        }
        let is_mirror = refund == self.total && kinds.iter().all(|kind| *kind == Cash);
        if let Some((due, coins)) = in_cash {
            let paid = self.total + self.paid.cash_rounding.0;
            prop_assert_eq!(coins, if is_mirror { paid } else { in_coins(due, rounding) });
        } else {
            prop_assert_eq!(settled.cash_rounding, Money::ZERO);
        }
        self.refunds += 1;
        Ok(())
    }

    fn is_all_back(&self) -> TestCaseResult {
        for (place, line) in self.lines.iter().enumerate() {
            prop_assert_eq!(self.done[place], line.quantity.0);
            prop_assert_eq!(&self.given[place].0, &amounts_of_line(line));
            prop_assert_eq!(self.given[place].1, self.nets[place]);
        }
        for (kind, flow) in &self.flows {
            prop_assert_eq!(flow.back, flow.paid, "{:?}", kind);
        }
        Ok(())
    }
}

fn comes_back(case: Case) -> Result<usize, TestCaseError> {
    let refunds = case.refunds.clone();
    let mut sold = Sold::new(case);
    for parts in refunds {
        let mut taken = BTreeMap::new();
        for (place, number) in parts {
            let place = place % sold.lines.len();
            taken.insert(place, sold.some_of(place, number));
        }
        let parts: Vec<(usize, i64)> = taken.into_iter().filter(|(_, take)| *take > 0).collect();
        sold.give_back(&parts)?;
    }
    let rest: Vec<(usize, i64)> = (0..sold.lines.len())
        .map(|place| (place, sold.lines[place].quantity.0 - sold.done[place]))
        .filter(|(_, take)| *take > 0)
        .collect();
    sold.give_back(&rest)?;
    sold.is_all_back()?;
    Ok(sold.refunds)
}

#[test]
fn ten_thousand_sales_come_back_in_parts_that_add_up_to_them() {
    let mut runner = TestRunner::new(Config { cases: 10_000, failure_persistence: None, ..Config::default() });
    let refunds = std::cell::Cell::new(0);
    let compared = runner.run(&cases(), |case| {
        refunds.set(refunds.get() + comes_back(case)?);
        Ok(())
    });
    compared.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(refunds.get() > 20_000, "only {} refunds", refunds.get());
}
