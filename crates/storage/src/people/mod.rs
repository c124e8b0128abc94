//! What is kept of people who sign in: their factors, PINs and look-up keys, who works where, places that are known.

pub mod factors;
pub mod kept_verifiers;
pub mod known_places;
pub mod pin_keys;
pub mod staff;
pub mod store_lookups;
pub mod user_pins;
