//! `POST /pos/quote`: what a cart costs, without selling it.

use std::sync::Arc;

use axum::extract::State;
use serde_json::{Value as Json, json};
use tillkeep_http::error::Result;
use tillkeep_http::{Answer, Body, Caller};
use tillkeep_model::permission::code::PosSell;
use tillkeep_model::pricing::{TaxAmount, TaxTotal};
use tillkeep_storage::sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::cart::Cart;
use super::catalog::Catalog;
use super::pricing::{self, Priced, Purpose};
use super::tenders;
use crate::approvals::cart_hash;
use crate::{Store, customers};

pub async fn quote(
    caller: Caller<PosSell>,
    State(store): State<Arc<Store>>,
    Body(cart): Body<Cart>,
) -> Result<Answer<Json>> {
    cart.check()?;
    let snapshot = caller.db().snapshot().await?;
    let catalog = catalog_of(&snapshot, &store, &cart).await?;
    let customer = customers::buyer(&snapshot, cart.customer_id).await?;
    let exempt = customer.is_some_and(|customer| customer.tax_exempt);
    let priced = pricing::price(&cart, &catalog, exempt, Purpose::Quote)?;
    let terminal = cart.terminal_id.as_deref().or(caller.terminal_id.as_deref());
    let mut answer = to_json(&cart, &priced, &cart_hash(&cart, terminal)?);
    if !cart.payments().is_empty() {
        let settled = tenders::pay(&cart, &priced, &tenders::all(&snapshot).await?)?;
        answer["cashRounding"] = json!(settled.cash_rounding);
        answer["changeAmount"] = json!(settled.change);
    }
    Ok(Answer(answer))
}

/// What the replica knows of the products of `cart`.
pub async fn catalog_of(conn: &impl ConnectionTrait, store: &Store, cart: &Cart) -> Result<Catalog> {
    let own = store.own_row(conn).await?;
    let mut ids: Vec<Uuid> = cart.lines.iter().map(|line| line.product_id).collect();
    ids.sort_unstable();
    ids.dedup();
    Catalog::load(conn, own, &ids).await
}

/// The priced cart as a till shows it; the amounts have the names that they have on a sale.
pub fn to_json(cart: &Cart, priced: &Priced, cart_hash: &str) -> Json {
    let lines: Vec<Json> = (0..priced.lines.len()).map(|index| line_json(cart, priced, index)).collect();
    let total = &priced.cart;
    json!({
        "customerId": cart.customer_id,
        "salesRepId": cart.sales_rep_id,
        "taxExempt": priced.tax_exempt,
        "taxRounding": priced.tax_rounding.as_str(),
        "lines": lines,
        "listAmount": total.list,
        "specialDiscount": total.special_discount,
        "lineDiscount": total.line_discount,
        "cartDiscount": total.cart_discount,
        "netAmount": total.net,
        "taxAmount": total.tax,
        "totalAmount": total.total,
        "taxLines": tax_lines(&total.tax_lines),
        "cashDue": priced.cash_due(),
        "cartHash": cart_hash,
        "requiredPermissions": priced.required(),
    })
}

fn line_json(cart: &Cart, priced: &Priced, index: usize) -> Json {
    let (product, line, amounts) = (priced.products[index], &priced.lines[index], &priced.cart.lines[index]);
    json!({
        "lineNo": index + 1,
        "lineId": cart.lines[index].line_id,
        "productId": product.id,
        "sku": product.sku,
        "productName": product.name,
        "unitOfMeasure": product.unit_of_measure,
        "ageRestriction": product.age_restriction,
        "quantity": line.quantity,
        "regularPrice": line.regular_price,
        "unitPrice": line.unit_price,
        "priceSource": line.price_source.as_str(),
        "priceIncludesTax": line.inclusive,
        "listAmount": amounts.list,
        "specialDiscount": amounts.special_discount,
        "lineDiscount": amounts.line_discount,
        "cartDiscount": amounts.cart_discount,
        "netAmount": amounts.net,
        "taxAmount": amounts.tax,
        "totalAmount": amounts.total,
        "taxDetails": tax_details(&amounts.taxes),
    })
}

/// `sales.tax_lines`: one for each rate.
pub fn tax_lines(totals: &[TaxTotal]) -> Json {
    let one = |total: &TaxTotal| {
        json!({
            "taxRateId": total.rate.id,
            "code": total.rate.code,
            "name": total.rate.name,
            "ratePpm": total.rate.rate,
            "baseAmount": total.base,
            "taxAmount": total.tax,
        })
    };
    totals.iter().map(one).collect()
}

/// `sale_items.tax_details`: one for each rate of the line.
pub fn tax_details(amounts: &[TaxAmount]) -> Json {
    let one = |amount: &TaxAmount| {
        json!({
            "taxRateId": amount.rate.id,
            "code": amount.rate.code,
            "ratePpm": amount.rate.rate,
            "baseAmount": amount.base,
            "taxAmount": amount.tax,
        })
    };
    amounts.iter().map(one).collect()
}
