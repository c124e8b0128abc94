//! The business of a retail chain without input or output: no database, no clock, no network.
//!
//! Everything here is a value or a function of values, so that the same rule can be used by a till, by headquarters,
//! by the demo and by a test.

#![warn(unreachable_pub)]

pub mod accounting;
pub mod adjustment;
pub mod alarm;
pub mod amount;
pub mod approvable;
pub mod by_name;
pub mod calendar;
pub mod chain;
pub mod cost;
pub mod error_code;
pub mod fields;
pub mod first_of;
pub mod gtin;
pub mod ids;
pub mod instant;
pub mod json;
pub mod paper;
pub mod permission;
pub mod pricing;
pub mod reason;
pub mod receipt;
pub mod refusal;
pub mod sale_check;
pub mod schema;
pub mod series;
pub mod special;
pub mod state;
pub mod wire;
pub mod words;
pub mod z;

pub use alarm::{Alarm, AlarmCode};
pub use amount::{Bps, Money, Ppm, Qty, rdiv};
pub use by_name::ByName;
pub use cost::Cost;
pub use error_code::ErrorCode;
pub use first_of::FirstOf;
pub use instant::Instant;
pub use json::JsonText;
pub use refusal::Refusal;
