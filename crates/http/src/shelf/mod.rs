//! What stands on the shelf and what it costs: from rows to the values that `tillkeep_model::pricing` reckons with, and from those
//! to what is shown. A till's store and headquarters' preview price a cart with the same functions. `docs/domain.md`, "Prices".

mod goods;
pub mod shown;
pub mod special;

pub use goods::{Goods, Typed, limits, terms};
