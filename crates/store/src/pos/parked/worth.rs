//! What a parked cart costs now, read in one snapshot. What of it cannot be sold any more is left out of the price and said.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value as Json;
use tillkeep_http::Caller;
use tillkeep_http::error::{Error, Result};
use tillkeep_model::permission::Requirement;
use tillkeep_model::{ErrorCode, Instant, Money, Qty};
use tillkeep_storage::sea_orm::ConnectionTrait;

use super::changes::Change;
use super::quoted::{priced_lines, quantity_and_price, said_of};
use crate::Store;
use crate::pos::cart::{Cart, Line};
use crate::pos::cart_hash::cart_hash;
use crate::pos::catalog::{Catalog, is_sold, shelf_price};
use crate::pos::pricing::{self, Purpose};
use crate::pos::quote::Quote;
use crate::pos::removed::Removed;

/// A cart with its price.
pub(super) struct Worth {
    pub quote: Quote,
    /// The places in the cart of the lines that are priced.
    pub places: Vec<usize>,
    /// What is not, and why.
    pub refused: Vec<Change>,
    /// What a unit costs on the shelf of each line of the cart, where that is known.
    shelf: Vec<Money>,
}

/// What `cart` costs as a whole, or why it cannot be sold.
pub(super) async fn whole<P: Requirement>(
    caller: &Caller<P>,
    store: &Arc<Store>,
    cart: &Cart,
    terminal: &str,
) -> Result<Worth> {
    let mut pricing = Pricing::begin(caller, store, cart, terminal).await?;
    let snapshot = caller.snapshot().await?;
    let quote = pricing.quote(&snapshot).await?;
    Ok(pricing.worth(quote))
}

/// What is left of `cart` costs, and what is not.
pub(super) async fn what_is_left<P: Requirement>(
    caller: &Caller<P>,
    store: &Arc<Store>,
    cart: &Cart,
    terminal: &str,
) -> Result<Worth> {
    let mut pricing = Pricing::begin(caller, store, cart, terminal).await?;
    pricing.leave_out_what_is_gone();
    let snapshot = caller.snapshot().await?;
    loop {
        // Each round leaves something out, or is the last one.
        let error = match pricing.quote(&snapshot).await {
            Ok(quote) => return Ok(pricing.worth(quote)),
            Err(error) => error,
        };
        if !pricing.leave_out(&error) {
            return Err(error);
        }
    }
}

/// A cart that is being priced.
struct Pricing<'a, P> {
    caller: &'a Caller<P>,
    store: &'a Arc<Store>,
    terminal: &'a str,
    whole: &'a Cart,
    /// What is priced of it.
    left: Cart,
    places: Vec<usize>,
    refused: Vec<Change>,
    catalog: Catalog,
}

impl<'a, P: Requirement> Pricing<'a, P> {
    async fn begin(caller: &'a Caller<P>, store: &'a Arc<Store>, whole: &'a Cart, terminal: &'a str) -> Result<Self> {
        let catalog = Catalog::load(store, whole).await?;
        let places = (0..whole.lines.len()).collect();
        Ok(Self { caller, store, terminal, whole, left: whole.clone(), places, refused: Vec::new(), catalog })
    }

    async fn quote(&mut self, snapshot: &impl ConnectionTrait) -> Result<Quote> {
        let when = (self.caller.now(), Purpose::Quote);
        let (_, terms) = pricing::terms(snapshot, &mut self.catalog, self.store.id, &self.left, when).await?;
        let priced = pricing::price(&self.left, &self.catalog, terms)?;
        let hash = cart_hash(&self.left, &priced, Some(self.terminal))?;
        let exponent = self.catalog.store()?.currency_exponent;
        let mut quote = Quote::new(&self.left, &priced, hash, exponent);
        quote.mark_held(|codes| self.caller.may(codes));
        Ok(quote)
    }

    fn worth(self, quote: Quote) -> Worth {
        let Self { whole, places, refused, catalog, .. } = self;
        let prices = whole.lines.iter().map(|line| price_of(line, &catalog)).collect();
        Worth { quote, places, refused, shelf: prices }
    }

