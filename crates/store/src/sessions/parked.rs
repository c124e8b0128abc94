//! Carts that are parked at a till when its drawer is closed.

use serde_json::{Value as Json, json};
use tillkeep_http::error::{Error, Result};
use tillkeep_model::ErrorCode;
use tillkeep_storage::entity::parked_cart::Model;

/// 409 that names them, when there are any.
pub(super) fn refuse(carts: &[Model]) -> Result<()> {
    if carts.is_empty() {
        return Ok(());
    }
    let named = |cart: &Model| {
        json!({
            "id": cart.id, "label": cart.label, "total": cart.total_at_park, "itemCount": cart.item_count,
            "state": cart.state,
        })
    };
    let named: Vec<Json> = carts.iter().map(named).collect();
    let text = format!(
        "carts of this till are still parked, {} in all; sell or abandon them, or close with acceptParked: true",
        carts.len()
    );
    Err(Error::new(ErrorCode::ParkedCartsOpen, text).at("acceptParked").with("parkedCarts", named))
}
