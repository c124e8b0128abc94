//! Real servers as processes, on free ports, with real databases and a proxy between them that fails on purpose.
//! Headquarters has its embedded database; what has to do with a database runs on `PostgreSQL` too, see `on_postgres.rs`.

mod home;
mod kit;

mod approvals;
mod completeness;
mod down;
mod effects;
mod faults;
mod metrics;
mod protocol;
mod put_back;
mod restart;
mod secrets;
mod socket;
mod tls;
mod walks;

use home::Home;
