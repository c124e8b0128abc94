//! What is measured.

use super::figure::Measurement;
use super::{arrival, growth, idle, load, mixed, nodes, permission, push, quote, sale, sign_in, sockets, start};

/// All of them, in the order in which they run.
pub const MEASUREMENTS: &[&Measurement] = &[
    &load::MEASUREMENT,
    &push::MEASUREMENT,
    &idle::MEASUREMENT,
    &sockets::MEASUREMENT,
    &arrival::MEASUREMENT,
    &sale::MEASUREMENT,
    &sign_in::MEASUREMENT,
    &permission::MEASUREMENT,
    &start::MEASUREMENT,
    &growth::MEASUREMENT,
    &mixed::MEASUREMENT,
    &quote::MEASUREMENT,
    &nodes::MEASUREMENT,
];
