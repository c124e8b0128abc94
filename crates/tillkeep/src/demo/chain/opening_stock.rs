//! What lies on the shelves of a store at the beginning.

use tillkeep_model::{Money, Qty};
use tillkeep_storage::entity::product;
use uuid::Uuid;

use super::rng::Stream;
use super::whole::Chain;

/// What the store has of each product with stock, and what a unit cost: 20 to 200 of each. A pure function of the
/// chain's seed, the store and the product.
pub fn opening_stock(chain: &Chain, store_code: &str) -> Vec<(Uuid, Qty, Money)> {
    let row = |product: &product::Model| {
        let mut stream = Stream::new(chain.seed, &format!("stock:{store_code}:{}", product.sku));
        let quantity = if product.is_weighed {
            // Whole decagrams, as a scale in the stock room shows them.
            Qty(stream.between(2000, 20_000) * 10)
        } else {
            Qty::pieces(stream.between(20, 200))
        };
        (product.id, quantity, product.cost.0)
    };
    chain.products.iter().filter(|product| product.track_stock).map(row).collect()
}
