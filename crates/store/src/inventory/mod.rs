//! Stock of this store: levels, and the adjustments that change them besides sales.

pub(crate) mod adjust;
mod adjustment;
pub(crate) mod read;

use crate::state::Routes;
use tillkeep_model::ErrorCode;

/// The routes of stock.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{DocumentTooLarge, IdReused, NegativeStock, ProductNotFound, ReasonReserved, StoreNotReady};
    routes
        .get("/inventory", read::list)
        .about("List what this store has of each product.")
        .get("/inventory/adjustments", read::adjustments)
        .about("List stock changes by hand.")
        .post("/inventory/adjustments", adjust::create)
        .about("Change a level by hand.")
        .fails(&[DocumentTooLarge, IdReused, ReasonReserved, ProductNotFound, NegativeStock, StoreNotReady])
        .get("/inventory/{productId}", read::get)
        .about("What this store has of one product.")
        .fails(&[ProductNotFound])
}
