//! Ids of sales whose carts were parked after all. A till that sends such a sale once more, late, would sell a cart that another
//! till may sell meanwhile. The database has them too ([`Earlier`]); here they are so that a sale asks no question
//! more of it than before.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tillkeep_storage::parked_carts::Earlier;
use uuid::Uuid;

/// By the id of the sale, and by that of the request that parked the cart again, the row of the cart. What is not in here was
/// never parked; what is may have come to nothing, which the row says.
#[derive(Default)]
pub(crate) struct Withdrawn(Mutex<HashMap<Uuid, Uuid>>);

impl Withdrawn {
    pub(crate) fn new(carts: &[(Uuid, Vec<Earlier>)]) -> Self {
        let withdrawn = Self::default();
        for (cart, earlier) in carts {
            withdrawn.add(*cart, earlier);
        }
        withdrawn
    }

    /// Takes in what the row `cart` says. In the transaction that parks it: a sale comes before or after that as a whole.
    pub(crate) fn add(&self, cart: Uuid, earlier: &[Earlier]) {
        let mut carts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for earlier in earlier {
            carts.insert(earlier.sale_id, cart);
            carts.insert(earlier.by, cart);
        }
    }

    /// The cart that the sale or the request `id` was of.
    pub(crate) fn cart_of(&self, id: Uuid) -> Option<Uuid> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id).copied()
    }
}
