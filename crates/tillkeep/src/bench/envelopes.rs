//! Sales as a store pushes them: three lines, one payment.

use std::fmt::Write as _;

use uuid::Uuid;

use super::http::request;

pub const LINES: usize = 3;
const AT: &str = "2026-11-20T15:04:05.123Z";
const DATE: &str = "2026-11-20";

/// Of so many sales one is bad.
pub const BAD_EVERY: usize = 100;

/// What is wrong with a bad sale, by who finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    /// The reader of the envelope: a quantity is a word.
    Unread,
    /// A rule, once it is compared with what is there: no sale is deleted.
    Rule,
    /// What is done with it in the end: no number holds the stock that would be left.
    Effect,
}

/// Sales of one store, of which one in [`BAD_EVERY`] may be bad.
pub struct Envelopes<'a> {
    pub store: Uuid,
    pub products: &'a [String],
    pub bad: Option<Bad>,
}

impl Envelopes<'_> {
    /// The request that pushes so many new ones.
    pub fn request(&self, token: &str, count: usize) -> Vec<u8> {
        let mut body = String::from(r#"{"envelopes":["#);
        for number in 0..count {
            let bad = self.bad.filter(|_| number % BAD_EVERY == BAD_EVERY - 1);
            let comma = if number > 0 { "," } else { "" };
            // Writing to a text does not fail.
            write!(body, "{comma}{}", self.sale(number, bad)).unwrap_or_default();
        }
        body.push_str("]}");
        request("POST", "/sync/push", token, &body)
    }

    fn sale(&self, number: usize, bad: Option<Bad>) -> String {
        let (id, store) = (Uuid::now_v7(), self.store);
        let (quantity, action, lines) = match bad {
            None => ("1", "create", LINES),
            Some(Bad::Unread) => (r#""many""#, "create", LINES),
            Some(Bad::Rule) => ("1", "delete", LINES),
            // Each line alone is well.
            Some(Bad::Effect) => ("999999999999999", "create", 10),
        };
        let lines: Vec<String> = (0..lines)
            .map(|line| {
                let other = if bad == Some(Bad::Effect) { 0 } else { line };
                let product = &self.products[(number * LINES + other) % self.products.len()];
                format!(
                    r#"{{"id":"{}","lineNo":{},"productId":"{product}","sku":"SKU","productName":"Product","quantity":{quantity},"unitPrice":1000,"regularPrice":1000,"listAmount":1000,"netAmount":1000,"taxAmount":89,"totalAmount":1089}}"#,
                    Uuid::now_v7(),
                    line + 1
                )
            })
            .collect();
        format!(
            r#"{{"store_id":"{store}","entity_type":"sales","entity_id":"{id}","action":"{action}","timestamp":"{AT}","data":{{"id":"{id}","receiptNumber":"S01-09-{id}","registerCode":"09","saleType":"sale","status":"completed","businessDate":"{DATE}","netAmount":3000,"taxAmount":267,"totalAmount":3267,"createdAt":"{AT}","completedAt":"{AT}","currencyCode":"USD","cashierName":"Ann","saleItems":[{}],"salePayments":[{{"id":"{}","lineNo":1,"tenderCode":"CARD","tenderKind":"card","amount":3267}}]}}}}"#,
            lines.join(","),
            Uuid::now_v7()
        )
    }
}
