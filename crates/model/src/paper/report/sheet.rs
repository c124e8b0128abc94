//! A report while it is put together.

use chrono_tz::Tz;

use super::ReportPaper;
use super::words::Words;
use crate::paper::amounts::Format;
use crate::paper::blocks::{Block, Weight};
use crate::{Instant, Money};

pub(super) struct Sheet<'a> {
    pub paper: &'a ReportPaper,
    pub words: &'static Words,
    pub format: Format,
    pub blocks: Vec<Block>,
    zone: Tz,
}

impl<'a> Sheet<'a> {
    pub(super) fn of(paper: &'a ReportPaper) -> Self {
        Self {
            paper,
            words: Words::of(&paper.locale),
            format: Format::of(&paper.locale),
            blocks: Vec::new(),
            zone: paper.time_zone.parse().unwrap_or(Tz::UTC),
        }
    }

    pub(super) fn money(&self, amount: Money) -> String {
        self.format.decimal(amount, self.paper.currency_exponent)
    }

    /// As the clock of the store showed it.
    pub(super) fn time(&self, at: Instant) -> String {
        let local = at.utc().with_timezone(&self.zone).format("%Y-%m-%dT%H:%M:%S").to_string();
        self.format.time(&local)
    }

    pub(super) fn rule(&mut self) {
        self.blocks.push(Block::Rule);
    }

    pub(super) fn centre(&mut self, text: &str, weight: Weight) {
        if !text.trim().is_empty() {
            self.blocks.push(Block::Centre(text.to_owned(), weight));
        }
    }

    pub(super) fn text(&mut self, text: String) {
        self.blocks.push(Block::Text(text, Weight::Plain));
    }

    /// What stands above a section.
    pub(super) fn head(&mut self, text: &str) {
        self.rule();
        self.blocks.push(Block::Text(text.to_owned(), Weight::Strong));
    }

    pub(super) fn pair(&mut self, left: &str, right: String) {
        self.weighty(left, right, Weight::Plain);
    }

    pub(super) fn weighty(&mut self, left: &str, right: String, weight: Weight) {
        self.blocks.push(Block::Pair(left.to_owned(), right, weight));
    }

    pub(super) fn amount(&mut self, left: &str, amount: Money) {
        self.pair(left, self.money(amount));
    }

    /// A line for what is there; none for what is not.
    pub(super) fn amount_if(&mut self, left: &str, amount: Money) {
        if amount != Money::ZERO {
            self.amount(left, amount);
        }
    }

    pub(super) fn count_if(&mut self, left: &str, count: i64) {
        if count != 0 {
            self.pair(left, count.to_string());
        }
    }

    /// How many, and what they come to.
    pub(super) fn counted(&mut self, left: &str, count: i64, amount: Money) {
        self.pair(&format!("{left} ({count})"), self.money(amount));
    }

    pub(super) fn row(&mut self, cells: [String; 3]) {
        self.blocks.push(Block::Row(cells.into(), Weight::Plain));
    }

    /// Which store it is of. What a shop says to its customers is not on a report.
    pub(super) fn shop(&mut self) {
        let shop = &self.paper.shop;
        self.centre(&shop.name, Weight::Large);
        for text in shop.legal_name.iter().chain(&shop.address).chain(&shop.tax_number) {
            self.centre(text, Weight::Plain);
        }
    }

    pub(super) fn title(&mut self, title: &str) {
        self.centre(&title.to_uppercase(), Weight::Large);
        if let Some(copy) = self.paper.copy {
            let number = if copy > 0 { format!(" {copy}") } else { String::new() };
            self.centre(&format!("{}{number}", self.words.copy.to_uppercase()), Weight::Strong);
        }
        self.rule();
    }

    pub(super) fn printed(&mut self) {
        self.rule();
        self.pair(self.words.printed, self.time(self.paper.printed_at));
    }
}
