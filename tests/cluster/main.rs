//! Real servers as processes, on free ports, with real databases and a proxy between them that fails on purpose.
//! Headquarters has its embedded database; what has to do with a database runs on PostgreSQL too, see `on_postgres.rs`.

mod kit;

mod approvals;
mod down;
mod effects;
mod faults;
mod metrics;
mod protocol;
mod restart;
mod secrets;
mod socket;
mod tls;
mod walks;

/// Where a headquarters keeps its data besides its directory: nowhere.
#[derive(Default)]
pub struct Home;

impl Home {
    /// What the environment of a headquarters says of it.
    pub const fn environment(&self) -> &[(&str, &str)] {
        &[]
    }
}
