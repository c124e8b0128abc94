//! A store server without a line, asked over HTTP as tills ask it.

#![expect(clippy::disallowed_methods, reason = "tests put rows where they want them")]

mod kit;

mod accounts;
mod acts;
mod ahead;
mod approvals;
mod asked;
mod blind;
mod bootstrap;
mod clocks;
mod concurrency;
mod customers;
mod devices;
mod door;
mod drawers;
mod handshake;
mod idle;
mod inventory;
mod lookup;
mod memory;
mod numbers;
mod prices;
mod pulls;
mod refusals;
mod repeats;
mod replica;
mod sales;
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
