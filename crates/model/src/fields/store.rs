//! Stores, with the settings their tills work by. Whether one is in use has routes of its own.

use serde_json::{Map, Value as Json};

use super::shape::{CURRENCY, LOCALE, STORE_CODE, TIME_OF_DAY, TIME_ZONE, exponent};
use super::{
    Book, Field, Initial, Rule, country, email, flag, flag_on, label, money, phone, shape, shaped, share, text, whole,
    word,
};

/// What the labels of a shop's scales say: an EAN-13 of prefix, PLU, value and check digit.
static SCALE_RULE: [Field; 5] = [
    shaped("prefix", 3, &shape::SCALE_PREFIX).required(),
    word("value", &["weight", "price"]).required(),
    whole("pluDigits", 4, 5).required(),
    whole("valueDigits", 1, 6).required(),
    whole("valueDecimals", 0, 3),
];

/// The currency of a store that says nothing else.
const CURRENCY_CODE: &str = "USD";

fn exponent_of_currency(sent: &Map<String, Json>) -> Json {
    let currency = sent.get("currencyCode").and_then(Json::as_str).unwrap_or(CURRENCY_CODE);
    exponent(currency).unwrap_or(2).into()
}

/// Ten thousand units of a currency with so many decimals, in minor units: a code that is typed as a price is far more.
#[must_use]
pub fn open_price_at_most(exponent: i16) -> i64 {
    10_000 * 10_i64.pow(u32::try_from(exponent.clamp(0, 4)).unwrap_or(2))
}

fn open_price_of_currency(sent: &Map<String, Json>) -> Json {
    let sent_exponent = sent.get("currencyExponent").filter(|exponent| !exponent.is_null()).cloned();
    let exponent = sent_exponent.unwrap_or_else(|| exponent_of_currency(sent)).as_i64().unwrap_or(2);
    open_price_at_most(i16::try_from(exponent).unwrap_or(2)).into()
}

pub static BOOK: Book = Book {
    table: "stores",
    fields: &[
        shaped("code", 10, &STORE_CODE).required(),
        label("name", 100).required(),
        text("legalName", 200),
        text("taxRegistrationNo", 50),
        text("addressLine1", 200),
        text("addressLine2", 200),
        text("city", 100),
        text("region", 100),
        text("postalCode", 20),
        country("countryCode").initially(Initial::Text("US")),
        phone("phone"),
        email("email"),
        shaped("timezone", 50, &TIME_ZONE).initially(Initial::Text("UTC")),
        shaped("currencyCode", 3, &CURRENCY).initially(Initial::Text(CURRENCY_CODE)),
        whole("currencyExponent", 0, 4).initially(Initial::Follows(exponent_of_currency)),
        shaped("locale", 20, &LOCALE).initially(Initial::Text("en-US")),
        flag("pricesIncludeTax"),
        word("taxRounding", &["line", "invoice"]).initially(Initial::Text("line")),
        whole("cashRoundingIncrement", 1, 100_000).initially(Initial::Number(1)),
        word("cashRoundingMode", &["nearest", "up", "down"]).initially(Initial::Text("nearest")),
        shaped("businessDayStart", 5, &TIME_OF_DAY).initially(Initial::Text("04:00")),
        whole("maxSessionHours", 1, 168).initially(Initial::Number(30)),
        share("maxLineDiscountBps").initially(Initial::Number(1000)),
        share("maxCartDiscountBps").initially(Initial::Number(1000)),
        money("maxOpenPrice").initially(Initial::Follows(open_price_of_currency)),
        flag("reasonsRequired"),
        flag_on("allowNegativeStock"),
        flag_on("blindClose"),
        money("cashVarianceLimit").initially(Initial::Number(500)),
        whole("refundWindowDays", 0, 36_500),
        flag("allowUnlinkedRefunds"),
        flag_on("refundToOriginalTender"),
        money("unlinkedRefundLimit").initially(Initial::Number(5000)),
        money("defaultFloat").initially(Initial::Number(20_000)),
        flag("fourEyesDocuments").not_in_use(),
        Field::new("scaleBarcodeRules", Rule::Objects { least: 0, most: 20, fields: &SCALE_RULE }),
        text("receiptHeader", 2000),
        text("receiptFooter", 2000),
    ],
    server: &[
        "id",
        "created_at",
        "updated_at",
        "deleted_at",
        "sync_version",
        "is_active",
        "provisioned_at",
        "first_seen_at",
        "sync_token_version",
    ],
};
