//! What is hashed of a document: its content in one line of JSON, byte by byte the same wherever it is written. `docs/chain.md`.
//!
//! A closed list of what never changes. Whoever adds a field here makes another [`VERSION`]: what was hashed stays as it was.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Instant, Money};

/// The form that is written here.
pub const VERSION: i32 = 1;

/// The id of the chain of a register: one for each database of its store, and for each letter of the series of its receipts.
#[must_use]
pub fn id(store: Uuid, node_epoch: &str, register: Uuid, letter: &str) -> Uuid {
    crate::ids::named(&format!("chain:{store}:{node_epoch}:{register}:{letter}"))
}

/// An entry of a chain with the document that it is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Content<'a> {
    pub version: i32,
    pub chain: Uuid,
    pub number: i64,
    pub kind: &'a str,
    /// The hash of the entry before; empty at number 1.
    pub previous: &'a str,
    /// The last hash that was known of the chain before of the same register.
    pub follows: Option<&'a str>,
    pub at: Instant,
    pub running_total: Money,
    pub document: Document<'a>,
    /// By their numbers.
    pub lines: Vec<Line<'a>>,
    /// By their numbers.
    pub payments: Vec<Payment<'a>>,
}

impl Content<'_> {
    /// The bytes that are hashed: one line without its end.
    #[must_use]
    pub fn line(&self) -> String {
        // Texts, numbers and lists of them: nothing in it cannot be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Document<'a> {
    pub id: Uuid,
    pub store: Uuid,
    pub receipt_number: &'a str,
    pub register: Uuid,
    pub register_code: &'a str,
    pub session: Uuid,
    #[serde(rename = "type")]
    pub sale_type: &'a str,
    pub business_date: &'a str,
    pub completed_at: Instant,
    pub cashier: Uuid,
    pub original: Option<Uuid>,
    pub original_receipt_number: Option<&'a str>,
    pub exchange_group: Option<Uuid>,
    pub currency: &'a str,
    pub tax_rounding: &'a str,
    pub tax_exempt: bool,
    pub prepaid: bool,
    pub list: Money,
    pub special_discount: Money,
    pub line_discount: Money,
    pub cart_discount: Money,
    pub net: Money,
    pub tax: Money,
    pub total: Money,
    pub cash_rounding: Money,
    pub change: Money,
    pub taxes: Vec<Tax>,
    pub approvals: Vec<Approval>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Line<'a> {
    pub id: Uuid,
    pub no: i32,
    pub product: Uuid,
    pub sku: &'a str,
    pub name: &'a str,
    pub unit: &'a str,
    /// Thousandths of the unit.
    pub quantity: i64,
    pub regular_price: Money,
    pub unit_price: Money,
    pub includes_tax: bool,
    pub list: Money,
    pub special_discount: Money,
    pub line_discount: Money,
    pub cart_discount: Money,
    pub net: Money,
    pub tax: Money,
    pub total: Money,
    pub taxes: Vec<Tax>,
    pub specials: Vec<Special>,
    /// The line of the original that a refund gives back.
    pub original: Option<Uuid>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment<'a> {
    pub id: Uuid,
    pub no: i32,
    pub tender: Option<Uuid>,
    pub tender_code: &'a str,
    pub kind: &'a str,
    pub amount: Money,
    pub tendered: Option<Money>,
    pub change: Money,
    pub is_change: bool,
}

/// One of `sales.tax_lines` or `sale_items.tax_details`, as it is kept there and, with shorter names, as it is hashed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all(deserialize = "camelCase"))]
pub struct Tax {
    #[serde(rename(deserialize = "taxRateId", serialize = "rate"))]
    pub rate: Option<Uuid>,
    pub code: String,
    #[serde(rename(deserialize = "ratePpm", serialize = "ppm"))]
    pub ppm: i64,
    #[serde(rename(deserialize = "baseAmount", serialize = "base"))]
    pub base: i64,
    #[serde(rename(deserialize = "taxAmount", serialize = "tax"))]
    pub tax: i64,
}

/// One of `sale_items.special_details`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Special {
    #[serde(rename(deserialize = "specialId", serialize = "special"))]
    pub special: Option<Uuid>,
    pub code: String,
    pub amount: i64,
}

/// One of `sales.approvals`, without the name of whoever gave it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Approval {
    pub permission: String,
    #[serde(rename(deserialize = "approverId", serialize = "approver"))]
    pub approver: Option<Uuid>,
}

