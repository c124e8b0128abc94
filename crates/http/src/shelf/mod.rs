//! What stands on the shelf and what it costs: from rows to the values that `tillkeep_model::pricing` reckons with, and from those
//! to what is shown. A till's store and headquarters' preview price a cart with the same functions. `docs/domain.md`, "Prices".

mod concerning;
mod discount;
mod effective;
mod goods;
pub mod shown;
pub mod special;
pub mod store_prices;
mod warning;

use tillkeep_model::ErrorCode;

pub use concerning::{Read, concerning};
pub use discount::{said_discount, takes_none};
pub use goods::{Goods, Typed, is_chargeable, limits, terms};
pub use warning::Warning;

use crate::auth::HasAuth;
use crate::routes::Routes;

/// What both servers say of prices.
pub fn routes<S>(routes: Routes<S>) -> Routes<S>
where
    S: HasAuth + Clone + 'static,
{
    routes
        .get("/store-prices", store_prices::list)
        .about("List prices of products in stores, next to those of the chain.")
        .get("/store-prices/effective", effective::effective)
        .about("What a product costs in a store at a moment, and how that comes about.")
        .fails(&[ErrorCode::NotFound])
}
