//! What stands on a paper from top to bottom, in words: the same for text, page and printer.

use super::amounts::Format;
use super::receipt::{Line, Price, Receipt, Totals};
use super::words::Words;
use crate::words::{PaperKind, SaleType, SignatureState};
use crate::{Money, Qty};

/// How a text stands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    #[default]
    Plain,
    Strong,
    /// Twice as high where that can be.
    Large,
}

/// One part of a paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// In the middle.
    Centre(String, Weight),
    /// From the left, as many lines as it takes.
    Text(String, Weight),
    /// Something and its amount, at both sides.
    Pair(String, String, Weight),
    /// A row of a table: the first from the left, the others from the right.
    Row(Vec<String>, Weight),
    /// A line across.
    Rule,
    /// A Code 128 of a number, with the number below it.
    Barcode(String),
}

impl Block {
    /// The same with each text made another one: for a printer that lacks letters.
    #[must_use]
    pub fn map(&self, text: impl Fn(&str) -> String) -> Self {
        match self {
            Self::Centre(centre, weight) => Self::Centre(text(centre), *weight),
            Self::Text(left, weight) => Self::Text(text(left), *weight),
            Self::Pair(left, right, weight) => Self::Pair(text(left), text(right), *weight),
            Self::Row(cells, weight) => Self::Row(cells.iter().map(|cell| text(cell)).collect(), *weight),
            Self::Rule => Self::Rule,
            Self::Barcode(content) => Self::Barcode(content.clone()),
        }
    }
}

/// What stands on `receipt`.
#[must_use]
pub fn blocks(receipt: &Receipt) -> Vec<Block> {
    let mut paper =
        Paper { receipt, words: Words::of(&receipt.locale), format: Format::of(&receipt.locale), blocks: Vec::new() };
    paper.shop();
    paper.title();
    paper.about();
    paper.lines();
    if let Some(totals) = &receipt.totals {
        paper.totals(totals);
        paper.tenders(totals);
    }
    paper.taxes();
    paper.remarks();
    paper.signature();
    paper.end();
    // Where nothing stands between two of them, one line is enough.
    paper.blocks.dedup_by(|next, before| *next == Block::Rule && *before == Block::Rule);
    paper.blocks.iter().map(|block| block.map(seen)).collect()
}

/// Without what is not seen: signs that a printer obeys, and those that turn the order of letters round.
pub(super) fn seen(text: &str) -> String {
    let is_hidden =
        |letter: char| matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|letter| *letter == '\n' || !(letter.is_control() || is_hidden(*letter))).collect()
}

/// A paper while it is put together.
struct Paper<'a> {
    receipt: &'a Receipt,
    words: &'static Words,
    format: Format,
    blocks: Vec<Block>,
}

