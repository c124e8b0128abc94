//! From a cart to its price: which product, which price, which taxes and specials; the arithmetic is the model's.

use std::collections::HashMap;
use std::sync::Arc;

use tillkeep_http::error::{Error, FieldError, Result};
use tillkeep_http::shelf::{self, Goods, Typed, Warning, is_chargeable, takes_none};
use tillkeep_model::approvable::{self, Approvable};
use tillkeep_model::pricing::{
    CartLine, CashRounding, Deed, Need, PriceSource, PricedCart, RoundingMode, Special, StoreLimits, TaxRounding,
    price_cart,
};
use tillkeep_model::reason::ReasonKind;
use tillkeep_model::special::Moment;
use tillkeep_model::{ErrorCode, Instant, Money};
use tillkeep_storage::entity::{customer, product, store};
use tillkeep_storage::sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::cart::{Cart, DiscountEntry, Line, line_field, said};
use super::catalog::{Catalog, is_sold, shelf_price};
use super::reasons::{self, Reason};
use super::scanned::{self, Amounts, Meaning};
use super::typed;
use crate::bounds::LARGEST_AMOUNT;
use crate::customers;
use crate::memory::Sold;

/// A cart with its price. Lines stand in the order of the cart, each before the charge that belongs to it.
pub(crate) struct Priced<'a> {
    pub items: Vec<Item<'a>>,
    pub lines: Vec<CartLine>,
    pub cart: PricedCart,
    pub cart_reason: Option<Reason>,
    pub tax_rounding: TaxRounding,
    pub cash_rounding: CashRounding,
    pub tax_exempt: bool,
    pub limits: StoreLimits,
    pub warnings: Vec<Warning>,
}

/// What a line is of.
pub(crate) struct Item<'a> {
    pub product: &'a product::Model,
    /// Its place in the cart; of a charge that of the line that it belongs to.
    pub index: usize,
    /// Of a charge: the place of its line among the items.
    pub charge_of: Option<usize>,
    pub override_reason: Option<Reason>,
    pub discount_reason: Option<Reason>,
}

/// What a price is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To be shown: what is still to be asked of the customer may be missing.
    Quote,
    Sale,
}

/// When and for whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    at: Instant,
    has_customer: bool,
    tax_exempt: bool,
    purpose: Purpose,
}

/// Reads what `cart` is priced with besides what is in memory, all in the snapshot of `conn`, and refuses what can be refused of it
/// there: who buys, and how it is priced.
pub(crate) async fn terms(
    conn: &impl ConnectionTrait,
    catalog: &mut Catalog,
    store_id: Uuid,
    cart: &Cart,
    (at, purpose): (Instant, Purpose),
) -> Result<(Option<customer::Model>, Terms)> {
    catalog.look(conn, store_id).await?;
    let customer = customers::buyer(conn, cart.customer_id).await?;
    typed::refuse_codes(conn, cart).await?;
    let tax_exempt = customers::is_exempt(customer.as_ref());
    let terms = Terms { at, has_customer: customer.is_some(), tax_exempt, purpose };
    Ok((customer, terms))
}

/// Prices `cart` from `catalog`.
pub(crate) fn price<'a>(cart: &Cart, catalog: &'a Catalog, terms: Terms) -> Result<Priced<'a>> {
    let store = catalog.store()?;
    let mut pricing = Pricing {
        catalog,
        goods: Goods {
            store,
            tax_groups: &catalog.shop.tax_groups,
            department_limits: &catalog.shop.department_limits,
        },
        moment: shelf::special::moment(store, terms.at, terms.has_customer),
        purpose: terms.purpose,
        in_force: HashMap::new(),
        items: Vec::with_capacity(cart.lines.len()),
        lines: Vec::with_capacity(cart.lines.len()),
        wrong: Vec::new(),
        warnings: Vec::new(),
    };
    for (index, line) in cart.lines.iter().enumerate() {
        pricing.add(index, line)?;
    }
    let cart_reason = cart.cart_discount.as_ref().and_then(|entry| pricing.reason_of(entry, "cartDiscount"));
    let Pricing { items, lines, wrong, warnings, .. } = pricing;
    if !wrong.is_empty() {
        return Err(Error::fields(wrong));
    }
    let discount = cart.cart_discount.as_ref().and_then(DiscountEntry::checked);
    let cart_terms = shelf::terms(store, terms.tax_exempt, discount);
    let priced = Priced {
        cart: price_cart(&lines, &cart_terms),
        items,
        lines,
        cart_reason,
        tax_rounding: cart_terms.rounding,
        cash_rounding: cash_rounding(store),
        tax_exempt: terms.tax_exempt,
        limits: shelf::limits(store),
        warnings,
    };
    priced.refuse_forbidden_discounts(cart)?;
    Ok(priced)
}

