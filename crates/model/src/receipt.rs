//! Receipt numbers, `S01-02-000123`: store, register, and a counter per register without gaps. A letter after the register,
//! `S01-02A-000001`, begins a series of its own.

use std::fmt;

/// One receipt of one register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiptNumber {
    pub store_code: String,
    /// With the letter of the series, when it has one.
    pub register_code: String,
    pub number: i64,
}

impl fmt::Display for ReceiptNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{:06}", self.store_code, self.register_code, self.number)
    }
}

impl ReceiptNumber {
    /// Receipts of one till in the order in which they were given: a series with a letter begins where an earlier one was
    /// left off.
    #[must_use]
    pub fn order(&self) -> (usize, &str, i64) {
        (self.register_code.len(), &self.register_code, self.number)
    }

    /// The register of a series: `02` of `02A`.
    #[must_use]
    pub fn register_of(series: &str) -> &str {
        series.trim_end_matches(|letter: char| letter.is_ascii_uppercase())
    }

    /// As [`ReceiptNumber::parse`], of a text that a till says it has printed: each part says something.
    #[must_use]
    pub fn parse_printed(text: &str) -> Option<Self> {
        let receipt = Self::parse(text).filter(|receipt| receipt.number > 0)?;
        let digits = text.rsplit('-').next()?;
        let is_whole = !receipt.store_code.is_empty() && !receipt.register_code.is_empty();
        (is_whole && text.len() <= 100 && digits.bytes().all(|digit| digit.is_ascii_digit())).then_some(receipt)
    }

    /// `None` when the text has another form, for example a receipt of a foreign system.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.rsplitn(3, '-');
        let number = parts.next()?.parse().ok()?;
        let register_code = parts.next()?.to_owned();
        let store_code = parts.next()?.to_owned();
        Some(Self { store_code, register_code, number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_number_is_read_as_it_was_written() {
        let number = ReceiptNumber { store_code: "S01".into(), register_code: "02".into(), number: 123 };
        assert_eq!(number.to_string(), "S01-02-000123");
        assert_eq!(ReceiptNumber::parse("S01-02-000123"), Some(number));
        assert_eq!(ReceiptNumber::parse("123"), None);
        assert_eq!(ReceiptNumber::parse_printed("S01-02-000123"), ReceiptNumber::parse("S01-02-000123"));
        for text in ["", "123", "S01-02-", "S01-02-0", "S01-02--5", "S01--5", "-02-5", "S01-02-+5", "S01-02-five"] {
            assert_eq!(ReceiptNumber::parse_printed(text), None, "{text}");
        }
    }

    #[test]
    fn a_series_with_a_letter_comes_after_the_one_without() {
        let mut given = ["S01-02A-000001", "S01-02-000009", "S01-02Z-000003", "S01-02AA-000001", "S01-02-000010"]
            .map(|text| ReceiptNumber::parse(text).expect("a receipt"));
        given.sort_by(|one, other| one.order().cmp(&other.order()));
        let sorted = given.each_ref().map(ToString::to_string);
        assert_eq!(sorted, ["S01-02-000009", "S01-02-000010", "S01-02A-000001", "S01-02Z-000003", "S01-02AA-000001"]);
        assert_eq!(["02", "02A", "02AA"].map(ReceiptNumber::register_of), ["02", "02", "02"]);
    }
}
