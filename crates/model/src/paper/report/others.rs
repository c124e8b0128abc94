//! The X without amounts, the ZZ, and the slip of a movement.

use super::drawer::range;
use super::sheet::Sheet;
use super::{MovementSlip, ZzPaper};
use crate::paper::blocks::{Block, Weight};
use crate::series::session_name;
use crate::z::{XReport, ZzReport};
use crate::{Instant, Money};

impl Sheet<'_> {
    pub(super) fn blind(&mut self, report: &XReport) {
        let words = self.words;
        self.title(words.x);
        self.centre(words.blind, Weight::Plain);
        self.header(&report.header);
        if !report.receipts.is_empty() {
            self.ranges(&report.receipts);
        }
        self.rule();
        self.pair(words.sales, report.sale_count.to_string());
        self.pair(words.refunds, report.refund_count.to_string());
        self.pair(words.voids, report.void_count.to_string());
        self.count_if(words.settlements, report.settlement_count);
        if !report.departments.is_empty() {
            self.head(words.own);
            for department in &report.departments {
                self.pair(&self.department(&department.name), self.format.quantity(department.quantity));
            }
        }
        if !report.tenders.is_empty() {
            self.head(words.tenders);
            for tender in &report.tenders {
                self.pair(&tender.tender_code, tender.count.to_string());
            }
        }
        self.head(words.cash);
        self.amount(words.float, report.opening_float);
        for movement in &report.movements {
            self.amount(words.movement(&movement.r#type), movement.amount);
            if !movement.reason.is_empty() {
                self.text(format!("  {}", movement.reason));
            }
        }
        self.blind_controls(report);
        if let Some(chain) = &report.chain {
            self.link(chain.number, &chain.hash);
        }
        self.printed();
    }

    fn blind_controls(&mut self, report: &XReport) {
        let (words, controls) = (self.words, &report.controls);
        self.head(words.controls);
        self.count_if(words.overrides, controls.price_overrides);
        self.count_if(words.discounts, controls.manual_discounts);
        self.pair(words.no_sale, controls.no_sale_count.to_string());
        self.count_if(words.abandoned, controls.parked_abandoned);
        self.count_if(words.parked, controls.parked_open);
        self.count_if(words.approvals, controls.approvals);
        self.count_if(words.removed, controls.removed);
    }

    pub(super) fn zz(&mut self, zz: &ZzPaper) {
        let words = self.words;
        self.title(words.zz);
        self.pair(words.number, zz.zz_number.to_string());
        match &zz.register_code {
            Some(code) => self.pair(words.register, code.clone()),
            None => self.text(words.store.to_owned()),
        }
        self.pair(words.from, self.format.date(&zz.from_date));
        self.pair(words.to, self.format.date(&zz.to_date));
        self.drawers(&zz.report, zz.register_code.is_none());
        self.receipts(&zz.report.sums);
        self.figures(&zz.report.sums);
        self.flags(&zz.report.sums);
        self.printed();
    }

    /// One part for each Z, and one for the numbers that no Z has.
    fn drawers(&mut self, report: &ZzReport, has_registers: bool) {
        let words = self.words;
        self.head(&format!("{} ({})", words.sessions, report.rows.len()));
        for row in &report.rows {
            let register = if has_registers { format!("{}-", row.register_code) } else { String::new() };
            let date = self.format.date(&row.business_date);
            self.weighty(&format!("{register}{} {date}", row.session_number), row.cashier.clone(), Weight::Strong);
            self.amount(&format!("  {}", words.net), row.net_amount);
            self.amount(&format!("  {}", words.tax), row.tax_amount);
            self.amount(&format!("  {}", words.total), row.total_amount);
            let variance = row.variance.map_or_else(|| words.not_counted.to_owned(), |amount| self.money(amount));
            self.pair(&format!("  {}", words.variance), variance);
        }
        for gap in &report.gaps {
            let numbers = format!("{}-{}{}", gap.register_code, gap.letter, range(gap.from, gap.to));
            self.weighty(words.missing, numbers, Weight::Strong);
        }
    }

    pub(super) fn movement(&mut self, slip: &MovementSlip) {
        let words = self.words;
        self.title(words.movement(&slip.r#type));
        self.pair(words.register, slip.register_code.clone());
        if let Some(number) = slip.session_number {
            self.pair(words.session, session_name(number));
        }
        let at = if slip.at == Instant::default() { self.paper.printed_at } else { slip.at };
        self.pair("", self.time(at));
        self.rule();
        if slip.amount != Money::ZERO {
            let amount = format!("{} {}", words.amount, self.paper.currency_code);
            self.weighty(&amount, self.money(slip.amount), Weight::Large);
        }
        if !slip.reason.is_empty() {
            self.pair(words.reason, slip.reason.clone());
        }
        self.pair(words.user, slip.user_name.clone());
        if let Some(name) = &slip.approver_name {
            self.pair(words.approved, name.clone());
        }
        self.rule();
        self.text(format!("{}:", words.signature));
        // Room for a pen.
        self.blocks.extend([(); 2].map(|()| Block::Text("\n".to_owned(), Weight::Plain)));
        self.rule();
        self.text(slip.id.to_string());
    }
}
