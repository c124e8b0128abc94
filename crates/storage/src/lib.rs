//! The only place with SQL: entities, the registry of synchronised types, migrations, versions, the outbox.
//!
//! Nothing here knows HTTP, and no rule asks for the time of day: instants and ids are handed in.

#![warn(unreachable_pub)]

pub mod alerts;
pub mod attempts;
pub mod audit;
pub mod backup;
mod chain;
pub mod completeness;
mod database;
pub mod disk;
pub mod doctor;
pub mod document;
pub mod entity;
pub mod envelope;
pub mod fault;
pub mod fiscal;
mod ledger;
pub mod migration;
pub mod nodes;
pub mod numbers;
pub mod outbox;
pub mod parked_carts;
mod people;
pub mod pictures;
pub mod print_jobs;
pub mod pull;
pub mod push;
pub mod refunds;
pub mod registry;
pub mod reports;
pub mod rows;
mod sql;
pub mod sync_log;
pub mod verify;
pub mod zz_reports;

pub use ::sea_orm::DbErr;
pub use backup::{export, own_documents};
pub use chain::{ahead, barcodes, duplicates, price_copies, seed, taxes, tills};
pub use database::Db;
pub use database::tx::Tx;
pub use database::versions::Change;
pub use database::write::{Working, Written};
pub use database::writes::Synchronised;
pub use database::{
    address, hq_nodes, idempotency, leases, replica, series, settings, sought, tags, upgrade, versions,
};
pub use envelope::kept_ids;
pub use ledger::{accounts, safe, stock};
pub use migration::Side;
pub use numbers::{high_water, known_numbers};
pub use people::{factors, kept_verifiers, known_places, pin_keys, staff, store_lookups, user_pins};
pub use pull::{apply, catalogue, staged, unreadable};
pub use push::new_customers;
pub use rows::row_schema;
pub use sql::bulk::Lines;
pub use sql::connection::{Connection, Transaction};
pub use sql::opening::{Opening, Purpose};
pub use sql::orm as sea_orm;
pub use sql::{count, db, many, memory, raw, search};
