//! Storage against real databases: headquarters on `SQLite` and on `PostgreSQL`, stores on `SQLite`.

#[path = "../kit/mod.rs"]
mod kit;

mod accounts;
mod apply;
mod attempts;
mod audit;
mod changed;
mod columns;
mod completeness;
mod concurrency;
mod flags;
mod foreign;
mod group;
mod idempotency;
mod instants;
mod limits;
mod load;
mod migration;
mod no_verdict;
mod nodes;
mod nothing_new;
mod numbers;
mod orders;
mod outbox;
mod ownership;
mod permutations;
mod postgres;
mod price_copies;
mod pull;
mod push_effects;
mod push_failures;
mod push_order;
mod reload;
mod row_schema;
mod schema;
mod seed;
mod sqlite;
mod store_decides;
mod tags;
mod text;
mod transfers;
mod unreadable;
mod verify;
mod versions;
