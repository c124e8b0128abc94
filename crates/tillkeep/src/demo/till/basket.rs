//! What a customer brings to the till, and how it gets into the cart: scanned, weighed, typed.

use serde_json::{Value, json};

use crate::demo::chain::Stream;

/// The labels of the demo's scales: `super::super::chain` gives its stores these rules.
const WEIGHT: &str = "21";
const PRICE: &str = "20";
/// Of a hundred carts: those with something off one line, and those with something off all of it.
const LINE_DISCOUNTS: usize = 8;
const CART_DISCOUNTS: usize = 5;
/// Of a hundred customers those who say who they are.
const KNOWN: usize = 20;

/// What the cashier knows of a product.
pub struct Article {
    id: String,
    barcode: Option<String>,
    /// Number on the labels of scales.
    plu: Option<String>,
    packs: Vec<String>,
    is_weighed: bool,
    needs_age: bool,
    is_named_at_till: bool,
}

impl Article {
    /// From a row of `GET /pos/products`; nothing for what is only sold with something else.
    pub fn read(row: &Value) -> Option<Self> {
        let text = |name: &str| row[name].as_str().map(str::to_owned);
        if row["productType"] == "deposit" || (row["isOpenPrice"] == true && row["namedAtTill"] != true) {
            return None;
        }
        let packs = row["packs"].as_array().into_iter().flatten();
        Some(Self {
            id: text("id")?,
            barcode: text("barcode"),
            plu: text("plu").filter(|plu| plu.len() == 5),
            packs: packs.filter_map(|pack| pack["code"].as_str().map(str::to_owned)).collect(),
            is_weighed: row["quantityDecimals"].as_i64().unwrap_or_default() == 3,
            needs_age: !row["ageRestriction"].is_null(),
            is_named_at_till: row["namedAtTill"] == true,
        })
    }

    pub(super) fn line(&self, random: &mut Stream) -> Value {
        let mut line = json!({"productId": self.id, "ageConfirmed": self.needs_age});
        if self.is_named_at_till {
            line["name"] = "Birthday candle".into();
            line["openPrice"] = random.between(49, 499).into();
            line["quantity"] = 1.into();
        } else if let Some(plu) = self.plu.as_ref().filter(|_| random.below(3) > 0) {
            // The scale prints the weight, or what that costs; the store reads it.
            let label = if random.below(2) == 0 { WEIGHT } else { PRICE };
            line["code"] = with_check_digit(&format!("{label}{plu}{:05}", random.between(150, 1500))).into();
        } else if self.is_weighed {
            line["quantity"] = format!("0.{}", random.between(100, 999)).into();
        } else if let Some(pack) = self.packs.first().filter(|_| random.below(2) == 0) {
            line["code"] = pack.clone().into();
        } else {
            line["quantity"] = random.between(1, 3).into();
            if let Some(code) = self.barcode.as_ref().filter(|_| random.below(2) == 0) {
                line["code"] = code.clone().into();
            }
        }
        line
    }
}

/// What a till knows besides its articles.
#[derive(Default)]
pub struct Known {
    /// Codes of reasons for a discount that want no word more.
    pub reasons: Vec<String>,
    pub customers: Vec<String>,
}

/// The lines of the next customer, and who that is.
pub fn basket(articles: &[Article], known: &Known, random: &mut Stream) -> Value {
    let mut lines = Vec::new();
    for _ in 0..random.between(1, 5) {
        lines.push(articles[random.below(articles.len())].line(random));
    }
    let mut basket = json!({"lines": lines});
    if random.below(100) < KNOWN && !known.customers.is_empty() {
        basket["customerId"] = known.customers[random.below(known.customers.len())].clone().into();
    }
    basket
}

