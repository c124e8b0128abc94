//! The lines of a refund: from the stored lines of a sale, never from today's prices. `docs/domain.md`, "Refunds".

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value as Json};
use tillkeep_http::error::{Error, FieldError, Result};
use tillkeep_model::pricing::{LineShare, Part, StoredLine, share};
use tillkeep_model::reason::ReasonKind;
use tillkeep_model::{Cost, JsonText, Money, Qty};
use tillkeep_storage::entity::sale_item;
use uuid::Uuid;

use super::original::Original;
use super::typed::{RefundItem, SaidReason, item_field};
use crate::memory::{Shop, Sold};
use crate::pos::draft::{self, line_no};
use crate::pos::reasons::{self, Reason};

/// A part of a stored line that comes back.
pub(crate) struct Taken<'a> {
    pub line: &'a sale_item::Model,
    pub quantity: Qty,
    /// Where it begins: what came back of the line before.
    start: Qty,
    restock: bool,
    reason: Reason,
}

/// What `items` take of `original`; `reason_of` says why each of them comes back.
pub(crate) fn taken<'a>(
    shop: &Shop,
    products: &HashMap<Uuid, Arc<Sold>>,
    original: &'a Original,
    items: &'a [RefundItem],
    reason_of: impl Fn(&'a RefundItem) -> SaidReason<'a>,
) -> Result<Vec<Taken<'a>>> {
    let mut wrong = Vec::new();
    let mut refuse = |index: usize, field: &str, message: String| {
        wrong.push(FieldError { field: item_field(index, field), message });
    };
    let mut all = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let Some(line) = original.line(item.sale_item_id) else {
            refuse(index, "saleItemId", "is no line of this sale; see GET /pos/sales/{id}/refundable".to_owned());
            continue;
        };
        let done = original.done(line);
        if let Some(message) = products.get(&line.product_id).and_then(|sold| misfit(line, done, item.quantity, sold)) {
            refuse(index, "quantity", message);
        }
        let (code, text) = reason_of(item);
        match reasons::read(shop, ReasonKind::Refund, code, text) {
            Ok(reason) => {
                let restock = item.restock.unwrap_or(true);
                let start = original.start(line);
                all.push(Taken { line, quantity: item.quantity, start, restock, reason });
            }
            Err((field, message)) => refuse(index, field, message),
        }
    }
    if !wrong.is_empty() {
        return Err(Error::fields(wrong));
    }
    original.refuse_over(items)?;
    Ok(all)
}

/// What is wrong with a quantity with more decimals than its product is sold with. What was sold so, by a label, comes back so, and
/// so does all that is left.
fn misfit(line: &sale_item::Model, done: Qty, quantity: Qty, sold: &Sold) -> Option<String> {
    let decimals = sold.row.quantity_decimals;
    let fits =
        quantity.fits_decimals(decimals) || !line.quantity.fits_decimals(decimals) || done + quantity == line.quantity;
    let unit = &line.unit_of_measure;
    (!fits).then(|| match decimals {
        0 => format!("{} comes back in whole units ({unit}) only", line.sku),
        _ => format!("{} comes back with at most {decimals} decimals ({unit})", line.sku),
    })
}

/// The amounts of a line, as they are shared out.
pub(crate) fn stored(line: &sale_item::Model) -> StoredLine {
    let details = line.tax_details.0.as_array().into_iter().flatten();
    let taxes: Vec<Money> = details.map(|detail| amount(detail, "taxAmount")).collect();
    // Whoever pushed it may have said no taxes by rate.
    let by_rate = taxes.iter().copied().sum::<Money>() == line.tax_amount;
    StoredLine {
        quantity: line.quantity,
        list: line.list_amount,
        special: line.special_discount,
        line: line.line_discount,
        cart: line.cart_discount,
        taxes: if by_rate { taxes } else { vec![line.tax_amount] },
        total: line.total_amount,
        cost: line.cost_amount.0,
    }
}

/// What `quantity` of a line comes to, when `done` of it came back before.
pub(crate) fn worth(line: &sale_item::Model, done: Qty, quantity: Qty) -> Money {
    share(&stored(line), done, quantity).total
}

