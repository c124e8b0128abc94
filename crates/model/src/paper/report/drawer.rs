//! X and Z: the sections of one drawer, which are those of the sums of a ZZ too.

use super::sheet::Sheet;
use crate::Money;
use crate::paper::blocks::Weight;
use crate::series::session_name;
use crate::z::{Cash, Header, Receipts, ZReport};

impl Sheet<'_> {
    pub(super) fn drawer(&mut self, title: &str, report: &ZReport) {
        self.title(title);
        self.header(&report.header);
        self.range(report);
        self.figures(report);
        self.chain(report);
        self.flags(report);
        self.printed();
    }

    pub(super) fn figures(&mut self, report: &ZReport) {
        self.documents(report);
        self.amounts(report);
        self.taxes(report);
        self.departments(report);
        self.tenders(report);
        self.cash(report);
        self.controls(report);
        self.running_total(report);
    }

    pub(super) fn header(&mut self, header: &Header) {
        let words = self.words;
        self.pair(words.register, header.register_code.clone());
        if let Some(number) = header.session_number {
            self.pair(words.session, session_name(number));
        }
        if !header.business_date.is_empty() {
            self.pair(words.business_date, self.format.date(&header.business_date));
        }
        for (word, at, name) in [
            (words.opened, header.opened_at, &header.opened_by_name),
            (words.closed, header.closed_at, &header.closed_by_name),
        ] {
            let Some(at) = at else { continue };
            self.pair(word, self.time(at));
            if !name.is_empty() {
                self.pair(&format!("  {}", words.by), name.clone());
            }
        }
        for owner in &header.owners {
            self.pair(words.given_to, owner.name.clone());
            if let Some(at) = owner.at {
                self.pair("", self.time(at));
            }
        }
        if header.forced {
            self.blocks.push(crate::paper::Block::Text(words.forced.to_owned(), Weight::Strong));
        }
    }

    /// Which receipts there are; of the first version their first and last number are all that is known.
    fn range(&mut self, report: &ZReport) {
        if !report.receipts.is_empty() {
            self.receipts(report);
        } else if let Some((first, last)) =
            report.first_receipt_number.as_ref().zip(report.last_receipt_number.as_ref())
        {
            self.rule();
            self.pair(self.words.receipts, first.clone());
            self.pair("", last.clone());
        }
    }

    /// Sums with a part of the first version have those of the others alone, which say nothing of all.
    pub(super) fn receipts(&mut self, report: &ZReport) {
        if report.version < ZReport::VERSION || report.receipts.is_empty() {
            return;
        }
        self.ranges(&report.receipts);
    }

    pub(super) fn ranges(&mut self, receipts: &[Receipts]) {
        self.head(self.words.receipts);
        for each in receipts {
            self.pair(&format!("{} ({})", each.series, each.count), range(each.first, each.last));
            for lost in &each.lost {
                self.pair(&format!("  {}", self.words.lost), range(lost.from, lost.to));
            }
        }
    }

    fn documents(&mut self, report: &ZReport) {
        let words = self.words;
        self.rule();
        self.pair(words.sales, report.sale_count.to_string());
        self.pair(words.refunds, report.refund_count.to_string());
        if report.version < ZReport::VERSION {
            self.pair(words.voids, report.void_count.to_string());
        } else {
            self.counted(words.voids, report.void_count, report.void_amount);
            self.pair(words.items, self.format.quantity(report.item_count));
        }
        let settlements = &report.settlements;
        if settlements.count != 0 || settlements.amount != Money::ZERO {
            self.counted(words.settlements, settlements.count, settlements.amount);
        }
    }

    fn amounts(&mut self, report: &ZReport) {
        let words = self.words;
        self.rule();
        if report.version >= ZReport::VERSION {
            let amounts = &report.amounts;
            self.amount(words.list_sales, amounts.list_sales);
            self.amount_if(words.specials, negative(amounts.special_discount));
            self.amount_if(words.line_discounts, negative(amounts.line_discount));
            self.amount_if(words.cart_discounts, negative(amounts.cart_discount));
            self.amount(words.net_sales, amounts.net_sales);
            self.amount(words.net_refunds, amounts.net_refunds);
        }
        self.amount(words.net, report.net_amount);
        self.amount(words.tax, report.tax_amount);
        let total = format!("{} {}", words.total, self.paper.currency_code);
        self.weighty(&total, self.money(report.total_amount), Weight::Large);
        self.amount_if(words.rounding, report.cash_rounding);
    }

    fn taxes(&mut self, report: &ZReport) {
        if report.taxes.is_empty() {
            return;
        }
        self.rule();
        self.row([self.words.tax, self.words.net, self.words.tax].map(str::to_owned));
        for tax in &report.taxes {
            let name = if tax.name.is_empty() { &tax.code } else { &tax.name };
            let rate = if name.contains('%') { String::new() } else { format!(" {}", self.format.rate(tax.rate_ppm)) };
            self.row([format!("{name}{rate}"), self.money(tax.base_amount), self.money(tax.tax_amount)]);
        }
    }

    fn departments(&mut self, report: &ZReport) {
        if report.version < ZReport::VERSION || report.departments.is_empty() {
            return;
        }
        let words = self.words;
        self.rule();
        self.row([words.department, words.quantity, words.net].map(str::to_owned));
        for department in &report.departments {
            let name = self.department(&department.name);
            self.row([name, self.format.quantity(department.quantity), self.money(department.net_amount)]);
        }
    }

    pub(super) fn department(&self, name: &str) -> String {
        if name.is_empty() { self.words.no_department.to_owned() } else { name.to_owned() }
    }

    fn tenders(&mut self, report: &ZReport) {
        let words = self.words;
        if report.tenders.is_empty() {
            return;
        }
        self.head(words.tenders);
        for tender in &report.tenders {
            self.counted(&tender.tender_code, tender.count, tender.amount);
            if report.version >= ZReport::VERSION && tender.refunds_amount != Money::ZERO {
                self.amount(&format!("  {}", words.sales), tender.sales_amount);
                self.amount(&format!("  {}", words.refunds), tender.refunds_amount);
            }
        }
    }

    fn cash(&mut self, report: &ZReport) {
        let (words, cash) = (self.words, &report.cash);
        self.head(words.cash);
        self.amount(words.float, report.opening_float);
        self.amount(words.payments, report.paid_in_cash());
        self.amount_if(words.paid_in, cash.paid_in);
        self.amount_if(words.float_add, cash.float_add);
        self.amount_if(words.paid_out, negative(cash.paid_out));
        self.amount_if(words.drop, negative(cash.drop));
        self.weighty(words.expected, self.money(report.expected_cash), Weight::Strong);
        self.count(report, cash);
    }

    /// A drawer that is open has no count yet; one that was closed without says so.
    fn count(&mut self, report: &ZReport, cash: &Cash) {
        let words = self.words;
        for coin in cash.denominations.iter().filter(|_| report.version >= ZReport::VERSION) {
            let value = format!("  {} x {}", coin.count, self.money(coin.value));
            let amount = Money::from_wide(i128::from(coin.value.0) * i128::from(coin.count));
            self.amount(&value, amount);
        }
        match cash.counted {
            Some(counted) => self.amount(words.counted, counted),
            None if report.header.closed_at.is_some() => self.pair(words.counted, words.not_counted.to_owned()),
            None => {}
        }
        if let Some(variance) = cash.variance {
            self.weighty(words.variance, self.money(variance), Weight::Strong);
        }
    }

    fn controls(&mut self, report: &ZReport) {
        let (words, controls) = (self.words, &report.controls);
        if report.version < ZReport::VERSION {
            return;
        }
        self.head(words.controls);
        for (word, counted) in
            [(words.overrides, &controls.price_overrides), (words.discounts, &controls.manual_discounts)]
        {
            if counted.count != 0 {
                self.counted(word, counted.count, counted.amount);
            }
        }
        self.pair(words.no_sale, controls.no_sale_count.to_string());
        self.count_if(words.abandoned, controls.parked_abandoned);
        self.count_if(words.parked, controls.parked_open);
        self.count_if(words.approvals, controls.approvals);
        let removed = &controls.removed;
        if removed.count != 0 {
            self.counted(words.removed, removed.count, removed.amount);
            for cashier in &removed.by_cashier {
                self.counted(&format!("  {}", cashier.name), cashier.count, cashier.amount);
            }
        }
        if controls.paid_out_beyond_cash {
            self.text(words.beyond_cash.to_owned());
        }
    }

    fn running_total(&mut self, report: &ZReport) {
        let (words, running) = (self.words, &report.running_total);
        if running.before == Money::ZERO && running.after == Money::ZERO {
            return;
        }
        self.head(words.running_total);
        self.amount(words.before, running.before);
        self.amount(words.after, running.after);
    }

    fn chain(&mut self, report: &ZReport) {
        if let Some(head) = &report.chain {
            self.link(head.number, &head.hash);
            self.amount(self.words.running_total, head.running_total);
        }
    }

    pub(super) fn link(&mut self, number: i64, hash: &str) {
        self.head(self.words.chain);
        self.pair(self.words.number, number.to_string());
        self.text(hash.to_owned());
    }

    pub(super) fn flags(&mut self, report: &ZReport) {
        for flag in &report.flags {
            let text = if flag == ZReport::DOES_NOT_ADD_UP { self.words.does_not_add_up } else { flag };
            self.rule();
            self.centre(text, Weight::Strong);
        }
    }
}

pub(super) fn range(from: i64, to: i64) -> String {
    if from == to { from.to_string() } else { format!("{from} - {to}") }
}

/// What was taken off, below zero.
fn negative(amount: Money) -> Money {
    Money(amount.0.saturating_neg())
}
