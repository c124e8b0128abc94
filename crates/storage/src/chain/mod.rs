//! What a chain is set up with: what every headquarters has, codes, taxes, tills, and rows that look alike.

pub mod ahead;
pub mod barcodes;
pub mod duplicates;
pub mod price_copies;
pub mod seed;
pub mod taxes;
pub mod tills;
