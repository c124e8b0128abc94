//! From a cart to its price: which product, which price, which taxes; the arithmetic is the model's.

use tillkeep_http::error::{Error, FieldError, Result};
use tillkeep_model::approvable::{self, Approvable};
use tillkeep_model::pricing::{
    CartLine, CashRounding, PriceSource, PricedCart, RoundingMode, TaxRounding, choose_price, price_cart,
};
use tillkeep_model::{ErrorCode, Money};
use tillkeep_storage::entity::{product, store};

use super::cart::{Cart, Line, line_field};
use super::catalog::{Catalog, shelf_price};
use crate::bounds::LARGEST_AMOUNT;

/// A cart with its price; lines stand in the order of the cart.
pub(crate) struct Priced<'a> {
    pub products: Vec<&'a product::Model>,
    pub lines: Vec<CartLine>,
    pub cart: PricedCart,
    pub tax_rounding: TaxRounding,
    pub cash_rounding: CashRounding,
    pub tax_exempt: bool,
}

/// What a price is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To be shown: what is still to be asked of the customer may be missing.
    Quote,
    Sale,
}

/// Prices `cart` from `catalog`.
pub(crate) fn price<'a>(cart: &Cart, catalog: &'a Catalog, tax_exempt: bool, purpose: Purpose) -> Result<Priced<'a>> {
    let store = catalog.store()?;
    let mut wrong = Vec::new();
    let mut products = Vec::with_capacity(cart.lines.len());
    let mut lines = Vec::with_capacity(cart.lines.len());
    for (index, line) in cart.lines.iter().enumerate() {
        let mut refuse = |field: &str, message: String| {
            wrong.push(FieldError { field: line_field(index, field), message });
        };
        let Some(product) = catalog.products.get(&line.product_id).map(|sold| &sold.row) else {
            refuse("productId", "no product has this id here; look the product up again".to_owned());
            continue;
        };
        if !product.is_active || product.deleted_at.is_some() {
            return Err(inactive(product).at(line_field(index, "productId")));
        }
        check_line(line, product, purpose, &mut refuse);
        let priced = cart_line(line, product, catalog, store)?;
        if i128::from(priced.unit_price.0) * i128::from(line.quantity.0) > i128::from(LARGEST_AMOUNT) * 1000 {
            refuse("quantity", "makes an amount beyond 1000000000000 minor units; split the line".to_owned());
        }
        products.push(product);
        lines.push(priced);
    }
    if !wrong.is_empty() {
        return Err(Error::fields(wrong));
    }
    let tax_rounding = TaxRounding::parse(&store.tax_rounding).unwrap_or_default();
    Ok(Priced {
        cart: price_cart(&lines, tax_rounding, tax_exempt),
        products,
        lines,
        tax_rounding,
        cash_rounding: cash_rounding(store),
        tax_exempt,
    })
}

/// 409 for what exists and may not be sold any more.
pub(crate) fn inactive(product: &product::Model) -> Error {
    let text = format!("{} ({}) is not sold any more; take it off the cart", product.name, product.sku);
    Error::new(ErrorCode::ProductInactive, text)
}

fn check_line(line: &Line, product: &product::Model, purpose: Purpose, refuse: &mut impl FnMut(&str, String)) {
    if !line.quantity.fits_decimals(product.quantity_decimals) {
        let unit = &product.unit_of_measure;
        let text = match product.quantity_decimals {
            0 => format!("{} is sold in whole units ({unit}) only", product.sku),
            decimals => format!("{} is sold with at most {decimals} decimals ({unit})", product.sku),
        };
        refuse("quantity", text);
    }
    match (product.is_open_price, line.open_price) {
        (true, None) => refuse("openPrice", format!("{} has no price of its own; enter one", product.sku)),
        (false, Some(_)) => refuse("openPrice", format!("{} has a price; leave this out", product.sku)),
        _ => {}
    }
    if product.is_open_price && line.unit_price_override.is_some() {
        refuse("unitPriceOverride", format!("{} has no price of its own; enter it as openPrice", product.sku));
    }
    let restricted = product.age_restriction.is_some_and(|age| age > 0);
    if restricted && purpose == Purpose::Sale && line.age_confirmed != Some(true) {
        let age = product.age_restriction.unwrap_or_default();
        refuse("ageConfirmed", format!("the customer must be {age} or older; check and send true"));
    }
}

fn cart_line(line: &Line, product: &product::Model, catalog: &Catalog, store: &store::Model) -> Result<CartLine> {
    // Types arrive one by one: a product can be here before its tax group, or still be in one that is gone, which has no rates any
    // more. It must not be sold untaxed meanwhile.
    let group = catalog.shop.tax_groups.get(&product.tax_group_id).filter(|group| group.row.deleted_at.is_none());
    let Some(group) = group else {
        let text = format!("the tax group of {} has not arrived from headquarters yet; try again shortly", product.sku);
        return Err(Error::new(ErrorCode::StoreNotReady, text).retry_after(5));
    };
    let row = catalog.rows.get(&product.id);
    let (regular_price, _) = shelf_price(product, row);
    let own_price = row.map(|row| row.own_price());
    let (unit_price, price_source) = choose_price(product.price, own_price, line.open_price, line.unit_price_override);
    Ok(CartLine {
        product_id: product.id,
        quantity: line.quantity,
        unit_price,
        price_source,
        regular_price,
        inclusive: group.inclusive(Some(store)),
        rates: group.rates.clone(),
        unit_cost: catalog.unit_cost(product),
    })
}

fn cash_rounding(store: &store::Model) -> CashRounding {
    CashRounding {
        increment: i64::from(store.cash_rounding_increment),
        mode: RoundingMode::parse(&store.cash_rounding_mode).unwrap_or_default(),
    }
}

impl Priced<'_> {
    /// What selling this needs besides the permission to sell.
    pub(crate) fn required(&self) -> Vec<&'static Approvable> {
        let overridden = |line: &&CartLine| line.price_source == PriceSource::Override;
        let mut required = Vec::new();
        if self.lines.iter().any(|line| overridden(&line)) {
            required.push(&approvable::PRICE);
        }
        // A price below the product's floor is more than a changed price.
        let below = |(line, product): (&CartLine, &&product::Model)| {
            overridden(&line) && product.min_price.is_some_and(|floor| line.unit_price < floor.0)
        };
        if self.lines.iter().zip(&self.products).any(below) {
            required.push(&approvable::BEYOND_LIMIT);
        }
        required
    }

    /// What a customer who pays all of it in cash has to pay.
    pub(crate) fn cash_due(&self) -> Money {
        self.cash_rounding.due(self.cart.total)
    }
}
