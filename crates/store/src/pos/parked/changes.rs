//! What is other in a cart than when it was parked, line by line.

use serde::Serialize;
use serde_json::Value as Json;
use utoipa::ToSchema;

use super::quoted::{lines, priced_lines};
use crate::pos::cart::Cart;

/// What is compared of a line, by its name in a quote.
const OF_LINE: [&str; 9] = [
    "productName",
    "ageRestriction",
    "quantity",
    "unitPrice",
    "specialDiscount",
    "lineDiscount",
    "cartDiscount",
    "taxAmount",
    "totalAmount",
];

/// What is compared of the cart.
const OF_CART: [&str; 4] = ["taxExempt", "cartDiscount", "taxAmount", "totalAmount"];

/// One thing that is other than before. Without a line it is of the whole cart.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ParkedCartChange)]
pub(crate) struct Change {
    /// Its place in the cart, from 1.
    line_no: Option<usize>,
    line_id: Option<String>,
    /// By its name in a quote, or in the cart where it is refused now.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'static str>,
    #[schema(value_type = Option<serde_json::Value>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Json>,
    /// Null where it is refused now: the price is without it.
    #[schema(value_type = Option<serde_json::Value>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Json>,
    /// The code with which the line is refused now, such as `product_inactive`: the price is without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    gone: Option<&'static str>,
    /// Why it is refused, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl Change {
    fn new(place: Option<usize>, cart: &Cart) -> Self {
        let line_id = place.and_then(|place| cart.lines.get(place)).and_then(|line| line.line_id.clone());
        let line_no = place.map(|place| place + 1);
        Self { line_no, line_id, field: None, before: None, after: None, gone: None, message: None }
    }

    fn of(place: Option<usize>, cart: &Cart, field: &'static str, (before, after): (Json, Json)) -> Self {
        Self { field: Some(field), before: Some(before), after: Some(after), ..Self::new(place, cart) }
    }

    /// Line `place` of `cart` cannot be sold.
    pub(super) fn gone(cart: &Cart, place: usize, code: &'static str, message: String) -> Self {
        Self { gone: Some(code), message: Some(message), ..Self::new(Some(place), cart) }
    }

    /// What the cart has in `field` cannot be had.
    pub(super) fn refused(place: Option<usize>, cart: &Cart, field: &'static str, before: Json) -> Self {
        Self::of(place, cart, field, (before, Json::Null))
    }

    pub(super) fn because(self, message: &str) -> Self {
        Self { message: Some(message.to_owned()), ..self }
    }
}

/// What is other in the quote `now` than in `before`, of a cart of which the lines at `places` are in it. When it was parked all
/// were.
pub(super) fn between(cart: &Cart, places: &[usize], before: &Json, now: &Json) -> Vec<Change> {
    let (old, new) = (priced_lines(before), priced_lines(now));
    let mut changes = Vec::new();
    for (line, place) in new.iter().zip(places) {
        let Some(was) = old.get(*place) else { continue };
        let at = Some(*place);
        changes.extend(OF_LINE.into_iter().filter_map(|field| differs(at, cart, field, (&was[field], &line[field]))));
        let (former, present) = (Json::from(charge(before, was)), Json::from(charge(now, line)));
        changes.extend(differs(at, cart, "chargeAmount", (&former, &present)));
        let needs = (deeds(before, &was["lineNo"]), deeds(now, &line["lineNo"]));
        changes.extend(differs(at, cart, "needs", (&needs.0, &needs.1)));
    }
    changes.extend(OF_CART.into_iter().filter_map(|field| differs(None, cart, field, (&before[field], &now[field]))));
    let needs = (deeds(before, &Json::Null), deeds(now, &Json::Null));
    changes.extend(differs(None, cart, "needs", (&needs.0, &needs.1)));
    changes
}

fn differs(place: Option<usize>, cart: &Cart, field: &'static str, (before, now): (&Json, &Json)) -> Option<Change> {
    (before != now).then(|| Change::of(place, cart, field, (before.clone(), now.clone())))
}

/// What the charges of a line of `quote` come to.
fn charge(quote: &Json, line: &Json) -> i64 {
    let of_it =
        lines(quote).iter().filter(|charge| !charge["chargeOf"].is_null() && charge["chargeOf"] == line["lineNo"]);
    of_it.filter_map(|charge| charge["totalAmount"].as_i64()).sum()
}

/// What of a line needs a permission, or of the whole cart.
fn deeds(quote: &Json, line_no: &Json) -> Json {
    let needs = quote["needs"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of_it = needs.iter().filter(|need| need["lineNo"] == *line_no);
    let mut deeds: Vec<&str> = of_it.filter_map(|need| need["deed"].as_str()).collect();
    deeds.dedup();
    Json::from(deeds)
}
