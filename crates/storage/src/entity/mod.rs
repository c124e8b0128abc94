//! One file for each table, whose name here is that of its file whatever folder it is in. What travels between servers is declared
//! in [`crate::registry`].

#![expect(clippy::struct_excessive_bools, reason = "a row has the flags its table has")]

mod chain;
mod documents;
mod people;
mod sync;

pub use chain::*;
pub use documents::*;
pub use people::*;
pub use sync::*;

/// Tables of which rows are kept in memory. Levels and prices of this store are not among them: each sale reads those.
pub const KEPT_IN_MEMORY: &[&str] = &[
    "stores",
    "tax_rates",
    "tax_groups",
    "tax_group_rates",
    "tenders",
    "products",
    "product_barcodes",
    "product_specials",
    "sales_reps",
    "registers",
    "register_sessions",
];
