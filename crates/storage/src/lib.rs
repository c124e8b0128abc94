//! The only place with SQL: entities, the registry of synchronised types, migrations, versions, the outbox.
//!
//! Nothing here knows HTTP, and no rule asks for the time of day: instants and ids are handed in.

#![warn(unreachable_pub)]

pub mod accounts;
pub mod address;
pub mod apply;
pub mod attempts;
pub mod audit;
pub mod audit_heads;
mod averages;
pub mod backup;
pub mod barcodes;
mod bulk;
pub mod completeness;
mod connection;
pub mod count;
mod database;
pub mod db;
pub mod document;
mod document_numbers;
pub mod duplicates;
pub mod entity;
mod errors;
pub mod export;
pub mod fault;
pub mod high_water;
mod hosts;
pub mod hq_nodes;
pub mod idempotency;
mod keyed_request;
pub mod known_numbers;
pub mod leases;
pub mod many;
pub mod memory;
pub mod migration;
pub mod nodes;
pub mod numbers;
mod opening;
pub mod outbox;
pub mod own_documents;
mod pools;
pub mod pull;
pub mod push;
pub mod registry;
pub mod replica;
pub mod reports;
mod row;
pub mod row_schema;
pub mod seed;
pub mod series;
pub mod settings;
mod side;
mod sqlite;
pub mod staff;
pub mod staged;
pub mod stock;
pub mod sync_log;
pub mod tags;
pub mod taxes;
mod tx;
pub mod unreadable;
pub mod verify;
pub mod versions;
mod write;
mod writes;

pub use connection::{Connection, Transaction};
pub use database::Db;
pub use opening::{Opening, Purpose};
pub use sea_orm;
pub use sea_orm::DbErr;
pub use side::Side;
pub use tx::Tx;
pub use versions::Change;
pub use write::{Working, Written};
pub use writes::Synchronised;
