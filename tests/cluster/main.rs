//! Real servers as processes, on free ports, with real databases and a proxy between them that fails on purpose.
//! Headquarters has its embedded database; what has to do with a database runs on `PostgreSQL` too, see `on_postgres.rs`.

#![expect(clippy::disallowed_methods, reason = "tests look into databases")]

mod authority;
mod home;
#[path = "../releases/kept.rs"]
#[expect(dead_code, reason = "recordings are for tests/contract")]
mod kept;
#[expect(dead_code, reason = "some of it serves the tests on PostgreSQL alone")]
mod kit;
#[path = "../../crates/hq/tests/backoffice/nats_server.rs"]
#[expect(dead_code, reason = "some of it serves the tests of headquarters alone")]
mod nats_server;
#[path = "../../crates/storage/tests/kit/rows.rs"]
#[expect(dead_code, reason = "rows are written and not read here")]
mod rows;

mod alone;
mod approvals;
mod backups;
mod broker;
mod certificate;
mod chaos;
mod command_line;
mod completeness;
mod copies;
mod crash;
mod demo;
mod doctor;
mod down;
mod drawers;
mod effects;
mod export;
mod faults;
mod files;
mod frozen;
mod group;
mod herd;
mod install;
mod leave;
mod lost;
mod memory;
mod metrics;
mod money_back;
mod network;
mod numbers;
mod protocol;
mod pruning;
mod refunds;
mod restart;
mod restored;
mod restored_twice;
mod rotated;
mod secrets;
mod sheets;
mod slow;
mod socket;
mod standing;
mod stream;
mod till;
mod tls;
mod upgrade;
mod verify;
mod walks;

use home::{Home, LossyDatabase};
