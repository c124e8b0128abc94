//! Stock of this store: levels, and the adjustments that change them besides sales.

pub mod adjust;
pub mod read;
