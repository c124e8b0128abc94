//! `POST /specials/preview`: what a cart would cost in a store at a moment. Reads only.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use tillkeep_http::directory::customers::buyer;
use tillkeep_http::error::{Error, FieldError, Result};
use tillkeep_http::resource::Check;
use tillkeep_http::sent::Sent;
use tillkeep_http::shelf::{self, Goods, Read, Typed, Warning, is_chargeable, said_discount, shown, takes_none};
use tillkeep_http::{Answer, Body, Caller, sent};
use tillkeep_model::fields::LARGEST;
use tillkeep_model::fields::sale::{PREVIEW, PREVIEW_DISCOUNT, PREVIEW_LINE};
use tillkeep_model::permission::code::SpecialsView;
use tillkeep_model::pricing::{CartLine, Discount, PricedCart, Special, price_cart};
use tillkeep_model::{Bps, ErrorCode, Instant, Money, Qty};
use tillkeep_storage::entity::{product, store};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::state::Routes;

sent! {
    #[derive(Clone, Debug)]
    pub(crate) struct Asked as "SpecialPreviewQuestion" by PREVIEW {
        store_id: Uuid,
        /// Now, when not said.
        at: Option<Instant>,
        /// Who buys; nobody who is known, when not said.
        customer_id: Option<Uuid>,
        lines: Vec<AskedLine>,
        cart_discount: Option<AskedDiscount>,
    }
}

sent! {
    #[derive(Clone, Debug)]
    pub(crate) struct AskedLine as "PreviewQuestionLine" by PREVIEW_LINE {
        product_id: Uuid,
        quantity: Qty,
        line_discount: Option<AskedDiscount>,
    }
}

sent! {
    #[derive(Clone, Debug)]
    pub(crate) struct AskedDiscount as "PreviewDiscount" by PREVIEW_DISCOUNT {
        /// `percent` with `bps`, or `amount` with `amount`.
        r#type: String,
        bps: Option<Bps>,
        amount: Option<Money>,
    }
}

