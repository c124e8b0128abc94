//! Carts and quotes as a row keeps them.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tillkeep_model::{Money, Qty};

/// All lines of a quote.
pub(super) fn lines(quote: &Json) -> &[Json] {
    quote["lines"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The lines that were typed in: a charge is none of them.
pub(super) fn priced_lines(quote: &Json) -> Vec<&Json> {
    lines(quote).iter().filter(|line| line["chargeOf"].is_null()).collect()
}

/// How much a line is of, and what one costs.
pub(super) fn quantity_and_price(line: &Json) -> Option<(Qty, Money)> {
    Some((Qty::deserialize(&line["quantity"]).ok()?, Money::deserialize(&line["unitPrice"]).ok()?))
}

/// What was sent of a cart, without what was left out.
pub(super) fn said_of<T: Serialize>(sent: &T) -> Json {
    let mut said = serde_json::to_value(sent).unwrap_or_default();
    without_nulls(&mut said);
    said
}

fn without_nulls(value: &mut Json) {
    match value {
        Json::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(without_nulls);
        }
        Json::Array(entries) => entries.iter_mut().for_each(without_nulls),
        _ => {}
    }
}