impl Paper<'_> {
    fn money(&self, amount: Money) -> String {
        self.format.decimal(amount, self.receipt.currency_exponent)
    }

    fn centre(&mut self, text: &str, weight: Weight) {
        if !text.trim().is_empty() {
            self.blocks.push(Block::Centre(text.to_owned(), weight));
        }
    }

    fn text(&mut self, text: String) {
        self.blocks.push(Block::Text(text, Weight::Plain));
    }

    fn pair(&mut self, left: &str, right: String) {
        self.blocks.push(Block::Pair(left.to_owned(), right, Weight::Plain));
    }

    fn strong(&mut self, left: String, right: String, weight: Weight) {
        self.blocks.push(Block::Pair(left, right, weight));
    }

    fn rule(&mut self) {
        self.blocks.push(Block::Rule);
    }

    fn shop(&mut self) {
        let shop = &self.receipt.shop;
        self.centre(&shop.name, Weight::Large);
        for text in shop.legal_name.iter().chain(&shop.address) {
            self.centre(text, Weight::Plain);
        }
        for (word, text) in [(self.words.phone, &shop.phone), (self.words.tax_number, &shop.tax_number)] {
            if let Some(text) = text {
                self.centre(&format!("{word} {text}"), Weight::Plain);
            }
        }
        for line in shop.header.iter().flat_map(|text| text.lines()) {
            self.centre(line, Weight::Plain);
        }
    }

    /// What it is, where that is more than a receipt.
    fn title(&mut self) {
        let (receipt, words) = (self.receipt, self.words);
        let copy = receipt.copy.map(|number| match number {
            1.. => format!("{} {number}", words.copy),
            _ => words.copy.to_owned(),
        });
        let of_kind = match receipt.kind {
            PaperKind::Gift => Some(words.gift),
            PaperKind::Invoice => Some(words.invoice),
            PaperKind::Sale | PaperKind::Copy => None,
        };
        let of_document = match receipt.document {
            SaleType::Refund => Some(words.refund),
            SaleType::Settlement => Some(words.settlement),
            SaleType::Sale => None,
        };
        let voided = receipt.voided.as_ref().map(|_| words.voided);
        let others = [of_kind, of_document, voided].into_iter().flatten();
        for title in copy.iter().map(String::as_str).chain(others) {
            self.centre(title, Weight::Strong);
        }
        if let Some(voided) = &receipt.voided {
            let at = self.format.time(&voided.local_time);
            let reason = voided.reason.as_ref().map(|reason| format!(": {reason}"));
            self.centre(&format!("{at}{}", reason.unwrap_or_default()), Weight::Plain);
        }
        self.rule();
    }

    /// Number, time and people.
    fn about(&mut self) {
        let (receipt, words) = (self.receipt, self.words);
        self.pair(words.number, receipt.number.clone());
        self.pair(words.date, self.format.time(&receipt.local_time));
        self.pair(words.register, receipt.register_code.clone());
        self.pair(words.cashier, receipt.cashier_name.clone());
        if let Some(name) = &receipt.customer_name {
            self.pair(words.customer, name.clone());
        }
        if let Some(buyer) = &receipt.buyer {
            self.text(format!("{}:", words.buyer));
            let number = buyer.tax_number.iter().map(|number| format!("{} {number}", words.tax_number));
            let of_buyer = [buyer.name.clone()].into_iter().chain(buyer.address.iter().cloned()).chain(number);
            for text in of_buyer.collect::<Vec<_>>() {
                self.text(format!("  {text}"));
            }
        }
        if let Some(original) = &receipt.original {
            self.pair(words.original, original.number.clone());
            if let Some(reason) = &original.reason {
                self.pair(words.reason, reason.clone());
            }
        }
        self.rule();
    }

    fn lines(&mut self) {
        let marks = self.receipt.lines.iter().filter_map(|line| line.price.as_ref());
        let mark = marks.map(|price| price.tax_mark.chars().count()).max().unwrap_or_default();
        for line in &self.receipt.lines {
            self.line(line, mark);
        }
        if !self.receipt.lines.is_empty() {
            self.rule();
        }
    }

    /// An amount, and the letters of its taxes below those of other lines.
    fn marked(&self, amount: Money, text: &str, columns: usize) -> String {
        let gap = usize::from(columns > 0);
        format!("{}{}{text:<columns$}", self.money(amount), " ".repeat(gap))
    }

    fn line(&mut self, line: &Line, mark: usize) {
        let indent = if line.is_charge { "  " } else { "" };
        let is_one = line.quantity.0.abs() == Qty::ONE.0;
        let quantity = self.format.quantity(line.quantity);
        let is_counted = line.unit.is_empty() || PIECES.contains(&line.unit.as_str());
        let quantity = if is_counted { quantity } else { format!("{quantity} {}", line.unit) };
        let name = format!("{indent}{}", line.name);
        let Some(price) = &line.price else {
            let (left, right) = if is_one && is_counted { (name, String::new()) } else { (name, quantity) };
            self.strong(left, right, Weight::Plain);
            self.details(line, indent);
            return;
        };
        let amount = self.marked(price.list, &price.tax_mark, mark);
        if is_one && is_counted {
            self.strong(name, amount, Weight::Plain);
        } else {
            self.text(name);
            let unit = self.money(price.unit);
            let per = if is_counted { String::new() } else { format!("/{}", line.unit) };
            self.strong(format!("{indent}  {quantity} x {unit}{per}"), amount, Weight::Plain);
        }
        self.details(line, indent);
        self.savings(price, indent, mark);
    }

    fn details(&mut self, line: &Line, indent: &str) {
        if let Some(note) = &line.note {
            self.text(format!("{indent}  {note}"));
        }
        if let Some(serial) = &line.serial {
            self.text(format!("{indent}  {}: {serial}", self.words.serial));
        }
        if let Some(reason) = &line.reason {
            self.text(format!("{indent}  {}: {reason}", self.words.reason));
        }
    }

    fn savings(&mut self, price: &Price, indent: &str, mark: usize) {
        for saving in &price.savings {
            let amount = self.marked(-saving.amount, "", mark);
            self.strong(format!("{indent}  {}", saving.text), amount, Weight::Plain);
        }
    }

    fn totals(&mut self, totals: &Totals) {
        let words = self.words;
        let is_refund = self.receipt.document == SaleType::Refund;
        if let Some(discount) = &totals.cart_discount {
            let amount = self.money(-discount.amount);
            self.strong(discount.text.clone(), amount, Weight::Plain);
        }
        if totals.subtotal != totals.total {
            self.pair(words.subtotal, self.money(totals.subtotal));
            // Less than nothing is what an exempt buyer does not pay, or the other way round in a refund.
            let is_added = (totals.tax_added < Money::ZERO) == is_refund;
            let word = if is_added { words.tax_added } else { words.tax_taken_off };
            self.pair(word, self.money(totals.tax_added));
        }
        if let Some(settled) = totals.settled {
            self.strong(self.in_currency(words.settled), self.money(settled), Weight::Large);
        } else {
            self.strong(self.in_currency(words.total), self.money(totals.total), Weight::Large);
        }
        if totals.cash_rounding != Money::ZERO {
            self.pair(words.rounding, self.money(totals.cash_rounding));
            if totals.settled.is_none() {
                let word = if is_refund { words.paid_back } else { words.due };
                self.strong(word.to_owned(), self.money(totals.due), Weight::Strong);
            }
        }
        if totals.tax_exempt {
            self.text(words.tax_exempt.to_owned());
        }
    }

    fn in_currency(&self, word: &str) -> String {
        format!("{word} {}", self.receipt.currency_code)
    }

    fn tenders(&mut self, totals: &Totals) {
        let receipt = self.receipt;
        for tender in &receipt.tenders {
            self.pair(&tender.name, self.money(tender.tendered.unwrap_or(tender.amount)));
            let last4 = tender.card_last4.as_ref().map(|digits| format!("**** {digits}"));
            let card: Vec<&str> = [&tender.card_brand, &last4].into_iter().filter_map(|part| part.as_deref()).collect();
            if !card.is_empty() {
                self.text(format!("  {}", card.join(" ")));
            }
            if let Some(reference) = &tender.reference {
                self.text(format!("  {reference}"));
            }
        }
        if totals.change != Money::ZERO {
            self.strong(self.words.change.to_owned(), self.money(totals.change), Weight::Strong);
        }
        if totals.saved > Money::ZERO {
            self.pair(self.words.saved, self.money(totals.saved));
        }
    }

    fn taxes(&mut self) {
        let (receipt, words) = (self.receipt, self.words);
        if receipt.taxes.is_empty() {
            return;
        }
        self.rule();
        let head = [words.tax, words.net, words.tax].map(str::to_owned);
        self.blocks.push(Block::Row(head.to_vec(), Weight::Plain));
        for tax in &receipt.taxes {
            let rate =
                if tax.name.contains('%') { String::new() } else { format!(" {}", self.format.rate(tax.rate_ppm)) };
            let how = if tax.included { words.included } else { words.added };
            let label = format!("{} {}{rate} {how}", tax.mark, tax.name);
            let cells = vec![label, self.money(tax.base), self.money(tax.tax)];
            self.blocks.push(Block::Row(cells, Weight::Plain));
        }
    }

    /// What else there is to say: other documents, approvals, a note.
    fn remarks(&mut self) {
        let (receipt, words) = (self.receipt, self.words);
        let before = self.blocks.len();
        for refund in &receipt.refunds {
            let total = refund.total.map(|total| self.money(total)).unwrap_or_default();
            self.strong(format!("{} {}", words.refunded, refund.number), total, Weight::Plain);
        }
        if let Some(other) = &receipt.other_half {
            let word = if other.document == SaleType::Refund { words.given_back } else { words.exchanged_for };
            let total = other.total.map(|total| self.money(total)).unwrap_or_default();
            self.strong(format!("{word} {}", other.number), total, Weight::Plain);
        }
        for approved in &receipt.approvals {
            self.text(format!("{}: {} {}", approved.text, words.approved, approved.by));
        }
        if let Some(note) = &receipt.note {
            self.text(note.clone());
        }
        if self.blocks.len() > before {
            self.blocks.insert(before, Block::Rule);
        }
    }

    fn signature(&mut self) {
        let Some(signature) = &self.receipt.signature else { return };
        self.rule();
        match signature.state {
            SignatureState::Signed => {
                let signer = signature.signer.iter().map(|signer| format!("{}: {signer}", self.words.signer));
                let value = signature.value.iter().map(|value| format!("{}: {value}", self.words.signature));
                for text in signer.chain(value).collect::<Vec<_>>() {
                    self.text(text);
                }
            }
            SignatureState::CouldNotSign => self.text(self.words.could_not_sign.to_owned()),
            SignatureState::Waiting => self.text(self.words.not_signed_yet.to_owned()),
        }
    }

    fn end(&mut self) {
        self.rule();
        for line in self.receipt.shop.footer.iter().flat_map(|text| text.lines()) {
            self.centre(line, Weight::Plain);
        }
        self.blocks.push(Block::Barcode(self.receipt.barcode.clone()));
    }
}

/// Units of what is counted: they say nothing beside a number.
const PIECES: &[&str] = &["ea", "each", "pc", "pcs"];
