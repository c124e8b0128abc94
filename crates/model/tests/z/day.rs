//! A day of one drawer, document by document, and its report: reckoned here, by other code than that of the store.

use tillkeep_model::z::{
    Amounts, Cash, ChainHead, Counted, Denomination, Department, Header, LostNumbers, Receipts, RemovedBy,
    RunningTotal, TaxTotal, TenderTotal, ZReport,
};
use tillkeep_model::{Instant, Money, Ppm, Qty, ids};

/// Numbers that look drawn and are the same each time.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// From `0` to below `most`.
    pub(crate) fn below(&mut self, most: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        i64::try_from((self.0 >> 11) % u64::try_from(most).expect("above zero")).expect("small")
    }

    /// An amount that no count, number or other amount is by chance.
    pub(crate) fn amount(&mut self) -> i64 {
        self.below(400_000_000) * 2 + 1_000_003
    }
}

const RATES: [(&str, i32); 3] = [("STD", 200_000), ("RED", 70_000), ("NIL", 0)];
const TENDERS: [(&str, &str); 4] =
    [("CASH", "cash"), ("CARD", "card"), ("ACCOUNT", "on_account"), ("EXCHANGE", "exchange")];
const CASH: usize = 0;
const ACCOUNT: usize = 2;
const EXCHANGE: usize = 3;

/// What kind of day it is.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// Nothing is paid by other tenders.
    pub cash_only: bool,
    /// No product has a tax.
    pub untaxed: bool,
}

pub(crate) const MIXED: Kind = Kind { cash_only: false, untaxed: false };

/// One day while it is sold.
pub(crate) struct Day {
    pub report: ZReport,
    draw: Draw,
    kind: Kind,
}

fn money(amount: i64) -> Money {
    Money(amount)
}

impl Day {
    /// `documents` of all kinds, movements, and a count.
    pub(crate) fn drawn(seed: u64, documents: i64, kind: Kind) -> ZReport {
        let mut day =
            Self { report: ZReport { version: ZReport::VERSION, ..ZReport::default() }, draw: Draw::of(seed), kind };
        day.rows();
        // One sale for cash at the least.
        day.sale(CASH);
        for _ in 1..documents {
            match day.draw.below(12) {
                0 => day.void(),
                1 | 2 => day.refund(),
                3 if !kind.cash_only => day.settlement(),
                4 if !kind.cash_only => day.exchange(),
                _ => {
                    let others = if kind.cash_only { 1 } else { 3 };
                    let tender = usize::try_from(day.draw.below(others)).expect("small");
                    day.sale(tender);
                }
            }
        }
        day.close(seed);
        day.report
    }

    fn rows(&mut self) {
        let report = &mut self.report;
        report.tenders = TENDERS
            .map(|(code, kind)| TenderTotal {
                tender_id: Some(ids::named(code)),
                tender_code: code.into(),
                tender_kind: kind.into(),
                ..TenderTotal::default()
            })
            .to_vec();
        report.taxes = RATES
            .map(|(code, ppm)| TaxTotal {
                tax_rate_id: ids::named(code),
                code: code.into(),
                name: code.into(),
                rate_ppm: Ppm(ppm),
                ..TaxTotal::default()
            })
            .to_vec();
        report.departments = ["Bread", "Milk", ""]
            .map(|name| Department {
                department_id: (!name.is_empty()).then(|| ids::named(name)),
                name: name.into(),
                ..Department::default()
            })
            .to_vec();
    }

    fn pay(&mut self, tender: usize, amount: i64, is_refund: bool) {
        let row = &mut self.report.tenders[tender];
        row.count += 1;
        row.amount += money(amount);
        if is_refund { row.refunds_amount += money(amount) } else { row.sales_amount += money(amount) }
    }

    /// Goods of a net amount, in one direction; says what they come to.
    fn goods(&mut self, net: i64, sign: i64) -> i64 {
        let place = usize::try_from(self.draw.below(3)).expect("small");
        let rate = if self.kind.untaxed { 2 } else { place };
        let tax = net * i64::from(RATES[rate].1) / 1_000_000;
        let quantity = Qty(sign * (self.draw.below(5_000) + 1));
        let report = &mut self.report;
        report.taxes[rate].base_amount += money(net);
        report.taxes[rate].tax_amount += money(tax);
        report.departments[place].quantity.0 += quantity.0;
        report.departments[place].net_amount += money(net);
        report.item_count.0 += quantity.0;
        report.net_amount += money(net);
        report.tax_amount += money(tax);
        report.total_amount += money(net + tax);
        net + tax
    }

    /// To the next five in cash.
    fn settle(&mut self, tender: usize, total: i64, is_refund: bool) {
        let rounding = if tender == CASH { -(total % 5) } else { 0 };
        self.report.cash_rounding += money(rounding);
        self.pay(tender, total + rounding, is_refund);
    }

