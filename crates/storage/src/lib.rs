//! The only place with SQL: entities, the registry of synchronised types, migrations, versions, the outbox.
//!
//! Nothing here knows HTTP, and no rule asks for the time of day: instants and ids are handed in.

pub mod accounts;
pub mod address;
pub mod apply;
pub mod attempts;
pub mod audit;
mod averages;
pub mod backup;
pub mod barcodes;
mod bulk;
pub mod completeness;
mod connection;
pub mod count;
pub mod db;
pub mod duplicates;
pub mod entity;
mod errors;
pub mod export;
pub mod fault;
pub mod high_water;
pub mod history;
pub mod hq_nodes;
pub mod idempotency;
pub mod known_numbers;
pub mod leases;
pub mod memory;
pub mod migration;
pub mod nodes;
pub mod numbers;
pub mod outbox;
pub mod own_documents;
mod pools;
pub mod pull;
pub mod push;
pub mod registry;
pub mod replica;
mod row;
pub mod row_schema;
pub mod seed;
pub mod series;
pub mod settings;
mod sqlite;
pub mod staff;
pub mod stock;
pub mod sync_log;
pub mod tags;
pub mod unreadable;
pub mod verify;
pub mod versions;
mod write;

pub use connection::{Connection, Transaction};
pub use db::{Change, Db, Opening, Purpose, Side, Tx};
pub use sea_orm;
pub use sea_orm::DbErr;
pub use write::{Working, Written};
