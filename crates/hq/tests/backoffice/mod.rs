//! The routes that set up a chain, against a whole headquarters in this process. Run on both databases.

pub mod kit;

mod at_once;
mod bombs;
mod completeness;
mod customers;
mod dashboard;
mod explain;
mod history;
mod lists;
pub mod nats_server;
pub mod notifications;
mod permissions;
mod pins;
mod pools;
mod prices;
mod products;
mod provisioning;
mod pulls;
mod pushes;
mod repeats;
mod retries;
mod roles;
mod rows;
mod sales;
mod scope;
mod sessions;
mod sign_in;
mod stalled;
mod standing;
mod stores;
mod streams;
mod taxes;
mod tenders;
mod throttle;
mod users;
mod web;
