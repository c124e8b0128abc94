//! Labels that a scale prints: an EAN-13 with a product number and a weight or a price inside.

use serde::Deserialize;
use tillkeep_model::gtin::check_digit_fits;
use tillkeep_model::{JsonText, Money, Qty, rdiv};

/// One entry of `stores.scale_barcode_rules`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Rule {
    prefix: String,
    value: Content,
    plu_digits: usize,
    value_digits: usize,
    /// Decimals of the weight in units, or of the price in units of currency.
    value_decimals: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Content {
    Weight,
    Price,
}

/// What a label says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub plu: String,
    pub printed: Printed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Printed {
    Weight(Qty),
    Price(Money),
}

/// Why a code is not the label that its prefix makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadCheckDigit;

/// The rules of a store; one that cannot be read is passed over, as the others still hold.
pub(crate) fn rules(json: &JsonText) -> Vec<Rule> {
    let list = json.0.as_array().into_iter().flatten();
    list.filter_map(|rule| serde_json::from_value(rule.clone()).ok()).collect()
}

/// Reads `code` by the rule with the longest prefix that fits it; `None` when none does. `exponent` is the number of
/// decimals of the store's currency.
pub(crate) fn read(code: &str, rules: &[Rule], exponent: i16) -> Result<Option<Label>, BadCheckDigit> {
    let fitting = rules.iter().filter(|rule| rule.fits(code));
    let Some(rule) = fitting.max_by_key(|rule| rule.prefix.len()) else { return Ok(None) };
    if !check_digit_fits(code) {
        return Err(BadCheckDigit);
    }
    let (plu, rest) = code[rule.prefix.len()..].split_at(rule.plu_digits);
    let Some(value) = rest.get(..rule.value_digits).and_then(|digits| digits.parse::<i64>().ok()) else {
        return Ok(None);
    };
    let printed = match rule.value {
        Content::Weight => scaled(value, 3, rule.value_decimals.unwrap_or(3)).map(|value| Printed::Weight(Qty(value))),
        Content::Price => {
            let exponent = u32::try_from(exponent).unwrap_or_default();
            let decimals = rule.value_decimals.unwrap_or(exponent);
            scaled(value, exponent, decimals).map(|value| Printed::Price(Money(value)))
        }
    };
    Ok(printed.map(|printed| Label { plu: plu.to_owned(), printed }))
}

impl Rule {
    /// The last digit of the code is its check digit.
    fn fits(&self, code: &str) -> bool {
        let length = self.prefix.len().saturating_add(self.plu_digits).saturating_add(self.value_digits);
        !self.prefix.is_empty()
            && length < 18
            && code.len() == length + 1
            && code.starts_with(&self.prefix)
            && code.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// `value` with `from` decimals as a whole number of the unit with `to` decimals.
fn scaled(value: i64, to: u32, from: u32) -> Option<i64> {
    let wide = i128::from(value);
    let scaled = if to >= from {
        wide.checked_mul(10_i128.checked_pow(to - from)?)?
    } else {
        rdiv(wide, 10_i128.checked_pow(from - to)?)
    };
    i64::try_from(scaled).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Vec<Rule> {
        rules(&JsonText(serde_json::json!([
            {"prefix": "21", "value": "weight", "pluDigits": 5, "valueDigits": 5, "valueDecimals": 3},
            {"prefix": "20", "value": "price", "pluDigits": 5, "valueDigits": 5, "valueDecimals": 2},
            {"prefix": "22", "value": "colour"},
        ])))
    }

    #[test]
    fn vectors_b01_and_b02_weight_and_price_are_inside_the_code() {
        let read = |code| read(code, &example(), 2).expect("check digit").expect("label");
        assert_eq!(read("2104011012378"), Label { plu: "04011".into(), printed: Printed::Weight(Qty(1237)) });
        assert_eq!(read("2004011007414"), Label { plu: "04011".into(), printed: Printed::Price(Money(741)) });
    }

    #[test]
    fn a_wrong_check_digit_is_told_apart_from_another_kind_of_code() {
        assert_eq!(read("2104011012379", &example(), 2), Err(BadCheckDigit));
        for code in ["2204011012378", "210401101237", "21O4011012378", "", "4011"] {
            assert_eq!(read(code, &example(), 2), Ok(None), "{code}");
        }
    }

    #[test]
    fn the_decimals_of_a_label_are_not_those_of_the_currency() {
        let yen = |decimals| {
            let rule = Rule {
                prefix: "20".into(),
                value: Content::Price,
                plu_digits: 5,
                value_digits: 5,
                value_decimals: decimals,
            };
            read("2004011007414", &[rule], 0).expect("check digit").expect("label").printed
        };
        assert_eq!(yen(None), Printed::Price(Money(741)));
        assert_eq!(yen(Some(2)), Printed::Price(Money(7)));
    }
}