/// The priced cart, with the names that its amounts have in a quote.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SpecialPreview)]
pub(crate) struct Preview {
    store_id: Uuid,
    at: Instant,
    currency_code: String,
    tax_exempt: bool,
    lines: Vec<PreviewLine>,
    #[serde(flatten)]
    sums: shown::Sums,
    /// What selling this needs besides the permission to sell; `held` is whether the caller has it in that store.
    needs: Vec<shown::Need>,
    warnings: Vec<Warning>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PreviewLine {
    #[serde(flatten)]
    line: shown::Line,
    /// Of a charge: the number of the line that it belongs to.
    charge_of: Option<usize>,
}

async fn preview(caller: Caller<SpecialsView>, Body(asked): Body<Asked>) -> Result<Answer<Preview>> {
    asked.check(caller.now())?;
    caller.at_store(asked.store_id)?;
    let conn = caller.snapshot().await?;
    let store = store::Entity::find_by_id(asked.store_id).filter(store::Column::DeletedAt.is_null()).one(&conn).await?;
    let store = store.ok_or_else(|| Error::field("storeId", "is no store"))?;
    let mut ids: Vec<Uuid> = asked.lines.iter().map(|line| line.product_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let read = Read::of(&conn, store.id, &ids).await?;
    let customer = buyer(&conn, asked.customer_id).await?;
    let at = asked.at.unwrap_or_else(|| caller.now());
    let in_force = read.in_force(&shelf::special::moment(&store, at, customer.is_some()));
    let mut pricing =
        Pricing { store: &store, read: &read, in_force, items: Vec::new(), wrong: Vec::new(), warnings: Vec::new() };
    for (index, line) in asked.lines.iter().enumerate() {
        pricing.add(index, line)?;
    }
    let Pricing { items, wrong, warnings, .. } = pricing;
    refuse(wrong)?;
    let is_exempt = customer.is_some_and(|customer| customer.tax_exempt);
    let discount = asked.cart_discount.as_ref().and_then(|discount| discount.discount().ok());
    let (items, lines): (Vec<Item<'_>>, Vec<CartLine>) = items.into_iter().unzip();
    let cart = price_cart(&lines, &shelf::terms(&store, is_exempt, discount));
    refuse(forbidden(&asked, &items, &cart))?;
    let needs = shelf::limits(&store).needs(&lines, &cart).into_iter().flat_map(shown::Need::of);
    let may = |code| caller.access.may(&[code], Some(store.id));
    let held = |need: shown::Need| shown::Need { held: may(need.permission), ..need };
    let exponent = store.currency_exponent;
    let line = |(place, item): (usize, &Item<'_>)| PreviewLine {
        line: shown::line(place, item.product, None, &lines[place], &cart.lines[place], exponent),
        charge_of: item.charge_of.map(|line| line + 1),
    };
    Ok(Answer(Preview {
        store_id: store.id,
        at,
        currency_code: store.currency_code.clone(),
        tax_exempt: is_exempt,
        lines: items.iter().enumerate().map(line).collect(),
        sums: shown::sums(&cart),
        needs: needs.map(held).collect(),
        warnings,
    }))
}

fn refuse(wrong: Vec<FieldError>) -> Result<()> {
    if wrong.is_empty() { Ok(()) } else { Err(Error::fields(wrong)) }
}

fn field(index: usize, name: &str) -> String {
    format!("lines[{index}].{name}")
}

impl AskedDiscount {
    /// What it takes off; the field that is wrong and why.
    fn discount(&self) -> std::result::Result<Discount, (&'static str, &'static str)> {
        said_discount(&self.r#type, self.bps, self.amount)
    }
}

impl Asked {
    fn check(&self, now: Instant) -> Result<()> {
        let mut check = Check::default();
        self.check_at("", now, &mut check);
        for (index, line) in self.lines.iter().enumerate() {
            if let Some(Err((name, text))) = line.line_discount.as_ref().map(AskedDiscount::discount) {
                check.that(false, &field(index, &format!("lineDiscount.{name}")), text);
            }
        }
        if let Some(Err((name, text))) = self.cart_discount.as_ref().map(AskedDiscount::discount) {
            check.that(false, &format!("cartDiscount.{name}"), text);
        }
        check.finish()
    }
}

/// What a line is of.
struct Item<'a> {
    product: &'a product::Model,
    /// Its place in what was asked.
    index: usize,
    /// Of a charge: the place of its line among the items.
    charge_of: Option<usize>,
}

struct Pricing<'a> {
    store: &'a store::Model,
    read: &'a Read,
    in_force: HashMap<Uuid, Arc<Special>>,
    items: Vec<(Item<'a>, CartLine)>,
    wrong: Vec<FieldError>,
    warnings: Vec<Warning>,
}

impl Pricing<'_> {
    fn refuse(&mut self, index: usize, name: &str, message: impl Into<String>) {
        self.wrong.push(FieldError { field: field(index, name), message: message.into() });
    }

    /// As a till takes it: what it would refuse is refused here.
    fn add(&mut self, index: usize, asked: &AskedLine) -> Result<()> {
        let read = self.read;
        let Some(product) = read.products.get(&asked.product_id).filter(|product| product.deleted_at.is_none()) else {
            self.refuse(index, "productId", "is no product");
            return Ok(());
        };
        if !product.is_active {
            let text = format!("{} ({}) is not sold any more; leave it out", product.name, product.sku);
            return Err(Error::new(ErrorCode::ProductInactive, text).at(field(index, "productId")));
        }
        if product.is_open_price {
            self.refuse(index, "productId", format!("{} has no price of its own; leave it out", product.sku));
            return Ok(());
        }
        if !asked.quantity.fits_decimals(product.quantity_decimals) {
            let text = format!("{} is sold with at most {} decimals", product.sku, product.quantity_decimals);
            self.refuse(index, "quantity", text);
        }
        let discount = asked.line_discount.as_ref().and_then(|discount| discount.discount().ok());
        let Some(line) = self.line(product, Typed { quantity: asked.quantity, discount, ..Typed::default() }) else {
            self.refuse(index, "productId", format!("the tax group of {} is gone", product.sku));
            return Ok(());
        };
        self.check_amount(index, &line);
        let place = self.items.len();
        self.items.push((Item { product, index, charge_of: None }, line));
        if !read.is_stocked(product.id) {
            self.warnings.push(Warning::not_stocked_here(product, place + 1));
        }
        self.add_charge(place, product, asked.quantity);
        Ok(())
    }

    fn check_amount(&mut self, index: usize, line: &CartLine) {
        if i128::from(line.unit_price.0) * i128::from(line.quantity.0) > i128::from(LARGEST) * 1000 {
            self.refuse(index, "quantity", format!("makes an amount beyond {LARGEST} minor units"));
        }
    }

    fn line(&self, product: &product::Model, typed: Typed) -> Option<CartLine> {
        let goods = Goods {
            store: self.store,
            tax_groups: &self.read.tax_groups,
            department_limits: &self.read.department_limits,
        };
        let specials: Vec<_> =
            self.read.specials_of(product).filter_map(|row| self.in_force.get(&row.id).cloned()).collect();
        Some(goods.line(product, goods.tax_group(product)?, self.read.own_price(product.id), specials, typed))
    }

    /// The deposit or service that belongs to a product: as many as of that, and never cheaper.
    fn add_charge(&mut self, place: usize, product: &product::Model, quantity: Qty) {
        let Some(id) = product.charge_product_id else { return };
        let read = self.read;
        let charge = read.products.get(&id).filter(|charge| is_chargeable(charge));
        let line = charge.and_then(|charge| Some((charge, self.line(charge, Typed { quantity, ..Typed::default() })?)));
        let Some((charge, mut line)) = line else {
            self.warnings.push(Warning::charge_not_sold(product, place + 1));
            return;
        };
        (line.specials, line.allows_discount) = (Arc::default(), false);
        let index = self.items[place].0.index;
        self.check_amount(index, &line);
        self.items.push((Item { product: charge, index, charge_of: Some(place) }, line));
    }
}

/// Discounts on what takes none.
fn forbidden(asked: &Asked, items: &[Item<'_>], cart: &PricedCart) -> Vec<FieldError> {
    let entered = items.iter().zip(&cart.lines).filter(|(item, _)| item.charge_of.is_none());
    let refused =
        entered.filter(|(item, line)| asked.lines[item.index].line_discount.is_some() && !line.takes_discount);
    let mut wrong: Vec<FieldError> = refused
        .map(|(item, line)| FieldError {
            field: field(item.index, "lineDiscount"),
            message: takes_none(&item.product.sku, line),
        })
        .collect();
    if asked.cart_discount.is_some() && !cart.lines.iter().any(|line| line.takes_discount) {
        let message = "no line of this cart takes a discount; leave it out".to_owned();
        wrong.push(FieldError { field: "cartDiscount".to_owned(), message });
    }
    wrong
}

/// What a cart would cost.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .post("/specials/preview", preview)
        .about("What a cart would cost in a store at a moment.")
        .fails(&[ErrorCode::ProductInactive])
}