/// What a column with a list holds, as far as it is of this form; nothing of one that holds something else.
#[must_use]
pub fn list<T: for<'de> Deserialize<'de>>(column: &crate::JsonText) -> Vec<T> {
    let serde_json::Value::Array(values) = &column.0 else { return Vec::new() };
    values.iter().filter_map(|value| T::deserialize(value).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JsonText;

    fn number(last: u128) -> Uuid {
        Uuid::from_u128(last)
    }

    fn content() -> Content<'static> {
        let tax = Tax { rate: Some(number(7)), code: "NY".to_owned(), ppm: 88_750, base: 1000, tax: 89 };
        let special = Special { special: Some(number(8)), code: "TEA2".to_owned(), amount: 100 };
        Content {
            version: VERSION,
            chain: number(1),
            number: 2,
            kind: "sale",
            previous: "ab",
            follows: None,
            at: Instant::from_millis(1_795_000_000_007),
            running_total: Money(2178),
            document: Document {
                id: number(2),
                store: number(3),
                receipt_number: "S01-01-000002",
                register: number(4),
                register_code: "01",
                session: number(5),
                sale_type: "sale",
                business_date: "2026-11-18",
                completed_at: Instant::from_millis(1_795_000_000_000),
                cashier: number(6),
                original: None,
                original_receipt_number: None,
                exchange_group: None,
                currency: "USD",
                tax_rounding: "line",
                tax_exempt: false,
                prepaid: false,
                list: Money(1100),
                special_discount: Money(100),
                line_discount: Money(0),
                cart_discount: Money(0),
                net: Money(1000),
                tax: Money(89),
                total: Money(1089),
                cash_rounding: Money(1),
                change: Money(910),
                taxes: vec![tax.clone()],
                approvals: vec![Approval { permission: "pos.discount".to_owned(), approver: Some(number(9)) }],
            },
            lines: vec![Line {
                id: number(10),
                no: 1,
                product: number(11),
                sku: "TEA",
                name: "Thé \"vert\"\n1/2",
                unit: "kg",
                quantity: 1237,
                regular_price: Money(889),
                unit_price: Money(889),
                includes_tax: false,
                list: Money(1100),
                special_discount: Money(100),
                line_discount: Money(0),
                cart_discount: Money(0),
                net: Money(1000),
                tax: Money(89),
                total: Money(1089),
                taxes: vec![tax],
                specials: vec![special],
                original: None,
            }],
            payments: vec![Payment {
                id: number(12),
                no: 1,
                tender: Some(number(13)),
                tender_code: "CASH",
                kind: "cash",
                amount: Money(1090),
                tendered: Some(Money(2000)),
                change: Money(910),
                is_change: false,
            }],
        }
    }

    #[test]
    fn the_hashed_line_of_a_chain_is_this_byte_by_byte() {
        let id = |last: &str| format!("\"00000000-0000-0000-0000-0000000000{last}\"");
        let taxes = format!(r#"[{{"rate":{},"code":"NY","ppm":88750,"base":1000,"tax":89}}]"#, id("07"));
        let amounts =
            r#""list":1100,"specialDiscount":100,"lineDiscount":0,"cartDiscount":0,"net":1000,"tax":89,"total":1089"#;
        let wanted = [
            format!(r#"{{"version":1,"chain":{},"number":2,"kind":"sale","previous":"ab","follows":null,"#, id("01")),
            r#""at":"2026-11-18T11:06:40.007Z","runningTotal":2178,"#.to_owned(),
            format!(r#""document":{{"id":{},"store":{},"receiptNumber":"S01-01-000002","#, id("02"), id("03")),
            format!(r#""register":{},"registerCode":"01","session":{},"type":"sale","#, id("04"), id("05")),
            format!(r#""businessDate":"2026-11-18","completedAt":"2026-11-18T11:06:40.000Z","cashier":{},"#, id("06")),
            r#""original":null,"originalReceiptNumber":null,"exchangeGroup":null,"currency":"USD","#.to_owned(),
            r#""taxRounding":"line","taxExempt":false,"prepaid":false,"#.to_owned(),
            format!(r#"{amounts},"cashRounding":1,"change":910,"taxes":{taxes},"#),
            format!(r#""approvals":[{{"permission":"pos.discount","approver":{}}}]}},"#, id("09")),
            format!(r#""lines":[{{"id":{},"no":1,"product":{},"sku":"TEA","#, id("0a"), id("0b")),
            r#""name":"Thé \"vert\"\n1/2","unit":"kg","quantity":1237,"regularPrice":889,"unitPrice":889,"#.to_owned(),
            format!(r#""includesTax":false,{amounts},"taxes":{taxes},"#),
            format!(r#""specials":[{{"special":{},"code":"TEA2","amount":100}}],"original":null}}],"#, id("08")),
            format!(r#""payments":[{{"id":{},"no":1,"tender":{},"tenderCode":"CASH","#, id("0c"), id("0d")),
            r#""kind":"cash","amount":1090,"tendered":2000,"change":910,"isChange":false}]}"#.to_owned(),
        ];
        assert_eq!(content().line(), wanted.concat());
        assert!(!content().line().contains('\n'));
    }

    #[test]
    fn lists_of_a_document_are_hashed_as_a_chain_knows_them_whatever_else_they_say() {
        let kept = serde_json::json!([
            {"taxRateId": number(7), "code": "NY", "name": "New York", "ratePpm": 88_750, "baseAmount": 1000, "taxAmount": 89},
            {"code": 5},
            "no tax",
        ]);
        let tax = Tax { rate: Some(number(7)), code: "NY".to_owned(), ppm: 88_750, base: 1000, tax: 89 };
        assert_eq!(list::<Tax>(&JsonText(kept)), [tax]);
        assert_eq!(list::<Tax>(&JsonText(serde_json::json!({}))), []);
        let kept = serde_json::json!([{"permission": "pos.void", "approverId": number(9), "approverName": "Eve"}]);
        let approval = Approval { permission: "pos.void".to_owned(), approver: Some(number(9)) };
        assert_eq!(list::<Approval>(&JsonText(kept)), [approval]);
    }

    #[test]
    fn each_database_and_each_letter_of_a_register_has_a_chain_of_its_own() {
        let chain = |epoch: &str, letter: &str| id(number(1), epoch, number(2), letter);
        assert_eq!(chain("a", ""), chain("a", ""));
        for other in [chain("b", ""), chain("a", "A"), id(number(1), "a", number(3), "")] {
            assert_ne!(chain("a", ""), other);
        }
    }
}