/// 409 for what exists and may not be sold any more.
pub(crate) fn inactive(product: &product::Model) -> Error {
    let text = format!("{} ({}) is not sold any more; take it off the cart", product.name, product.sku);
    Error::new(ErrorCode::ProductInactive, text)
}

/// A cart that is being priced.
struct Pricing<'a> {
    catalog: &'a Catalog,
    goods: Goods<'a>,
    moment: Moment,
    purpose: Purpose,
    /// The specials in force of the products and departments that were looked at.
    in_force: HashMap<Uuid, Arc<[Arc<Special>]>>,
    items: Vec<Item<'a>>,
    lines: Vec<CartLine>,
    wrong: Vec<FieldError>,
    warnings: Vec<Warning>,
}

impl Pricing<'_> {
    fn refuse(&mut self, index: usize, field: &str, message: impl Into<String>) {
        self.wrong.push(FieldError { field: line_field(index, field), message: message.into() });
    }

    fn add(&mut self, index: usize, line: &Line) -> Result<()> {
        let catalog = self.catalog;
        let Some(sold) = catalog.products.get(&line.product_id) else {
            self.refuse(index, "productId", "no product has this id here; look the product up again");
            return Ok(());
        };
        let product = &sold.row;
        if !is_sold(product) {
            return Err(inactive(product).at(line_field(index, "productId")));
        }
        let Some(amounts) = self.amounts(index, line, product)? else { return Ok(()) };
        self.check_line(index, line, product, amounts);
        let typed = Typed {
            quantity: amounts.quantity,
            open_price: line.open_price,
            changed_price: line.unit_price_override,
            printed: amounts.printed,
            discount: line.line_discount.as_ref().and_then(DiscountEntry::checked),
        };
        let priced = self.priced(sold, typed)?;
        self.check_amount(index, &priced);
        let override_reason = line.unit_price_override.and_then(|_| self.override_reason(index, line));
        let discount_reason =
            line.line_discount.as_ref().and_then(|entry| self.reason_of(entry, &line_field(index, "lineDiscount")));
        let place = self.items.len();
        self.items.push(Item { product, index, charge_of: None, override_reason, discount_reason });
        self.lines.push(priced);
        if catalog.rows.get(&product.id).is_some_and(|row| !row.is_stocked) {
            self.warnings.push(Warning::not_stocked_here(product, place + 1));
        }
        self.add_charge(place, product)
    }

    /// How much of the product, and what a label says that it costs; nothing when that is wrong.
    fn amounts(&mut self, index: usize, line: &Line, product: &product::Model) -> Result<Option<Amounts>> {
        let meaning = match line.code() {
            None => Meaning::Product,
            Some(code) => match scanned::read(code, product, self.goods.store) {
                Ok(meaning) => meaning,
                Err((ErrorCode::BadCheckDigit, text)) => {
                    return Err(Error::new(ErrorCode::BadCheckDigit, text).at(line_field(index, "code")));
                }
                Err((_, text)) => {
                    self.refuse(index, "code", text);
                    return Ok(None);
                }
            },
        };
        let (price, _) = shelf_price(product, self.catalog.rows.get(&product.id));
        let amounts = match meaning.amounts(line.quantity, price) {
            Ok(amounts) => amounts,
            Err(text) => {
                self.refuse(index, "quantity", text);
                return Ok(None);
            }
        };
        if line.label_amount.is_some_and(|said| Some(said) != amounts.printed) {
            let text = amounts.printed.map_or_else(
                || "is on no label with a price; leave it out".to_owned(),
                |printed| format!("is {} on the label; send that, or leave it out", printed.0),
            );
            self.refuse(index, "labelAmount", text);
        }
        if amounts.printed.is_some() && (line.unit_price_override.is_some() || line.open_price.is_some()) {
            let field = if line.open_price.is_some() { "openPrice" } else { "unitPriceOverride" };
            self.refuse(index, field, "the label says the price; leave this out, or the code");
        }
        Ok(Some(amounts))
    }

    fn check_line(&mut self, index: usize, line: &Line, product: &product::Model, amounts: Amounts) {
        let derived = amounts.printed.is_some();
        if !derived && !amounts.quantity.fits_decimals(product.quantity_decimals) {
            let unit = &product.unit_of_measure;
            let text = match product.quantity_decimals {
                0 => format!("{} is sold in whole units ({unit}) only", product.sku),
                decimals => format!("{} is sold with at most {decimals} decimals ({unit})", product.sku),
            };
            self.refuse(index, "quantity", text);
        }
        match (product.is_open_price && !derived, line.open_price) {
            (true, None) => {
                self.refuse(index, "openPrice", format!("{} has no price of its own; enter one", product.sku));
            }
            (false, Some(_)) if !derived => {
                self.refuse(index, "openPrice", format!("{} has a price; leave this out", product.sku));
            }
            (_, Some(price)) if self.goods.store.max_open_price.is_some_and(|most| price > most) => {
                let most = self.goods.store.max_open_price.unwrap_or_default().0;
                self.refuse(
                    index,
                    "openPrice",
                    format!("is more than the {most} minor units that may be typed in here"),
                );
            }
            _ => {}
        }
        if product.is_open_price && line.unit_price_override.is_some() {
            let text = format!("{} has no price of its own; enter it as openPrice", product.sku);
            self.refuse(index, "unitPriceOverride", text);
        }
        match (product.named_at_till, line.name()) {
            (true, None) => {
                self.refuse(index, "name", format!("{} is named at the till; say what is sold", product.sku));
            }
            (false, Some(_)) => self.refuse(index, "name", format!("{} has a name; leave this out", product.sku)),
            _ => {}
        }
        let restricted = product.age_restriction.is_some_and(|age| age > 0);
        if restricted && self.purpose == Purpose::Sale && line.age_confirmed != Some(true) {
            let age = product.age_restriction.unwrap_or_default();
            self.refuse(index, "ageConfirmed", format!("the customer must be {age} or older; check and send true"));
        }
    }

    fn priced(&mut self, sold: &Sold, typed: Typed) -> Result<CartLine> {
        let product = &sold.row;
        let Some(group) = self.goods.tax_group(product) else {
            let text =
                format!("the tax group of {} has not arrived from headquarters yet; try again shortly", product.sku);
            return Err(Error::new(ErrorCode::StoreNotReady, text).retry_after(5));
        };
        let own = self.catalog.rows.get(&product.id).map(|row| row.own_price());
        let specials = self.specials_of(product);
        let mut line = self.goods.line(product, group, own, specials, typed);
        line.unit_cost = self.catalog.unit_cost(product);
        Ok(line)
    }

    /// The specials that its product gets now, and its department.
    fn specials_of(&mut self, product: &product::Model) -> Arc<[Arc<Special>]> {
        let (specials, moment) = (&self.catalog.specials, self.moment);
        let [own, shared] = [product.id, product.department_id]
            .map(|named| self.in_force.entry(named).or_insert_with(|| specials.in_force(named, &moment)).clone());
        match (own.is_empty(), shared.is_empty()) {
            (true, _) => shared,
            (_, true) => own,
            _ => own.iter().chain(&*shared).cloned().collect(),
        }
    }

    fn check_amount(&mut self, index: usize, line: &CartLine) {
        let amount = line.printed.map_or_else(
            || i128::from(line.unit_price.0) * i128::from(line.quantity.0),
            |printed| i128::from(printed.0) * 1000,
        );
        if amount > i128::from(LARGEST_AMOUNT) * 1000 {
            self.refuse(index, "quantity", "makes an amount beyond 1000000000000 minor units; split the line");
        }
    }

    /// The deposit or service that belongs to a product: as many as of that, and never cheaper.
    fn add_charge(&mut self, place: usize, product: &product::Model) -> Result<()> {
        let Some(charge) = product.charge_product_id else { return Ok(()) };
        let catalog = self.catalog;
        let sold = catalog.products.get(&charge).filter(|sold| is_chargeable(&sold.row));
        let Some(sold) = sold else {
            self.warnings.push(Warning::charge_not_sold(product, place + 1));
            return Ok(());
        };
        let typed = Typed { quantity: self.lines[place].quantity, ..Typed::default() };
        let mut line = self.priced(sold, typed)?;
        (line.specials, line.allows_discount) = (Arc::default(), false);
        let index = self.items[place].index;
        self.check_amount(index, &line);
        let item =
            Item { product: &sold.row, index, charge_of: Some(place), override_reason: None, discount_reason: None };
        self.items.push(item);
        self.lines.push(line);
        Ok(())
    }

    fn override_reason(&mut self, index: usize, line: &Line) -> Option<Reason> {
        let (code, text) = (line.override_reason_code.as_deref(), line.override_reason.as_deref());
        match reasons::read(&self.catalog.shop, ReasonKind::Override, code, text) {
            Ok(reason) => Some(reason),
            Err((field, message)) => {
                let field = if field == "reason" { "overrideReason" } else { "overrideReasonCode" };
                self.refuse(index, field, message);
                None
            }
        }
    }

    /// Why somebody takes something off, as the discount at `field` says it. What it comes to may be asked before.
    fn reason_of(&mut self, entry: &DiscountEntry, field: &str) -> Option<Reason> {
        let (code, text) = (entry.reason_code.as_deref(), entry.reason.as_deref());
        if self.purpose == Purpose::Quote && said(code).or(said(text)).is_none() {
            return None;
        }
        match reasons::read(&self.catalog.shop, ReasonKind::Discount, code, text) {
            Ok(reason) => Some(reason),
            Err((name, message)) => {
                self.wrong.push(FieldError { field: format!("{field}.{name}"), message });
                None
            }
        }
    }
}

