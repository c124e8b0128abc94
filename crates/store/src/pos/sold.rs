//! `POST /pos/sales`: a cart is sold, or a customer pays what is owed.

use std::sync::Arc;

use axum::extract::State;
use tillkeep_http::error::Result;
use tillkeep_http::{Body, Caller, Created};
use tillkeep_model::permission::code::PosSell;

use super::cart::SoldCart;
use super::sale::{Sold, sell};
use super::settlement;
use crate::{Store, bounds, printers};

pub(crate) async fn create(
    caller: Caller<PosSell>,
    State(store): State<Arc<Store>>,
    Body(SoldCart(cart)): Body<SoldCart>,
) -> Result<Created<Sold>> {
    let id = bounds::document_id(cart.id)?;
    cart.check(caller.now())?;
    let mut sold = match &cart.settlement {
        Some(asked) => settlement::create(&caller, &store, id, &cart, asked).await?,
        None => Box::pin(sell(&caller, &store, id, &cart)).await?,
    };
    sold.data.print = printers::print_of(&store, &sold.data.document.sale).await;
    Ok(sold)
}
