//! `POST /pos/quote`: what a cart costs, without selling it.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use tillkeep_http::error::Result;
use tillkeep_http::shelf::shown::Need as NeedView;
use tillkeep_http::shelf::{Warning, shown};
use tillkeep_http::{Answer, Body, Caller};
use tillkeep_model::Money;
use tillkeep_model::approvable::BEYOND_LIMIT;
use tillkeep_model::permission::code::PosSell;
use utoipa::ToSchema;
use uuid::Uuid;

use super::account::OnAccount;
use super::cart::{Cart, Line};
use super::cart_hash::cart_hash;
use super::catalog::Catalog;
use super::pricing::{self, Priced, Purpose};
use super::tenders;
use crate::Store;
use crate::terminal::acting_at;

pub(crate) async fn quote(
    caller: Caller<PosSell>,
    State(store): State<Arc<Store>>,
    Body(cart): Body<Cart>,
) -> Result<Answer<Quote>> {
    cart.check_goods(caller.now())?;
    let mut catalog = Catalog::load(&store, &cart).await?;
    let snapshot = caller.snapshot().await?;
    let when = (caller.now(), Purpose::Quote);
    let (customer, terms) = pricing::terms(&snapshot, &mut catalog, store.id, &cart, when).await?;
    let priced = pricing::price(&cart, &catalog, terms)?;
    let terminal = acting_at(&caller, cart.terminal_id.as_deref())?;
    let exponent = catalog.store()?.currency_exponent;
    let mut answer = Quote::new(&cart, &priced, cart_hash(&cart, &priced, terminal)?, exponent);
    answer.mark_held(|codes| caller.may(codes));
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
        if beyond {
            let held = caller.may(BEYOND_LIMIT.holders);
            let deed = "beyond_credit_limit";
            answer.needs.push(NeedView { line_no: None, deed, permission: BEYOND_LIMIT.code, approvable: true, held });
            if !answer.required_permissions.contains(&BEYOND_LIMIT.code) {
                answer.required_permissions.push(BEYOND_LIMIT.code);
            }
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
    #[serde(flatten)]
    sums: shown::Sums,
    cash_due: Money,
    /// What an approval of this cart is bound to.
    cart_hash: String,
    /// What the cart needs besides the permission to sell.
    required_permissions: Vec<&'static str>,
    /// The same, for each thing that needs it.
    needs: Vec<NeedView>,
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
    #[serde(flatten)]
    line: shown::Line,
    line_id: Option<String>,
    /// Of a charge: the number of the line that it belongs to.
    charge_of: Option<usize>,
}

impl Quote {
    pub(crate) fn new(cart: &Cart, priced: &Priced<'_>, cart_hash: String, exponent: i16) -> Self {
        Self {
            customer_id: cart.customer_id,
            sales_rep_id: cart.sales_rep_id,
            tax_exempt: priced.tax_exempt,
            tax_rounding: priced.tax_rounding.as_str(),
            lines: (0..priced.lines.len()).map(|place| line(cart, priced, place, exponent)).collect(),
            sums: shown::sums(&priced.cart),
            cash_due: priced.cash_due(),
            cart_hash,
            required_permissions: priced.required().iter().map(|known| known.code).collect(),
            needs: priced.needs().into_iter().flat_map(NeedView::of).collect(),
            warnings: priced.warnings.clone(),
            cash_rounding: None,
            change_amount: None,
            on_account_amount: None,
        }
    }

    /// Says of each thing whether the caller may do it.
    pub(crate) fn mark_held(&mut self, may: impl Fn(&[&str]) -> bool) {
        for need in &mut self.needs {
            need.held = may(&[need.permission]);
        }
    }
}

fn line(cart: &Cart, priced: &Priced<'_>, place: usize, exponent: i16) -> QuoteLine {
    let item = &priced.items[place];
    let entered = cart.lines.get(item.index).filter(|_| item.charge_of.is_none());
    let name = entered.and_then(Line::name);
    QuoteLine {
        line: shown::line(place, item.product, name, &priced.lines[place], &priced.cart.lines[place], exponent),
        line_id: entered.and_then(|line| line.line_id.clone()),
        charge_of: item.charge_of.map(|line| line + 1),
    }
}