impl Taken<'_> {
    /// Its row in the refund `refund`, at `place`: the snapshots of the stored line, and the part of its amounts below zero.
    fn row(&self, refund: Uuid, place: usize) -> sale_item::Model {
        let share = share(&stored(self.line), self.start, self.quantity);
        let LineShare { list, special, line, cart, tax, net, total, cost, .. } = share;
        let part = Part::new(self.line.quantity, self.start, self.quantity);
        sale_item::Model {
            id: line_id(refund, place),
            sale_id: refund,
            line_no: line_no(place),
            quantity: -self.quantity,
            list_amount: -list,
            special_discount: -special,
            special_details: special_details(&self.line.special_details, part, special),
            line_discount: -line,
            cart_discount: -cart,
            net_amount: -net,
            tax_amount: -tax,
            total_amount: -total,
            tax_details: tax_details(self.line, part, net),
            cost_amount: Cost(-cost),
            original_sale_item_id: Some(self.line.id),
            refunded_quantity: Qty::ZERO,
            restock: Some(self.restock),
            return_reason: Some(self.reason.text.clone()),
            return_reason_code: self.reason.code.clone(),
            average_cost_after: None,
            charge_of: None,
            ..self.line.clone()
        }
    }
}

/// The rows of the refund `refund`. What belongs to a line that comes back too belongs to its row.
pub(crate) fn rows(refund: Uuid, taken: &[Taken<'_>]) -> Vec<sale_item::Model> {
    let place_of = |line: Uuid| taken.iter().position(|other| other.line.id == line);
    let row = |(place, part): (usize, &Taken<'_>)| {
        let of = part.line.charge_of.and_then(place_of);
        sale_item::Model { charge_of: of.map(|place| line_id(refund, place)), ..part.row(refund, place) }
    };
    taken.iter().enumerate().map(row).collect()
}

/// The id of a row: the same however often the refund is made.
pub(crate) fn line_id(refund: Uuid, place: usize) -> Uuid {
    draft::part(refund, "sale_item", line_no(place))
}

fn amount(detail: &Json, key: &str) -> Money {
    Money(detail.get(key).and_then(Json::as_i64).unwrap_or_default())
}

/// A list of a row with each of its objects `changed`.
fn each(list: &JsonText, changed: impl Fn(usize, &mut Map<String, Json>)) -> JsonText {
    let mut list = list.clone();
    let objects = list.0.as_array_mut().into_iter().flatten().filter_map(Json::as_object_mut);
    objects.enumerate().for_each(|(place, object)| changed(place, object));
    list
}

/// The part of each tax, and what it was reckoned on: the net amount of the row, where it was that of the line.
fn tax_details(line: &sale_item::Model, part: Part, net: Money) -> JsonText {
    each(&line.tax_details, |_, detail| {
        let said = Json::Object(detail.clone());
        let (base, tax) = (amount(&said, "baseAmount"), amount(&said, "taxAmount"));
        let base = if base == line.net_amount { net } else { part.of(base) };
        detail.insert("baseAmount".to_owned(), (-base).0.into());
        detail.insert("taxAmount".to_owned(), (-part.of(tax)).0.into());
    })
}

/// The part of each special; the last one has what rounding leaves, so that they add up to the discount of the row. The words
/// of a receipt say what the whole line saved: here they are the name.
fn special_details(details: &JsonText, part: Part, discount: Money) -> JsonText {
    let wholes: Vec<Money> =
        details.0.as_array().into_iter().flatten().map(|detail| amount(detail, "amount")).collect();
    let last = wholes.len().saturating_sub(1);
    let before: Money = wholes.iter().take(last).map(|whole| part.of(*whole)).sum();
    each(details, |place, detail| {
        let off = if place == last { discount - before } else { part.of(wholes[place]) };
        detail.insert("amount".to_owned(), (-off).0.into());
        let units = detail.get("quantity").cloned().and_then(|units| serde_json::from_value::<Qty>(units).ok());
        if let Some(units) = units {
            detail.insert("quantity".to_owned(), serde_json::to_value(-part.of_quantity(units)).unwrap_or_default());
        }
        let name = detail.get("name").cloned().unwrap_or_default();
        detail.insert("text".to_owned(), name);
    })
}
