//! A priced cart as it is shown: with the names that its amounts have on a sale.

use serde::Serialize;
use tillkeep_model::approvable;
use tillkeep_model::pricing::{self, CartLine, Deal, PricedCart, PricedLine, Saving, Special, TaxAmount, TaxTotal};
use tillkeep_model::special::Moment;
use tillkeep_model::{Money, Ppm, Qty};
use tillkeep_storage::entity::{product, product_special};
use utoipa::ToSchema;
use uuid::Uuid;

use super::goods::is_counted;
use super::special;

/// The amounts of a cart.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PricedSums)]
pub struct Sums {
    list_amount: Money,
    special_discount: Money,
    line_discount: Money,
    cart_discount: Money,
    net_amount: Money,
    tax_amount: Money,
    total_amount: Money,
    tax_lines: Vec<TaxLine>,
}

/// A line with its price.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PricedLine)]
#[expect(clippy::struct_field_names, reason = "the names on a sale")]
pub struct Line {
    line_no: usize,
    product_id: Uuid,
    sku: String,
    /// As it is printed: what was typed in for a product that is named at the till.
    product_name: String,
    unit_of_measure: String,
    age_restriction: Option<i32>,
    quantity: Qty,
    regular_price: Money,
    unit_price: Money,
    price_source: &'static str,
    price_includes_tax: bool,
    list_amount: Money,
    special_discount: Money,
    special_details: Vec<SpecialDetail>,
    line_discount: Money,
    cart_discount: Money,
    net_amount: Money,
    tax_amount: Money,
    total_amount: Money,
    tax_details: Vec<TaxDetail>,
    /// Whether somebody at the till may take something off it.
    takes_discount: bool,
}

/// What a special takes off a line: one of `sale_items.special_details`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpecialDetail {
    special_id: Uuid,
    code: String,
    name: String,
    /// Of how much of the line.
    quantity: Qty,
    amount: Money,
    /// For a receipt.
    text: String,
}

/// One of `sales.tax_lines`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaxLine {
    tax_rate_id: Uuid,
    code: String,
    name: String,
    rate_ppm: Ppm,
    base_amount: Money,
    tax_amount: Money,
}

/// One of `sale_items.tax_details`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaxDetail {
    tax_rate_id: Uuid,
    code: String,
    rate_ppm: Ppm,
    base_amount: Money,
    tax_amount: Money,
}

/// The sums of `cart`.
#[must_use]
pub fn sums(cart: &PricedCart) -> Sums {
    Sums {
        list_amount: cart.list,
        special_discount: cart.special_discount,
        line_discount: cart.line_discount,
        cart_discount: cart.cart_discount,
        net_amount: cart.net,
        tax_amount: cart.tax,
        total_amount: cart.total,
        tax_lines: tax_lines(&cart.tax_lines),
    }
}

/// Line `index` of a cart; `name` when it is not that of its product.
#[must_use]
pub fn line(
    index: usize,
    product: &product::Model,
    name: Option<&str>,
    line: &CartLine,
    amounts: &PricedLine,
    exponent: i16,
) -> Line {
    Line {
        line_no: index + 1,
        product_id: product.id,
        sku: product.sku.clone(),
        product_name: name.unwrap_or(&product.name).to_owned(),
        unit_of_measure: product.unit_of_measure.clone(),
        age_restriction: product.age_restriction.map(Into::into),
        quantity: line.quantity,
        regular_price: line.regular_price,
        unit_price: line.unit_price,
        price_source: line.price_source.as_str(),
        price_includes_tax: line.inclusive,
        list_amount: amounts.list,
        special_discount: amounts.special_discount,
        special_details: special_details(&amounts.savings, exponent),
        line_discount: amounts.line_discount,
        cart_discount: amounts.cart_discount,
        net_amount: amounts.net,
        tax_amount: amounts.tax,
        total_amount: amounts.total,
        tax_details: tax_details(&amounts.taxes),
        takes_discount: amounts.takes_discount,
    }
}

