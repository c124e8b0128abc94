//! What may be written of a store, and within which bounds.

use chrono_tz::Tz;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use tillkeep_http::error::Result;
use tillkeep_http::resource::{Check, Fields};
use tillkeep_model::ErrorCode;
use tillkeep_storage::entity::store::Model;

use crate::backoffice::LARGEST;
use crate::backoffice::rows::Kind;

pub const KIND: Kind = Kind {
    name: "stores",
    singular: "store",
    fields: Fields {
        writable: &[
            "code",
            "name",
            "legalName",
            "taxRegistrationNo",
            "addressLine1",
            "addressLine2",
            "city",
            "region",
            "postalCode",
            "countryCode",
            "phone",
            "email",
            "timezone",
            "currencyCode",
            "currencyExponent",
            "locale",
            "pricesIncludeTax",
            "taxRounding",
            "cashRoundingIncrement",
            "cashRoundingMode",
            "businessDayStart",
            "maxSessionHours",
            "maxLineDiscountBps",
            "maxCartDiscountBps",
            "allowNegativeStock",
            "blindClose",
            "cashVarianceLimit",
            "refundWindowDays",
            "allowUnlinkedRefunds",
            "refundToOriginalTender",
            "unlinkedRefundLimit",
            "defaultFloat",
            "fourEyesDocuments",
            "scaleBarcodeRules",
            "receiptHeader",
            "receiptFooter",
        ],
        required: &["code", "name"],
    },
    defaults,
    unique: &[("code", ErrorCode::DuplicateCode)],
    hidden: &[],
};

fn defaults(body: &Map<String, Json>) -> Json {
    let currency = body.get("currencyCode").and_then(Json::as_str).unwrap_or("USD");
    json!({
        "countryCode": "US", "locale": "en-US", "timezone": "UTC",
        "currencyCode": "USD", "currencyExponent": exponent(currency),
        "isActive": false, "syncTokenVersion": 1,
        "taxRounding": "line", "cashRoundingIncrement": 1, "cashRoundingMode": "nearest",
        "businessDayStart": "04:00", "maxSessionHours": 30,
        "maxLineDiscountBps": 1000, "maxCartDiscountBps": 1000,
        "allowNegativeStock": true, "blindClose": true, "cashVarianceLimit": 500,
        "refundToOriginalTender": true, "unlinkedRefundLimit": 5000, "defaultFloat": 20_000,
    })
}

/// Decimals of the currencies that do not have two (ISO 4217).
fn exponent(currency: &str) -> i16 {
    match currency {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX" | "VND" | "VUV"
        | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        _ => 2,
    }
}

/// What the labels of a shop's scales say: an EAN-13 of prefix, PLU, value and check digit.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ScaleRule {
    prefix: String,
    value: String,
    plu_digits: usize,
    value_digits: usize,
    #[serde(default)]
    value_decimals: usize,
}

impl ScaleRule {
    fn is_sound(&self) -> bool {
        let digits = (1..=3).contains(&self.prefix.len()) && self.prefix.bytes().all(|byte| byte.is_ascii_digit());
        digits
            && ["weight", "price"].contains(&self.value.as_str())
            && (4..=5).contains(&self.plu_digits)
            && (1..=6).contains(&self.value_digits)
            && self.value_decimals <= 3
            && self.prefix.len() + self.plu_digits + self.value_digits <= 12
    }
}

fn are_scale_rules(rules: &Json) -> bool {
    let rules = Vec::<ScaleRule>::deserialize(rules).ok().filter(|rules| rules.len() <= 20);
    rules.is_some_and(|rules| rules.iter().all(ScaleRule::is_sound))
}

/// `HH:MM` of a day.
fn is_time(text: &str) -> bool {
    let part = |text: &str, below: u8| {
        text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u8>().is_ok_and(|n| n < below)
    };
    text.split_once(':').is_some_and(|(hours, minutes)| part(hours, 24) && part(minutes, 60))
}

