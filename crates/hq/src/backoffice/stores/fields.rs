//! What the settings of a store say of each other. What each of them may be is in the rule book.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value as Json;
use tillkeep_http::error::Result;
use tillkeep_http::resource::Check;
use tillkeep_model::fields::shape::exponent;
use tillkeep_model::fields::store::open_price_at_most;
use tillkeep_model::{ErrorCode, Money, fields};
use tillkeep_storage::entity::store::Model;

use crate::backoffice::rows::Kind;
use crate::customer_numbers::HQ;

pub(super) const KIND: Kind =
    Kind { book: &fields::store::BOOK, singular: "store", unique: &[("code", ErrorCode::DuplicateCode)], hidden: &[] };

/// The digits of the labels of a shop's scales: an EAN-13 of prefix, PLU, value and check digit.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScaleRule {
    prefix: String,
    plu_digits: usize,
    value_digits: usize,
}

impl ScaleRule {
    fn fits_a_label(&self) -> bool {
        self.prefix.len() + self.plu_digits + self.value_digits <= 12
    }
}

/// Completes or refuses a store about to be written; `old` is the row before a change.
pub(super) fn check(old: Option<&Model>, row: &mut Model, sends_exponent: bool) -> Result<()> {
    let mut check = Check::default();
    check.that(row.code != HQ, "code", "must not be HQ: numbers made at headquarters begin with it");
    if old.is_none_or(|old| old.scale_barcode_rules != row.scale_barcode_rules) {
        check_scale_rules(&mut check, &row.scale_barcode_rules.0);
    }
    if old.is_some_and(|old| old.currency_code != row.currency_code) && !sends_exponent {
        row.currency_exponent = exponent(&row.currency_code).unwrap_or(row.currency_exponent);
    }
    if let Some(old) = old.filter(|old| old.currency_exponent != row.currency_exponent) {
        follow_currency(old, row);
    }
    let currency = |row: &Model| (row.currency_code.clone(), row.currency_exponent);
    if old.is_none_or(|old| currency(old) != currency(row))
        && let Some(decimals) = exponent(&row.currency_code)
    {
        let text = format!("must be {decimals}, the decimals of {}; or leave it out", row.currency_code);
        check.that(row.currency_exponent == decimals, "currencyExponent", &text);
    }
    check.finish()
}

/// What nobody set is as many units of the new currency.
fn follow_currency(old: &Model, row: &mut Model) {
    let initial = |row: &Model| Some(Money(open_price_at_most(row.currency_exponent)));
    if row.max_open_price == old.max_open_price && old.max_open_price == initial(old) {
        row.max_open_price = initial(row);
    }
}

/// Each prefix has one rule, and a label has room for what a rule reads.
fn check_scale_rules(check: &mut Check, rules: &Json) {
    let rules = Vec::<ScaleRule>::deserialize(rules).unwrap_or_default();
    let mut prefixes = BTreeSet::new();
    for (index, rule) in rules.iter().enumerate() {
        let field = format!("scaleBarcodeRules[{index}]");
        let long = "must have at most 12 digits in all: prefix, pluDigits and valueDigits, before the check digit";
        check.that(rule.fits_a_label(), &field, long);
        let twice = format!("must be another prefix: there is a rule for {} already", rule.prefix);
        check.that(prefixes.insert(&rule.prefix), &format!("{field}.prefix"), &twice);
    }
}