/// Takes something off what takes it, within what a cashier may; whether the basket is another one now.
pub fn discount(basket: &mut Value, quote: &Value, known: &Known, random: &mut Stream) -> bool {
    let drawn = random.below(100);
    let takes = |line: &&Value| line["takesDiscount"] == true && line["chargeOf"].is_null();
    let Some(line) = quote["lines"].as_array().and_then(|lines| lines.iter().find(takes)) else { return false };
    // Charges stand in the quote and not in the basket: a line is found by what it was called.
    let place = line["lineId"].as_str().and_then(|id| id.parse::<usize>().ok());
    if drawn < LINE_DISCOUNTS && !known.reasons.is_empty() {
        let Some(place) = place else { return false };
        let reason = &known.reasons[random.below(known.reasons.len())];
        basket["lines"][place]["lineDiscount"] = json!({"type": "percent", "bps": 500, "reasonCode": reason});
        return true;
    }
    if drawn < LINE_DISCOUNTS + CART_DISCOUNTS {
        basket["cartDiscount"] = if random.below(2) == 0 {
            json!({"type": "percent", "bps": 300, "reason": "Opening week"})
        } else {
            json!({"type": "amount", "amount": 5, "reason": "Rounded for a friend"})
        };
        return true;
    }
    false
}

/// An EAN-13 of twelve digits.
fn with_check_digit(digits: &str) -> String {
    let weighted =
        digits.bytes().zip([1, 3].into_iter().cycle()).map(|(digit, weight)| u32::from(digit - b'0') * weight);
    format!("{digits}{}", (10 - weighted.sum::<u32>() % 10) % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Stream {
        Stream::new(1, "a till")
    }

    #[test]
    fn labels_packs_and_typed_names_come_into_the_cart_as_codes_and_texts() {
        let row = |more: Value| {
            let mut row = json!({"id": "A", "barcode": "2990501010009", "quantityDecimals": 0, "packs": []});
            row.as_object_mut().expect("a row").extend(more.as_object().expect("members").clone());
            row
        };
        let apple = Article::read(&row(json!({"plu": "04001", "quantityDecimals": 3}))).expect("an article");
        let cola =
            Article::read(&row(json!({"packs": [{"code": "2990501010061", "quantity": 6}]}))).expect("an article");
        let named = Article::read(&row(json!({"isOpenPrice": true, "namedAtTill": true}))).expect("an article");
        assert!(Article::read(&row(json!({"productType": "deposit"}))).is_none());
        let mut random = stream();
        let mut codes = |article: &Article| -> Vec<String> {
            let lines = (0..60).map(|_| article.line(&mut random));
            lines.filter_map(|line| line["code"].as_str().map(str::to_owned)).collect()
        };
        let labels = codes(&apple);
        assert!(
            labels.iter().any(|code| code.starts_with("2004001"))
                && labels.iter().any(|code| code.starts_with("2104001"))
        );
        assert!(labels.iter().all(|code| code.len() == 13 && !tillkeep_model::gtin::is_misread(code)));
        let scanned = codes(&cola);
        assert!(["2990501010061", "2990501010009"].iter().all(|code| scanned.iter().any(|other| other == code)));
        let line = named.line(&mut stream());
        assert!(line["name"].is_string() && line["openPrice"].as_i64() > Some(0), "{line}");
    }

    #[test]
    fn nothing_is_taken_off_what_takes_no_discount() {
        let known = Known { reasons: vec!["staff".to_owned()], customers: Vec::new() };
        let quote = |takes: bool| {
            json!({"lines": [
                {"lineId": "0", "takesDiscount": false}, {"chargeOf": 1, "takesDiscount": true}, {"lineId": "1", "takesDiscount": takes},
            ]})
        };
        let mut random = stream();
        let (mut of_lines, mut of_carts) = (0, 0);
        for _ in 0..500 {
            let mut basket = json!({"lines": [{}, {}]});
            assert!(!discount(&mut basket, &quote(false), &known, &mut random));
            if discount(&mut basket, &quote(true), &known, &mut random) {
                of_lines += usize::from(basket["lines"][1]["lineDiscount"]["reasonCode"] == "staff");
                of_carts += usize::from(basket["cartDiscount"].is_object());
                assert!(basket["lines"][0]["lineDiscount"].is_null());
            }
        }
        assert!(of_lines > 10 && of_carts > 5, "{of_lines} {of_carts}");
    }
}