fn letters(text: &str, count: usize) -> bool {
    text.len() == count && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

pub fn check(row: &Model) -> Result<()> {
    let mut check = Check::default();
    check_texts(&mut check, row);
    let code = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    check
        .that(
            (2..=10).contains(&row.code.len()) && row.code.bytes().all(code),
            "code",
            "must have 2 to 10 characters of A to Z and 0 to 9",
        )
        .that(row.code != "HQ", "code", "must not be HQ: numbers made at headquarters begin with it")
        .that(letters(&row.country_code, 2), "countryCode", "must be a country code of ISO 3166, such as US")
        .that(letters(&row.currency_code, 3), "currencyCode", "must be a currency code of ISO 4217, such as USD")
        .that(row.timezone.parse::<Tz>().is_ok(), "timezone", "must be an IANA time zone, such as America/New_York")
        .that(is_time(&row.business_day_start), "businessDayStart", "must be a time of day like 04:00")
        .one_of(&row.tax_rounding, "taxRounding", &["line", "invoice"])
        .one_of(&row.cash_rounding_mode, "cashRoundingMode", &["nearest", "up", "down"])
        .that(
            are_scale_rules(&row.scale_barcode_rules.0),
            "scaleBarcodeRules",
            "must be a list of {prefix, value: weight or price, pluDigits: 4 or 5, valueDigits, valueDecimals}",
        )
        .range(row.currency_exponent, "currencyExponent", 0..=4)
        .range(row.cash_rounding_increment, "cashRoundingIncrement", 1..=100_000)
        .range(row.max_session_hours, "maxSessionHours", 1..=168)
        .range(row.max_line_discount_bps.0, "maxLineDiscountBps", 0..=10_000)
        .range(row.max_cart_discount_bps.0, "maxCartDiscountBps", 0..=10_000)
        .range(row.cash_variance_limit.0, "cashVarianceLimit", 0..=LARGEST)
        .range(row.refund_window_days.unwrap_or_default(), "refundWindowDays", 0..=36_500)
        .range(row.unlinked_refund_limit.0, "unlinkedRefundLimit", 0..=LARGEST)
        .range(row.default_float.0, "defaultFloat", 0..=LARGEST)
        .finish()
}

fn check_texts(check: &mut Check, row: &Model) {
    check
        .text(&row.name, "name", 100)
        .optional(row.legal_name.as_deref(), "legalName", 200)
        .optional(row.tax_registration_no.as_deref(), "taxRegistrationNo", 50)
        .optional(row.address_line1.as_deref(), "addressLine1", 200)
        .optional(row.address_line2.as_deref(), "addressLine2", 200)
        .optional(row.city.as_deref(), "city", 100)
        .optional(row.region.as_deref(), "region", 100)
        .optional(row.postal_code.as_deref(), "postalCode", 20)
        .optional(row.phone.as_deref(), "phone", 40)
        .optional(row.email.as_deref(), "email", 200)
        .text(&row.locale, "locale", 20)
        .optional(row.receipt_header.as_deref(), "receiptHeader", 2000)
        .optional(row.receipt_footer.as_deref(), "receiptFooter", 2000);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_has_two_digits_each() {
        for good in ["00:00", "04:00", "23:59"] {
            assert!(is_time(good), "{good}");
        }
        for bad in ["", "4:00", "24:00", "12:60", "12:5", "12:00:00", "+1:00", "ab:cd"] {
            assert!(!is_time(bad), "{bad}");
        }
    }

    #[test]
    fn a_scale_rule_fits_an_ean_13() {
        let rule = |plu: i32, value: i32| json!([{"prefix": "21", "value": "weight", "pluDigits": plu, "valueDigits": value, "valueDecimals": 3}]);
        assert!(are_scale_rules(&rule(5, 5)));
        assert!(are_scale_rules(&json!([])));
        assert!(!are_scale_rules(&rule(5, 6)), "thirteen digits and no room for the check digit");
        assert!(!are_scale_rules(&json!([{"prefix": "21"}])));
        assert!(!are_scale_rules(&json!("21")));
    }
}
