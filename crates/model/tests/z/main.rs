//! X, Z and ZZ: what holds of the figures of a drawer, for days that are drawn.

mod blind;
mod day;
mod identities;
mod sums;
