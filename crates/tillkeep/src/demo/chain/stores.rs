//! The stores: the three of the plan, and further ones that copy them with other settings.

use tillkeep_model::{Bps, Instant, JsonText, Money, ids};
use tillkeep_storage::entity::store;

use super::columns::text;

/// The code of every store a demo may have.
pub const CODES: [&str; 50] = [
    "S01", "S02", "S03", "S04", "S05", "S06", "S07", "S08", "S09", "S10", "S11", "S12", "S13", "S14", "S15", "S16",
    "S17", "S18", "S19", "S20", "S21", "S22", "S23", "S24", "S25", "S26", "S27", "S28", "S29", "S30", "S31", "S32",
    "S33", "S34", "S35", "S36", "S37", "S38", "S39", "S40", "S41", "S42", "S43", "S44", "S45", "S46", "S47", "S48",
    "S49", "S50",
];

/// The town a store stands in; the further stores take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Town {
    NewYork,
    Chicago,
    Denver,
}

impl Town {
    pub const ALL: [Self; 3] = [Self::NewYork, Self::Chicago, Self::Denver];

    /// The town of the store at `index`.
    pub const fn new(index: usize) -> Self {
        Self::ALL[index % Self::ALL.len()]
    }
}

/// City, region, postal code, area code and time zone.
const fn place(town: Town) -> [&'static str; 5] {
    match town {
        Town::NewYork => ["New York", "NY", "10004", "212", "America/New_York"],
        Town::Chicago => ["Chicago", "IL", "60601", "312", "America/Chicago"],
        Town::Denver => ["Denver", "CO", "80202", "303", "America/Denver"],
    }
}

const NAMES: [&str; 3] = ["Harbor Street", "Lakeside", "Pine Hill"];
const FIRST: [&str; 10] =
    ["Cedar", "Maple", "Willow", "Juniper", "Alder", "Birch", "Aspen", "Hazel", "Laurel", "Rowan"];
const SECOND: [&str; 5] = ["Square", "Crossing", "Landing", "Terrace", "Gate"];

fn name(index: usize) -> String {
    let further = || format!("{} {}", FIRST[index % FIRST.len()], SECOND[index / FIRST.len() % SECOND.len()]);
    NAMES.get(index).map_or_else(further, |name| (*name).to_owned())
}

/// The id of the store with this code.
pub fn id(code: &str) -> uuid::Uuid {
    ids::named(&format!("store:{code}"))
}

/// The first `count` stores.
pub fn all(at: Instant, count: usize) -> Vec<store::Model> {
    CODES.iter().take(count).enumerate().map(|(index, code)| one(at, index, code)).collect()
}

fn one(at: Instant, index: usize, code: &str) -> store::Model {
    let town = Town::new(index);
    let [city, region, postal_code, area, timezone] = place(town);
    let number = index + 1;
    let name = name(index);
    // The three stores of the plan stay as it has them; of the further ones each differs in something.
    let every = |nth: usize| index >= NAMES.len() && number.is_multiple_of(nth);
    store::Model {
        id: id(code),
        created_at: at,
        updated_at: at,
        code: code.to_owned(),
        legal_name: text("Harbor & Pine Market LLC"),
        tax_registration_no: Some(format!("DEMO-{region}-{number:04}")),
        address_line1: Some(format!("{number} {name}")),
        city: text(city),
        region: text(region),
        postal_code: text(postal_code),
        country_code: "US".to_owned(),
        phone: Some(format!("({area}) 555-01{:02}", 49 + number)),
        email: Some(format!("{}@example.com", code.to_lowercase())),
        timezone: timezone.to_owned(),
        currency_code: "USD".to_owned(),
        currency_exponent: 2,
        locale: "en-US".to_owned(),
        is_active: true,
        provisioned_at: Some(at),
        sync_token_version: 1,
        prices_include_tax: every(7),
        tax_rounding: if town == Town::Denver { "invoice" } else { "line" }.to_owned(),
        cash_rounding_increment: if town == Town::Chicago { 5 } else { 1 },
        cash_rounding_mode: "nearest".to_owned(),
        business_day_start: if every(5) { "05:00" } else { "04:00" }.to_owned(),
        max_session_hours: 30,
        max_line_discount_bps: Bps(if every(6) { 1500 } else { 1000 }),
        max_cart_discount_bps: Bps(1000),
        max_open_price: Some(Money(1_000_000)),
        allow_negative_stock: true,
        blind_close: !every(4),
        cash_variance_limit: Money(500),
        refund_window_days: every(8).then_some(30),
        refund_to_original_tender: true,
        unlinked_refund_limit: Money(5000),
        default_float: Money(if every(9) { 15_000 } else { 20_000 }),
        scale_barcode_rules: scale_rules(),
        receipt_header: Some(format!("Harbor & Pine Market\n{name}, {city}")),
        receipt_footer: text("Thank you. A demo store: nothing here is for sale."),
        name,
        ..store::Model::default()
    }
}

/// What the labels of the scales in the produce department say.
fn scale_rules() -> JsonText {
    JsonText(serde_json::json!([
        { "prefix": "21", "value": "weight", "pluDigits": 5, "valueDigits": 5, "valueDecimals": 3 },
        { "prefix": "20", "value": "price", "pluDigits": 5, "valueDigits": 5, "valueDecimals": 2 },
    ]))
}