    fn sold(&mut self) -> i64 {
        let list = self.draw.amount();
        let off = [9, 11, 13].map(|share| if self.draw.below(3) == 0 { list / share } else { 0 });
        let net = list - off.iter().sum::<i64>();
        let amounts: &mut Amounts = &mut self.report.amounts;
        amounts.list_sales += money(list);
        amounts.special_discount += money(off[0]);
        amounts.line_discount += money(off[1]);
        amounts.cart_discount += money(off[2]);
        amounts.net_sales += money(net);
        let total = self.goods(net, 1);
        self.report.sale_count += 1;
        total
    }

    fn given_back(&mut self) -> i64 {
        let net = -self.draw.amount();
        self.report.amounts.net_refunds += money(net);
        self.report.refund_count += 1;
        self.goods(net, -1)
    }

    fn sale(&mut self, tender: usize) {
        let total = self.sold();
        self.settle(tender, total, false);
    }

    fn refund(&mut self) {
        let total = self.given_back();
        self.settle(CASH, total, true);
    }

    fn void(&mut self) {
        let amount = self.draw.amount();
        self.report.void_count += 1;
        self.report.void_amount += money(amount);
    }

    /// A total of nothing: what comes in is not owed any more. In cash it is rounded.
    fn settlement(&mut self) {
        let amount = self.draw.amount();
        let rounding = -(amount % 5);
        self.report.settlements.count += 1;
        self.report.settlements.amount += money(amount);
        self.report.cash_rounding += money(rounding);
        self.pay(CASH, amount + rounding, false);
        self.pay(ACCOUNT, -amount, false);
    }

    /// A refund and a sale, of which the smaller one is settled by the other.
    fn exchange(&mut self) {
        let (back, sold) = (self.given_back(), self.sold());
        let settled = sold.min(-back);
        self.pay(EXCHANGE, -settled, true);
        self.pay(EXCHANGE, settled, false);
        if sold > settled {
            self.settle(CASH, sold - settled, false);
        }
        if back + settled < 0 {
            self.settle(CASH, back + settled, true);
        }
    }

    fn close(&mut self, seed: u64) {
        let parts: [i64; 5] = std::array::from_fn(|_| self.draw.amount());
        let [float, paid_in, float_add, paid_out, drop] = parts.map(money);
        let report = &mut self.report;
        let payments = report.tenders[CASH].amount;
        let expected = float + payments + paid_in + float_add - paid_out - drop;
        (report.opening_float, report.expected_cash) = (float, expected);
        let counted = (!seed.is_multiple_of(7)).then(|| expected + money(self.draw.below(200) - 100));
        report.cash = Cash {
            opening_float: float,
            payments,
            paid_in,
            float_add,
            paid_out,
            drop,
            expected,
            counted,
            variance: counted.map(|counted| counted - expected),
            denominations: counted.map(|value| Denomination { value, count: 1 }).into_iter().collect(),
        };
        let removed = [3, 5].map(|count| RemovedBy {
            user_id: ids::named(&format!("cashier {count}")),
            name: format!("Cashier {count}"),
            count,
            amount: money(self.draw.amount()),
        });
        let controls = &mut report.controls;
        controls.removed.count = 8;
        controls.removed.amount = removed.iter().map(|each| each.amount).sum();
        controls.removed.by_cashier = removed.to_vec();
        controls.price_overrides = Counted { count: 2, amount: money(self.draw.amount()) };
        controls.manual_discounts = Counted { count: 4, amount: report.amounts.line_discount };
        (controls.no_sale_count, controls.parked_abandoned, controls.parked_open, controls.approvals) = (1, 2, 3, 4);
        let documents = report.sale_count + report.refund_count + report.void_count + report.settlements.count;
        report.receipts = receipts(documents, self.draw.below(1000) + 1, self.draw.below(4));
        let before = money(self.draw.amount());
        report.running_total = RunningTotal { before, after: before + report.total_amount };
        report.chain = Some(ChainHead {
            chain_id: ids::named("chain"),
            number: documents,
            hash: "ab".repeat(32),
            running_total: report.running_total.after,
        });
        let at = Instant::from_millis(1_800_000_000_000 + i64::try_from(seed).expect("small") * 1000);
        report.header = Header {
            session_id: Some(ids::named(&format!("session {seed}"))),
            session_number: Some(12),
            register_code: "02".into(),
            business_date: "2026-11-20".into(),
            opened_at: Some(at),
            closed_at: Some(at.plus_millis(1)),
            forced: counted.is_none(),
            ..Header::default()
        };
    }
}

/// The last ones in a series with a letter, and some of the numbers before it lost.
fn receipts(documents: i64, first: i64, lost: i64) -> Vec<Receipts> {
    let mut rows = Vec::new();
    let before = documents / 2;
    if before > 1 {
        let named = LostNumbers { from: first + 1, to: first + lost };
        let named = (lost > 0).then_some(named);
        let end = first + before - 1 + lost;
        rows.push(Receipts { series: "02".into(), first, last: end, count: before, lost: named.into_iter().collect() });
    }
    let count = documents - rows.iter().map(|row: &Receipts| row.count).sum::<i64>();
    rows.push(Receipts { series: "02A".into(), first: 1, last: count, count, lost: Vec::new() });
    rows
}
