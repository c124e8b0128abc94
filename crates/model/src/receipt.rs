//! Receipt numbers, `S01-02-000123`: store, register, and a counter per register without gaps.

use std::fmt;

/// One receipt of one register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiptNumber {
    pub store_code: String,
    pub register_code: String,
    pub number: i64,
}

impl fmt::Display for ReceiptNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{:06}", self.store_code, self.register_code, self.number)
    }
}

impl ReceiptNumber {
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
    }
}