/// How a store rounds what is paid in cash.
pub(crate) fn cash_rounding(store: &store::Model) -> CashRounding {
    CashRounding {
        increment: i64::from(store.cash_rounding_increment),
        mode: RoundingMode::parse(&store.cash_rounding_mode).unwrap_or_default(),
    }
}

impl Priced<'_> {
    /// What of this needs more than the permission to sell.
    pub(crate) fn needs(&self) -> Vec<Need> {
        self.limits.needs(&self.lines, &self.cart)
    }

    /// What selling this needs besides the permission to sell.
    pub(crate) fn required(&self) -> Vec<&'static Approvable> {
        let mut required: Vec<&'static Approvable> = Vec::new();
        for known in self.needs().into_iter().flat_map(|need| approvable::of(need.deed)) {
            if !required.contains(known) {
                required.push(known);
            }
        }
        required
    }

    /// What a customer who pays all of it in cash has to pay.
    pub(crate) fn cash_due(&self) -> Money {
        self.cash_rounding.due(self.cart.total)
    }

    /// 422 for a discount on what takes none: nobody is to believe that the customer got it.
    fn refuse_forbidden_discounts(&self, cart: &Cart) -> Result<()> {
        let mut wrong = Vec::new();
        for (item, priced) in self.items.iter().zip(&self.cart.lines) {
            let is_asked = item.charge_of.is_none() && cart.lines[item.index].line_discount.is_some();
            if !is_asked || priced.takes_discount {
                continue;
            }
            let message = takes_none(&item.product.sku, priced);
            wrong.push(FieldError { field: line_field(item.index, "lineDiscount"), message });
        }
        if cart.cart_discount.is_some() && !self.cart.lines.iter().any(|line| line.takes_discount) {
            let message = "no line of this cart takes a discount; leave it out".to_owned();
            wrong.push(FieldError { field: "cartDiscount".to_owned(), message });
        }
        if wrong.is_empty() { Ok(()) } else { Err(Error::fields(wrong)) }
    }

    /// The places of the lines of the cart among the items, charges passed over.
    pub(crate) fn entered(&self) -> impl Iterator<Item = usize> {
        self.items.iter().enumerate().filter(|(_, item)| item.charge_of.is_none()).map(|(place, _)| place)
    }

    /// The field of a need, as errors name it.
    pub(crate) fn field_of(&self, need: Need) -> String {
        let Some(place) = need.line else { return "cartDiscount".to_owned() };
        let index = self.items[place].index;
        let name = match need.deed {
            Deed::ChangedPrice => "unitPriceOverride",
            Deed::LineDiscount => "lineDiscount",
            _ if self.cart.lines[place].line_discount > Money::ZERO => "lineDiscount",
            _ if self.cart.lines[place].cart_discount > Money::ZERO => return "cartDiscount".to_owned(),
            _ if self.lines[place].price_source == PriceSource::Open => "openPrice",
            _ => "unitPriceOverride",
        };
        line_field(index, name)
    }
}
