//! A store server without a line, asked over HTTP as tills ask it.

#![expect(clippy::disallowed_methods, reason = "tests put rows where they want them")]

mod kit;
#[path = "../../../storage/tests/kit/large.rs"]
mod large;
#[path = "../../../storage/tests/kit/reading.rs"]
mod reading;

mod accounts;
mod acts;
mod ahead;
mod announced;
mod approvals;
mod asked;
mod blind;
mod bootstrap;
mod catalogue;
mod claims;
mod clocks;
mod concurrency;
mod customers;
mod databases;
mod devices;
mod door;
mod drawer;
mod drawers;
mod events;
mod handshake;
mod idle;
mod inventory;
mod long_lists;
mod lookup;
mod manager;
mod memory;
mod money;
mod numbers;
mod origins;
mod paper;
mod parked;
mod pictures;
mod prices;
mod printing;
mod pulls;
mod refusals;
mod repeats;
mod replica;
mod reports;
mod safe;
mod sales;
mod searched;
mod sender;
mod settled;
mod sign_in;
mod specification;
mod statements;
mod stock;
mod terminals;
mod together;
mod turns;
mod watchdog;
mod web;