    /// The lines of products that are not sold any more, all at once.
    fn leave_out_what_is_gone(&mut self) {
        let products = &self.catalog.products;
        let is_there = |line: &Line| products.get(&line.product_id).is_some_and(|sold| is_sold(&sold.row));
        let gone: BTreeSet<usize> =
            (0..self.left.lines.len()).filter(|place| !is_there(&self.left.lines[*place])).collect();
        for place in &gone {
            let product = products.get(&self.left.lines[*place].product_id).map(|sold| &sold.row);
            let name = product.map_or("this product", |product| product.name.as_str());
            let text = format!("{name} is not sold any more; take it off the cart");
            let code = ErrorCode::ProductInactive.as_str();
            self.refused.push(Change::gone(self.whole, self.places[*place], code, text));
        }
        self.take_off(&gone);
    }

    /// What `error` names of the cart; false when it is about nothing that can be left out.
    fn leave_out(&mut self, error: &Error) -> bool {
        let before = self.refused.len();
        let mut lines = BTreeSet::new();
        for detail in error.details() {
            let refused = match Place::of(&detail.field) {
                Place::Customer => {
                    let customer = self.left.customer_id.take();
                    customer.map(|id| Change::refused(None, self.whole, "customerId", Json::from(id.to_string())))
                }
                Place::CartDiscount => {
                    let discount = self.left.cart_discount.take();
                    discount.map(|entry| Change::refused(None, self.whole, "cartDiscount", said_of(&entry)))
                }
                Place::LineDiscount(place) => self.left.lines.get_mut(place).and_then(|line| {
                    let entry = line.line_discount.take()?;
                    Some(Change::refused(Some(self.places[place]), self.whole, "lineDiscount", said_of(&entry)))
                }),
                Place::Line(place) if place < self.left.lines.len() && lines.insert(place) => {
                    let code = error.code().as_str();
                    Some(Change::gone(self.whole, self.places[place], code, String::new()))
                }
                Place::Line(_) | Place::Other => None,
            };
            self.refused.extend(refused.map(|change| change.because(&detail.message)));
        }
        self.take_off(&lines);
        self.refused.len() > before
    }

    fn take_off(&mut self, lines: &BTreeSet<usize>) {
        for place in lines.iter().rev() {
            self.left.lines.remove(*place);
            self.places.remove(*place);
        }
    }
}

/// What of a cart the field of a refusal is about.
enum Place {
    Customer,
    CartDiscount,
    LineDiscount(usize),
    Line(usize),
    Other,
}

impl Place {
    fn of(field: &str) -> Self {
        let in_line = field.strip_prefix("lines[").and_then(|rest| {
            let (index, rest) = rest.split_once(']')?;
            Some((index.parse().ok()?, rest))
        });
        match in_line {
            Some((index, rest)) if rest.starts_with(".lineDiscount") => Self::LineDiscount(index),
            Some((index, _)) => Self::Line(index),
            None if field == "customerId" => Self::Customer,
            None if field.starts_with("cartDiscount") => Self::CartDiscount,
            None => Self::Other,
        }
    }
}

/// What one of a line costs, of a line that cannot be priced.
fn price_of(line: &Line, catalog: &Catalog) -> Money {
    let shelf = || {
        let sold = catalog.products.get(&line.product_id)?;
        Some(shelf_price(&sold.row, catalog.rows.get(&line.product_id)).0)
    };
    line.unit_price_override.or(line.open_price).or(line.label_amount).or_else(shelf).unwrap_or_default()
}

impl Worth {
    /// The lines of a cart that is dropped, as lines that were taken off it.
    pub(super) fn dropped(&self, cart: &Cart, quote: &Json, at: Instant) -> Vec<Removed> {
        let priced = priced_lines(quote);
        let removed = cart.lines.iter().enumerate().map(|(place, line)| {
            let found = self.places.iter().position(|priced| *priced == place).and_then(|nth| priced.get(nth));
            let said = found.and_then(|line| quantity_and_price(line));
            let (quantity, unit_price) = said.unwrap_or((line.quantity.unwrap_or(Qty::ONE), self.shelf[place]));
            Removed { product_id: line.product_id, quantity, unit_price, at: Some(at) }
        });
        removed.collect()
    }
}
