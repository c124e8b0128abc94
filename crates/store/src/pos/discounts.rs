//! `POST /pos/discounts/validate`: what a cart takes off, beside what may be taken off.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use tillkeep_http::error::Result;
use tillkeep_http::{Answer, Body, Caller};
use tillkeep_model::approvable::{BEYOND_LIMIT, PRICE};
use tillkeep_model::permission::code::PosDiscount;
use tillkeep_model::pricing::{Asked, Deed};
use tillkeep_model::{Bps, Money};
use utoipa::ToSchema;
use uuid::Uuid;

use super::cart::Cart;
use super::catalog::Catalog;
use super::pricing::{self, Priced, Purpose};
use crate::Store;

/// What each line takes off, and the cart as a whole.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DiscountsValidated)]
pub(super) struct Validated {
    lines: Vec<LineDiscounts>,
    /// The discount of the cart alone.
    cart: Limits,
    total_amount: Money,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LineDiscounts)]
struct LineDiscounts {
    line_no: usize,
    product_id: Uuid,
    /// Whether its product and its specials let anybody take something off.
    takes_discount: bool,
    special_discount: Money,
    line_discount: Money,
    cart_discount: Money,
    #[serde(flatten)]
    limits: Limits,
    /// Whether it would be sold below the floor of its product.
    below_floor: bool,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DiscountLimitsAsked)]
struct Limits {
    limit_bps: Bps,
    requested_bps: Bps,
    /// Whether that is within the limit, or the caller may go beyond it.
    allowed: bool,
    /// Whether it needs `pos.discount.override_max`.
    needs_override: bool,
}

pub(super) async fn validate(
    caller: Caller<PosDiscount>,
    State(store): State<Arc<Store>>,
    Body(cart): Body<Cart>,
) -> Result<Answer<Validated>> {
    cart.check_goods(caller.now())?;
    let mut catalog = Catalog::load(&store, &cart).await?;
    let snapshot = caller.snapshot().await?;
    let when = (caller.now(), Purpose::Quote);
    let (_, terms) = pricing::terms(&snapshot, &mut catalog, store.id, &cart, when).await?;
    let priced = pricing::price(&cart, &catalog, terms)?;
    let may_override = caller.may(BEYOND_LIMIT.holders);
    Ok(Answer(validated(&priced, may_override, may_override && caller.may(PRICE.holders))))
}

/// A price below the floor of its product needs both permissions.
fn validated(priced: &Priced<'_>, may_override: bool, may_go_below: bool) -> Validated {
    let needs = priced.needs();
    let limits = |asked: Asked, more: bool| Limits {
        limit_bps: asked.limit,
        requested_bps: asked.requested,
        allowed: (asked.is_within || may_override) && (!more || may_go_below),
        needs_override: !asked.is_within || more,
    };
    let line = |place: usize| {
        let amounts = &priced.cart.lines[place];
        let below_floor = needs.iter().any(|need| need.line == Some(place) && need.deed == Deed::BelowFloor);
        LineDiscounts {
            line_no: place + 1,
            product_id: priced.items[place].product.id,
            takes_discount: amounts.takes_discount,
            special_discount: amounts.special_discount,
            line_discount: amounts.line_discount,
            cart_discount: amounts.cart_discount,
            limits: limits(priced.limits.of(&priced.lines[place], amounts), below_floor),
            below_floor,
        }
    };
    Validated {
        lines: (0..priced.lines.len()).map(line).collect(),
        cart: limits(priced.limits.of_cart(&priced.cart), false),
        total_amount: priced.cart.total,
    }
}
