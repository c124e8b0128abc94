//! `POST /pos/quote`: what a cart costs, without selling it.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use tillkeep_http::error::Result;
use tillkeep_http::{Answer, Body, Caller};
use tillkeep_model::approvable::BEYOND_LIMIT;
use tillkeep_model::permission::code::PosSell;
use tillkeep_model::pricing::{TaxAmount, TaxTotal};
use tillkeep_model::{Money, Ppm, Qty};
use utoipa::ToSchema;
use uuid::Uuid;

use super::account::OnAccount;
use super::cart::Cart;
use super::cart_hash::cart_hash;
use super::catalog::Catalog;
use super::pricing::{self, Priced, Purpose};
use super::specials::{self, Warning};
use super::tenders;
use crate::terminal::acting_at;
use crate::{Store, customers};

pub(crate) async fn quote(
    caller: Caller<PosSell>,
    State(store): State<Arc<Store>>,
    Body(cart): Body<Cart>,
) -> Result<Answer<Quote>> {
    cart.check(caller.now())?;
    let mut catalog = Catalog::load(&store, &cart).await?;
    let snapshot = caller.snapshot().await?;
    catalog.look(&snapshot, store.id).await?;
    let customer = customers::buyer(&snapshot, cart.customer_id).await?;
    let warnings = specials::of_cart(&cart, &catalog, catalog.store()?, caller.now(), customer.is_some());
    let exempt = customer.as_ref().is_some_and(|customer| customer.tax_exempt);
    let priced = pricing::price(&cart, &catalog, exempt, Purpose::Quote)?;
    let terminal = acting_at(&caller, cart.terminal_id.as_deref())?;
    let mut answer = Quote::new(&cart, &priced, cart_hash(&cart, terminal)?, warnings);
    if !cart.payments().is_empty() {
        let settled = tenders::pay(&cart, &priced, &catalog.shop.tenders)?;
        answer.cash_rounding = Some(settled.cash_rounding);
        answer.change_amount = Some(settled.change);
        let on_account = OnAccount::new(&settled, customer.as_ref());
        answer.on_account_amount = on_account.map(OnAccount::amount);
        let beyond = match on_account {
            Some(part) => part.excess(&snapshot).await?.is_some(),
            None => false,
        };
        if beyond && !answer.required_permissions.contains(&BEYOND_LIMIT.code) {
            answer.required_permissions.push(BEYOND_LIMIT.code);
        }
    }
    Ok(Answer(answer))
}

/// The priced cart as a till shows it; the amounts have the names that they have on a sale.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Quote {
    customer_id: Option<Uuid>,
    sales_rep_id: Option<Uuid>,
    tax_exempt: bool,
    tax_rounding: &'static str,
    lines: Vec<QuoteLine>,
    list_amount: Money,
    special_discount: Money,
    line_discount: Money,
    cart_discount: Money,
    net_amount: Money,
    tax_amount: Money,
    total_amount: Money,
    tax_lines: Vec<TaxLine>,
    cash_due: Money,
    /// What an approval of this cart is bound to.
    cart_hash: String,
    /// What the cart needs besides the permission to sell.
    required_permissions: Vec<&'static str>,
    /// What the till should say.
    warnings: Vec<Warning>,
    /// With payments only.
    #[serde(skip_serializing_if = "Option::is_none")]
    cash_rounding: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change_amount: Option<Money>,
    /// With payments on account only.
    #[serde(skip_serializing_if = "Option::is_none")]
    on_account_amount: Option<Money>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuoteLine {
    line_no: usize,
    line_id: Option<String>,
    product_id: Uuid,
    sku: String,
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
    line_discount: Money,
    cart_discount: Money,
    net_amount: Money,
    tax_amount: Money,
    total_amount: Money,
    tax_details: Vec<TaxDetail>,
}

impl Quote {
    pub(crate) fn new(cart: &Cart, priced: &Priced, cart_hash: String, warnings: Vec<Warning>) -> Self {
        let total = &priced.cart;
        Self {
            customer_id: cart.customer_id,
            sales_rep_id: cart.sales_rep_id,
            tax_exempt: priced.tax_exempt,
            tax_rounding: priced.tax_rounding.as_str(),
            lines: (0..priced.lines.len()).map(|index| line(cart, priced, index)).collect(),
            list_amount: total.list,
            special_discount: total.special_discount,
            line_discount: total.line_discount,
            cart_discount: total.cart_discount,
            net_amount: total.net,
            tax_amount: total.tax,
            total_amount: total.total,
            tax_lines: tax_lines(&total.tax_lines),
            cash_due: priced.cash_due(),
            cart_hash,
            required_permissions: priced.required().iter().map(|known| known.code).collect(),
            warnings,
            cash_rounding: None,
            change_amount: None,
            on_account_amount: None,
        }
    }
}

fn line(cart: &Cart, priced: &Priced, index: usize) -> QuoteLine {
    let (product, line, amounts) = (priced.products[index], &priced.lines[index], &priced.cart.lines[index]);
    QuoteLine {
        line_no: index + 1,
        line_id: cart.lines[index].line_id.clone(),
        product_id: product.id,
        sku: product.sku.clone(),
        product_name: product.name.clone(),
        unit_of_measure: product.unit_of_measure.clone(),
        age_restriction: product.age_restriction.map(Into::into),
        quantity: line.quantity,
        regular_price: line.regular_price,
        unit_price: line.unit_price,
        price_source: line.price_source.as_str(),
        price_includes_tax: line.inclusive,
        list_amount: amounts.list,
        special_discount: amounts.special_discount,
        line_discount: amounts.line_discount,
        cart_discount: amounts.cart_discount,
        net_amount: amounts.net,
        tax_amount: amounts.tax,
        total_amount: amounts.total,
        tax_details: tax_details(&amounts.taxes),
    }
}

/// One of `sales.tax_lines`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaxLine {
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
pub(crate) struct TaxDetail {
    tax_rate_id: Uuid,
    code: String,
    rate_ppm: Ppm,
    base_amount: Money,
    tax_amount: Money,
}

/// `sales.tax_lines`: one for each rate.
pub(crate) fn tax_lines(totals: &[TaxTotal]) -> Vec<TaxLine> {
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
pub(crate) fn tax_details(amounts: &[TaxAmount]) -> Vec<TaxDetail> {
    let one = |amount: &TaxAmount| TaxDetail {
        tax_rate_id: amount.rate.id,
        code: amount.rate.code.clone(),
        rate_ppm: amount.rate.rate,
        base_amount: amount.base,
        tax_amount: amount.tax,
    };
    amounts.iter().map(one).collect()
}