/// `sale_items.special_details`. The words stand in it, so that a reprint says what the first print said.
#[must_use]
pub fn special_details(savings: &[Saving], exponent: i16) -> Vec<SpecialDetail> {
    let one = |saving: &Saving| SpecialDetail {
        special_id: saving.special.id,
        code: saving.special.code.clone(),
        name: saving.special.name.clone(),
        quantity: saving.quantity,
        amount: saving.amount,
        text: special::saves(saving, exponent),
    };
    savings.iter().map(one).collect()
}

/// `sales.tax_lines`: one for each rate.
#[must_use]
pub fn tax_lines(totals: &[TaxTotal]) -> Vec<TaxLine> {
    let one = |total: &TaxTotal| TaxLine {
        tax_rate_id: total.rate.id,
        code: total.rate.code.clone(),
        name: total.rate.name.clone(),
        rate_ppm: total.rate.rate,
        base_amount: total.base,
        tax_amount: total.tax,
    };
    totals.iter().map(one).collect()
}

/// `sale_items.tax_details`: one for each rate of the line.
#[must_use]
pub fn tax_details(amounts: &[TaxAmount]) -> Vec<TaxDetail> {
    let one = |amount: &TaxAmount| TaxDetail {
        tax_rate_id: amount.rate.id,
        code: amount.rate.code.clone(),
        rate_ppm: amount.rate.rate,
        base_amount: amount.base,
        tax_amount: amount.tax,
    };
    amounts.iter().map(one).collect()
}

/// Something in a cart that needs a permission.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CartNeed)]
pub struct Need {
    /// Nothing for the cart as a whole.
    pub line_no: Option<usize>,
    /// `changed_price`, `line_discount`, `cart_discount`, `beyond_limit`, `below_floor` or `beyond_credit_limit`.
    pub deed: &'static str,
    pub permission: &'static str,
    /// Whether another person may approve it: `POST /pos/approvals`.
    pub approvable: bool,
    /// Whether the caller has the permission.
    pub held: bool,
}

impl Need {
    /// One for each permission that a deed needs; who holds it is said by who knows the caller.
    pub fn of(need: pricing::Need) -> impl Iterator<Item = Self> {
        approvable::of(need.deed).iter().map(move |known| Self {
            line_no: need.line.map(|place| place + 1),
            deed: need.deed.word(),
            permission: known.code,
            approvable: true,
            held: false,
        })
    }
}

/// A special that is in force for a product now.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActiveSpecial {
    id: Uuid,
    code: String,
    name: String,
    #[serde(rename = "type")]
    kind: String,
    /// For people: "3 for 10.00".
    text: String,
    /// What one unit costs with it alone; nothing for a deal over several.
    unit_price: Option<Money>,
    requires_customer: bool,
    priority: i32,
}

/// The specials of `rows` that are in force at `moment`, whether or not a customer is chosen, for a unit at `price`.
pub fn active<'a>(
    rows: impl IntoIterator<Item = &'a product_special::Model>,
    moment: &Moment,
    product: &product::Model,
    price: Money,
    exponent: i16,
) -> Vec<ActiveSpecial> {
    let moment = Moment { has_customer: true, ..*moment };
    let may = |special: &Special| is_counted(product) || matches!(special.deal, Deal::Unit(_));
    let one = |row: &product_special::Model| {
        // What the till types has no special, and what is weighed is in no deal over several units.
        let special = special::in_force(row, &moment).filter(|_| !product.is_open_price).filter(may)?;
        let unit_price = match special.deal {
            Deal::Unit(deal) => Some(price - Money::from_wide(deal.off(price, Qty::ONE))),
            Deal::Group(_) => None,
        };
        Some(ActiveSpecial {
            id: special.id,
            text: special::words(special.deal, exponent),
            code: special.code,
            name: special.name,
            kind: row.kind.clone(),
            unit_price,
            requires_customer: row.requires_customer,
            priority: special.priority,
        })
    };
    rows.into_iter().filter_map(one).collect()
}
