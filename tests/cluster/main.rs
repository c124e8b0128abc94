//! Real servers as processes, on free ports, with real databases and a proxy between them that fails on purpose.

mod kit;

mod approvals;
mod chaos;
mod crash;
mod down;
mod effects;
mod faults;
mod herd;
mod metrics;
mod network;
mod protocol;
mod restart;
mod secrets;
mod socket;
mod tls;
mod verify;
mod walks;
