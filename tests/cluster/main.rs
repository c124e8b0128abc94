//! Real servers as processes, on free ports, with real databases and a proxy between them that fails on purpose.

mod kit;

mod approvals;
mod down;
mod effects;
mod faults;
mod metrics;
mod protocol;
mod put_back;
mod restart;
mod secrets;
mod socket;
mod stream;
mod tls;
mod walks;
